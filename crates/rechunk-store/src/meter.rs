//! The one place where requests and bytes are counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::local::runs::RunCounts;

/// Use of a store: chooses the counters of its operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Chunks that are read.
    Source,
    /// Pieces between two stages.
    Intermediate,
    /// Chunks that are written.
    Target,
    /// Metadata, journal, lease.
    #[default]
    Control,
}

/// Requests and bytes of one role.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoleTraffic {
    /// Reads of objects or ranges that were there (whether or not they succeeded).
    pub get_requests: u64,
    /// Reads of objects that were not there. Counts objects and chunks, too, that were not asked
    /// for because a list or their shard's index said that they were not there.
    pub get_missing: u64,
    /// Writes that were started; one that is tried again by the caller counts again.
    pub put_requests: u64,
    /// Requests of multipart uploads beside the one for each object that `put_requests` counts: one
    /// that begins it, and one for each part.
    pub part_requests: u64,
    /// Objects that the store was asked to copy itself, from another object it has.
    pub copy_requests: u64,
    /// Writes left out because the chunk held only the fill value.
    pub put_skipped: u64,
    /// Bytes of decoded chunks read.
    pub decoded_read_bytes: u64,
    /// Bytes of chunks before they were encoded.
    pub decoded_written_bytes: u64,
    /// Bytes of bodies received.
    pub read_bytes: u64,
    /// Bytes of bodies stored.
    pub written_bytes: u64,
    /// Objects stored.
    pub objects: u64,
    /// Files opened to move runs of bytes; how else objects are opened is not counted.
    pub opens: u64,
    /// Runs of bytes moved through such files, however many calls each took; each is a request too.
    pub runs: u64,
    /// Runs that did not begin where the last one through the same file ended. A file that has
    /// just been opened is at its first byte.
    pub seeks: u64,
    /// Attempts on the wire, retries included; 0 for stores without one.
    pub http_attempts: u64,
}

/// Requests that move no chunks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ControlTraffic {
    /// Reads of metadata, journal or lease, missing ones included.
    pub get: u64,
    /// Writes of metadata, journal or lease.
    pub put: u64,
    /// Questions after one object, in any role.
    pub head: u64,
    /// Listings, in any role.
    pub list: u64,
    /// Deletions, in any role; a local tree that is removed counts as one.
    pub delete: u64,
}

/// Counts so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Traffic {
    /// Chunks that are read.
    pub source: RoleTraffic,
    /// Pieces between two stages.
    pub intermediate: RoleTraffic,
    /// Chunks that are written.
    pub target: RoleTraffic,
    /// Everything else.
    pub control: ControlTraffic,
}

impl Traffic {
    /// Adds what another meter has counted.
    pub fn add(&mut self, other: &Self) {
        self.combine(other, u64::saturating_add);
    }

    /// The traffic since a meter had counted `earlier`.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        self.combine(earlier, u64::saturating_sub);
        self
    }

    fn combine(&mut self, other: &Self, with: fn(u64, u64) -> u64) {
        self.source.combine(&other.source, with);
        self.intermediate.combine(&other.intermediate, with);
        self.target.combine(&other.target, with);
        let (control, more) = (&mut self.control, &other.control);
        control.get = with(control.get, more.get);
        control.put = with(control.put, more.put);
        control.head = with(control.head, more.head);
        control.list = with(control.list, more.list);
        control.delete = with(control.delete, more.delete);
    }
}

