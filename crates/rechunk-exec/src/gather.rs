//! The way in: an input chunk is fetched, decoded and copied into the units it meets.

use std::ops::Range;
use std::sync::Arc;

use rechunk_array::ArrayError;
use rechunk_format::Plain;
use rechunk_grid::Region;
use rechunk_plan::StageInput;
use rechunk_store::{Got, Role, StoreError};

use crate::Fault;
use crate::announced::ANNOUNCED_BYTES;
use crate::by_slab;
use crate::frame::{self, Frame, check_length, wide};
use crate::lane::{Lane, LaneDone};
use crate::piece_checksum;
use crate::pieces::object_key;
use crate::stage_run::StageRun;
use crate::task::TaskRun;
use crate::unit::{Filling, Finished, Unit};
use crate::whole_shards;
use crate::workers::Needs;

/// An input chunk, or the piece of the intermediate that stands for it.
pub(crate) struct Input {
    /// Its part in the tile.
    pub region: Region,
    /// What of that it holds: not the gap beside it.
    pub held: Option<Region>,
    /// Bytes of all of it, decoded; of a plain chunk as it is stored.
    pub bytes: usize,
    /// Bytes of all of it, a source chunk with its padding.
    pub decoded_bytes: u64,
    /// From the first of them that the tile takes to the last: of a chunk that lies in several tiles, each
    /// takes a part; none takes the gap beside it.
    pub wanted: Range<usize>,
    /// Where their elements are.
    frame: Frame,
}

impl Input {
    /// Where the elements are that the tile takes.
    pub(crate) fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Some of what it holds is in `unit`: `common`.
    fn meets(&self, unit: &Unit, common: &mut Region) -> bool {
        self.held.as_ref().is_some_and(|held| held.intersect_into(&unit.region, common))
    }

    /// The part of it that brings `region`, and its bytes among those that the tile takes.
    pub(crate) fn part(&self, region: Region, item_bytes: usize) -> (Self, Range<usize>) {
        let range = self.frame.bytes_of(&region, item_bytes);
        let (bytes, frame) = (range.len(), self.frame.clone().part(&range));
        let held = self.held.as_ref().and_then(|held| held.intersect(&region));
        let part =
            Self { held, bytes, decoded_bytes: wide(bytes), wanted: 0..bytes, frame, region };
        (part, range)
    }

    /// Chunk `index` (see [`rechunk_plan::StageGeometry::grain_grid`]), if it meets the tile.
    pub(crate) fn new(task: &TaskRun, index: &[u64]) -> Result<Option<Self>, Fault> {
        let grid = task.stage.geometry.grain_grid();
        let chunk = grid.region(index);
        let Some(region) = chunk.intersect(&task.tile) else { return Ok(None) };
        let frame = task.stage.input_frame(index, &region)?;
        let (held, bytes) = (task.stage.held_of(&region), frame.bytes);
        let (plain, item_bytes) = (task.stage.plain, task.stage.item_bytes);
        let wanted = match &held {
            Some(held) => {
                let is_all = plain.is_some_and(|plain| {
                    plain.with_padding
                        && wide(bytes) <= task.stage.workers.room_bytes(Needs::NONE, 0)
                        && *held == chunk
                });
                if is_all { 0..bytes } else { frame.bytes_of(held, item_bytes) }
            }
            // No more is asked than whether it is there.
            None if plain.is_some() => 0..item_bytes.min(bytes),
            None => 0..bytes,
        };
        let decoded_bytes = match plain.map(|plain| plain.stored) {
            Some(Plain::Clipped) => grid.chunk(index).elements().saturating_mul(wide(item_bytes)),
            Some(Plain::Padded) | None => wide(bytes),
        };
        let frame = frame.part(&wanted);
        Ok(Some(Self { region, held, bytes, decoded_bytes, wanted, frame }))
    }
}

/// What an input brings.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Brought<'a> {
    /// The elements of a source chunk, those that the tile takes.
    Chunk(&'a [u8]),
    /// The elements of a piece, and what it keeps of absence behind them.
    Piece(&'a [u8], &'a [u8]),
    /// A source chunk that is missing.
    Nothing,
}

/// An input that was fetched, in the lane that holds it.
pub(crate) struct Fetched {
    lane: Lane,
    index: Vec<u64>,
    /// `None` if it does not meet the tile, and nothing was fetched.
    found: Option<(Input, Found)>,
}

/// What there was of an input.
enum Found {
    /// What there was of a source chunk.
    Chunk(Got),
    /// What the tile takes of a source chunk that is stored as it is.
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
    let Some(input) = Input::new(task, &index)? else {
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
        let Some(input) = Input::new(&task, &index)? else { continue };
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
            // All of it says whether it is damaged, and how. That is no part, so this is the last turn.
            Taken::Refused { lane, index, input } => {
                fetched = fetch_whole(&task, lane, index, input).await?;
            }
        }
    }
}

