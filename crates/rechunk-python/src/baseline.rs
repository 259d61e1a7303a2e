//! The planning functions of rechunker, as the planner has them to compare with.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rechunk::planner::baseline::{
    self, BaselineError, Limit, MultistagePlan, PlannerOptions, Rechunking, StageChunks,
};

type Stage = (Vec<u64>, Vec<u64>, Vec<u64>);

fn refused(error: &BaselineError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn tuple(stage: StageChunks) -> Stage {
    (stage.read, stage.intermediate, stage.write)
}

/// Grows chunks towards limits while one stays within `max_mem` bytes.
#[pyfunction]
#[pyo3(signature = (shape, chunks, itemsize, max_mem, chunk_limits=None))]
#[expect(clippy::needless_pass_by_value, reason = "as values of Python come")]
pub(crate) fn consolidate_chunks(
    shape: Vec<u64>,
    chunks: Vec<u64>,
    itemsize: u64,
    max_mem: u64,
    chunk_limits: Option<Vec<Option<i64>>>,
) -> PyResult<Vec<u64>> {
    let limits = chunk_limits.map(|limits| Limit::from_signed(&limits)).transpose();
    limits
        .and_then(|limits| {
            baseline::consolidate_chunks(&shape, &chunks, itemsize, max_mem, limits.as_deref())
        })
        .map_err(|error| refused(&error))
}

/// Chunk shapes between stages, geometrically spaced.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "as values of Python come")]
pub(crate) fn calculate_stage_chunks(
    read_chunks: Vec<u64>,
    write_chunks: Vec<u64>,
    stage_count: u32,
) -> PyResult<Vec<Vec<u64>>> {
    baseline::calculate_stage_chunks(&read_chunks, &write_chunks, stage_count)
        .map_err(|error| refused(&error))
}

/// Pairs of chunks of two grids that meet.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "as values of Python come")]
pub(crate) fn calculate_single_stage_io_ops(
    shape: Vec<u64>,
    in_chunks: Vec<u64>,
    out_chunks: Vec<u64>,
) -> PyResult<u64> {
    baseline::calculate_single_stage_io_ops(&shape, &in_chunks, &out_chunks)
        .map_err(|error| refused(&error))
}

/// Plan of one stage: read, intermediate and write chunks.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "as values of Python come")]
pub(crate) fn rechunking_plan(
    shape: Vec<u64>,
    source_chunks: Vec<u64>,
    target_chunks: Vec<u64>,
    itemsize: u64,
    max_mem: u64,
    consolidate_reads: bool,
    consolidate_writes: bool,
) -> PyResult<Stage> {
    let rechunking = Rechunking {
        shape: &shape,
        source_chunks: &source_chunks,
        target_chunks: &target_chunks,
        itemsize_bytes: itemsize,
    };
    let options = PlannerOptions {
        intermediate_bytes_min: 0,
        memory_bytes_max: max_mem,
        consolidate_reads,
        consolidate_writes,
    };
    baseline::rechunking_plan(&rechunking, &options).map(tuple).map_err(|error| refused(&error))
}

/// Plan of the fewest stages whose intermediate chunks are large enough, and whether the search
/// stopped because another stage would have cost more operations.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "rechunker's own")]
#[expect(clippy::needless_pass_by_value, reason = "as values of Python come")]
pub(crate) fn multistage_rechunking_plan(
    shape: Vec<u64>,
    source_chunks: Vec<u64>,
    target_chunks: Vec<u64>,
    itemsize: u64,
    min_mem: u64,
    max_mem: u64,
    consolidate_reads: bool,
    consolidate_writes: bool,
) -> PyResult<(Vec<Stage>, bool)> {
    let rechunking = Rechunking {
        shape: &shape,
        source_chunks: &source_chunks,
        target_chunks: &target_chunks,
        itemsize_bytes: itemsize,
    };
    let options = PlannerOptions {
        intermediate_bytes_min: min_mem,
        memory_bytes_max: max_mem,
        consolidate_reads,
        consolidate_writes,
    };
    let MultistagePlan { stages, excessive_io_warning, .. } =
        baseline::multistage_rechunking_plan(&rechunking, &options)
            .map_err(|error| refused(&error))?;
    Ok((stages.into_iter().map(tuple).collect(), excessive_io_warning))
}
