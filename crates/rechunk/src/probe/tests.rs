use super::*;

fn options(read: Option<&str>) -> ProbeOptions {
    ProbeOptions { bytes: 4 << 20, seconds: 0.2, read: read.map(str::to_owned) }
}

/// A store that was measured, on a machine that was not.
fn probed(location: &str, store: StoreMeasurement) -> Probed {
    let codecs =
        CodecsMeasurement { codecs: vec![], not_measured: vec![], copy_bytes_per_second: 1.0 };
    let (location, like) = (location.to_owned(), store_kind(location).to_owned());
    Probed { location, like, store, codecs, not_measured: vec![] }
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
    let probed = probe(&location, &options(None), &Stores::default(), &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(names(folder.path()), ["mine"]);
    let mut file = ProfileFile::new("test");
    let corrected = StoreEntry { put_usd: Some(7.0), ..StoreEntry::default() };
    file.stores.insert(format!("file://{location}/"), corrected);
    file.stores.insert("local".to_owned(), StoreEntry::default());
    probed.add_to(&mut file);
    assert_eq!(file.stores.keys().collect::<Vec<_>>(), [&location, "local"]);
    let json = file.to_json().unwrap();
    let read = ProfileFile::parse("test.json", json.as_bytes()).unwrap();
    assert_eq!(read, file);
    let entry = &read.stores[&location];
    assert_eq!(entry.measured.len(), 5, "{entry:?}");
    assert!(entry.get_seconds.unwrap() > 0.0 && entry.write_bytes_per_second.unwrap() > 0.0);
    assert_eq!(entry.put_usd, Some(7.0));
    assert!(probed.not_measured.contains(&"get_usd".to_owned()));
    let written: u64 = probed.store.large_writes.iter().map(|rung| rung.bytes).sum();
    assert!(written <= 4 << 20, "{written}");
}

/// Large objects are so many bytes as a share comes to, not whole elements.
#[tokio::test]
async fn as_many_bytes_are_written_and_read_as_are_allowed() {
    for bytes in [15_000_001, 20_000_000, 20_000_111] {
        let folder = tempfile::tempdir().unwrap();
        let location = folder.path().display().to_string();
        let options = ProbeOptions { bytes, ..options(None) };
        let cancel = CancellationToken::new();
        let measured =
            place::measure(&location, &options, 0.1, &Stores::default(), &cancel).await.unwrap();
        assert!(measured.read_bytes_per_second.is_some(), "{bytes}");
    }
}

#[tokio::test]
async fn an_object_is_read_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("object"), vec![7; 300_000]).unwrap();
    let location = folder.path().display().to_string();
    let cancel = CancellationToken::new();
    let measured =
        place::measure(&location, &options(Some("object")), 0.1, &Stores::default(), &cancel)
            .await
            .unwrap();
    assert!(measured.get_seconds.is_some() && measured.read_bytes_per_second.is_some());
    let probed = probed(&location, measured);
    assert_eq!(probed.measured(), ["get_seconds", "read_bytes_per_second", "concurrency"]);
    assert_eq!(probed.not_measured()[..2], ["put_seconds", "write_bytes_per_second"]);
    let entry = probed.entry(probed.built_in());
    assert_eq!((entry.put_seconds, entry.get_usd), (None, Some(0.0)));
    let written = StoreEntry {
        put_seconds: Some(2.0),
        measured: vec!["put_seconds".to_owned(), "get_seconds".to_owned()],
        ..StoreEntry::default()
    };
    let entry = probed.entry(written);
    assert_eq!(entry.put_seconds, Some(2.0));
    assert_eq!(entry.measured.len(), 4, "{entry:?}");
    let error =
        probe(&location, &options(Some("other")), &Stores::default(), &cancel).await.unwrap_err();
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
    let stores = Stores::default();
    let (outcome, ()) = tokio::join!(probe(&location, &long, &stores, &cancel), stop);
    assert_eq!(outcome.unwrap_err().class(), crate::Class::Interrupted);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[tokio::test]
async fn memory_is_a_store_too_and_nowhere_is_none() {
    let cancel = CancellationToken::new();
    let measured =
        place::measure("memory:", &options(None), 0.1, &Stores::default(), &cancel).await.unwrap();
    let probed = probed("memory:", measured);
    let mut file = ProfileFile::new("test");
    probed.add_to(&mut file);
    assert!(file.stores.contains_key("memory"));
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere").display().to_string();
    let error = probe(&nowhere, &options(None), &Stores::default(), &cancel).await.unwrap_err();
    assert_eq!(error.class(), crate::Class::Usage);
    assert!(!folder.path().join("nowhere").exists());
}

#[test]
fn digits_that_mean_nothing_are_left_out() {
    assert_eq!(rounded(0.000_043_635), 0.000_043_6);
    assert_eq!(rounded(1_917_162_028.8), 1_920_000_000.0);
}
