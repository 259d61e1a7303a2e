//! Extension module `rechunk._rechunk`: what the Python package asks of the library.
//!
//! Options come as Python values, become the words that the command line takes, and are read by the
//! types that read those. Reports go back as the objects that the command line prints as JSON.
//! Work runs on threads of its own with the interpreter released ([`waiting`]).

mod allocator;
mod apply;
mod apply_request;
mod baseline;
mod calls;
mod cancel;
mod elements;
mod errors;
mod function;
mod open_calls;
mod options;
mod plan;
mod progress;
mod pyramid;
mod pyramid_request;
mod remedy;
mod request;
mod runtime;
mod values;
mod waiting;

use pyo3::prelude::*;

/// Functions and types that `rechunk` is made of; not to be called by others.
#[pymodule]
mod _rechunk {
    use pyo3::prelude::*;
    use pyo3::types::PyModule;

    #[pymodule_export]
    use crate::apply::apply;
    #[pymodule_export]
    use crate::baseline::{
        calculate_single_stage_io_ops, calculate_stage_chunks, consolidate_chunks,
        multistage_rechunking_plan, rechunking_plan,
    };
    #[pymodule_export]
    use crate::calls::{clean, info, migrate, parse_bytes, probe, status, verify};
    #[pymodule_export]
    use crate::cancel::Cancel;
    #[pymodule_export]
    use crate::elements::Elements;
    #[pymodule_export]
    use crate::plan::Job;
    #[pymodule_export]
    use crate::pyramid::pyramid;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::allocator::configure();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("PLAN_VERSION", rechunk::planner::PLAN_VERSION)
    }
}
