//! Does something at exactly the n-th request: a fault, a halt, a callback.

use std::fmt;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::log::lock;
use crate::{Fault, Filter, RequestRecord};

/// Point on its way at which a request is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It was received whole, with its body, and is not executed yet.
    Before,
    /// It was executed, or a fault stood before that, and nothing of the answer was sent yet.
    After,
}

type Callback = Box<dyn FnOnce(&RequestRecord) + Send>;

/// Action when a request gets to a moment.
pub(crate) enum Halt {
    Hold { reached: mpsc::Sender<RequestRecord>, outcome: oneshot::Receiver<Outcome> },
    Call(Callback),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    GoOn,
    Abandon,
}

impl fmt::Debug for Halt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Hold { .. } => "Hold",
            Self::Call(_) => "Call",
        })
    }
}

impl Halt {
    /// Does it, and waits until it is done. A hold that was dropped lets the request go on.
    pub(crate) async fn meet(self, request: RequestRecord) -> Outcome {
        match self {
            Self::Hold { reached, outcome } => {
                // If nobody waits any more the outcome's sender is gone too, and the request goes
                // on.
                reached.send(request).unwrap_or_default();
                outcome.await.unwrap_or(Outcome::GoOn)
            }
            Self::Call(callback) => {
                // A callback may wait or kill; that is not for the threads that serve others.
                match tokio::task::spawn_blocking(move || callback(&request)).await {
                    Ok(()) => Outcome::GoOn,
                    Err(_) => Outcome::Abandon,
                }
            }
        }
    }
}

/// A request that is to be held: made by `hold_nth`. Dropped, it lets the request go on.
#[derive(Debug)]
pub struct Hold {
    reached: mpsc::Receiver<RequestRecord>,
    outcome: oneshot::Sender<Outcome>,
}

impl Hold {
    /// Waits until the request is held, and says which it is; `None` if it did not come in time.
    pub fn wait(&self, timeout: Duration) -> Option<RequestRecord> {
        self.reached.recv_timeout(timeout).ok()
    }

    /// Lets the request go on.
    pub fn release(self) {
        self.outcome.send(Outcome::GoOn).unwrap_or_default();
    }

    /// Resets its connection: before its execution it is never executed, after it its answer is
    /// lost. For a client that was killed meanwhile this is certain, where `release` is a race
    /// against the news of its death.
    pub fn abandon(self) {
        self.outcome.send(Outcome::Abandon).unwrap_or_default();
    }
}

#[derive(Debug)]
enum Action {
    Fail(Fault),
    Halt(Moment, Halt),
}

#[derive(Debug)]
struct Nth {
    filter: Filter,
    remaining: u64,
    action: Action,
}

/// Hooks that wait for their requests.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    waiting: Mutex<Vec<Nth>>,
}

/// Hooks that were waiting for this very request. Those whose moment does not come, as its client
/// has gone away, wait for the next one.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) fault: Option<Fault>,
    halts: Vec<(Filter, Moment, Halt)>,
    hooks: Arc<Hooks>,
}

impl Due {
    /// True if something happens at a moment of the request.
    pub(crate) fn is_met(&self) -> bool {
        !self.halts.is_empty()
    }

    /// Takes what happens at `moment`, which has come.
    pub(crate) fn take(&mut self, moment: Moment) -> Vec<Halt> {
        let due = self.halts.extract_if(.., |(_, when, _)| *when == moment);
        due.map(|(.., halt)| halt).collect()
    }
}

impl Drop for Due {
    fn drop(&mut self) {
        for (filter, moment, halt) in self.halts.drain(..) {
            self.hooks.add(filter, 1, Action::Halt(moment, halt));
        }
    }
}

impl Hooks {
    pub(crate) fn fail(&self, filter: Filter, nth: u64, fault: Fault) {
        self.add(filter, nth, Action::Fail(fault));
    }

    pub(crate) fn hold(&self, filter: Filter, nth: u64, moment: Moment) -> Hold {
        let (reached_sender, reached) = mpsc::channel();
        let (outcome, outcome_receiver) = oneshot::channel();
        let halt = Halt::Hold { reached: reached_sender, outcome: outcome_receiver };
        self.add(filter, nth, Action::Halt(moment, halt));
        Hold { reached, outcome }
    }

    pub(crate) fn call(&self, filter: Filter, nth: u64, moment: Moment, callback: Callback) {
        self.add(filter, nth, Action::Halt(moment, Halt::Call(callback)));
    }

    fn add(&self, filter: Filter, nth: u64, action: Action) {
        lock(&self.waiting).push(Nth { filter, remaining: nth.max(1), action });
    }

    pub(crate) fn clear(&self) {
        lock(&self.waiting).clear();
    }

    /// Counts the request, and takes what waited for it.
    pub(crate) fn arrive(self: &Arc<Self>, request: &RequestRecord) -> Due {
        let mut due = Due { fault: None, halts: Vec::new(), hooks: Arc::clone(self) };
        let mut waiting = lock(&self.waiting);
        for nth in waiting.iter_mut().filter(|nth| nth.filter.matches(request)) {
            nth.remaining -= 1;
        }
        for nth in waiting.extract_if(.., |nth| nth.remaining == 0) {
            match nth.action {
                Action::Fail(fault) => due.fault = due.fault.or(Some(fault)),
                Action::Halt(moment, halt) => due.halts.push((nth.filter, moment, halt)),
            }
        }
        due
    }
}
