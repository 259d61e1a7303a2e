//! Verification of a pyramid: its levels are made once more, and compared with those written.

use std::sync::Arc;

use rechunk_array::Array;
use rechunk_exec::{Execution, NullObserver, Sink, run};
use rechunk_plan::{LevelsFrom, MissingCells};
use rechunk_reduce::Method;
use rechunk_store::Meter;
use tokio_util::sync::CancellationToken;

use super::plan::PyramidJob;
use crate::image_info::methods_of;
use crate::job::Job;
use crate::open::{OpenOptions, open_array};
use crate::place::Place;
use crate::{Error, Remedy};

impl Job {
    /// Refuses levels that are there if a few of their elements are none that their method gives.
    pub(crate) async fn check_levels(&self) -> Result<(), Error> {
        let is_plain = |pyramid: &&PyramidJob| {
            pyramid.method != Method::Gaussian
                && pyramid.from == LevelsFrom::S0
                && pyramid.missing == MissingCells::Fill
        };
        let Some(pyramid) = self.pyramid.as_ref().filter(is_plain) else { return Ok(()) };
        // What is read again is no traffic of the plan.
        let stores = self.stores.with_meter(&Meter::new());
        for level in pyramid.levels.iter().filter(|level| level.split_axes == 0) {
            let Some(location) = level.members.first() else { continue };
            let options = OpenOptions { is_member: true, ..OpenOptions::default() };
            let array = open_array(location, &options, &stores).await?;
            let found = methods_of(&self.source, &array, &level.factors).await?;
            let is_made = |names: &Vec<String>| names.iter().any(|n| n == pyramid.method.name());
            if found.is_some_and(|names| !is_made(&names)) {
                return Err(Error::Conflict {
                    location: location.clone(),
                    reason: format!(
                        "is a level of factors {:?}, and has other elements than `{}` gives",
                        level.factors,
                        pyramid.method.name()
                    ),
                    hint: Some(Remedy::MakeLevelAnew),
                });
            }
        }
        Ok(())
    }

    /// Compares the levels that a job has written, the first array of which is `written`, with what
    /// its plan makes.
    pub(crate) async fn verify_pyramid(
        &self,
        place: &Place,
        written: Array,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        let Some(pyramid) = self.pyramid.as_ref().filter(|pyramid| !pyramid.levels.is_empty())
        else {
            return Ok(()); // another job has written it, and compares it
        };
        // What is read again is no traffic of the plan.
        let meter = Meter::new();
        let stores = self.stores.with_meter(&meter);
        let written = written.with_store(written.store().with_meter(&meter));
        let source = &self.source.array;
        let execution = Execution {
            source: source.with_store(source.store().with_meter(&meter)),
            intermediate: place.intermediate.as_ref().map(|store| store.with_meter(&meter)),
            levels: pyramid.arrays(&written, &stores, None)?,
            ..self.execution(Sink::Compare(written))
        };
        let found = run(Arc::new(execution), None, Arc::new(NullObserver), cancel.clone()).await;
        let report = found.map_err(|source| Error::Compare { source: Box::new(source) })?;
        let found = report.differences.unwrap_or_default();
        if found.count == 0 {
            return Ok(());
        }
        Err(Error::VerifyFailed { count: found.count, first: found.first.unwrap_or_default() })
    }
}
