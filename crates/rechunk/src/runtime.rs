//! The threads that jobs run on.

use std::future::Future;
use std::io;

use tokio::runtime::Builder;

/// Threads that only wait for the disk.
const BLOCKING_THREADS: usize = 8;
/// With so many CPUs one thread is enough for asynchronous work.
const FEW_CPUS: usize = 4;
/// Threads for it where there are more: TLS takes its time.
const ASYNC_THREADS: usize = 2;

/// A runtime of tokio with the threads that the command line has.
///
/// Jobs run on any runtime of tokio that has its I/O and time. One thread for each CPU, as
/// `#[tokio::main]` starts them, takes CPUs from the workers that decode and copy.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let source = folder.path().join("source.zarr").display().to_string();
/// # std::fs::create_dir(&source)?;
/// # std::fs::write(source.clone() + "/.zarray", r#"{"zarr_format": 2, "shape": [4, 6],
/// #     "chunks": [1, 6], "dtype": "<f4", "compressor": null, "filters": null,
/// #     "fill_value": 0, "order": "C"}"#)?;
/// use rechunk::{OpenOptions, Runtime, Stores, open_array};
///
/// let runtime = Runtime::new()?;
/// let (options, stores) = (OpenOptions::default(), Stores::default());
/// let array = runtime.block_on(open_array(&source, &options, &stores))?;
/// assert_eq!(array.spec().shape, [4, 6]);
/// runtime.shutdown_background();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Runtime {
    inner: tokio::runtime::Runtime,
}

impl Runtime {
    /// Starts the threads.
    pub fn new() -> io::Result<Self> {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let mut threads = async_threads(cpus);
        let inner = threads.max_blocking_threads(BLOCKING_THREADS).enable_all().build()?;
        Ok(Self { inner })
    }

    /// Runs `future` to its end, and returns its result. Panics inside of another runtime.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.inner.block_on(future)
    }

    /// Ends the runtime without waiting: a read that hangs does not keep the process.
    pub fn shutdown_background(self) {
        self.inner.shutdown_background();
    }
}

/// Threads that wait for stores and hand work out. Where there are few CPUs it is the thread of
/// [`Runtime::block_on`]: more would wake each other for each answer.
fn async_threads(cpus: usize) -> Builder {
    if cpus <= FEW_CPUS {
        return Builder::new_current_thread();
    }
    let mut threads = Builder::new_multi_thread();
    threads.worker_threads(ASYNC_THREADS);
    threads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_cpus_have_one_thread_for_what_waits() {
        for (cpus, threads) in [(1, 1), (4, 1), (5, 2), (64, 2)] {
            let runtime = async_threads(cpus).build().unwrap();
            assert_eq!(runtime.metrics().num_workers(), threads, "{cpus} CPUs");
        }
    }

    #[test]
    fn a_runtime_has_time_and_ends_while_a_thread_hangs() {
        let runtime = Runtime::new().unwrap();
        let (free, wait) = std::sync::mpsc::channel::<()>();
        runtime.block_on(async {
            tokio::task::spawn_blocking(move || wait.recv());
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        });
        runtime.shutdown_background();
        drop(free);
    }
}
