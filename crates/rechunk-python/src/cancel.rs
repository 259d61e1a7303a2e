//! A way to stop work from another thread.

use pyo3::prelude::*;
use rechunk::CancellationToken;

/// Stops the work that it was given to; what is done is kept.
#[pyclass(frozen, module = "rechunk")]
#[derive(Default)]
pub(crate) struct Cancel {
    token: CancellationToken,
}

impl Cancel {
    /// The token of this, or a new one.
    pub(crate) fn token(given: Option<&Self>) -> CancellationToken {
        given.map_or_else(CancellationToken::new, |given| given.token.child_token())
    }
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop.
    fn cancel(&self) {
        self.token.cancel();
    }

    /// Whether it was asked for.
    #[getter]
    fn cancelled(&self) -> bool {
        self.token.is_cancelled()
    }
}
