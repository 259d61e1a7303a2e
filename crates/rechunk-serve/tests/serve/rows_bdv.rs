//! Rows 64 and 65: data sets as BigDataViewer opens them.

use rechunk_serve::DatastoreOptions;
use serde_json::{Value, json};

use crate::harness::{Store, description, wire};

/// Sizes of the only level of [`small`], x, y, z.
const SIZE: [usize; 3] = [10, 7, 3];
/// Sizes of its blocks.
const BLOCK: [usize; 3] = [4, 4, 2];

/// The element at a position: no two are alike in 16 bits.
fn element([x, y, z]: [usize; 3]) -> u16 {
    u16::try_from(x + 100 * y + 1000 * z + 300).unwrap()
}

fn small(voxel_type: &str) -> Value {
    description(&json!({
        "voxelType": voxel_type, "dimensions": SIZE, "timepointIds": [3, 7], "angles": 2,
        "label": "embryo",
        "resolutionLevels": [
            {"resolutions": [1, 1, 1], "blockDimensions": BLOCK},
            {"resolutions": [2, 2, 1], "blockDimensions": [5, 3, 3]},
        ],
    }))
}

/// Elements of a box, big-endian, x fastest, each as `item_bytes` bytes.
fn elements(start: [usize; 3], size: [usize; 3], item_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for z in start[2]..start[2] + size[2] {
        for y in start[1]..start[1] + size[1] {
            for x in start[0]..start[0] + size[0] {
                let wide = u64::from(element([x, y, z])).to_be_bytes();
                bytes.extend_from_slice(&wide[8 - item_bytes..]);
            }
        }
    }
    bytes
}

/// Writes all blocks of timepoint 7, channel 1, angle 1, clipped; returns the data set's name.
async fn filled(store: &Store, voxel_type: &str, item_bytes: usize) -> String {
    let id = store.create(&small(voxel_type)).await;
    for z in 0..SIZE[2].div_ceil(BLOCK[2]) {
        for y in 0..SIZE[1].div_ceil(BLOCK[1]) {
            for x in 0..SIZE[0].div_ceil(BLOCK[0]) {
                let start = [x * BLOCK[0], y * BLOCK[1], z * BLOCK[2]];
                let size = std::array::from_fn(|axis| BLOCK[axis].min(SIZE[axis] - start[axis]));
                let sent = wire(
                    size.map(|size| i32::try_from(size).unwrap()),
                    &elements(start, size, item_bytes),
                );
                let path = format!("1/1/1/0/{x}/{y}/{z}/7/1/1");
                assert_eq!(store.write(&id, &path, &sent).await, 200);
            }
        }
    }
    id
}

#[tokio::test]
async fn row_65_cells_are_big_endian_of_16_bits_and_clipped() {
    let store = Store::new().await;
    let id = filled(&store, "uint16", 2).await;
    for version in ["0", "mixedLatest"] {
        for z in 0..2 {
            for y in 0..2 {
                for x in 0..3 {
                    let start = [x * BLOCK[0], y * BLOCK[1], z * BLOCK[2]];
                    let [dx, dy, dz] =
                        std::array::from_fn(|axis| BLOCK[axis].min(SIZE[axis] - start[axis]));
                    let [mx, my, mz] = start;
                    // Setup 3 is channel 1 at angle 1.
                    let cell = format!("cell/5/7/3/0/{dx}/{dy}/{dz}/{mx}/{my}/{mz}");
                    let (status, body) = store.get(&format!("/bdv/{id}/{version}?p={cell}")).await;
                    assert_eq!(status, 200, "{cell}");
                    assert_eq!(body, elements(start, [dx, dy, dz], 2), "{cell}");
                }
            }
        }
    }
    // Also one that lies across blocks; and none where nothing was written.
    let (_, body) = store.get(&format!("/bdv/{id}/0?p=cell/0/7/3/0/4/4/2/2/2/1")).await;
    assert_eq!(body, elements([2, 2, 1], [4, 4, 2], 2));
    let (status, body) = store.get(&format!("/bdv/{id}/0?p=cell/0/3/3/0/4/4/2/0/0/0")).await;
    assert_eq!((status, body.len()), (200, 0));
    let (status, body) = store.get(&format!("/bdv/{id}/0?p=cell%2F0%2F7/3/1/5/3/3/0/0/0")).await;
    assert_eq!((status, body.len()), (200, 0));
}

