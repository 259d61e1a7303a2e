//! Source chunks become elements: decoded, and copied into the units they meet.

use crate::Fault;
use crate::fill::spread::spread;
use crate::memory::lane::Lane;
use crate::stage::task::TaskRun;
use crate::units::input::{Brought, Input};
use crate::units::unit::Finished;
use rechunk_format::check_chunk_bytes;

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
pub(crate) fn decode<'a>(
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
    check_chunk_bytes(decoded, input.bytes).map_err(fault)?;
    Ok(&decoded[wanted])
}
