//! Values of the library as Python objects.

use pyo3::prelude::*;
use pyo3::types::PyString;
use serde::Serialize;

use crate::errors::broken;

/// The object that the command line prints as JSON, as `dict`s, `list`s, numbers and texts.
pub(crate) fn to_python(py: Python<'_>, value: &impl Serialize) -> PyResult<Py<PyAny>> {
    let text = serde_json::to_string(value).map_err(|error| broken(py, &error.to_string()))?;
    from_json(py, &text)
}

/// Reads a JSON text.
pub(crate) fn from_json(py: Python<'_>, text: &str) -> PyResult<Py<PyAny>> {
    let loads = py.import("json")?.getattr("loads")?;
    Ok(loads.call1((PyString::new(py, text),))?.unbind())
}
