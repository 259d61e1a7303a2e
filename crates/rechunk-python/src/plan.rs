//! A planned copy: run here, or in parts anywhere.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rechunk::{CancellationToken, Error, Prepared, SavedPlan, Share, StoreOptions, Stores};
use rechunk_render::{Sheet, Shown, copy_text, job_svg};

use crate::allocator::freeing;
use crate::cancel::Cancel;
use crate::errors::{raised, usage};
use crate::options::Options;
use crate::progress::Progress;
use crate::request;
use crate::values::to_python;
use crate::waiting::{observer, read, run, wait};

/// A planned copy of an array or of a group.
#[pyclass(frozen, module = "rechunk._rechunk")]
pub(crate) struct Job {
    stores: StoreOptions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The copy as it was opened, and the process that has opened it.
    held: Option<(u32, Prepared)>,
    /// Its saved form, or the reason why it has none.
    saved: Option<Result<Arc<SavedPlan>, String>>,
    shown: Option<Shows>,
}

/// Forms in which a plan is shown.
#[derive(Clone)]
struct Shows {
    report: Arc<rechunk::CopyReport>,
    text: Arc<str>,
    short: Arc<str>,
    svg: Option<Arc<str>>,
    /// The page is made when it is asked for: that takes longer than all else.
    page: Arc<Sheet>,
}

impl Shows {
    fn of(copy: &Prepared) -> Self {
        let text = |candidates| copy_text(copy, Shown { candidates, verifies: false });
        let svg = match copy {
            Prepared::Array(job) => Some(job_svg(job).into()),
            Prepared::Tree(_) => None,
        };
        Self {
            report: Arc::new(copy.plan_report()),
            text: text(true).into(),
            short: text(false).into(),
            svg,
            page: Arc::new(Sheet::of_copy(copy)),
        }
    }
}

impl Job {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save(&self, py: Python<'_>) -> PyResult<Arc<SavedPlan>> {
        let mut state = self.state();
        if state.saved.is_none() {
            let saved = match &state.held {
                Some((_, copy)) => copy.saved(),
                None => Err(no_longer()),
            };
            state.saved = Some(saved.map(Arc::new).map_err(|error| error.to_string()));
        }
        match state.saved.clone() {
            Some(Ok(saved)) => Ok(saved),
            Some(Err(reason)) => Err(usage(py, reason, None)),
            None => Err(raised(py, &no_longer())),
        }
    }

    /// Returns the forms of the plan that are shown; opens it if none was shown yet.
    fn shows(&self, py: Python<'_>) -> PyResult<Shows> {
        if let Some(shown) = self.state().shown.clone() {
            return Ok(shown);
        }
        let copy = self.open(py, &CancellationToken::new(), None)?;
        let shown = Shows::of(&copy);
        let mut state = self.state();
        state.held = Some((std::process::id(), copy));
        state.shown = Some(shown.clone());
        Ok(shown)
    }

    /// The copy, to be used up: as it was opened by this process, else opened from its saved form.
    fn open(
        &self,
        py: Python<'_>,
        cancel: &CancellationToken,
        temp: Option<String>,
    ) -> PyResult<Prepared> {
        // It is asked for again when this one is used up.
        let saved = self.save(py);
        let held = self.state().held.take();
        match held {
            Some((process, copy)) if process == std::process::id() && temp.is_none() => {
                return Ok(copy);
            }
            // Its connections are those of another process, which goes on using them.
            Some((process, copy)) if process != std::process::id() => std::mem::forget(copy),
            _ => {}
        }
        let saved = SavedPlan::clone(&*saved?);
        let stores = self.opener(saved.request().planning.concurrency);
        read(py, cancel, "opening a plan", move || async move {
            Box::pin(Prepared::from_saved(saved, temp.as_deref(), &stores)).await
        })
    }

    fn opener(&self, concurrency: Option<u32>) -> Stores {
        request::opener(self.stores.clone(), concurrency)
    }

    /// Opens the copy for a run with `options`, and keeps what is shown of it.
    fn begin_run(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        cancel: &CancellationToken,
        keeps: bool,
    ) -> PyResult<(Prepared, rechunk::Running, Duration)> {
        let mut options = Options::of(options)?;
        let asked = (|| {
            let running = request::running(&mut options)?;
            let wait = options.duration("wait")?.unwrap_or(Duration::ZERO);
            let temp = options.text("temp");
            options.end()?;
            Ok((running, wait, temp))
        })();
        let (running, wait, temp) = asked.map_err(|error: Error| raised(py, &error))?;
        let copy = self.open(py, cancel, temp)?;
        if keeps && self.state().shown.is_none() {
            self.state().shown = Some(Shows::of(&copy));
        }
        Ok((copy, running, wait))
    }
}

