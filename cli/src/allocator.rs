//! The memory allocator, and how soon it gives memory back.
//!
//! mimalloc, because glibc faults every large buffer in again each time it is allocated
//! (docs/design/004-memory.md has the measurements). By itself it keeps what was freed for a
//! second, which would count as resident memory beyond the budget: here it is given back at once,
//! but for what a run frees when all is written, which goes with the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use libmimalloc_sys::{mi_collect, mi_option_set, mi_option_t};
use rechunk::{Event, Observer};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of mimalloc.h, which the bindings do not name.
const PURGE_DELAY: mi_option_t = 15;

/// Milliseconds from freeing memory to giving it back to the system: none. Large buffers are kept
/// and used again by whoever holds them, so that this costs little.
const AT_ONCE: i64 = 0;

/// It is not given back.
const NEVER: i64 = -1;

/// Sets the allocator's options; to be called before memory is used in earnest.
pub(crate) fn configure() {
    set_purge_delay(AT_ONCE);
}

#[expect(unsafe_code, reason = "the only way to set an option of mimalloc at run time")]
fn set_purge_delay(milliseconds: i64) {
    // SAFETY: the function takes two plain numbers and stores one; an option it does not know it
    // ignores. Who frees meanwhile takes the old value or the new one.
    unsafe { mi_option_set(PURGE_DELAY, milliseconds) };
}

/// Gives back what is free now: between two stages, whose buffers have different sizes.
#[expect(unsafe_code, reason = "the only way to ask mimalloc for it")]
fn give_back() {
    // SAFETY: takes a plain flag and may be called from any thread at any time.
    unsafe { mi_collect(true) };
}

/// Tells the allocator how far a run is, and passes all events on.
pub(crate) struct Freeing {
    inner: Arc<dyn Observer>,
    /// Nothing that takes memory follows the run.
    ends_with_it: bool,
    /// The array is the last one.
    is_last: AtomicBool,
    tasks_left: AtomicU64,
}

impl Freeing {
    /// `ends_with_it`: nothing that takes memory follows the run.
    pub(crate) fn new(inner: Arc<dyn Observer>, ends_with_it: bool) -> Self {
        let (is_last, tasks_left) = (AtomicBool::new(true), AtomicU64::new(0));
        Self { inner, ends_with_it, is_last, tasks_left }
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
            Event::TaskDone { .. } => 1,
            Event::TasksPassedOver { tasks, .. } => *tasks,
            _ => return false,
        };
        let left = self.tasks_left.fetch_sub(done, Ordering::Relaxed);
        left == done && self.ends_with_it && self.is_last.load(Ordering::Relaxed)
    }
}

impl Observer for Freeing {
    fn event(&self, event: &Event) {
        if self.is_end(event) {
            // The process ends in a moment: to give its buffers back one by one until then takes
            // longer than the system does.
            set_purge_delay(NEVER);
        }
        if let Event::StageDone { .. } = event {
            give_back();
        }
        self.inner.event(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rechunk::NullObserver;

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
        let freeing = Freeing::new(Arc::new(NullObserver), ends_with_it);
        events.iter().position(|event| freeing.is_end(event))
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
