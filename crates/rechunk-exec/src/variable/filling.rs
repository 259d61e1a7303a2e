//! Target chunks of a box that are being filled.

use std::collections::{HashMap, HashSet};

use rechunk_grid::Region;

use super::work::{HeldPart, Unit};
use crate::stage::stage_run::StageRun;

/// Target chunks of a box. One is here from its first part to its last.
#[derive(Debug)]
pub(super) struct Filling {
    region: Region,
    units: HashMap<Vec<u64>, Unit>,
}

impl Filling {
    pub(super) fn new(region: Region) -> Self {
        Self { region, units: HashMap::new() }
    }

    /// The target chunks that want some of a source chunk, with that part; not those that are
    /// `done`.
    pub(super) fn wanting(
        &self,
        stage: &StageRun,
        index: &[u64],
        done: &HashSet<Vec<u64>>,
    ) -> Vec<(Vec<u64>, Region)> {
        let input = stage.geometry.grain_grid().region(index);
        let Some(input) = input.intersect(&self.region) else { return Vec::new() };
        let units = stage.geometry.units(&input).positions().filter(|unit| !done.contains(unit));
        let wanted = units.filter_map(|unit| {
            let part = stage.geometry.unit_region(&unit, &input)?;
            Some((unit, part))
        });
        wanted.collect()
    }

    /// Adds a part of target chunk `index`. Returns the chunk if that was the last.
    pub(super) fn add(&mut self, stage: &StageRun, index: &[u64], part: HeldPart) -> Option<Unit> {
        let region = stage.geometry.unit_region(index, &self.region)?;
        let touching = stage.geometry.inputs_touching(&region);
        let unit = self.units.entry(index.to_vec());
        let new = || Unit { index: index.to_vec(), region, parts: Vec::new() };
        let unit = unit.or_insert_with(new);
        unit.parts.push(part);
        let is_complete = u64::try_from(unit.parts.len()).is_ok_and(|parts| parts >= touching);
        if is_complete { self.units.remove(index) } else { None }
    }
}
