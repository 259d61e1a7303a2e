//! The way of a target chunk: it is put together, encoded and stored, or compared.

use std::sync::Arc;

use bytes::Bytes;
use rechunk_format::variable::{self, SLOT_BYTES};
use rechunk_kernel::{Digest, wide};
use rechunk_store::Role;

use super::account::{Account, Held};
use super::assembly;
use super::read::{Decoder, Fetched, fetch};
use super::state::{VariableState, codecs};
use super::work::{Lack, Outcome, Unit, Work};
use crate::Fault;
use crate::stage::task::TaskRun;
use crate::stage::way_out::WayOut;
use crate::ways_out::target::store;

/// Sending of target chunks.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    pub task: Arc<TaskRun>,
    pub state: Arc<VariableState>,
    pub account: Arc<Account>,
}

/// A target chunk, ready for its store.
enum Encoded {
    Bytes(Bytes, Held),
    /// It is left out.
    Nothing,
    NoRoom(Unit, Lack),
}

impl Sender {
    /// Sends a target chunk. `is_alone`: nothing else of the task is under way.
    pub(super) async fn send(self, unit: Unit, is_alone: bool) -> Result<Outcome, Fault> {
        match self.task.stage.way_out {
            WayOut::Write => self.write(unit).await,
            WayOut::Compare => self.compare(unit, is_alone).await,
            WayOut::Nothing | WayOut::Pieces => {
                let job = self.clone();
                let index = unit.index.clone();
                let region = unit.region.clone();
                let digest = self.task.stage.cpu.run(move || job.digest(&unit)).await?;
                self.task.digest.add(digest);
                self.task.stage.progress(&region);
                Ok(Outcome::Sent(index))
            }
        }
    }

    fn digest(&self, unit: &Unit) -> Result<Digest, Fault> {
        let source = self.task.stage.run.execution.source.layout();
        let fill = assembly::fill_of(source.as_ref());
        assembly::digest(&self.task.stage.digest, unit, &fill)
    }

    async fn write(self, unit: Unit) -> Result<Outcome, Fault> {
        let stage = Arc::clone(&self.task.stage);
        let (index, region) = (unit.index.clone(), unit.region.clone());
        let job = self.clone();
        let encoding = move || {
            let digest = job.digest(&unit)?;
            Ok((digest, job.encode(unit)?))
        };
        let (digest, encoded) = stage.cpu.run(encoding).await?;
        let (bytes, _held) = match encoded {
            Encoded::Bytes(bytes, held) => (Some(bytes), Some(held)),
            Encoded::Nothing => (None, None),
            Encoded::NoRoom(unit, lack) => return Ok(Outcome::NoRoom(Work::Send(unit), lack)),
        };
        let meter = stage.target().store().meter();
        meter.add_decoded_written(Role::Target, stage.target_chunk_bytes());
        store(&self.task, &index, bytes).await?;
        self.task.digest.add(digest);
        stage.progress(&region);
        Ok(Outcome::Sent(index))
    }

    /// Puts a target chunk together and encodes it.
    fn encode(&self, mut unit: Unit) -> Result<Encoded, Fault> {
        let stage = &self.task.stage;
        let target = stage.target();
        let fill = assembly::fill_of(target.layout().as_ref());
        let source_fill = assembly::fill_of(stage.run.execution.source.layout().as_ref());
        let is_absent = unit.parts.iter().all(|part| part.part.body.is_none());
        let may_skip = stage.skips_stored || stage.skips_absent && is_absent;
        if may_skip && source_fill == fill && assembly::is_all(&unit, &fill) {
            return Ok(Encoded::Nothing);
        }
        let index = unit.index.clone();
        let fault = |error| Fault::Target(target.decode_error(&index, error));
        let chunk = stage.geometry.output_grid().chunk(&index);
        let parts = assembly::parts_of(&mut unit);
        let stream_bytes = variable::assembled_bytes(&parts, chunk.elements(), &source_fill);
        let slots = chunk.elements().saturating_mul(SLOT_BYTES);
        let variable = codecs(target.layout().as_ref())?;
        let cost = variable.cost(stream_bytes).map_err(fault)?;
        let encoded_bytes = cost.encoded_bytes_max.saturating_add(cost.encode_workspace_bytes);
        // Where elements are is forgotten before they are encoded.
        let needed = stream_bytes.saturating_add(slots.max(encoded_bytes));
        let Some(mut held) = self.account.take(needed) else {
            let lack = Lack::of(needed, self.account.available());
            for (own, part) in unit.parts.iter_mut().zip(parts) {
                own.part = part;
            }
            return Ok(Encoded::NoRoom(unit, lack));
        };
        let order = target.layout().element_order();
        // Elements that no source has a chunk for read as its fill value; so does the padding.
        let stream = variable::assemble(&chunk, order, &parts, &source_fill);
        let stream = stream.ok_or_else(|| {
            let reason = format!("{stream_bytes} bytes of elements, too many for one chunk");
            let codec = variable.kind().codec();
            fault(rechunk_format::FormatError::Encode { codec, reason })
        })?;
        drop(parts);
        let mut encoded = Vec::new();
        variable.encode(&stream, &mut encoded).map_err(fault)?;
        drop(stream);
        encoded.shrink_to_fit();
        held.shrink(wide(encoded.len()));
        Ok(Encoded::Bytes(Bytes::from(encoded), held))
    }

