//! Objects that each task has to leave: from an undisturbed run, which is held against a naive
//! copy.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use rechunk_array::Array;
use rechunk_exec::{ArrayDigest, DoneSet, Execution, NullObserver, Sink, run};
use rechunk_format::{Layout, ShardIndex};
use rechunk_store::{Role, Store};
use rechunk_testkit::{SimClient, SimStore};
use tokio_util::sync::CancellationToken;

use crate::case::Case;
use crate::layout::TestLayout;
use crate::scenario::Scenario;

/// Right contents of an object.
#[derive(Debug)]
enum Right {
    Bytes(Bytes),
    /// Its chunks by slot: they may stand in any order.
    Shard(BTreeMap<u64, Bytes>),
}

/// Task that writes an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    pub stage: usize,
    pub task: u64,
    /// The step of the task after which it is complete; `None` if only with the task.
    pub step: Option<u64>,
}

/// The right objects of a scenario.
#[derive(Debug)]
pub(crate) struct Expected {
    layout: TestLayout,
    right: BTreeMap<String, Right>,
    owners: BTreeMap<String, Owner>,
    pub elements: Vec<u8>,
    /// The digest of the source, where one is taken.
    pub digest: Option<ArrayDigest>,
}

/// The stores of a run of `client`.
pub(crate) fn place(client: &SimClient, prefix: &str) -> Store {
    let inner = Arc::new(client.clone());
    Store::from_object_store(inner, "sim://disk").child(prefix).unwrap()
}

pub(crate) fn array(case: &Case, is_source: bool, store: Store) -> Array {
    let side = if is_source { &case.source } else { &case.target };
    Array::new(Arc::new(case.layout(side)), store)
}

