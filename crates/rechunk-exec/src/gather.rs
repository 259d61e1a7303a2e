//! The way in: an input chunk is fetched, decoded and copied into the units it meets.

use std::sync::Arc;

use rechunk_array::ArrayError;
use rechunk_plan::StageInput;
use rechunk_store::{Got, Role, StoreError};

use crate::Fault;
use crate::announced::ANNOUNCED_BYTES;
use crate::by_slab;
use crate::frame::{check_length, wide};
use crate::input::{Brought, Input};
use crate::lane::{Lane, LaneDone};
use crate::piece_checksum;
use crate::pieces::object_key;
use crate::spread::spread;
use crate::stage_run::StageRun;
use crate::task::TaskRun;
use crate::unit::Finished;
use crate::whole_shards;

/// An input that was fetched, in the lane that holds it.
pub(crate) struct Fetched {
    lane: Lane,
    index: Vec<u64>,
    /// `None` if it does not meet the tile, and nothing was fetched.
    found: Option<(Input, Found)>,
}

/// Stored form of an input, as it was found.
enum Found {
    /// Stored source chunk, or none.
    Chunk(Got),
    /// The part of a source chunk that the tile takes; the chunk is stored as it is.
    Elements,
    /// A piece of the intermediate, from there.
    Piece(PiecePlace),
}

/// Takes one input chunk in.
pub(crate) async fn input(
    task: Arc<TaskRun>,
    mut lane: Lane,
    index: Vec<u64>,
) -> Result<LaneDone, Fault> {
    let stage = &task.stage;
    if let (StageInput::SourceShards, Some(format)) =
        (&stage.stage.input, stage.run.execution.source.layout().shards())
    {
        let format = format.clone();
        return whole_shards::input(task, lane, format, index).await;
    }
    if let Some(finished) = by_slab::input(&task, &mut lane, &index).await? {
        return Ok(LaneDone { lane, finished, sent: Vec::new() });
    }
    let fetched = fetch(&task, lane, index).await?;
    take(task, fetched).await
}

/// The first half of [`input`]: fetches it into the lane.
pub(crate) async fn fetch(
    task: &TaskRun,
    mut lane: Lane,
    index: Vec<u64>,
) -> Result<Fetched, Fault> {
    let stage = &task.stage;
    let Some(input) = task.input(&index)? else {
        return Ok(Fetched { lane, index, found: None });
    };
    let found = match stage.stage.input {
        StageInput::SourceChunks | StageInput::SourceShards => {
            let source = &stage.run.execution.source;
            let encoded_bytes = match stage.plain {
                Some(_) => wide(input.wanted.len()),
                None => source.layout().codec_cost().encoded_bytes_max,
            };
            let (needs, buffers) = (stage.decoding()?, &task.buffers);
            stage.workers.make_room(&mut lane, encoded_bytes, needs, 0, buffers);
            let found = fetch_part(task, &index, &input, &mut lane.encoded).await;
            let found = found.map_err(Fault::Source)?;
            source.store().meter().add_decoded_read(Role::Source, input.decoded_bytes);
            found
        }
        StageInput::Pieces { .. } => {
            Found::Piece(fetch_piece(stage, &index, &input, &mut lane.encoded).await?)
        }
    };
    Ok(Fetched { lane, index, found: Some((input, found)) })
}

/// Fetches all of a source chunk of which a part was there.
async fn fetch_whole(
    task: &TaskRun,
    mut lane: Lane,
    index: Vec<u64>,
    input: Input,
) -> Result<Fetched, Fault> {
    let source = &task.stage.run.execution.source;
    if fetch_chunk(task, &index, &mut lane.encoded).await.map_err(Fault::Source)? {
        return Ok(Fetched { lane, index, found: Some((input, Found::Chunk(Got::Whole))) });
    }
    let (location, key) = (source.location().to_owned(), source.layout().chunk_key(&index));
    let gone = StoreError::NotFound { location, key };
    Err(Fault::Source(source.store_error(&index, gone)))
}

/// Takes in source chunks that are known to be missing, all in one job.
pub(crate) async fn gaps(
    task: Arc<TaskRun>,
    mut lane: Lane,
    indices: Vec<Vec<u64>>,
) -> Result<LaneDone, Fault> {
    let source = &task.stage.run.execution.source;
    let mut inputs = Vec::with_capacity(indices.len());
    for index in indices {
        let Some(input) = task.input(&index)? else { continue };
        // Counted; nothing is asked for.
        if fetch_chunk(&task, &index, &mut lane.encoded).await.map_err(Fault::Source)? {
            let reason = "the source has a chunk that its store does not list: with --verify each \
                          is asked for";
            return Err(Fault::Plan { reason: reason.to_owned() });
        }
        source.store().meter().add_decoded_read(Role::Source, input.decoded_bytes);
        inputs.push(input);
    }
    let cpu = task.stage.cpu.clone();
    cpu.run(move || {
        let mut finished = Vec::new();
        for input in inputs {
            finished.extend(spread(&task, &input, Brought::Nothing)?);
        }
        Ok(LaneDone { lane, finished, sent: Vec::new() })
    })
    .await
}

