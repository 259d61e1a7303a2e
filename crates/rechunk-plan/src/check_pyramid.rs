//! Checks of the pyramid of a plan that was read from somewhere.

use crate::{Kernel, PassInput, Plan, PyramidWork, Unit};

const NOT_ITS_STAGES: &str = "its stages are not those of its pyramid";

impl Plan {
    /// Checks that the stages are the passes of the pyramid that the plan has, if it has one.
    pub(crate) fn check_pyramid(&self) -> Result<(), &'static str> {
        let Some(work) = &self.pyramid else {
            let reduces = self.stages.iter().any(|stage| matches!(stage.kernel, Kernel::Reduce(_)));
            return if reduces { Err("it writes levels of no pyramid") } else { Ok(()) };
        };
        if work.passes.len() != self.stages.len() {
            return Err(NOT_ITS_STAGES);
        }
        let rank = work.extent.len();
        for level in &work.levels {
            let array = self.array(level.array);
            if level.factors.len() != rank
                || level.factors.contains(&0)
                || array.shape != level.shape
            {
                return Err("a level of its pyramid is not its array");
            }
        }
        for (number, (stage, pass)) in self.stages.iter().zip(&work.passes).enumerate() {
            if !matches!(stage.kernel, Kernel::Reduce(_)) || stage.shape.len() != rank {
                return Err(NOT_ITS_STAGES);
            }
            work.check_pass(number)?;
            let outputs = pass.end - pass.first + usize::from(pass.leaves_blocks);
            if stage.outputs.len() != outputs || stage.inputs.len() != 1 {
                return Err(NOT_ITS_STAGES);
            }
            let blocks = stage.outputs.iter().filter(|output| output.unit == Unit::Piece).count();
            let reads_blocks = matches!(pass.input, PassInput::Blocks(_));
            if blocks != usize::from(pass.leaves_blocks)
                || (stage.input_unit() == Unit::Piece) != reads_blocks
            {
                return Err(NOT_ITS_STAGES);
            }
        }
        let last = work.passes.last().map(|pass| (pass.end, pass.leaves_blocks));
        if last == Some((work.levels.len(), false)) { Ok(()) } else { Err(NOT_ITS_STAGES) }
    }
}

impl PyramidWork {
    /// Checks that a pass writes levels that follow from its input, in the order of passes.
    fn check_pass(&self, number: usize) -> Result<(), &'static str> {
        let pass = &self.passes[number];
        let follows = match number.checked_sub(1) {
            Some(before) => pass.first == self.passes[before].end,
            None => pass.first == 0,
        };
        if !follows || pass.first >= pass.end || pass.end > self.levels.len() {
            return Err(NOT_ITS_STAGES);
        }
        let input = match pass.input {
            PassInput::Source => return Ok(()),
            PassInput::Blocks(level) | PassInput::Level(level) => level,
        };
        let is_before = input + 1 == pass.first;
        let has_blocks = number.checked_sub(1).is_some_and(|at| self.passes[at].leaves_blocks);
        if !is_before || matches!(pass.input, PassInput::Blocks(_)) != has_blocks {
            return Err(NOT_ITS_STAGES);
        }
        if self.levels_follow(pass.first..pass.end, input) {
            Ok(())
        } else {
            Err("a level does not follow from what its pass reads")
        }
    }
}
