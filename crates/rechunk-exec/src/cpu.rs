//! The CPU pool: decoding, copying and encoding, off the async workers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::sync::oneshot;

use crate::Fault;

/// As many threads as the plan's memory was planned for.
#[derive(Debug, Clone)]
pub(crate) struct CpuPool {
    pool: Arc<ThreadPool>,
}

impl CpuPool {
    pub(crate) fn new(threads: u32) -> Result<Self, Fault> {
        let threads = usize::try_from(threads).unwrap_or(usize::MAX);
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|number| format!("rechunk-cpu-{number}"))
            .build()
            .map_err(|error| Fault::Cpu { reason: error.to_string() })?;
        Ok(Self { pool: Arc::new(pool) })
    }

    /// Runs `job` on the pool. A panic in it comes back as a fault. If the caller goes away the
    /// job still ends, and what it returns is dropped.
    pub(crate) async fn run<T, F>(&self, job: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, Fault> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        self.pool.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| {
                Err(Fault::Cpu { reason: format!("a job panicked: {}", message(panic.as_ref())) })
            });
            // The receiver is gone when the run was cancelled: nobody to tell.
            let _ = sender.send(result);
        });
        let lost = || Fault::Cpu { reason: "a job was lost".to_owned() };
        receiver.await.unwrap_or_else(|_| Err(lost()))
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
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
        let cpu = CpuPool::new(1).unwrap();
        let fault = cpu.run(|| -> Result<(), Fault> { panic!("at {}", 7) }).await.unwrap_err();
        assert!(fault.to_string().contains("at 7"), "{fault}");
        assert_eq!(cpu.run(|| Ok(2)).await.unwrap(), 2);
    }
}
