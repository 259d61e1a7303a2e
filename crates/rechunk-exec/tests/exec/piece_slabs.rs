//! Pieces of an intermediate that are so large that they go slab by slab.

use rechunk_exec::ExecError;
use rechunk_format::ElementOrder;
use rechunk_grid::{DataType, Endian, WriteEmpty};
use rechunk_plan::Strategy as Kind;
use rechunk_store::{Meter, RoleTraffic};

use crate::case::{Case, SideCase, execute, runtime};
use crate::layout::Codec;

/// Pieces of more bytes go so.
const SLAB_BYTES: u64 = 1 << 20;

/// Rows become columns.
pub(crate) fn case(shape: &[u64], data_type: DataType, kind: Kind) -> Case {
    let (rank, mut rows, mut columns) = (shape.len(), shape.to_vec(), shape.to_vec());
    rows[0] = 7;
    columns[rank - 1] = 9;
    let side = |chunk: &[u64]| SideCase { fill: Some(1), ..SideCase::plain(chunk, Codec::Runs) };
    Case {
        shape: shape.to_vec(),
        data_type,
        source: side(&rows),
        target: side(&columns),
        kind,
        threads: 2,
        spare_bytes: 12 << 20,
        write_empty: WriteEmpty::Auto,
        missing: 0b1001,
        seed: 3,
    }
}

fn swapped(mut case: Case, axes: &[usize]) -> Case {
    case.target.order = ElementOrder { axes: axes.to_vec(), endian: Endian::Big };
    case
}

/// The target chunks of which nothing is stored are told from those that hold fill values: pieces have marks.
fn marked(mut case: Case) -> Case {
    let rank = case.shape.len();
    let shards = |per_shard: u64| Some((vec![per_shard; rank], false));
    case.source.shards = shards(1);
    case.target.shards = shards(2);
    Case { missing: !0b100_0000, seed: 7, ..case }
}

/// Runs a case in directories; what was read of its intermediate.
fn run(case: &Case) -> Result<RoleTraffic, ExecError> {
    let plan = case.plan().unwrap();
    let folder = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let prepared = case.prepare_in(folder.path()).await;
        let meter = Meter::new();
        execute(prepared.execution(case, &plan, &meter), None).await?;
        let copied = case.read_all(&case.target, &prepared.target).await;
        assert!(copied == prepared.elements, "{plan:?}");
        let (found, planned) = (meter.traffic(), &plan.estimate);
        assert_eq!(found.intermediate.get_requests, planned.intermediate.get_requests);
        assert_eq!(found.intermediate.read_bytes, planned.intermediate.read_bytes);
        Ok(found.intermediate)
    })
}

#[test]
fn what_comes_slab_by_slab_is_what_was_put_aside() {
    let cases = [
        case(&[700, 1800], DataType::Float32, Kind::PushPull),
        case(&[98, 53, 101], DataType::Structured { bytes: 24 }, Kind::PushPull),
        swapped(case(&[98, 3, 61, 101], DataType::Int16, Kind::PushPull), &[2, 0, 3, 1]),
        marked(case(&[147, 70, 90], DataType::Float64, Kind::PushPull)),
        case(&[1400, 1800], DataType::Int64, Kind::Multistage),
    ];
    for case in cases {
        let read = run(&case).unwrap();
        assert!(read.read_bytes > SLAB_BYTES * read.get_requests, "{read:?}");
    }
}
