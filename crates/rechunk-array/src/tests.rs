use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rechunk_format::{
    CodecCost, ElementOrder, FormatError, IndexLocation, Layout, Plain, RunFormat, ShardFormat,
};
use rechunk_grid::{ArraySpec, DataType, Endian};
use rechunk_store::{Meter, Role, Store, StoreError};
use tempfile::TempDir;

use crate::{Array, WholeShard};

/// Raw bytes, two to a chunk, under keys `c/I`.
#[derive(Debug)]
struct RawPairs {
    spec: ArraySpec,
    order: ElementOrder,
    cost: CodecCost,
    shards: Option<ShardFormat>,
}

impl Layout for RawPairs {
    fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    fn format_name(&self) -> &'static str {
        "pairs"
    }

    fn element_order(&self) -> &ElementOrder {
        &self.order
    }

    fn codec_cost(&self) -> &CodecCost {
        &self.cost
    }

    fn encoding_identity(&self) -> &'static str {
        "pairs"
    }

    fn codec_summary(&self) -> &'static str {
        "none"
    }

    fn shards(&self) -> Option<&ShardFormat> {
        self.shards.as_ref()
    }

    fn object_key(&self, index: &[u64]) -> String {
        format!("c/{}", index[0])
    }

    fn object_index(&self, key: &str) -> Option<Vec<u64>> {
        Some(vec![key.strip_prefix("c/")?.parse().ok()?])
    }

    fn decode<'a>(
        &self,
        _index: &[u64],
        encoded: &'a [u8],
        _scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        Ok(encoded)
    }

    fn encode(
        &self,
        _index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        elements.clone_into(encoded);
        Ok(())
    }
}

fn pairs() -> Array {
    pairs_in(None)
}

fn pairs_in(shards: Option<ShardFormat>) -> Array {
    let spec = ArraySpec {
        shape: vec![6],
        data_type: DataType::Uint8,
        chunk_shape: vec![2],
        edges: None,
        fill_value: None,
        dimension_names: None,
    };
    let cost = CodecCost {
        name: "none".to_owned(),
        is_raw: true,
        encoded_bytes_max: 2,
        decode_workspace_bytes: 0,
        encode_workspace_bytes: 0,
    };
    let layout = RawPairs { spec, order: ElementOrder::c_little(1), cost, shards };
    let store = Store::open("memory:").unwrap().child("pairs").unwrap();
    Array::new(Arc::new(layout), store.with_role(Role::Target).with_meter(&Meter::new()))
}

#[tokio::test]
async fn a_chunk_is_stored_under_its_key_and_read_back() {
    let array = pairs();
    assert_eq!(array.read_chunk(&[1]).await.unwrap(), None);
    array.write_chunk(&[1], Bytes::from_static(b"ab")).await.unwrap();
    assert_eq!(array.read_chunk(&[1]).await.unwrap().unwrap(), "ab");
    assert_eq!(array.store().get("c/1", 2).await.unwrap().unwrap(), "ab");
    let traffic = array.store().meter().traffic().target;
    assert_eq!((traffic.get_requests, traffic.get_missing, traffic.put_requests), (2, 1, 1));
}

/// In a directory, which is to be held on to.
fn pairs_in_files() -> (TempDir, Array) {
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path().to_str().unwrap()).unwrap();
    let store = store.with_role(Role::Source).with_meter(&Meter::new());
    (directory, Array::new(Arc::clone(pairs().layout()), store))
}

#[tokio::test]
async fn elements_of_plain_files_are_read_by_themselves() {
    let (_directory, array) = pairs_in_files();
    assert_eq!(array.plain(), Some(Plain::Padded));
    array.write_chunk(&[1], Bytes::from_static(b"ab")).await.unwrap();
    let mut buffer = b"before".to_vec();
    for (wanted, expected) in [(0..1, "a"), (1..2, "b"), (0..2, "ab")] {
        assert!(array.read_elements_into(&[1], 2, wanted, 2, &mut buffer).await.unwrap());
        assert_eq!(buffer, expected.as_bytes());
    }
    assert!(!array.read_elements_into(&[0], 2, 0..1, 2, &mut buffer).await.unwrap());
    let traffic = array.store().meter().traffic().source;
    assert_eq!((traffic.get_requests, traffic.get_missing, traffic.read_bytes), (3, 1, 4));
    array.store().put("c/2", vec![Bytes::from_static(b"a")]).await.unwrap();
    let error = array.read_elements_into(&[2], 2, 0..1, 2, &mut buffer).await.unwrap_err();
    assert!(error.is_damage(), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("chunk [2]: c/2 in") && text.contains("has 1 bytes, but 2 are"),
        "{text}"
    );
}

