//! Jobs that are refused before anything is written.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rechunk::{
    ApplyRequest, Class, CopyRequest, Error, Format, Job, LevelRequest, Mode, OperationRequest,
    Pads, Stores,
};

use super::case::{Case, Level};
use super::reference::Op;
use super::volume::{Kind, Volume};

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// A plane of 24 by 36 uint16 in chunks of 8 by 12, into the same chunks, by work chunks of them.
struct Bench {
    folder: tempfile::TempDir,
    request: CopyRequest,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let plane = Volume::new(Kind::U16, &[24, 36], &[8, 12]);
        let case = Case::new(plane, Op::Identity, vec![Level::new(&[8, 12])]);
        case.write(folder.path());
        let request = case.request(folder.path(), "target");
        Self { folder, request }
    }

    /// The error of a request that is changed; nothing is written.
    async fn refusal(&self, change: impl FnOnce(&mut CopyRequest, &mut ApplyRequest)) -> Error {
        let mut request = self.request.clone();
        let mut apply = request.apply.take().unwrap();
        change(&mut request, &mut apply);
        request.apply = Some(apply);
        let before = names(self.folder.path());
        let error = Job::prepare(request, &Stores::default()).await.unwrap_err();
        assert_eq!(names(self.folder.path()), before);
        assert_eq!(error.class(), Class::Usage, "{error:?}");
        error
    }

    /// The code and the proposal of a refusal.
    async fn code(
        &self,
        change: impl FnOnce(&mut CopyRequest, &mut ApplyRequest),
    ) -> (&'static str, Option<String>) {
        match self.refusal(change).await {
            Error::Apply { code, proposal, .. } => (code, proposal),
            other => panic!("{other:?}"),
        }
    }

    async fn text(&self, change: impl FnOnce(&mut CopyRequest, &mut ApplyRequest)) -> String {
        self.refusal(change).await.to_string()
    }
}

fn work(text: &str) -> LevelRequest {
    LevelRequest::new(text.parse().unwrap())
}

#[tokio::test]
async fn sizes_and_pads_that_do_not_fit_are_refused_by_code() {
    let bench = Bench::new();
    let (code, proposal) = bench
        .code(|_, apply| {
            apply.levels = vec![work("24,36")];
            apply.bottom.work = "7,12".parse().unwrap();
        })
        .await;
    assert_eq!(code, "NOT_DIVISIBLE");
    assert!(proposal.as_ref().is_some_and(|proposal| proposal.contains('8')), "{proposal:?}");
    let (code, _) = bench.code(|_, apply| apply.bottom.blend = Some(Pads::Each(vec![0, 7]))).await;
    assert_eq!(code, "BLEND_GT_HALF");
    let (code, _) = bench
        .code(|_, apply| {
            apply.direct = true;
            apply.bottom.work = "8,13".parse().unwrap();
        })
        .await;
    assert_eq!(code, "UNALIGNED_WRITE");
    let (code, _) = bench
        .code(|_, apply| {
            apply.direct = true;
            apply.bottom.blend = Some(Pads::All(1));
        })
        .await;
    assert_eq!(code, "SKIP_BLEND");
    let (code, _) = bench
        .code(|_, apply| {
            apply.gap = Some(Pads::All(3));
            apply.expand = rechunk::Expand::Work;
        })
        .await;
    assert_eq!(code, "GAP_ODD");
    let (code, _) = bench.code(|_, apply| apply.reduce_max = Some("4,12".parse().unwrap())).await;
    assert_eq!(code, "MAXRED_LT_CHUNK");
    let (code, _) = bench
        .code(|_, apply| {
            (apply.shrink, apply.expand) = (true, rechunk::Expand::Work);
        })
        .await;
    assert_eq!(code, "SHRINK_EXPAND");
}

/// Shards are written as a whole.
#[tokio::test]
async fn a_work_chunk_of_half_a_shard_is_not_written_directly() {
    let bench = Bench::new();
    let (code, _) = bench
        .code(|request, apply| {
            (request.chunks, request.shards) =
                ("8,12".parse().unwrap(), Some("16,12".parse().unwrap()));
            apply.direct = true;
        })
        .await;
    assert_eq!(code, "UNALIGNED_WRITE");
}