#[pymethods]
impl Job {
    /// Plans a copy. Writes nothing.
    #[staticmethod]
    fn prepare(
        py: Python<'_>,
        source: &str,
        target: &str,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let mut options = Options::of(options)?;
        let asked = (|| {
            let (mut request, selection) = request::copy(source, target, &mut options)?;
            // What is to be verified is compared with what was seen of the source.
            request.planning.store_copies = !options.flag("verify")?;
            let stores = request::stores(&mut options)?;
            options.end()?;
            Ok((request, selection, stores))
        })();
        let (request, selection, stores) = asked.map_err(|error: Error| raised(py, &error))?;
        let opener = request::opener(stores.clone(), request.planning.concurrency);
        let copy = read(py, &CancellationToken::new(), "planning", move || async move {
            Box::pin(rechunk::prepare(request, selection, &opener)).await
        })?;
        let held = Some((std::process::id(), copy));
        Ok(Self { stores, state: Mutex::new(State { held, ..State::default() }) })
    }

    /// Takes over a saved plan; opens nothing yet.
    #[staticmethod]
    fn read(py: Python<'_>, json: &str, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut options = Options::of(options)?;
        let asked = (|| {
            let stores = request::stores(&mut options)?;
            options.end()?;
            Ok((stores, SavedPlan::from_json("the plan", json.as_bytes())?))
        })();
        let (stores, saved) = asked.map_err(|error: Error| raised(py, &error))?;
        let state = State { saved: Some(Ok(Arc::new(saved))), ..State::default() };
        Ok(Self { stores, state: Mutex::new(state) })
    }

    /// The saved form.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let json = self.save(py)?.to_json().map_err(|error| raised(py, &error))?;
        Ok(String::from_utf8_lossy(&json).into_owned())
    }

    /// The request that it was planned from, as it is saved.
    fn request(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        to_python(py, self.save(py)?.request())
    }

    fn report(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        to_python(py, &*self.shows(py)?.report)
    }

    fn text(&self, py: Python<'_>, all: bool) -> PyResult<String> {
        let shown = self.shows(py)?;
        Ok(if all { shown.text } else { shown.short }.to_string())
    }

    fn svg(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.shows(py)?.svg.map(|svg| svg.to_string()))
    }

    fn html(&self, py: Python<'_>) -> PyResult<String> {
        let page = self.shows(py)?.page;
        Ok(py.detach(|| page.plan_page()))
    }

    /// Runs all of it.
    #[pyo3(signature = (options, progress=None, cancel=None))]
    fn run(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        progress: Option<Py<PyAny>>,
        cancel: Option<&Cancel>,
    ) -> PyResult<Py<PyAny>> {
        let cancel = Cancel::token(cancel);
        let (copy, running, _) = self.begin_run(py, options, &cancel, true)?;
        let progress = progress.map(Progress::new);
        to_python(py, &run(py, copy, running, progress.as_ref(), &cancel)?)
    }

    /// Opens the target to parts.
    fn begin(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Py<PyAny>> {
        let cancel = CancellationToken::new();
        let (copy, running, _) = self.begin_run(py, options, &cancel, true)?;
        let begun =
            wait(
                py,
                &cancel,
                None,
                move || async move { Box::pin(copy.begin_parts(running)).await },
            )?;
        to_python(py, &begun)
    }

    /// Does share `index` of `of` of a stage.
    #[pyo3(signature = (stage, index, of, options, progress=None, cancel=None))]
    #[expect(clippy::too_many_arguments, reason = "one caller, in Python, by name")]
    fn part(
        &self,
        py: Python<'_>,
        stage: i64,
        index: i64,
        of: i64,
        options: &Bound<'_, PyDict>,
        progress: Option<Py<PyAny>>,
        cancel: Option<&Cancel>,
    ) -> PyResult<Py<PyAny>> {
        let stage = usize::try_from(stage).map_err(|_| {
            usage(py, format!("there is no stage {stage}"), Some("they begin with 0"))
        })?;
        let part = Share::parse(&format!("{index}/{of}"));
        let part = part.map_err(|error| raised(py, &error.into()))?;
        let cancel = Cancel::token(cancel);
        let (copy, running, patience) = self.begin_run(py, options, &cancel, false)?;
        let progress = progress.map(Progress::new);
        let told = (freeing(observer(progress.as_ref())), cancel.clone());
        let done = wait(py, &cancel, progress.as_ref(), move || async move {
            Box::pin(copy.run_part((stage, part.into()), running, patience, told.0, told.1)).await
        })?;
        to_python(py, &done)
    }

    /// Publishes what parts have done.
    #[pyo3(signature = (options, progress=None, cancel=None))]
    fn finish(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        progress: Option<Py<PyAny>>,
        cancel: Option<&Cancel>,
    ) -> PyResult<Py<PyAny>> {
        let cancel = Cancel::token(cancel);
        let (copy, running, patience) = self.begin_run(py, options, &cancel, true)?;
        let progress = progress.map(Progress::new);
        let told = (freeing(observer(progress.as_ref())), cancel.clone());
        let done = wait(py, &cancel, progress.as_ref(), move || async move {
            Box::pin(copy.finish_parts(running, patience, told.0, told.1)).await
        })?;
        to_python(py, &done)
    }
}

fn no_longer() -> Error {
    Error::Usage {
        message: "the plan has been run, and cannot be saved to be run again".to_owned(),
        hint: Some("plan again".into()),
    }
}
