//! Ways to divide the levels of a pyramid among passes.

use std::collections::BTreeMap;
use std::ops::Range;

use rechunk_plan::{
    ArrayId, Estimate, LevelsFrom, MissingCells, PassInput, PyramidLevel, PyramidPass, Stage,
    Strategy, parent_level,
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
#[derive(Clone)]
struct Prefix {
    passes: Vec<PyramidPass>,
    is_coarse: bool,
    seconds: f64,
    /// Block of the last level that is left.
    block: Option<Vec<u64>>,
}

/// A pass by its levels, what it leaves, and the block that it reads.
type Key = (usize, usize, bool, Option<Vec<u64>>);

/// A pass, as far as a course depends on it.
#[derive(Clone)]
struct Seen {
    seconds: f64,
    is_coarse: bool,
    block: Option<Vec<u64>>,
}

impl Seen {
    fn of(staged: Staged) -> Self {
        Self {
            seconds: staged.estimate.seconds,
            is_coarse: staged.is_coarse,
            block: staged.blocks.map(|(_, block)| block),
        }
    }
}

/// The cheapest course with each number of passes that fits the budget.
pub(super) fn courses(
    asked: &PyramidPlanRequest<'_>,
    fixed_bytes: u64,
) -> Result<Vec<Course>, PlanError> {
    let count = asked.levels.len();
    if count > LEVELS_MAX {
        return Err(PlanError::OutOfRange { what: "the number of levels", range: "64 at most" });
    }
    let mut minimum_bytes = u64::MAX;
    // Passes that were looked at: each stands in many courses.
    let mut known: BTreeMap<Key, Result<Seen, u64>> = BTreeMap::new();
    // By number of passes, then by the level that comes next and whether blocks were left for it.
    let none: Vec<Option<Prefix>> = vec![None; count + 1];
    let mut found = Vec::new();
    let start = Prefix { passes: Vec::new(), is_coarse: false, seconds: 0.0, block: None };
    let mut with = none.clone();
    with[0] = Some(start);
    let mut before = [with, none.clone()];
    for _ in 0..count {
        let mut after = [none.clone(), none.clone()];
        let begun = (0..count).flat_map(|first| [(first, false), (first, true)]);
        for (first, had_blocks) in begun {
            if let Some(prefix) = &before[usize::from(had_blocks)][first] {
                for end in (0..=count).skip(first + 1) {
                    for leaves_blocks in [false, true] {
                        let input = input_of(asked, first, had_blocks);
                        let pass = pass_of(input, first..end, leaves_blocks);
                        if leaves_blocks && end == count || !can_be(asked, &pass) {
                            continue;
                        }
                        let key = (first, end, leaves_blocks, prefix.block.clone());
                        let seen = known.entry(key).or_insert_with(|| {
                            let block = prefix.block.as_deref();
                            let request = PassRequest { asked, pass: &pass, block, fixed_bytes };
                            stage_of(&request).map(Seen::of)
                        });
                        let staged = match seen {
                            Ok(seen) => seen.clone(),
                            Err(needs_bytes) => {
                                minimum_bytes = minimum_bytes.min(*needs_bytes);
                                continue;
                            }
                        };
                        let mut passes = prefix.passes.clone();
                        passes.push(pass);
                        let next = Prefix {
                            passes,
                            is_coarse: prefix.is_coarse || staged.is_coarse,
                            seconds: prefix.seconds + staged.seconds,
                            block: staged.block,
                        };
                        let place = &mut after[usize::from(leaves_blocks)][end];
                        let is_better = place.as_ref().is_none_or(|known| {
                            (next.is_coarse, next.seconds) < (known.is_coarse, known.seconds)
                        });
                        if is_better {
                            *place = Some(next);
                        }
                    }
                }
            }
        }
        if let Some(prefix) = after[0][count].take() {
            found.push(course(asked, &prefix, fixed_bytes));
        }
        before = after;
    }
    if found.is_empty() {
        return Err(PlanError::DoesNotFit {
            strategy: Strategy::Pyramid,
            budget_bytes: asked.request.budget.memory_bytes,
            minimum_bytes,
        });
    }
    Ok(found)
}

fn pass_of(input: PassInput, levels: Range<usize>, leaves_blocks: bool) -> PyramidPass {
    let Range { start: first, end } = levels;
    PyramidPass { input, first, end, leaves_blocks, reads_ahead: false }
}

fn input_of(asked: &PyramidPlanRequest<'_>, first: usize, had_blocks: bool) -> PassInput {
    match first.checked_sub(1) {
        Some(level) if had_blocks => PassInput::Blocks(level),
        Some(level) if asked.from == LevelsFrom::Previous => PassInput::Level(level),
        _ => PassInput::Source,
    }
}

/// Whether a pass can be, and what it leaves is of use.
fn can_be(asked: &PyramidPlanRequest<'_>, pass: &PyramidPass) -> bool {
    let levels = asked.plan_levels();
    if pass.leaves_blocks && asked.request.intermediate_in_memory {
        return false;
    }
    if pass.leaves_blocks {
        let last = pass.end - 1;
        let next = pass_of(PassInput::Blocks(last), pass.end..pass.end + 1, false);
        if !follows(asked, &levels, &next) {
            return false;
        }
    }
    follows(asked, &levels, pass)
}

fn course(asked: &PyramidPlanRequest<'_>, prefix: &Prefix, fixed_bytes: u64) -> Course {
    let mut course = Course {
        passes: Vec::new(),
        stages: Vec::new(),
        blocks: Vec::new(),
        estimate: Estimate::default(),
        is_coarse: prefix.is_coarse,
        transfer_bytes: 0,
    };
    let mut block = None;
    for pass in &prefix.passes {
        let request = PassRequest { asked, pass, block: block.as_deref(), fixed_bytes };
        // It was found before, with the same input.
        let Ok(staged) = stage_of(&request) else { continue };
        let Staged { mut stage, estimate, blocks, transfer_bytes, reads_ahead, .. } = staged;
        let first_block = asked.levels.len() + 1;
        if matches!(pass.input, PassInput::Blocks(_)) {
            stage.inputs[0].array = ArrayId(first_block + course.blocks.len() - 1);
        }
        if let Some(output) = stage.outputs.last_mut().filter(|_| pass.leaves_blocks) {
            output.array = ArrayId(first_block + course.blocks.len());
        }
        block = blocks.as_ref().map(|(_, block)| block.clone());
        course.blocks.extend(blocks);
        course.estimate.add(&estimate);
        course.transfer_bytes = course.transfer_bytes.max(transfer_bytes);
        course.passes.push(PyramidPass { reads_ahead, ..pass.clone() });
        course.stages.push(stage);
    }
    course
}

/// Whether a pass may write `levels` from what it reads.
fn follows(asked: &PyramidPlanRequest<'_>, levels: &[PyramidLevel], pass: &PyramidPass) -> bool {
    let input = match pass.input {
        // A level of the one before cannot be computed without that, if it is not in this pass.
        PassInput::Source => return is_first(asked, levels, pass),
        PassInput::Blocks(level) | PassInput::Level(level) => level,
    };
    let is_of_kind = match pass.input {
        PassInput::Blocks(_) => {
            asked.from == LevelsFrom::S0
                && (asked.method.is_summed() || asked.method.is_chained())
                && asked.missing == MissingCells::Fill
        }
        PassInput::Level(_) => {
            asked.from == LevelsFrom::Previous && asked.missing == MissingCells::Fill
        }
        PassInput::Source => true,
    };
    // A Gaussian looks at elements beside a step, which are not there of a level in memory.
    let is_alone =
        asked.method.halo(2) == 0 || asked.from == LevelsFrom::S0 || pass.end == pass.first + 1;
    is_of_kind
        && is_alone
        && (pass.first..pass.end).all(|level| {
            let parent = parent_level(levels, level, (asked.method, asked.from));
            let finer = &levels[input].factors;
            let divides = levels[level].factors.iter().zip(finer);
            parent.is_some_and(|parent| parent >= input)
                && divides.into_iter().all(|(own, finer)| own.is_multiple_of((*finer).max(1)))
        })
}

/// Whether a pass may write its levels from the source.
fn is_first(asked: &PyramidPlanRequest<'_>, levels: &[PyramidLevel], pass: &PyramidPass) -> bool {
    let coarser = levels[pass.first..pass.end].iter();
    let coarser = coarser.filter(|level| level.factors.iter().any(|&factor| factor > 1)).count();
    match asked.from {
        LevelsFrom::S0 => true,
        LevelsFrom::Previous => pass.first == 0 && (asked.method.halo(2) == 0 || coarser <= 1),
    }
}
