//! Checks that have to hold at any time.

use std::sync::{Arc, Mutex, PoisonError};

use rechunk_exec::{DoneSet, Event, Journal, JournalError, Observer};
use rechunk_testkit::SimStore;

use crate::drive::{DONE_KEY, WORK};
use crate::expected::{Expected, place};
use crate::scenario::Scenario;

/// Faults that were found while something ran.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    found: Arc<Mutex<Vec<String>>>,
    /// The client that runs now, and what its journal said when it was opened.
    running: Arc<Mutex<(u64, DoneSet)>>,
}

impl Findings {
    fn add(&self, finding: String) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).push(finding);
    }

    pub(crate) fn first(&self) -> Result<(), String> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.first().map_or(Ok(()), |finding| Err(finding.clone()))
    }

    /// From now on this client runs, for which so much was done before.
    pub(crate) fn begin(&self, client: u64, done: &DoneSet) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = (client, done.clone());
    }

    fn done_before(&self) -> (u64, DoneSet) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks at every write: its bytes are right, and what is done is not done again.
    pub(crate) fn watch(&self, expected: &Arc<Expected>, disk: &SimStore) {
        let (findings, expected) = (self.clone(), Arc::clone(expected));
        disk.watch(move |client, key, bytes| {
            if let Err(error) = expected.check(key, bytes) {
                findings.add(error);
            }
            let (running, done) = findings.done_before();
            let again = expected.owner(key).is_some_and(|owner| owner.is_done(&done));
            if client == running && again {
                findings.add(format!("{key} is done, and written again"));
            }
        });
    }
}

impl Observer for Findings {
    fn event(&self, event: &Event) {
        if let Event::TaskDone { stage, task } = event
            && self.done_before().1.contains(*stage, *task)
        {
            self.add(format!("task {task} of stage {stage} is done, and done again"));
        }
    }
}

/// Tasks and steps that the stored journal marks as done.
pub(crate) async fn marks(disk: &SimStore) -> Result<DoneSet, String> {
    match Journal::read(&place(&disk.observer(), WORK)).await {
        Ok(contents) if contents.damaged_bytes > 0 => Err("the journal is damaged".to_owned()),
        Ok(contents) => Ok(contents.done),
        Err(JournalError::Missing { .. }) => Ok(DoneSet::default()),
        Err(error) => Err(format!("the journal: {error}")),
    }
}

/// Looks at what is stored when nobody runs.
pub(crate) async fn state(
    scenario: &Scenario,
    expected: &Expected,
    disk: &SimStore,
) -> Result<(), String> {
    expected.check_done(&marks(disk).await?, disk)?;
    if disk.object(DONE_KEY).is_some() {
        expected.check_complete(scenario, disk).await?;
    }
    Ok(())
}
