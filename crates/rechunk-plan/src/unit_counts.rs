//! Counts the output units that a task holds at once, where [`crate::memory`] has a bound.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use crate::count::gcd;

/// One axis of a tile that is filled in steps, where the chunks of both grids are regular.
/// Elements, but for the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RegularAxis {
    /// Extent of the array.
    pub extent: u64,
    /// Extent of the tile.
    pub tile: u64,
    /// Extent of an output unit.
    pub unit: u64,
    /// Extent of an input chunk.
    pub input: u64,
    /// Input chunks per step.
    pub step_chunks: u64,
}

/// Units along an axis by the step of the axis in which their first and their last piece comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StepUnits {
    /// Begun before the step and not ended before it.
    open: i64,
    /// Begun with it.
    begins: i64,
    /// Ended with it.
    ends: i64,
    /// Begun before it.
    begun: i64,
}

impl RegularAxis {
    /// Most steps that are looked at.
    const STEPS_MAX: usize = 1 << 11;

    /// A tile of `tile` elements that is taken in one step, wherever inputs end.
    pub(crate) fn in_one_step(tile: u64, unit: u64) -> Self {
        Self { extent: tile, tile, unit, input: tile, step_chunks: 1 }
    }

    /// Counts of all tiles that differ from step to step; `None` if there are too many.
    fn steps(&self) -> Option<Vec<StepUnits>> {
        let tiles = self.extent.div_ceil(self.tile).max(1);
        let phases = (self.input / gcd(self.tile, self.input)).min(tiles);
        let mut found = Vec::new();
        for phase in 0..phases {
            if found.len() > Self::STEPS_MAX {
                return None;
            }
            self.steps_of(self.tile.checked_mul(phase)?, &mut found)?;
        }
        // What is searched for grows or falls with what has begun, of steps that are alike else:
        // the first or the last of them has most.
        let alike = |step: &StepUnits| (step.open, step.begins, step.ends);
        found.sort_unstable_by_key(|step| (alike(step), step.begun));
        let groups = found.chunk_by(|a, b| alike(a) == alike(b));
        let both_ends =
            |group: &[StepUnits]| group.first().copied().into_iter().chain(group.last().copied());
        let mut steps: Vec<StepUnits> = groups.flat_map(both_ends).collect();
        steps.dedup();
        (steps.len() <= Search::LOOKS_MAX).then_some(steps) // more are not searched
    }

    /// Computes the steps of the tile that begins at `start`, as if the array did not end in it.
    /// There a unit is resident for a part of the steps in which it is in a whole tile.
    fn steps_of(&self, start: u64, found: &mut Vec<StepUnits>) -> Option<()> {
        let window = self.input.checked_mul(self.step_chunks)?;
        let phase = start % self.input;
        let (tile, unit) = (self.tile, self.unit);
        i64::try_from(tile.checked_add(phase)?.checked_add(window)?).ok()?;
        let steps = (tile + phase).div_ceil(window);
        let units = tile.div_ceil(unit);
        // Where a step begins and ends in the tile.
        let at = |step: u64| (step.saturating_mul(window)).saturating_sub(phase).min(tile);
        let begun = |to: u64| to.div_ceil(unit).cast_signed();
        let ended = |to: u64| (if to < tile { to / unit } else { units }).cast_signed();
        let mut look = |step: u64| {
            let (from, to) = (at(step), at(step + 1));
            let (before, ended_before) = (begun(from), ended(from));
            let (begins, ends) = (begun(to) - before, ended(to) - ended_before);
            found.push(StepUnits { open: before - ended_before, begins, ends, begun: before });
        };
        // After so many steps, which are so many units, all is alike again but for what has begun
        // before: only the first and the last such round can have most.
        let common = gcd(window, unit);
        if window >= unit {
            let (first, last) = outermost(steps, unit / common)?;
            first.chain(last).for_each(look);
            return Some(());
        }
        // Steps between the ends of a unit are alike, too.
        look(0);
        look(steps - 1);
        let (first, last) = outermost(units, window / common)?;
        for boundary in first.chain(last) {
            let step = (boundary * unit + phase) / window;
            (step.saturating_sub(1)..(step + 2).min(steps)).for_each(&mut look);
        }
        Some(())
    }
}

