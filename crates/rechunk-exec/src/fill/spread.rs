//! From an input into the units it meets.

use std::sync::Arc;

use rechunk_grid::Region;

use crate::Fault;
use crate::fill::piece_checksum;
use crate::stage::task::TaskRun;
use crate::stage::way_out::WayOut;
use crate::units::frame;
use crate::units::input::{Brought, Input};
use crate::units::unit::{Filling, Finished, Unit};

/// Units that are looked for at once.
const UNITS_AT_ONCE: usize = 64;

/// Copies what an input brings (the source's fill value, if that is nothing) into every unit that
/// is to be filled. Returns those that are complete.
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
        finished.extend(count_in(task, input, brought, unit, filling, common)?);
        Ok(())
    })?;
    Ok(finished)
}

/// Copies what a part of an input brings into every unit that is to be filled. None is complete
/// with it.
pub(crate) fn spread_part(task: &TaskRun, part: &Input, brought: Brought<'_>) -> Result<(), Fault> {
    add_digest(task, part, brought)?;
    let mut common = Region::whole(&[]);
    each_unit(task, &part.region, |unit, filling| {
        copy_in(task, part, brought, unit, filling, &mut common).map(drop)
    })
}

/// Says that all parts of an input have been copied. `brought` is what it brings beside elements.
/// Returns the units that are complete.
pub(crate) fn end_parts(
    task: &TaskRun,
    input: &Input,
    brought: Brought<'_>,
) -> Result<Vec<Finished>, Fault> {
    let (mut finished, mut common) = (Vec::new(), Region::whole(&[]));
    each_unit(task, &input.region, |unit, filling| {
        // Where there was nothing but a gap.
        make_buffer(task, brought, unit, filling)?;
        let common = input.meets(&unit.region, &mut common).then_some(&common);
        finished.extend(count_in(task, input, brought, unit, filling, common)?);
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

/// Does `work` with every unit that `region` meets and that is to be filled; last with those that
/// another lane was at.
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

/// Copies what an input has of a unit into it. False if that is nothing; else that is what `common`
/// is then, which is used again: what it holds before means nothing.
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
    if !input.meets(&unit.region, common) {
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

/// Makes the unit's buffer, if it has none and needs one. False if it needs none: what is missing
/// needs no elements as long as nothing else of the unit is there.
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
) -> Result<Option<Finished>, Fault> {
    let stage = &task.stage;
    if let Some(common) = common {
        filling.stored.add(&stage.geometry, &unit.region, input, common, brought);
    }
    filling.inputs_left = filling.inputs_left.saturating_sub(1);
    if filling.inputs_left > 0 {
        return Ok(None);
    }
    let mut finished = task.units.finish(unit, filling, task.last_step(&unit.region));
    if let Some(op) = &stage.op {
        op.apply(&mut finished.buffer)?;
    }
    if stage.way_out == WayOut::Pieces {
        piece_checksum::seal(stage, &mut finished);
    }
    Ok(Some(finished))
}
