//! Parts of a unit that the source stores: where absent means something else than fill values.

use rechunk_grid::Region;
use rechunk_kernel::wide;
use rechunk_plan::StageGeometry;

use crate::units::input::{Brought, Input};

/// Parts of a unit that are stored in the source.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// Some of it is.
    pub any: bool,
    /// Of a piece: for every target chunk that it meets, in C order, whether some of that part is
    /// stored; empty where nobody asks. In the end, its checksum.
    pub marks: Vec<u8>,
}

impl Stored {
    /// Adds what an input brings of `common`, its part in the unit that has the region `unit`.
    pub(crate) fn add(
        &mut self,
        geometry: &StageGeometry,
        unit: &Region,
        input: &Input,
        common: &Region,
        brought: Brought<'_>,
    ) {
        let Some(met) = geometry.absence_marks(common) else {
            self.any |= !matches!(brought, Brought::Nothing);
            return;
        };
        let places = geometry.absence_marks(unit).unwrap_or_else(|| met.clone());
        let from = geometry.absence_marks(&input.region).unwrap_or_else(|| met.clone());
        self.marks.resize(usize::try_from(places.elements()).unwrap_or(0), 0);
        for chunk in met.positions() {
            let is_stored = match brought {
                Brought::Chunk(_) => true,
                Brought::Piece(_, marks) => at(&from, &chunk, marks.len())
                    .and_then(|at| marks.get(at))
                    .is_none_or(|mark| *mark != 0),
                Brought::Nothing => false,
            };
            if !is_stored {
                continue;
            }
            self.any = true;
            if let Some(mark) = at(&places, &chunk, self.marks.len())
                && let Some(mark) = self.marks.get_mut(mark)
            {
                *mark = 1;
            }
        }
    }
}

/// The place of a chunk's mark among `count`.
fn at(places: &Region, chunk: &[u64], count: usize) -> Option<usize> {
    let ordinal = places.ordinal(chunk);
    (ordinal < wide(count)).then(|| usize::try_from(ordinal).ok()).flatten()
}