/// The second half of [`input`]: copies what was fetched into units.
pub(crate) async fn take(task: Arc<TaskRun>, mut fetched: Fetched) -> Result<LaneDone, Fault> {
    loop {
        match take_in(&task, fetched).await? {
            Taken::Done(done) => return Ok(done),
            // All of it says whether it is damaged, and how. That is no part, so this is the last
            // turn.
            Taken::Refused { lane, index, input } => {
                fetched = fetch_whole(&task, lane, index, input).await?;
            }
        }
    }
}

/// Result of taking a fetched input in.
enum Taken {
    Done(LaneDone),
    /// It is a part of a chunk, and does not decode.
    Refused {
        lane: Lane,
        index: Vec<u64>,
        input: Input,
    },
}

async fn take_in(task: &Arc<TaskRun>, fetched: Fetched) -> Result<Taken, Fault> {
    let Fetched { mut lane, index, found } = fetched;
    let Some((input, found)) = found else {
        let (finished, sent) = (Vec::new(), Vec::new());
        return Ok(Taken::Done(LaneDone { lane, finished, sent }));
    };
    let (cpu, task) = (task.stage.cpu.clone(), Arc::clone(task));
    cpu.run(move || {
        let finished = match found {
            Found::Chunk(got @ (Got::Whole | Got::Part)) => {
                let work = |Lane { encoded, scratch, .. }: &mut Lane| match decode(
                    &task, &index, encoded, scratch, &input,
                ) {
                    Ok(decoded) => spread(&task, &input, Brought::Chunk(decoded)).map(Some),
                    // Nothing of it has gone anywhere.
                    Err(_) if got == Got::Part => Ok(None),
                    Err(fault) => Err(fault),
                };
                match task.stage.workers.serve(&mut lane, task.stage.decoding()?, work)? {
                    Some(finished) => finished,
                    None => return Ok(Taken::Refused { lane, index, input }),
                }
            }
            Found::Chunk(Got::Missing) => spread(&task, &input, Brought::Nothing)?,
            Found::Elements => spread(&task, &input, Brought::Chunk(&lane.encoded))?,
            Found::Piece(place) => {
                let piece = piece_checksum::open(&task.stage, &input.region, &lane.encoded);
                let parts = piece.and_then(|piece| piece.split_at_checked(input.bytes));
                let Some((elements, marks)) = parts else {
                    return Err(piece_checksum::damaged(&task.stage, &place.key, place.range));
                };
                spread(&task, &input, Brought::Piece(elements, marks))?
            }
        };
        Ok(Taken::Done(LaneDone { lane, finished, sent: Vec::new() }))
    })
    .await
}

/// Announces an input that will be fetched soon. By a thread that may block. False if no more is to
/// be announced now.
pub(crate) fn announce(task: &TaskRun, index: &[u64]) -> bool {
    let stage = &task.stage;
    let source = &stage.run.execution.source;
    let Ok(Some(input)) = task.input(index) else { return true };
    match (&stage.stage.input, stage.intermediate()) {
        (StageInput::Pieces { .. }, Ok(store)) => {
            let PiecePlace { key, range: (offset, bytes) } = piece_place(stage, index, &input);
            store.announce(&key, offset..offset.saturating_add(bytes.min(ANNOUNCED_BYTES)))
        }
        (StageInput::SourceChunks, _) if !source.is_in_gap(index) => {
            let (first, length) = if stage.plain.is_some() {
                (wide(input.wanted.start), wide(input.wanted.len()).min(ANNOUNCED_BYTES))
            } else {
                let head_bytes = source.layout().head_bytes().filter(|_| takes_part(task, &input));
                (0, head_bytes.map_or(ANNOUNCED_BYTES, wide))
            };
            source.announce(index, first..first.saturating_add(length))
        }
        _ => true,
    }
}

/// The tile takes a part of a source chunk, and no more of it has to be looked at.
fn takes_part(task: &TaskRun, input: &Input) -> bool {
    let stage = &task.stage;
    input.wanted.len() < input.bytes
        && !stage.digest.is_of_encoded_chunks()
        && stage.run.execution.source.layout().shards().is_none()
}

