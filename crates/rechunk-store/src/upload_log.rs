//! An object that is written piece by piece to a store that takes objects in parts. Its parts are
//! sent as they become full, so that memory does not grow with the object.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::try_join_all;
use tokio::sync::{Mutex, MutexGuard, Notify};
use tokio::task::JoinSet;

use crate::multipart::Multipart;
use crate::upload::Upload;
use crate::{Store, StoreError};

/// The log. Pieces are taken in the order of their offsets, whoever comes first.
#[derive(Debug)]
pub(crate) struct UploadLog {
    store: Store,
    multipart: Multipart,
    key: String,
    /// Bytes at the start that are written last.
    head_bytes: usize,
    part_bytes: usize,
    state: Mutex<State>,
    /// A piece has been taken, or has failed.
    moved: Notify,
}

#[derive(Debug)]
struct State {
    /// Offset of the next piece.
    end: u64,
    /// A piece was not taken whole: nothing behind it can be.
    is_broken: bool,
    /// The parts in which the head lies, which is zero until it is known.
    held: Vec<u8>,
    has_head: bool,
    /// The part that is being filled.
    part: Vec<u8>,
    /// Its number.
    number: usize,
    upload: Option<Arc<Upload>>,
    /// The part on its way; gives its buffer back.
    sending: JoinSet<Result<Bytes, StoreError>>,
}

/// Wakes those who wait for their turn, also if a future is dropped in the middle.
struct WakeOthers<'a>(&'a Notify);

impl Drop for WakeOthers<'_> {
    fn drop(&mut self) {
        self.0.notify_waiters();
    }
}

impl UploadLog {
    /// A log at `key` whose first `head_bytes` are written last. Nothing is sent.
    pub(crate) fn new(store: &Store, multipart: &Multipart, key: &str, head_bytes: u64) -> Self {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let (head_bytes, part_bytes) =
            (size(head_bytes), size(multipart.sizes.log_part_bytes).max(1));
        let state = State {
            end: u64::try_from(head_bytes).unwrap_or(u64::MAX),
            is_broken: false,
            held: Vec::new(),
            has_head: head_bytes == 0,
            part: Vec::new(),
            number: head_bytes.div_ceil(part_bytes),
            upload: None,
            sending: JoinSet::new(),
        };
        Self {
            store: store.clone(),
            multipart: multipart.clone(),
            key: key.to_owned(),
            head_bytes,
            part_bytes,
            state: Mutex::new(state),
            moved: Notify::new(),
        }
    }

