//! A job: asked for in the words of the library, and as plain data for the reference.

use std::path::Path;
use std::sync::Arc;

use rechunk::{
    ApplyRequest, Boundary, CancellationToken, CopyRequest, Error, Existing, Expand, Format, Job,
    LevelRequest, MissingChunks, Mode, NullObserver, OpenOptions, OperationRequest, Pads, Region,
    Report, Round, Running, Stores, open_array,
};

use super::reference::{Op, Span};
use super::volume::{Kind, Volume};

/// A level of work chunks.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub work: Vec<i64>,
    /// `None`: `auto`.
    pub crop: Option<Vec<i64>>,
    pub blend: Vec<i64>,
    pub mode: Mode,
}

/// A job; bottom level first.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub sources: Vec<Volume>,
    pub op: Op,
    pub levels: Vec<Level>,
    pub region: Option<Vec<Span>>,
    pub expand: Expand,
    pub clip: bool,
    pub gap: Vec<i64>,
    pub boundary: Boundary,
    pub constant: Option<f64>,
    pub missing: MissingChunks,
    pub round: Round,
    pub format: Format,
    pub chunks: Vec<i64>,
    /// Objects of the target: chunks, or shards.
    pub commit: Vec<i64>,
    pub threads: u32,
    /// Type that results are cast to.
    pub cast: Option<Kind>,
}

impl Level {
    pub(super) fn new(work: &[i64]) -> Self {
        Self { work: work.to_vec(), crop: Some(Vec::new()), blend: Vec::new(), mode: Mode::Linear }
    }

    pub(super) fn crop(mut self, crop: &[i64]) -> Self {
        self.crop = Some(crop.to_vec());
        self
    }

    pub(super) fn auto_crop(mut self) -> Self {
        self.crop = None;
        self
    }

    pub(super) fn blend(mut self, blend: &[i64], mode: Mode) -> Self {
        (self.blend, self.mode) = (blend.to_vec(), mode);
        self
    }

    fn request(&self) -> LevelRequest {
        let mut level = LevelRequest::new(list(&self.work).parse().unwrap());
        level.crop = Some(self.crop.as_ref().map_or(Pads::Auto, |crop| pads(crop)));
        level.blend = Some(pads(&self.blend));
        level.mode = self.mode;
        level
    }
}

fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

fn pads(pads: &[i64]) -> Pads {
    if pads.is_empty() { Pads::All(0) } else { list(pads).parse().unwrap() }
}

impl Case {
    /// All of an array, in one thread, into plain Zarr v3 of the same chunks.
    pub(super) fn new(source: Volume, op: Op, levels: Vec<Level>) -> Self {
        let chunks = source.chunk.clone();
        Self {
            sources: vec![source],
            op,
            levels,
            region: None,
            expand: Expand::None,
            clip: true,
            gap: Vec::new(),
            boundary: Boundary::Constant,
            constant: None,
            missing: MissingChunks::Fill,
            round: Round::Level,
            format: Format::Zarr3,
            commit: chunks.clone(),
            chunks,
            threads: 2,
            cast: None,
        }
    }

    /// The target has these chunks.
    pub(super) fn to(mut self, format: Format, chunks: &[i64]) -> Self {
        (self.format, self.chunks, self.commit) = (format, chunks.to_vec(), chunks.to_vec());
        self
    }

    /// They lie in shards.
    pub(super) fn sharded(mut self, shards: &[i64]) -> Self {
        self.commit = shards.to_vec();
        self
    }

    pub(super) fn kind(&self) -> Kind {
        self.cast.unwrap_or_else(|| self.op.kind(self.sources[0].kind))
    }

    /// Stores the sources.
    pub(super) fn write(&self, folder: &Path) {
        for (number, source) in self.sources.iter().enumerate() {
            source.write(&folder.join(format!("source{number}.zarr")));
        }
    }