impl RoleTraffic {
    fn combine(&mut self, other: &Self, with: fn(u64, u64) -> u64) {
        let each = |count: &mut u64, other: u64| *count = with(*count, other);
        each(&mut self.get_requests, other.get_requests);
        each(&mut self.get_missing, other.get_missing);
        each(&mut self.put_requests, other.put_requests);
        each(&mut self.part_requests, other.part_requests);
        each(&mut self.copy_requests, other.copy_requests);
        each(&mut self.put_skipped, other.put_skipped);
        each(&mut self.decoded_read_bytes, other.decoded_read_bytes);
        each(&mut self.decoded_written_bytes, other.decoded_written_bytes);
        each(&mut self.read_bytes, other.read_bytes);
        each(&mut self.written_bytes, other.written_bytes);
        each(&mut self.objects, other.objects);
        each(&mut self.opens, other.opens);
        each(&mut self.runs, other.runs);
        each(&mut self.seeks, other.seeks);
        each(&mut self.http_attempts, other.http_attempts);
    }
}

/// A number that only grows. Relaxed: counters are independent, and who reads a final count has
/// joined the tasks that made it.
#[derive(Debug, Default)]
struct Counter(AtomicU64);

impl Counter {
    fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
struct RoleCounters {
    get_requests: Counter,
    get_missing: Counter,
    put_requests: Counter,
    part_requests: Counter,
    copy_requests: Counter,
    put_skipped: Counter,
    decoded_read_bytes: Counter,
    decoded_written_bytes: Counter,
    read_bytes: Counter,
    written_bytes: Counter,
    objects: Counter,
    opens: Counter,
    runs: Counter,
    seeks: Counter,
    http_attempts: Counter,
}

impl RoleCounters {
    fn snapshot(&self) -> RoleTraffic {
        RoleTraffic {
            get_requests: self.get_requests.get(),
            get_missing: self.get_missing.get(),
            put_requests: self.put_requests.get(),
            part_requests: self.part_requests.get(),
            copy_requests: self.copy_requests.get(),
            put_skipped: self.put_skipped.get(),
            decoded_read_bytes: self.decoded_read_bytes.get(),
            decoded_written_bytes: self.decoded_written_bytes.get(),
            read_bytes: self.read_bytes.get(),
            written_bytes: self.written_bytes.get(),
            objects: self.objects.get(),
            opens: self.opens.get(),
            runs: self.runs.get(),
            seeks: self.seeks.get(),
            http_attempts: self.http_attempts.get(),
        }
    }
}

/// Counts for all stores of a job. Shared; every method may be called from any thread.
#[derive(Debug, Default)]
pub struct Meter {
    source: RoleCounters,
    intermediate: RoleCounters,
    target: RoleCounters,
    get: Counter,
    put: Counter,
    head: Counter,
    list: Counter,
    delete: Counter,
}

impl Meter {
    /// A meter at zero, to be shared by all stores of a job.
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// Returns the counts so far.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            source: self.source.snapshot(),
            intermediate: self.intermediate.snapshot(),
            target: self.target.snapshot(),
            control: ControlTraffic {
                get: self.get.get(),
                put: self.put.get(),
                head: self.head.get(),
                list: self.list.get(),
                delete: self.delete.get(),
            },
        }
    }

    /// Counts bytes of chunks that were decoded. (Nothing is decoded under control.)
    pub fn add_decoded_read(&self, role: Role, bytes: u64) {
        if let Some(counters) = self.role(role) {
            counters.decoded_read_bytes.add(bytes);
        }
    }

    /// Counts bytes of chunks that were encoded. (Nothing is encoded under control.)
    pub fn add_decoded_written(&self, role: Role, bytes: u64) {
        if let Some(counters) = self.role(role) {
            counters.decoded_written_bytes.add(bytes);
        }
    }

    /// Counts objects that were not written because they hold only the fill value.
    pub fn add_puts_skipped(&self, role: Role, objects: u64) {
        if let Some(counters) = self.role(role) {
            counters.put_skipped.add(objects);
        }
    }

    fn role(&self, role: Role) -> Option<&RoleCounters> {
        match role {
            Role::Source => Some(&self.source),
            Role::Intermediate => Some(&self.intermediate),
            Role::Target => Some(&self.target),
            Role::Control => None,
        }
    }

    /// An object or range was asked for and is, or may be, there.
    pub(crate) fn count_get(&self, role: Role) {
        self.count_gets(role, 1);
    }

    fn count_gets(&self, role: Role, requests: u64) {
        match self.role(role) {
            Some(counters) => counters.get_requests.add(requests),
            None => self.get.add(requests),
        }
    }

    /// The body of a counted get has arrived.
    pub(crate) fn count_read(&self, role: Role, bytes: usize) {
        self.count_read_bytes(role, u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    /// Runs of a counted get have arrived.
    pub(crate) fn count_read_bytes(&self, role: Role, bytes: u64) {
        if let Some(counters) = self.role(role) {
            counters.read_bytes.add(bytes);
        }
    }

    /// Objects, or chunks of shards, that are known not to be there: they were looked for, and the
    /// store not asked.
    pub fn add_gets_missing(&self, role: Role, gets: u64) {
        if let Some(counters) = self.role(role) {
            counters.get_missing.add(gets);
        }
    }

    /// An object was asked for that is not there.
    pub(crate) fn count_get_missing(&self, role: Role) {
        match self.role(role) {
            Some(counters) => counters.get_missing.add(1),
            None => self.get.add(1),
        }
    }

    /// A request goes over the wire, for the first time or again.
    pub(crate) fn count_attempt(&self, role: Role) {
        if let Some(counters) = self.role(role) {
            counters.http_attempts.add(1);
        }
    }

    /// A write was started.
    pub(crate) fn count_put(&self, role: Role) {
        self.count_puts(role, 1);
    }

    /// A multipart upload, or a part of one, was begun. (What control writes is one request.)
    pub(crate) fn count_part(&self, role: Role) {
        if let Some(counters) = self.role(role) {
            counters.part_requests.add(1);
        }
    }

    /// The store was asked to copy an object itself. (Nothing is copied so under control.)
    pub(crate) fn count_copy(&self, role: Role) {
        if let Some(counters) = self.role(role) {
            counters.copy_requests.add(1);
        }
    }

    fn count_puts(&self, role: Role, requests: u64) {
        match self.role(role) {
            Some(counters) => counters.put_requests.add(requests),
            None => self.put.add(requests),
        }
    }

    /// A counted write has ended well.
    pub(crate) fn count_written(&self, role: Role, bytes: u64) {
        self.count_written_bytes(role, bytes);
        self.count_object(role);
    }

    /// Bytes of an object that is written in parts are in their place.
    pub(crate) fn count_written_bytes(&self, role: Role, bytes: u64) {
        if let Some(counters) = self.role(role) {
            counters.written_bytes.add(bytes);
        }
    }

    /// An object that is written in parts has become visible.
    pub(crate) fn count_object(&self, role: Role) {
        if let Some(counters) = self.role(role) {
            counters.objects.add(1);
        }
    }

    /// A file was opened to move runs of bytes.
    pub(crate) fn count_open(&self, role: Role) {
        if let Some(counters) = self.role(role) {
            counters.opens.add(1);
        }
    }

    /// Runs are being read through an open file.
    pub(crate) fn count_read_runs(&self, role: Role, counts: RunCounts) {
        self.count_gets(role, counts.runs);
        self.count_runs(role, counts);
    }

    /// Runs are being written through an open file.
    pub(crate) fn count_write_runs(&self, role: Role, counts: RunCounts) {
        self.count_puts(role, counts.runs);
        self.count_runs(role, counts);
    }

    fn count_runs(&self, role: Role, counts: RunCounts) {
        if let Some(counters) = self.role(role) {
            counters.runs.add(counts.runs);
            counters.seeks.add(counts.seeks);
        }
    }

    pub(crate) fn count_head(&self) {
        self.head.add(1);
    }

    pub(crate) fn count_list(&self) {
        self.list.add(1);
    }

    pub(crate) fn count_delete(&self) {
        self.delete.add(1);
    }
}
