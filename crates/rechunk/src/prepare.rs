//! Plans the copy of one array: new, or into a target that exists with what is around it.

use rechunk_store::{Meter, Stores, is_versioned};

use crate::Error;
use crate::archive_target;
use crate::chunk_keys;
use crate::fixed_source::fixed_source;
use crate::growth::{Neighbours, Trust};
use crate::into_version::into_version;
use crate::job::Job;
use crate::open::{OpenArray, open_array};
use crate::place::begun_growth;
use crate::request::CopyRequest;

impl Job {
    /// Opens the source and plans. Reads metadata and a few chunk sizes; writes nothing.
    pub async fn prepare(request: CopyRequest, stores: &Stores) -> Result<Self, Error> {
        archive_target::check_request(&request)?;
        let stores = stores.with_meter(&Meter::new());
        let request = fixed_source(request, &stores).await?;
        let source = open_array(&request.source, &request.open_options(), &stores).await?;
        archive_target::of_array(Self::plan(request, source, stores).await?)
    }

    /// [`Job::prepare`] for a source that is open. One of whose chunks a few were looked for, and
    /// none was there, is looked for under other keys.
    pub(crate) async fn plan(
        request: CopyRequest,
        source: OpenArray,
        stores: Stores,
    ) -> Result<Self, Error> {
        let declared = source.clone();
        let again = (request.clone(), stores.clone());
        let planned = Box::pin(plan_as_declared(request, source, stores)).await?;
        if planned.asked_in_vain.is_empty() {
            return Ok(planned);
        }
        let Some(other) = chunk_keys::look(&declared, &planned.asked_in_vain).await? else {
            return Ok(planned);
        };
        let (request, stores) = again;
        let mut job = Box::pin(plan_as_declared(request, other.array, stores)).await?;
        job.warnings.insert(0, other.said);
        job.has_other_keys = true;
        Ok(job)
    }
}

/// Plans the copy of a source as its documents say that it is.
async fn plan_as_declared(
    request: CopyRequest,
    source: OpenArray,
    stores: Stores,
) -> Result<Job, Error> {
    let request = into_version(request)?;
    if request.is_update() {
        return Box::pin(Job::plan_update(request, source, stores)).await;
    }
    if request.placement.is_none() {
        return Box::pin(Job::plan_new(request, source, stores)).await;
    }
    let begun = begun_growth(&request.target, &stores).await?;
    let planned = Job::plan_growth(request.clone(), source, stores.clone(), begun, None);
    let mut job = Box::pin(planned).await?;
    if is_versioned(&request.target) {
        return Ok(job); // nothing lies beside it
    }
    let trust = Trust::of(&request);
    let location = request.target.trim_end_matches('/');
    let name = location.rsplit('/').next().unwrap_or(location);
    let mut neighbours = Neighbours::new(&request, &trust, &stores, [name].into_iter());
    neighbours.check(name, &job).await?;
    trust.check_used(neighbours.seen().chain([name]))?;
    job.warnings.append(&mut neighbours.warnings);
    Ok(job)
}
