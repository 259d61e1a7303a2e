//! `apply`: an operation on boxes of an array.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rechunk::{
    CancellationToken, CopyRequest, Error, Job, OperationRequest, Prepared, Running, Stores,
    statistic, statistic_plan,
};

use crate::allocator::freeing;
use crate::apply_request;
use crate::cancel::Cancel;
use crate::errors::raised;
use crate::function::function;
use crate::open_calls::OpenCalls;
use crate::options::{Options, wrong};
use crate::progress::Progress;
use crate::request;
use crate::values::to_python;
use crate::waiting::{observer, read, wait};

/// An apply that was asked for.
struct Asked {
    request: CopyRequest,
    running: Running,
    stores: Stores,
    is_dry: bool,
    /// A callable computes it.
    is_function: bool,
}

fn asked(
    sources: &[String],
    target: &str,
    mut options: Options,
    callable: Option<(Py<PyAny>, &Arc<OpenCalls>)>,
) -> Result<Asked, Error> {
    let options = &mut options;
    let is_function = callable.is_some();
    let operation = match callable {
        Some((callable, calls)) => OperationRequest::Function(function(callable, calls, options)?),
        None => apply_request::operation(options)?,
    };
    let request = apply_request::apply(sources, target, operation, options)?;
    let concurrency = request.planning.concurrency;
    let (running, is_dry, stores) = request::run_options(options, concurrency)?;
    Ok(Asked { request, running, stores, is_dry, is_function })
}

/// Applies an operation to boxes of arrays; its report. `callable` is the operation if the options
/// name none.
#[pyfunction]
#[pyo3(signature = (sources, target, options, callable=None, progress=None, cancel=None))]
#[expect(clippy::needless_pass_by_value, reason = "as values of Python come")]
pub(crate) fn apply(
    py: Python<'_>,
    sources: Vec<String>,
    target: &str,
    options: &Bound<'_, PyDict>,
    callable: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    cancel: Option<&Cancel>,
) -> PyResult<Py<PyAny>> {
    let calls = Arc::new(OpenCalls::default());
    let callable = callable.map(|callable| (callable, &calls));
    let asked = asked(&sources, target, Options::of(options)?, callable);
    let asked = asked.map_err(|error| raised(py, &error))?;
    let cancel = Cancel::token(cancel);
    let progress = progress.map(Progress::new);
    let done = if asked.request.target.is_empty() {
        measured(py, asked, &cancel, progress.as_ref())
    } else {
        applied(py, asked, &calls, &cancel, progress.as_ref())
    };
    done.map_err(|error| explained(py, &calls, error))
}

/// Runs it into a target.
fn applied(
    py: Python<'_>,
    asked: Asked,
    calls: &Arc<OpenCalls>,
    cancel: &CancellationToken,
    progress: Option<&Progress>,
) -> PyResult<Py<PyAny>> {
    let Asked { request, running, stores, is_dry, is_function } = asked;
    let job = read(py, cancel, "planning", move || async move {
        Box::pin(Job::prepare(request, &stores)).await
    })?;
    let data_type = job.source.spec().data_type;
    if is_function && rechunk::numpy_type(data_type).is_none() {
        let text = format!("NumPy has no elements of the type {data_type}, which the source has");
        return Err(raised(py, &wrong("op", &text, None)));
    }
    let mut prepared = Prepared::from(job);
    if is_dry {
        return to_python(py, &prepared.plan_report());
    }
    let told = (freeing(observer(progress)), cancel.clone());
    let calls = Arc::clone(calls);
    let done = wait(py, cancel, progress, move || async move {
        let run = async {
            prepared.check_target(running).await?;
            Box::pin(prepared.run(running, told.0, told.1)).await
        };
        let done = run.await;
        // Calls go on when their run was stopped.
        calls.close();
        done
    })?;
    to_python(py, &done)
}

/// Computes a statistic.
fn measured(
    py: Python<'_>,
    asked: Asked,
    cancel: &CancellationToken,
    progress: Option<&Progress>,
) -> PyResult<Py<PyAny>> {
    let Asked { request, stores, is_dry, .. } = asked;
    if is_dry {
        let planned = read(py, cancel, "planning", move || async move {
            Box::pin(statistic_plan(&request, &stores)).await
        })?;
        return to_python(py, &planned);
    }
    let told = (freeing(observer(progress)), cancel.clone());
    let found = wait(py, cancel, progress, move || async move {
        Box::pin(statistic(&request, &stores, told.0, told.1)).await
    })?;
    to_python(py, &found)
}

/// An exception with what the callable has raised as its cause.
fn explained(py: Python<'_>, calls: &Arc<OpenCalls>, error: PyErr) -> PyErr {
    if let Some(raised) = calls.take_raised(&error.value(py).to_string())
        && error.cause(py).is_none()
    {
        error.set_cause(py, Some(raised));
    }
    match calls.close_at_exit(py) {
        Ok(()) => error,
        Err(other) => other,
    }
}
