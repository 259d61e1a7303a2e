//! An account of a job: which tasks were marked, when, and whether that was so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use rechunk::{Event, Observer, SavedJob};
use rechunk_testkit::{SimClient, SimStore};

use super::bug::Bug;
use crate::sim::array::{METADATA, TARGET};
use crate::sim::two_at_once::{JOB, WORK};

/// Calls from a look whether the parts are open to a mark, where none of them fails. Among them
/// are those for the journal of another part, 16 segments at once.
const CALLS_TO_MARK: u64 = 12 + 16;

/// Tasks: stage and number.
type Tasks = BTreeSet<(usize, u64)>;

/// An account of a job. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Ledger {
    account: Arc<Mutex<Account>>,
    /// Tasks of each stage.
    pub tasks: Vec<u64>,
    pub right: Arc<BTreeMap<String, Vec<u8>>>,
    /// Calls that a part may make after its look whether the parts are open, until its mark is put.
    calls_to_mark: u64,
}

#[derive(Debug, Default)]
struct Account {
    /// Chunks of the target that are not written.
    missing: BTreeMap<String, (usize, u64)>,
    /// Tasks that are marked by whole shares.
    marked: Tasks,
    /// Tasks that a process said that it has done.
    reported: Tasks,
    /// Tasks that were done when they were marked.
    again: u64,
    findings: Vec<String>,
    /// The target was made known.
    is_known: bool,
    /// Processes that were at work, and their calls, when the parts were closed.
    closed: Option<BTreeMap<u64, u64>>,
    at_work: Vec<SimClient>,
    /// A process that slept while it opened the job has begun it again when all was over.
    is_reopened: bool,
}

/// Tasks that were marked when a process began.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    marked: Tasks,
    tasks: Vec<u64>,
    client: u64,
}

impl Ledger {
    /// Watches what is written to `disk`.
    pub(super) fn watching(
        disk: &SimStore,
        plan: &SavedJob,
        right: BTreeMap<String, Vec<u8>>,
        (bug, fails): (Option<Bug>, bool),
    ) -> Self {
        let plan = &plan.plan;
        let last = plan.stages.len() - 1;
        let geometry = plan.geometry(last).unwrap();
        let mut missing = BTreeMap::new();
        for task in 0..geometry.task_count() {
            let tile = geometry.tile(task);
            for index in geometry.output_grid().covering(&tile).positions() {
                missing.insert(format!("{TARGET}/{}.{}", index[0], index[1]), (last, task));
            }
        }
        assert!(missing.keys().eq(right.keys()), "the tasks are not those of the chunks");
        let account = Account { missing, ..Account::default() };
        let ledger = Self {
            account: Arc::new(Mutex::new(account)),
            tasks: plan.stages.iter().map(|stage| stage.tasks).collect(),
            right: Arc::new(right),
            calls_to_mark: if fails { 10 * CALLS_TO_MARK } else { CALLS_TO_MARK },
        };
        let watching = ledger.clone();
        disk.watch(move |client, key, bytes| watching.written(client, key, bytes, bug));
        ledger
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap()
    }

    fn written(&self, client: u64, key: &str, bytes: &[u8], bug: Option<Bug>) {
        let mut account = self.account();
        account.is_reopened |= account.is_known && key == JOB;
        account.is_known |= key == METADATA;
        if let Some(right) = self.right.get(key) {
            account.missing.remove(key);
            if right != bytes {
                account.find(format!("client {client} writes wrong bytes to {key}"));
            }
        } else if key == METADATA && !account.missing.is_empty() {
            let missing = format!("client {client} ends without {:?}", account.missing);
            account.find(missing);
        } else if key == JOB && account.closed.is_none() && self.is_all(&account.marked) {
            let is_open = serde_json::from_slice::<serde_json::Value>(bytes)
                .is_ok_and(|job| job.get("parts").is_some());
            if !is_open {
                let calls = account.at_work.iter().map(|client| (client.number(), client.calls()));
                account.closed = Some(calls.collect());
            }
        } else if key.starts_with(WORK) && key.ends_with("/open") {
            account.is_reopened |= account.closed.is_some();
        } else if let Some((stage, mut tasks)) = marked_by(key) {
            if account.calls_since_closed(client).is_some_and(|calls| calls > self.calls_to_mark) {
                account.find(format!("client {client} marks {key} when the parts were closed"));
            }
            if bug == Some(Bug::MarkOfMore) {
                tasks.end = (tasks.end + 1).min(self.tasks[stage]);
            }
            for task in tasks {
                account.mark(client, (stage, task));
            }
        }
    }

