//! Chooses the thread of short work: opening, looking at or removing a local file, reading or
//! writing a small document.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Handing work to another thread and waiting for it takes a twentieth to a tenth of a millisecond.
/// What takes longer than this is no moment.
const LONG: Duration = Duration::from_micros(250);
/// So much of the work that follows is then handed over, before that is tried again.
const HANDED_OVER: u32 = 16;
/// Most bytes that are read or written in a moment.
const BYTES_MAX: u64 = 64 << 10;

/// More bytes than that, for what may wait for a disk, or meets many files.
pub(crate) const NO_MOMENT: u64 = u64::MAX;

/// Recent experience with short work at one place.
#[derive(Debug, Default)]
pub(crate) struct Moments {
    /// Pieces of work that are still to be handed over.
    handed_over: AtomicU32,
}

impl Moments {
    /// Does `work`, which reads or writes so many bytes, on this thread or on one that has nothing
    /// else to do. It stays here if this thread is in no runtime or such work is over in a moment.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        bytes: u64,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        if may_block() {
            return Ok(work());
        }
        if bytes > BYTES_MAX || self.is_next_handed_over() {
            return tokio::task::spawn_blocking(work).await.map_err(io::Error::other);
        }
        let began = Instant::now();
        let result = work();
        self.took(began.elapsed());
        Ok(result)
    }

    fn is_next_handed_over(&self) -> bool {
        let less_one = |left: u32| left.checked_sub(1);
        self.handed_over.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less_one).is_ok()
    }

    fn took(&self, duration: Duration) {
        if duration > LONG {
            self.handed_over.store(HANDED_OVER, Ordering::Relaxed);
        }
    }
}

/// This thread is in no runtime, which would stand still while it waits for a disk: what blocks is
/// done here. (`LocalFileSystem` of `object_store` decides in the same way.)
pub fn may_block() -> bool {
    tokio::runtime::Handle::try_current().is_err()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    async fn thread_of(moments: &Moments, takes: Duration) -> thread::ThreadId {
        let work = move || {
            thread::sleep(takes);
            thread::current().id()
        };
        moments.run(0, work).await.unwrap()
    }

    #[tokio::test]
    async fn what_takes_long_goes_to_other_threads_for_a_while() {
        let (moments, here) = (Moments::default(), thread::current().id());
        assert_eq!(thread_of(&moments, 2 * LONG).await, here, "nobody knows");
        for _ in 0..HANDED_OVER {
            assert_ne!(thread_of(&moments, Duration::ZERO).await, here);
        }
        assert_eq!(thread_of(&moments, 2 * LONG).await, here, "tried again");
        assert_ne!(thread_of(&moments, Duration::ZERO).await, here);
    }

    #[tokio::test]
    async fn many_bytes_are_never_a_moment() {
        let (moments, here) = (Moments::default(), thread::current().id());
        for bytes in [BYTES_MAX, BYTES_MAX + 1] {
            let there = moments.run(bytes, || thread::current().id()).await.unwrap();
            assert_eq!(there == here, bytes == BYTES_MAX);
        }
    }

    #[test]
    fn a_thread_of_no_runtime_does_all_itself() {
        let (moments, here) = (Moments::default(), thread::current().id());
        for _ in 0..3 {
            let there = futures::executor::block_on(thread_of(&moments, 2 * LONG));
            assert_eq!(there, here);
        }
    }

    #[test]
    fn moments_pass() {
        let moments = Moments::default();
        for _ in 0..100 {
            moments.took(LONG);
            assert!(!moments.is_next_handed_over());
        }
    }
}
