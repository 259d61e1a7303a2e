//! Stored objects: as readers see them, as a power cut would leave them, and those still on their
//! way.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::{Dice, SimFaults};

/// Sees every write that has an effect: who wrote (0: it came late), the key and the bytes.
type Watch = Box<dyn FnMut(u64, &str, &Bytes) + Send>;

/// An object.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub bytes: Bytes,
    pub e_tag: u64,
    pub modified_ms: u64,
}

/// A write.
#[derive(Debug, Clone)]
pub(super) struct Write {
    pub key: String,
    /// `None`: the object is deleted.
    pub bytes: Option<Bytes>,
    pub condition: Condition,
}

#[derive(Debug, Clone)]
pub(super) enum Condition {
    Always,
    Absent,
    Is(Option<String>),
}

/// Why a write had no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Refusal {
    Exists,
    Precondition,
    NotFound,
}

/// Everything behind the clients. Cheap to clone; clones share it.
#[derive(Clone)]
pub struct SimStore {
    state: Arc<Mutex<State>>,
}

#[expect(clippy::struct_excessive_bools, reason = "one for each way in which a store may be wrong")]
pub(super) struct State {
    pub dice: Dice,
    pub faults: SimFaults,
    pub latency_ms: u64,
    pub objects: BTreeMap<String, Object>,
    /// Objects deleted of late, which a stale list still knows.
    pub deleted: BTreeMap<String, Object>,
    /// Keys below these become durable when they are synced; all others when they are written.
    buffered: Vec<String>,
    /// Objects before the writes that are not durable: a power cut may bring them back.
    unsynced: BTreeMap<String, Option<Object>>,
    late: BTreeMap<(u64, u64), Write>,
    started: Option<Instant>,
    /// Time of the first call by the clock of the store, milliseconds since 1970.
    epoch_ms: u64,
    pub calls: u64,
    pub clients: u64,
    e_tags: u64,
    trace: u64,
    log: Option<Vec<String>>,
    watch: Option<Watch>,
    /// Planted: a put shows a half of its bytes first.
    pub tears: bool,
    /// Planted: a put is answered before it is done.
    pub answers_early: bool,
    /// Planted: syncing does nothing.
    pub sync_does_nothing: bool,
    /// Planted: whoever looks at a key that ends so finds what was deleted.
    pub ghost: Option<&'static str>,
    /// Writes are done whatever their conditions.
    pub ignores_conditions: bool,
}

impl fmt::Debug for SimStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimStore").finish_non_exhaustive()
    }
}

