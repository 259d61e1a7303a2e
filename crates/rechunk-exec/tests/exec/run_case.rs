//! Random arrays in raw files, schedules for them, and the naive way of writing the files.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use rechunk_array::Array;
use rechunk_exec::{Execution, Sink};
use rechunk_format::{CodecCost, ElementOrder, FormatError, Layout, RunFormat, ShardFormat};
use rechunk_grid::{ArraySpec, DataType, Endian, Region, WriteEmpty};
use rechunk_plan::keep::{Buffers, Model, Problem, Schedule};
use rechunk_plan::{
    Kernel, Plan, PlanRequest, Profile, RunsSide, Side, StoreProfile, Strategy as Kind, Way,
};
use rechunk_planner::{PlanError, plan};
use rechunk_store::{Meter, Role, Store};

use crate::case::counted;

/// Files of raw elements: `c/INDEX`.
#[derive(Debug)]
pub(crate) struct RunLayout {
    spec: ArraySpec,
    order: ElementOrder,
    runs: RunFormat,
    cost: CodecCost,
}

impl Layout for RunLayout {
    fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    fn format_name(&self) -> &'static str {
        "test"
    }

    fn element_order(&self) -> &ElementOrder {
        &self.order
    }

    fn codec_cost(&self) -> &CodecCost {
        &self.cost
    }

    fn encoding_identity(&self) -> &'static str {
        "raw"
    }

    fn codec_summary(&self) -> &'static str {
        "none"
    }

    fn shards(&self) -> Option<&ShardFormat> {
        None
    }

    fn runs(&self) -> Option<&RunFormat> {
        Some(&self.runs)
    }

    fn object_key(&self, index: &[u64]) -> String {
        let index: Vec<String> = index.iter().map(u64::to_string).collect();
        if index.is_empty() { "c/0".to_owned() } else { format!("c/{}", index.join(".")) }
    }

    fn object_index(&self, key: &str) -> Option<Vec<u64>> {
        let index = key.strip_prefix("c/")?.split('.').map(|part| part.parse().ok());
        index.take(self.spec.shape.len()).collect()
    }

    fn decode<'a>(
        &self,
        _index: &[u64],
        _encoded: &'a [u8],
        _scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        panic!("nothing is decoded")
    }

    fn encode(&self, _: &[u64], _: &[u8], _: &mut Vec<u8>) -> Result<(), FormatError> {
        panic!("nothing is encoded")
    }
}

/// One side of a case.
#[derive(Debug, Clone)]
pub(crate) struct RunSide {
    pub block: Vec<u64>,
    pub axes: Vec<usize>,
    pub endian: Endian,
    pub offset_bytes: u64,
    pub has_tail: bool,
}

/// Two sides and what is between them.
#[derive(Debug, Clone)]
pub(crate) struct RunCase {
    pub shape: Vec<u64>,
    pub data_type: DataType,
    pub source: RunSide,
    pub target: RunSide,
    /// In place of the planner's.
    pub schedule: Option<Schedule>,
    /// For buffers, beyond the least that works, bytes.
    pub spare_bytes: u64,
    pub lanes: u32,
    pub lane_bytes: u64,
}

fn side(shape: &[u64]) -> impl Strategy<Value = RunSide> + use<> {
    let rank = shape.len();
    let axes = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    let endian = prop_oneof![Just(Endian::Little), Just(Endian::Big)];
    let offset_bytes = prop_oneof![Just(0), 1_u64..20];
    let block: Vec<_> =
        shape.iter().map(|&extent| prop_oneof![3 => 1_u64..9, 1 => Just(extent.max(1))]).collect();
    (block, axes, endian, offset_bytes, any::<bool>()).prop_map(
        |(block, axes, endian, offset_bytes, has_tail)| RunSide {
            block,
            axes,
            endian,
            offset_bytes,
            has_tail,
        },
    )
}

fn schedule(shape: &[u64]) -> impl Strategy<Value = Schedule> + use<> {
    let rank = shape.len();
    let buffer: Vec<_> = shape.iter().map(|&extent| 1_u64..=extent.max(1)).collect();
    let kept = prop::collection::vec(any::<bool>(), rank);
    let step_axes = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    (buffer, kept, step_axes).prop_map(|(buffer, kept, step_axes)| Schedule {
        buffer,
        kept,
        step_axes,
    })
}

