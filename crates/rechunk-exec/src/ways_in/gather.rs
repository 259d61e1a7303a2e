//! The way in: an input chunk is fetched, decoded and copied into the units it meets.

use std::sync::Arc;

use rechunk_array::ArrayError;
use rechunk_kernel::wide;
use rechunk_store::{Got, Role, StoreError};

use crate::Fault;
use crate::fill::piece_checksum;
use crate::fill::spread::spread;
use crate::memory::lane::{Lane, LaneDone};
use crate::stage::piece_place::PiecePlace;
use crate::stage::stage_run::StageRun;
use crate::stage::task::TaskRun;
use crate::stage::way_in::WayIn;
use crate::units::input::{Brought, Input};
use crate::ways_in::decode::decode;
use crate::ways_in::source::{fetch_chunk, takes_part};

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
    lane: Lane,
    index: Vec<u64>,
) -> Result<LaneDone, Fault> {
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
    let found = match &stage.way_in {
        WayIn::Pieces => Found::Piece(fetch_piece(stage, &index, &input, &mut lane.encoded).await?),
        way_in => {
            let source = &stage.run.execution.source;
            let encoded_bytes = match way_in {
                WayIn::Plain(_) => wide(input.wanted.len()),
                _ => source.layout().codec_cost().encoded_bytes_max,
            };
            let (needs, buffers) = (stage.decoding()?, &task.buffers);
            stage.workers.make_room(&mut lane, encoded_bytes, needs, 0, buffers);
            let found = fetch_part(task, &index, &input, &mut lane.encoded).await;
            let found = found.map_err(Fault::Source)?;
            source.store().meter().add_decoded_read(Role::Source, input.decoded_bytes);
            found
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
                    return Err(place.damaged(task.stage.intermediate()?));
                };
                spread(&task, &input, Brought::Piece(elements, marks))?
            }
        };
        Ok(Taken::Done(LaneDone { lane, finished, sent: Vec::new() }))
    })
    .await
}

/// Fetches as much of a source chunk as the tile takes of it needs.
async fn fetch_part(
    task: &TaskRun,
    index: &[u64],
    input: &Input,
    encoded: &mut Vec<u8>,
) -> Result<Found, ArrayError> {
    let source = &task.stage.run.execution.source;
    if let WayIn::Plain(plain) = &task.stage.way_in {
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

async fn fetch_piece(
    stage: &StageRun,
    index: &[u64],
    input: &Input,
    piece: &mut Vec<u8>,
) -> Result<PiecePlace, Fault> {
    let store = stage.intermediate()?;
    let place = PiecePlace::of_input(stage, index, input);
    let (offset, bytes) = place.range;
    // The largest piece of the stage, unless a lane is also paid for something larger.
    let room = stage.geometry.piece_bytes_max();
    let fetched = store.get_range_into(&place.key, offset, bytes, room, piece).await;
    fetched.map_err(|error| place.unread(error))?;
    store.meter().add_decoded_read(Role::Intermediate, wide(input.bytes));
    Ok(place)
}