#[tokio::test]
async fn labels_are_not_averaged() {
    let bench = Bench::new();
    let blended = |mode: Mode| {
        move |_: &mut CopyRequest, apply: &mut ApplyRequest| {
            apply.operation = OperationRequest::parse("threshold:min=4").unwrap();
            apply.bottom.blend = Some(Pads::All(1));
            apply.bottom.mode = mode;
        }
    };
    let (code, _) = bench.code(blended(Mode::Linear)).await;
    assert_eq!(code, "BLEND_LABEL");
    let mut request = bench.request.clone();
    blended(Mode::Max)(&mut bench.request.clone(), request.apply.as_mut().unwrap());
    Job::prepare(request, &Stores::default()).await.unwrap();
}

#[tokio::test]
async fn operations_that_cannot_be_are_refused_in_words() {
    let bench = Bench::new();
    let with = |text: &'static str| {
        move |_: &mut CopyRequest, apply: &mut ApplyRequest| {
            apply.operation = OperationRequest::parse(text).unwrap();
        }
    };
    for (text, said) in [
        ("gausian:sigma=1", "gaussian"),
        ("gaussian", "sigma"),
        ("gaussian:sigma=-1", "sigma"),
        ("gaussian:sigma=1,size=3", "size"),
        ("gaussian:sigma=1,2,3", "3"),
        ("median:size=4", "size"),
        ("mask", "2"),
        ("histogram:bins=3,range=0..9", "statistic"),
    ] {
        let error = bench.text(with(text)).await;
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[tokio::test]
async fn axes_that_are_not_there_are_refused() {
    let bench = Bench::new();
    for change in [
        (|apply: &mut ApplyRequest| apply.bottom.work = "8,12,4".parse().unwrap())
            as fn(&mut ApplyRequest),
        |apply| apply.bottom.crop = Some(Pads::Each(vec![1])),
        |apply| apply.bottom.crop = Some(Pads::Each(vec![1, 1, 1])),
        |apply| apply.bottom.blend = Some(Pads::Named(vec![("z".to_owned(), 1)])),
        |apply| apply.bottom.blend = Some(Pads::Auto),
        |apply| apply.gap = Some(Pads::Each(vec![2])),
        |apply| apply.levels = vec![work("8")],
        |apply| apply.region = Some("0:8".parse().unwrap()),
        |apply| apply.region = Some("0:8,0:37".parse().unwrap()),
    ] {
        bench.refusal(|_, apply| change(apply)).await;
    }
}

#[tokio::test]
async fn sources_that_do_not_go_together_are_refused() {
    let bench = Bench::new();
    let other = bench.folder.path().join("other.zarr");
    Volume::new(Kind::U16, &[24, 35], &[8, 12]).write(&other);
    let error = bench
        .text(|_, apply| {
            apply.operation = OperationRequest::parse("mask").unwrap();
            apply.sources = vec![other.display().to_string()];
        })
        .await;
    assert!(error.contains("[24, 35]") && error.contains("[24, 36]"), "{error}");
    // Two sources for an operation that takes one.
    let again = bench.request.source.clone();
    bench.refusal(|_, apply| apply.sources = vec![again]).await;
    // A value that the source cannot have.
    let error = bench.text(|_, apply| apply.constant = Some("70000".to_owned())).await;
    assert!(error.contains("70000"), "{error}");
}

#[tokio::test]
async fn an_operation_for_another_type_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plane = Volume::new(Kind::Bool, &[24, 36], &[8, 12]);
    let case = Case::new(plane, Op::Gaussian(1.0), vec![Level::new(&[8, 12])]);
    case.write(folder.path());
    let before = names(folder.path());
    let error = case.to(Format::Zarr3, &[8, 12]).job(folder.path(), "target").await.unwrap_err();
    assert_eq!(error.class(), Class::Usage, "{error:?}");
    assert!(error.to_string().contains("bool"), "{error}");
    assert_eq!(names(folder.path()), before);
}

#[tokio::test]
async fn too_little_memory_is_refused_before_anything_is_written() {
    let bench = Bench::new();
    let mut request = bench.request.clone();
    request.planning.memory_bytes = Some(1 << 10);
    let before = names(bench.folder.path());
    let error = Job::prepare(request, &Stores::default()).await.unwrap_err();
    assert_eq!(error.class(), Class::Memory, "{error:?}");
    assert_eq!(names(bench.folder.path()), before);
}