#[tokio::test]
async fn elements_of_raw_files_lie_where_their_chunk_does() {
    for is_single in [true, false] {
        let (_directory, array) = line(9, is_single, if is_single { b"HDR" } else { b"" });
        for (index, bytes) in [(0, "abc"), (1, "def"), (2, "ghi")] {
            array.write_chunk(&[index], Bytes::from(bytes)).await.unwrap();
        }
        array.finish_objects().await.unwrap();
        let mut buffer = Vec::new();
        assert!(array.read_elements_into(&[1], 3, 1..3, 3, &mut buffer).await.unwrap());
        assert_eq!(buffer, b"ef");
        let (_directory, array) = line(9, is_single, b"");
        let error = array.read_elements_into(&[1], 3, 1..3, 3, &mut buffer).await.unwrap_err();
        assert!(error.is_not_found(), "{error}");
    }
}

#[tokio::test]
async fn a_chunk_larger_than_the_codecs_can_make_is_damage() {
    let array = pairs();
    array.store().put("c/2", vec![Bytes::from_static(b"abc")]).await.unwrap();
    let error = array.read_chunk(&[2]).await.unwrap_err();
    assert!(matches!(error.store_error(), Some(StoreError::TooLarge { limit_bytes: 2, .. })));
    assert!(error.is_damage() && !error.is_retryable() && !error.is_not_found());
    assert_eq!((error.array(), error.index(), error.key()), ("memory:/pairs", &[2][..], "c/2"));
    let text = error.to_string();
    assert!(text.starts_with("chunk [2]: c/2 in memory:/pairs has 3 bytes"), "{text}");
}

#[test]
fn what_does_not_decode_is_named() {
    let array = pairs();
    let cause = FormatError::Decode { codec: "zstd", reason: "it ends early".to_owned() };
    let error = array.decode_error(&[0], cause.clone());
    assert!(error.is_damage());
    assert_eq!(error.format_error(), Some(&cause));
    let text = error.to_string();
    assert_eq!(text, "chunk [0]: c/0 in memory:/pairs is damaged: zstd: it ends early");
}

#[tokio::test]
async fn chunks_of_a_shard_are_found_again() {
    for location in [IndexLocation::Start, IndexLocation::End] {
        let format = ShardFormat::new(&[6], &[2], location, Endian::Little, true).unwrap();
        let array = pairs_in(Some(format.clone()));
        assert_eq!(array.read_index(&format, &[1]).await.unwrap(), None);
        let shard = array.begin_shard(&format, &[1]).unwrap();
        shard.add(&[5], Bytes::from_static(b"56")).await.unwrap();
        shard.add(&[3], Bytes::from_static(b"34")).await.unwrap();
        assert!(shard.finish().await.unwrap());
        let index = array.read_index(&format, &[1]).await.unwrap().unwrap();
        assert_eq!(index.entry(1), None);
        let mut buffer = Vec::new();
        array.read_entry_into(&[3], index.entry(0).unwrap(), &mut buffer).await.unwrap();
        assert_eq!(buffer, b"34");
        let read = array.read_shard_into(&[1], 100, &mut buffer).await.unwrap();
        assert_eq!((read, buffer.len()), (WholeShard::Read, 4 + 3 * 16 + 4));
        assert_eq!(array.index_of(&format, &[1], &buffer).unwrap(), index);
        let read = array.read_shard_into(&[1], 50, &mut buffer).await.unwrap();
        assert_eq!(read, WholeShard::TooLarge);
        // Without chunks there is nothing to store.
        assert!(!array.begin_shard(&format, &[2]).unwrap().finish().await.unwrap());
        assert!(!array.store().exists("c/2").await.unwrap());
    }
}