/// Any array, with any schedule.
pub(crate) fn run_cases() -> impl Strategy<Value = RunCase> {
    let shape = (0_usize..5).prop_flat_map(|rank| {
        let most = [1, 60, 20, 9, 6][rank];
        prop::collection::vec(prop_oneof![1 => Just(0), 60 => 1_u64..=most], rank)
    });
    let data_type = prop::sample::select(vec![
        DataType::Uint8,
        DataType::Int16,
        DataType::Float32,
        DataType::Complex64,
        DataType::Complex128,
        DataType::FixedBytes { bytes: 5 },
        DataType::FixedUtf32 { characters: 3 },
        DataType::Structured { bytes: 24 },
    ]);
    let sides = shape.prop_flat_map(|shape| {
        (side(&shape), side(&shape), prop::option::weighted(0.8, schedule(&shape)), Just(shape))
    });
    let lane_bytes = prop_oneof![1_u64..400, Just(1 << 20)];
    (sides, data_type, 0_u64..3000, 1_u32..6, lane_bytes).prop_map(
        |((source, target, schedule, shape), data_type, spare_bytes, lanes, lane_bytes)| RunCase {
            shape,
            data_type,
            source,
            target,
            schedule,
            spare_bytes,
            lanes,
            lane_bytes,
        },
    )
}

impl RunSide {
    /// Files of `block` in C order, little-endian.
    pub(crate) fn plain(block: &[u64]) -> Self {
        Self {
            block: block.to_vec(),
            axes: (0..block.len()).collect(),
            endian: Endian::Little,
            offset_bytes: 0,
            has_tail: false,
        }
    }

    fn runs(&self) -> RunsSide {
        let (block_shape, order) = (self.block.clone(), self.axes.clone());
        RunsSide { block_shape, order, offset_bytes: self.offset_bytes }
    }

    fn header(&self) -> Vec<u8> {
        vec![0x48; usize::try_from(self.offset_bytes).unwrap().min(3)]
    }
}

impl RunCase {
    pub(crate) fn item_bytes(&self) -> usize {
        usize::try_from(self.data_type.item_bytes()).unwrap()
    }

