//! An apply whose results go into an array that exists: beyond its box everything stays.

use std::sync::Arc;

use rechunk_grid::Region;
use rechunk_store::Stores;

use super::Opened;
use crate::dataset_creation::with_creation;
use crate::growth::{Growth, decided_option, open_existing};
use crate::job::Job;
use crate::open::OpenArray;
use crate::place::begun_growth;
use crate::request::CopyRequest;
use crate::specified::Specified;
use crate::{Error, format_shape};

impl Job {
    /// Plans an apply into the array at the target, which keeps its shape, chunks and codecs.
    pub(crate) async fn plan_update(
        request: CopyRequest,
        source: OpenArray,
        stores: Stores,
    ) -> Result<Self, Error> {
        check_options(&request)?;
        if request.apply.as_ref().is_some_and(|apply| apply.defer) {
            return Err(Error::Usage {
                message: "blocks that stay uncombined have an array of their own, which no update \
                          writes into"
                    .to_owned(),
                hint: Some("leave one of the two out".into()),
            });
        }
        let location = request.target.clone();
        let begun = begun_growth(&location, &stores).await?;
        let existing = open_existing(&request, &stores).await;
        let (existing, change) =
            existing.map_err(|error| with_creation(error, &request, source.spec()))?;
        let (shape, target) = (&source.spec().shape, &existing.spec().shape);
        if shape != target {
            return Err(Error::Conflict {
                reason: format!(
                    "has the shape {}, and the source {}",
                    format_shape(target),
                    format_shape(shape)
                ),
                hint: Some("an update writes results where their sources are".into()),
                location,
            });
        }
        let into = existing.spec().data_type;
        let applied = Box::pin(Opened::of(&request, &source, &stores, Some(into))).await?;
        let before = shape.clone();
        let found = (existing.metadata.clone(), Arc::clone(existing.array.layout()));
        let specified = Specified::as_found(request, source, found, stores);
        let planned = Self::plan_target(Specified { applied, ..specified });
        let job = Box::pin(planned).await?;
        let apply = job.planned.plan.apply.as_ref();
        let kept = apply.and_then(|work| work.job.kept().to_region());
        let region = kept.unwrap_or_else(|| Region::whole(&before));
        let growth = Growth {
            after: before.clone(),
            before,
            written: region.clone(),
            axis: None,
            lengths: None,
            counted_anew: false,
            summary: format!(
                "updates {} elements from {:?}",
                format_shape(&region.shape),
                region.start
            ),
            region,
        };
        Ok(Self { growth: Some(growth), change: Some(change), is_begun: begun.is_some(), ..job })
    }
}

/// Refuses what the target has decided already.
fn check_options(request: &CopyRequest) -> Result<(), Error> {
    let cast = request.cast.as_ref().map(|_| "a cast");
    match decided_option(request).or(cast) {
        None => Ok(()),
        Some(option) => Err(Error::Usage {
            message: format!("an update keeps what the target has: {option} cannot be given"),
            hint: Some("leave it out".into()),
        }),
    }
}