#[tokio::test]
async fn a_damaged_shard_is_named() {
    let format = ShardFormat::usual(&[6], &[2]).unwrap();
    let array = pairs_in(Some(format.clone()));
    let too_long = {
        let mut index = rechunk_format::ShardIndex::empty(&format);
        index.set(1, 0, 3);
        [b"abc".to_vec(), format.encode_index(&index)].concat()
    };
    for bytes in [Vec::new(), b"short".to_vec(), vec![0; 52], too_long] {
        array.store().put("c/1", vec![Bytes::from(bytes)]).await.unwrap();
        let error = array.read_index(&format, &[1]).await.unwrap_err();
        assert!(error.is_damage(), "{error}");
        let text = error.to_string();
        assert!(
            text.starts_with("shard [1]: c/1 in memory:/pairs is damaged: sharding_"),
            "{text}"
        );
    }
}

/// Seven elements of a byte behind a header, in ranges of three of one file `a.raw`; or in files of
/// three, `0` to `2`.
#[derive(Debug)]
struct Line(RawPairs, RunFormat);

impl Layout for Line {
    fn spec(&self) -> &ArraySpec {
        self.0.spec()
    }

    fn format_name(&self) -> &'static str {
        "line"
    }

    fn element_order(&self) -> &ElementOrder {
        self.0.element_order()
    }

    fn codec_cost(&self) -> &CodecCost {
        self.0.codec_cost()
    }

    fn encoding_identity(&self) -> &'static str {
        "line"
    }

    fn codec_summary(&self) -> &'static str {
        "none"
    }

    fn shards(&self) -> Option<&ShardFormat> {
        None
    }

    fn object_key(&self, index: &[u64]) -> String {
        if self.1.is_single { "a.raw".to_owned() } else { index[0].to_string() }
    }

    fn object_index(&self, key: &str) -> Option<Vec<u64>> {
        if self.1.is_single {
            (key == "a.raw").then(|| vec![0])
        } else {
            Some(vec![key.parse().ok()?])
        }
    }

    fn chunk_range(&self, index: &[u64]) -> Option<(u64, u64)> {
        let start = if self.1.is_single { 3 * index[0] } else { 0 };
        Some((self.1.offset_bytes + start, if index[0] == 2 { 1 } else { 3 }))
    }

    fn runs(&self) -> Option<&RunFormat> {
        Some(&self.1)
    }

    fn decode<'a>(
        &self,
        _index: &[u64],
        encoded: &'a [u8],
        _scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        Ok(encoded)
    }

    fn encode(
        &self,
        _index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        elements.clone_into(encoded);
        Ok(())
    }
}

/// A line of `extent` elements in a directory of its own, which is to be held on to.
fn line(extent: u64, is_single: bool, header: &[u8]) -> (TempDir, Array) {
    let spec = ArraySpec {
        shape: vec![extent],
        data_type: DataType::Uint8,
        chunk_shape: vec![3],
        fill_value: None,
        dimension_names: None,
        edges: None,
    };
    let cost = CodecCost {
        name: "none".to_owned(),
        is_raw: false,
        encoded_bytes_max: 3,
        decode_workspace_bytes: 0,
        encode_workspace_bytes: 0,
    };
    let runs = RunFormat {
        block_shape: vec![if is_single { extent.max(1) } else { 3 }],
        offset_bytes: header.len() as u64,
        axes: vec![0],
        header: header.to_vec(),
        has_tail: false,
        is_single,
    };
    let pairs = RawPairs { spec, order: ElementOrder::c_little(1), cost, shards: None };
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path().join("a").to_str().unwrap()).unwrap();
    let store = store.with_role(Role::Target).with_meter(&Meter::new());
    (directory, Array::new(Arc::new(Line(pairs, runs)), store))
}

async fn write_line(array: &Array) {
    for (index, bytes) in [(2, "g"), (0, "abc"), (1, "def")] {
        array.write_chunk(&[index], Bytes::from(bytes)).await.unwrap();
    }
}

#[tokio::test]
async fn ranges_of_a_file_are_written_and_read_where_they_lie() {
    let (_directory, array) = line(7, true, b"HDR");
    write_line(&array).await;
    assert!(!array.store().exists("a.raw").await.unwrap());
    array.finish_objects().await.unwrap();
    assert_eq!(array.store().get("a.raw", 10).await.unwrap().unwrap(), "HDRabcdefg");
    array.finish_objects().await.unwrap(); // again, as after a crash
    let mut buffer = Vec::new();
    assert!(array.read_chunk_into(&[1], &mut buffer).await.unwrap());
    assert_eq!(buffer, b"def");
    assert_eq!(array.read_chunk(&[2]).await.unwrap().unwrap(), "g");
    let traffic = array.store().meter().traffic().target;
    assert_eq!((traffic.put_requests, traffic.written_bytes, traffic.objects), (3, 7, 1));
    assert_eq!((traffic.opens, traffic.runs, traffic.seeks), (0, 0, 0));
}

