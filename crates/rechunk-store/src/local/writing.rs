//! Brings bytes into local files by way of the system's page cache, or past it, whichever has been
//! faster.
//!
//! Neither always is. Copying into pages that are at hand takes less time than any disk; but a
//! system that has to find pages first (a virtual machine asks its host for them, a full cache has
//! to write others out) takes longer than a fast disk, and all of it is CPU time. So both are
//! timed.

use std::io;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::moments::may_block;
use super::runs::AS_IN_PAGE_BYTES;
use crate::length::wide;

/// Least bytes of a write that may go past the cache: to wait for a disk takes longer than to copy
/// less.
const DIRECT_BYTES_MIN: u64 = 128 << 10;
/// Bytes that go past the cache in one call, and what holds them meanwhile.
const BOUNCE_BYTES: usize = 1 << 20;
/// Most writes that go past the cache at once.
const DIRECT_MAX: usize = 4;
/// So many writes past the cache may fail by what passes, like too many open files.
const FAILURES_MAX: u32 = 16;
/// Writes each way has to have been timed before the faster one is taken.
const SAMPLES_MIN: u32 = 3;
/// Writes that say how long a way takes: the latest, of which the median counts.
const LATEST: usize = 5;
/// Most bytes of one of them: it is not known yet how slow a disk is. (Who writes larger ones only
/// keeps to the cache.)
const FIRST_BYTES_MAX: u64 = 64 << 20;
/// Least writes that try the slower way again, one after the other.
const TRIAL_WRITES: u32 = 3;
/// That is done after so many times as long as it takes.
const TRIAL_PART: f64 = 20.0;

/// Experience with both ways, shared by all that write to a store.
#[derive(Debug)]
pub(crate) struct Writing {
    timed: Mutex<Timed>,
    places: Arc<Places>,
}

/// Places in memory that a disk can take blocks from; [`DIRECT_MAX`] in the whole process.
#[derive(Debug)]
struct Places {
    free: Arc<Semaphore>,
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl Default for Places {
    fn default() -> Self {
        Self { free: Arc::new(Semaphore::new(DIRECT_MAX)), buffers: Mutex::default() }
    }
}

static PLACES: LazyLock<Arc<Places>> = LazyLock::new(Arc::default);

#[derive(Debug)]
struct Timed {
    cached: Rate,
    direct: Rate,
    /// Seconds that writes took since the slower way was tried.
    since_trial: f64,
    /// Bytes that are still to try it, and whether that goes past the cache.
    trial_bytes_left: u64,
    trial_is_direct: bool,
    /// No file system has refused it yet, nor has it failed often.
    direct_is_possible: bool,
    failures: u32,
}

/// Time that a way takes: for all that go it at the same time together, because disks and cores are
/// shared.
#[derive(Debug, Default, Clone, Copy)]
struct Rate {
    /// Seconds per byte of the latest writes, and how many there have been.
    latest: [f64; LATEST],
    samples: u32,
    /// Writes that were to go this way; those of them that have not ended; and those under way.
    chosen: u32,
    chosen_now: u32,
    now: u32,
}

impl Rate {
    fn add(&mut self, seconds_per_byte: f64) {
        self.latest.rotate_right(1);
        self.latest[0] = seconds_per_byte;
        self.samples = self.samples.saturating_add(1);
    }

