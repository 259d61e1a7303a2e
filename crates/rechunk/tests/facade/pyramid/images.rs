//! Images as they are found: complete ones, those of several channels, keys that nobody said.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::path::Path;
use std::sync::Arc;

use rechunk::{
    CancellationToken, CopyReport, CopyRequest, Error, Existing, LevelSize, LevelsRequest,
    NullObserver, PyramidRequest, ReduceMethod, Running, Selection, Stores, TreeReport, prepare,
};
use serde_json::json;

use super::read;
use super::reference::{Image, Numbers};

/// The request for levels of these factors.
fn levels(source: &Path, target: &Path, factors: &str) -> CopyRequest {
    let [source, target] = [source, target].map(|path| path.display().to_string());
    let mut request = CopyRequest::new(&source, &target);
    let factors = LevelsRequest::Factors(factors.parse().unwrap());
    request.pyramid = Some(Box::new(PyramidRequest::new(factors)));
    request
}

/// Checks the target and makes the levels, as the command line does.
async fn run(request: &CopyRequest, existing: Existing, verify: bool) -> Result<TreeReport, Error> {
    let mut running = Running::new(existing);
    (running.durable, running.verify) = (false, verify);
    let mut prepared = prepare(request.clone(), Selection::default(), &Stores::default()).await?;
    prepared.check_target(running).await?;
    let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
    match prepared.run(running, observer, cancel).await? {
        CopyReport::Tree(report) => Ok(*report),
        CopyReport::Array(_) => unreachable!("levels are a group"),
    }
}

/// Bytes of all files below a directory.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let key = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(key, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Nothing of a complete image is made again, so it is not said to be verified.
#[tokio::test]
async fn a_complete_image_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (folder.path().join("source.zarr"), folder.path().join("t.zarr"));
    let image = Image::random(&mut Numbers::new(21), vec![16, 12, 10], vec![4, 4, 4]);
    image.write(&source).await;
    let request = levels(&source, &target, "2,2,2;4,4,4");
    let made = run(&request, Existing::Refuse, true).await.unwrap();
    assert_eq!((made.verified, made.already_complete), (Some(true), false));
    let before = files(folder.path());
    for verify in [false, true] {
        let again = run(&request, Existing::Resume, verify).await.unwrap();
        assert_eq!((again.verified, again.already_complete), (None, true));
        assert_eq!(again.tasks.map(|tasks| tasks.resumed), made.tasks.map(|tasks| tasks.total));
        assert_eq!(files(folder.path()), before);
    }
    // Levels of what the source was are those of nothing.
    image.write(&source).await;
    for verify in [false, true] {
        let refused = run(&request, Existing::Resume, verify).await.unwrap_err();
        let cause = refused.source().map(ToString::to_string).unwrap_or_default();
        assert!(cause.contains("written since"), "{refused}: {cause}");
    }
}

/// A run that was killed before all of its levels were known has compared nothing.
#[tokio::test]
async fn levels_that_an_earlier_run_has_written_are_not_said_to_be_verified() {
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (folder.path().join("source.zarr"), folder.path().join("t.zarr"));
    let image = Image::random(&mut Numbers::new(22), vec![16, 12], vec![4, 4]);
    image.write(&source).await;
    let request = levels(&source, &target, "2,2");
    // What another process leaves when it is killed then.
    let mut prepared =
        prepare(request.clone(), Selection::default(), &Stores::default()).await.unwrap();
    let begun = Running::new(Existing::Refuse);
    prepared.check_target(begun).await.unwrap();
    let cancel = CancellationToken::new();
    let observer = Arc::new(super::EndAfter { tasks: 1.into(), cancel: cancel.clone() });
    prepared.run(begun, observer, cancel).await.unwrap_err();
    let state = files(&folder.path().join("t.zarr.rechunk"));
    run(&request, Existing::Resume, false).await.unwrap();
    let whole = files(&target);
    std::fs::create_dir(folder.path().join("t.zarr.rechunk")).unwrap();
    for (key, bytes) in state.iter().filter(|(key, _)| key.as_str() == "tree.json") {
        std::fs::write(folder.path().join("t.zarr.rechunk").join(key), bytes).unwrap();
    }
    for gone in ["zarr.json", "s1/zarr.json"] {
        std::fs::remove_file(target.join(gone)).unwrap();
    }
    let resumed = run(&request, Existing::Resume, true).await.unwrap();
    assert_eq!(files(&target), whole);
    assert_eq!((resumed.verified, resumed.already_complete), (None, false));
}

/// Each channel is an array of its own, of which none has the axes of the source.
#[tokio::test]
async fn channels_of_bigdataviewer_are_verified() {
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (folder.path().join("source.zarr"), folder.path().join("t.n5"));
    let image = Image::random(&mut Numbers::new(23), vec![3, 8, 12, 10], vec![2, 4, 4, 4]);
    image.write(&source).await;
    let request = levels(&source, &target, "1,2,2,2");
    let made = run(&request, Existing::Refuse, true).await.unwrap();
    assert_eq!(made.verified, Some(true));
    let level = image.reduced(ReduceMethod::Mean, LevelSize::Floor, &[1, 2, 2, 2]);
    for (number, level) in [image, level].into_iter().enumerate() {
        let channel = level.values.len() / 3;
        for (setup, values) in level.values.chunks_exact(channel).enumerate() {
            let place = target.join(format!("setup{setup}/timepoint0/s{number}"));
            let found = read(&place.display().to_string()).await;
            assert_eq!((&found.0[..], &found.1[..]), (&level.shape[1..], values), "{place:?}");
        }
    }
    let again = run(&request, Existing::Resume, true).await.unwrap();
    assert_eq!((again.verified, again.already_complete), (None, true));
}

/// Chunks of nested stores from before metadata could say that they are.
#[tokio::test]
async fn chunks_are_read_under_the_keys_that_they_have() {
    let folder = tempfile::tempdir().unwrap();
    let mut made = Vec::new();
    for separator in [None, Some("/")] {
        let place = folder.path().join(separator.map_or("old", |_| "sound"));
        let source = place.join("image.zarr");
        let mut document = json!({"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3],
            "dtype": "<i2", "compressor": null, "filters": null, "fill_value": 0, "order": "C"});
        if let Some(separator) = separator {
            document["dimension_separator"] = json!(separator);
        }
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let elements = (0..6_i16).flat_map(|at| (100 * row + 10 * column + at).to_le_bytes());
            std::fs::create_dir_all(source.join(row.to_string())).unwrap();
            let chunk = source.join(format!("{row}/{column}"));
            std::fs::write(chunk, elements.collect::<Vec<_>>()).unwrap();
        }
        std::fs::write(source.join(".zarray"), document.to_string()).unwrap();
        let target = place.join("t.zarr");
        let report = run(&levels(&source, &target, "2,3"), Existing::Refuse, true).await.unwrap();
        let is_said = report.warnings.iter().any(|said| said.contains("dimension_separator"));
        assert_eq!(is_said, separator.is_none(), "{:?}", report.warnings);
        let level = target.join("s1").display().to_string();
        assert_eq!(read(&level).await, (vec![2, 2], vec![3, 13, 103, 113]));
        made.push(files(&target));
    }
    assert_eq!(made[0], made[1]);
}