    /// The request, with the target `name` in the folder of the sources.
    pub(super) fn request(&self, folder: &Path, name: &str) -> CopyRequest {
        let at = |name: &str| folder.join(name).display().to_string();
        let mut request = CopyRequest::new(&at("source0.zarr"), &at(name));
        request.chunks = list(&self.chunks).parse().unwrap();
        if self.commit != self.chunks {
            request.shards = Some(list(&self.commit).parse().unwrap());
        }
        request.format = Some(self.format);
        request.cast = self.cast.map(|kind| kind.word().parse().unwrap());
        request.planning.memory_bytes = Some(64 << 20);
        request.planning.threads = Some(self.threads);
        let operation = OperationRequest::parse(&self.op.text()).unwrap();
        let bottom = self.levels[0].request();
        let mut apply = ApplyRequest::new(operation, bottom.work.clone());
        apply.bottom = bottom;
        apply.levels = self.levels[1..].iter().rev().map(Level::request).collect();
        let others = 1..self.sources.len();
        apply.sources = others.map(|number| at(&format!("source{number}.zarr"))).collect();
        apply.region = self.region.as_ref().map(|region| {
            let axes = region.iter().map(|(start, end)| format!("{start}:{end}"));
            axes.collect::<Vec<_>>().join(",").parse().unwrap()
        });
        (apply.expand, apply.clip) = (self.expand, self.clip);
        apply.gap = Some(pads(&self.gap)).filter(|_| !self.gap.is_empty());
        apply.boundary = self.boundary;
        apply.constant = self.constant.map(|constant| constant.to_string());
        (apply.missing, apply.round) = (self.missing, self.round);
        request.apply = Some(Box::new(apply));
        request
    }

    pub(super) async fn job(&self, folder: &Path, name: &str) -> Result<Job, Error> {
        Job::prepare(self.request(folder, name), &Stores::default()).await
    }

    /// Runs it.
    pub(super) async fn run(&self, folder: &Path, name: &str) -> Report {
        let job = self.job(folder, name).await.unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let report = run(job, Existing::Refuse).await;
        report.unwrap_or_else(|error| panic!("{self:?}: {error:?}"))
    }

    /// The elements of a target.
    pub(super) async fn elements(&self, folder: &Path, name: &str) -> Vec<f64> {
        self.kind().decoded(&self.bytes(folder, name).await)
    }

    /// The elements of a target in native byte order.
    pub(super) async fn bytes(&self, folder: &Path, name: &str) -> Vec<u8> {
        let location = folder.join(name).display().to_string();
        let options = OpenOptions::default();
        let array = open_array(&location, &options, &Stores::default()).await.unwrap();
        let shape = array.spec().shape.clone();
        let as_source: Vec<u64> =
            self.sources[0].shape.iter().map(|&extent| u64::try_from(extent).unwrap()).collect();
        assert_eq!(shape, as_source, "{self:?}");
        array.read_region(Region::whole(&shape)).await.unwrap()
    }

    /// Writes the sources, runs it and compares the target with the reference.
    pub(super) async fn check(&self) -> Report {
        let folder = tempfile::tempdir().unwrap();
        self.write(folder.path());
        self.check_in(folder.path()).await
    }

    /// [`Case::check`] where the sources are written.
    pub(super) async fn check_in(&self, folder: &Path) -> Report {
        let report = self.run(folder, "target").await;
        self.check_target(folder, "target").await;
        let apply = report.apply.as_ref().unwrap();
        assert_eq!(apply.planned_op_calls, self.calls(), "{self:?}");
        if self.missing == MissingChunks::Fill {
            assert_eq!(apply.op_calls, apply.planned_op_calls, "{self:?}");
        }
        report
    }

    /// Compares a target with the reference.
    pub(super) async fn check_target(&self, folder: &Path, name: &str) {
        self.check_equal(&self.elements(folder, name).await, &self.expected());
    }

    /// Compares elements with those that are right.
    pub(super) fn check_equal(&self, found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        // Half a unit in the last place of the largest values, and a few more.
        let averages = matches!(self.op, Op::Gaussian(_))
            || self.levels.iter().any(|level| level.mode != Mode::Max && !level.blend.is_empty());
        let limit = if self.kind() == Kind::F32 && averages { 3e-4 } else { 0.0 };
        let wrong = found.iter().zip(expected).enumerate().filter(|(_, (found, expected))| {
            let far = (*found - *expected).abs();
            far.is_nan() || far > limit
        });
        let wrong: Vec<_> = wrong.collect();
        assert!(wrong.is_empty(), "{} wrong: {:?}, {self:?}", wrong.len(), &wrong[..1]);
    }
}

/// Runs a job.
pub(super) async fn run(job: Job, existing: Existing) -> Result<Report, Error> {
    let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
    job.run(running(existing), observer, cancel).await
}

pub(super) fn running(existing: Existing) -> Running {
    let mut running = Running::new(existing);
    running.durable = false;
    running
}
