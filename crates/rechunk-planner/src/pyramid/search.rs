//! Ways to divide the levels of a pyramid among passes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use rechunk_plan::{
    ArrayId, Estimate, LevelsFrom, MissingCells, PassInput, PyramidPass, PyramidWork, Stage,
    Strategy,
};

use super::geometry::PassRequest;
use super::pass::{Staged, stage_of};
use super::request::PyramidPlanRequest;
use crate::PlanError;

/// Most levels of a pyramid.
const LEVELS_MAX: usize = 64;

/// Passes that write all levels.
pub(super) struct Course {
    pub passes: Vec<PyramidPass>,
    pub stages: Vec<Stage>,
    /// Shapes of the intermediates, and of a block of each.
    pub blocks: Vec<(Vec<u64>, Vec<u64>)>,
    pub estimate: Estimate,
    /// One of its passes has few tasks for so many bytes.
    pub is_coarse: bool,
    pub transfer_bytes: u64,
}

/// Everything before some level, written in the cheapest way.
#[derive(Default)]
struct Prefix {
    passes: Vec<(PyramidPass, Rc<Staged>)>,
    is_coarse: bool,
    seconds: f64,
}

impl Prefix {
    fn with(&self, pass: PyramidPass, staged: Rc<Staged>) -> Self {
        let is_coarse = self.is_coarse || staged.is_coarse;
        let seconds = self.seconds + staged.estimate.seconds;
        let mut passes = self.passes.clone();
        passes.push((pass, staged));
        Self { passes, is_coarse, seconds }
    }

    /// Shape of a block of the last level that is left.
    fn block(&self) -> Option<&[u64]> {
        let (_, staged) = self.passes.last()?;
        staged.blocks.as_ref().map(|(_, block)| &block[..])
    }

    fn is_better_than(&self, other: &Self) -> bool {
        (self.is_coarse, self.seconds) < (other.is_coarse, other.seconds)
    }
}

/// The cheapest prefixes by the level that comes next, and whether blocks were left for it.
type Prefixes = BTreeMap<(usize, bool), Prefix>;

/// A pass by its levels, whether it leaves blocks, and the shape of a block that it reads.
type Key = (usize, usize, bool, Option<Vec<u64>>);

struct Search<'a> {
    asked: &'a PyramidPlanRequest<'a>,
    work: &'a PyramidWork,
    fixed_bytes: u64,
    /// Passes that were looked at, each of which stands in many courses; or, of one that does not
    /// fit, the least bytes that it needs.
    known: BTreeMap<Key, Result<Rc<Staged>, u64>>,
    /// The least bytes that a pass needs, of those that do not fit.
    minimum_bytes: u64,
}

/// The cheapest course with each number of passes that fits the budget.
pub(super) fn courses(
    asked: &PyramidPlanRequest<'_>,
    work: &PyramidWork,
    fixed_bytes: u64,
) -> Result<Vec<Course>, PlanError> {
    let count = work.levels.len();
    if count > LEVELS_MAX {
        return Err(PlanError::OutOfRange { what: "the number of levels", range: "64 at most" });
    }
    let (known, minimum_bytes) = (BTreeMap::new(), u64::MAX);
    let mut search = Search { asked, work, fixed_bytes, known, minimum_bytes };
    let mut found = Vec::new();
    let mut before = Prefixes::from([((0, false), Prefix::default())]);
    for _ in 0..count {
        before = search.longer(&before);
        if let Some(prefix) = before.get(&(count, false)) {
            found.push(course(count, prefix));
        }
    }
    if found.is_empty() {
        return Err(PlanError::DoesNotFit {
            strategy: Strategy::Pyramid,
            budget_bytes: asked.request.budget.memory_bytes,
            minimum_bytes: search.minimum_bytes,
        });
    }
    Ok(found)
}

