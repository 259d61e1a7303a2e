//! Progress of a run, told to a Python callable by the thread that waits.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use rechunk::{Event, Observer};
use serde::Serialize;

use crate::values::to_python;

/// Progress of a run, as it is told.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct State {
    /// Path of the array in the group; none for one array.
    array: Option<String>,
    array_number: usize,
    arrays: usize,
    stage: String,
    stage_number: usize,
    tasks_done: u64,
    tasks_total: u64,
    bytes_done: u64,
    bytes_total: u64,
    warnings: Vec<String>,
}

#[derive(Debug, Default)]
struct Noted(Mutex<State>);

impl Observer for Noted {
    fn event(&self, event: &Event) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::ArrayStarted { path, number, arrays, .. } => {
                state.array = Some(path.clone());
                (state.array_number, state.arrays) = (*number, *arrays);
                state.stage.clear(); // it may have none: of a pyramid, the first writes all
            }
            Event::StageStarted {
                stage, name, tasks, tasks_done, bytes_total, bytes_done, ..
            } => {
                state.stage.clone_from(name);
                state.stage_number = *stage;
                (state.tasks_done, state.tasks_total) = (*tasks_done, *tasks);
                (state.bytes_done, state.bytes_total) = (*bytes_done, *bytes_total);
            }
            Event::Progress { decoded_bytes, .. } => state.bytes_done += decoded_bytes,
            Event::Warning { text } => state.warnings.push(text.clone()),
            event => state.tasks_done += event.tasks_done(),
        }
    }
}

/// A callable, and what it has not been told yet.
pub(crate) struct Progress {
    callable: Py<PyAny>,
    noted: Arc<Noted>,
    told: Mutex<State>,
}

impl Progress {
    pub(crate) fn new(callable: Py<PyAny>) -> Self {
        Self { callable, noted: Arc::default(), told: Mutex::default() }
    }

    pub(crate) fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.noted) as _
    }

    /// Calls the callable if anything has changed since it was called last.
    pub(crate) fn tell(&self, py: Python<'_>) -> PyResult<()> {
        let now = self.noted.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            if *told == now {
                return Ok(());
            }
            told.clone_from(&now);
        }
        self.callable.call1(py, (to_python(py, &now)?,)).map(drop)
    }
}
