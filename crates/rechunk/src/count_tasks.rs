//! Counts the tasks of a run as they are done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rechunk_exec::{Event, Observer};

/// Passes events on, and counts the tasks that are done.
pub(crate) struct CountTasks {
    inner: Arc<dyn Observer>,
    resumed: AtomicU64,
    done_now: AtomicU64,
}

impl CountTasks {
    pub(crate) fn new(inner: Arc<dyn Observer>) -> Self {
        Self { inner, resumed: AtomicU64::new(0), done_now: AtomicU64::new(0) }
    }

    /// Tasks that were done before the run.
    pub(crate) fn resumed(&self) -> u64 {
        self.resumed.load(Ordering::Relaxed)
    }

    /// Tasks that this process has done.
    pub(crate) fn done_now(&self) -> u64 {
        self.done_now.load(Ordering::Relaxed)
    }

    /// All tasks that are done.
    pub(crate) fn done(&self) -> u64 {
        self.resumed().saturating_add(self.done_now())
    }
}

impl Observer for CountTasks {
    fn event(&self, event: &Event) {
        if let Event::RunStarted { tasks_done, .. } = event {
            self.resumed.store(*tasks_done, Ordering::Relaxed);
        }
        self.done_now.fetch_add(event.tasks_done(), Ordering::Relaxed);
        self.inner.event(event);
    }
}
