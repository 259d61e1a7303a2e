//! State that the tasks of a stage share, where elements differ in length.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use rechunk_format::Layout;
use rechunk_format::variable::{VariableKind, VariableLayout};
use rechunk_plan::Stage;

use super::account::Account;
use crate::stage::digest::named_fill;
use crate::{Execution, Fault};

/// State that the tasks of a stage share.
#[derive(Debug)]
pub(crate) struct VariableState {
    /// Bytes reserved for a task, with its share of the threads'.
    task_bytes: u64,
    /// Bytes of the budget that the plan leaves.
    spare: Arc<AtomicU64>,
    /// Some tile was taken in smaller steps than planned.
    pub has_split: AtomicBool,
    /// Bytes that a decoded source chunk is expected to have, and a target chunk.
    pub expected_bytes: [u64; 2],
    /// Most encoded bytes of those.
    pub encoded_bytes: [u64; 2],
}

/// Codecs of an array whose elements differ in length.
pub(crate) fn codecs(layout: &dyn Layout) -> Result<&dyn VariableLayout, Fault> {
    layout.variable().ok_or_else(|| Fault::Plan {
        reason: "it copies elements that differ in length, which cannot be told apart".to_owned(),
    })
}

impl VariableState {
    pub(crate) fn new(stage: &Stage, execution: &Execution) -> Result<Self, Fault> {
        let plan = &execution.plan;
        let tasks = u64::from(stage.tasks_at_once).max(1);
        let workers = stage.worker_bytes.saturating_mul(stage.workers(plan.threads)) / tasks;
        let (mut expected_bytes, mut encoded_bytes) = ([0; 2], [0; 2]);
        let sides = [
            (execution.source.layout(), plan.source()),
            (execution.sink.array().layout(), plan.target()),
        ];
        for (at, (layout, array)) in sides.into_iter().enumerate() {
            expected_bytes[at] = array.bytes_of(&array.chunk);
            let cost = codecs(layout.as_ref())?.cost(expected_bytes[at]);
            let refuse =
                |error: rechunk_format::FormatError| Fault::Plan { reason: error.to_string() };
            encoded_bytes[at] = cost.map_err(refuse)?.encoded_bytes_max;
        }
        Ok(Self {
            task_bytes: stage.task_bytes.saturating_add(workers),
            spare: Arc::new(AtomicU64::new(execution.spare_bytes())),
            has_split: AtomicBool::new(false),
            expected_bytes,
            encoded_bytes,
        })
    }

    /// Whether the target has a fill value, and whether what is absent in the source reads the same
    /// where it is absent in the target.
    pub(crate) fn fills(source: &dyn Layout, target: &dyn Layout) -> (bool, bool) {
        let (source, target) = (named_fill(source), named_fill(target));
        (target.is_some(), source == target)
    }

    /// The account of a task that begins.
    pub(crate) fn account(&self) -> Arc<Account> {
        Account::new(self.task_bytes, Arc::clone(&self.spare))
    }
}

/// Refuses plans for arrays whose elements are not of one kind, or cannot be told apart.
pub(crate) fn check(execution: &Execution) -> Result<(), Fault> {
    let kind = |layout: &dyn Layout| -> Result<VariableKind, Fault> { Ok(codecs(layout)?.kind()) };
    let source = kind(execution.source.layout().as_ref())?;
    let target = kind(execution.sink.array().layout().as_ref())?;
    if source == target {
        return Ok(());
    }
    let (source, target) = (source.codec(), target.codec());
    Err(Fault::Plan { reason: format!("the source has elements of {source}, the target {target}") })
}