/// What became of what was fetched.
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

/// Announces an input that will be fetched soon. By a thread that may block. False if no more is to be announced now.
pub(crate) fn announce(task: &TaskRun, index: &[u64]) -> bool {
    let stage = &task.stage;
    let source = &stage.run.execution.source;
    let Ok(Some(input)) = Input::new(task, index) else { return true };
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
    let Some(entry) = task.indexes.entry(task, format, index).await? else {
        source.store().meter().add_gets_missing(Role::Source, 1);
        return Ok(false);
    };
    source.read_entry_into(index, entry, encoded).await.map(|()| true)
}

/// Where a piece lies.
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

/// Where the piece is that input `index` is.
pub(crate) fn piece_place(stage: &StageRun, index: &[u64], input: &Input) -> PiecePlace {
    let grid = stage.geometry.input_grid();
    let before = stage.number.saturating_sub(1);
    let key = object_key(before, grid.indices().ordinal(index));
    PiecePlace { key, range: stage.geometry.piece_range(&grid.region(index), &input.region) }
}

/// Decodes the chunk in a lane and copies it into the units it meets. Returns those that are complete.
pub(crate) fn decode_and_spread(
    task: &TaskRun,
    index: &[u64],
    lane: &mut Lane,
    input: &Input,
) -> Result<Vec<Finished>, Fault> {
    let Lane { encoded, scratch, .. } = lane;
    decode_and_spread_of(task, index, encoded, scratch, input)
}

/// The same of a chunk that is somewhere else: in a shard.
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
    task.digest.add(task.stage.digest.of_chunk(&task.stage, index, encoded)?);
    let source = &task.stage.run.execution.source;
    let fault = |error| Fault::Source(source.decode_error(index, error));
    let wanted = input.wanted.clone();
    let decoded = source.layout().decode_part(index, encoded, wanted.clone(), scratch);
    let decoded = decoded.map_err(fault)?;
    check_length(decoded, input.bytes).map_err(fault)?;
    Ok(&decoded[wanted])
}

/// Units that are looked for at once.
const UNITS_AT_ONCE: usize = 64;

/// Copies what an input brings (the source's fill value, if that is nothing) into every unit that is to
/// be filled. Returns those that are complete.
pub(crate) fn spread(
    task: &TaskRun,
    input: &Input,
    brought: Brought<'_>,
) -> Result<Vec<Finished>, Fault> {
    add_digest(task, input, brought)?;
    let (mut finished, mut common) = (Vec::new(), Region::whole(&[]));
    each_unit(task, &input.region, |unit, filling| {
        let is_met = copy_in(task, input, brought, unit, filling, &mut common)?;
        let common = is_met.then_some(&common);
        finished.extend(count_in(task, input, brought, unit, filling, common));
        Ok(())
    })?;
    Ok(finished)
}

/// Copies what a part of an input brings into every unit that is to be filled. None is complete with it.
pub(crate) fn spread_part(task: &TaskRun, part: &Input, brought: Brought<'_>) -> Result<(), Fault> {
    add_digest(task, part, brought)?;
    let mut common = Region::whole(&[]);
    each_unit(task, &part.region, |unit, filling| {
        copy_in(task, part, brought, unit, filling, &mut common).map(drop)
    })
}

/// Says that all parts of an input have been copied. `brought` is what it brings beside elements. Returns the units that
/// are complete.
pub(crate) fn end_parts(
    task: &TaskRun,
    input: &Input,
    brought: Brought<'_>,
) -> Result<Vec<Finished>, Fault> {
    let (mut finished, mut common) = (Vec::new(), Region::whole(&[]));
    each_unit(task, &input.region, |unit, filling| {
        // Where there was nothing but a gap.
        make_buffer(task, brought, unit, filling)?;
        let common = input.meets(unit, &mut common).then_some(&common);
        finished.extend(count_in(task, input, brought, unit, filling, common));
        Ok(())
    })?;
    Ok(finished)
}

/// Adds to the task's digest what an input brings, unless units count it.
fn add_digest(task: &TaskRun, input: &Input, brought: Brought<'_>) -> Result<(), Fault> {
    let stage = &task.stage;
    if let Some(held) = input.held.as_ref().filter(|_| !stage.stage.is_stepped) {
        task.digest.add(stage.digest.of_elements(held, input, brought)?);
    }
    Ok(())
}

