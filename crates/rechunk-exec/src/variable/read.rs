//! The way of a source chunk: it is fetched, decoded, and cut.

use std::sync::Arc;

use bytes::Bytes;
use rechunk_array::{Array, Within};
use rechunk_format::variable::{POSITION_BYTES, VariableChunk, VariablePart};
use rechunk_grid::Region;
use rechunk_kernel::wide;
use rechunk_store::Role;

use super::account::{Account, Held};
use super::state::VariableState;
use super::work::{HeldPart, Input, Lack, Outcome, Parts, Work};
use crate::Fault;
use crate::stage::shards::SourceIndexes;
use crate::stage::stage_run::StageRun;
use crate::units::frame::buffer_bytes;

/// Reading of source chunks for a box.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    pub stage: Arc<StageRun>,
    pub state: Arc<VariableState>,
    pub account: Arc<Account>,
    pub indexes: Arc<SourceIndexes>,
    /// The box that is filled.
    pub region: Region,
}

/// Bytes that were fetched of a chunk.
pub(super) enum Fetched {
    Bytes(Bytes, Held),
    Missing,
    NoRoom(Lack),
}

impl Reader {
    /// Reads a source chunk. `is_alone`: nothing else of the task is under way, so that all
    /// memory there is may be taken.
    pub(super) async fn read(self, mut input: Input, is_alone: bool) -> Result<Outcome, Fault> {
        let fetched = match input.fetched.take() {
            Some((bytes, held)) => Fetched::Bytes(bytes, held),
            None => self.fetch(&input.index, is_alone).await?,
        };
        let source = &self.stage.run.execution.source;
        let elements = self.stage.geometry.grain_grid().chunk(&input.index).elements();
        let chunk_bytes = buffer_bytes(elements, self.stage.item_bytes)?;
        let (bytes, held) = match fetched {
            Fetched::Bytes(bytes, held) => (bytes, held),
            Fetched::NoRoom(lack) => return Ok(Outcome::NoRoom(Work::Read(input), lack)),
            Fetched::Missing => {
                source.store().meter().add_decoded_read(Role::Source, wide(chunk_bytes));
                let absent = |(unit, region): &(Vec<u64>, Region)| {
                    let part = VariablePart { region: region.clone(), body: None };
                    (unit.clone(), HeldPart { part, _held: None })
                };
                return Ok(Outcome::Parts(input.wanted.iter().map(absent).collect()));
            }
        };
        let cpu = self.stage.cpu.clone();
        cpu.run(move || {
            let parts = match self.take_apart(&input, &bytes, is_alone)? {
                Ok(parts) => parts,
                Err(lack) => {
                    input.fetched = Some((bytes, held));
                    return Ok(Outcome::NoRoom(Work::Read(input), lack));
                }
            };
            let meter = self.stage.run.execution.source.store().meter();
            meter.add_decoded_read(Role::Source, wide(chunk_bytes));
            Ok(Outcome::Parts(parts))
        })
        .await
    }

    async fn fetch(&self, index: &[u64], is_alone: bool) -> Result<Fetched, Fault> {
        let source = &self.stage.run.execution.source;
        let entry = match source.layout().shards() {
            Some(format) => {
                let place = (&*self.stage, &self.region);
                let entry = self.indexes.entry(place, format, index).await;
                let Some(entry) = entry.map_err(Fault::Source)? else {
                    source.store().meter().add_gets_missing(Role::Source, 1);
                    return Ok(Fetched::Missing);
                };
                Some(entry)
            }
            None => None,
        };
        let limit = (!is_alone).then_some(self.state.encoded_bytes[0]);
        fetch(source, index, entry, &self.account, limit).await.map_err(Fault::Source)
    }