    pub(crate) fn array_bytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.data_type.item_bytes()
    }

    pub(crate) fn layout(&self, side: &RunSide) -> RunLayout {
        let spec = ArraySpec {
            shape: self.shape.clone(),
            data_type: self.data_type,
            chunk_shape: side.block.clone(),
            fill_value: None,
            dimension_names: None,
            edges: None,
        };
        let bytes = side.block.iter().product::<u64>() * spec.item_bytes();
        RunLayout {
            order: ElementOrder { axes: side.axes.clone(), endian: side.endian },
            runs: RunFormat {
                block_shape: side.block.clone(),
                offset_bytes: side.offset_bytes,
                axes: side.axes.clone(),
                header: side.header(),
                has_tail: side.has_tail,
                is_single: false,
            },
            cost: CodecCost {
                name: "none".to_owned(),
                is_raw: true,
                encoded_bytes_max: bytes,
                decode_workspace_bytes: 0,
                encode_workspace_bytes: 0,
            },
            spec,
        }
    }

    pub(crate) fn problem(&self) -> Problem {
        Problem {
            shape: self.shape.clone(),
            source_block: self.source.block.clone(),
            target_block: self.target.block.clone(),
            item_bytes: self.data_type.item_bytes(),
            memory_bytes: u64::MAX,
            source_order: self.source.axes.clone(),
            target_order: self.target.axes.clone(),
        }
    }

    fn request(&self) -> PlanRequest {
        let item_bytes = self.data_type.item_bytes();
        let side =
            |side: &RunSide| Side { runs: Some(side.runs()), ..Side::raw(&side.block, item_bytes) };
        let sides = (side(&self.source), side(&self.target));
        PlanRequest {
            profile: Profile::uniform(&StoreProfile::built_in("memory").unwrap()),
            strategy: Kind::Keep,
            ..PlanRequest::local(&self.shape, item_bytes, sides, 0)
        }
    }

    /// The plan. With a schedule of its own, what it reserves is exactly what that holds.
    pub(crate) fn plan(&self) -> Plan {
        let mut request = self.request();
        let Err(PlanError::DoesNotFit { minimum_bytes, .. }) = plan(&request) else {
            panic!("planned without memory")
        };
        request.budget.memory_bytes = minimum_bytes + self.spare_bytes;
        let mut plan = plan(&request).unwrap().plan;
        let held_bytes = self.schedule.as_ref().map(|schedule| {
            let model = Model::new(&self.problem()).unwrap();
            plan.stages[0].kernel = Kernel::Copy(Way::Runs(schedule.clone()));
            model.bytes(model.memory_exact(schedule, u64::MAX).unwrap())
        });
        let held_bytes = held_bytes.unwrap_or(plan.stages[0].resident_bytes);
        self.reserve(&mut plan, held_bytes);
        plan
    }

    /// Makes a plan with the lanes of the case reserve `held_bytes` beside them.
    pub(crate) fn reserve(&self, plan: &mut Plan, held_bytes: u64) {
        let stage = &mut plan.stages[0];
        (stage.lanes, stage.lane_bytes) = (self.lanes, self.lane_bytes);
        stage.resident_bytes = held_bytes;
        stage.task_bytes = held_bytes + u64::from(stage.lanes) * stage.lane_bytes;
        plan.memory.planned_peak_bytes = plan.memory.fixed_bytes + stage.task_bytes;
    }

    pub(crate) fn buffers(&self, plan: &Plan) -> Buffers {
        Buffers::new(&self.problem(), plan.stages[0].schedule().unwrap()).unwrap()
    }

    /// The element at a position, as it lies in a file of `side`.
    fn element(&self, side: &RunSide, position: &[u64]) -> Vec<u8> {
        let mut value = Region::whole(&self.shape).ordinal(position);
        let mut item: Vec<u8> = (0..self.item_bytes())
            .map(|_| {
                value = (value + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                value.to_le_bytes()[7]
            })
            .collect();
        if side.endian == Endian::Big {
            self.data_type.swap(&mut item);
        }
        item
    }

    /// The name and bytes of every file of `side`.
    pub(crate) fn files(&self, side: &RunSide) -> Vec<(String, Vec<u8>)> {
        let layout = self.layout(side);
        let grid = layout.spec.grid().unwrap();
        let file = |index: Vec<u64>| {
            let mut bytes = side.header();
            bytes.resize(usize::try_from(side.offset_bytes).unwrap(), 0);
            for position in grid.region(&index).positions_in(&side.axes) {
                bytes.extend(self.element(side, &position));
            }
            (layout.object_key(&index), bytes)
        };
        grid.indices().positions().map(file).collect()
    }

    /// The source in files, and a place for the target.
    pub(crate) fn prepare(&self) -> PreparedRuns {
        let directory = tempfile::tempdir().unwrap();
        let array = |name: &str, side: &RunSide| {
            let path = directory.path().join(name);
            fs::create_dir_all(path.join("c")).unwrap();
            Array::new(Arc::new(self.layout(side)), Store::open(path.to_str().unwrap()).unwrap())
        };
        let (source, target) = (array("source", &self.source), array("target", &self.target));
        for (key, mut bytes) in self.files(&self.source) {
            if self.source.has_tail {
                bytes.extend([0xEE; 9]);
            }
            fs::write(directory.path().join("source").join(key), bytes).unwrap();
        }
        PreparedRuns { directory, source, target }
    }
}

/// The arrays of a case.
pub(crate) struct PreparedRuns {
    directory: tempfile::TempDir,
    pub source: Array,
    pub target: Array,
}

impl PreparedRuns {
    /// Path of a file of the source.
    pub(crate) fn source_path(&self, key: &str) -> std::path::PathBuf {
        self.directory.path().join("source").join(key)
    }

    pub(crate) fn target_root(&self) -> std::path::PathBuf {
        self.directory.path().join("target")
    }

    pub(crate) fn work_root(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn execution(&self, plan: &Plan, meter: &Arc<Meter>) -> Execution {
        Execution {
            plan: plan.clone(),
            tasks: None,
            source: counted(&self.source, Role::Source, meter),
            sink: Sink::Write(counted(&self.target, Role::Target, meter)),
            intermediate: None,
            write_empty: WriteEmpty::Auto,
            takes_digest: true,
            in_place: false,
            list_after_missing: None,
            ops: Vec::new(),
            windows: None,
            levels: Vec::new(),
        }
    }

    /// Finishes the target and compares its files with those of a naive copy.
    pub(crate) async fn assert_target(&self, expected: &[(String, Vec<u8>)]) {
        self.target.finish_objects().await.unwrap();
        for (key, bytes) in expected {
            let found = fs::read(self.target_root().join(key)).unwrap();
            assert!(found == *bytes, "{key}: {found:?} instead of {bytes:?}");
        }
    }
}