/// The first and the last of `count`, a round and two more of each; `None` if that is too much.
fn outermost(count: u64, round: u64) -> Option<(Range<u64>, Range<u64>)> {
    let looked = round.checked_add(2)?.min(count);
    if usize::try_from(looked).ok()? > RegularAxis::STEPS_MAX {
        return None;
    }
    Some((0..looked, (count - looked).max(looked)..count))
}

/// Counts the units that are resident at once where [`crate::memory::resident_units`] bounds them.
///
/// A unit is resident from the step that brings its first piece to the one that brings its last. Of
/// the units that have begun by a step, those that began before it on the slowest axis have begun
/// wherever the step is on the others, and for those that begin with it the faster axes decide; the
/// same of units that have ended. So the largest difference is found axis by axis.
#[derive(Debug, Default)]
pub(crate) struct UnitCounts {
    /// Steps that were looked at before.
    steps: RefCell<HashMap<RegularAxis, Option<Rc<[StepUnits]>>>>,
}

impl UnitCounts {
    /// Units that are resident at once, of the tile that holds most, with steps in the order of
    /// `axes` (slowest first). `None` if there is too much to count.
    pub(crate) fn resident(&self, axes: &[RegularAxis]) -> Option<u64> {
        let steps = |axis: &RegularAxis| {
            let mut known = self.steps.borrow_mut();
            known.entry(*axis).or_insert_with(|| axis.steps().map(Rc::from)).clone()
        };
        let steps: Option<Vec<Rc<[StepUnits]>>> = axes.iter().map(steps).collect();
        let mut units = vec![1_i64; axes.len() + 1];
        for (at, axis) in axes.iter().enumerate().rev() {
            units[at] =
                units[at + 1].checked_mul(axis.tile.div_ceil(axis.unit).try_into().ok()?)?;
        }
        let mut search = Search { steps: steps?, units, known: Vec::new(), looks: 0 };
        u64::try_from(search.most(0, 1, 1)?).ok()
    }
}

/// The search for the most units that are resident at once.
struct Search {
    steps: Vec<Rc<[StepUnits]>>,
    /// Units of each axis and all faster ones together.
    units: Vec<i64>,
    /// Searches that were made, and their results.
    known: Vec<((usize, i64, i64), i64)>,
    looks: usize,
}

impl Search {
    /// Most steps that are looked at, in all.
    const LOOKS_MAX: usize = 1 << 10;

    /// The most of `begun` times what has begun on the axes from `axis` on, less `ended` times what
    /// has ended there.
    fn most(&mut self, axis: usize, begun: i64, ended: i64) -> Option<i64> {
        // Nothing has ended before the first step, and in the last one all has begun.
        if begun == 0 {
            return Some(0);
        }
        if ended == 0 || axis == self.steps.len() {
            return begun.checked_mul(self.units[axis]);
        }
        let common = gcd(begun.cast_unsigned(), ended.cast_unsigned()).cast_signed();
        let asked = (axis, begun / common, ended / common);
        let known = self.known.iter().find(|(known, _)| *known == asked).map(|(_, most)| *most);
        let most = match known {
            Some(most) => most,
            None => self.search(axis, begun / common, ended / common)?,
        };
        most.checked_mul(common)
    }

