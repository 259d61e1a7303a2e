//! Calls of a Python callable that are under way: a run has ended when none is.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

/// Calls of one callable, and the exceptions that they have raised.
#[derive(Default)]
pub(crate) struct OpenCalls {
    state: Mutex<State>,
    has_ended: Condvar,
}

#[derive(Default)]
struct State {
    open: usize,
    is_closed: bool,
    /// Exceptions, with what was said of them.
    raised: Vec<(String, PyErr)>,
}

/// A call, until it is dropped.
pub(crate) struct OpenCall<'a>(&'a OpenCalls);

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.0.state().open -= 1;
        self.0.has_ended.notify_all();
    }
}

impl OpenCalls {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a call; `None` when there are to be no more.
    pub(crate) fn open(&self) -> Option<OpenCall<'_>> {
        let mut state = self.state();
        if state.is_closed {
            return None;
        }
        state.open += 1;
        Some(OpenCall(self))
    }

    /// Notes an exception, of which `said` is told.
    pub(crate) fn note(&self, said: &str, error: PyErr) {
        self.state().raised.push((said.to_owned(), error));
    }

    /// Takes the exception that `message` tells of; else the first.
    pub(crate) fn take_raised(&self, message: &str) -> Option<PyErr> {
        let mut raised = std::mem::take(&mut self.state().raised);
        let told = raised.iter().position(|(said, _)| message.contains(said.as_str()));
        (!raised.is_empty()).then(|| raised.swap_remove(told.unwrap_or(0)).1)
    }

    /// Lets no more calls begin, and waits for those that are under way. The interpreter must not
    /// be held.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        while state.open > 0 {
            state = self.has_ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Has Python wait for calls that are under way before it ends. A thread that comes back to an
    /// interpreter that is gone ends the process.
    pub(crate) fn close_at_exit(self: &Arc<Self>, py: Python<'_>) -> PyResult<()> {
        if self.state().open > 0 {
            let close = Close(Arc::clone(self));
            py.import("atexit")?.call_method1("register", (Py::new(py, close)?,))?;
        }
        Ok(())
    }
}

/// Waits for calls when it is called.
#[pyclass(frozen, module = "rechunk._rechunk")]
struct Close(Arc<OpenCalls>);

#[pymethods]
impl Close {
    fn __call__(&self, py: Python<'_>) {
        py.detach(|| self.0.close());
    }
}
