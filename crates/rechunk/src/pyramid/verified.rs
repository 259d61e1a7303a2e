//! Verification of a pyramid: its levels are made once more, and compared with those written.

use std::sync::Arc;

use rechunk_array::Array;
use rechunk_exec::{Execution, NullObserver, Sink, run};
use rechunk_store::Meter;
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::job::Job;
use crate::place::Place;

impl Job {
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
