//! Request for the plan of a pyramid.

use rechunk_grid::DataType;
use rechunk_plan::{
    ArrayId, LevelsFrom, MissingCells, PlanRequest, PyramidLevel, PyramidWork, Side,
};
use rechunk_reduce::{Method, Rounding};

/// A level that is to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct PyramidTarget {
    /// Source elements of a cell along each axis.
    pub factors: Vec<u64>,
    /// Shape, elements.
    pub shape: Vec<u64>,
    /// Layout.
    pub side: Side,
}

/// Request for the plan of a pyramid.
#[derive(Debug, Clone)]
pub struct PyramidPlanRequest<'a> {
    /// Source, stores and budget. Its target is the first level.
    pub request: &'a PlanRequest,
    /// The levels that are written, finest first.
    pub levels: &'a [PyramidTarget],
    /// Type of elements.
    pub data_type: DataType,
    /// Rule by which elements become fewer.
    pub method: Method,
    /// Rule by which means become integers.
    pub rounding: Rounding,
    /// Array from which a level is computed.
    pub from: LevelsFrom,
    /// Rule for chunks that are not stored.
    pub missing: MissingCells,
}

impl PyramidPlanRequest<'_> {
    /// The pyramid, without its passes.
    pub(crate) fn work(&self) -> PyramidWork {
        let levels = self.levels.iter().enumerate().map(|(number, level)| PyramidLevel {
            array: ArrayId(number + 1),
            factors: level.factors.clone(),
            shape: level.shape.clone(),
        });
        PyramidWork {
            method: self.method,
            rounding: self.rounding,
            from: self.from,
            missing: self.missing,
            extent: self.extent(),
            levels: levels.collect(),
            passes: Vec::new(),
            transfer_bytes: 0,
        }
    }

    /// Elements of the source that count: those that some cell of some level has.
    fn extent(&self) -> Vec<u64> {
        let axes = self.request.shape.iter().enumerate().map(|(axis, &extent)| {
            let reach = |level: &PyramidTarget| {
                level.shape[axis].saturating_mul(level.factors[axis]).min(extent)
            };
            self.levels.iter().map(reach).max().unwrap_or(extent)
        });
        axes.collect()
    }

    /// Bytes of an element of blocks: results that are not rounded.
    pub(crate) fn block_item_bytes(&self) -> u64 {
        self.method.handed_on_bytes(self.data_type)
    }
}