    fn seconds_per_byte(&self) -> f64 {
        let mut known = self.latest;
        let count = LATEST.min(usize::try_from(self.samples).unwrap_or(LATEST));
        known[..count].sort_by(f64::total_cmp);
        known[count / 2]
    }
}

/// Way that some bytes go.
#[derive(Debug)]
pub(crate) enum Way {
    /// Through the cache, of which nothing is to be known.
    Small,
    /// Through the cache.
    Cached(Arc<Writing>),
    /// Past it.
    Direct(Bounce),
}

/// Gives turns to those that write to one file. Most file systems let one at a time copy into the
/// cache of a file, and who waits for it spins. Past the cache go several. Waiting here takes no
/// time of a core, and is not timed. (A lock that is fair in the end: where all copy, those that go
/// past the cache would never come in.)
#[derive(Debug, Default, Clone)]
pub(crate) struct Turns(Arc<RwLock<()>>);

/// One of them.
#[derive(Debug)]
pub(crate) enum Turn<'a> {
    /// Nobody is waited for: small writes are over sooner.
    Any,
    /// Beside others that go past the cache.
    Shared(#[expect(dead_code, reason = "held")] RwLockReadGuard<'a, ()>),
    /// Alone.
    Alone(#[expect(dead_code, reason = "held")] RwLockWriteGuard<'a, ()>),
}

impl Turns {
    /// Waits for one. Comes after [`Way::ready`], for a place in memory is not waited for in turn.
    pub(crate) fn wait(&self, way: &Way) -> Turn<'_> {
        match way {
            Way::Small => Turn::Any,
            Way::Cached(_) => Turn::Alone(self.0.write()),
            Way::Direct(_) => Turn::Shared(self.0.read()),
        }
    }
}

impl Way {
    /// Comes before [`Way::write`]. Where that is going to wait for a disk, a thread that has other
    /// things to do is left (`CpuPool::drive` goes on elsewhere), and writes that go past the cache
    /// are waited for.
    pub(crate) async fn ready(&mut self) {
        let Self::Direct(bounce) = self else { return };
        if may_block() {
            tokio::task::yield_now().await;
        }
        bounce.place = Arc::clone(&bounce.of.places.free).acquire_owned().await.ok();
    }

    /// Writes `bytes` that way: past the cache with `direct`, or with `cached` if that fails or is
    /// not the way. `direct` is given a place in memory that begins at a block.
    pub(crate) fn write(
        self,
        bytes: u64,
        direct: impl FnOnce(&mut [u8], usize) -> io::Result<()>,
        cached: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let writing = match self {
            Self::Small => return cached(),
            Self::Cached(writing) => writing,
            Self::Direct(bounce) => match bounce.write(bytes, direct) {
                Ok(()) => return Ok(()),
                Err(Refused::Disk(error)) => return Err(error),
                Err(Refused::Way(writing)) => writing,
            },
        };
        writing.time(false, bytes, cached)
    }
}

impl Default for Writing {
    fn default() -> Self {
        let timed = Mutex::new(Timed {
            cached: Rate::default(),
            direct: Rate::default(),
            since_trial: 0.0,
            trial_bytes_left: 0,
            trial_is_direct: false,
            direct_is_possible: cfg!(target_os = "linux"),
            failures: 0,
        });
        Self { timed, places: Arc::clone(&PLACES) }
    }
}

impl Writing {
    /// Chooses the way of the next `bytes`, which are in so many runs of files. What is soon
    /// `read_again` comes from the disk, if it has gone past the cache.
    pub(crate) fn choose(self: &Arc<Self>, bytes: u64, runs: usize, read_again: bool) -> Way {
        if !are_large(bytes, runs) {
            return Way::Small;
        }
        let mut timed = self.timed();
        let is_direct = timed.choose_direct(bytes, if read_again { 2.0 } else { 1.0 });
        let rate = timed.rate(is_direct);
        rate.chosen = rate.chosen.saturating_add(1);
        if !is_direct {
            return Way::Cached(Arc::clone(self));
        }
        rate.chosen_now += 1;
        drop(timed);
        Way::Direct(Bounce { place: None, is_timed: false, of: Arc::clone(self) })
    }

