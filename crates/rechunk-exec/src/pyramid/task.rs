//! A task of a pyramid: it goes over its tile in steps.

use std::sync::Arc;

use rechunk_grid::Region;
use rechunk_plan::pyramid_steps;

use super::blocks::BlockUnderWay;
use super::compute::{Results, compute};
use super::filling::Filling;
use super::read::Window;
use super::stage::PyramidStage;
use super::{read, write};
use crate::Fault;

/// Runs task `number`.
pub(super) async fn run(stage: Arc<PyramidStage>, number: u64) -> Result<(), Fault> {
    let tile = stage.geometry.tile(number);
    let steps =
        pyramid_steps(&tile, stage.shared.stage().filled(), &stage.levels).map_err(Fault::Grid)?;
    let first = stage.pass().first;
    let levels = stage.levels.iter().enumerate();
    let fillings =
        levels.map(|(at, level)| Filling::new(level, first + at, stage.shared.item_bytes));
    let mut fillings = fillings.collect::<Result<Vec<_>, Fault>>()?;
    let mut block = BlockUnderWay::of_task(&stage, &tile)?;
    let mut steps = steps.into_iter();
    let mut window = next(&stage, steps.next()).await?;
    while let Some(read) = window {
        let out = step(&stage, read, (&mut fillings, &mut block));
        let next = next(&stage, steps.next());
        window = if stage.pass().reads_ahead {
            futures::try_join!(next, out)?.0
        } else {
            out.await?;
            next.await?
        };
    }
    for filling in &fillings {
        filling.check_complete()?;
    }
    if let Some(block) = block {
        block.put(&stage, number).await?;
    }
    Ok(())
}

/// Reads the next step, if there is one.
async fn next(stage: &PyramidStage, step: Option<Region>) -> Result<Option<Window>, Fault> {
    match step {
        Some(step) => read::window(stage, step).await.map(Some),
        None => Ok(None),
    }
}

/// Computes the cells of all levels of a step, and gives them their way.
async fn step(
    stage: &Arc<PyramidStage>,
    window: Window,
    (fillings, block): (&mut [Filling], &mut Option<BlockUnderWay>),
) -> Result<(), Fault> {
    let worker = Arc::clone(stage);
    let results = stage.shared.cpu.run(move || compute(&worker, window)).await?;
    let Results { levels, left, is_found } = results;
    for (filling, result) in fillings.iter_mut().zip(levels) {
        write::out(stage, filling, result, is_found).await?;
    }
    if let (Some(block), Some(left)) = (block, left) {
        block.add(&left.cells, &left.values)?;
    }
    Ok(())
}
