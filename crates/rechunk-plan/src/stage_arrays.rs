//! Arrays of a stage, and the shapes that it reads and writes of them.

use rechunk_grid::Edges;

use crate::array::NO_ARRAY;
use crate::{Kernel, Plan, PlanArray, Stage, Unit};

impl Stage {
    /// Array that it reads: the first, where it reads several.
    pub fn input<'a>(&self, plan: &'a Plan) -> &'a PlanArray {
        self.inputs.first().map_or(&NO_ARRAY, |input| plan.array(input.array))
    }

    /// Array that it writes: the first, where it writes several.
    pub fn output<'a>(&self, plan: &'a Plan) -> &'a PlanArray {
        self.outputs.first().map_or(&NO_ARRAY, |output| plan.array(output.array))
    }

    /// Shape of what is fetched at a time, elements: a chunk, a shard, or an object of an
    /// intermediate.
    pub fn fetch_shape<'a>(&self, plan: &'a Plan) -> &'a [u64] {
        let array = self.input(plan);
        match self.input_unit() {
            Unit::Chunk | Unit::Piece => &array.chunk,
            Unit::Shard => array.commit_shape(),
        }
    }

    /// Shape of what is copied at a time, elements: of a shard, a chunk.
    pub(crate) fn grain_shape<'a>(&self, plan: &'a Plan) -> &'a [u64] {
        &self.input(plan).chunk
    }

    /// Shape of what is filled and sent out, elements: a chunk, a shard, or a box of the stage that
    /// reads the intermediate.
    pub fn unit_shape<'a>(&self, plan: &'a Plan) -> &'a [u64] {
        let array = self.output(plan);
        match self.output_unit() {
            Unit::Chunk => &array.chunk,
            Unit::Shard => array.commit_shape(),
            Unit::Piece => self.read_in(plan).unwrap_or(&array.chunk),
        }
    }

    /// Shape of what becomes visible at once, elements.
    pub(crate) fn commit_shape<'a>(&self, plan: &'a Plan) -> &'a [u64] {
        match self.output_unit() {
            Unit::Chunk | Unit::Shard => self.output(plan).commit_shape(),
            Unit::Piece => self.unit_shape(plan),
        }
    }

    /// Box of the stage that reads the intermediate it writes, elements.
    pub(crate) fn read_in<'a>(&self, plan: &'a Plan) -> Option<&'a [u64]> {
        self.reader(plan).map(Stage::filled)
    }

    /// Stage that reads the intermediate it writes.
    pub(crate) fn reader<'a>(&self, plan: &'a Plan) -> Option<&'a Self> {
        let output = self.outputs.first().filter(|output| output.unit == Unit::Piece)?;
        plan.reader(output.array)
    }

    /// Where chunks of the target that it writes end, if they differ in length.
    pub(crate) fn target_edges<'a>(&self, plan: &'a Plan) -> Option<&'a Edges> {
        self.output(plan).edges.as_ref().filter(|_| self.writes_target())
    }

    /// Shape of the elements that a task writes: its tile, or of an apply, its work chunk or what
    /// it combines.
    pub fn write_box(&self, plan: &Plan) -> Vec<u64> {
        let Some(job) = plan.apply.as_ref().map(|work| &work.job) else {
            return self.tile.clone();
        };
        let combines = matches!(self.kernel, Kernel::Combine(_));
        if combines { job.pull_shape_max() } else { job.task_shape_max(job.top()) }
    }

    /// Shape of the elements that a task reads at once: the input chunks of one step, at most the
    /// tile; or a buffer.
    pub fn read_box(&self, plan: &Plan) -> Vec<u64> {
        if let Some(job) = plan.apply.as_ref().map(|work| &work.job) {
            let combines = matches!(self.kernel, Kernel::Combine(_));
            return if combines { job.pull_shape_max() } else { job.op_input_shape_max() };
        }
        if let Some(schedule) = self.schedule() {
            return schedule.buffer.clone();
        }
        if plan.pyramid.is_some() {
            return self.filled().to_vec();
        }
        let input = self.fetch_shape(plan);
        (0..self.tile.len())
            .map(|axis| self.step_chunks[axis].saturating_mul(input[axis]).min(self.filled()[axis]))
            .collect()
    }
}
