//! A process that copies the array.

use std::sync::Arc;
use std::time::Duration;

use rechunk::{
    CancellationToken, CopyRequest, Error, Existing, Format, Job, NullObserver, Report, Running,
    StoreOptions, Stores, Strategy,
};
use rechunk_testkit::SimClient;

use crate::sim::array::{ROOT, TARGET, target_chunks};

pub(crate) fn request(strategy: Strategy) -> CopyRequest {
    let mut request = CopyRequest::new(&format!("{ROOT}/source.zarr"), &format!("{ROOT}/{TARGET}"));
    request.chunks = target_chunks().parse().unwrap();
    request.format = Some(Format::Zarr2);
    request.planning.memory_bytes = Some(64 << 20);
    request.planning.threads = Some(2);
    request.planning.concurrency = Some(4);
    request.planning.strategy = strategy;
    request
}

pub(crate) fn stores(client: &SimClient) -> Stores {
    let options = StoreOptions::default().with_max_retries(8).with_timeout(Duration::from_mins(2));
    Stores::new(options).with_client(ROOT, Arc::new(client.clone()))
}

/// Removes what is beside the target.
pub(crate) async fn clean(client: &SimClient) -> Result<(), Error> {
    rechunk::clean(&format!("{ROOT}/{TARGET}"), &stores(client)).await.map(|_| ())
}

/// Copies the array, or goes on with its copy.
pub(crate) async fn copy(client: &SimClient, strategy: Strategy) -> Result<Report, Error> {
    copy_to(client, strategy, Existing::Resume).await
}

/// Copies the array to where there may be another.
pub(crate) async fn copy_to(
    client: &SimClient,
    strategy: Strategy,
    existing: Existing,
) -> Result<Report, Error> {
    run(client, request(strategy), existing).await
}

/// Copies the array by way of an intermediate at `temp`, or goes on with that.
pub(crate) async fn copy_by(client: &SimClient, temp: &str) -> Result<Report, Error> {
    let temp = Some(format!("{ROOT}/{temp}"));
    let mut request = request(Strategy::PushPull);
    request.temp = temp;
    run(client, request, Existing::Resume).await
}

async fn run(
    client: &SimClient,
    request: CopyRequest,
    existing: Existing,
) -> Result<Report, Error> {
    let mut job = Job::prepare(request, &stores(client)).await?;
    job.planned.plan.threads = 0; // in place: threads would end in any order
    let running = Running::new(existing);
    job.run(running, Arc::new(NullObserver), CancellationToken::new()).await
}