#[tokio::test]
async fn a_file_that_is_missing_or_short_is_named() {
    let (_directory, array) = line(7, true, b"HDR");
    let error = array.read_chunk(&[1]).await.unwrap_err();
    assert!(error.is_not_found(), "{error}");
    assert!(error.to_string().starts_with("chunk [1]: a.raw is missing in "), "{error}");
    let error = array.finish_objects().await.unwrap_err();
    assert!(error.is_not_found());
    assert!(error.to_string().starts_with("a.raw.part is missing in "), "{error}");
    array.store().put("a.raw", vec![Bytes::from("HDRabcd")]).await.unwrap();
    assert_eq!(array.read_chunk(&[0]).await.unwrap().unwrap(), "abc");
    let error = array.read_chunk(&[1]).await.unwrap_err();
    assert!(matches!(error.store_error(), Some(StoreError::Short { got_bytes: 1, .. })), "{error}");
}

#[tokio::test]
async fn a_file_per_chunk_is_an_object_of_exactly_its_size() {
    let (_directory, array) = line(7, false, b"");
    write_line(&array).await;
    array.finish_objects().await.unwrap();
    assert_eq!(array.read_chunk(&[2]).await.unwrap().unwrap(), "g");
    let traffic = array.store().meter().traffic().target;
    assert_eq!((traffic.put_requests, traffic.objects), (3, 3));
    array.store().put("2", vec![Bytes::from("gh")]).await.unwrap();
    let error = array.read_chunk(&[2]).await.unwrap_err();
    assert!(error.is_damage() && !error.is_retryable(), "{error}");
    assert!(
        error.to_string().contains("2 in ") && error.to_string().contains("has 2 bytes, but 1")
    );
    array.store().delete("1").await.unwrap();
    assert!(array.read_chunk(&[1]).await.unwrap_err().is_not_found());
    assert!(array.finish_objects().await.unwrap_err().is_not_found());
    // Written in runs by somebody else, and not finished.
    let part = array.store().part("1", 3).await.unwrap();
    part.write_at(0, Bytes::from("xyz")).await.unwrap();
    array.store().put("2", vec![Bytes::from("g")]).await.unwrap();
    array.finish_objects().await.unwrap();
    assert_eq!(array.read_chunk(&[1]).await.unwrap().unwrap(), "xyz");
}

#[tokio::test]
async fn an_array_without_elements_is_a_file_too() {
    let (_directory, array) = line(0, true, b"HDR");
    array.finish_objects().await.unwrap();
    assert_eq!(array.store().get("a.raw", 10).await.unwrap().unwrap(), "HDR");
    let (_directory, array) = line(0, false, b"");
    array.finish_objects().await.unwrap();
    assert!(array.store().is_empty().await.unwrap());
}

async fn is_found(array: &Array, index: u64) -> bool {
    array.read_chunk_into(&[index], &mut Vec::new()).await.unwrap()
}

#[tokio::test]
async fn what_is_not_on_the_list_is_not_asked_for() {
    let array = pairs().finding_gaps(2, 1 << 20, true);
    array.write_chunk(&[2], Bytes::from_static(b"ab")).await.unwrap();
    assert!(!is_found(&array, 0).await && is_found(&array, 2).await);
    let waits = tokio::time::timeout(Duration::from_millis(20), array.list_when_sparse()).await;
    assert!(waits.is_err(), "as much is there as is missing");
    assert!(!is_found(&array, 1).await);
    let list = array.list_when_sparse().await.unwrap();
    assert_eq!(list.indices().collect::<Vec<_>>(), [[2]]);
    let traffic = || array.store().meter().traffic();
    let asked = traffic().target;
    // It has come since: nobody looks.
    array.write_chunk(&[1], Bytes::from_static(b"cd")).await.unwrap();
    assert!(!is_found(&array, 1).await && is_found(&array, 2).await);
    assert_eq!(traffic().target.get_missing, asked.get_missing + 1);
    assert_eq!(traffic().control.list, 1);
    // Who looks for himself sees it.
    let other = Array::new(Arc::clone(array.layout()), array.store().clone());
    assert!(is_found(&other, 1).await);
}