/// Fetches as much of a source chunk as the tile takes of it needs.
async fn fetch_part(
    task: &TaskRun,
    index: &[u64],
    input: &Input,
    encoded: &mut Vec<u8>,
) -> Result<Found, ArrayError> {
    let source = &task.stage.run.execution.source;
    if let Some(plain) = task.stage.plain {
        let (stored_bytes, room_bytes) = (wide(input.bytes), plain.part_bytes_max);
        let wanted = wide(input.wanted.start)..wide(input.wanted.end);
        let read = source.read_elements_into(index, stored_bytes, wanted, room_bytes, encoded);
        let is_there = read.await?;
        return Ok(if is_there { Found::Elements } else { Found::Chunk(Got::Missing) });
    }
    if takes_part(task, input) {
        let got = source.read_chunk_part_into(index, input.wanted.clone(), encoded).await?;
        return Ok(Found::Chunk(got));
    }
    let is_there = fetch_chunk(task, index, encoded).await?;
    Ok(Found::Chunk(if is_there { Got::Whole } else { Got::Missing }))
}

/// Fetches a source chunk, as an object or out of its shard. False if it is missing.
pub(crate) async fn fetch_chunk(
    task: &TaskRun,
    index: &[u64],
    encoded: &mut Vec<u8>,
) -> Result<bool, ArrayError> {
    let source = &task.stage.run.execution.source;
    let Some(format) = source.layout().shards() else {
        return source.read_chunk_into(index, encoded).await;
    };
    let Some(entry) = task.indexes.entry((&task.stage, &task.tile), format, index).await? else {
        source.store().meter().add_gets_missing(Role::Source, 1);
        return Ok(false);
    };
    source.read_entry_into(index, entry, encoded).await.map(|()| true)
}

/// Location of a piece.
pub(crate) struct PiecePlace {
    pub key: String,
    /// Offset and length in the object, bytes.
    pub range: (u64, u64),
}

async fn fetch_piece(
    stage: &StageRun,
    index: &[u64],
    input: &Input,
    piece: &mut Vec<u8>,
) -> Result<PiecePlace, Fault> {
    let store = stage.intermediate()?;
    let place = piece_place(stage, index, input);
    let (offset, bytes) = place.range;
    // The largest piece of the stage, unless a lane is also paid for something larger.
    let room = stage.geometry.piece_bytes_max();
    let fetched = store.get_range_into(&place.key, offset, bytes, room, piece).await;
    fetched.map_err(Fault::Intermediate)?;
    store.meter().add_decoded_read(Role::Intermediate, wide(input.bytes));
    Ok(place)
}

/// Location of the piece that is input `index`.
pub(crate) fn piece_place(stage: &StageRun, index: &[u64], input: &Input) -> PiecePlace {
    let grid = stage.geometry.input_grid();
    let before = stage.number.saturating_sub(1);
    let key = object_key(before, grid.indices().ordinal(index));
    PiecePlace { key, range: stage.geometry.piece_range(&grid.region(index), &input.region) }
}

/// Decodes the chunk in a lane and copies it into the units it meets. Returns those that are
/// complete.
pub(crate) fn decode_and_spread(
    task: &TaskRun,
    index: &[u64],
    lane: &mut Lane,
    input: &Input,
) -> Result<Vec<Finished>, Fault> {
    let Lane { encoded, scratch, .. } = lane;
    decode_and_spread_of(task, index, encoded, scratch, input)
}

/// Decodes a chunk that is somewhere else, in a shard, and copies it into the units it meets.
pub(crate) fn decode_and_spread_of(
    task: &TaskRun,
    index: &[u64],
    encoded: &[u8],
    scratch: &mut Vec<u8>,
    input: &Input,
) -> Result<Vec<Finished>, Fault> {
    let decoded = decode(task, index, encoded, scratch, input)?;
    spread(task, input, Brought::Chunk(decoded))
}

/// Decodes what the tile takes of a chunk.
fn decode<'a>(
    task: &TaskRun,
    index: &[u64],
    encoded: &'a [u8],
    scratch: &'a mut Vec<u8>,
    input: &Input,
) -> Result<&'a [u8], Fault> {
    let grid = task.stage.geometry.grain_grid();
    task.digest.add(task.stage.digest.of_chunk(grid, index, encoded)?);
    let source = &task.stage.run.execution.source;
    let fault = |error| Fault::Source(source.decode_error(index, error));
    let wanted = input.wanted.clone();
    let decoded = source.layout().decode_part(index, encoded, wanted.clone(), scratch);
    let decoded = decoded.map_err(fault)?;
    check_length(decoded, input.bytes).map_err(fault)?;
    Ok(&decoded[wanted])
}
