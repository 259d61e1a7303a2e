//! The job of a pyramid: a group of arrays, of which the first writes the chunks of all.

use std::collections::HashSet;
use std::sync::Arc;

use rechunk_image::{AxisKind, Dialect, Level, level_transform, with_levels};
use rechunk_plan::{LevelsFrom, MissingCells};
use rechunk_reduce::Method;
use rechunk_store::{Meter, Stores};
use rechunk_zarr::GroupMetadata;
use serde_json::{Map, Value};

use super::choice::{dialect_of, method_of, split_axes};
use super::described::describe;
use super::image::{ImageGroup, SourceImage, open_image};
use super::known::{begun_levels, known_levels};
use super::labels::take_labels;
use super::plan::{JobLevel, PyramidJob};
use super::sizes::{Sizes, factors, shape_of};
use super::targets::{LevelWish, SpecifiedLevel, specified};
use super::{PyramidReport, PyramidRequest};
use crate::Error;
use crate::formats::Format;
use crate::into_version::check_takes_group;
use crate::job::Job;
use crate::request::CopyRequest;
use crate::sample::{Sample, sample};
use crate::specified::Specified;
use crate::target::is_same_place;
use crate::tree::{Adding, TreeArray, TreeJob};

/// Plans the pyramid that a request asks for. Reads metadata and a few chunk sizes; writes nothing.
pub(crate) async fn prepare_pyramid(
    mut request: CopyRequest,
    pyramid: PyramidRequest,
    stores: &Stores,
) -> Result<TreeJob, Error> {
    check_request(&request, &pyramid)?;
    // One budget, whatever is free when the next array is planned.
    request.planning.memory_bytes = Some(request.planning.budget().memory_bytes);
    let stores = stores.with_meter(&Meter::new());
    let image = Box::pin(open_image(&request, &stores)).await?;
    if pyramid.missing == MissingCells::Skip {
        image.array.check_tells_missing_chunks()?;
    }
    let is_there = |group: &&ImageGroup| is_same_place(&group.location, &request.target);
    let there = image.group.as_ref().filter(is_there);
    check_added(&request, there)?;
    let mut warnings: Vec<String> = image.other_keys.iter().cloned().collect();
    let (dialect, format) = dialect_of(&request, &pyramid, &image, there, &mut warnings)?;
    if format.zarr_version().is_some() && there.is_none() {
        request.separator.get_or_insert('/'); // as images and their viewers have it
    }
    let split = split_axes(dialect, &image)?;
    let method = method_of(&pyramid, &image, &mut warnings);
    let sizes = Sizes { axes: &image.axes, scale: &image.scale, shape: &image.array.spec().shape };
    let wanted = factors(&pyramid, &sizes)?;
    let (mut known, mut begun) = (Vec::new(), Vec::new());
    if let Some(group) = there {
        begun = begun_levels(&request.target, &stores).await?;
        known = known_levels(group, &begun, &request, &image, &stores).await?;
    }
    let of_image = (dialect, there.is_some(), known.as_slice());
    let made = made_levels(&pyramid, (&image, method), of_image, (wanted, &begun));
    let is_made = |level: &Level| made.iter().any(|made| made.path == level.path);
    let (anew, known): (Vec<Level>, Vec<Level>) = known.into_iter().partition(is_made);
    let described = describe(&image, &request.target, (dialect, method, &pyramid), &known, &made)?;
    let mut levels = Vec::with_capacity(made.len());
    for (level, attributes) in made.iter().zip(described.of_made) {
        let paths = paths_of(dialect, split, &image, level);
        let (factors, shape) = (level.factors.clone(), level.shape.clone());
        let wish = LevelWish { factors, shape, paths, attributes };
        levels.push(specified(&request, &image, (format, split), wish)?);
    }
    let sample = Box::pin(sample(&image.array, false)).await?;
    let arrays = jobs((&image, sample), (method, &pyramid), levels, &stores)?;
    let report = arrays.first().and_then(|first| {
        let job = first.job.pyramid.as_ref()?;
        Some(PyramidReport::of(&pyramid, dialect, job, (&first.job.planned, &made)))
    });
    let mut root = GroupMetadata::with_attributes(described.root);
    let mut adds = None;
    if let Some(group) = there {
        let settings = (dialect, method, &pyramid);
        let without = describe(&image, &request.target, settings, &known, &[])?.root;
        root = of_image_there(group, (dialect, &made), root.attributes);
        adds = Some(Adding {
            anew: anew.into_iter().map(|level| (level.path, level.factors)).collect(),
            without: of_image_there(group, (dialect, &made), without),
            is_described: root == group.metadata,
        });
    }
    let group = |(path, map)| (path, GroupMetadata::with_attributes(map));
    let mut job = TreeJob::new(request, format, stores);
    (job.adds, job.root, job.arrays) = (adds, root, arrays);
    job.groups = described.groups.into_iter().map(group).collect();
    (job.beside, job.warnings) = (described.beside, warnings);
    job.pyramid = report.map(Box::new);
    if job.adds.is_none() {
        take_labels(&mut job, &image, dialect).await?;
    }
    Ok(job)
}