impl Search<'_> {
    /// Prefixes of one more pass.
    fn longer(&mut self, before: &Prefixes) -> Prefixes {
        let count = self.work.levels.len();
        let mut after = Prefixes::new();
        for (&(first, had_blocks), prefix) in before {
            let input = input_of(self.work, first, had_blocks);
            let ends = (first + 1..=count).flat_map(|end| [(end, false), (end, true)]);
            for (end, leaves_blocks) in ends {
                let pass = pass_of(input, first..end, leaves_blocks);
                if !self.can_be(&pass) {
                    continue;
                }
                let Some(staged) = self.staged(&pass, prefix.block()) else { continue };
                let next = prefix.with(pass, staged);
                let place = (end, leaves_blocks);
                if after.get(&place).is_none_or(|known| next.is_better_than(known)) {
                    after.insert(place, next);
                }
            }
        }
        after
    }

    /// Whether a pass can be, and what it leaves is of use.
    fn can_be(&self, pass: &PyramidPass) -> bool {
        let leaves_some = || {
            let next = pass_of(PassInput::Blocks(pass.end - 1), pass.end..pass.end + 1, false);
            !self.asked.request.intermediate_in_memory
                && pass.end < self.work.levels.len()
                && follows(self.work, &next)
        };
        (!pass.leaves_blocks || leaves_some()) && follows(self.work, pass)
    }

    /// The stage of a pass that reads blocks of shape `block`; `None` where none fits.
    fn staged(&mut self, pass: &PyramidPass, block: Option<&[u64]>) -> Option<Rc<Staged>> {
        let key = (pass.first, pass.end, pass.leaves_blocks, block.map(<[u64]>::to_vec));
        let (asked, work, fixed_bytes) = (self.asked, self.work, self.fixed_bytes);
        let found = self.known.entry(key).or_insert_with(|| {
            stage_of(&PassRequest { asked, work, pass, block, fixed_bytes }).map(Rc::new)
        });
        match found {
            Ok(staged) => Some(Rc::clone(staged)),
            Err(needed_bytes) => {
                self.minimum_bytes = self.minimum_bytes.min(*needed_bytes);
                None
            }
        }
    }
}

fn pass_of(input: PassInput, levels: Range<usize>, leaves_blocks: bool) -> PyramidPass {
    let Range { start: first, end } = levels;
    PyramidPass { input, first, end, leaves_blocks, steps_at_once: 1 }
}

fn input_of(work: &PyramidWork, first: usize, had_blocks: bool) -> PassInput {
    match first.checked_sub(1) {
        Some(level) if had_blocks => PassInput::Blocks(level),
        Some(level) if work.from == LevelsFrom::Previous => PassInput::Level(level),
        _ => PassInput::Source,
    }
}

/// Gives the arrays of the stages of a course their numbers: blocks come after the `levels` levels.
fn course(levels: usize, prefix: &Prefix) -> Course {
    let mut course = Course {
        passes: Vec::new(),
        stages: Vec::new(),
        blocks: Vec::new(),
        estimate: Estimate::default(),
        is_coarse: prefix.is_coarse,
        transfer_bytes: 0,
    };
    for (pass, staged) in &prefix.passes {
        let mut stage = staged.stage.clone();
        let next_block = levels + 1 + course.blocks.len();
        if matches!(pass.input, PassInput::Blocks(_)) {
            stage.inputs[0].array = ArrayId(next_block - 1);
        }
        if let Some(output) = stage.outputs.last_mut().filter(|_| pass.leaves_blocks) {
            output.array = ArrayId(next_block);
        }
        course.blocks.extend(staged.blocks.clone());
        course.estimate.add(&staged.estimate);
        course.transfer_bytes = course.transfer_bytes.max(staged.transfer_bytes);
        course.passes.push(PyramidPass { steps_at_once: staged.steps_at_once, ..pass.clone() });
        course.stages.push(stage);
    }
    course
}

/// Whether a pass may write its levels from what it reads.
fn follows(work: &PyramidWork, pass: &PyramidPass) -> bool {
    let (method, from) = (work.method, work.from);
    let (is_of_kind, input) = match pass.input {
        // A level of the one before cannot be computed without that, if it is not in this pass.
        PassInput::Source => return is_first(work, pass),
        PassInput::Blocks(level) => {
            (from == LevelsFrom::S0 && (method.is_summed() || method.is_chained()), level)
        }
        PassInput::Level(level) => (from == LevelsFrom::Previous, level),
    };
    // A Gaussian looks at elements beside a step, which are not there of a level in memory.
    let is_alone = method.halo(2) == 0 || from == LevelsFrom::S0 || pass.end == pass.first + 1;
    is_of_kind
        && work.missing == MissingCells::Fill
        && is_alone
        && work.levels_follow(pass.first..pass.end, input)
}

/// Whether a pass may write its levels from the source.
fn is_first(work: &PyramidWork, pass: &PyramidPass) -> bool {
    let coarser = work.levels[pass.first..pass.end].iter();
    let coarser = coarser.filter(|level| level.factors.iter().any(|&factor| factor > 1)).count();
    match work.from {
        LevelsFrom::S0 => true,
        LevelsFrom::Previous => pass.first == 0 && (work.method.halo(2) == 0 || coarser <= 1),
    }
}
