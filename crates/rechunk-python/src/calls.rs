//! Functions that need no plan: info, verify, status, clean, migrate, probe.

use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rechunk::{
    Access, CancellationToken, Compared, Error, Format, MigrateRequest, ProbeOptions, ProfileFile,
};
use rechunk_render::info_text;
use serde_json::json;

use crate::allocator::freeing;
use crate::cancel::Cancel;
use crate::errors::raised;
use crate::options::{Options, wrong};
use crate::progress::Progress;
use crate::request::{open_options, opener, stores, verifying};
use crate::values::to_python;
use crate::waiting::{observer, read, wait};

/// Fewer bytes measure nothing.
const PROBE_BYTES_MIN: u64 = 1 << 20;
const PROBE_BYTES: u64 = 1 << 30;
const PROBE_SECONDS: f64 = 20.0;

/// Describes an array or a group; its description, and that as text.
#[pyfunction]
pub(crate) fn info(
    py: Python<'_>,
    location: String,
    options: &Bound<'_, PyDict>,
) -> PyResult<(Py<PyAny>, String)> {
    let mut options = Options::of(options)?;
    let asked = (|| {
        let open = open_options(&mut options)?;
        let access = options.text("access").as_deref().map(Access::parse_list).transpose()?;
        let stores = opener(stores(&mut options)?, None);
        options.end()?;
        Ok((open, access.unwrap_or_default(), stores))
    })();
    let (open, access, stores) = asked.map_err(|error: Error| raised(py, &error))?;
    let found = read(py, &CancellationToken::new(), "looking at it", move || async move {
        rechunk::info(&location, &open, &access, &stores).await
    })?;
    Ok((to_python(py, &found)?, info_text(&found)))
}

/// Compares two arrays or groups; true if they are equal, and the comparison.
#[pyfunction]
#[pyo3(signature = (a, b, options, progress=None, cancel=None))]
pub(crate) fn verify(
    py: Python<'_>,
    a: String,
    b: String,
    options: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
    cancel: Option<&Cancel>,
) -> PyResult<(bool, Py<PyAny>)> {
    let mut options = Options::of(options)?;
    let asked = (|| {
        let open = open_options(&mut options)?;
        let planning = verifying(&mut options)?;
        let stores = opener(stores(&mut options)?, None);
        options.end()?;
        Ok((open, planning, stores))
    })();
    let (open, planning, stores) = asked.map_err(|error: Error| raised(py, &error))?;
    let cancel = Cancel::token(cancel);
    let progress = progress.map(Progress::new);
    let told = (freeing(observer(progress.as_ref())), cancel.clone());
    let compared = wait(py, &cancel, progress.as_ref(), move || async move {
        rechunk::verify_any((&a, &b), &open, &planning, told.0, told.1, &stores).await
    })?;
    let equal = match &compared {
        Compared::Arrays(comparison) => comparison.equal,
        Compared::Groups(comparison) => comparison.equal,
    };
    Ok((equal, to_python(py, &compared)?))
}

/// Says what became of a run.
#[pyfunction]
pub(crate) fn status(
    py: Python<'_>,
    target: String,
    options: &Bound<'_, PyDict>,
) -> PyResult<Py<PyAny>> {
    let stores = only_stores(py, options)?;
    let found = read(py, &CancellationToken::new(), "looking at it", move || async move {
        rechunk::status(&target, &stores).await
    })?;
    to_python(py, &found)
}

/// Removes what an interrupted run has left.
#[pyfunction]
pub(crate) fn clean(
    py: Python<'_>,
    target: String,
    options: &Bound<'_, PyDict>,
) -> PyResult<Py<PyAny>> {
    let stores = only_stores(py, options)?;
    let cleaned = wait(py, &CancellationToken::new(), None, move || async move {
        Box::pin(rechunk::clean(&target, &stores)).await
    })?;
    to_python(py, &cleaned)
}

/// Writes documents of another format over the chunks of an array or a group.
#[pyfunction]
#[pyo3(signature = (location, options, cancel=None))]
pub(crate) fn migrate(
    py: Python<'_>,
    location: &str,
    options: &Bound<'_, PyDict>,
    cancel: Option<&Cancel>,
) -> PyResult<Py<PyAny>> {
    let mut options = Options::of(options)?;
    let asked = (|| {
        let to = options.choice("to", Format::from_name, "zarr3, zarr2")?;
        let to = to.unwrap_or(Format::Zarr3);
        let mut request = MigrateRequest::new(location, to);
        request.source_format =
            options.choice("source_format", Format::from_name, "zarr3, zarr2, n5")?;
        request.undo = options.flag("undo")?;
        request.remove_old = options.flag("remove_old")?;
        request.dry_run = options.flag("dry_run")?;
        let stores = opener(stores(&mut options)?, None);
        options.end()?;
        Ok((request, stores))
    })();
    let (request, stores) = asked.map_err(|error: Error| raised(py, &error))?;
    let cancel = Cancel::token(cancel);
    let told = cancel.clone();
    let report = wait(py, &cancel, None, move || async move {
        Box::pin(rechunk::migrate(&request, &stores, told)).await
    })?;
    to_python(py, &report)
}

fn only_stores(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<rechunk::Stores> {
    let mut options = Options::of(options)?;
    let asked = stores(&mut options).and_then(|found| options.end().map(|()| found));
    Ok(opener(asked.map_err(|error| raised(py, &error))?, None))
}

/// Measures a store and this machine's codecs; the measurement with the profile, and the profile as
/// the text of a file. `known` is a profile file to which the store is added.
#[pyfunction]
pub(crate) fn probe(
    py: Python<'_>,
    location: String,
    known: Option<&str>,
    options: &Bound<'_, PyDict>,
) -> PyResult<(Py<PyAny>, String)> {
    let mut options = Options::of(options)?;
    let asked = (|| {
        let bytes = options.bytes("bytes")?.unwrap_or(PROBE_BYTES);
        if bytes < PROBE_BYTES_MIN {
            return Err(wrong(
                "bytes",
                &format!("{bytes} are too few"),
                Some("give 1 MiB or more"),
            ));
        }
        let seconds = options.number("seconds", &1.0)?.unwrap_or(PROBE_SECONDS);
        let mut probe = ProbeOptions::new(bytes, seconds);
        probe.read = options.text("read");
        let stores = opener(stores(&mut options)?, None);
        options.end()?;
        let file = match known {
            Some(path) if Path::new(path).exists() => ProfileFile::read(path)?,
            _ => ProfileFile::new("probe"),
        };
        Ok((probe, stores, file))
    })();
    let (probe, stores, mut file) = asked.map_err(|error: Error| raised(py, &error))?;
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let probed = wait(py, &cancel, None, move || async move {
        rechunk::probe(&location, &probe, &stores, &stop).await
    })?;
    probed.add_to(&mut file);
    let text = file.to_json().map_err(|error| raised(py, &error))?;
    Ok((to_python(py, &json!({ "profile": file, "probe": probed }))?, text))
}

/// Reads a size such as `512MiB`; none if it is not one.
#[pyfunction]
pub(crate) fn parse_bytes(text: &str) -> Option<u64> {
    rechunk::parse_byte_size(text)
}
