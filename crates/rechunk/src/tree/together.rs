//! Small arrays of a group, some at once where answers take long. Copying one of them is mostly
//! waiting: for who writes it, what is there, its journal and its metadata.

use std::mem;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::stream::{self, StreamExt};
use rechunk_exec::{Event, Observer};
use tokio_util::sync::CancellationToken;

use super::TreeJob;
use super::plans::Figures;
use crate::Error;
use crate::job::{Job, SMALL_MEMBER_BYTES};
use crate::target::open_target;

/// Most arrays that are copied at once.
const AT_ONCE: usize = 16;
/// Most objects that are read and written for an array that is copied beside others.
const SMALL_OBJECTS: u64 = 64;

impl TreeJob {
    /// The arrays in turns, by their numbers: those of one are copied at once, and their planned
    /// peaks together are within the budget. A run that verifies reads back with memory of its own,
    /// one array after the other.
    pub fn turns(&self, verifies: bool) -> Vec<Range<usize>> {
        let target = open_target(&self.request.target, &self.stores);
        let is_late = target.is_ok_and(|target| target.answers_late());
        let budget_bytes = self.request.planning.budget().memory_bytes;
        // What grows is read for what it keeps, and made known with all the others.
        in_turns(self.figures(), budget_bytes, is_late && !self.grows() && !verifies)
    }

    /// The most memory that the arrays of a turn are planned to take together, bytes.
    pub fn planned_peak_bytes(&self, verifies: bool) -> u64 {
        let mut peaks = self.figures().map(|figures| figures.planned_peak_bytes);
        let of_turn =
            |turn: Range<usize>| peaks.by_ref().take(turn.len()).fold(0, u64::saturating_add);
        self.turns(verifies).into_iter().map(of_turn).max().unwrap_or(0)
    }
}

fn in_turns(
    arrays: impl Iterator<Item = Figures>,
    budget_bytes: u64,
    is_late: bool,
) -> Vec<Range<usize>> {
    let mut turns: Vec<Range<usize>> = Vec::new();
    let mut left_bytes = 0;
    for (number, array) in arrays.enumerate() {
        let is_small = is_late && array.is_small();
        let peak_bytes = array.planned_peak_bytes;
        match turns.last_mut() {
            Some(turn) if is_small && turn.len() < AT_ONCE && peak_bytes <= left_bytes => {
                turn.end += 1;
                left_bytes -= peak_bytes;
            }
            _ => {
                turns.push(number..number + 1);
                left_bytes = if is_small { budget_bytes.saturating_sub(peak_bytes) } else { 0 };
            }
        }
    }
    turns
}

impl Figures {
    /// It is soon copied, by few requests.
    pub(super) fn is_small(&self) -> bool {
        self.array_bytes <= SMALL_MEMBER_BYTES && self.objects <= SMALL_OBJECTS
    }
}

/// Leaves an array that is copied beside others only the memory that it is planned to take. The
/// rest of the budget, for reading ahead, is not each one's.
pub(super) fn share_budget(job: &mut Job) {
    let memory = &mut job.planned.plan.memory;
    memory.budget_bytes = memory.planned_peak_bytes;
}

/// Makes copies at once, each with what is told before it and the path of its array. Their results
/// come in that order, as if one had been made after the other: of failures the first is returned,
/// and the others are ended; what happened to these is told all the same, as what they have written
/// stays.
pub(super) async fn at_once<T, F>(
    copies: impl Iterator<Item = (Event, String, F)>,
    observer: &Arc<dyn Observer>,
    cancel: &CancellationToken,
) -> Result<Vec<(String, T)>, Error>
where
    F: AsyncFnOnce(Arc<dyn Observer>, CancellationToken) -> Result<T, Error>,
{
    let stop = cancel.child_token();
    let (told, copies): (Vec<_>, Vec<_>) = copies
        .map(|(event, path, copy)| {
            let observer = InOrder::new(observer);
            let copy = copy(Arc::clone(&observer) as _, stop.clone());
            ((event, path, observer), copy)
        })
        .unzip();
    let count = copies.len();
    let mut copies = stream::iter(copies).buffered(count);
    let mut copied = Vec::with_capacity(count);
    let mut failed = None;
    for (event, path, observer) in told {
        observer.tell(&event);
        match copies.next().await {
            Some(Ok(done)) => copied.push((path, done)),
            Some(Err(error)) if failed.is_none() => {
                stop.cancel(); // who has not ended gives his target up
                failed = Some(error.of_member(&path));
            }
            Some(Err(_)) | None => {}
        }
    }
    failed.map_or(Ok(copied), Err)
}

/// Tells what happens to an array when it is that one's turn to be spoken of.
struct InOrder {
    inner: Arc<dyn Observer>,
    /// Events that wait for the array's turn.
    held: Mutex<Option<Vec<Event>>>,
}

impl InOrder {
    fn new(inner: &Arc<dyn Observer>) -> Arc<Self> {
        Arc::new(Self { inner: Arc::clone(inner), held: Mutex::new(Some(Vec::new())) })
    }

    /// Tells what has happened, behind `first`, and from now on what happens.
    fn tell(&self, first: &Event) {
        // What happens meanwhile waits, and is told behind that.
        let mut held = self.held();
        self.inner.event(first);
        for event in mem::take(&mut *held).unwrap_or_default() {
            self.inner.event(&event);
        }
    }

    fn held(&self) -> MutexGuard<'_, Option<Vec<Event>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for InOrder {
    fn event(&self, event: &Event) {
        let mut held = self.held();
        if let Some(held) = &mut *held {
            held.push(event.clone());
            return;
        }
        drop(held);
        self.inner.event(event);
    }
}