    fn search(&mut self, axis: usize, begun: i64, ended: i64) -> Option<i64> {
        let steps = Rc::clone(&self.steps[axis]);
        self.looks += steps.len();
        if self.looks > Self::LOOKS_MAX {
            return None;
        }
        let mut most = None;
        for step in &*steps {
            let ended_before = ended.checked_mul(step.begun - step.open)?;
            let before = begun.checked_mul(step.begun)?.checked_sub(ended_before)?;
            let (begins, ends) = (begun.checked_mul(step.begins)?, ended.checked_mul(step.ends)?);
            let within = self.most(axis + 1, begins, ends)?;
            most = most.max(Some(before.checked_mul(self.units[axis + 1])?.checked_add(within)?));
        }
        self.known.push(((axis, begun, ended), most?));
        most
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::TestCaseError;

    use super::*;
    use crate::memory::{SteppedAxis, resident_units};

    /// An axis of a tile: its extent, and where it begins.
    #[derive(Debug, Clone, Copy)]
    struct Walked {
        tile: u64,
        start: u64,
        unit: u64,
        input: u64,
        step_chunks: u64,
    }

    impl Walked {
        /// Start and end of each step.
        fn steps(&self) -> Vec<(u64, u64)> {
            let (first, last) =
                (self.start / self.input, (self.start + self.tile - 1) / self.input);
            let from = (first..=last).step_by(usize::try_from(self.step_chunks).unwrap());
            from.map(|at| {
                let end = (at + self.step_chunks).min(last + 1) * self.input;
                ((at * self.input).max(self.start), end.min(self.start + self.tile))
            })
            .collect()
        }

        fn touches(&self, (low, high): (u64, u64), unit: u64) -> bool {
            let from = self.start + unit * self.unit;
            low < (from + self.unit).min(self.start + self.tile) && from < high
        }
    }

    /// All lists with one of each of `choices`, the first slowest.
    fn all_of<T: Copy>(choices: &[Vec<T>]) -> Vec<Vec<T>> {
        choices.iter().fold(vec![Vec::new()], |lists, choices| {
            let longer =
                |list: Vec<T>| choices.iter().map(move |&one| [&list[..], &[one]].concat());
            lists.into_iter().flat_map(longer).collect()
        })
    }

    /// Counts resident units by walking the steps of one tile.
    fn simulate(axes: &[Walked]) -> u64 {
        let walk = all_of(&axes.iter().map(Walked::steps).collect::<Vec<_>>());
        let units: Vec<Vec<u64>> =
            axes.iter().map(|axis| (0..axis.tile.div_ceil(axis.unit)).collect()).collect();
        let mut alive = vec![0_u64; walk.len()];
        for unit in all_of(&units) {
            let touched = |step: &Vec<(u64, u64)>| {
                axes.iter()
                    .zip(step)
                    .zip(&unit)
                    .all(|((axis, &step), &unit)| axis.touches(step, unit))
            };
            let first = walk.iter().position(touched).unwrap();
            let last = walk.iter().rposition(touched).unwrap();
            alive[first..=last].iter_mut().for_each(|count| *count += 1);
        }
        alive.into_iter().max().unwrap_or(0)
    }

    /// Tiles of an axis, and how many of them there are.
    fn walked(unit_max: u64, units_max: u64) -> impl Strategy<Value = (Walked, u64)> {
        let numbers = (1..unit_max, 1..units_max, 1..unit_max, 1_u64..4, 1_u64..4, 0..unit_max);
        numbers.prop_map(|(unit, units, input, step_chunks, tiles, cut)| {
            // A single tile may be the whole axis, and then end inside of a unit.
            let cut = if tiles == 1 { cut.min(unit - 1) } else { 0 };
            (Walked { tile: unit * units - cut, start: 0, unit, input, step_chunks }, tiles)
        })
    }

    fn check_counted(axes: &[(Walked, u64)]) -> Result<(), TestCaseError> {
        let regular = |&(axis, tiles): &(Walked, u64)| {
            let Walked { tile, unit, input, step_chunks, .. } = axis;
            RegularAxis { extent: tile * tiles, tile, unit, input, step_chunks }
        };
        let regular: Vec<_> = axes.iter().map(regular).collect();
        let counted = UnitCounts::default().resident(&regular).unwrap();
        let tiles = |&(axis, tiles): &(Walked, u64)| {
            (0..tiles).map(|at| Walked { start: at * axis.tile, ..axis }).collect()
        };
        let tiles = all_of(&axes.iter().map(tiles).collect::<Vec<_>>());
        prop_assert_eq!(tiles.iter().map(|tile| simulate(tile)).max(), Some(counted));
        let bound = axes.iter().map(|(axis, tiles)| {
            SteppedAxis::new(axis.tile, axis.unit, axis.input, axis.step_chunks, *tiles == 1)
        });
        prop_assert!(counted <= resident_units(&bound.collect::<Vec<_>>()));
        Ok(())
    }

    fn axis(tile: u64, unit: u64, input: u64, step_chunks: u64) -> RegularAxis {
        RegularAxis { extent: tile, tile, unit, input, step_chunks }
    }

    #[test]
    fn layers_that_are_carried_one_after_the_other_count_once() {
        let axes = [700, 600, 500].map(|extent| axis(extent, 128, 100, 1));
        assert_eq!(UnitCounts::default().resident(&axes), Some(26));
        let bound = [700, 600, 500].map(|extent| SteppedAxis::new(extent, 128, 100, 1, true));
        assert_eq!(resident_units(&bound), 40);
    }

    #[test]
    fn long_units_of_many_steps_are_counted() {
        let counts = UnitCounts::default();
        let sides = [(1200, 100), (600, 100)].map(|(n, unit)| RegularAxis::in_one_step(n, unit));
        for (extent, unit, steps) in
            [(100_000, 2047, 1), (1_000_000, 10_000, 1), (u64::from(u32::MAX), 1 << 20, 3)]
        {
            let axes = [axis(extent, unit, 1, steps), sides[0], sides[1]];
            let carried = if unit.is_multiple_of(steps) { 1 } else { 2 };
            assert_eq!(counts.resident(&axes), Some(72 * carried), "{extent} {unit} {steps}");
        }
    }

    #[test]
    fn what_is_too_much_is_not_counted() {
        let counts = UnitCounts::default();
        // Tiles that begin anywhere in inputs; rounds as long as a unit; numbers that are too
        // large.
        let phases =
            RegularAxis { extent: 1 << 30, tile: 10_007, unit: 1, input: 1 << 20, step_chunks: 1 };
        let rounds = axis(1 << 30, 10_007, 4999, 1);
        let large = axis(u64::MAX, 1, u64::MAX / 2, 1);
        let product = [1, 2, 3].map(|_| axis(1 << 40, 1, 1 << 39, 1));
        for axes in [&[phases][..], &[rounds], &[large], &product] {
            assert_eq!(counts.resident(axes), None, "{axes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// The last tile may end inside of a unit, then.
        #[test]
        fn no_tile_of_an_array_of_any_extent_has_more(
            axes in prop::collection::vec((walked(8, 7), 0_u64..40), 2),
        ) {
            let extent = |((axis, tiles), cut): &((Walked, u64), u64)| {
                // One tile would be the whole axis.
                let (tile, tiles) = (axis.tile.next_multiple_of(axis.unit), (*tiles).max(2));
                tile * tiles - cut % tile
            };
            let tiles = |axis: &((Walked, u64), u64)| {
                let (extent, walked) = (extent(axis), axis.0.0);
                let tile = walked.tile.next_multiple_of(walked.unit);
                (0..extent.div_ceil(tile))
                    .map(|at| Walked { start: at * tile, tile: tile.min(extent - at * tile), ..walked })
                    .collect()
            };
            let most = all_of(&axes.iter().map(tiles).collect::<Vec<_>>())
                .iter()
                .map(|tile| simulate(tile))
                .max();
            let regular = |axis: &((Walked, u64), u64)| {
                let Walked { tile, unit, input, step_chunks, .. } = axis.0.0;
                let tile = tile.next_multiple_of(unit);
                RegularAxis { extent: extent(axis), tile, unit, input, step_chunks }
            };
            let regular: Vec<RegularAxis> = axes.iter().map(regular).collect();
            prop_assert!(most <= UnitCounts::default().resident(&regular));
        }

        #[test]
        fn as_many_are_counted_as_some_tile_has_on_one_axis(axis in walked(17, 40)) {
            check_counted(&[axis])?;
        }

        #[test]
        fn as_many_are_counted_as_some_tile_has_on_two_axes(
            axes in prop::collection::vec(walked(9, 9), 2),
        ) {
            check_counted(&axes)?;
        }

        #[test]
        fn as_many_are_counted_as_some_tile_has_on_three_axes(
            axes in prop::collection::vec(walked(7, 5), 3),
        ) {
            check_counted(&axes)?;
        }

        #[test]
        fn the_bound_holds_on_every_tile(
            axes in prop::collection::vec(walked(9, 6), 2), at in (0_u64..4, 0_u64..4),
        ) {
            let walked = |((axis, _), at): (&(Walked, u64), u64)| {
                let tile = axis.tile.next_multiple_of(axis.unit);
                Walked { tile, start: at * tile, ..*axis }
            };
            let axes: Vec<Walked> = axes.iter().zip([at.0, at.1]).map(walked).collect();
            let bound: Vec<_> = axes
                .iter()
                .map(|axis| {
                    SteppedAxis::new(axis.tile, axis.unit, axis.input, axis.step_chunks, false)
                })
                .collect();
            prop_assert!(simulate(&axes) <= resident_units(&bound));
        }
    }
}
