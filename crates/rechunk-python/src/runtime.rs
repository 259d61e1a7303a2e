//! The runtime of this process.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::PyResult;
use pyo3::exceptions::PyOSError;
use rechunk::Runtime;

/// The process that has made it, and the runtime.
static HERE: Mutex<Option<(u32, Arc<Runtime>)>> = Mutex::new(None);

/// The runtime of this process, made at its first use. A child of `fork` has none of the threads of
/// its parent, so it makes its own.
pub(crate) fn here() -> PyResult<Arc<Runtime>> {
    let mut held = HERE.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((of, runtime)) = held.as_ref() {
        if *of == process {
            return Ok(Arc::clone(runtime));
        }
        // To end it would wait for threads that are not here.
        std::mem::forget(held.take());
    }
    let runtime = Runtime::new()
        .map_err(|error| PyOSError::new_err(format!("cannot start threads: {error}")))?;
    let runtime = Arc::new(runtime);
    *held = Some((process, Arc::clone(&runtime)));
    Ok(runtime)
}
