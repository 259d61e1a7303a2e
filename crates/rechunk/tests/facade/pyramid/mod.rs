//! Pyramids through the public library: whatever the plan, levels hold what a reference computes
//! element by element, and a run takes what its plan says.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod images;
mod reference;

use std::path::Path;
use std::sync::Arc;

use rechunk::{
    CancellationToken, CopyReport, CopyRequest, Dialect, Event, Existing, LevelSize, LevelsFrom,
    LevelsRequest, MissingCells, NullObserver, Observer, OpenOptions, PyramidRequest, ReduceMethod,
    Region, Running, Selection, Stores, TreeReport, open_array, prepare,
};
use serde_json::json;

use reference::{Image, Numbers};

/// A case: an image, the levels that are asked for, and how they are cut.
#[derive(Debug, Clone)]
struct Case {
    image: Image,
    factors: Vec<Vec<u64>>,
    method: ReduceMethod,
    size: LevelSize,
    from: LevelsFrom,
    chunk: Vec<u64>,
    shard: Option<Vec<u64>>,
    memory_bytes: u64,
    threads: u32,
}

fn list(numbers: &[u64]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl Case {
    fn random(numbers: &mut Numbers) -> Self {
        let rank = numbers.up_to(3);
        let longest = [90, 40, 18][usize::try_from(rank).unwrap() - 1];
        let shape: Vec<u64> = (0..rank).map(|_| 1 + numbers.up_to(longest)).collect();
        let chunk = shape.iter().map(|&extent| numbers.up_to(extent)).collect();
        let image = Image::random(numbers, shape.clone(), chunk);
        let from = if numbers.up_to(3) == 1 { LevelsFrom::Previous } else { LevelsFrom::S0 };
        let mut factors: Vec<Vec<u64>> = Vec::new();
        let mut before = vec![1; shape.len()];
        for _ in 0..numbers.up_to(3) {
            let nests = from == LevelsFrom::Previous || numbers.up_to(2) == 1;
            let next: Vec<u64> = before
                .iter()
                .zip(&shape)
                .map(|(&before, &extent)| {
                    let wanted = if nests {
                        before * numbers.up_to(3)
                    } else {
                        before + numbers.up_to(3) - 1
                    };
                    if wanted <= extent { wanted } else { before }
                })
                .collect();
            if next != before {
                factors.push(next.clone());
                before = next;
            }
        }
        if factors.is_empty() {
            factors.push(shape.clone()); // one cell
        }
        let methods = [
            ReduceMethod::Mean,
            ReduceMethod::Mean,
            ReduceMethod::Mode,
            ReduceMethod::Median,
            ReduceMethod::Min,
            ReduceMethod::Max,
            ReduceMethod::Stride,
        ];
        let chunk: Vec<u64> = shape.iter().map(|&extent| numbers.up_to(extent)).collect();
        let shard = chunk.iter().map(|&chunk| chunk * numbers.up_to(3)).collect();
        Self {
            image,
            factors,
            method: methods[usize::try_from(numbers.up_to(7) - 1).unwrap()],
            size: LevelSize::ALL[usize::try_from(numbers.up_to(2) - 1).unwrap()],
            from,
            chunk,
            shard: (numbers.up_to(2) == 1).then_some(shard),
            memory_bytes: 64 << 20,
            threads: u32::try_from(numbers.up_to(3)).unwrap(),
        }
    }

    fn request(&self, folder: &Path, target: &str) -> CopyRequest {
        let at = |name: &str| folder.join(name).display().to_string();
        let mut request = CopyRequest::new(&at("source.zarr"), &at(target));
        request.chunks = list(&self.chunk).parse().unwrap();
        request.shards = self.shard.as_ref().map(|shard| list(shard).parse().unwrap());
        request.planning.memory_bytes = Some(self.memory_bytes);
        request.planning.threads = Some(self.threads);
        let factors = self.factors.iter().map(|level| list(level)).collect::<Vec<_>>().join(";");
        let mut pyramid = PyramidRequest::new(LevelsRequest::Factors(factors.parse().unwrap()));
        pyramid.method = Some(self.method);
        pyramid.size = self.size;
        pyramid.from = self.from;
        pyramid.dialect = Some(Dialect::Plain);
        request.pyramid = Some(Box::new(pyramid));
        request
    }

    /// Has less memory than the plan would take.
    async fn squeeze(&mut self, folder: &Path, share: u64) {
        let request = self.request(folder, "never.zarr");
        let prepared = prepare(request, Selection::default(), &Stores::default()).await.unwrap();
        let CopyReport::Tree(report) = prepared.plan_report() else { return };
        let fixed_bytes = (1 << 20) + (128 << 10) * u64::from(self.threads);
        let beside = report.memory.planned_peak_bytes - fixed_bytes;
        self.memory_bytes = fixed_bytes + beside * share / 16;
    }

    async fn run(&self, folder: &Path, target: &str) -> Option<TreeReport> {
        let request = self.request(folder, target);
        let prepared = match prepare(request, Selection::default(), &Stores::default()).await {
            Ok(prepared) => prepared,
            Err(error) => {
                assert_eq!(error.class(), rechunk::Class::Memory, "{self:?}: {error}");
                return None;
            }
        };
        let mut running = Running::new(Existing::Refuse);
        (running.durable, running.verify) = (false, true);
        let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
        match prepared.run(running, observer, cancel).await.unwrap() {
            CopyReport::Tree(report) => Some(*report),
            CopyReport::Array(_) => None,
        }
    }

    /// The levels that a reference computes.
    fn expected(&self) -> Vec<Image> {
        let mut levels = vec![self.image.clone()];
        let mut before = vec![1; self.image.shape.len()];
        for factors in &self.factors {
            let (of, relative) = match self.from {
                LevelsFrom::S0 => (&self.image, factors.clone()),
                LevelsFrom::Previous => {
                    let relative = factors.iter().zip(&before).map(|(own, of)| own / of).collect();
                    (levels.last().unwrap(), relative)
                }
            };
            let level = of.reduced(self.method, self.size, &relative);
            levels.push(level);
            before.clone_from(factors);
        }
        levels
    }

    async fn check(&self, folder: &Path, target: &str) {
        for (number, level) in self.expected().iter().enumerate() {
            let place = folder.join(target).join(format!("s{number}")).display().to_string();
            let found = read(&place).await;
            assert_eq!(found.0, level.shape, "level {number} of {self:?}");
            assert_eq!(found.1, level.values, "level {number} of {self:?}");
        }
    }
}

/// Makes the levels of a request, which fails nowhere.
async fn finished(request: CopyRequest) -> TreeReport {
    let prepared = prepare(request, Selection::default(), &Stores::default()).await.unwrap();
    let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
    let done = prepared.run(Running::new(Existing::Refuse), observer, cancel).await.unwrap();
    let CopyReport::Tree(report) = done else { unreachable!("levels are a group") };
    *report
}

/// Shape and elements of an array of 16-bit integers.
async fn read(place: &str) -> (Vec<u64>, Vec<i16>) {
    let array = open_array(place, &OpenOptions::default(), &Stores::default()).await.unwrap();
    let shape = array.spec().shape.clone();
    let bytes = array.read_region(&Region::whole(&shape)).await.unwrap();
    let values = bytes.chunks_exact(2).map(|pair| i16::from_ne_bytes([pair[0], pair[1]]));
    (shape, values.collect())
}

#[tokio::test]
async fn levels_are_those_of_a_reference_whatever_the_plan() {
    let mut numbers = Numbers::new(11);
    let (mut several_passes, mut done) = (0, 0);
    for _ in 0..150 {
        let mut case = Case::random(&mut numbers);
        let folder = tempfile::tempdir().unwrap();
        case.image.write(&folder.path().join("source.zarr")).await;
        if numbers.up_to(3) > 1 {
            case.squeeze(folder.path(), 6 + numbers.up_to(9)).await;
        }
        let Some(report) = case.run(folder.path(), "t.zarr").await else { continue };
        case.check(folder.path(), "t.zarr").await;
        let (estimate, traffic) = (&report.estimate, report.traffic.as_ref().unwrap());
        let source = (&estimate.source, &traffic.source);
        assert_eq!(source.0.get_requests, source.1.get_requests + source.1.get_missing, "{case:?}");
        let blocks = (&estimate.intermediate, &traffic.intermediate);
        assert_eq!(blocks.0.get_requests, blocks.1.get_requests, "{case:?}");
        assert_eq!(blocks.0.put_requests, blocks.1.put_requests, "{case:?}");
        assert_eq!(blocks.0.written_bytes, blocks.1.written_bytes, "{case:?}");
        let target = (&estimate.target, &traffic.target);
        let puts = target.1.put_requests + target.1.put_skipped;
        assert_eq!(target.0.put_requests, puts, "{case:?}");
        for (planned, counted) in [source, target] {
            assert_eq!(planned.decoded_read_bytes, counted.decoded_read_bytes, "{case:?}");
            assert_eq!(planned.decoded_written_bytes, counted.decoded_written_bytes, "{case:?}");
        }
        assert_eq!(report.verified, Some(true));
        let passes = report.pyramid.as_ref().unwrap().passes.len();
        several_passes += usize::from(passes > 1);
        done += 1;
    }
    assert!(done > 120 && several_passes > 5, "{done} cases, {several_passes} of several passes");
}

/// Ends a run after some of its tasks.
#[derive(Debug)]
struct EndAfter {
    tasks: std::sync::atomic::AtomicU64,
    cancel: CancellationToken,
}

impl Observer for EndAfter {
    fn event(&self, event: &Event) {
        use std::sync::atomic::Ordering;
        if let Event::TaskDone { .. } = event
            && self.tasks.fetch_sub(1, Ordering::SeqCst) <= 1
        {
            self.cancel.cancel();
        }
    }
}

#[tokio::test]
async fn a_run_that_was_ended_goes_on_and_says_what_it_does() {
    let mut numbers = Numbers::new(5);
    let mut case = Case::random(&mut numbers);
    case.image = Image::random(&mut numbers, vec![64, 60, 70], vec![16, 16, 16]);
    (case.factors, case.from) = (vec![vec![2, 2, 2], vec![4, 4, 4]], LevelsFrom::S0);
    (case.chunk, case.shard) = (vec![4, 4, 4], None);
    (case.method, case.memory_bytes) = (ReduceMethod::Mean, 64 << 20);
    let folder = tempfile::tempdir().unwrap();
    case.image.write(&folder.path().join("source.zarr")).await;
    let cancel = CancellationToken::new();
    let observer = Arc::new(EndAfter { tasks: 3.into(), cancel: cancel.clone() });
    let prepared = async || {
        let request = case.request(folder.path(), "t.zarr");
        prepare(request, Selection::default(), &Stores::default()).await.unwrap()
    };
    let running = Running::new(Existing::Refuse);
    assert!(prepared().await.run(running, observer, cancel).await.is_err());
    assert!(!folder.path().join("t.zarr/zarr.json").exists());
    // Another pyramid is another job.
    let mut other = case.clone();
    other.method = ReduceMethod::Max;
    let request = other.request(folder.path(), "t.zarr");
    let other = prepare(request, Selection::default(), &Stores::default()).await.unwrap();
    let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
    let refused = other.run(Running::new(Existing::Resume), observer, cancel).await.unwrap_err();
    assert_eq!(refused.class(), rechunk::Class::Target, "{refused}");
    let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
    let done =
        prepared().await.run(Running::new(Existing::Resume), observer, cancel).await.unwrap();
    let CopyReport::Tree(report) = done else { unreachable!() };
    assert!(report.tasks.unwrap().resumed >= 3, "{:?}", report.tasks);
    case.check(folder.path(), "t.zarr").await;
}

#[tokio::test]
async fn elements_that_are_not_stored_count_or_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut image = Image::random(&mut Numbers::new(3), vec![8, 8], vec![4, 4]);
    image.values = (1..=64).collect();
    image.write(&folder.path().join("source.zarr")).await;
    for chunk in ["c/0/1", "c/1/1"] {
        std::fs::remove_file(folder.path().join("source.zarr").join(chunk)).unwrap();
    }
    let mut case = Case {
        image,
        factors: vec![vec![1, 8]],
        method: ReduceMethod::Mean,
        size: LevelSize::Floor,
        from: LevelsFrom::S0,
        chunk: vec![4, 4],
        shard: None,
        memory_bytes: 64 << 20,
        threads: 2,
    };
    // Half of each row is stored: 1 + 2 + 3 + 4 of the first.
    for (missing, first) in [(MissingCells::Fill, 1), (MissingCells::Skip, 3)] {
        let target = format!("{}.zarr", missing.name());
        let mut request = case.request(folder.path(), &target);
        request.pyramid.as_mut().unwrap().missing = missing;
        finished(request).await;
        let found = read(&folder.path().join(&target).join("s1").display().to_string()).await;
        assert_eq!(found.1[0], first, "{missing}");
        let chunk = folder.path().join(&target).join("s0/c/0/1");
        assert!(!chunk.exists(), "a chunk of which nothing is stored is not written");
    }
    case.factors = vec![vec![16, 1]];
    let request = case.request(folder.path(), "never.zarr");
    let refused = prepare(request, Selection::default(), &Stores::default()).await.unwrap_err();
    assert_eq!(refused.class(), rechunk::Class::Usage, "{refused}");
    assert!(!folder.path().join("never.zarr").exists());
}