    /// Times `write` of `bytes`.
    fn time(
        &self,
        is_direct: bool,
        bytes: u64,
        write: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let before = self.timed().begins(is_direct);
        // Who waits for a disk leaves the cores to others; who copies needs one, and waits if they
        // are busy.
        let waited = || if is_direct { waited_for_core() } else { Duration::ZERO };
        let (begun, waited_before) = (Instant::now(), waited());
        let written = write();
        let waited = waited().saturating_sub(waited_before);
        let seconds = begun.elapsed().saturating_sub(waited).as_secs_f64();
        let mut timed = self.timed();
        let after = timed.ends(is_direct);
        if written.is_ok() {
            // As if so many had gone at once all the time.
            let at_once = f64::from(before + after) / 2.0;
            timed.took(is_direct, bytes, seconds / at_once);
        }
        written
    }

    fn timed(&self) -> MutexGuard<'_, Timed> {
        self.timed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn are_large(bytes: u64, runs: usize) -> bool {
    bytes / wide(runs).max(1) >= DIRECT_BYTES_MIN
}

impl Timed {
    /// `handicap`: so many times faster it has to be.
    fn choose_direct(&mut self, bytes: u64, handicap: f64) -> bool {
        if !self.direct_is_possible {
            return false;
        }
        let known = self.cached.samples.min(self.direct.samples);
        if known < SAMPLES_MIN {
            // Many may begin before any has ended.
            let most = self.cached.chosen.min(2 * SAMPLES_MIN);
            return self.direct.chosen < most && bytes <= FIRST_BYTES_MAX;
        }
        let (cached, direct) = (self.cached.seconds_per_byte(), self.direct.seconds_per_byte());
        let direct_is_faster = handicap * direct < cached;
        // As many as go at once, or the slower way would be timed alone, and the faster one in
        // company.
        let at_once = if direct_is_faster { self.direct.chosen_now } else { self.cached.now };
        let writes = at_once.max(TRIAL_WRITES);
        let trial = cached.max(direct) * bytes as f64 * f64::from(writes);
        if self.since_trial > TRIAL_PART * trial {
            self.since_trial = 0.0;
            self.trial_bytes_left = bytes.saturating_mul(writes.into());
            self.trial_is_direct = !direct_is_faster;
        }
        // Not a larger one than it was begun for.
        let Some(left) = self.trial_bytes_left.checked_sub(bytes) else { return direct_is_faster };
        self.trial_bytes_left = left;
        self.trial_is_direct
    }

    fn rate(&mut self, is_direct: bool) -> &mut Rate {
        if is_direct { &mut self.direct } else { &mut self.cached }
    }

    /// Counts a write that begins; returns the number that go that way now, with it.
    fn begins(&mut self, is_direct: bool) -> u32 {
        let rate = self.rate(is_direct);
        rate.now += 1;
        rate.now
    }

    /// Counts a write that ends; returns the number that went that way until now, with it.
    fn ends(&mut self, is_direct: bool) -> u32 {
        let rate = self.rate(is_direct);
        rate.now -= 1;
        rate.now + 1
    }

