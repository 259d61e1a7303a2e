//! The CPU pool: decoding, copying and encoding, off the async workers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::sync::oneshot;

use crate::Fault;

/// As many threads as the plan's memory was planned for.
#[derive(Debug, Clone)]
pub(crate) struct CpuPool {
    /// `None`: jobs run on the thread that asks, in the order in which they are asked for. Threads
    /// would end in any order, and a run that is simulated has to be the same each time.
    pool: Option<Arc<ThreadPool>>,
}

impl CpuPool {
    /// A pool of so many threads; with none, jobs run where they are asked for.
    pub(crate) fn new(threads: u32) -> Result<Self, Fault> {
        if threads == 0 {
            return Ok(Self { pool: None });
        }
        let threads = usize::try_from(threads).unwrap_or(usize::MAX);
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|number| format!("rechunk-cpu-{number}"))
            .build()
            .map_err(|error| Fault::Cpu { reason: error.to_string() })?;
        Ok(Self { pool: Some(Arc::new(pool)) })
    }

    /// There are threads beside those that ask.
    pub(crate) fn has_threads(&self) -> bool {
        self.pool.is_some()
    }

    /// This thread is one of the pool.
    pub(crate) fn is_here(&self) -> bool {
        self.pool.as_ref().is_some_and(|pool| pool.current_thread_index().is_some())
    }

    /// Runs `job` on the pool, or here if this is one of its threads. A panic in it comes back as a
    /// fault. If the caller goes away a job that has begun still ends, and what it returns is
    /// dropped.
    pub(crate) async fn run<T, F>(&self, job: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, Fault> + Send + 'static,
    {
        let Some(pool) = self.pool.as_ref().filter(|_| !self.is_here()) else {
            return caught(job);
        };
        let (sender, receiver) = oneshot::channel();
        pool.spawn(move || {
            if !sender.is_closed() {
                // The receiver is gone when the run was cancelled: nobody to tell.
                let _ = sender.send(caught(job));
            }
        });
        let lost = || Fault::Cpu { reason: "a job was lost".to_owned() };
        receiver.await.unwrap_or_else(|_| Err(lost()))
    }
}

impl CpuPool {
    /// Does the work of `future` on one thread of the pool until it has to wait; the rest where
    /// this is awaited. Work on local files waits for nobody but for large writes that go past the
    /// page cache, so all of it is done in one go: to hand a small chunk from thread to thread
    /// takes longer than to decode it.
    pub(crate) async fn drive<T: Send + 'static>(
        &self,
        future: BoxFuture<'static, Result<T, Fault>>,
    ) -> Result<T, Fault> {
        match self.begin(future).await? {
            Driven::Ended(done) => Ok(done),
            Driven::Waits(rest) => rest.await,
        }
    }

    /// Begins like [`CpuPool::drive`], and returns the rest of the work if it has to wait.
    pub(crate) async fn begin<T: Send + 'static>(
        &self,
        mut future: BoxFuture<'static, Result<T, Fault>>,
    ) -> Result<Driven<T>, Fault> {
        self.run(move || match (&mut future).now_or_never() {
            Some(result) => result.map(Driven::Ended),
            None => Ok(Driven::Waits(future)),
        })
        .await
    }
}

/// Progress of work on a thread of the pool.
pub(crate) enum Driven<T> {
    Ended(T),
    Waits(BoxFuture<'static, Result<T, Fault>>),
}

/// Returns the result of `job`; a panic in it as a fault.
fn caught<T>(job: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| {
        Err(Fault::Cpu { reason: format!("a job panicked: {}", message(panic.as_ref())) })
    })
}

/// The message of a panic.
pub(crate) fn message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_a_fault_and_the_pool_lives_on() {
        for threads in [1, 0] {
            let cpu = CpuPool::new(threads).unwrap();
            let fault = cpu.run(|| -> Result<(), Fault> { panic!("at {}", 7) }).await.unwrap_err();
            assert!(fault.to_string().contains("at 7"), "{fault}");
            assert_eq!(cpu.run(|| Ok(2)).await.unwrap(), 2);
        }
    }

    #[tokio::test]
    async fn work_that_waits_for_nobody_is_done_on_one_thread() {
        let cpu = CpuPool::new(2).unwrap();
        let inner = cpu.clone();
        let thread = || std::thread::current().name().map(str::to_owned);
        let work = async move {
            let first = thread();
            let second = inner.run(move || Ok(thread())).await?;
            Ok((first, second))
        };
        let (first, second) = cpu.drive(work.boxed()).await.unwrap();
        assert!(first.clone().unwrap().starts_with("rechunk-cpu-"));
        assert_eq!(first, second);
    }

    #[tokio::test]
    async fn work_that_waits_goes_on_where_it_is_awaited() {
        let cpu = CpuPool::new(1).unwrap();
        let (sender, receiver) = oneshot::channel();
        let work = async move {
            let told: u32 = receiver.await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            Ok(told)
        };
        let driven = tokio::spawn(async move { cpu.drive(work.boxed()).await });
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        sender.send(7).unwrap();
        assert_eq!(driven.await.unwrap().unwrap(), 7);
    }

    #[tokio::test]
    async fn without_threads_jobs_run_where_they_are_asked_for() {
        let thread = || Ok(std::thread::current().id());
        let here = std::thread::current().id();
        assert_eq!(CpuPool::new(0).unwrap().run(thread).await.unwrap(), here);
        assert_ne!(CpuPool::new(1).unwrap().run(thread).await.unwrap(), here);
    }
}
