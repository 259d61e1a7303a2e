//! A finished unit goes out by the way of its stage.

use std::sync::Arc;

use crate::Fault;
use crate::memory::lane::Lane;
use crate::stage::task::TaskRun;
use crate::stage::way_out::WayOut;
use crate::units::unit::Finished;
use crate::ways_out::{compare, write};

/// Sends out a unit that is a target chunk. Pieces of an intermediate go out by the object that
/// they are part of ([`crate::ways_out::pieces`]).
pub(crate) async fn unit(
    task: Arc<TaskRun>,
    mut lane: Lane,
    unit: Finished,
) -> Result<Lane, Fault> {
    if task.stage.way_out == WayOut::Nothing {
        task.stage.progress(&unit.region);
        task.buffers.give(unit.buffer);
        return Ok(lane);
    }
    let region = unit.region.clone();
    if task.stage.way_out == WayOut::Compare {
        lane = compare::unit(&task, lane, unit).await?;
    } else {
        lane = write::unit(&task, lane, unit).await?;
    }
    task.stage.progress(&region);
    Ok(lane)
}