/// Metadata of an image that is there, as `described` with the levels that are `made`, or without
/// them.
fn of_image_there(
    group: &ImageGroup,
    (dialect, made): (Dialect, &[Level]),
    described: Map<String, Value>,
) -> GroupMetadata {
    let paths: Vec<&str> = made.iter().map(|level| level.path.as_str()).collect();
    // Of the user's own document all else stays.
    let own = || with_levels(&group.metadata.attributes, &described, &paths);
    let own = if dialect.is_ome() { own() } else { None };
    GroupMetadata { attributes: own.unwrap_or(described), ..group.metadata.clone() }
}

fn check_request(request: &CopyRequest, pyramid: &PyramidRequest) -> Result<(), Error> {
    if pyramid.method == Some(Method::Gaussian) && pyramid.missing == MissingCells::Skip {
        return Err(Error::Usage {
            message: "a Gaussian counts chunks that are not stored as the fill value".to_owned(),
            hint: Some("choose the mean, or `fill`".into()),
        });
    }
    check_takes_group(request)?;
    if request.apply.is_some() || request.placement.is_some() {
        return Err(Error::Usage {
            message: "levels are made of a source as it is, into a target of their own".to_owned(),
            hint: None,
        });
    }
    Ok(())
}

/// Refuses levels that are not of the whole image that gets them.
fn check_added(request: &CopyRequest, there: Option<&ImageGroup>) -> Result<(), Error> {
    let Some(group) = there else { return Ok(()) };
    let what = if group.found.dialect == Dialect::BdvN5 {
        "all channels and times of a dataset of BigDataViewer have the same levels"
    } else if !group.is_level_0 {
        "they would be made of another level than level 0"
    } else if request.select.is_some() {
        "they would be made of a region of it"
    } else if request.cast.is_some() {
        "they would be of another type"
    } else {
        return Ok(());
    };
    Err(Error::Usage {
        message: format!("levels cannot be added to the image {}: {what}", group.location),
        hint: Some("name another target, for an image of its own".into()),
    })
}

/// Lists the levels that are written. One that the image has keeps its place, and one that an
/// interrupted run has `begun` has the place that it got there.
fn made_levels(
    pyramid: &PyramidRequest,
    (image, method): (&SourceImage, Method),
    (dialect, is_there, known): (Dialect, bool, &[Level]),
    (wanted, begun): (Vec<Vec<u64>>, &[String]),
) -> Vec<Level> {
    let shape = &image.array.spec().shape;
    let mut made: Vec<Level> = Vec::new();
    let format = Format::of_images(dialect.container());
    let is_made = |made: &[Level], path: &str| made.iter().any(|level| level.path == path);
    let all = if is_there { Vec::new() } else { vec![vec![1; shape.len()]] };
    let taken = |path: &str| known.iter().any(|known| known.path == path);
    let begun = if begun.len() == wanted.len() { begun } else { &[] };
    let mut number = usize::from(is_there);
    for (at, factors) in all.into_iter().chain(wanted).enumerate() {
        let level = known.iter().find(|known| known.factors == factors);
        let path = level.map(|level| &level.path).or(begun.get(at)).cloned();
        let path = path.unwrap_or_else(|| {
            loop {
                let by_size = format.and_then(|format| format.level_path(&image.voxels(&factors)));
                let first = known.first().map(|known| &*known.path);
                let path = by_size.filter(|path| !taken(path) && !is_made(&made, path));
                let path = path.unwrap_or_else(|| path_of(dialect, first, number));
                number += 1;
                if !taken(&path) {
                    break path;
                }
            }
        });
        let is_block = method != Method::Stride;
        let (scale, translation) =
            level_transform(&image.scale, &image.translation, &factors, is_block);
        let shape = shape_of(pyramid.size, shape, &factors);
        made.push(Level { path, factors, scale, translation, shape });
    }
    made
}