    /// A process begins.
    pub(super) fn begin(&self, client: &SimClient) -> Seen {
        let mut account = self.account();
        account.at_work.push(client.clone());
        let (marked, tasks) = (account.marked.clone(), self.tasks.clone());
        Seen { marked, tasks, client: client.number() }
    }

    /// Observer that is told of the tasks of a process.
    pub(super) fn observer(&self, seen: &Seen) -> Teller {
        Teller { ledger: self.clone(), seen: seen.clone() }
    }

    /// True if a process that slept while it opened the job has opened it again.
    pub(super) fn is_reopened(&self) -> bool {
        self.account().is_reopened
    }

    pub(super) fn is_closed(&self) -> bool {
        self.account().closed.is_some()
    }

    /// True if all tasks of `range` are marked.
    pub(super) fn are_marked(&self, stage: usize, mut range: std::ops::Range<u64>) -> bool {
        let account = self.account();
        range.all(|task| account.marked.contains(&(stage, task)))
    }

    /// True if all tasks of all stages before `stage` are marked.
    pub(super) fn is_ready(&self, stage: usize) -> bool {
        (0..stage).all(|before| self.are_marked(before, 0..self.tasks[before]))
    }

    fn is_all(&self, marked: &Tasks) -> bool {
        marked.len() as u64 == self.tasks.iter().sum::<u64>()
    }

    /// Fails with the first finding.
    pub(super) fn first(&self) -> Result<(), String> {
        self.account().findings.first().map_or(Ok(()), |finding| Err(finding.clone()))
    }
}

impl Seen {
    /// True if all stages before `stage` were done.
    pub(super) fn was_ready(&self, stage: usize) -> bool {
        let all = |stage: usize| (0..self.tasks[stage]).map(move |task| (stage, task));
        (0..stage).flat_map(all).all(|task| self.marked.contains(&task))
    }

    /// Number of tasks of `range` that were marked.
    pub(super) fn count_in(&self, stage: usize, range: std::ops::Range<u64>) -> u64 {
        range.filter(|&task| self.marked.contains(&(stage, task))).count() as u64
    }
}

impl Account {
    /// Calls that a process has made since the parts were closed; `None` if they were not, or it
    /// had not begun.
    fn calls_since_closed(&self, client: u64) -> Option<u64> {
        let before = self.closed.as_ref()?.get(&client).copied()?;
        let client = self.at_work.iter().find(|process| process.number() == client)?;
        Some(client.calls() - before)
    }

    fn find(&mut self, finding: String) {
        // What follows is another job, of which nothing is marked.
        if !self.is_reopened {
            self.findings.push(finding);
        }
    }

    fn mark(&mut self, client: u64, task: (usize, u64)) {
        if !self.marked.insert(task) {
            return;
        }
        let lacks: Vec<_> = self.missing.iter().filter(|(_, of)| **of == task).collect();
        if !lacks.is_empty() || !self.reported.contains(&task) {
            let text = format!("client {client} marks {task:?}, which is not done: {lacks:?}");
            self.find(text);
        }
    }
}

/// Is told of the tasks of a process.
#[derive(Debug)]
pub(super) struct Teller {
    ledger: Ledger,
    seen: Seen,
}

impl Observer for Teller {
    fn event(&self, event: &Event) {
        let Event::TaskDone { stage, task } = *event else { return };
        let mut account = self.ledger.account();
        account.reported.insert((stage, task));
        if self.seen.marked.contains(&(stage, task)) {
            account.again += 1;
            let client = self.seen.client;
            account
                .find(format!("client {client} does {:?} again, which was marked", (stage, task)));
        }
    }
}

/// The tasks that an object marks: of a stage, from one to before another.
fn marked_by(key: &str) -> Option<(usize, std::ops::Range<u64>)> {
    let of_parts = key.strip_prefix(WORK)?.strip_prefix("parts/")?;
    let (_name, tasks) = of_parts.split_once("/done/")?;
    let numbers: Vec<u64> = tasks.split('-').map(|number| number.parse().unwrap()).collect();
    Some((usize::try_from(numbers[0]).unwrap(), numbers[1]..numbers[2]))
}
