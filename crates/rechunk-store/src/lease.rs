//! Lets one writer at a time into a place without the system's locks: an object names him, written
//! anew every few seconds.
//!
//! A lease is stale when its object was not written for [`STALE`] by the clock of the store itself,
//! or at once if its writer was a process of this machine that is gone. Whoever takes it over puts
//! his name in place of that very object. Whoever has lost it notices at his next beat, and asks
//! before he does what cannot be undone ([`Lease::check`]).

use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use crate::conditional::{Seen, Snapshot};
use crate::{Store, StoreError};

/// Time between two writes of the object.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// Time after the last beat when another may take it.
pub const STALE: Duration = Duration::from_mins(1);
/// Largest object that is read, bytes.
const LEASE_BYTES_MAX: u64 = 64 << 10;
const VERSION: u32 = 1;

/// The writer: a process of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Version of this form.
    version: u32,
    /// A random name.
    pub owner: String,
    /// The machine.
    pub host: String,
    /// Tells the processes of this start of the machine, or of this container, from others; empty
    /// where nothing does.
    processes: String,
    /// The process.
    pub pid: u32,
    /// Number of beats so far.
    beat: u64,
}

impl Holder {
    /// This process, under a new name.
    pub fn this() -> Self {
        let (host, processes) = machine();
        Self {
            version: VERSION,
            owner: unique_name(),
            host,
            processes,
            pid: std::process::id(),
            beat: 0,
        }
    }

    /// As it is stored: a line of JSON.
    pub fn bytes(&self) -> Bytes {
        // A few strings and numbers: this cannot fail.
        Bytes::from(serde_json::to_vec(self).unwrap_or_default())
    }

    /// Reads the bytes of [`Holder::bytes`]; `None` if they are damaged or of another version.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok().filter(|holder: &Self| holder.version == VERSION)
    }

    /// It may still write, when nothing was heard of it for so many seconds.
    pub fn is_live(&self, silent_seconds: u64) -> bool {
        silent_seconds < STALE.as_secs() && !self.is_gone()
    }

    /// It was a process of this machine, and is gone.
    fn is_gone(&self) -> bool {
        let (_, processes) = machine();
        !processes.is_empty() && processes == self.processes && !is_alive(self.pid)
    }
}

/// Outcome of the request for a lease.
#[derive(Debug)]
pub enum Taken {
    /// It is ours.
    Ours(Box<Lease>),
    /// Somebody has it: who, if that can be read, and how many seconds ago he was last heard of.
    Held(Option<Box<Holder>>, u64),
}

/// The right to write, until it is released or lost.
#[derive(Debug)]
pub struct Lease {
    store: Store,
    key: String,
    owner: String,
    lost: CancellationToken,
    beating: JoinHandle<()>,
}

impl Lease {
    /// Asks for the lease at `key`. Says no at once if somebody has it.
    pub async fn take(store: &Store, key: &str) -> Result<Taken, StoreError> {
        let holder = Holder::this();
        let seen = match store.create(key, holder.bytes()).await? {
            Some(seen) => seen,
            None => match Self::take_over(store, key, &holder).await? {
                Ok(seen) => seen,
                Err(held) => return Ok(held),
            },
        };
        let lost = CancellationToken::new();
        let owner = holder.owner.clone();
        let beats = beat(store.clone(), key.to_owned(), holder, seen, lost.clone());
        let beating = tokio::spawn(beats);
        Ok(Taken::Ours(Box::new(Self {
            store: store.clone(),
            key: key.to_owned(),
            owner,
            lost,
            beating,
        })))
    }

    /// Puts `holder` in the place of one that is stale.
    async fn take_over(
        store: &Store,
        key: &str,
        holder: &Holder,
    ) -> Result<Result<Seen, Taken>, StoreError> {
        let Some(found) = store.snapshot(key, LEASE_BYTES_MAX).await? else {
            // Released in this moment.
            let taken = store.create(key, holder.bytes()).await?;
            return Ok(taken.ok_or(Taken::Held(None, 0)));
        };
        let other = Holder::of(&found.bytes);
        let silent_seconds = silence(store, key, &found, holder).await?;
        let is_live = other
            .as_ref()
            .map_or(silent_seconds < STALE.as_secs(), |other| other.is_live(silent_seconds));
        if is_live {
            return Ok(Err(Taken::Held(other.map(Box::new), silent_seconds)));
        }
        tracing::info!(
            location = store.label(),
            ?other,
            "taking over the lease of a writer that is gone"
        );
        let taken = store.replace(key, holder.bytes(), &found.seen).await?;
        Ok(taken.ok_or(Taken::Held(None, 0)))
    }

    /// Triggered when somebody else has taken it.
    pub fn lost(&self) -> &CancellationToken {
        &self.lost
    }

