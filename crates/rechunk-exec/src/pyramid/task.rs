//! A task of a pyramid: it goes over its tile in steps.

use std::sync::Arc;

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
    let steps = pyramid_steps(&tile, stage.stage().filled(), &stage.levels).map_err(Fault::Grid)?;
    let first = stage.pass().first;
    let levels = stage.levels.iter().enumerate();
    let fillings = levels.map(|(at, level)| Filling::new(level, first + at, stage.item_bytes));
    let mut fillings = fillings.collect::<Result<Vec<_>, Fault>>()?;
    let mut block = BlockUnderWay::of_task(&stage, &tile)?;
    let mut steps = steps.into_iter();
    let mut window = match steps.next() {
        Some(step) => Some(read::window(&stage, step).await?),
        None => None,
    };
    while let Some(read) = window.take() {
        let out = step(&stage, read, (&mut fillings, &mut block));
        window = match steps.next() {
            Some(next) if stage.pass().reads_ahead => {
                Some(futures::try_join!(read::window(&stage, next), out)?.0)
            }
            Some(next) => {
                out.await?;
                Some(read::window(&stage, next).await?)
            }
            None => {
                out.await?;
                None
            }
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

/// Computes the cells of all levels of a step, and gives them their way.
async fn step(
    stage: &Arc<PyramidStage>,
    window: Window,
    (fillings, block): (&mut [Filling], &mut Option<BlockUnderWay>),
) -> Result<(), Fault> {
    let worker = Arc::clone(stage);
    let results = stage.cpu.run(move || compute(&worker, window)).await?;
    let Results { levels, left, is_found } = results;
    for (filling, result) in fillings.iter_mut().zip(levels) {
        write::out(stage, filling, result, is_found).await?;
    }
    if let (Some(block), Some(left)) = (block, left) {
        block.add(&left)?;
    }
    Ok(())
}
