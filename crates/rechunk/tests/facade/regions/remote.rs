//! Regions of shards in an object store: ranges are asked for, and shards replaced as a whole.

use rechunk::{OpenOptions, StoreOptions, Stores, open_array};
use rechunk_testkit::{Operation, S3Server, ServerOptions};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_inner_chunks_that_meet_the_region_are_fetched() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let mut options = StoreOptions::default();
    for option in server.store_options() {
        options.add(&option).unwrap();
    }
    let stores = Stores::new(options);
    let folder = server.root().join(S3Server::BUCKET).join("a.zarr");
    std::fs::create_dir_all(&folder).unwrap();
    let document = r#"{"zarr_format": 3, "node_type": "array", "shape": [16, 16],
        "data_type": "int32", "fill_value": 0, "attributes": {},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [8, 16]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [4, 4],
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
                {"name": "crc32c"}]}}]}"#;
    std::fs::write(folder.join("zarr.json"), document).unwrap();
    let array = open_array(&server.url("a.zarr"), &OpenOptions::default(), &stores).await.unwrap();
    let mut elements: Vec<i32> = (0..256).collect();
    array.write_region_as([0..16, 0..16], &elements).await.unwrap();
    assert_eq!(stores.meter().traffic().target.put_requests, 2);
    assert_eq!(stores.meter().traffic().target.get_requests, 0, "all shards are covered");

    server.clear_requests();
    let found: Vec<i32> = array.read_region_as([6..10, 3..5]).await.unwrap();
    let expected = (6..10).flat_map(|row| [row * 16 + 3, row * 16 + 4]);
    assert_eq!(found, expected.collect::<Vec<_>>());
    let requests = server.requests();
    let gets: Vec<_> = requests.iter().filter(|r| r.operation == Operation::Get).collect();
    assert_eq!((gets.len(), requests.len()), (2 + 4, 6), "two indexes, two chunks of each shard");
    assert!(gets.iter().all(|request| request.range.is_some()));
    assert_eq!(stores.meter().traffic().source.get_requests, 6);

    server.clear_requests();
    array.write_region_as([1..2, 2..6], &[-1, -2, -3, -4]).await.unwrap();
    elements[18..22].copy_from_slice(&[-1, -2, -3, -4]);
    assert_eq!(array.read_region_as::<i32>([0..16, 0..16]).await.unwrap(), elements);
    let puts = server.requests().iter().filter(|r| r.operation == Operation::Put).count();
    assert_eq!(puts, 1, "the shard that is cut through, as a whole");
}
