//! Predicted traffic of a plan by role, with its time and its price.

use serde::{Deserialize, Serialize};

use crate::StoreProfile;
use crate::profile::is_free;

/// Predicted traffic of one role. Requests and decoded bytes are exact (a missing chunk is a
/// request, and its fill counts as decoded); encoded bytes are expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RoleEstimate {
    /// Read requests, those that will find nothing included.
    pub get_requests: u64,
    /// Write requests, those skipped for all-fill chunks included.
    pub put_requests: u64,
    /// Decoded bytes read, padding of edge chunks included.
    pub decoded_read_bytes: u64,
    /// Decoded bytes written, padding of edge chunks included.
    pub decoded_written_bytes: u64,
    /// Encoded bytes read, expected.
    pub read_bytes: u64,
    /// Encoded bytes written, expected.
    pub written_bytes: u64,
    /// Objects written.
    pub objects: u64,
    /// Requests of multipart uploads beside the one per object that `put_requests` counts: one that
    /// begins it, and one for each part. Exact where objects have the expected size.
    #[serde(default)]
    pub part_requests: u64,
    /// Objects that the store copies itself, from others it has; those that will not be there
    /// included.
    #[serde(default)]
    pub copy_requests: u64,
    /// Files opened to move runs of bytes.
    #[serde(default)]
    pub opens: u64,
    /// Runs of bytes moved through such files; each is a request too.
    #[serde(default)]
    pub runs: u64,
    /// Runs that do not begin where the last one through the same open file ended.
    #[serde(default)]
    pub seeks: u64,
}

impl RoleEstimate {
    /// Adds other traffic of the role; counts saturate.
    pub fn add(&mut self, other: &Self) {
        self.get_requests = self.get_requests.saturating_add(other.get_requests);
        self.put_requests = self.put_requests.saturating_add(other.put_requests);
        self.decoded_read_bytes = self.decoded_read_bytes.saturating_add(other.decoded_read_bytes);
        self.decoded_written_bytes =
            self.decoded_written_bytes.saturating_add(other.decoded_written_bytes);
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.written_bytes = self.written_bytes.saturating_add(other.written_bytes);
        self.objects = self.objects.saturating_add(other.objects);
        self.part_requests = self.part_requests.saturating_add(other.part_requests);
        self.copy_requests = self.copy_requests.saturating_add(other.copy_requests);
        self.opens = self.opens.saturating_add(other.opens);
        self.runs = self.runs.saturating_add(other.runs);
        self.seeks = self.seeks.saturating_add(other.seeks);
    }
}

/// Predicted traffic and price of a plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Estimate {
    /// Traffic with the source.
    pub source: RoleEstimate,
    /// Traffic with the intermediate, all passes together.
    pub intermediate: RoleEstimate,
    /// Traffic with the target.
    pub target: RoleEstimate,
    /// Time under the profile, seconds: ranks plans; no forecast for a busy machine.
    pub seconds: f64,
    /// Price under the profile, US dollars: the sum of `price`.
    pub usd: f64,
    /// Parts of the price.
    #[serde(default)]
    pub price: Price,
}

impl Estimate {
    /// All requests; those of multipart uploads count as one.
    pub fn requests(&self) -> u64 {
        [&self.source, &self.intermediate, &self.target].iter().fold(0_u64, |sum, role| {
            let moved = role.get_requests.saturating_add(role.put_requests);
            sum.saturating_add(moved).saturating_add(role.copy_requests)
        })
    }

    /// All decoded bytes moved.
    pub fn decoded_bytes(&self) -> u64 {
        [&self.source, &self.intermediate, &self.target].iter().fold(0_u64, |sum, role| {
            sum.saturating_add(role.decoded_read_bytes).saturating_add(role.decoded_written_bytes)
        })
    }

    /// All encoded bytes moved, expected.
    pub fn encoded_bytes(&self) -> u64 {
        [&self.source, &self.intermediate, &self.target].iter().fold(0_u64, |sum, role| {
            sum.saturating_add(role.read_bytes).saturating_add(role.written_bytes)
        })
    }

    /// Adds what comes after it: another stage, another array.
    pub fn add(&mut self, next: &Self) {
        self.source.add(&next.source);
        self.intermediate.add(&next.intermediate);
        self.target.add(&next.target);
        self.seconds += next.seconds;
        self.usd += next.usd;
        self.price.add(&next.price);
    }
}

const GIB: f64 = (1_u64 << 30) as f64;

/// Price of traffic, US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Price {
    /// Of read requests.
    pub get_usd: f64,
    /// Of write requests, one per object.
    pub put_usd: f64,
    /// Of the further requests of multipart uploads, each at the price of a write request.
    pub part_usd: f64,
    /// Of objects that a store copies itself, each at the price of a write request.
    #[serde(default)]
    pub copy_usd: f64,
    /// Of bytes that leave the stores.
    pub egress_usd: f64,
    /// Of bytes that are written.
    #[serde(default, skip_serializing_if = "is_free")]
    pub write_usd: f64,
    /// Of bytes that a store keeps after they were deleted.
    #[serde(default, skip_serializing_if = "is_free")]
    pub retention_usd: f64,
}

impl Price {
    /// All of it.
    pub fn total_usd(&self) -> f64 {
        let requests = self.get_usd + self.put_usd + self.part_usd + self.copy_usd;
        requests + self.egress_usd + self.write_usd + self.retention_usd
    }

    /// Adds the price of something else.
    pub fn add(&mut self, other: &Self) {
        self.get_usd += other.get_usd;
        self.put_usd += other.put_usd;
        self.part_usd += other.part_usd;
        self.copy_usd += other.copy_usd;
        self.egress_usd += other.egress_usd;
        self.write_usd += other.write_usd;
        self.retention_usd += other.retention_usd;
    }

    /// Of the traffic with a store.
    pub(crate) fn of(role: &RoleEstimate, store: &StoreProfile) -> Self {
        Self {
            get_usd: role.get_requests as f64 * store.get_usd,
            put_usd: role.put_requests as f64 * store.put_usd,
            part_usd: role.part_requests as f64 * store.put_usd,
            copy_usd: role.copy_requests as f64 * store.put_usd,
            egress_usd: role.read_bytes as f64 / GIB * store.egress_usd_per_gib,
            write_usd: role.written_bytes as f64 / GIB * store.write_usd_per_gib,
            retention_usd: 0.0,
        }
    }

    /// Of bytes that are deleted or replaced, and that the store keeps for a while.
    pub fn of_deleted(bytes: u64, store: &StoreProfile) -> Self {
        let retention_usd = bytes as f64 / GIB * store.retention_usd_per_gib;
        Self { retention_usd, ..Self::default() }
    }
}
