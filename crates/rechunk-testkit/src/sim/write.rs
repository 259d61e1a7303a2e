//! Puts and deletes.

use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, Extensions, PutMode, PutOptions, PutPayload, PutResult, Result};

use super::client::Call;
use super::disk::{Condition, Refusal, Write};
use super::faults::{Fate, no_space, said, timed_out};
use super::{Dice, SimClient, SimFaults};

impl SimClient {
    pub(super) async fn put_object(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let condition = match options.mode {
            PutMode::Overwrite => Condition::Always,
            PutMode::Create => Condition::Absent,
            PutMode::Update(version) => Condition::Is(version.e_tag),
        };
        // Its own memory, so that the buffer can be used again as with a real store.
        let parts: Vec<u8> = payload.iter().flat_map(|part| part.iter().copied()).collect();
        drop(payload);
        let key = location.to_string();
        let write = Write { key, bytes: Some(Bytes::from(parts)), condition };
        let call = self.begin("put", &write.key, fate(&write.key)).await;
        if self.plants(&write).await {
            self.end(call).await;
            return Ok(put_result(0));
        }
        let e_tag = self.write(call, &write).await?;
        Ok(put_result(e_tag))
    }

    /// A planted bug does the write.
    async fn plants(&self, write: &Write) -> bool {
        let is_data = matches!(write.condition, Condition::Always);
        let tears = {
            let mut state = self.store.lock();
            if is_data && state.answers_early {
                state.write_later(write.clone());
                return true;
            }
            is_data && state.tears
        };
        if tears && let Some(bytes) = &write.bytes {
            let half = Write { bytes: Some(bytes.slice(..bytes.len() / 2)), ..write.clone() };
            let _ = self.store.lock().write(self.number, &half);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        false
    }

    pub(super) async fn delete_object(&self, location: Path) -> Result<Path> {
        let write = Write { key: location.to_string(), bytes: None, condition: Condition::Always };
        let call = self.begin("delete", &write.key, fate(&write.key)).await;
        match self.write(call, &write).await {
            // Deleting what is not there is no error in S3.
            Ok(_) | Err(Error::NotFound { .. }) => Ok(location),
            Err(error) => Err(error),
        }
    }

    /// Does a write, or what has become of it. The tag of the new object.
    async fn write(&self, call: Call, write: &Write) -> Result<u64> {
        let fate = match call.fate {
            Fate::Refused => return self.refuse(call).await,
            // What is full can still delete.
            Fate::Full if write.bytes.is_some() => return self.fail(call, no_space()).await,
            fate => fate,
        };
        let outcome = {
            let mut state = self.store.lock();
            if matches!(fate, Fate::Late | Fate::Twice) {
                state.write_later(write.clone());
            }
            if fate == Fate::Late {
                None
            } else {
                let outcome = state.write(self.number, write);
                state.note(self.number, "written", &write.key, &outcome);
                Some(outcome)
            }
        };
        match outcome {
            Some(outcome) if fate != Fate::AnswerLost => {
                self.end(call).await;
                outcome.map_err(|refusal| refused(refusal, &write.key))
            }
            _ => self.fail(call, timed_out()).await,
        }
    }
}

/// Decides the fate of a write to `key`.
fn fate(key: &str) -> impl FnOnce(&SimFaults, &mut Dice, u64) -> Fate {
    move |faults, dice, calls| faults.of_write(dice, key, calls)
}

fn refused(refusal: Refusal, key: &str) -> Error {
    let (path, source) = (key.to_owned(), said("simulated"));
    match refusal {
        Refusal::Exists => Error::AlreadyExists { path, source },
        Refusal::Precondition => Error::Precondition { path, source },
        Refusal::NotFound => Error::NotFound { path, source },
    }
}

fn put_result(e_tag: u64) -> PutResult {
    PutResult { e_tag: Some(e_tag.to_string()), version: None, extensions: Extensions::default() }
}
