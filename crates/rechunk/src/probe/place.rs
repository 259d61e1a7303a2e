//! Speeds of a store: small and large objects, with more and more requests in flight.

use std::time::Duration;

use bytes::Bytes;
use rechunk_store::{Store, StoreError, Stores, unique_name};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::ProbeOptions;
use super::ladder::{IN_FLIGHT, Limits, Rung, climb, enough};
use super::sample;
use crate::Error;

/// Bytes of a small object: its time is the latency.
const SMALL_BYTES: u64 = 4 << 10;
/// Bytes of a large object, at most and at least: its time is the transfer.
const LARGE_BYTES: (u64, u64) = (64 << 10, 4 << 20);

/// Speeds of a store. `None` and no rungs: not measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct StoreMeasurement {
    /// Time of one small read, the median, seconds.
    pub get_seconds: Option<f64>,
    /// Time of one small write, the median, seconds.
    pub put_seconds: Option<f64>,
    /// The best of the large reads.
    pub read_bytes_per_second: Option<f64>,
    /// The best of the large writes.
    pub write_bytes_per_second: Option<f64>,
    /// Requests in flight beyond which nothing grows: neither the rate of small requests nor the
    /// bytes of large ones.
    pub concurrency: Option<u32>,
    /// Bytes of a small object.
    pub small_bytes: u64,
    /// Bytes of a large object.
    pub large_bytes: u64,
    /// Small reads, by requests in flight.
    pub small_reads: Vec<Rung>,
    /// Small writes.
    pub small_writes: Vec<Rung>,
    /// Large reads.
    pub large_reads: Vec<Rung>,
    /// Large writes.
    pub large_writes: Vec<Rung>,
}

/// Measures the store at `location` within about `seconds`.
pub(super) async fn measure(
    location: &str,
    options: &ProbeOptions,
    seconds: f64,
    stores: &Stores,
    cancel: &CancellationToken,
) -> Result<StoreMeasurement, Error> {
    let failed =
        |source| Error::Store { doing: format!("open {location}"), source: Box::new(source) };
    let store = stores.open(location).map_err(failed)?;
    if let Some(key) = &options.read {
        let reading = |source| Error::source_store(location, source);
        return measure_reads(&store, key, options.bytes, seconds, cancel).await.map_err(reading);
    }
    check_writable(location, &store)?;
    let place = store.child(&format!(".rechunk-probe-{}", unique_name())).map_err(failed)?;
    let measured = measure_all(&place, options.bytes, seconds, cancel).await;
    // Whatever happened: nothing is under way any more, and nothing stays.
    let removed = place.delete_prefix("").await;
    let writing = |source| Error::Store {
        doing: format!(
            "measure {location} by writing below it; to measure reads alone, name an object of it \
             with --read"
        ),
        source: Box::new(source),
    };
    let measured = measured.map_err(writing)?;
    removed.map_err(|source| Error::Store {
        doing: format!("remove {}, which the probe has written", place.label()),
        source: Box::new(source),
    })?;
    Ok(measured)
}

/// Refuses what cannot be written to, and a directory that would have to be made.
fn check_writable(location: &str, store: &Store) -> Result<(), Error> {
    if store.read_only().is_some() {
        return Err(Error::Usage {
            message: format!("{location} is only read"),
            hint: Some("name an object of it to be read: --read KEY".into()),
        });
    }
    // Elsewhere there are no directories, and nothing is made but objects.
    if let Some(root) = store.local_root()
        && !root.is_dir()
    {
        return Err(Error::Usage {
            message: format!("{location} is not a directory, or does not exist"),
            hint: Some("name a directory: what is written there is removed".into()),
        });
    }
    Ok(())
}

async fn measure_all(
    place: &Store,
    bytes: u64,
    seconds: f64,
    cancel: &CancellationToken,
) -> Result<StoreMeasurement, StoreError> {
    let large_bytes = large_bytes(bytes);
    let limits = |request_bytes| limits(request_bytes, bytes, seconds / 4.0, cancel);
    // Connections are made, directories too.
    for name in ["small", "large"] {
        put(place.clone(), format!("{name}/0"), body(SMALL_BYTES)).await?;
        get(place.clone(), format!("{name}/0"), SMALL_BYTES).await?;
    }
    let mut measured =
        StoreMeasurement { small_bytes: SMALL_BYTES, large_bytes, ..StoreMeasurement::default() };
    measured.small_writes = writes(place, "small", &limits(SMALL_BYTES)).await?;
    measured.small_reads =
        reads(place, "small", &measured.small_writes, &limits(SMALL_BYTES)).await?;
    measured.large_writes = writes(place, "large", &limits(large_bytes)).await?;
    measured.large_reads =
        reads(place, "large", &measured.large_writes, &limits(large_bytes)).await?;
    measured.conclude();
    Ok(measured)
}

