//! Events that a run reports while it runs.

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A job of many arrays goes on to one of them; a run of one array never says this.
    ArrayStarted {
        /// Path of the array in the group.
        path: String,
        /// Its number in the job, from 1.
        number: usize,
        /// All arrays of the job.
        arrays: usize,
        /// Bytes of elements that the stages of all arrays write, without padding.
        bytes_total: u64,
        /// Of these, those of the arrays before it.
        bytes_before: u64,
    },
    /// The run begins.
    RunStarted {
        /// Tasks of all stages.
        tasks_total: u64,
        /// Of these, done by an earlier run.
        tasks_done: u64,
    },
    /// A stage begins.
    StageStarted {
        /// Its number in the plan.
        stage: usize,
        /// Its name in the plan.
        name: String,
        /// Its tasks.
        tasks: u64,
        /// Of these, done by an earlier run.
        tasks_done: u64,
        /// Bytes of elements that the stage writes in all, without padding.
        bytes_total: u64,
        /// Of these, written by an earlier run.
        bytes_done: u64,
        /// Its tasks take new buffers all the time, and the budget has room for those that were
        /// freed a moment before.
        may_keep_freed: bool,
    },
    /// A task has its memory and begins.
    TaskStarted {
        /// Stage of the task.
        stage: usize,
        /// Its number in the stage.
        task: u64,
    },
    /// A task is done: everything it writes is written (but perhaps not yet durable).
    TaskDone {
        /// Stage of the task.
        stage: usize,
        /// Its number in the stage.
        task: u64,
    },
    /// Tasks are done for which nothing was to be done: nothing of them is stored in the source.
    TasksPassedOver {
        /// Stage of the tasks.
        stage: usize,
        /// Number of tasks.
        tasks: u64,
    },
    /// More output is finished.
    Progress {
        /// Stage that writes it.
        stage: usize,
        /// Bytes of elements finished since the last such event, without padding.
        decoded_bytes: u64,
    },
    /// All tasks of a stage are done. What they have written is made durable while the next one
    /// begins, at the latest before the run ends.
    StageDone {
        /// Its number in the plan.
        stage: usize,
    },
    /// Marks became durable in the journal.
    JournalSynced {
        /// Number of marks.
        marks: u64,
    },
    /// Something a person should know that does not end the run.
    Warning {
        /// Text of the warning.
        text: String,
    },
}

impl Event {
    /// Number of tasks that it says are done.
    pub fn tasks_done(&self) -> u64 {
        match self {
            Self::TaskDone { .. } => 1,
            Self::TasksPassedOver { tasks, .. } => *tasks,
            _ => 0,
        }
    }
}

/// Is told of events, from any thread. Must return quickly: the run waits for it.
pub trait Observer: Send + Sync {
    /// Called for each event.
    fn event(&self, event: &Event);
}

/// Ignores all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullObserver;

impl Observer for NullObserver {
    fn event(&self, _event: &Event) {}
}
