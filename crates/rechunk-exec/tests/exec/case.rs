//! Random arrays, the plan for them, and the naive way of reading and writing chunks.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use proptest::prelude::*;
use rechunk_array::{Array, ShardWriter};
use rechunk_exec::{
    ArrayDigest, ExecError, Execution, Journal, NullObserver, Observer, RunReport, Sink, run,
};
use rechunk_format::{ElementOrder, IndexLocation, Layout, ShardFormat};
use rechunk_grid::{ArraySpec, ChunkGrid, DataType, Edges, Endian, FillValue, Region, WriteEmpty};
use rechunk_kernel::{Digest, DigestKeys};
use rechunk_plan::{
    Budget, IntermediateGrid, Multipart, Plan, PlanRequest, Profile, ShardSide, Side, StoreProfile,
    Strategy as Kind,
};
use rechunk_store::{Meter, Role, Store};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::layout::{Codec, TestLayout};

/// One side of a case.
#[derive(Debug, Clone)]
pub(crate) struct SideCase {
    pub chunk: Vec<u64>,
    /// Edges of chunks that differ in length; `chunk` is then the largest.
    pub edges: Option<Edges>,
    /// Chunks of a shard along each axis, and whether its index comes first.
    pub shards: Option<(Vec<u64>, bool)>,
    pub order: ElementOrder,
    pub codec: Codec,
    pub fill: Option<u8>,
}

impl SideCase {
    /// Chunks of this shape, each an object of its own, little-endian and in C order, without a
    /// fill value.
    pub(crate) fn plain(chunk: &[u64], codec: Codec) -> Self {
        let order = ElementOrder::c_little(chunk.len());
        Self { chunk: chunk.to_vec(), edges: None, shards: None, order, codec, fill: None }
    }
}

/// Two sides and what is between them.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub shape: Vec<u64>,
    pub data_type: DataType,
    pub source: SideCase,
    pub target: SideCase,
    pub kind: Kind,
    pub threads: u32,
    /// Beyond the least that works, bytes.
    pub spare_bytes: u64,
    pub write_empty: WriteEmpty,
    /// Source chunk `n` (C order) is missing if bit `n % 64` is set.
    pub missing: u64,
    pub seed: u64,
}

impl Case {
    pub(crate) fn item_bytes(&self) -> usize {
        usize::try_from(self.data_type.item_bytes()).unwrap()
    }

    fn fill(&self, side: &SideCase) -> Vec<u8> {
        let mut item = vec![0; self.item_bytes()];
        item[0] = side.fill.unwrap_or(0); // little-endian
        item
    }

    pub(crate) fn layout(&self, side: &SideCase) -> TestLayout {
        let spec = ArraySpec {
            shape: self.shape.clone(),
            data_type: self.data_type,
            chunk_shape: side.chunk.clone(),
            edges: side.edges.clone(),
            fill_value: side.fill.map(|_| FillValue { bytes: self.fill(side) }),
            dimension_names: None,
        };
        let mut layout = TestLayout::new(spec, side.order.clone(), side.codec);
        layout.shards = self.shards(side);
        layout.tells_absence = self.tells_absence();
        layout
    }

    /// Absent chunks of the source mean something else than fill values.
    fn tells_absence(&self) -> bool {
        self.seed.is_multiple_of(7)
    }

    pub(crate) fn shards(&self, side: &SideCase) -> Option<ShardFormat> {
        let (counts, at_start) = side.shards.as_ref()?;
        let shape: Vec<u64> = side.chunk.iter().zip(counts).map(|(a, b)| a * b).collect();
        let location = if *at_start { IndexLocation::Start } else { IndexLocation::End };
        ShardFormat::new(
            &shape,
            &side.chunk,
            location,
            Endian::Little,
            !self.seed.is_multiple_of(3),
        )
        .ok()
    }

    /// Shards of the source have more in them than chunks.
    pub(crate) fn has_gaps(&self) -> bool {
        self.seed.is_multiple_of(5)
    }

