//! Images of labels of the source's image: they are copied as they are, with the levels that they
//! have.

use rechunk_image::{Dialect, read_image};
use rechunk_zarr::GroupMetadata;

use super::image::{ImageGroup, SourceImage};
use crate::Error;
use crate::member_location::member_location;
use crate::open::{Opened, open_node, open_store};
use crate::request::CopyRequest;
use crate::tree::{Selection, Source, TreeJob};

/// Name of the group of images of labels.
const LABELS: &str = "labels";

/// Has the job of a new image copy the images of labels of its source, or says why it does not.
pub(super) async fn take_labels(
    job: &mut TreeJob,
    image: &SourceImage,
    dialect: Dialect,
) -> Result<(), Error> {
    let Some(group) = image.group.as_ref().filter(|group| group.has_labels) else { return Ok(()) };
    let location = member_location(&group.location, LABELS);
    let labels = match obstacle(job, group, dialect) {
        Some(why) => Err(why.to_owned()),
        None => {
            Box::pin(labels_of(job, &location, dialect)).await.map_err(|error| error.to_string())
        }
    };
    let taken = match labels {
        Ok(Some(labels)) => {
            job.warnings.extend(levels_that_differ(job, &labels));
            job.take_in(LABELS, labels)
        }
        Ok(None) => return Ok(()),
        Err(why) => Err(why),
    };
    if let Err(why) = taken {
        job.warnings.push(format!(
            "the images of labels in {location} are not taken along: {why}. Make a pyramid of each"
        ));
    }
    Ok(())
}

/// A sentence on images of labels of other numbers of levels than the new image: OME-Zarr wants as
/// many.
fn levels_that_differ(job: &TreeJob, labels: &TreeJob) -> Option<String> {
    let levels = job.pyramid.as_ref().map_or(0, |pyramid| pyramid.levels.len());
    let differs = |(path, group): (&String, &GroupMetadata)| {
        let found = read_image(&group.attributes)?.levels.len();
        (found != levels).then(|| format!("{path} has {found}"))
    };
    let differ: Vec<String> = labels.groups.iter().filter_map(differs).collect();
    (!differ.is_empty()).then(|| {
        format!(
            "OME-Zarr wants as many levels of labels as of the image, which has {levels}: {}. When \
             this is done, add levels to each: it is an image, at {}",
            differ.join(", "),
            member_location(&labels.request.target, "NAME")
        )
    })
}

/// Why images of labels cannot be copied as they are.
fn obstacle(job: &TreeJob, group: &ImageGroup, dialect: Dialect) -> Option<&'static str> {
    if !dialect.is_ome() || !group.found.dialect.is_ome() {
        Some("only OME-Zarr has such a group")
    } else if job.request.select.is_some() {
        Some("they are of the whole image, and a region of it is taken")
    } else if !group.is_level_0 {
        Some("they are of level 0, and a coarser level is taken")
    } else {
        None
    }
}

/// The copy of the group of images of labels; `None` if it is no group.
async fn labels_of(
    job: &TreeJob,
    location: &str,
    dialect: Dialect,
) -> Result<Option<TreeJob>, Error> {
    let whole = &job.request;
    let stores = job.stores.clone();
    let request = CopyRequest {
        format: Some(job.format),
        separator: whole.separator,
        planning: whole.planning.clone(),
        temp: whole.temp.clone(),
        ..CopyRequest::new(location, &member_location(&whole.target, LABELS))
    };
    let store = open_store(location, &stores)?;
    let opened = open_node(location, &request.open_options(), &store).await?;
    let Opened::Group(documents, format) = opened else { return Ok(None) };
    let selection = Selection { no_others: true, dialect: Some(dialect), ..Selection::default() };
    let source = Source { store, documents, format };
    Box::pin(TreeJob::prepare(request, selection, &source, stores)).await.map(Some)
}
