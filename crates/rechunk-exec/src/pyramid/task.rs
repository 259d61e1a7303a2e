//! A task of a pyramid: it goes over its tile in steps.

use std::sync::Arc;

use rechunk_grid::Region;
use rechunk_plan::pyramid_steps;

use super::blocks::BlockUnderWay;
use super::compute::{Results, compute};
use super::filling::Filling;
use super::stage::PyramidStage;
use super::{read, write};
use crate::Fault;

/// Runs task `number`.
pub(super) async fn run(stage: Arc<PyramidStage>, number: u64) -> Result<(), Fault> {
    let tile = stage.geometry.tile(number);
    let steps =
        pyramid_steps(&tile, stage.stage().filled(), &stage.levels).map_err(Fault::Grid)?;
    let first = stage.pass().first;
    let levels = stage.levels.iter().enumerate();
    let fillings = levels.map(|(at, level)| Filling::new(level, first + at, stage.item_bytes));
    let mut fillings = fillings.collect::<Result<Vec<_>, Fault>>()?;
    let mut block = BlockUnderWay::of_task(&stage, &tile)?;
    for step in steps {
        let Results { levels, left, is_found } = results(&stage, step).await?;
        for (filling, result) in fillings.iter_mut().zip(levels) {
            write::out(&stage, filling, result, is_found).await?;
        }
        if let (Some(block), Some(left)) = (&mut block, left) {
            block.add(&left)?;
        }
    }
    for filling in &fillings {
        filling.check_complete()?;
    }
    if let Some(block) = block {
        block.put(&stage, number).await?;
    }
    Ok(())
}

/// Reads what a step needs, and computes the cells of all levels of it.
async fn results(stage: &Arc<PyramidStage>, step: Region) -> Result<Results, Fault> {
    let window = read::window(stage, step).await?;
    let worker = Arc::clone(stage);
    stage.cpu.run(move || compute(&worker, window)).await
}