    /// The source is never listed, first, or after something was missing.
    fn list_after_missing(&self) -> Option<u64> {
        [None, Some(0), Some(2)][usize::try_from(self.seed / 13 % 3).unwrap()]
    }

    /// Number of objects of a side, were no chunk missing.
    pub(crate) fn objects(&self, side: &SideCase) -> u64 {
        match self.shards(side) {
            Some(shards) => ChunkGrid::new(&self.shape, shards.shard_shape()).unwrap().count(),
            None => self.layout(side).spec().grid().unwrap().count(),
        }
    }

    pub(crate) fn request(&self) -> PlanRequest {
        let side = |side: &SideCase| {
            let cost = self.layout(side).codec_cost().clone();
            let shard = self.shards(side).map(|format| {
                let is_first = format.location() == IndexLocation::Start;
                ShardSide::flat(format.shard_shape().to_vec(), format.index_bytes(), is_first)
            });
            Side {
                chunk_shape: side.chunk.clone(),
                edges: side.edges.clone(),
                shard,
                codec: cost.name,
                is_raw: cost.is_raw,
                encoded_bytes_max: cost.encoded_bytes_max,
                encoded_bytes_expected: match side.codec {
                    Codec::Runs => cost.encoded_bytes_max / 2,
                    _ => cost.encoded_bytes_max,
                },
                decode_workspace_bytes: cost.decode_workspace_bytes,
                encode_workspace_bytes: cost.encode_workspace_bytes,
                ..Side::raw(&side.chunk, 1)
            }
        };
        PlanRequest {
            shape: self.shape.clone(),
            item_bytes: self.data_type.item_bytes(),
            source: side(&self.source),
            target: side(&self.target),
            is_variable: false,
            same_encoding: self.kind == Kind::Passthrough,
            same_shards: self.kind == Kind::Passthrough
                && self.shards(&self.source) == self.shards(&self.target),
            store_can_copy: false,
            keeps_absence: self.tells_absence() && self.write_empty == WriteEmpty::Auto,
            budget: Budget {
                memory_bytes: 0,
                box_bytes: None,
                threads: self.threads,
                concurrency: None,
                workers: 1,
            },
            profile: Profile::uniform(&StoreProfile {
                multipart: self.multipart(),
                ..StoreProfile::built_in("memory").unwrap()
            }),
            strategy: self.kind,
            intermediate_grid: IntermediateGrid::Exact,
            intermediate_in_memory: false,
        }
    }

    /// Part sizes of the stores that are written, where they take large objects in parts.
    pub(crate) fn multipart(&self) -> Option<Multipart> {
        let threshold_bytes = self.seed / 7 % 300;
        let part_bytes = 1 + self.seed / 11 % 90;
        self.seed.is_multiple_of(4).then_some(Multipart { threshold_bytes, part_bytes })
    }

    /// The plan, with the least memory that works and what is to be spare; `None` if the kind
    /// does not apply.
    pub(crate) fn plan(&self) -> Option<Plan> {
        self.plan_of(self.request())
    }

    /// Plans a request made of [`Case::request`], as [`Case::plan`] does.
    pub(crate) fn plan_of(&self, mut request: PlanRequest) -> Option<Plan> {
        match rechunk_planner::plan(&request) {
            Err(rechunk_planner::PlanError::DoesNotFit { minimum_bytes, .. }) => {
                // Where the planner names no minimum, a few MiB are enough for these.
                let least = if minimum_bytes == u64::MAX { 8 << 20 } else { minimum_bytes };
                request.budget.memory_bytes = least + self.spare_bytes;
                Some(rechunk_planner::plan(&request).unwrap().plan)
            }
            Err(rechunk_planner::PlanError::NotApplicable { .. }) => None,
            other => panic!("planned without memory: {other:?}"),
        }
    }