/// N5 tells a block that is not there from one of zeros.
#[tokio::test]
async fn blocks_of_which_nothing_is_stored_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let image = Image::random(&mut Numbers::new(9), vec![16, 16], vec![4, 4]);
    image.write(&folder.path().join("source.zarr")).await;
    // Elements 0 to 4 of 8 to 12 are there, and 12 to 16 of 12 to 16.
    for (row, column) in (0..4).flat_map(|row| (0..4).map(move |column| (row, column))) {
        if ![(2, 0), (3, 3)].contains(&(row, column)) {
            let chunk = format!("source.zarr/c/{row}/{column}");
            std::fs::remove_file(folder.path().join(chunk)).unwrap();
        }
    }
    for from in [LevelsFrom::S0, LevelsFrom::Previous] {
        let case = Case {
            image: image.clone(),
            factors: vec![vec![2, 2]],
            method: ReduceMethod::Mean,
            size: LevelSize::Floor,
            from,
            chunk: vec![2, 4],
            shard: None,
            memory_bytes: 64 << 20,
            threads: 2,
        };
        let target = format!("{}.n5", from.name());
        let mut request = case.request(folder.path(), &target);
        request.format = Some(rechunk::Format::N5);
        finished(request).await;
        let blocks = |level: &str, along: [u64; 2]| {
            let at = |x, y| folder.path().join(&target).join(format!("{level}/{x}/{y}"));
            let all = (0..along[1]).flat_map(|y| (0..along[0]).map(move |x| (x, y)));
            all.filter(|&(x, y)| at(x, y).exists()).collect::<Vec<_>>()
        };
        // Column and row of blocks of 4 by 2.
        assert_eq!(blocks("s0", [4, 8]), [(0, 4), (0, 5), (3, 6), (3, 7)]);
        assert_eq!(blocks("s1", [2, 4]), [(0, 2), (1, 3)]);
    }
}