impl SimStore {
    /// An empty store, in which nothing goes wrong and nothing takes time.
    pub fn new(seed: u64) -> Self {
        let state = State {
            dice: Dice::new(seed),
            faults: SimFaults::NONE,
            latency_ms: 0,
            objects: BTreeMap::new(),
            deleted: BTreeMap::new(),
            buffered: Vec::new(),
            unsynced: BTreeMap::new(),
            late: BTreeMap::new(),
            started: None,
            epoch_ms: 0,
            calls: 0,
            clients: 0,
            e_tags: 0,
            trace: 0,
            log: None,
            watch: None,
            tears: false,
            answers_early: false,
            sync_does_nothing: false,
            ghost: None,
            ignores_conditions: false,
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on so much goes wrong, and a call takes up to `latency` each way.
    pub fn set_faults(&self, faults: SimFaults, latency: Duration) {
        let mut state = self.lock();
        state.faults = faults;
        state.latency_ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
    }

    /// Has objects below these keys survive a power cut only after a sync.
    pub fn set_buffered(&self, prefixes: &[&str]) {
        self.lock().buffered = prefixes.iter().map(|&prefix| prefix.to_owned()).collect();
    }

    /// `watch` is told of every put that has an effect: the number of the client (0 if it comes
    /// late), the key, the bytes.
    pub fn watch(&self, watch: impl FnMut(u64, &str, &Bytes) + Send + 'static) {
        self.lock().watch = Some(Box::new(watch));
    }

    /// Plants a bug: a put that is not whole at once.
    pub fn plant_torn_writes(&self) {
        self.lock().tears = true;
    }

    /// Plants a bug: a put that is answered before it is done.
    pub fn plant_early_answers(&self) {
        self.lock().answers_early = true;
    }

    /// Plants a bug: a sync that does nothing.
    pub fn plant_idle_sync(&self) {
        self.lock().sync_does_nothing = true;
    }

    /// Plants a bug: whoever looks at a key that ends so finds what was deleted.
    pub fn plant_ghosts(&self, end_of_key: &'static str) {
        self.lock().ghost = Some(end_of_key);
    }

    /// Sets the clock of the store, by which objects say when they were written: so long after 1970
    /// it was at the first call. Objects that are there keep their times.
    pub fn set_clock(&self, since_1970: Duration) {
        self.lock().epoch_ms = u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX);
    }

    /// From now on this is a store that does not know conditional writes, and does them all the
    /// same.
    pub fn ignore_conditions(&self) {
        self.lock().ignores_conditions = true;
    }

    /// Puts an object there, at once and durably.
    pub fn put(&self, key: &str, bytes: Bytes) {
        let write = Write { key: key.to_owned(), bytes: Some(bytes), condition: Condition::Always };
        let mut state = self.lock();
        let started = state.started;
        let _ = state.write(0, &write); // without a condition, it cannot be refused
        state.started = started; // by a call only: before it, the clock may not be that of the runtime
        state.unsynced.remove(key);
    }

    /// All calls so far.
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// A hash of all that has happened, and when.
    pub fn trace(&self) -> u64 {
        self.lock().trace
    }

    /// From now on all that happens is kept as text.
    pub fn keep_log(&self) {
        self.lock().log = Some(Vec::new());
    }

    /// Events since [`SimStore::keep_log`]: each with its time (ms) and its client.
    pub fn log(&self) -> Vec<String> {
        self.lock().log.clone().unwrap_or_default()
    }

    /// The object at `key` as readers see it.
    pub fn object(&self, key: &str) -> Option<Bytes> {
        self.lock().objects.get(key).map(|object| object.bytes.clone())
    }

    /// All keys.
    pub fn keys(&self) -> Vec<String> {
        self.lock().objects.keys().cloned().collect()
    }

    /// True if the object at `key` would survive a power cut.
    pub fn is_durable(&self, key: &str) -> bool {
        !self.lock().unsynced.contains_key(key)
    }

    /// Removes all objects whose keys begin with `prefix`.
    pub fn clear(&self, prefix: &str) {
        let mut state = self.lock();
        state.objects.retain(|key, _| !key.starts_with(prefix));
        state.unsynced.retain(|key, _| !key.starts_with(prefix));
    }

    /// Loses objects that are not durable, whole or in part, or keeps them: as it happens.
    pub fn cut_power(&self) {
        let mut state = self.lock();
        for (key, before) in std::mem::take(&mut state.unsynced) {
            let Some(mut now) = state.objects.get(&key).cloned() else { continue };
            let left = match state.dice.below(4) {
                0 => Some(now),
                1 => before,
                2 => {
                    now.bytes.truncate(now.bytes.len() / 2);
                    Some(now)
                }
                _ => {
                    now.bytes = Bytes::new();
                    Some(now)
                }
            };
            match left {
                Some(object) => state.objects.insert(key, object),
                None => state.objects.remove(&key),
            };
        }
    }

    pub(super) async fn sync_after(&self, pause: impl Future<Output = ()>) {
        let begun: Vec<(String, Object)> = {
            let state = self.lock();
            let objects = state.unsynced.keys();
            objects.filter_map(|key| Some((key.clone(), state.objects.get(key)?.clone()))).collect()
        };
        pause.await;
        let mut state = self.lock();
        if state.sync_does_nothing {
            return;
        }
        for (key, synced) in begun {
            if state.objects.get(&key).is_some_and(|now| now.e_tag == synced.e_tag) {
                state.unsynced.remove(&key);
            } else if let Some(before) = state.unsynced.get_mut(&key) {
                *before = Some(synced); // written anew meanwhile
            }
        }
    }
}

impl State {
    /// Milliseconds since the first call.
    pub(super) fn now_ms(&mut self) -> u64 {
        let started = *self.started.get_or_insert_with(Instant::now);
        u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The time by the clock of the store, milliseconds since 1970.
    pub(super) fn clock_ms(&mut self) -> u64 {
        self.epoch_ms.saturating_add(self.now_ms())
    }

    /// Adds what has happened to the trace.
    pub(super) fn note(&mut self, client: u64, what: &str, key: &str, outcome: &dyn fmt::Debug) {
        let mut hasher = DefaultHasher::new();
        let key = without_names(key);
        let now_ms = self.now_ms();
        if let Some(log) = &mut self.log {
            log.push(format!("{now_ms:>8} {client} {what} {key} {outcome:?}"));
        }
        (self.trace, now_ms, client, what, &key, format!("{outcome:?}")).hash(&mut hasher);
        self.trace = hasher.finish();
    }

    /// The object at `key`, for who reads it or `looks` at it.
    pub(super) fn found(&self, key: &str, looks: bool) -> Option<Object> {
        let is_ghost = looks && self.ghost.is_some_and(|end| key.ends_with(end));
        let gone = || self.deleted.get(key).filter(|_| is_ghost);
        self.objects.get(key).or_else(gone).cloned()
    }

    /// Lets what is late happen if its time has come.
    pub(super) fn settle(&mut self) {
        let now_ms = self.now_ms();
        while let Some(entry) = self.late.first_entry() {
            if entry.key().0 > now_ms {
                break;
            }
            let write = entry.remove();
            let outcome = self.write(0, &write);
            self.note(0, "late", &write.key, &outcome);
        }
    }

    /// Lets `write` happen some time later.
    pub(super) fn write_later(&mut self, write: Write) {
        let due_ms = self.now_ms() + 1 + self.dice.below(10 * self.latency_ms + 1000);
        self.e_tags += 1; // a number that is used once
        self.late.insert((due_ms, self.e_tags), write);
    }

    /// Does a write. The tag of the new object.
    pub(super) fn write(&mut self, client: u64, write: &Write) -> Result<u64, Refusal> {
        let there = self.objects.get(&write.key);
        match (&write.condition, there) {
            _ if self.ignores_conditions => {}
            (Condition::Absent, Some(_)) => return Err(Refusal::Exists),
            (Condition::Is(_), None) => return Err(Refusal::Precondition),
            (Condition::Is(tag), Some(found)) if *tag != Some(found.e_tag.to_string()) => {
                return Err(Refusal::Precondition);
            }
            _ => {}
        }
        let before = there.cloned();
        let Some(bytes) = &write.bytes else {
            self.unsynced.remove(&write.key);
            self.deleted.extend(self.objects.remove_entry(&write.key));
            return before.map(|object| object.e_tag).ok_or(Refusal::NotFound);
        };
        if self.buffered.iter().any(|prefix| write.key.starts_with(prefix)) {
            self.unsynced.entry(write.key.clone()).or_insert(before);
        }
        self.e_tags += 1;
        let (e_tag, modified_ms) = (self.e_tags, self.clock_ms());
        let object = Object { bytes: bytes.clone(), e_tag, modified_ms };
        self.objects.insert(write.key.clone(), object);
        if let Some(mut watch) = self.watch.take() {
            watch(client, &write.key, bytes);
            self.watch = Some(watch);
        }
        Ok(e_tag)
    }
}

/// A key without the names in it that are random, 32 hex digits: they are others in each run.
fn without_names(key: &str) -> String {
    let is_name = |word: &str| word.len() == 32 && word.bytes().all(|c| c.is_ascii_hexdigit());
    let words = key.split_inclusive(['/', '-', '.']);
    let word = |word: &str| match word.trim_end_matches(['/', '-', '.']) {
        name if is_name(name) => word.replace(name, "NAME"),
        _ => word.to_owned(),
    };
    words.map(word).collect()
}

/// Keys below `prefix`, a whole path; all if there is none.
pub(super) fn is_below(key: &str, prefix: &str) -> bool {
    prefix.is_empty() || key.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'))
}

/// The names directly below `prefix` that have objects below them.
pub(super) fn directories<'a>(
    keys: impl Iterator<Item = &'a String>,
    prefix: &str,
) -> BTreeSet<String> {
    let below = keys.filter(|key| is_below(key, prefix));
    below
        .filter_map(|key| {
            let start = if prefix.is_empty() { 0 } else { prefix.len() + 1 };
            let end = start + key[start..].find('/')?;
            Some(key[..end].to_owned())
        })
        .collect()
}