    /// The elements of the whole array, C order, little-endian: what the source holds, its
    /// missing chunks included.
    pub(crate) fn elements(&self) -> Vec<u8> {
        let array = Region::whole(&self.shape);
        let grid = self.layout(&self.source).spec().grid().unwrap();
        let mut elements = Vec::new();
        for position in array.positions() {
            let one = Region::new(position.clone(), vec![1; position.len()]);
            let chunk = grid.covering(&one).start;
            if self.is_missing(grid.indices().ordinal(&chunk)) {
                elements.extend(self.fill(&self.source));
            } else {
                elements.extend(self.element(&position));
            }
        }
        elements
    }

    /// Coarse areas of 0 and 1, which fill values are, and of anything.
    fn element(&self, position: &[u64]) -> Vec<u8> {
        let area = position
            .iter()
            .fold(self.seed, |sum, at| (sum ^ (at / 4)).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let at =
            position.iter().fold(area, |sum, at| (sum ^ at).wrapping_mul(0xD1B5_4A32_D192_ED03));
        let value = match (area >> 60) % 3 {
            0 => 0,
            1 => 1,
            _ => at,
        };
        let mut bytes = value.to_le_bytes().to_vec();
        if value > 1 {
            // Every byte another, in elements of any size.
            let last = bytes[7].wrapping_mul(31);
            bytes.extend((1_u8..64).map(|step| last.wrapping_add(step)));
        }
        bytes.resize(self.item_bytes(), 0);
        bytes
    }

    fn is_missing(&self, ordinal: u64) -> bool {
        self.missing >> (ordinal % 64) & 1 == 1
    }

    /// Where, in the decoded `chunk`, the element at `position` of the array is.
    fn offset(&self, side: &SideCase, chunk: &Region, position: &[u64]) -> usize {
        let mut offset = 0;
        for &axis in &side.order.axes {
            offset = offset * chunk.shape[axis] + position[axis] - chunk.start[axis];
        }
        usize::try_from(offset).unwrap() * self.item_bytes()
    }

    fn ordered(&self, side: &SideCase, item: &[u8]) -> Vec<u8> {
        let mut item = item.to_vec();
        if side.order.endian == Endian::Big {
            let swap_bytes = usize::try_from(self.data_type.swap_bytes()).unwrap();
            item.chunks_mut(swap_bytes).for_each(<[u8]>::reverse);
        }
        item
    }

    /// Stores `elements` as the chunks of `side`, those left out that `skip` says.
    pub(crate) async fn store_chunks(
        &self,
        side: &SideCase,
        array: &Array,
        elements: &[u8],
        skip: impl Fn(u64) -> bool,
    ) {
        let layout = self.layout(side);
        let grid = layout.spec().grid().unwrap();
        let (whole, item_bytes) = (Region::whole(&self.shape), self.item_bytes());
        let mut writers: BTreeMap<Vec<u64>, ShardWriter> = BTreeMap::new();
        for index in grid.indices().positions() {
            if skip(grid.indices().ordinal(&index)) {
                continue;
            }
            let own = grid.chunk(&index);
            let bytes = usize::try_from(own.elements()).unwrap() * item_bytes;
            let mut chunk = vec![0xEE; bytes]; // padding that nobody may read
            for position in grid.region(&index).positions() {
                let from = usize::try_from(whole.ordinal(&position)).unwrap() * item_bytes;
                let to = self.offset(side, &own, &position);
                chunk[to..to + item_bytes]
                    .copy_from_slice(&self.ordered(side, &elements[from..from + item_bytes]));
            }
            let mut encoded = Vec::new();
            layout.encode(&index, &chunk, &mut encoded).unwrap();
            let Some(format) = &layout.shards else {
                array.write_chunk(&index, encoded.into()).await.unwrap();
                continue;
            };
            let shard = format.shard_of(&index);
            let writer = writers
                .entry(shard.clone())
                .or_insert_with(|| array.begin_shard(format, &shard).unwrap());
            if self.has_gaps() {
                // A writer that replaces a chunk leaves the old one where it was.
                writer.add(&index, vec![0xDD; 100_000].into()).await.unwrap();
            }
            writer.add(&index, encoded.into()).await.unwrap();
        }
        for writer in writers.into_values() {
            assert!(writer.finish().await.unwrap());
        }
    }

    /// The encoded chunk `index`.
    async fn read_chunk(&self, side: &SideCase, array: &Array, index: &[u64]) -> Option<Vec<u8>> {
        let Some(format) = self.shards(side) else {
            return array.read_chunk(index).await.unwrap().map(Into::into);
        };
        let shard = array.read_index(&format, &format.shard_of(index)).await.unwrap()?;
        let mut chunk = Vec::new();
        array.read_entry_into(index, shard.entry(format.slot(index))?, &mut chunk).await.unwrap();
        Some(chunk)
    }

    /// Which target chunks are stored is what it has to be.
    pub(crate) async fn check_stored(&self, prepared: &Prepared) -> Result<(), TestCaseError> {
        let sources = self.layout(&self.source).spec().grid().unwrap();
        let layout = self.layout(&self.target);
        let whole = Region::whole(&self.shape);
        let item_bytes = self.item_bytes();
        for index in layout.spec().grid().unwrap().indices().positions() {
            let region = layout.spec().grid().unwrap().region(&index);
            let is_fill = |position: Vec<u64>| {
                let at = usize::try_from(whole.ordinal(&position)).unwrap() * item_bytes;
                prepared.elements[at..at + item_bytes] == self.fill(&self.target)
            };
            let is_empty = self.target.fill.is_some() && region.positions().all(is_fill);
            let is_absent = sources
                .covering(&region)
                .positions()
                .all(|chunk| self.is_missing(sources.indices().ordinal(&chunk)));
            let is_left_out = match self.write_empty {
                WriteEmpty::Always => false,
                WriteEmpty::Never => is_empty,
                WriteEmpty::Auto => is_empty && (is_absent || !self.tells_absence()),
            };
            let found = self.read_chunk(&self.target, &prepared.target, &index).await;
            prop_assert_eq!(found.is_none(), is_left_out, "chunk {:?}", index);
        }
        Ok(())
    }

    /// Reads the whole array, C order, little-endian.
    pub(crate) async fn read_all(&self, side: &SideCase, array: &Array) -> Vec<u8> {
        let layout = self.layout(side);
        let grid = layout.spec().grid().unwrap();
        let whole = Region::whole(&self.shape);
        let item_bytes = self.item_bytes();
        let mut elements = vec![0; usize::try_from(whole.elements()).unwrap() * item_bytes];
        for index in grid.indices().positions() {
            let encoded = self.read_chunk(side, array, &index).await;
            let own = grid.chunk(&index);
            let mut scratch = Vec::new();
            let chunk = encoded
                .as_ref()
                .map(|encoded| layout.decode(&index, encoded, &mut scratch).unwrap());
            for position in grid.region(&index).positions() {
                let to = usize::try_from(whole.ordinal(&position)).unwrap() * item_bytes;
                let from = self.offset(side, &own, &position);
                let item = match chunk {
                    Some(chunk) => self.ordered(side, &chunk[from..from + item_bytes]),
                    None => self.fill(side),
                };
                elements[to..to + item_bytes].copy_from_slice(&item);
            }
        }
        elements
    }

    /// The digest of `elements`, by the kernel in one go.
    pub(crate) fn digest(&self, elements: &[u8]) -> Digest {
        let order = ElementOrder::c_little(self.shape.len());
        let strides = order.strides_bytes(&self.shape, self.data_type.item_bytes());
        let keys = DigestKeys::new(self.shape.len(), self.item_bytes());
        let start = vec![0; self.shape.len()];
        keys.region(&start, &self.shape, elements, 0, &strides, 1).unwrap()
    }

    /// The digest of the target, read again as `--verify` does.
    pub(crate) async fn target_digest(
        &self,
        prepared: &Prepared,
        kind: Kind,
        of_encoded_chunks: bool,
    ) -> Option<ArrayDigest> {
        let case = Self { source: self.target.clone(), kind, ..self.clone() };
        let plan = case.plan().filter(|plan| plan.stages.len() == 1)?;
        let meter = Meter::new();
        let execution = Execution {
            source: counted(&prepared.target, Role::Source, &meter),
            sink: Sink::Digest {
                array: counted(&prepared.target, Role::Target, &meter),
                of_encoded_chunks,
            },
            ..prepared.execution(&case, &plan, &meter)
        };
        let report = execute(execution, None).await.unwrap();
        let traffic = meter.traffic().target;
        assert_eq!((traffic.put_requests, traffic.put_skipped, traffic.get_requests), (0, 0, 0));
        Some(report.digest.unwrap())
    }

    /// The source in memory, an empty target and a place for an intermediate.
    pub(crate) async fn prepare(&self) -> Prepared {
        let open = || Store::open("memory:").unwrap();
        let source = Array::new(Arc::new(self.layout(&self.source)), open());
        let written = || match self.multipart() {
            Some(_) => Store::objects_in_memory(),
            None => open(),
        };
        let target = Array::new(Arc::new(self.layout(&self.target)), written());
        let elements = self.elements();
        self.store_chunks(&self.source, &source, &elements, |n| self.is_missing(n)).await;
        Prepared { source, target, intermediate: written(), elements }
    }

    /// Prepares the arrays in directories below `folder`.
    pub(crate) async fn prepare_in(&self, folder: &std::path::Path) -> Prepared {
        let open = |name: &str| Store::open(&folder.join(name).display().to_string()).unwrap();
        let source = Array::new(Arc::new(self.layout(&self.source)), open("source"));
        let target = Array::new(Arc::new(self.layout(&self.target)), open("target"));
        let elements = self.elements();
        self.store_chunks(&self.source, &source, &elements, |n| self.is_missing(n)).await;
        Prepared { source, target, intermediate: open("intermediate"), elements }
    }
}

/// The arrays of a case.
pub(crate) struct Prepared {
    pub source: Array,
    pub target: Array,
    pub intermediate: Store,
    pub elements: Vec<u8>,
}

impl Prepared {
    /// Execution of `plan`, counted in `meter`.
    pub(crate) fn execution(&self, case: &Case, plan: &Plan, meter: &Arc<Meter>) -> Execution {
        Execution {
            plan: plan.clone(),
            tasks: None,
            source: counted(&self.source, Role::Source, meter),
            sink: Sink::Write(counted(&self.target, Role::Target, meter)),
            intermediate: Some(self.intermediate.with_role(Role::Intermediate).with_meter(meter)),
            write_empty: case.write_empty,
            takes_digest: true,
            in_place: false,
            list_after_missing: case.list_after_missing(),
            ops: Vec::new(),
            windows: None,
            levels: Vec::new(),
        }
    }
}

/// Returns the array, counted as `role` in `meter`.
pub(crate) fn counted(array: &Array, role: Role, meter: &Arc<Meter>) -> Array {
    let store = array.store().with_role(role).with_meter(meter);
    Array::new(Arc::clone(array.layout()), store)
}

/// Runs to the end; one that hangs fails the test.
pub(crate) async fn execute(
    execution: Execution,
    journal: Option<Journal>,
) -> Result<RunReport, ExecError> {
    execute_observed(execution, journal, Arc::new(NullObserver), CancellationToken::new()).await
}

pub(crate) async fn execute_observed(
    execution: Execution,
    journal: Option<Journal>,
    observer: Arc<dyn Observer>,
    cancel: CancellationToken,
) -> Result<RunReport, ExecError> {
    let run = run(Arc::new(execution), journal, observer, cancel);
    tokio::time::timeout(Duration::from_mins(1), run).await.unwrap()
}

pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
    })
}