    /// Asks the store whether it is still ours.
    pub async fn check(&self) -> Result<bool, StoreError> {
        if self.lost.is_cancelled() {
            return Ok(false);
        }
        let found = self.store.snapshot(&self.key, LEASE_BYTES_MAX).await?;
        let is_ours = found.is_some_and(|found| is_of(&found, &self.owner));
        if !is_ours {
            self.lost.cancel();
        }
        Ok(is_ours)
    }

    /// Gives it back, if it is still ours.
    pub async fn release(self) -> Result<(), StoreError> {
        self.beating.abort();
        let released =
            async { if self.check().await? { self.store.delete(&self.key).await } else { Ok(()) } };
        // Nothing is heard of it any more: then another one may take it, which is not to be
        // deleted.
        timeout(STALE.saturating_sub(2 * HEARTBEAT), released).await.unwrap_or(Ok(()))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.beating.abort();
    }
}

/// Returns the holder of the lease at `key`, and the seconds since his last beat by the clock of
/// this machine. Writes nothing.
pub async fn holder(store: &Store, key: &str) -> Result<Option<(Holder, u64)>, StoreError> {
    let Some(found) = store.snapshot(key, LEASE_BYTES_MAX).await? else { return Ok(None) };
    let Some(holder) = Holder::of(&found.bytes) else { return Ok(None) };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let silent_seconds = now.saturating_sub(u64::try_from(found.modified_seconds).unwrap_or(0));
    Ok(Some((holder, silent_seconds)))
}

fn is_of(found: &Snapshot, owner: &str) -> bool {
    Holder::of(&found.bytes).is_some_and(|holder| holder.owner == owner)
}

/// Seconds since an object was written, by the store's own clock.
async fn silence(
    store: &Store,
    key: &str,
    found: &Snapshot,
    asking: &Holder,
) -> Result<u64, StoreError> {
    let now = store.clock_seconds(&format!("{key}-clock-{}", asking.owner)).await?;
    Ok(u64::try_from(now.saturating_sub(found.modified_seconds)).unwrap_or(0))
}

/// Writes the lease anew until it is lost. What the store does not take for a while is tried again
/// at the next beat: that it is lost is known only when another's name stands there.
async fn beat(
    store: Store,
    key: String,
    mut holder: Holder,
    mut seen: Seen,
    lost: CancellationToken,
) {
    let mut beats = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let store = store.with_retries(0, HEARTBEAT);
    loop {
        beats.tick().await;
        holder.beat += 1;
        // Silence must not last until the lease is stale.
        let replaced = timeout(HEARTBEAT, store.replace(&key, holder.bytes(), &seen)).await;
        match replaced {
            Ok(Ok(Some(now))) => seen = now,
            Ok(Err(error)) => tracing::warn!(%error, "the lease could not be written"),
            // Refused, or nobody knows.
            Ok(Ok(None)) | Err(_) => {
                match timeout(2 * HEARTBEAT, store.snapshot(&key, LEASE_BYTES_MAX)).await {
                    // A beat of which the answer was lost, or the one before.
                    Ok(Ok(Some(found))) if is_of(&found, &holder.owner) => seen = found.seen,
                    Ok(Ok(_)) => {
                        tracing::warn!(location = store.label(), "another run has taken the lease");
                        lost.cancel();
                        return;
                    }
                    Ok(Err(error)) => tracing::warn!(%error, "the lease could not be looked at"),
                    Err(_) => tracing::warn!("the store says nothing of the lease"),
                }
            }
        }
    }
}

thread_local! {
    /// Seed of the names of this thread, and their number so far.
    static NAMES: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

/// Has the names that this thread draws from now on follow from a seed, so that a simulation is the
/// same each time. For tests.
#[doc(hidden)]
pub fn draw_names_from(seed: u64) {
    NAMES.set(Some((seed, 0)));
}

/// A name no other run has: 128 random bits as hex digits.
pub fn unique_name() -> String {
    use std::hash::{BuildHasher, RandomState};
    if let Some((seed, number)) = NAMES.get() {
        NAMES.set(Some((seed, number + 1)));
        // So that they come in no order.
        let mixed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        return format!("{mixed:016x}{seed:016x}");
    }
    let bits = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", bits(), bits())
}

/// Name of this machine, and what its processes are told from those of others by.
fn machine() -> (String, String) {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    #[cfg(unix)]
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let host = std::env::var("COMPUTERNAME").unwrap_or_default();
    let boot = read("/proc/sys/kernel/random/boot_id");
    // Processes of another container have numbers of their own: where that is not known, nothing
    // is.
    let space = std::fs::read_link("/proc/self/ns/pid").ok().filter(|_| !boot.is_empty());
    (host, space.map_or(String::new(), |space| format!("{boot} {}", space.display())))
}

#[cfg(unix)]
fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    // Not allowed to ask is alive.
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_alive(_: u32) -> bool {
    true
}