    async fn compare(self, unit: Unit, is_alone: bool) -> Result<Outcome, Fault> {
        let stage = Arc::clone(&self.task.stage);
        let other = stage.target().clone();
        let limit = (!is_alone).then_some(self.state.encoded_bytes[1]);
        let shard = other.layout().shards().map(|format| {
            let shard = self.task.shards.of_chunk(&stage, format, &unit.index);
            shard.map(|shard| (shard, format.clone()))
        });
        let shard = shard.transpose().map_err(Fault::Target)?;
        let fetched = match &shard {
            Some((shard, format)) => {
                let entry = shard.entry(&other, format, &unit.index).await;
                if let Some(entry) = entry.map_err(Fault::Target)? {
                    fetch(&other, &unit.index, Some(entry), &self.account, limit).await
                } else {
                    other.store().meter().add_gets_missing(Role::Target, 1);
                    Ok(Fetched::Missing)
                }
            }
            None => fetch(&other, &unit.index, None, &self.account, limit).await,
        };
        let found = match fetched.map_err(Fault::Target)? {
            Fetched::Bytes(bytes, held) => Some((bytes, held)),
            Fetched::Missing => None,
            Fetched::NoRoom(lack) => return Ok(Outcome::NoRoom(Work::Send(unit), lack)),
        };
        let (index, region) = (unit.index.clone(), unit.region.clone());
        let job = self.clone();
        let compared = stage
            .cpu
            .run(move || {
                let lack = job.compare_with(&unit, found.as_ref(), is_alone)?;
                Ok(lack.map(|lack| (unit, lack)))
            })
            .await?;
        if let Some((unit, lack)) = compared {
            return Ok(Outcome::NoRoom(Work::Send(unit), lack));
        }
        if let Some((shard, _)) = &shard {
            self.task.shards.done(&stage, shard).await?;
        }
        other.store().meter().add_decoded_read(Role::Target, stage.target_chunk_bytes());
        stage.progress(&region);
        Ok(Outcome::Sent(index))
    }

    /// Compares a unit with what was found. Returns the memory that there was not.
    fn compare_with(
        &self,
        unit: &Unit,
        found: Option<&(Bytes, Held)>,
        is_alone: bool,
    ) -> Result<Option<Lack>, Fault> {
        let stage = &self.task.stage;
        let other = stage.target();
        let layout = other.layout();
        let expected = (!is_alone).then_some(self.state.expected_bytes[1]);
        let decoder = Decoder { array: other, account: &self.account, expected };
        let grid = stage.geometry.output_grid();
        let elements = grid.chunk(&unit.index).elements();
        let decoded = match found {
            Some((bytes, _)) => {
                let decoded = decoder.decode(&unit.index, bytes, elements);
                match decoded.map_err(Fault::Target)? {
                    Ok(decoded) => Some(decoded),
                    Err(lack) => return Ok(Some(lack)),
                }
            }
            None => None,
        };
        let fills = [&stage.run.execution.source, other];
        let [own, theirs] = fills.map(|array| assembly::fill_of(array.layout().as_ref()));
        let chunk = decoded.as_ref().map(|(chunk, _)| chunk);
        let order = layout.element_order();
        let found = assembly::compare(unit, chunk, (grid, order), (&own, &theirs));
        stage.run.add_differences(&unit.region, &found);
        Ok(None)
    }
}
