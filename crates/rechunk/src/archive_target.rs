//! Requests and plans whose target is a ZIP file: what is refused, and what is said of it.

use std::path::Path;

use rechunk_store::{Store, has_zip_name, store_kind};

use crate::Error;
use crate::archive::{Archive, refused};
use crate::archive_packing::ome_version;
use crate::formats::{Fact, Format};
use crate::job::Job;
use crate::request::CopyRequest;
use crate::tree::TreeJob;

/// Ending of an OME-Zarr in one file (RFC-9).
const OZX: &str = "ozx";

fn is_ozx(location: &str) -> bool {
    let path = Path::new(location.trim_end_matches('/'));
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(OZX))
}

/// Refuses a ZIP file as a target where it can be none.
pub(crate) fn check_request(request: &CopyRequest) -> Result<(), Error> {
    let location = &request.target;
    let changes = request.placement.is_some() || request.is_update();
    let Some(archive) = Archive::of(location) else {
        let is_elsewhere = matches!(store_kind(location), "s3" | "gs" | "az" | "memory");
        if is_elsewhere && !changes && has_zip_name(Path::new(location.trim_end_matches('/'))) {
            return Err(refused(
                location,
                "a ZIP file is packed on a local disk",
                "write it to a disk and upload it, or leave .zip and .ozx off the name of a place \
                 in an object store",
            ));
        }
        return Ok(());
    };
    if changes {
        return Err(stays(location));
    }
    if !archive.below().is_empty() {
        let hint = format!("name the file itself: {}", archive.file().display());
        return Err(refused(location, "a ZIP file is written as a whole", hint));
    }
    request.format.map_or(Ok(()), |format| check_format(location, format))
}

fn stays(location: &str) -> Error {
    refused(
        location,
        "what is in a ZIP file stays as it is",
        "copy it to a directory, change that, and copy that to a ZIP file",
    )
}

fn check_format(location: &str, format: Format) -> Result<(), Error> {
    if !format.has(Fact::InZipFiles) {
        let reason = format!("{} does not lie in ZIP files", format.name());
        return Err(refused(location, &reason, "write Zarr, or a directory"));
    }
    if is_ozx(location) && !format.has(Fact::OneFileImages) {
        let hint = "leave the format out, or name a file that ends in .zip";
        return Err(refused(location, "an .ozx file is OME-Zarr 0.5, which is Zarr v3", hint));
    }
    Ok(())
}

/// A planned array, checked where its target is a ZIP file, with what is to be said of that.
pub(crate) fn of_array(mut job: Job) -> Result<Job, Error> {
    check_array(&job)?;
    let objects = job.planned.plan.estimate.target.objects;
    job.warnings.extend(many_entries(&job.request.target, objects));
    job.notes.extend(note(&job.request.target));
    Ok(job)
}

/// A planned group, checked where its target is a ZIP file, with what is to be said of that.
pub(crate) fn of_tree(mut job: TreeJob) -> Result<TreeJob, Error> {
    check_tree(&job)?;
    let objects = job.estimate().target.objects;
    job.warnings.extend(many_entries(&job.request.target, objects));
    if let (Some(first), Some(note)) = (job.arrays.first_mut(), note(&job.request.target)) {
        first.job.notes.push(note);
    }
    Ok(job)
}

/// Refuses an array that cannot be written as the ZIP file that is its target.
fn check_array(job: &Job) -> Result<(), Error> {
    let location = &job.request.target;
    if Archive::of(location).is_none() || job.in_tree {
        return Ok(());
    }
    check_format(location, job.target.format())?;
    if is_ozx(location) {
        return Err(refused(
            location,
            "an .ozx file is an OME-Zarr image, and this is one array",
            "make an image of it, with the levels of a pyramid, or name a file that ends in .zip",
        ));
    }
    Ok(())
}

/// Refuses a group that cannot be written as the ZIP file that is its target.
fn check_tree(job: &TreeJob) -> Result<(), Error> {
    let location = &job.request.target;
    if Archive::of(location).is_none() {
        return Ok(());
    }
    if job.adds.is_some() {
        return Err(stays(location));
    }
    check_format(location, job.format)?;
    if is_ozx(location) && ome_version(&job.root.attributes).is_none() {
        return Err(refused(
            location,
            "an .ozx file is OME-Zarr 0.5, and the root of the group would not say that it is",
            "name a file that ends in .zip, or an image or plate of OME-Zarr as the source",
        ));
    }
    Ok(())
}

/// Words on more objects than a ZIP file is packed of, where not most of them hold nothing.
fn many_entries(target: &str, objects: u64) -> Option<String> {
    Archive::whole(target).filter(|_| objects > Store::ZIP_ENTRIES_MAX)?;
    Some(format!(
        "{target} may have up to {objects} entries, and a ZIP file of more than {} is not packed: have \
         larger chunks, or shards",
        Store::ZIP_ENTRIES_MAX
    ))
}

/// Words on a target that is packed in the end, for a plan.
fn note(target: &str) -> Option<String> {
    let archive = Archive::whole(target)?;
    let name = archive.file().file_name().unwrap_or_default().to_string_lossy();
    Some(format!(
        "written to {} first, and packed into {name} in the end: until then the disk holds it twice",
        archive.built_at()
    ))
}
