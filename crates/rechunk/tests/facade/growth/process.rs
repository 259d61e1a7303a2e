//! Processes that copy, append and read.

use std::sync::Arc;
use std::time::Duration;

use rechunk::{
    CancellationToken, ChunkSpec, CodecSpec, CopyRequest, Error, Existing, Format, NullObserver,
    Placement, Prepared, Report, Running, Selection, ShardSpec, StoreOptions, Stores, TreeReport,
};
use rechunk_testkit::{SimClient, SimStore};
use tokio::time::sleep;

use crate::growth::array::{Expected, ROOT};

pub(crate) fn stores(client: &SimClient) -> Stores {
    let options = StoreOptions::default().with_max_retries(8).with_timeout(Duration::from_mins(2));
    Stores::new(options).with_client(ROOT, Arc::new(client.clone()))
}

pub(crate) fn request(source: &str, target: &str) -> CopyRequest {
    let mut request = CopyRequest::new(&format!("{ROOT}/{source}"), &format!("{ROOT}/{target}"));
    request.planning.memory_bytes = Some(64 << 20);
    request.planning.threads = Some(2);
    request.planning.concurrency = Some(4);
    request
}

pub(crate) fn append(source: &str, target: &str, along: &str) -> CopyRequest {
    let placement = Some(Placement::Append(along.to_owned()));
    let mut request = request(source, target);
    request.placement = placement;
    request
}

pub(crate) fn region(source: &str, target: &str, region: &str) -> CopyRequest {
    let placement = Some(Placement::parse_region(region).unwrap());
    let mut request = request(source, target);
    request.placement = placement;
    request
}

/// What was done.
#[derive(Debug)]
pub(crate) enum Done {
    Array(Box<Report>),
    Tree(Box<TreeReport>),
}

impl Done {
    pub(crate) fn array(self) -> Report {
        match self {
            Self::Array(report) => *report,
            Self::Tree(report) => panic!("a group: {report:?}"),
        }
    }
}

pub(crate) async fn run(
    client: &SimClient,
    request: CopyRequest,
    existing: Existing,
    verify: bool,
) -> Result<Done, Error> {
    let mut running = Running::new(existing);
    running.verify = verify;
    let cancel = CancellationToken::new();
    let stores = stores(client);
    let prepared = Box::pin(rechunk::prepare(request, Selection::default(), &stores)).await?;
    match prepared {
        Prepared::Array(mut job) => {
            job.planned.plan.threads = 0; // in place: threads would end in any order
            let report = Box::pin(job.run(running, Arc::new(NullObserver), cancel)).await?;
            Ok(Done::Array(Box::new(report)))
        }
        Prepared::Tree(mut job) => {
            for array in &mut job.arrays {
                array.job.planned.plan.threads = 0;
            }
            let report = Box::pin(job.run(running, Arc::new(NullObserver), cancel)).await?;
            Ok(Done::Tree(Box::new(report)))
        }
    }
}

/// Runs, when the lease of one that died is over.
pub(crate) async fn fresh(disk: &SimStore, request: CopyRequest) -> Result<Done, Error> {
    loop {
        match run(&disk.client(), request.clone(), Existing::Refuse, true).await {
            Err(error) if says(&error).contains("last heard of") => {
                sleep(Duration::from_secs(5)).await;
            }
            other => return other,
        }
    }
}

/// The array at `path`, read by way of a copy in one plain chunk.
pub(crate) async fn read(disk: &SimStore, path: &str) -> Expected {
    let mut whole = request(path, "read.zarr");
    whole.chunks = ChunkSpec::Whole;
    whole.codec = Some(CodecSpec::none());
    whole.shards = Some(ShardSpec::None);
    whole.format = Some(Format::Zarr2);
    whole.write_empty = rechunk::WriteEmpty::Always;
    if path.contains(".n5") {
        whole.shards = None;
    }
    disk.clear("read.zarr");
    run(&disk.client(), whole, Existing::Refuse, false).await.unwrap();
    let document = disk.object("read.zarr/.zarray").unwrap();
    let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
    let shape = document["shape"].as_array().unwrap();
    let shape: Vec<u64> = shape.iter().map(|extent| extent.as_u64().unwrap()).collect();
    let key: Vec<&str> = shape.iter().map(|_| "0").collect();
    let bytes = disk.object(&format!("read.zarr/{}", key.join("."))).unwrap();
    let elements = bytes.chunks(2).map(|two| u16::from_le_bytes(two.try_into().unwrap()));
    Expected { shape, elements: elements.collect() }
}

/// Goes on with an interrupted run as a user does, when the dead one's lease is over; false if
/// there was none.
pub(crate) async fn resume(disk: &SimStore, request: &CopyRequest) -> Result<bool, Error> {
    loop {
        match run(&disk.client(), request.clone(), Existing::Resume, false).await {
            Ok(_) => return Ok(true),
            Err(error) if says(&error).contains("last heard of") => {
                sleep(Duration::from_secs(5)).await;
            }
            Err(error) if says(&error).contains("no interrupted run") => return Ok(false),
            // Of a group nothing is left to go on with either, and its days are there already.
            Err(error) if says(&error).contains("would not be in order") => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

/// Gives an interrupted run up.
pub(crate) async fn clean(disk: &SimStore, target: &str) -> Result<(), Error> {
    loop {
        let stores = stores(&disk.client());
        match rechunk::clean(&format!("{ROOT}/{target}"), &stores).await {
            Err(error) if says(&error).contains("last heard of") => {
                sleep(Duration::from_secs(5)).await;
            }
            other => return other.map(drop),
        }
    }
}

/// Every how many calls a process dies: `RECHUNK_GROWTH_EVERY`, or as many as an ordinary run has
/// time for.
pub(crate) fn every(usual: usize) -> usize {
    let every = std::env::var("RECHUNK_GROWTH_EVERY").ok().and_then(|text| text.parse().ok());
    every.unwrap_or(usual)
}

/// All that an error says.
pub(crate) fn says(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
