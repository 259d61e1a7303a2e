//! Advice for the memory allocator of a program that runs jobs.
//!
//! The library has no allocator of its own. The budget of a job is on resident memory, and what an
//! allocator keeps after it was freed counts there. Run with mimalloc without huge pages (its
//! feature `no_thp`), built with its other defaults, and:
//!
//! 1. apply [`MemoryAdvice::AtOnce`] before memory is used in earnest;
//! 2. give jobs a [`Freeing`] as observer, with the same function.
//!
//! With mimalloc, set the option [`MIMALLOC_PURGE_DELAY`] to [`MemoryAdvice::purge_delay`] by
//! `mi_option_set` where there is one, and call `mi_collect(true)` where there is none.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use rechunk::allocator::{Freeing, MemoryAdvice};
//! use rechunk::{Event, NullObserver, Observer};
//!
//! let taken = Arc::new(Mutex::new(Vec::new()));
//! let apply = {
//!     let taken = Arc::clone(&taken);
//!     move |advice: MemoryAdvice| taken.lock().unwrap().push(advice.purge_delay())
//! };
//! apply(MemoryAdvice::AtOnce);
//! let observer = Freeing::new(Arc::new(NullObserver), true, apply);
//! observer.event(&Event::RunStarted { tasks_total: 1, tasks_done: 0 });
//! observer.event(&Event::TaskDone { stage: 0, task: 0 });
//! assert_eq!(*taken.lock().unwrap(), [Some(0), Some(-1)]);
//! ```

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::{Event, Observer};

/// Number of `mi_option_purge_delay` in mimalloc.h, which bindings do not name.
pub const MIMALLOC_PURGE_DELAY: i32 = 15;

/// Time for which freed buffers are kept in stages that take new ones all the time. The system
/// would clear each once more, which takes a third of the time of some.
const SOON_MILLISECONDS: i64 = 20;

/// Advice to an allocator about freed memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryAdvice {
    /// Give memory back to the system as soon as it is freed. Large buffers are kept and used again
    /// by a run, so that this costs little.
    AtOnce,
    /// Give memory back to the system soon after it is freed: the next buffers take it meanwhile,
    /// and the budget has room for it.
    Soon,
    /// Give back now what is free: the buffers of the next stage have other sizes.
    Now,
    /// Give nothing back any more: the process ends, and the system takes all at once.
    Never,
}

impl MemoryAdvice {
    /// Milliseconds from freeing memory to giving it back, -1 for never, as mimalloc takes them.
    /// `None` if the delay stays as it is.
    pub fn purge_delay(self) -> Option<i64> {
        match self {
            Self::AtOnce => Some(0),
            Self::Soon => Some(SOON_MILLISECONDS),
            Self::Now => None,
            Self::Never => Some(-1),
        }
    }
}

/// An observer that advises the allocator as a run goes on, and passes all events on.
pub struct Freeing<F> {
    inner: Arc<dyn Observer>,
    apply: F,
    /// Nothing that takes memory follows the run.
    ends_with_it: bool,
    /// The array is the last one.
    is_last: AtomicBool,
    tasks_left: AtomicU64,
    /// The last task is done.
    is_over: AtomicBool,
}

impl<F> fmt::Debug for Freeing<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Freeing").field("ends_with_it", &self.ends_with_it).finish_non_exhaustive()
    }
}

