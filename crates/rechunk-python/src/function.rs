//! Python callables as operations of an apply.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use rechunk::{Error, Function, FunctionCall, OpOutput};

use crate::elements::Elements;
use crate::open_calls::OpenCalls;
use crate::options::{Options, wrong};

/// Module with the Python side of a call.
const MODULE: &str = "rechunk.functions";

/// The operation of a callable, which is one of `rechunk.functions.Called`, with the settings that
/// are left in `options`.
pub(crate) fn function(
    callable: Py<PyAny>,
    calls: &Arc<OpenCalls>,
    options: &mut Options,
) -> Result<Function, Error> {
    let name = options.text("name").unwrap_or_default();
    let is_cropped = options.choice("returns", returns, "padded, cropped")?.unwrap_or(false);
    let calls = Arc::clone(calls);
    let mut function = Function::new(name, move |call| {
        let Some(_open) = calls.open() else {
            return Err("was not called: the run has ended".to_owned());
        };
        Python::attach(|py| {
            call_it(py, &callable, call, is_cropped).map_err(|error| {
                let text = said(py, &error);
                calls.note(&text, error);
                text
            })
        })
    });
    function.halo = options.parsed("halo")?;
    let output = options.text("dtype");
    let known = |name: String| {
        let data_type = rechunk::DataType::from_name(&name);
        data_type.ok_or_else(|| wrong("dtype", &format!("`{name}` is no type of results"), None))
    };
    function.output = output.map(known).transpose()?;
    function.gives_labels = options.flag("labels")?;
    function.scratch_bytes = options.bytes("scratch")?.unwrap_or(0);
    function.result_copies = 1; // the array that it returns, which is copied
    function.calls_at_once = options.number("jobs", &1)?;
    Ok(function)
}

/// Reads the shape of results: true if they have no crop.
fn returns(name: &str) -> Option<bool> {
    match name {
        "padded" => Some(false),
        "cropped" => Some(true),
        _ => None,
    }
}

/// Calls the callable with arrays that look at the windows.
fn call_it(
    py: Python<'_>,
    callable: &Py<PyAny>,
    call: FunctionCall,
    is_cropped: bool,
) -> PyResult<OpOutput> {
    let unknown = |data_type: rechunk::DataType| {
        PyTypeError::new_err(format!("NumPy has no elements of the type {data_type}"))
    };
    let shape = if is_cropped { call.cropped_shape() } else { call.padded_shape() };
    let result = Elements::to_be_written(shape, call.output);
    let result = Py::new(py, result.ok_or_else(|| unknown(call.output))?)?;
    let windows = PyList::empty(py);
    for input in call.inputs {
        let elements = Elements::to_be_read(input.bytes, input.shape, input.data_type);
        windows.append(Py::new(py, elements.ok_or_else(|| unknown(input.data_type))?)?)?;
    }
    let place = (call.task, call.index, call.number, call.read, call.keep, call.pads);
    let called = callable.call1(py, (windows, place, &result))?;
    if !called.extract::<bool>(py)? {
        return Ok(OpOutput::Skip);
    }
    let bytes = result.get().take();
    Ok(if is_cropped { OpOutput::Cropped(bytes) } else { OpOutput::Padded(bytes) })
}

/// The exception in words: the last line of its traceback, and where it was raised.
fn said(py: Python<'_>, error: &PyErr) -> String {
    // Before Python 3.12 a caught exception holds no traceback until it is a value again.
    let exception = error.clone_ref(py).into_value(py);
    let said =
        || -> PyResult<String> { py.import(MODULE)?.call_method1("said", (exception,))?.extract() };
    said().unwrap_or_else(|_| error.to_string())
}