#[tokio::test]
async fn row_65_bytes_are_widened_with_zeros() {
    let store = Store::new().await;
    let id = filled(&store, "uint8", 1).await;
    let (status, body) = store.get(&format!("/bdv/{id}/0?p=cell/0/7/3/0/4/4/2/4/0/0")).await;
    let narrow = elements([4, 0, 0], [4, 4, 2], 1);
    let wide: Vec<u8> = narrow.into_iter().flat_map(|byte| [0, byte]).collect();
    assert_eq!((status, body.to_vec()), (200, wide));
}

#[tokio::test]
async fn row_65_what_is_no_cell_is_refused_with_words() {
    let store = Store::new().await;
    let id = filled(&store, "uint16", 2).await;
    for (cell, status, said) in [
        ("cell/0/7/3/0/4/4/2/8/0/0", 400, "not within"),
        ("cell/0/7/3/0/5/4/2/0/0/0", 400, "at most"),
        ("cell/0/7/3/0/0/4/2/0/0/0", 400, "not within"),
        ("cell/0/7/3/0/4/4/2/18446744073709551615/0/0", 400, "not within"),
        ("cell/0/7/3/0/4/4/2/-1/0/0", 400, "is neither"),
        ("cell/0/7/3/0/4/4/2/0/0", 400, "is neither"),
        ("cell/0/7/3/2/4/4/2/0/0/0", 404, "no level 2"),
        ("cell/0/5/3/0/4/4/2/0/0/0", 404, "no timepoint 5"),
        ("cell/0/7/4/0/4/4/2/0/0/0", 404, "no channel 2"),
        ("fly", 400, "is neither"),
        ("%ff", 400, "UTF-8"),
    ] {
        let (found, body) = store.get(&format!("/bdv/{id}/0?p={cell}")).await;
        let body = String::from_utf8_lossy(&body).into_owned();
        assert_eq!(found, status, "{cell}: {body}");
        assert!(body.contains(said), "{cell}: {body}");
    }
    for (path, status) in [
        (format!("/bdv/{id}/1"), 404),
        (format!("/bdv/{id}/latest"), 404),
        (format!("/bdv/{id}/x"), 400),
        (format!("/bdv/{id}/0/fly"), 404),
        ("/bdv/nothing/json".to_owned(), 404),
        ("/bdv/nothing/0?p=init".to_owned(), 404),
        (format!("/datasets/{id}/1"), 404),
        (format!("/datasets/{id}/some"), 404),
    ] {
        assert_eq!(store.get(&path).await.0, status, "{path}");
    }
    assert_eq!(store.ask("POST", &format!("/bdv/{id}/0")).await.0, 405);
    let float = store.create(&small("float32")).await;
    for path in ["0", "0?p=init", "0?p=cell/0/7/3/0/4/4/2/0/0/0"] {
        let (status, body) = store.get(&format!("/bdv/{float}/{path}")).await;
        assert_eq!(status, 406, "{path}");
        assert!(String::from_utf8_lossy(&body).contains("float32"), "{body:?}");
    }
}

