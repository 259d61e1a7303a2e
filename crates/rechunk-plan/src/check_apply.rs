//! Checks of the apply of a plan that was read from somewhere.

use crate::{Kernel, Plan, Stage};

impl Plan {
    /// Checks that the stages are those of the apply that the plan has, if it has one.
    pub(crate) fn check_apply(&self) -> Result<(), &'static str> {
        let Some(work) = &self.apply else {
            let combines = |stage: &Stage| matches!(stage.kernel, Kernel::Combine(_));
            let has_combine = self.stages.iter().any(combines);
            return if has_combine { Err("it combines blocks of no apply") } else { Ok(()) };
        };
        let job = &work.job;
        let target = self.target();
        let is_of_target = job
            .written_grid()
            .is_some_and(|grid| grid.shape == target.shape && grid.chunk == target.commit_shape());
        if !is_of_target || job.data_type().item_bytes() != target.item_bytes {
            return Err("its apply is one of another target");
        }
        let expected = [(job.task_shape(), job.task_count())].into_iter();
        let expected = expected.chain([(job.reduction_shape(), job.reduction_count())]);
        let expected: Vec<_> = expected.take(work.stage_count()).collect();
        let found = self.stages.iter().map(|stage| (stage.shape.clone(), stage.tasks));
        let is_one = |stage: &Stage| stage.tile.iter().all(|&extent| extent == 1);
        let kernels = self.stages.iter().enumerate().all(|(number, stage)| match stage.kernel {
            Kernel::Op(_) => number == 0,
            Kernel::Combine(_) => number == 1,
            Kernel::Copy(_) | Kernel::Reduce(_) => false,
        });
        if !found.eq(expected) || !self.stages.iter().all(is_one) || !kernels {
            return Err("its stages are not those of its apply");
        }
        Ok(())
    }
}