/// Execution of the plan between the stores that `at` gives for `source`, `target` and `temp`.
pub(crate) fn execution(scenario: &Scenario, at: &dyn Fn(&'static str) -> Store) -> Execution {
    Execution {
        plan: scenario.plan.clone(),
        tasks: None,
        source: array(&scenario.case, true, at("source").with_role(Role::Source)),
        sink: Sink::Write(array(&scenario.case, false, at("target").with_role(Role::Target))),
        intermediate: Some(at("temp").with_role(Role::Intermediate)),
        write_empty: scenario.case.write_empty,
        takes_digest: scenario.takes_digest,
        in_place: false,
        list_after_missing: None,
        ops: Vec::new(),
        windows: None,
        levels: Vec::new(),
    }
}

impl Expected {
    /// Writes the source into `disk`, runs the plan once, and takes what it has written away.
    pub(crate) async fn new(scenario: &Scenario, disk: &SimStore) -> Self {
        let case = &scenario.case;
        let observer = disk.observer();
        let at = |prefix| place(&observer, prefix);
        let source = array(case, true, at("source"));
        let elements = case.elements();
        case.store_chunks(&case.source, &source, &elements, |n| case.missing >> (n % 64) & 1 == 1)
            .await;
        let execution = execution(scenario, &at);
        let token = CancellationToken::new();
        let report = run(Arc::new(execution), None, Arc::new(NullObserver), token).await.unwrap();
        let mut expected = Self {
            layout: case.layout(&case.target),
            right: BTreeMap::new(),
            owners: owners(scenario),
            elements,
            digest: report.digest,
        };
        expected.assert_array(scenario, disk).await.unwrap();
        for key in disk.keys() {
            let bytes = disk.object(&key).unwrap();
            if expected.owners.contains_key(&key) {
                expected.right.insert(key.clone(), expected.right_of(&key, bytes));
            } else {
                assert!(key.starts_with("source/"), "{key} has no owner");
            }
        }
        disk.clear("target/");
        disk.clear("temp/");
        expected
    }

    fn right_of(&self, key: &str, bytes: Bytes) -> Right {
        match self.chunks(key, &bytes) {
            Some(chunks) => Right::Shard(chunks.unwrap()),
            None => Right::Bytes(bytes),
        }
    }

    /// The chunks of a target shard; `None` if the object is none.
    fn chunks(&self, key: &str, bytes: &[u8]) -> Option<Result<BTreeMap<u64, Bytes>, String>> {
        let format = self.layout.shards.as_ref().filter(|_| key.starts_with("target/"))?;
        let index = match format.index_of(0, bytes) {
            Ok(index) => index,
            Err(error) => return Some(Err(error.to_string())),
        };
        let chunk = |slot| {
            let entry: (u64, u64) = index.entry(slot)?;
            let end = usize::try_from(entry.0 + entry.1).unwrap();
            let inside = end <= bytes.len();
            let bytes = if inside { ShardIndex::slice(bytes, entry) } else { &[] };
            Some((slot, Bytes::copy_from_slice(bytes)))
        };
        Some(Ok((0..format.chunk_count()).filter_map(chunk).collect()))
    }

    /// Number of objects that there have to be.
    pub(crate) fn objects(&self) -> u64 {
        self.right.len() as u64
    }

    pub(crate) fn owner(&self, key: &str) -> Option<Owner> {
        self.owners.get(key).copied()
    }

    /// An error if an object is not what it has to be.
    pub(crate) fn check(&self, key: &str, bytes: &Bytes) -> Result<(), String> {
        let same = match self.right.get(key) {
            Some(Right::Bytes(right)) => right == bytes,
            Some(Right::Shard(right)) => match self.chunks(key, bytes) {
                Some(Ok(chunks)) => chunks == *right,
                Some(Err(error)) => return Err(format!("{key}: {error}")),
                None => false,
            },
            None if self.owners.contains_key(key) => return Err(format!("{key} is written")),
            None => return Ok(()), // not of the array
        };
        if same { Ok(()) } else { Err(format!("{key} has wrong bytes ({})", bytes.len())) }
    }

    /// An error if something that `done` says is not there, or not right, or not durable.
    pub(crate) fn check_done(&self, done: &DoneSet, disk: &SimStore) -> Result<(), String> {
        for key in self.right.keys() {
            let owner = self.owners[key];
            if !owner.is_done(done) {
                continue;
            }
            let said = |what: &str| format!("{key} of {owner:?} is marked done, but {what}");
            let bytes = disk.object(key).ok_or_else(|| said("missing"))?;
            self.check(key, &bytes).map_err(|error| said(&error))?;
            if !disk.is_durable(key) {
                return Err(said("not durable"));
            }
        }
        Ok(())
    }

    /// An error unless every object of the target is there, right and durable, and its elements are
    /// those of the source.
    pub(crate) async fn check_complete(
        &self,
        scenario: &Scenario,
        disk: &SimStore,
    ) -> Result<(), String> {
        for key in self.right.keys().filter(|key| key.starts_with("target/")) {
            let bytes = disk.object(key).ok_or_else(|| format!("complete without {key}"))?;
            self.check(key, &bytes)?;
            if !disk.is_durable(key) {
                return Err(format!("complete, but {key} is not durable"));
            }
        }
        self.assert_array(scenario, disk).await
    }

    async fn assert_array(&self, scenario: &Scenario, disk: &SimStore) -> Result<(), String> {
        let case = &scenario.case;
        let target = array(case, false, place(&disk.observer(), "target"));
        let same = case.read_all(&case.target, &target).await == self.elements;
        if same { Ok(()) } else { Err("the target differs from a naive copy".to_owned()) }
    }
}

impl Owner {
    /// Its writing is done.
    pub(crate) fn is_done(self, done: &DoneSet) -> bool {
        done.contains(self.stage, self.task)
            || self.step.is_some_and(|step| step < done.steps(self.stage, self.task))
    }
}

/// The task of every object that there may be.
fn owners(scenario: &Scenario) -> BTreeMap<String, Owner> {
    let mut owners = BTreeMap::new();
    let layout = scenario.case.layout(&scenario.case.target);
    for stage in 0..scenario.plan.stages.len() {
        let geometry = scenario.plan.geometry(stage).unwrap();
        for task in 0..geometry.task_count() {
            let tile = geometry.tile(task);
            if geometry.writes_pieces() {
                let owner = Owner { stage, task, step: None };
                owners.insert(format!("temp/stage{stage}/{task:09}"), owner);
                continue;
            }
            for index in geometry.commit_grid().covering(&tile).positions() {
                let Some(region) = geometry.commit_grid().region(&index).intersect(&tile) else {
                    continue;
                };
                let has_steps = scenario.plan.stages[stage].box_shape.is_none();
                let step = has_steps.then(|| geometry.last_step(&tile, &region));
                let key = format!("target/{}", layout.object_key(&index));
                let other = owners.insert(key, Owner { stage, task, step });
                assert!(other.is_none(), "two tasks write {index:?}");
            }
        }
    }
    owners
}
