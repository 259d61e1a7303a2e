//! Digest, emptiness and differences of a target chunk, computed of its elements.

use rechunk_format::variable::{VariableChunk, VariablePart};
use rechunk_format::{ElementOrder, Layout};
use rechunk_grid::{ChunkGrid, Region};
use rechunk_kernel::{Differences, Digest};

use super::work::Unit;
use crate::Fault;
use crate::stage::digest::{StageDigest, element_item, named_fill};
use crate::units::frame::{self, Frame};
use crate::units::slabs::Slabs;

/// Elements whose checksums are in memory at once.
const DIGESTED_AT_ONCE: u64 = 4096;

/// The digest of the elements of a unit; `fill` where nothing is stored.
pub(super) fn digest(method: &StageDigest, unit: &Unit, fill: &[u8]) -> Result<Digest, Fault> {
    let StageDigest::Variable { keys, .. } = method else { return Ok(Digest::default()) };
    let mut sum = Digest::default();
    for part in &unit.parts {
        let VariablePart { region, body } = &part.part;
        if body.is_none() {
            sum += method.of_nothing(region)?;
            continue;
        }
        let axes: Vec<usize> = (0..region.rank()).collect();
        let mut elements = part.part.elements(fill);
        for slab in Slabs::new(region, &axes, DIGESTED_AT_ONCE).map_err(Fault::Grid)? {
            let frame = Frame::of_region(&slab, element_item(&[]).len())?;
            let mut items = Vec::with_capacity(frame.bytes);
            for _ in 0..slab.elements() {
                items.extend_from_slice(&element_item(elements.next().unwrap_or(fill)));
            }
            sum += frame::digest(keys, &slab, (&items, &frame), 1)?;
        }
    }
    Ok(sum)
}

/// Whether every element of a unit is `fill`.
pub(super) fn is_all(unit: &Unit, fill: &[u8]) -> bool {
    unit.parts.iter().all(|part| part.part.elements(fill).all(|element| element == fill))
}

/// Compares the elements of a unit with those of chunk `index` of `grid`, which are in `chunk`. If
/// that is `None` the chunk is missing and reads as `fills.1`. Where nothing of the unit is stored
/// it is `fills.0`.
pub(super) fn compare(
    unit: &Unit,
    chunk: Option<&VariableChunk>,
    (grid, order): (&ChunkGrid, &ElementOrder),
    fills: (&[u8], &[u8]),
) -> Differences {
    let whole = grid.chunk(&unit.index);
    let (mut count, mut first) = (0, None);
    for part in &unit.parts {
        let region = &part.part.region;
        for (position, element) in region.positions().zip(part.part.elements(fills.0)) {
            let other = match chunk {
                Some(chunk) => chunk.element_of(&whole, order, &position),
                None => fills.1,
            };
            if element == other {
                continue;
            }
            count += 1;
            let starts = unit.region.start.iter();
            let within: Vec<u64> =
                position.iter().zip(starts).map(|(at, start)| at - start).collect();
            if first.as_ref().is_none_or(|known| within < *known) {
                first = Some(within);
            }
        }
    }
    Differences { count, first }
}

/// Element of absent chunks of an array; where none is named, one that is empty.
pub(super) fn fill_of(layout: &dyn Layout) -> Vec<u8> {
    named_fill(layout).unwrap_or_default().to_vec()
}

/// Parts of a unit without their memory.
pub(super) fn parts_of(unit: &mut Unit) -> Vec<VariablePart> {
    let empty = || VariablePart { region: Region::whole(&[]), body: None };
    unit.parts.iter_mut().map(|part| std::mem::replace(&mut part.part, empty())).collect()
}