/// Writes with more and more in flight; each slot has an object of its own.
async fn writes(
    place: &Store,
    name: &'static str,
    limits: &Limits,
) -> Result<Vec<Rung>, StoreError> {
    let (place, body) = (place.clone(), body(limits.request_bytes));
    climb(limits, move |slot| put(place.clone(), format!("{name}/{slot}"), body.clone())).await
}

/// Reads of what the writes have written.
async fn reads(
    place: &Store,
    name: &'static str,
    written: &[Rung],
    limits: &Limits,
) -> Result<Vec<Rung>, StoreError> {
    let (place, size) = (place.clone(), limits.request_bytes);
    let objects = written.last().map_or(1, |rung| rung.concurrency);
    climb(limits, move |slot| get(place.clone(), format!("{name}/{}", slot % objects), size)).await
}

async fn put(place: Store, key: String, body: Bytes) -> Result<(), StoreError> {
    place.put(&key, vec![body]).await
}

async fn get(place: Store, key: String, size: u64) -> Result<(), StoreError> {
    match place.get(&key, size).await? {
        Some(bytes) if bytes.len() as u64 == size => Ok(()),
        Some(bytes) => Err(StoreError::Short {
            location: place.label().to_owned(),
            key,
            wanted_bytes: size,
            got_bytes: bytes.len() as u64,
        }),
        None => Err(StoreError::NotFound { location: place.label().to_owned(), key }),
    }
}

/// An object's bytes, which no store makes smaller by much.
fn body(bytes: u64) -> Bytes {
    let length = usize::try_from(bytes).unwrap_or(0);
    Bytes::from(sample::float32(length.div_ceil(4))).slice(..length)
}

/// Reads ranges of an object that is there.
async fn measure_reads(
    store: &Store,
    key: &str,
    bytes: u64,
    seconds: f64,
    cancel: &CancellationToken,
) -> Result<StoreMeasurement, StoreError> {
    let Some(size) = store.head(key).await?.filter(|&size| size > 0) else {
        let (location, key) = (store.label().to_owned(), key.to_owned());
        return Err(StoreError::NotFound { location, key });
    };
    let small_bytes = SMALL_BYTES.min(size);
    let large_bytes = large_bytes(bytes).min(size);
    store.get_range(key, 0, small_bytes).await?;
    let ranges = async |length: u64| {
        let (store, key) = (store.clone(), key.to_owned());
        let limits = limits(length, bytes, seconds / 2.0, cancel);
        climb(&limits, move |slot| {
            let (store, key) = (store.clone(), key.clone());
            // Spread over the object.
            let start = (size - length) / 64 * u64::from(slot % 64);
            async move { store.get_range(&key, start, length).await.map(|_| ()) }
        })
        .await
    };
    let mut measured = StoreMeasurement {
        small_bytes,
        large_bytes,
        small_reads: ranges(small_bytes).await?,
        large_reads: ranges(large_bytes).await?,
        ..StoreMeasurement::default()
    };
    measured.conclude();
    Ok(measured)
}

/// Bytes of a large object, so that all rungs but the last fit into `bytes`.
fn large_bytes(bytes: u64) -> u64 {
    let requests = IN_FLIGHT.len() as u64 * 32;
    (bytes / requests).clamp(LARGE_BYTES.0, LARGE_BYTES.1)
}

fn limits(request_bytes: u64, bytes: u64, seconds: f64, cancel: &CancellationToken) -> Limits {
    // Small and large requests share the bytes; the small ones need few.
    let small = bytes / 8;
    let bytes = if request_bytes > SMALL_BYTES { bytes - small } else { small };
    let rung = Duration::from_secs_f64(seconds / IN_FLIGHT.len() as f64);
    Limits { request_bytes, bytes, rung, cancel: cancel.clone() }
}

impl StoreMeasurement {
    /// The numbers of a profile, from the rungs.
    fn conclude(&mut self) {
        let latency = |rungs: &[Rung]| {
            rungs.first().filter(|rung| rung.requests > 0).map(|rung| rung.median_seconds.max(1e-9))
        };
        let best = |rungs: &[Rung]| {
            rungs.iter().map(Rung::bytes_per_second).reduce(f64::max).filter(|&best| best > 0.0)
        };
        self.get_seconds = latency(&self.small_reads);
        self.put_seconds = latency(&self.small_writes);
        self.read_bytes_per_second = best(&self.large_reads);
        self.write_bytes_per_second = best(&self.large_writes);
        let ladders =
            [&self.small_reads, &self.small_writes, &self.large_reads, &self.large_writes];
        self.concurrency = ladders.iter().filter_map(|rungs| enough(rungs)).max();
    }
}
