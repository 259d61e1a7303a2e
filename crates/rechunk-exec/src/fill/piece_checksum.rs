//! Checksums of the intermediate: what was put aside comes back as it was, or not at all.
//!
//! A piece, the unit that is read with one request, ends with the CRC32C of its place and its
//! bytes, little-endian. CRC32C finds every change of up to three bits in pieces below 256 MiB and
//! every burst of up to 32 bits; of other damage it misses one in 2^32 (Castagnoli, Bräuer and
//! Herrmann 1993; Koopman 2002). The place (plan, stage and first element) is not stored: a piece
//! that is found where another belongs, or that another plan has left, is damage too.

use rechunk_grid::Region;
use rechunk_plan::{PIECE_CHECKSUM_BYTES, Plan};

use crate::stage::stage_run::StageRun;
use crate::units::unit::Finished;

/// Adds the checksum to a piece that `stage` has finished, behind what it keeps of absence.
pub(crate) fn seal(stage: &StageRun, piece: &mut Finished) {
    let mut sum = Sum::of(&stage.run.execution.plan, stage.number, &piece.region.start);
    sum.add(&piece.buffer);
    sum.add(&piece.stored.marks);
    let checksum = sum.to_bytes();
    piece.stored.marks.reserve_exact(checksum.len());
    piece.stored.marks.extend_from_slice(&checksum);
}

/// The bytes of the piece for `region` without its checksum, if they are what the stage before
/// has sealed; `None` if not.
pub(crate) fn open<'a>(stage: &StageRun, region: &Region, piece: &'a [u8]) -> Option<&'a [u8]> {
    Sum::of_place(stage, region).check(piece)
}

/// The checksum of a piece that is read, as far as it has come.
pub(crate) struct Sum(u32);

impl Sum {
    /// Of the place of the piece for `region`.
    pub(crate) fn of_place(stage: &StageRun, region: &Region) -> Self {
        // Stages that read pieces are none that is the first.
        let written_by = stage.number.saturating_sub(1);
        Self::of(&stage.run.execution.plan, written_by, &region.start)
    }

    /// Of the piece at `place` that stage `written_by` writes: its first element, or numbers that
    /// are its own.
    pub(crate) fn of(plan: &Plan, written_by: usize, place: &[u64]) -> Self {
        let plan = crc32c::crc32c(plan.fingerprint.as_bytes());
        let number = crc32c::crc32c_append(plan, &rechunk_kernel::wide(written_by).to_le_bytes());
        Self(place.iter().fold(number, |sum, at| crc32c::crc32c_append(sum, &at.to_le_bytes())))
    }

    /// Adds the next bytes of it.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0 = crc32c::crc32c_append(self.0, bytes);
    }

    /// The checksum as it stands behind a piece.
    pub(crate) fn to_bytes(&self) -> [u8; 4] {
        self.0.to_le_bytes()
    }

    /// The `last` bytes of the piece without its checksum, if all of it is what the stage before
    /// has sealed; `None` if not.
    pub(crate) fn check(self, last: &[u8]) -> Option<&[u8]> {
        let (bytes, checksum) = last.split_last_chunk()?;
        let computed = crc32c::crc32c_append(self.0, bytes);
        (computed == u32::from_le_bytes(*checksum)).then_some(bytes)
    }
}

const _: () = assert!(PIECE_CHECKSUM_BYTES == 4, "a CRC32C has 4 bytes");
