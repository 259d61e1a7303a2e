//! `pyramid`: an image in several resolutions.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rechunk::{CopyRequest, Error, Running, Selection, Stores};

use crate::cancel::Cancel;
use crate::errors::raised;
use crate::options::Options;
use crate::progress::Progress;
use crate::values::to_python;
use crate::waiting::{read, run};
use crate::{pyramid_request, request};

/// A pyramid that was asked for.
struct Asked {
    request: CopyRequest,
    running: Running,
    stores: Stores,
    is_dry: bool,
}

fn asked(source: &str, target: &str, options: &mut Options) -> Result<Asked, Error> {
    let request = pyramid_request::pyramid(source, target, options)?;
    let concurrency = request.planning.concurrency;
    let (running, is_dry, stores) = request::run_options(options, concurrency)?;
    Ok(Asked { request, running, stores, is_dry })
}

/// Makes an image in several resolutions, or adds levels to one; its report.
#[pyfunction]
#[pyo3(signature = (source, target, options, progress=None, cancel=None))]
pub(crate) fn pyramid(
    py: Python<'_>,
    source: &str,
    target: &str,
    options: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
    cancel: Option<&Cancel>,
) -> PyResult<Py<PyAny>> {
    let asked = asked(source, target, &mut Options::of(options)?);
    let Asked { request, running, stores, is_dry } = asked.map_err(|error| raised(py, &error))?;
    let cancel = Cancel::token(cancel);
    let prepared = read(py, &cancel, "planning", move || async move {
        Box::pin(rechunk::prepare(request, Selection::default(), &stores)).await
    })?;
    if is_dry {
        return to_python(py, &prepared.plan_report());
    }
    let progress = progress.map(Progress::new);
    to_python(py, &run(py, prepared, running, progress.as_ref(), &cancel)?)
}