/// Path of a level, in the manner of that of level 0 where there is one.
fn path_of(dialect: Dialect, first: Option<&str>, number: usize) -> String {
    let Some(first) = first else {
        return match dialect {
            Dialect::BdvN5 => format!("setup0/timepoint0/s{number}"),
            _ => format!("s{number}"),
        };
    };
    match first.rfind('0') {
        Some(at) => format!("{}{number}{}", &first[..at], &first[at + 1..]),
        None => format!("s{number}"),
    }
}

/// Paths of the arrays of a level: one, or one for each index along axes that are split off.
fn paths_of(dialect: Dialect, split: usize, image: &SourceImage, level: &Level) -> Vec<String> {
    if dialect != Dialect::BdvN5 || split == 0 {
        return vec![level.path.clone()];
    }
    let name = level.path.rsplit('/').next().unwrap_or_default();
    let of_split = rechunk_grid::Region::whole(&level.shape[..split]);
    let view = |index: Vec<u64>| {
        let (mut setup, mut timepoint) = (0, 0);
        for (at, axis) in index.iter().zip(&image.axes) {
            if axis.kind == AxisKind::Time { timepoint = *at } else { setup = *at }
        }
        format!("setup{setup}/timepoint{timepoint}/{name}")
    };
    of_split.positions().map(view).collect()
}

/// The jobs of all arrays: the first writes all chunks, each its document.
fn jobs(
    (image, sample): (&SourceImage, Sample),
    (method, pyramid): (Method, &PyramidRequest),
    levels: Vec<SpecifiedLevel>,
    stores: &Stores,
) -> Result<Vec<TreeArray>, Error> {
    let mut all: Vec<JobLevel> = levels.iter().map(|level| level.level.clone()).collect();
    let mut arrays = Vec::new();
    // Of levels that are alike, the first one tells it.
    let mut told = HashSet::new();
    for level in levels {
        let SpecifiedLevel { level, paths, metadata, request, mut warnings } = level;
        if pyramid.from == LevelsFrom::Previous && metadata.is_lossy() {
            return Err(Error::Usage {
                message: "levels of an encoding that loses something are not what the next ones \
                          are computed from"
                    .to_owned(),
                hint: Some("compute them from the source (s0), or take another codec".into()),
            });
        }
        warnings.retain(|text| told.insert(text.clone()));
        for (location, path) in level.members.iter().zip(paths) {
            let own = CopyRequest { target: location.clone(), ..request.clone() };
            let target = (metadata.clone(), Arc::clone(&level.layout));
            // What is asked for an array is counted for it.
            let stores = stores.with_meter(&Meter::new());
            let pyramid = PyramidJob {
                method,
                rounding: pyramid.rounding,
                from: pyramid.from,
                missing: pyramid.missing,
                levels: std::mem::take(&mut all),
            };
            let is_first = !pyramid.levels.is_empty();
            let source = image.array.with_meter(stores.meter());
            let found = Specified::as_found(own, source, target, stores);
            let warnings = std::mem::take(&mut warnings);
            let specified = Specified { warnings, pyramid: Some(pyramid), ..found };
            let mut job = Job::plan_sampled(specified, sample.clone())?;
            job.in_tree = true;
            job.keeps_no_state = !is_first;
            job.has_other_keys = image.other_keys.is_some();
            arrays.push(TreeArray { path, job });
        }
    }
    Ok(arrays)
}
