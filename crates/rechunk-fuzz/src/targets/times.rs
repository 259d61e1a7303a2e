//! Coordinates that say how long a chunk of time is (`--chunks t=30D`).

use bytes::Bytes;
use futures::executor::block_on;
use rechunk::{CopyRequest, Error, Job, Stores};
use rechunk_store::Store;
use serde_json::{Map, Value, json};

use super::split;

/// A group in memory with an array and its coordinate.
const GROUP: &str = "memory://times";
/// Values of the coordinate.
const VALUES: u64 = 16;
/// Types that it may have: their names, and the bytes of one.
const TYPES: [(&str, usize); 4] = [("<f8", 8), ("<i8", 8), ("<i4", 4), ("<M8[h]", 8)];
/// Spans that are asked for.
const SPANS: [&str; 4] = ["t=30D", "t=1h", "t=2Y", "t=1M,x=1"];

/// Attributes of a coordinate; behind a 0 byte a byte for its type, and its values.
pub(crate) fn target(data: &[u8]) -> bool {
    let (attributes, rest) = split(data);
    let Ok(attributes) = serde_json::from_slice::<Map<String, Value>>(attributes) else {
        return false;
    };
    let (&kind, values) = rest.and_then(<[u8]>::split_first).unwrap_or((&0, &[]));
    block_on(read(&attributes, TYPES[usize::from(kind) % TYPES.len()], values)).unwrap_or(false)
}

async fn read(
    attributes: &Map<String, Value>,
    (data_type, item_bytes): (&str, usize),
    values: &[u8],
) -> Option<bool> {
    let store = Store::open(GROUP).ok()?;
    let array = |shape: Value, data_type: &str| {
        json!({
            "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": data_type, "compressor": null,
            "fill_value": 0, "order": "C", "filters": null,
        })
    };
    let put =
        async |key: &str, document: Vec<u8>| store.put(key, vec![Bytes::from(document)]).await.ok();
    let names = json!({ "_ARRAY_DIMENSIONS": ["t", "x"] });
    put("v/.zarray", array(json!([VALUES, 2]), "|u1").to_string().into_bytes()).await?;
    put("v/.zattrs", names.to_string().into_bytes()).await?;
    put("t/.zarray", array(json!([VALUES]), data_type).to_string().into_bytes()).await?;
    put("t/.zattrs", serde_json::to_vec(attributes).ok()?).await?;
    let mut chunk = values.to_vec();
    if chunk.is_empty() {
        // Days or hours or whatever it says, one after the other.
        for value in 0..VALUES {
            let bytes = if data_type == "<f8" {
                f64::from(u32::try_from(value).ok()?).to_le_bytes()
            } else {
                value.to_le_bytes()
            };
            chunk.extend_from_slice(&bytes[..item_bytes]);
        }
    }
    chunk.resize(usize::try_from(VALUES).ok()? * item_bytes, 0);
    put("t/0", chunk).await?;
    let mut is_accepted = false;
    for chunks in SPANS {
        let mut request = CopyRequest::new(&format!("{GROUP}/v"), "memory://times-out/v");
        let Ok(parsed) = chunks.parse() else { unreachable!("{chunks}") };
        request.chunks = parsed;
        match Job::prepare(request, &Stores::default()).await {
            Ok(job) => {
                let chunk = &job.plan_report().plan.target_chunks;
                assert!((1..=VALUES).contains(&chunk[0]), "{chunk:?}");
                is_accepted = true;
            }
            // What is in a coordinate is no fault of the array.
            Err(error) => assert!(matches!(error, Error::Usage { .. }), "{error:?}"),
        }
    }
    Some(is_accepted)
}