impl<F: Fn(MemoryAdvice) + Send + Sync> Freeing<F> {
    /// Returns an observer that has `apply` carry out each advice. `ends_with_it`: the process ends
    /// after the run, and nothing that takes memory follows: no other run, and no other range of
    /// its tasks.
    pub fn new(inner: Arc<dyn Observer>, ends_with_it: bool, apply: F) -> Self {
        Self {
            inner,
            apply,
            ends_with_it,
            is_last: AtomicBool::new(true),
            tasks_left: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    /// The last task of all is done: nothing more will be asked for.
    fn is_end(&self, event: &Event) -> bool {
        let done = match event {
            Event::ArrayStarted { number, arrays, .. } => {
                self.is_last.store(number == arrays, Ordering::Relaxed);
                return false;
            }
            Event::RunStarted { tasks_total, tasks_done } => {
                let left = tasks_total.saturating_sub(*tasks_done);
                self.tasks_left.store(left, Ordering::Relaxed);
                return false;
            }
            event => event.tasks_done(),
        };
        if done == 0 {
            return false;
        }
        let left = self.tasks_left.fetch_sub(done, Ordering::Relaxed);
        left == done && self.ends_with_it && self.is_last.load(Ordering::Relaxed)
    }
}

impl<F: Fn(MemoryAdvice) + Send + Sync> Observer for Freeing<F> {
    fn event(&self, event: &Event) {
        if self.is_end(event) {
            // To give buffers back one by one until the process ends takes longer than the system
            // does.
            self.is_over.store(true, Ordering::Relaxed);
            (self.apply)(MemoryAdvice::Never);
        }
        match event {
            Event::StageStarted { may_keep_freed: true, .. } => {
                (self.apply)(MemoryAdvice::Soon);
            }
            Event::StageDone { .. } => {
                if !self.is_over.load(Ordering::Relaxed) {
                    (self.apply)(MemoryAdvice::AtOnce);
                }
                (self.apply)(MemoryAdvice::Now);
            }
            _ => {}
        }
        self.inner.event(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NullObserver;

    fn run(tasks: u64, done: u64) -> Vec<Event> {
        let started = Event::RunStarted { tasks_total: tasks, tasks_done: done };
        let tasks = (done..tasks).map(|task| Event::TaskDone { stage: 0, task });
        [started].into_iter().chain(tasks).collect()
    }

    fn array(number: usize) -> Event {
        let path = String::new();
        Event::ArrayStarted { path, number, arrays: 2, bytes_total: 0, bytes_before: 0 }
    }

    /// After how many of the events memory is no longer given back.
    fn end(events: &[Event], ends_with_it: bool) -> Option<usize> {
        let freeing = Freeing::new(Arc::new(NullObserver), ends_with_it, |_: MemoryAdvice| ());
        events.iter().position(|event| freeing.is_end(event))
    }

    #[test]
    fn memory_is_kept_for_a_moment_where_stages_may_and_no_longer() {
        use MemoryAdvice::{AtOnce, Never, Now, Soon};

        let taken = std::sync::Mutex::new(Vec::new());
        let freeing = Freeing::new(Arc::new(NullObserver), true, |advice: MemoryAdvice| {
            taken.lock().unwrap().push(advice);
        });
        let started = |stage, may_keep_freed| Event::StageStarted {
            stage,
            name: String::new(),
            tasks: 1,
            tasks_done: 0,
            bytes_total: 1,
            bytes_done: 0,
            may_keep_freed,
        };
        freeing.event(&Event::RunStarted { tasks_total: 2, tasks_done: 0 });
        for (stage, takes) in [(0, false), (1, true)] {
            freeing.event(&started(stage, takes));
            freeing.event(&Event::TaskDone { stage, task: 0 });
            freeing.event(&Event::StageDone { stage });
        }
        assert_eq!(*taken.lock().unwrap(), [AtOnce, Now, Soon, Never, Now]);
    }

    #[test]
    fn memory_is_given_back_until_the_last_task_of_the_last_array() {
        assert_eq!(end(&run(3, 0), true), Some(3));
        assert_eq!(end(&run(3, 2), true), Some(1));
        assert_eq!(end(&run(3, 0), false), None, "something follows the run");
        assert_eq!(end(&run(3, 3), true), None, "nothing was done");
        let passed = Event::TasksPassedOver { stage: 0, tasks: 5 };
        let started = Event::RunStarted { tasks_total: 5, tasks_done: 0 };
        assert_eq!(end(&[started, passed], true), Some(1));
        let arrays = [vec![array(1)], run(2, 0), vec![array(2)], run(4, 0)].concat();
        assert_eq!(end(&arrays, true), Some(arrays.len() - 1));
    }
}