#[tokio::test]
async fn indexes_of_shards_are_read_as_planned_where_cells_skip_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let image = Image::random(&mut Numbers::new(4), vec![32, 48], vec![8, 8]);
    image.write(&folder.path().join("source.zarr")).await;
    let case = Case {
        image,
        factors: vec![vec![2, 2]],
        method: ReduceMethod::Mean,
        size: LevelSize::Floor,
        from: LevelsFrom::S0,
        chunk: vec![4, 4],
        shard: Some(vec![16, 16]),
        memory_bytes: 64 << 20,
        threads: 2,
    };
    case.run(folder.path(), "sharded.zarr").await.unwrap();
    let mut request = case.request(folder.path(), "t.zarr");
    request.source = folder.path().join("sharded.zarr/s0").display().to_string();
    request.pyramid.as_mut().unwrap().missing = MissingCells::Skip;
    let report = finished(request).await;
    let (planned, counted) = (report.estimate.source, report.traffic.unwrap().source);
    assert_eq!(planned.get_requests, counted.get_requests + counted.get_missing);
    case.check(folder.path(), "t.zarr").await;
}

#[tokio::test]
async fn levels_that_are_added_leave_all_else_of_the_image_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let image = Image::random(&mut Numbers::new(8), vec![20, 30], vec![7, 8]);
    let place = folder.path().join("image.zarr");
    image.write(&place.join("0")).await;
    let scale = |scale: [f64; 2]| json!([{"type": "scale", "scale": scale}]);
    let own = json!({"zarr_format": 3, "node_type": "group", "attributes": {"mine": [1, 2], "ome": {
    "version": "0.5", "omero": {"channels": []}, "multiscales": [
        {"@type": "ngff:Image", "name": "a", "axes": [
            {"name": "y", "type": "space", "unit": "micrometer"}, {"name": "x", "type": "space"},
        ], "datasets": [{"path": "0", "coordinateTransformations": scale([0.5, 0.25])}]},
        {"name": "another", "axes": [], "datasets": []},
    ]}}});
    std::fs::write(place.join("zarr.json"), own.to_string()).unwrap();
    let location = place.display().to_string();
    let mut request = CopyRequest::new(&location, &location);
    let factors = LevelsRequest::Factors("y=2,x=3".parse().unwrap());
    request.pyramid = Some(Box::new(PyramidRequest::new(factors)));
    finished(request.clone()).await;
    let found = std::fs::read(place.join("zarr.json")).unwrap();
    let found: serde_json::Value = serde_json::from_slice(&found).unwrap();
    let mut expected = own["attributes"].clone();
    let added = json!({"path": "1", "coordinateTransformations": [
        {"type": "scale", "scale": [1.0, 0.75]}, {"type": "translation", "translation": [0.25, 0.25]},
    ]});
    expected["ome"]["multiscales"][0]["datasets"].as_array_mut().unwrap().push(added);
    assert_eq!(found["attributes"], expected);
    let level = image.reduced(ReduceMethod::Mean, LevelSize::Floor, &[2, 3]);
    assert_eq!(read(&place.join("1").display().to_string()).await, (level.shape, level.values));
    let mut again = prepare(request, Selection::default(), &Stores::default()).await.unwrap();
    let refused = again.check_target(Running::new(Existing::Refuse)).await.unwrap_err();
    assert_eq!(refused.class(), rechunk::Class::Target, "{refused}");
}
