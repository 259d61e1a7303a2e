//! A note of the process that does a part, for those who look at the job.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rechunk_exec::Observer;
use rechunk_store::{Holder, Store};
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use super::marks::{Busy, Marks};
use crate::Error;
use crate::count_tasks::CountTasks;
use crate::saved_job::SavedJob;
use crate::work_dir::WorkDir;

/// Key of the note.
const WORKER: &str = "worker";
/// Time between two notes.
const BEAT: Duration = Duration::from_secs(10);
const NOTE_BYTES_MAX: u64 = 64 << 10;

/// A process that does a part, and its progress.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Note {
    pub holder: Holder,
    /// Tasks of the share that this process has done.
    pub done: u64,
    /// Seconds for which it works.
    pub seconds: f64,
}

/// Keeps the note of this process while it does a part.
pub(super) struct Worker {
    counting: Arc<CountTasks>,
    store: Store,
    noting: JoinHandle<()>,
}

impl Worker {
    pub(super) fn begin(busy: &Busy, inner: Arc<dyn Observer>) -> Self {
        let counting = Arc::new(CountTasks::new(inner));
        let noting = tokio::spawn(keep_note(busy.store.clone(), Arc::clone(&counting)));
        Self { counting, store: busy.store.clone(), noting }
    }

    pub(super) fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.counting) as _
    }

    /// Takes the note away. That it cannot be hides nothing.
    pub(super) async fn end(self) {
        self.noting.abort();
        let _ = self.noting.await;
        let _ = self.store.delete(WORKER).await;
    }
}

/// Writes the note until it is told to end.
async fn keep_note(store: Store, counting: Arc<CountTasks>) {
    #[expect(clippy::disallowed_methods, reason = "a note says how long it works")]
    let started = Instant::now();
    let holder = Holder::this();
    let mut beats = interval(BEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        beats.tick().await;
        let note = Note {
            holder: holder.clone(),
            done: counting.done_now(),
            seconds: started.elapsed().as_secs_f64(),
        };
        if let Ok(bytes) = serde_json::to_vec(&note)
            && let Err(error) = store.put(WORKER, vec![bytes.into()]).await
        {
            tracing::info!(%error, "the note of this part could not be written");
        }
    }
}

impl Busy {
    /// Reads who does it, and the seconds since that process was heard of, by the clock of this
    /// machine; `None` if nobody says.
    pub(super) async fn worker(&self) -> Option<(Note, u64)> {
        let bytes = self.store.get(WORKER, NOTE_BYTES_MAX).await.ok().flatten()?;
        let note = serde_json::from_slice(&bytes).ok()?;
        let at = self.store.modified(WORKER).await.ok().flatten()?;
        #[expect(clippy::disallowed_methods, reason = "that is the question")]
        let silent = SystemTime::now().duration_since(at).unwrap_or_default();
        Some((note, silent.as_secs()))
    }
}

/// The process that does a part of the job and was heard of lately, if there is one.
pub(crate) async fn live_worker(
    work: &WorkDir,
    saved: &SavedJob,
) -> Result<Option<(Holder, u64)>, Error> {
    let Some(name) = &saved.parts else { return Ok(None) };
    for busy in Marks::of(work, name)?.busy().await? {
        if let Some((note, silent)) = busy.worker().await
            && note.holder.is_live(silent)
        {
            return Ok(Some((note.holder, silent)));
        }
    }
    Ok(None)
}
