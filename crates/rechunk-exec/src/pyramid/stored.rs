//! Parts of what a step has read that are stored.

use rechunk_grid::Region;

/// Stored parts of the box that was read for a step.
#[derive(Debug)]
pub(super) struct Stored {
    /// The box, in elements of the input.
    region: Region,
    /// Elements beside a cell that it is made of, too.
    halo: Vec<u64>,
    /// Parts of the box that are not stored; they do not overlap.
    missing: Vec<Region>,
}

impl Stored {
    /// All of `region`, but for these parts.
    pub(super) fn without(region: Region, halo: Vec<u64>, missing: Vec<Region>) -> Self {
        Self { region, halo, missing }
    }

    /// True if some of the input of `cells` is stored. A cell is made of `factors` elements.
    pub(super) fn has(&self, cells: &Region, factors: &[u64]) -> bool {
        if self.missing.is_empty() {
            return true;
        }
        let mut input = cells.clone();
        for (axis, &halo) in self.halo.iter().enumerate() {
            let start = cells.start[axis].saturating_mul(factors[axis]).saturating_sub(halo);
            let end = cells.end(axis).saturating_mul(factors[axis]).saturating_add(halo);
            (input.start[axis], input.shape[axis]) = (start, end - start);
        }
        let Some(input) = input.intersect(&self.region) else { return false };
        let parts = self.missing.iter().filter_map(|part| part.intersect(&input));
        let missing = parts.map(|part| part.elements()).fold(0, u64::saturating_add);
        missing < input.elements()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_stored_if_one_of_their_elements_is() {
        let region = |start: u64, shape: u64| Region::new(vec![start], vec![shape]);
        let missing = vec![region(10, 4), region(14, 2)];
        let stored = Stored::without(region(8, 12), vec![0], missing.clone());
        let has = |stored: &Stored, cells| stored.has(&cells, &[2]);
        assert!(!has(&stored, region(5, 3)), "elements 10 to 16");
        assert!(has(&stored, region(4, 4)));
        assert!(has(&stored, region(5, 4)));
        // The last cell lies half behind the end of the input.
        let cut = Stored::without(region(8, 7), vec![0], vec![region(14, 1)]);
        assert!(!has(&cut, region(7, 1)));
        let grown = Stored::without(region(8, 12), vec![1], missing);
        assert!(has(&grown, region(5, 3)), "what lies beside it counts");
        assert!(has(&Stored::without(region(0, 4), vec![0], Vec::new()), region(0, 2)));
    }
}
