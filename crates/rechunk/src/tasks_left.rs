//! Tasks of a plan that are not done.

use rechunk_exec::DoneSet;

use crate::job::Job;

/// Tasks of a stage that are not done: its number, and theirs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TasksLeft {
    pub stage: usize,
    pub tasks: u64,
}

impl Job {
    /// Stages that are not done after `done`, in their order.
    pub(crate) fn left_after<'a>(
        &'a self,
        done: &'a DoneSet,
    ) -> impl Iterator<Item = TasksLeft> + 'a {
        let stages = self.planned.plan.stages.iter().enumerate();
        let left = stages.map(|(stage, of)| TasksLeft {
            stage,
            tasks: of.tasks.saturating_sub(done.count(stage)),
        });
        left.filter(|left| left.tasks > 0)
    }

    /// `2 of 4 tasks of stage 0, push`.
    pub(crate) fn in_words(&self, left: TasksLeft) -> String {
        let TasksLeft { stage, tasks } = left;
        let of = self.planned.plan.stages.get(stage);
        let (name, all) = of.map_or(("", 0), |of| (of.name.as_str(), of.tasks));
        format!("{tasks} of {all} tasks of stage {stage}, {name}")
    }
}