#[tokio::test(start_paused = true)]
async fn a_list_is_waited_for_as_long_as_it_may_come_soon() {
    let array = pairs().finding_gaps(2, 1 << 20, false);
    let waited = async || {
        let began = tokio::time::Instant::now();
        array.wait_for_list().await;
        began.elapsed().as_millis()
    };
    assert!(!is_found(&array, 0).await);
    assert_eq!(waited().await, 0, "nothing is listed yet");
    assert!(!is_found(&array, 1).await);
    assert_eq!((waited().await, waited().await), (5, 0), "it does not come");
    // When it comes sooner, or will not come, nobody waits any more.
    for bytes_max in [1 << 20, 0] {
        let array = pairs().finding_gaps(1, bytes_max, false);
        array.write_chunk(&[2], Bytes::from_static(b"ab")).await.unwrap();
        assert!(is_found(&array, 2).await && !is_found(&array, 0).await);
        let began = tokio::time::Instant::now();
        let (listed, ()) = tokio::join!(array.list_when_sparse(), array.wait_for_list());
        assert_eq!((listed.is_some(), began.elapsed().as_millis()), (bytes_max > 0, 0));
    }
}

#[tokio::test]
async fn a_list_that_is_too_long_is_none() {
    let array = pairs().finding_gaps(0, 32, true);
    for index in [0, 2] {
        array.write_chunk(&[index], Bytes::from_static(b"ab")).await.unwrap();
    }
    assert!(array.list_when_sparse().await.is_none());
    assert!(is_found(&array, 2).await);
    let foreign = pairs().finding_gaps(0, 32, true);
    for key in 0..5 {
        foreign.store().put(&format!("notes/{key}"), vec![Bytes::new()]).await.unwrap();
    }
    assert!(foreign.list_when_sparse().await.is_none(), "others' objects are not listed for ever");
}

/// The pairs in a folder, to be listed at once.
fn pairs_at(folder: &std::path::Path) -> Array {
    let store = Store::open(&folder.display().to_string()).unwrap();
    Array::new(Arc::clone(pairs().layout()), store).finding_gaps(0, 1 << 20, true)
}

#[tokio::test]
async fn a_list_of_nothing_or_without_what_is_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    assert!(pairs_at(folder.path()).list_when_sparse().await.is_none());
    assert!(pairs_at(&folder.path().join("none")).list_when_sparse().await.is_none());
    let unfinished = pairs_at(folder.path()).finding_gaps(0, 1 << 20, false);
    assert_eq!(unfinished.list_when_sparse().await.unwrap().indices().count(), 0);
    std::fs::create_dir(folder.path().join("c")).unwrap();
    std::fs::write(folder.path().join("c/1"), b"ab").unwrap();
    let array = pairs_at(folder.path());
    assert!(is_found(&array, 1).await);
    std::fs::rename(folder.path().join("c/1"), folder.path().join("c/2")).unwrap();
    assert!(array.list_when_sparse().await.is_none(), "1 was there");
    assert!(is_found(&array, 2).await);
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_in_the_way_of_chunks_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes"), b"").unwrap();
    let is_listed = async || pairs_at(folder.path()).list_when_sparse().await.is_some();
    assert!(is_listed().await);
    let chunks = folder.path().join("c");
    std::fs::write(&chunks, b"a file where the directory would be").unwrap();
    assert!(!is_listed().await);
    std::fs::remove_file(&chunks).unwrap();
    // A link in a circle cannot be looked at; one to nothing leads to nothing.
    std::os::unix::fs::symlink("c", &chunks).unwrap();
    assert!(!is_listed().await);
    std::fs::remove_file(&chunks).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("2"), b"ab").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), &chunks).unwrap();
    let array = pairs_at(folder.path());
    let list = array.list_when_sparse().await.unwrap();
    assert_eq!(list.indices().collect::<Vec<_>>(), [[2]], "a link that leads on is followed");
    assert!(is_found(&array, 2).await);
}

/// A directory where a chunk would be is no missing chunk.
#[tokio::test]
async fn what_stands_in_a_chunks_place_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("c/1")).unwrap();
    let array = pairs_at(folder.path());
    let list = array.list_when_sparse().await.unwrap();
    assert_eq!(list.indices().collect::<Vec<_>>(), [[1]]);
    assert!(array.read_chunk_into(&[1], &mut Vec::new()).await.is_err());
    assert!(!is_found(&array, 0).await);
}
