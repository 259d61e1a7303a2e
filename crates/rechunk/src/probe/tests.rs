use super::*;

fn options(read: Option<&str>) -> ProbeOptions {
    ProbeOptions { bytes: 4 << 20, seconds: 0.2, read: read.map(str::to_owned) }
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[tokio::test]
async fn a_directory_is_measured_and_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine"), "mine").unwrap();
    let location = folder.path().display().to_string();
    let probed = probe(&location, &options(None), &CancellationToken::new()).await.unwrap();
    assert_eq!(names(folder.path()), ["mine"]);
    let mut file = ProfileFile::new("test");
    probed.add_to(&mut file);
    let json = file.to_json().unwrap();
    let read = ProfileFile::parse("test.json", json.as_bytes()).unwrap();
    assert_eq!(read, file);
    let entry = &read.stores[&location];
    assert_eq!(entry.measured.len(), 5, "{entry:?}");
    assert!(entry.get_seconds.unwrap() > 0.0 && entry.write_bytes_per_second.unwrap() > 0.0);
    assert_eq!(entry.get_usd, Some(0.0));
    assert!(probed.not_measured.contains(&"get_usd".to_owned()));
    let written: u64 = probed.store.large_writes.iter().map(|rung| rung.bytes).sum();
    assert!(written <= 4 << 20, "{written}");
}

#[tokio::test]
async fn an_object_is_read_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("object"), vec![7; 300_000]).unwrap();
    let location = folder.path().display().to_string();
    let cancel = CancellationToken::new();
    let probed = probe(&location, &options(Some("object")), &cancel).await.unwrap();
    assert!(probed.store.get_seconds.is_some() && probed.store.read_bytes_per_second.is_some());
    assert_eq!(probed.store.put_seconds, None);
    assert!(probed.not_measured.contains(&"write_bytes_per_second".to_owned()));
    let error = probe(&location, &options(Some("other")), &cancel).await.unwrap_err();
    assert_eq!(error.class(), crate::Class::Source, "{error:?}");
    assert_eq!(names(folder.path()), ["object"]);
}

#[tokio::test]
async fn an_interrupted_probe_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let location = folder.path().display().to_string();
    let cancel = CancellationToken::new();
    let later = cancel.clone();
    let stop = async move {
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        later.cancel();
    };
    let long = ProbeOptions { bytes: 1 << 30, seconds: 20.0, read: None };
    let (outcome, ()) = tokio::join!(probe(&location, &long, &cancel), stop);
    assert_eq!(outcome.unwrap_err().class(), crate::Class::Interrupted);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[tokio::test]
async fn memory_is_a_store_too_and_nowhere_is_none() {
    let cancel = CancellationToken::new();
    let probed = probe("memory:", &options(None), &cancel).await.unwrap();
    let mut file = ProfileFile::new("test");
    probed.add_to(&mut file);
    assert!(file.stores.contains_key("memory"));
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere").display().to_string();
    let error = probe(&nowhere, &options(None), &cancel).await.unwrap_err();
    assert_eq!(error.class(), crate::Class::Usage);
    assert!(!folder.path().join("nowhere").exists());
}
