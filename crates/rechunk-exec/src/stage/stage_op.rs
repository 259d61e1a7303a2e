//! The operation of a stage, on its finished units.

use std::sync::Arc;

use rechunk_grid::{DataType, Endian};
use rechunk_plan::{Kernel, OpSpec, Stage};

use crate::op::{Op, OpElements};
use crate::{Execution, Fault};

/// The operation of a stage.
#[derive(Debug)]
pub(crate) struct StageOp {
    op: Arc<dyn Op>,
    spec: OpSpec,
    data_type: DataType,
    endian: Endian,
}

impl StageOp {
    /// The operation that the stage's kernel names; `None` where that is no operation.
    pub(crate) fn of(
        stage: &Stage,
        execution: &Execution,
        data_type: DataType,
        endian: Endian,
    ) -> Option<Self> {
        let Kernel::Op(spec) = &stage.kernel else { return None };
        let op = execution.op(spec, data_type)?;
        Some(Self { op: Arc::clone(op), spec: spec.clone(), data_type, endian })
    }

    /// Computes the elements of a unit in their place.
    pub(crate) fn apply(&self, bytes: &mut [u8]) -> Result<(), Fault> {
        let elements = OpElements { bytes, data_type: self.data_type, endian: self.endian };
        let fault = |reason| Fault::Op { name: self.spec.name.clone(), reason };
        self.op.apply(&self.spec, elements).map_err(fault)
    }
}
