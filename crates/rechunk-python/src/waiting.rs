//! Waits for work with the interpreter released, and answers Ctrl-C.

use std::future::Future;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use rechunk::{CancellationToken, CopyReport, Error, Prepared, Running};

use crate::allocator::freeing;
use crate::errors::raised;
use crate::progress::Progress;
use crate::runtime;

/// Time between two looks for signals, and for progress to be told.
const LOOK: Duration = Duration::from_millis(20);
/// Plans lie on it, some of them twice.
const STACK_BYTES: usize = 16 << 20;

/// Does `work` on a thread of its own and waits for it, and has Python's signal handlers run
/// meanwhile.
///
/// If one of them raises, as Ctrl-C does, or `progress` does, `cancel` is cancelled, and the
/// exception goes on when the work has stopped; its cause is the `Interrupted` of the work. At a
/// second exception nobody waits any longer.
pub(crate) fn wait<T, W, F>(
    py: Python<'_>,
    cancel: &CancellationToken,
    progress: Option<&Progress>,
    work: W,
) -> PyResult<T>
where
    T: Send + 'static,
    W: FnOnce() -> F + Send + 'static,
    F: Future<Output = Result<T, Error>>,
{
    let runtime = runtime::here()?;
    let (send, mut receive) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().name("rechunk".to_owned()).stack_size(STACK_BYTES);
    thread
        .spawn(move || {
            // Nobody listens any more after a second Ctrl-C.
            let _ = send.send(runtime.block_on(work()));
        })
        .map_err(|error| PyOSError::new_err(format!("cannot start a thread: {error}")))?;
    let mut interrupted: Option<PyErr> = None;
    let outcome = loop {
        let got = py.detach(|| {
            let got = receive.recv_timeout(LOOK);
            (receive, got)
        });
        receive = got.0;
        match got.1 {
            Ok(outcome) => break outcome,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let text = "the work ended in a panic, which is a fault of rechunk";
                return Err(PyRuntimeError::new_err(text));
            }
        }
        let told = match progress {
            Some(progress) if interrupted.is_none() => progress.tell(py),
            _ => Ok(()),
        };
        if let Err(error) = py.check_signals().and(told) {
            cancel.cancel();
            if interrupted.is_some() {
                return Err(error);
            }
            interrupted = Some(error);
        }
    };
    if interrupted.is_none()
        && outcome.is_ok()
        && let Some(progress) = progress
    {
        progress.tell(py)?;
    }
    match (outcome, interrupted) {
        (Ok(done), None) => Ok(done),
        (Err(error), None) => Err(raised(py, &error)),
        (Ok(_), Some(exception)) => Err(exception),
        (Err(error), Some(exception)) => {
            exception.set_cause(py, Some(raised(py, &error)));
            Err(exception)
        }
    }
}

/// Does what only reads like [`wait`]: it ends at once when it is cancelled. `doing` says what, in
/// words.
pub(crate) fn read<T, W, F>(
    py: Python<'_>,
    cancel: &CancellationToken,
    doing: &'static str,
    work: W,
) -> PyResult<T>
where
    T: Send + 'static,
    W: FnOnce() -> F + Send + 'static,
    F: Future<Output = Result<T, Error>>,
{
    let stop = cancel.clone();
    wait(py, cancel, None, move || async move {
        tokio::select! {
            done = work() => done,
            () = stop.cancelled() => Err(Error::Interrupted { doing: doing.to_owned() }),
        }
    })
}

/// Runs a prepared job like [`wait`]; its report.
pub(crate) fn run(
    py: Python<'_>,
    mut prepared: Prepared,
    running: Running,
    progress: Option<&Progress>,
    cancel: &CancellationToken,
) -> PyResult<CopyReport> {
    let told = (freeing(observer(progress)), cancel.clone());
    wait(py, cancel, progress, move || async move {
        prepared.check_target(running).await?;
        Box::pin(prepared.run(running, told.0, told.1)).await
    })
}

/// Observers of a run: the progress, if there is any.
pub(crate) fn observer(progress: Option<&Progress>) -> Arc<dyn rechunk::Observer> {
    match progress {
        Some(progress) => progress.observer(),
        None => Arc::new(rechunk::NullObserver),
    }
}
