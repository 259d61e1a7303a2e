//! Counts over chunks that differ in length: where regular grids have closed forms, lists
//! are walked, each question once. What was counted of regular axes lives as long, so it is kept
//! here.

use crate::PlanRequest;
use crate::axis_cuts::AxisCuts;
use crate::count::{pairs_along, product};
use crate::target_cuts::TargetAxis;
use crate::unit_counts::UnitCounts;

/// The axes of the source where chunks differ in length, and what was counted of the others.
#[derive(Debug)]
pub struct Cuts<'a> {
    /// Empty if there are none.
    axes: Vec<Option<AxisCuts<'a>>>,
    /// Those of the target. Empty if there are none.
    target: Vec<Option<TargetAxis<'a>>>,
    unit_counts: UnitCounts,
}

/// Boxes that cover an array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Boxes<'a> {
    /// Shape of the largest, elements.
    pub shape: &'a [u64],
    /// They are filled with chunks of the target: on axes where these differ in length a box is a
    /// group of them.
    pub of_target: bool,
}

impl<'a> Cuts<'a> {
    /// Looks at both sides of a request.
    pub fn new(request: &'a PlanRequest) -> Self {
        let unit_counts = UnitCounts::default();
        let of_target = |axis| request.target.edges.as_ref()?.axis(axis);
        let target: Vec<Option<TargetAxis<'_>>> = match &request.target.edges {
            None => Vec::new(),
            Some(_) => (0..request.shape.len())
                .map(|axis| Some(TargetAxis::new(of_target(axis)?, request.shape[axis])))
                .collect(),
        };
        let Some(edges) = &request.source.edges else {
            return Self { axes: Vec::new(), target, unit_counts };
        };
        let commit = request.target.commit_shape();
        let of = |axis: usize| {
            let edges = edges.axis(axis)?;
            // Boxes that end on chunks of the target are no multiples of one length.
            let commit = of_target(axis).map_or(commit[axis], |_| request.shape[axis].max(1));
            Some(AxisCuts::new(edges, request.shape[axis], commit))
        };
        Self { axes: (0..request.shape.len()).map(of).collect(), target, unit_counts }
    }

    /// Counts of resident units where chunks are regular.
    pub(crate) fn unit_counts(&self) -> &UnitCounts {
        &self.unit_counts
    }

    /// The cuts of `axis`; `None` if it is regular.
    pub fn axis(&self, axis: usize) -> Option<&AxisCuts<'a>> {
        self.axes.get(axis)?.as_ref()
    }

    /// The target's cuts of `axis`; `None` if its chunks are regular there.
    pub fn target_axis(&self, axis: usize) -> Option<&TargetAxis<'a>> {
        self.target.get(axis)?.as_ref()
    }

    /// The cuts of `axis` that boxes end on, where they are filled with chunks of the target.
    fn box_axis(&self, boxes: Boxes<'_>, axis: usize) -> Option<&TargetAxis<'a>> {
        self.target_axis(axis).filter(|_| boxes.of_target)
    }

    /// Whether boxes are groups of chunks that differ in length along `axis`.
    pub(crate) fn has_box_ends(&self, boxes: Boxes<'_>, axis: usize) -> bool {
        self.box_axis(boxes, axis).is_some()
    }

    /// Number of pairs (box, source chunk) that share an element, and the elements of the chunks of
    /// all pairs.
    pub(crate) fn pairs(&self, request: &PlanRequest, boxes: Boxes<'_>) -> (u64, u64) {
        (0..boxes.shape.len()).fold((1, 1), |(pairs, elements): (u64, u64), axis| {
            let along = self.pairs_on(request, boxes, axis);
            (pairs.saturating_mul(along.0), elements.saturating_mul(along.1))
        })
    }

    /// Counts the pairs of [`Cuts::pairs`] and their elements on `axis` alone.
    pub(crate) fn pairs_on(
        &self,
        request: &PlanRequest,
        boxes: Boxes<'_>,
        axis: usize,
    ) -> (u64, u64) {
        let extent = boxes.shape[axis];
        let chunk = request.source.chunk_shape[axis];
        match (self.axis(axis), self.box_axis(boxes, axis)) {
            (Some(cuts), None) => cuts.pairs(extent),
            (Some(cuts), Some(target)) => target.pairs_with(extent, cuts.edges()),
            (None, _) => {
                let pairs = self.pairs_along(request, boxes, axis, chunk);
                (pairs, pairs.saturating_mul(chunk))
            }
        }
    }

    /// Number of reads along `axis` of a stage that fills boxes of `tile` elements with chunks of
    /// the target. A read is a pair of a box and an input, of `input` elements where the source is
    /// regular.
    pub fn reads_along(&self, request: &PlanRequest, tile: &[u64], axis: usize, input: u64) -> u64 {
        let boxes = Boxes { shape: tile, of_target: true };
        match self.axis(axis) {
            Some(_) => self.pairs_on(request, boxes, axis).0,
            None => self.pairs_along(request, boxes, axis, input),
        }
    }

    /// Number of pairs (box, cell of a regular grid) that share an element along `axis`.
    pub(crate) fn pairs_along(
        &self,
        request: &PlanRequest,
        boxes: Boxes<'_>,
        axis: usize,
        cell: u64,
    ) -> u64 {
        match self.box_axis(boxes, axis) {
            Some(target) => target.pairs(boxes.shape[axis], cell),
            None => pairs_along(request.shape[axis], boxes.shape[axis], cell),
        }
    }

    /// Number of pairs (box, cell of a regular grid) that share an element.
    pub(crate) fn pairs_with(&self, request: &PlanRequest, boxes: Boxes<'_>, cell: &[u64]) -> u64 {
        let along = |axis: usize| self.pairs_along(request, boxes, axis, cell[axis]);
        product((0..cell.len()).map(along))
    }

    /// Number of boxes.
    pub(crate) fn boxes(&self, request: &PlanRequest, boxes: Boxes<'_>) -> u64 {
        product((0..boxes.shape.len()).map(|axis| match self.box_axis(boxes, axis) {
            Some(_) if request.shape[axis] == 0 => 0,
            Some(target) => target.box_ends(boxes.shape[axis]).len() as u64,
            None => request.shape[axis].div_ceil(boxes.shape[axis]),
        }))
    }

    /// Number of target chunks, or of the shards that they lie in.
    pub(crate) fn target_objects(&self, request: &PlanRequest, cell: &[u64]) -> u64 {
        product((0..cell.len()).map(|axis| match self.target_axis(axis) {
            Some(target) => target.count(),
            None => request.shape[axis].div_ceil(cell[axis]),
        }))
    }

    /// Elements of all target chunks, with their padding.
    pub(crate) fn target_elements(&self, request: &PlanRequest) -> u64 {
        let chunk = &request.target.chunk_shape;
        product((0..chunk.len()).map(|axis| match self.target_axis(axis) {
            Some(target) => target.stored(),
            None => request.shape[axis].div_ceil(chunk[axis]).saturating_mul(chunk[axis]),
        }))
    }

    /// Most units of `unit` elements that a box has along `axis`.
    pub(crate) fn units_max(
        &self,
        request: &PlanRequest,
        boxes: Boxes<'_>,
        (axis, unit): (usize, u64),
    ) -> u64 {
        match self.box_axis(boxes, axis) {
            Some(target) => target.chunks_max(boxes.shape[axis]),
            None => boxes.shape[axis].min(request.shape[axis]).div_ceil(unit),
        }
    }

    /// Boxes that a source chunk meets along `axis`, on average.
    pub(crate) fn boxes_of_each(
        &self,
        request: &PlanRequest,
        boxes: Boxes<'_>,
        axis: usize,
    ) -> f64 {
        let chunks = match self.axis(axis) {
            Some(cuts) => cuts.count(),
            None => request.shape[axis].div_ceil(request.source.chunk_shape[axis]),
        };
        let pairs = self.pairs_on(request, boxes, axis).0;
        pairs.max(1) as f64 / chunks.max(1) as f64
    }
}