/// Does `work` with every unit that `region` meets and that is to be filled; last with those that another lane was at.
fn each_unit(
    task: &TaskRun,
    region: &Region,
    mut work: impl FnMut(&Unit, &mut Filling) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let geometry = &task.stage.geometry;
    let units = geometry.units(&task.tile);
    let mut busy = Vec::new();
    let mut indices = geometry.output_grid().covering(region).positions();
    let (mut ahead, mut ordinals, mut found) = (indices.clone(), Vec::new(), Vec::new());
    loop {
        // Many at a time, because threads that ask at once wait for each other.
        ordinals.clear();
        while ordinals.len() < UNITS_AT_ONCE
            && let Some(index) = ahead.advance()
        {
            ordinals.push(units.ordinal(index));
        }
        if ordinals.is_empty() {
            break;
        }
        task.units.get(&ordinals, &mut found);
        for (&ordinal, known) in ordinals.iter().zip(found.drain(..)) {
            let Some(index) = indices.advance() else { break };
            // Most inputs meet units that others have met before.
            let unit = known.map_or_else(|| open(task, ordinal, index), |unit| Ok(Some(unit)))?;
            let Some(unit) = unit else { continue };
            if let Some(mut filling) = unit.try_lock() {
                work(&unit, &mut filling)?;
                continue;
            }
            busy.push(unit); // another lane copies into it: come back to it
        }
    }
    for unit in busy {
        work(&unit, &mut unit.lock())?;
    }
    Ok(())
}

/// The unit `index`, which nobody has met before; `None` if it is not to be filled.
fn open(task: &TaskRun, ordinal: u64, index: &[u64]) -> Result<Option<Arc<Unit>>, Fault> {
    let Some(region) = task.open_unit(index) else { return Ok(None) };
    let frame = task.stage.unit_frame(index, &region)?;
    let inputs = task.stage.geometry.inputs_touching(&region);
    let unit = Unit::new(ordinal, index.to_vec(), region, frame, inputs);
    Ok(Some(task.units.get_or_insert(unit)))
}

/// Copies what an input has of a unit into it. False if that is nothing; else that is what `common` is then, which is used
/// again: what it holds before means nothing.
fn copy_in(
    task: &TaskRun,
    input: &Input,
    brought: Brought<'_>,
    unit: &Unit,
    filling: &mut Filling,
    common: &mut Region,
) -> Result<bool, Fault> {
    let stage = &task.stage;
    let is_left_out = !make_buffer(task, brought, unit, filling)?;
    if !input.meets(unit, common) {
        return Ok(false);
    }
    let target = (&mut filling.buffer[..], &unit.frame);
    if stage.stage.is_stepped {
        // What the journal's step marks say is done is known by unit.
        filling.digest += stage.digest.of_elements(common, input, brought)?;
    }
    match brought {
        Brought::Chunk(bytes) | Brought::Piece(bytes, _) => {
            let source = (bytes, &input.frame);
            frame::copy(stage.item_bytes, common, source, target, stage.swap_bytes)?;
        }
        Brought::Nothing if is_left_out => {}
        Brought::Nothing => frame::fill(&stage.source_fill, common, target)?,
    }
    Ok(true)
}

/// Makes the unit's buffer, if it has none and needs one. False if it needs none: what is missing needs no elements as
/// long as nothing else of the unit is there.
fn make_buffer(
    task: &TaskRun,
    brought: Brought<'_>,
    unit: &Unit,
    filling: &mut Filling,
) -> Result<bool, Fault> {
    let stage = &task.stage;
    if !filling.buffer.is_empty() {
        return Ok(true);
    }
    if stage.leaves_absent_out && matches!(brought, Brought::Nothing) {
        filling.has_left_out = true;
        return Ok(false);
    }
    let buffer = task.buffers.take(unit.frame.bytes);
    filling.buffer = buffer
        .ok_or_else(|| Fault::Plan { reason: "its tasks hold more than it reserves".to_owned() })?;
    if stage.is_padded(&unit.index, &unit.region) || filling.has_left_out {
        rechunk_kernel::fill(&stage.target_fill, &mut filling.buffer);
    }
    Ok(true)
}

/// Counts an input for a unit of which it has brought `common`; the unit, if that was the last.
fn count_in(
    task: &TaskRun,
    input: &Input,
    brought: Brought<'_>,
    unit: &Unit,
    filling: &mut Filling,
    common: Option<&Region>,
) -> Option<Finished> {
    let stage = &task.stage;
    if let Some(common) = common {
        filling.stored.add(&stage.geometry, unit, input, common, brought);
    }
    filling.inputs_left = filling.inputs_left.saturating_sub(1);
    if filling.inputs_left > 0 {
        return None;
    }
    let mut finished = task.units.finish(unit, filling, task.last_step(&unit.region));
    if stage.geometry.writes_pieces() {
        piece_checksum::seal(stage, &mut finished);
    }
    Some(finished)
}
