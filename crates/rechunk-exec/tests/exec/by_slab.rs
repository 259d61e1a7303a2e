//! Elements that are stored as they are, so many in a chunk or a piece that they go slab by slab.

use proptest::prelude::*;
use rechunk_format::ElementOrder;
use rechunk_grid::{DataType, Endian, WriteEmpty};
use rechunk_plan::{Parts, PartsSide, Strategy as Kind};
use rechunk_store::{Meter, Traffic};

use crate::case::{Case, SideCase, execute, runtime};
use crate::layout::Codec;
use crate::strategies::all_cases;

/// Bytes above which an input is taken in slab by slab.
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

/// The target chunks of which nothing is stored are told from those that hold fill values: pieces
/// have marks.
fn marked(mut case: Case) -> Case {
    let rank = case.shape.len();
    let shards = |per_shard: u64| Some((vec![per_shard; rank], false));
    case.source.shards = shards(1);
    case.target.shards = shards(2);
    Case { missing: !0b100_0000, seed: 7, ..case }
}

/// Any array whose elements are so large that few of them are a slab, its chunks as they are in
/// their files or not.
fn of_large_elements() -> BoxedStrategy<Case> {
    let kinds = [Kind::Pull, Kind::Keep, Kind::PushPull, Kind::Multistage];
    let codec = prop::sample::select(vec![Codec::Raw, Codec::Clipped, Codec::Runs]);
    (all_cases(prop::sample::select(kinds.to_vec())), codec)
        .prop_map(|(mut case, codec)| {
            case.source = SideCase { codec, shards: None, ..case.source };
            Case { data_type: DataType::FixedBytes { bytes: 30_011 }, threads: 2, ..case }
        })
        .prop_filter("too large", |case| case.shape.iter().product::<u64>() <= 300)
        .boxed()
}

/// Runs a case in directories; what was moved. The elements are those of a naive copy, their digest
/// too.
fn run(case: &Case) -> Option<Traffic> {
    let mut request = case.request();
    if matches!(case.source.codec, Codec::Raw | Codec::Clipped) {
        let order = case.source.order.axes.clone();
        request.source.parts = Some(PartsSide { order, parts: Parts::Elements });
    }
    let plan = case.plan_of(request)?;
    let folder = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let prepared = case.prepare_in(folder.path()).await;
        let meter = Meter::new();
        let report = execute(prepared.execution(case, &plan, &meter), None).await.unwrap();
        let copied = case.read_all(&case.target, &prepared.target).await;
        assert!(copied == prepared.elements, "{plan:?}");
        assert_eq!(report.digest.unwrap().value, case.digest(&prepared.elements), "{plan:?}");
        case.check_stored(&prepared).await.unwrap();
        let (found, planned) = (meter.traffic(), &plan.estimate);
        let asked = found.source.get_requests + found.source.get_missing;
        assert_eq!(asked, planned.source.get_requests);
        assert_eq!(found.source.decoded_read_bytes, planned.source.decoded_read_bytes);
        assert_eq!(found.intermediate.get_requests, planned.intermediate.get_requests);
        assert_eq!(found.intermediate.read_bytes, planned.intermediate.read_bytes);
        let is_counted = found.source.get_missing == 0 && case.source.edges.is_none();
        if is_counted && case.source.codec == Codec::Raw {
            assert_eq!(found.source.read_bytes, planned.source.read_bytes);
        }
        Some(found)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]
    #[test]
    fn large_elements_make_the_same_copy(case in of_large_elements()) {
        run(&case);
    }
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
        let read = run(&case).unwrap().intermediate;
        assert!(read.read_bytes > SLAB_BYTES * read.get_requests, "{read:?}");
    }
}

#[test]
fn so_is_what_a_task_takes_of_a_chunk_without_a_codec() {
    let plain = |shape: &[u64], chunk: &[u64], kind| {
        let case = case(shape, DataType::Float32, kind);
        let source = SideCase { chunk: chunk.to_vec(), codec: Codec::Raw, ..case.source };
        Case { source, missing: 0, ..case }
    };
    let mut turned = plain(&[300, 90, 61], &[300, 90, 61], Kind::Pull);
    turned.source.order = ElementOrder { axes: vec![1, 2, 0], endian: Endian::Big };
    let clipped = plain(&[900, 1000], &[701, 1000], Kind::Pull);
    let clipped_source = SideCase { codec: Codec::Clipped, ..clipped.source.clone() };
    // Pencils: what the tiles take of a chunk lies in rows, with others between them.
    let mut rows = plain(&[8, 700, 1000], &[8, 700, 1000], Kind::Pull);
    rows.target.chunk = vec![8, 700, 200];
    rows.spare_bytes = 1 << 20;
    for case in [
        rows,
        plain(&[900, 1000], &[450, 1000], Kind::Pull),
        plain(&[900, 1000], &[450, 1000], Kind::Keep),
        plain(&[900, 1000], &[400, 1000], Kind::PushPull),
        turned,
        Case { source: clipped_source, ..clipped },
    ] {
        let read = run(&case).unwrap().source;
        assert!(read.read_bytes > SLAB_BYTES * read.get_requests, "{case:?}: {read:?}");
    }
}
