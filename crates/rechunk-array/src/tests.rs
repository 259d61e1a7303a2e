use std::sync::Arc;

use bytes::Bytes;
use rechunk_format::{CodecCost, ElementOrder, FormatError, IndexLocation, Layout, ShardFormat};
use rechunk_grid::{ArraySpec, DataType, Endian};
use rechunk_store::{Meter, Role, Store, StoreError};

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
