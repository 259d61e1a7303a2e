//! Errors of the library as the exceptions of `rechunk.errors`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rechunk::{Class, Error, Remedy};

use crate::remedy::{hint, in_python};

/// The exception of an error, by its class.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    build(py, error).unwrap_or_else(|failed| failed)
}

fn build(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let mut chain = error.chain().into_iter().map(|text| in_python(&text));
    let message = chain.next().unwrap_or_default();
    let blame = error.blame();
    let about = PyDict::new(py);
    about.set_item("causes", chain.collect::<Vec<_>>())?;
    about.set_item("hint", error.remedy().as_ref().map(hint))?;
    about.set_item("location", blame.location)?;
    about.set_item("array", blame.array)?;
    about.set_item("chunk", blame.chunk)?;
    about.set_item("key", blame.key)?;
    if let (Class::Memory, Some(Remedy::MoreMemory { bytes })) = (error.class(), error.remedy()) {
        about.set_item("minimum_bytes", bytes)?;
    }
    let name = if error.is_of_operation() { "OperationError" } else { class_name(error.class()) };
    let exception = py.import("rechunk.errors")?.getattr(name)?;
    Ok(PyErr::from_value(exception.call((message,), Some(&about))?))
}

fn class_name(class: Class) -> &'static str {
    match class {
        Class::Failed => "RechunkError",
        Class::Usage => "UsageError",
        Class::Source => "SourceError",
        Class::Target => "TargetError",
        Class::Memory => "MemoryBudgetError",
        Class::Differ => "DifferencesFound",
        Class::NotYet => "NotYet",
        Class::Interrupted => "Interrupted",
    }
}

/// The exception for a wrong request.
pub(crate) fn usage(py: Python<'_>, message: String, advice: Option<&str>) -> PyErr {
    raised(py, &Error::Usage { message, hint: advice.map(Into::into) })
}

/// The exception for a fault of the extension itself.
pub(crate) fn broken(_py: Python<'_>, reason: &str) -> PyErr {
    PyRuntimeError::new_err(format!("{reason}, which is a fault of rechunk"))
}