    fn took(&mut self, is_direct: bool, bytes: u64, seconds: f64) {
        self.rate(is_direct).add(seconds / bytes as f64);
        self.since_trial += seconds;
    }
}

/// A place in memory that a disk can take blocks from.
#[derive(Debug)]
pub(crate) struct Bounce {
    /// One of [`DIRECT_MAX`], once there is one.
    place: Option<OwnedSemaphorePermit>,
    /// It has been written.
    is_timed: bool,
    of: Arc<Writing>,
}

impl Bounce {
    /// If a file system refuses `write`, nothing goes past the cache of this store any more.
    fn write(
        mut self,
        bytes: u64,
        write: impl FnOnce(&mut [u8], usize) -> io::Result<()>,
    ) -> Result<(), Refused> {
        if self.place.is_none() {
            return Err(Refused::Way(Arc::clone(&self.of))); // nobody has waited for one
        }
        let block_bytes = block_bytes();
        let places = Arc::clone(&self.of.places);
        let buffers = || places.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = buffers().pop().unwrap_or_default();
        // Here, so that making its pages is not timed.
        buffer.resize(BOUNCE_BYTES + block_bytes, 0);
        let first = buffer.as_ptr().align_offset(block_bytes).min(block_bytes);
        let place = &mut buffer[first..][..BOUNCE_BYTES];
        let written = self.of.time(true, bytes, || write(place, block_bytes));
        buffers().push(buffer);
        self.is_timed = written.is_ok();
        match written {
            Ok(()) => Ok(()),
            Err(error) if is_of_the_disk(&error) => Err(Refused::Disk(error)),
            Err(error) => {
                // Of what passes, like too many open files, the next write knows nothing.
                let mut timed = self.of.timed();
                timed.failures += 1;
                if is_of_the_file_system(&error) || timed.failures >= FAILURES_MAX {
                    timed.direct_is_possible = false;
                }
                drop(timed);
                Err(Refused::Way(Arc::clone(&self.of)))
            }
        }
    }
}

impl Drop for Bounce {
    fn drop(&mut self) {
        let mut timed = self.of.timed();
        timed.direct.chosen_now -= 1;
        if !self.is_timed {
            timed.direct.chosen = timed.direct.chosen.saturating_sub(1);
        }
    }
}

/// Why a write past the cache has failed.
enum Refused {
    /// Any way of writing would meet that.
    Disk(io::Error),
    /// It cannot be done so.
    Way(Arc<Writing>),
}

#[cfg(target_os = "linux")]
fn is_of_the_disk(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(
        Errno::from_io_error(error),
        Some(Errno::IO | Errno::NOSPC | Errno::DQUOT | Errno::ROFS)
    )
}

#[cfg(not(target_os = "linux"))]
fn is_of_the_disk(_: &io::Error) -> bool {
    false
}

/// It does not write so, or files cannot be opened once more.
fn is_of_the_file_system(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, NotFound, PermissionDenied, Unsupported};
    matches!(error.kind(), InvalidInput | Unsupported | PermissionDenied | NotFound)
}

/// Time that this thread has waited for a core so far, if the system tells.
fn waited_for_core() -> Duration {
    let text = if cfg!(target_os = "linux") {
        std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default()
    } else {
        String::new()
    };
    let waited = text.split(' ').nth(1).and_then(|nanoseconds| nanoseconds.parse().ok());
    waited.map_or(Duration::ZERO, Duration::from_nanos)
}

/// Size of the blocks at which writes past the cache begin and end: whole pages. Any disk takes
/// those, and what others write through the cache beside it is in other pages.
#[cfg(target_os = "linux")]
fn block_bytes() -> usize {
    rustix::param::page_size().clamp(AS_IN_PAGE_BYTES, BOUNCE_BYTES)
}

#[cfg(not(target_os = "linux"))]
fn block_bytes() -> usize {
    BOUNCE_BYTES
}

/// The way past the cache, for tests.
#[cfg(all(test, target_os = "linux"))]
pub(crate) async fn direct_way() -> Way {
    let writing = Arc::new(Writing::default());
    for _ in 0..SAMPLES_MIN {
        writing.timed().took(false, DIRECT_BYTES_MIN, 1.0);
        writing.timed().took(true, DIRECT_BYTES_MIN, 0.001);
    }
    writing.timed().since_trial = 0.0;
    let mut way = writing.choose(DIRECT_BYTES_MIN, 1, false);
    way.ready().await;
    way
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// Bytes of a write in these tests.
    const BYTES: u64 = 1 << 20;

    /// `writes` writes one after the other, where each way takes so many seconds: how many of them
    /// went direct, and the seconds of all.
    fn write(writing: &Arc<Writing>, writes: usize, cached: f64, direct: f64) -> (usize, f64) {
        let (mut directly, mut seconds) = (0, 0.0);
        for _ in 0..writes {
            let mut way = writing.choose(BYTES, 1, false);
            let is_direct = if let Way::Direct(bounce) = &mut way {
                bounce.is_timed = true;
                true
            } else {
                false
            };
            let took = if is_direct { direct } else { cached };
            writing.timed().took(is_direct, BYTES, took);
            directly += usize::from(is_direct);
            seconds += took;
        }
        (directly, seconds)
    }

    fn linux() -> Arc<Writing> {
        let writing = Writing { places: Arc::default(), ..Writing::default() };
        writing.timed().direct_is_possible = true;
        Arc::new(writing)
    }

    #[test]
    fn the_faster_way_is_taken_and_the_slower_one_costs_little() {
        let (directly, seconds) = write(&linux(), 1000, 0.004, 0.001);
        assert!(directly > 950, "{directly}");
        assert!(seconds < 1.1, "{seconds}");
        let (directly, seconds) = write(&linux(), 10_000, 0.000_2, 0.020);
        assert!((3..20).contains(&directly), "{directly}");
        assert!(seconds < 2.0 * 1.1, "{seconds}");
    }

    #[test]
    fn few_of_many_that_begin_at_once_try_the_disk() {
        let writing = linux();
        let ways: Vec<Way> = (0..100).map(|_| writing.choose(BYTES, 1, false)).collect();
        let directly = ways.iter().filter(|way| matches!(way, Way::Direct(_))).count();
        assert_eq!(directly, 6);
    }

    #[test]
    fn what_becomes_slow_is_left() {
        let writing = linux();
        let (directly, _) = write(&writing, 100, 0.000_2, 0.000_5);
        assert!(directly < 10, "{directly}");
        let (directly, _) = write(&writing, 100, 0.003, 0.000_5);
        assert!(directly > 90, "{directly}");
        let (directly, _) = write(&writing, 1000, 0.000_2, 0.000_5);
        assert!(directly < 400, "{directly}");
    }

    #[test]
    fn one_at_a_time_writes_to_a_file_through_the_cache_and_several_past_it() {
        let (writing, turns) = (linux(), Turns::default());
        let ways: Vec<Way> = (0..2).map(|_| writing.choose(BYTES, 1, false)).collect();
        let [cached @ Way::Cached(_), direct @ Way::Direct(_)] = &ways[..] else {
            panic!("{ways:?}");
        };
        let is_free = || turns.0.try_write().is_some();
        let alone = turns.wait(cached);
        assert!(turns.0.try_read().is_none());
        assert!(matches!(turns.wait(&Way::Small), Turn::Any));
        drop(alone);
        let both = [turns.wait(direct), turns.wait(direct)];
        assert!(!is_free());
        drop(both);
        assert!(is_free());
    }

    #[tokio::test]
    async fn small_writes_too_many_at_once_and_disks_that_cannot_go_past_the_cache() {
        let writing = linux();
        assert!(write(&writing, 100, 0.004, 0.001).0 > 80);
        assert!(matches!(writing.choose(DIRECT_BYTES_MIN - 1, 1, false), Way::Small));
        assert!(matches!(writing.choose(BYTES, 9, false), Way::Small));
        let mut ways: Vec<Way> =
            (0..2 * DIRECT_MAX).map(|_| writing.choose(BYTES, 1, false)).collect();
        let all = ways.iter_mut().map(|way| way.ready().now_or_never());
        assert_eq!(all.flatten().count(), DIRECT_MAX);
        drop(ways);
        let mut way = writing.choose(BYTES, 1, false);
        way.ready().await;
        let (mut tried, mut cached) = (false, false);
        let direct = |place: &mut [u8], block_bytes: usize| {
            tried = true;
            assert_eq!(place.as_ptr().align_offset(block_bytes), 0);
            assert_eq!(place.len() % block_bytes, 0);
            Err(io::ErrorKind::InvalidInput.into())
        };
        let through = || {
            cached = true;
            Ok(())
        };
        way.write(BYTES, direct, through).unwrap();
        assert!(tried && cached);
        assert!(matches!(writing.choose(BYTES, 1, false), Way::Cached(_)));
    }
}