    /// The parts of a chunk that are wanted.
    fn take_apart(
        &self,
        input: &Input,
        encoded: &[u8],
        is_alone: bool,
    ) -> Result<Result<Parts, Lack>, Fault> {
        let source = &self.stage.run.execution.source;
        let layout = source.layout();
        let chunk = self.stage.geometry.grain_grid().chunk(&input.index);
        // Of a region a chunk may be stored with elements before it.
        let (stored, skip) = layout
            .stored_part(&input.index)
            .unwrap_or_else(|| (chunk.shape.clone(), vec![0; chunk.rank()]));
        let stored = Region::new(vec![0; stored.len()], stored);
        let expected = (!is_alone).then_some(self.state.expected_bytes[0]);
        let decoder = Decoder { array: source, account: &self.account, expected };
        let decoded = decoder.decode(&input.index, encoded, stored.elements());
        let (decoded, _held) = match decoded.map_err(Fault::Source)? {
            Ok(decoded) => decoded,
            Err(lack) => return Ok(Err(lack)),
        };
        let order = layout.element_order();
        let mut parts = Vec::with_capacity(input.wanted.len());
        for (unit, region) in input.wanted.iter() {
            let own = region.start.iter().zip(&chunk.start).zip(&skip);
            let start = own.map(|((at, start), skip)| at - start + skip).collect();
            let own = Region::new(start, region.shape.clone());
            let bytes = wide(decoded.cut_bytes(&stored, order, &own));
            let Some(held) = self.account.take(bytes) else {
                return Ok(Err(Lack::of(bytes, self.account.available())));
            };
            let body = Some(decoded.cut(&stored, order, &own));
            let part = VariablePart { region: region.clone(), body };
            parts.push((unit.clone(), HeldPart { part, _held: Some(held) }));
        }
        Ok(Ok(parts))
    }
}

/// Fetches a chunk of at most `limit` bytes, or as many as there is memory for.
pub(super) async fn fetch(
    array: &Array,
    index: &[u64],
    entry: Option<(u64, u64)>,
    account: &Arc<Account>,
    limit: Option<u64>,
) -> Result<Fetched, rechunk_array::ArrayError> {
    let available = account.available();
    let limit = match (limit, entry) {
        (None, None) => available,
        (Some(limit), None) => limit,
        (_, Some((_, length))) => length,
    };
    let Some(mut held) = account.take(limit) else {
        return Ok(Fetched::NoRoom(Lack::of(limit, available)));
    };
    let within = match entry {
        Some(entry) => array.read_entry_within(index, entry, limit).await?,
        None => array.read_chunk_within(index, limit).await?,
    };
    Ok(match within {
        Within::Read(bytes) => {
            held.shrink(wide(bytes.len()));
            Fetched::Bytes(bytes, held)
        }
        Within::Missing => Fetched::Missing,
        Within::TooLarge(bytes) => Fetched::NoRoom(Lack::of(bytes, limit)),
    })
}

/// Decoding of chunks of an array.
pub(super) struct Decoder<'a> {
    pub array: &'a Array,
    pub account: &'a Arc<Account>,
    /// Bytes that a chunk is decoded within; `None`: as many as there is memory for.
    pub expected: Option<u64>,
}

impl Decoder<'_> {
    /// Decodes chunk `index` of so many elements.
    pub(super) fn decode(
        &self,
        index: &[u64],
        encoded: &[u8],
        elements: u64,
    ) -> Result<Result<(VariableChunk, Held), Lack>, rechunk_array::ArrayError> {
        /// Bytes that are tried first of a chunk of which nothing is expected.
        const FIRST_BYTES: u64 = 64 << 10;
        let fault = |error| self.array.decode_error(index, error);
        let layout = self.array.layout();
        let Some(variable) = layout.variable() else {
            return Ok(Err(Lack { bytes: 1 })); // was looked at when the run began
        };
        // Positions are found when the codecs are done.
        let positions = elements.saturating_mul(POSITION_BYTES);
        let beside = |limit| {
            let cost = variable.cost(limit)?;
            Ok(cost.decode_workspace_bytes.max(positions))
        };
        let available = self.account.available();
        let most = match self.expected {
            Some(expected) => expected,
            None => available.saturating_sub(beside(available).map_err(fault)?),
        };
        let first = wide(encoded.len()).max(FIRST_BYTES);
        let mut limit = self.expected.unwrap_or(first).min(most);
        loop {
            let needed = limit.saturating_add(beside(limit).map_err(fault)?);
            let Some(mut held) = self.account.take(needed) else {
                return Ok(Err(Lack::of(needed, self.account.available())));
            };
            let mut stream = Vec::new();
            let bound = usize::try_from(limit).unwrap_or(usize::MAX);
            if variable.decode(encoded, bound, &mut stream).map_err(fault)? {
                stream.shrink_to_fit();
                held.shrink(wide(stream.len()).saturating_add(positions));
                let chunk = VariableChunk::new(stream, elements, variable.kind());
                return Ok(Ok((chunk.map_err(fault)?, held)));
            }
            if limit >= most {
                // It has more, and nobody knows how much.
                return Ok(Err(Lack::of(limit.saturating_mul(2), limit)));
            }
            limit = limit.saturating_mul(2).min(most);
        }
    }
}
