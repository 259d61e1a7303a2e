//! Verification of an apply: the results are made once more, and compared with the target.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rechunk_array::Array;
use rechunk_exec::{Execution, NullObserver, Sink, TaskRange, run};
use rechunk_store::Meter;
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::job::Job;
use crate::place::Place;

impl Job {
    /// Compares the target of an apply with what its last stage makes: blocks that are combined
    /// again, or operations that are run again.
    pub(crate) async fn verify_applied(
        &self,
        place: &Place,
        written: Array,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        let plan = &self.planned.plan;
        let last = plan.stages.len().saturating_sub(1);
        let tasks = plan.stages.get(last).map_or(0, |stage| stage.tasks);
        // What is read again is no traffic of the plan.
        let meter = Meter::new();
        let source = &self.source.array;
        let execution = Execution {
            tasks: Some(TaskRange::new(last, 0..tasks)),
            source: source.with_store(source.store().with_meter(&meter)),
            intermediate: place.intermediate.as_ref().map(|store| store.with_meter(&meter)),
            ..self.execution(Sink::Compare(written))
        };
        let calls = self.applied.as_ref().map(|applied| applied.calls.load(Ordering::Relaxed));
        let _programs = self.applied.as_ref().map(super::Opened::let_run);
        let observer = Arc::new(NullObserver);
        let found = run(Arc::new(execution), None, observer, cancel.clone()).await;
        if let (Some(applied), Some(calls)) = (&self.applied, calls) {
            applied.calls.store(calls, Ordering::Relaxed); // these were no calls of the plan
        }
        let report = found.map_err(|source| Error::Compare { source: Box::new(source) })?;
        let found = report.differences.unwrap_or_default();
        if found.count == 0 {
            return Ok(());
        }
        Err(Error::VerifyFailed { count: found.count, first: found.first.unwrap_or_default() })
    }
}
