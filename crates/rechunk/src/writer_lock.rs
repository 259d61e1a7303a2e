//! Right to write a target: one run at a time.

use rechunk_store::{AppendFile, Holder, Lease};
use tokio_util::sync::CancellationToken;

use crate::error::store_error;
use crate::part_hold::PartHold;
use crate::{Error, Remedy};

/// The right to write a target, until it is dropped or lost.
#[derive(Debug)]
pub(crate) enum WriterLock {
    /// The system keeps it while this process lives.
    File(Box<AppendFile>),
    /// It has to be kept up.
    Lease(Box<Lease>),
    /// Others have it too, each for a part.
    Part(Box<PartHold>),
}

impl WriterLock {
    /// Triggered when another run has taken it; never where the system keeps it.
    pub(crate) fn lost(&self) -> CancellationToken {
        match self {
            Self::File(_) => CancellationToken::new(),
            Self::Lease(lease) => lease.lost().clone(),
            Self::Part(hold) => hold.lost(),
        }
    }

    /// Does `work` until another run has taken the target: what it is about to delete may be that
    /// one's by then. The lock is not to be given up meanwhile.
    pub(crate) async fn while_held<T>(
        &self,
        target: &str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::select! {
            biased;
            () = self.lost().cancelled_owned() => Err(lost(target)),
            done = work => done,
        }
    }

    /// Refuses to go on if another run has taken the lock, or somebody has removed it. What this
    /// run has written may then be gone as well; asked before what cannot be undone.
    pub(crate) async fn check(&self, target: &str) -> Result<(), Error> {
        let failed = |source| store_error("look at the lock of", target, source);
        match self {
            Self::File(file) if file.is_there().await.map_err(failed)? => Ok(()),
            Self::File(_) => Err(removed(target)),
            Self::Lease(lease) if lease.check().await.map_err(failed)? => Ok(()),
            Self::Part(hold) if hold.check().await.map_err(failed)? => Ok(()),
            Self::Lease(_) | Self::Part(_) => Err(lost(target)),
        }
    }
}

/// Another run has taken the target from this one.
pub(crate) fn lost(target: &str) -> Error {
    Error::Conflict {
        location: target.to_owned(),
        reason: "was taken over by another run, because nothing was heard of this one for a while"
            .to_owned(),
        hint: Some("what this run has done is not lost: the other one goes on with it".into()),
    }
}

/// The lock was removed from beside the target while this run wrote that.
fn removed(target: &str) -> Error {
    Error::Conflict {
        location: target.to_owned(),
        reason: "is no longer this run's: its directory, TARGET.rechunk, was removed or replaced while it \
                 ran"
            .to_owned(),
        hint: Some(
            "what is there may not be whole: unless another run writes it now, remove it and copy again"
                .into(),
        ),
    }
}

/// Another run writes the target.
pub(crate) fn held_by(target: &str, holder: (Holder, Option<u64>)) -> Error {
    held(target, Some(holder))
}

/// Another run writes the target: who, if that is known, and how many seconds ago he was heard of.
pub(crate) fn held(target: &str, holder: Option<(Holder, Option<u64>)>) -> Error {
    let who = match holder {
        Some((holder, seconds)) => {
            let heard = seconds.map_or(String::new(), |s| format!(", last heard of {s} s ago"));
            format!("another process ({} on {}{heard})", holder.pid, holder.host)
        }
        None => "another process".to_owned(),
    };
    Error::Conflict {
        location: target.to_owned(),
        reason: format!("is being written by {who}"),
        hint: Some(Remedy::WaitOrResume),
    }
}