#[tokio::test]
async fn row_65_sizes_are_as_the_viewer_reads_them() {
    let store = Store::new().await;
    let id = store.create(&small("uint16")).await;
    let (status, body) = store.get(&format!("/bdv/{id}/0?p=init")).await;
    assert_eq!(status, 200);
    let init: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(init["maxNumTimepoints"], 8);
    assert_eq!(init["maxNumSetups"], 4);
    assert_eq!(init["maxNumLevels"], 2);
    let info = &init["perSetupMipmapInfo"]["3"];
    assert_eq!(info["resolutions"], json!([[1.0, 1.0, 1.0], [2.0, 2.0, 1.0]]));
    assert_eq!(info["subdivisions"], json!([[4, 4, 2], [5, 3, 3]]));
    assert_eq!(info["maxLevel"], 1);
    let half = json!([2.0, 0.0, 0.0, 0.5, 0.0, 2.0, 0.0, 0.5, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(info["transforms"][1], half);
    let views = init["dimsAndExistence"].as_array().unwrap();
    assert_eq!(views.len(), 4 * 2 * 2);
    let wanted = json!([
        {"timepointId": 7, "setupId": 3, "level": 1},
        {"dimensions": [5, 3, 3], "blockSize": [5, 3, 3], "exists": true},
    ]);
    assert_eq!(views[15], wanted);
}

#[tokio::test]
async fn row_64_documents_lead_viewers_to_the_server() {
    let store = Store::new().await;
    let id = store.create(&small("uint16")).await;
    store.start(&id, "1/1/1/new/write").await;
    let base = &store.served.base;
    for (path, keys, folder) in [
        (format!("/bdv/{id}/json"), &["0", "1", "mixedLatest"][..], "bdv"),
        (format!("/bdv/{id}/json/"), &["0", "1", "mixedLatest"], "bdv"),
        (format!("/datasets/{id}/json"), &["all", "mixedLatest"], "datasets"),
    ] {
        let (status, body) = store.get(&path).await;
        assert_eq!(status, 200, "{path}");
        let all: Value = serde_json::from_slice(&body).unwrap();
        let all = all.as_object().unwrap();
        assert_eq!(all.len(), keys.len());
        for key in keys {
            let one = &all[&format!("dataset:{id}, version:{key}")];
            assert_eq!(one["datasetUrl"], format!("{base}/{folder}/{id}/{key}/"));
            assert_eq!(one["thumbnailUrl"], format!("{base}/{folder}/{id}/{key}/png"));
            assert_eq!(one["description"], "embryo, 10 × 7 × 3 uint16");
            // Where it leads, there is something.
            for url in ["datasetUrl", "thumbnailUrl"] {
                let url = one[url].as_str().unwrap();
                assert_eq!(store.served.client.get(url).send().await.unwrap().status(), 200);
            }
        }
    }
    for (path, format) in [
        ("bdv/ID/1", "bdv.remote"),
        ("bdv/ID/mixedLatest", "bdv.remote"),
        ("datasets/ID/all", "bdv.hpc-datastore"),
        ("datasets/ID/0", "bdv.hpc-datastore"),
        ("datasets/ID/mixedLatest", "bdv.hpc-datastore"),
    ] {
        let path = path.replace("ID", &id);
        let answer = store.served.get(&format!("/{path}")).send().await.unwrap();
        assert_eq!(crate::harness::header(&answer, "content-type"), "application/xml");
        let xml = answer.text().await.unwrap();
        let loader = format!("<ImageLoader format=\"{format}\">");
        assert!(xml.contains(&loader), "{xml}");
        assert!(xml.contains(&format!("<baseUrl>{base}/{path}</baseUrl>")), "{xml}");
        assert!(xml.contains("<integerpattern>3, 7</integerpattern>") && !xml.contains("<n5"));
    }
}

#[tokio::test]
async fn settings_are_those_that_were_saved() {
    let store = Store::new().await;
    let id = store.create(&small("uint16")).await;
    store.start(&id, "1/1/1/new/write").await;
    let path = format!("/bdv/{id}/mixedLatest/settings");
    assert_eq!(store.get(&path).await.0, 404);
    std::fs::write(store.path(&format!("{id}/0/export.settings.xml")), "<Settings/>").unwrap();
    assert_eq!(store.get(&path).await.1, "<Settings/>");
    assert_eq!(store.get(&format!("/datasets/{id}/0/settings")).await.1, "<Settings/>");
    assert_eq!(store.get(&format!("/bdv/{id}/1/settings")).await.0, 404);
}

#[tokio::test]
async fn a_picture_has_the_shades_of_the_slice_in_the_middle() {
    let store = Store::with(DatastoreOptions::default()).await;
    for (voxel_type, item, low, high) in [
        ("uint8", 1, vec![7_u8], vec![200_u8]),
        ("uint32", 4, vec![0, 0, 0, 9], vec![0x80, 0, 0, 0]),
        ("int16", 2, vec![0xff, 0xfe], vec![0, 5]),
        ("int64", 8, vec![0xff; 8], vec![0; 8]),
        ("float32", 4, (-2.5_f32).to_be_bytes().to_vec(), 1e30_f32.to_be_bytes().to_vec()),
        ("float64", 8, f64::MIN.to_be_bytes().to_vec(), f64::MAX.to_be_bytes().to_vec()),
    ] {
        let id = store
            .create(&description(&json!({
                "voxelType": voxel_type, "dimensions": [4, 2, 1],
                "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [4, 2, 1]}],
            })))
            .await;
        let path = format!("/datasets/{id}/0/png");
        assert_eq!(pixels(&store.get(&path).await.1), ([4, 2], vec![0; 8]), "nothing is black");
        let block: Vec<u8> =
            (0..8).flat_map(|at| if at % 3 == 0 { &high } else { &low }).copied().collect();
        assert_eq!(block.len(), 8 * item);
        assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/0/0", &wire([4, 2, 1], &block)).await, 200);
        let shades = [255, 0, 0, 255, 0, 0, 255, 0].to_vec();
        assert_eq!(pixels(&store.get(&path).await.1), ([4, 2], shades), "{voxel_type}");
    }
}

/// Width, height and shades of a picture.
fn pixels(bytes: &[u8]) -> ([u32; 2], Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut shades = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut shades).unwrap();
    assert_eq!(info.color_type, png::ColorType::Grayscale);
    ([info.width, info.height], shades)
}