    /// Adds `bytes` at `offset`, when all that lies before has been added; or the head.
    pub(crate) async fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), StoreError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let _wake = WakeOthers(&self.moved); // after the lock is free
        if offset == 0 && self.head_bytes > 0 {
            let mut state = self.state.lock().await;
            self.make_held(&mut state)?;
            let Some(head) = state.held.get_mut(..bytes.len()) else {
                return Err(self.broken(offset));
            };
            head.copy_from_slice(bytes);
            state.has_head = bytes.len() == self.head_bytes;
            return Ok(());
        }
        let mut state = self.turn(offset).await?;
        state.is_broken = true; // until it is whole
        match self.append(&mut state, bytes).await {
            Ok(()) => {
                state.end += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                state.is_broken = false;
                Ok(())
            }
            Err(error) => {
                give_up(&mut state).await;
                Err(error)
            }
        }
    }

    /// Waits until the log ends at `offset`.
    async fn turn(&self, offset: u64) -> Result<MutexGuard<'_, State>, StoreError> {
        loop {
            let mut moved = std::pin::pin!(self.moved.notified());
            moved.as_mut().enable();
            {
                let state = self.state.lock().await;
                if state.is_broken || offset < state.end {
                    return Err(self.broken(offset));
                }
                if state.end == offset {
                    return Ok(state);
                }
            }
            moved.await;
        }
    }

    async fn append(&self, state: &mut State, bytes: &[u8]) -> Result<(), StoreError> {
        let mut rest = bytes;
        if self.head_bytes > 0 {
            self.make_held(state)?;
            rest = fill(&mut state.held, self.held_bytes(), rest);
        }
        while !rest.is_empty() {
            // A full one waits for what follows: the last part may be the only one.
            if state.part.len() == self.part_bytes {
                self.send(state).await?;
            }
            if state.part.capacity() < self.part_bytes {
                state.part = self.buffer(self.part_bytes)?;
            }
            rest = fill(&mut state.part, self.part_bytes, rest);
        }
        Ok(())
    }

    /// Bytes of the parts in which the head lies.
    fn held_bytes(&self) -> usize {
        self.head_bytes.div_ceil(self.part_bytes).saturating_mul(self.part_bytes)
    }

    fn make_held(&self, state: &mut State) -> Result<(), StoreError> {
        if state.held.is_empty() {
            state.held = self.buffer(self.held_bytes())?;
            state.held.resize(self.head_bytes, 0);
        }
        Ok(())
    }

    fn buffer(&self, bytes: usize) -> Result<Vec<u8>, StoreError> {
        let mut buffer = Vec::new();
        let wanted_bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let got = buffer.try_reserve_exact(bytes);
        got.map(|()| buffer).map_err(|_| self.store.view.short(&self.key, wanted_bytes, 0))
    }

    /// Sends the part that was filled, when the one before has arrived, whose buffer is the next.
    async fn send(&self, state: &mut State) -> Result<(), StoreError> {
        let upload = self.upload(state).await?;
        if let Some(sent) = state.sending.join_next().await {
            let sent = self.joined(sent)?;
            let filled = std::mem::take(&mut state.part);
            if sent.is_unique() {
                state.part = Vec::from(sent);
                state.part.clear();
            }
            start(state, upload, filled);
        } else {
            let filled = std::mem::take(&mut state.part);
            start(state, upload, filled);
        }
        Ok(())
    }

    async fn upload(&self, state: &mut State) -> Result<Arc<Upload>, StoreError> {
        if let Some(upload) = &state.upload {
            return Ok(Arc::clone(upload));
        }
        let upload = Upload::begin(&self.store, &self.multipart, &self.key).await?;
        state.upload = Some(Arc::clone(&upload));
        Ok(upload)
    }

    /// Makes the object of `bytes` bytes visible.
    pub(crate) async fn finish(&self, bytes: u64) -> Result<(), StoreError> {
        let _wake = WakeOthers(&self.moved);
        let mut state = self.state.lock().await;
        if state.is_broken || !state.has_head || state.end != bytes {
            let end = state.end;
            give_up(&mut state).await;
            return Err(self.store.view.short(&self.key, bytes, end));
        }
        state.is_broken = true; // it is not finished twice
        let is_one_part = state.held.len() + state.part.len() <= self.part_bytes;
        if state.upload.is_none() && is_one_part {
            let (held, part) = (std::mem::take(&mut state.held), std::mem::take(&mut state.part));
            let pieces = [held, part].map(Bytes::from).into_iter();
            let payload = pieces.filter(|piece| !piece.is_empty()).collect();
            return self.store.put_whole(&self.key, payload).await;
        }
        let finished = self.finish_upload(&mut state, bytes).await;
        if finished.is_err() {
            give_up(&mut state).await;
        }
        finished
    }

    async fn finish_upload(&self, state: &mut State, bytes: u64) -> Result<(), StoreError> {
        let upload = self.upload(state).await?;
        if !state.part.is_empty() {
            let filled = std::mem::take(&mut state.part);
            start(state, Arc::clone(&upload), filled);
        }
        let held = Bytes::from(std::mem::take(&mut state.held));
        let starts = (0..held.len()).step_by(self.part_bytes);
        let first = starts.enumerate().map(|(number, start)| {
            let end = start.saturating_add(self.part_bytes).min(held.len());
            upload.put_part(number, held.slice(start..end).into())
        });
        try_join_all(first).await?;
        while let Some(sent) = state.sending.join_next().await {
            self.joined(sent)?;
        }
        upload.complete(bytes).await
    }

    fn joined(
        &self,
        sent: Result<Result<Bytes, StoreError>, tokio::task::JoinError>,
    ) -> Result<Bytes, StoreError> {
        sent.unwrap_or_else(|error| {
            Err(StoreError::Failed {
                location: self.store.label().to_owned(),
                key: self.key.clone(),
                action: "write a part of",
                source: Box::new(error),
            })
        })
    }

    /// Error of a piece before which bytes are missing, or whose place is written already.
    fn broken(&self, offset: u64) -> StoreError {
        let reason = format!("what lies before byte {offset} has not been written");
        StoreError::Failed {
            location: self.store.label().to_owned(),
            key: self.key.clone(),
            action: "write",
            source: reason.into(),
        }
    }
}

/// Sends `filled` as the next part.
fn start(state: &mut State, upload: Arc<Upload>, filled: Vec<u8>) {
    let (number, bytes) = (state.number, Bytes::from(filled));
    state.number += 1;
    state.sending.spawn(async move {
        upload.put_part(number, bytes.clone().into()).await?;
        Ok(bytes)
    });
}

/// Ends what is on its way and gives the upload up, if one was begun.
async fn give_up(state: &mut State) {
    state.is_broken = true;
    state.sending.shutdown().await;
    if let Some(upload) = state.upload.take() {
        upload.abort().await;
    }
}

/// Adds as much of `bytes` to `buffer` as makes it `full_bytes` long; the rest.
fn fill<'a>(buffer: &mut Vec<u8>, full_bytes: usize, bytes: &'a [u8]) -> &'a [u8] {
    let room = full_bytes.saturating_sub(buffer.len()).min(bytes.len());
    let (now, rest) = bytes.split_at(room);
    buffer.extend_from_slice(now);
    rest
}
