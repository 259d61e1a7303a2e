//! The job of a pyramid: a group of arrays, of which the first writes the chunks of all.

use std::collections::BTreeMap;

use rechunk_image::{
    AxisKind, Container, Dialect, Image, ImageError, Level, bdv_dataset, bdv_xml, documents,
    level_transform, true_factors, with_levels,
};
use rechunk_reduce::Method;
use rechunk_store::{Meter, Stores};
use rechunk_zarr::GroupMetadata;
use serde_json::{Map, Value, json};

use super::image::{ImageGroup, SourceImage, open_image};
use super::plan::{JobLevel, PyramidJob};
use super::sizes::{Sizes, factors, shape_of};
use super::targets::{LevelWish, SpecifiedLevel, specified};
use super::{PyramidReport, PyramidRequest};
use crate::formats::Format;
use crate::job::Job;
use crate::member_location::member_location;
use crate::open::open_array;
use crate::request::CopyRequest;
use crate::specified::Specified;
use crate::target::canonical;
use crate::tree::{AddedLevels, LevelsOfImage, TreeArray, TreeJob};
use crate::{DataType, Error, Remedy};

/// Plans the pyramid that a request asks for. Reads metadata and a few chunk sizes; writes nothing.
pub(crate) async fn prepare_pyramid(
    mut request: CopyRequest,
    pyramid: PyramidRequest,
    stores: &Stores,
) -> Result<TreeJob, Error> {
    check_request(&request)?;
    // One budget, whatever is free when the next array is planned.
    request.planning.memory_bytes = Some(request.planning.budget().memory_bytes);
    let stores = stores.with_meter(&Meter::new());
    let image = Box::pin(open_image(&request, &stores)).await?;
    let is_there = |group: &&ImageGroup| is_same(&group.location, &request.target);
    let there = image.group.as_ref().filter(is_there);
    check_added(&request, there)?;
    let mut warnings = Vec::new();
    let (dialect, format) = dialect_of(&request, &pyramid, &image, there, &mut warnings)?;
    if format == Format::Zarr2 {
        request.separator.get_or_insert('/'); // as OME-Zarr and its viewers have it
    }
    let split = split_axes(dialect, &image)?;
    let method = method_of(&pyramid, &image, &mut warnings);
    let sizes = Sizes { axes: &image.axes, scale: &image.scale, shape: &image.array.spec().shape };
    let wanted = factors(&pyramid, &sizes)?;
    let known = match there {
        Some(group) => known_levels(group, &request, &image, &stores).await?,
        None => Vec::new(),
    };
    let made = made_levels(&pyramid, (&image, method), (dialect, there, &known), wanted)?;
    if let Some(labels) = image.group.as_ref().filter(|group| group.has_labels && there.is_none()) {
        warnings.push(format!(
            "{} has images of labels, which are not taken along: make pyramids of them too",
            labels.location
        ));
    }
    let described = describe(&image, &request.target, (dialect, method, &pyramid), &known, &made)?;
    let mut levels = Vec::with_capacity(made.len());
    for (level, attributes) in made.iter().zip(described.of_made) {
        let paths = paths_of(dialect, split, &image, level);
        let (factors, shape) = (level.factors.clone(), level.shape.clone());
        let wish = LevelWish { factors, shape, paths, attributes };
        levels.push(specified(&request, &image, (format, split), wish)?);
    }
    let settings = (method, &pyramid);
    let arrays = Box::pin(jobs(&image, settings, levels, &stores)).await?;
    let report = arrays.first().and_then(|first| {
        let job = first.job.pyramid.as_ref()?;
        Some(PyramidReport::of(&pyramid, dialect, job, (&first.job.planned, &made)))
    });
    let mut root = GroupMetadata::with_attributes(described.root);
    if let Some(group) = there {
        // Of the user's own document all else stays.
        let paths: Vec<&str> = made.iter().map(|level| level.path.as_str()).collect();
        let own = with_levels(&group.metadata.attributes, &root.attributes, &paths);
        root.attributes = own.unwrap_or(root.attributes);
    }
    let adds = there.map(|group| AddedLevels {
        attributes: root.attributes.clone(),
        extensions: group.metadata.extensions.clone(),
    });
    let groups = described.groups.into_iter();
    let groups: BTreeMap<String, GroupMetadata> =
        groups.map(|(path, map)| (path, GroupMetadata::with_attributes(map))).collect();
    let beside = described.beside;
    let of_image =
        LevelsOfImage { arrays, groups, root, format, warnings, adds, beside, report };
    Ok(TreeJob::of_levels(request, of_image, stores))
}

fn check_request(request: &CopyRequest) -> Result<(), Error> {
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
    let what = if !group.is_level_0 {
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

/// Two locations are one place.
fn is_same(a: &str, b: &str) -> bool {
    match (canonical(a), canonical(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a.trim_end_matches('/') == b.trim_end_matches('/'),
    }
}

/// The metadata that is written, and the format of the arrays.
fn dialect_of(
    request: &CopyRequest,
    pyramid: &PyramidRequest,
    image: &SourceImage,
    there: Option<&ImageGroup>,
    warnings: &mut Vec<String>,
) -> Result<(Dialect, Format), Error> {
    if let Some(group) = there {
        let (dialect, format) = (group.found.dialect, group.format);
        let asked = (pyramid.dialect.unwrap_or(dialect), request.format.unwrap_or(format));
        if asked != (dialect, format) {
            return Err(Error::Usage {
                message: format!("the image is {} in {}, not {} in {}", dialect.name(), format.name(), asked.0.name(), asked.1.name()),
                hint: Some("levels that are added are described as the others".into()),
            });
        }
        return Ok((dialect, format));
    }
    let by_name = request.format.unwrap_or_else(|| Format::of_target(&request.target));
    let usual = match by_name {
        Format::Zarr2 => Dialect::OmeZarr04,
        Format::N5 => Dialect::BdvN5,
        _ => Dialect::OmeZarr05,
    };
    let dialect = match pyramid.dialect {
        Some(dialect) => dialect,
        None if can_say(usual, image) => usual,
        None => {
            let axes: Vec<&str> = image.axes.iter().map(|axis| axis.name.as_str()).collect();
            warnings.push(format!(
                "{} cannot say the axes {}: the levels are plain arrays of a group",
                usual.name(),
                axes.join(", ")
            ));
            Dialect::Plain
        }
    };
    let format = match dialect.container() {
        Container::Zarr2 => Format::Zarr2,
        Container::Zarr3 => Format::Zarr3,
        Container::N5 => Format::N5,
        Container::Any => by_name,
    };
    if request.format.is_some_and(|asked| asked != format) || !format.has_groups() {
        return Err(Error::Usage {
            message: format!("{} cannot be written as {}", dialect.name(), by_name.name()),
            hint: Some(format!("leave --format out: it lies in {}", format.name()).into()),
        });
    }
    Ok((dialect, format))
}

/// Whether a dialect can say the axes of an image.
fn can_say(dialect: Dialect, image: &SourceImage) -> bool {
    let level = Level {
        path: "s0".to_owned(),
        factors: vec![1; image.axes.len()],
        scale: image.scale.clone(),
        translation: image.translation.clone(),
        shape: image.array.spec().shape.clone(),
    };
    let one = Image {
        name: image.name.clone(),
        axes: image.axes.clone(),
        levels: vec![level],
        data_type: image.array.spec().data_type.name(),
        ..Image::default()
    };
    documents(&one, dialect).is_ok() && split_axes(dialect, image).is_ok()
}

/// Number of first axes of which every index has arrays of its own.
fn split_axes(dialect: Dialect, image: &SourceImage) -> Result<usize, Error> {
    if dialect != Dialect::BdvN5 {
        return Ok(0);
    }
    let split = image.axes.iter().position(|axis| axis.kind == AxisKind::Space).unwrap_or(0);
    if image.axes[split..].iter().all(|axis| axis.kind == AxisKind::Space) {
        return Ok(split);
    }
    let names: Vec<&str> = image.axes.iter().map(|axis| axis.name.as_str()).collect();
    Err(Error::Usage {
        message: format!(
            "{} has times and channels before the axes of space, and the image has {}",
            dialect.name(),
            names.join(", ")
        ),
        hint: Some("write `ome-zarr-0.5` or `plain`".into()),
    })
}

/// The rule by which elements become fewer.
fn method_of(
    pyramid: &PyramidRequest,
    image: &SourceImage,
    warnings: &mut Vec<String>,
) -> Method {
    let data_type = image.array.spec().data_type;
    let is_by_type = matches!(data_type, DataType::Bool | DataType::Uint64);
    let is_label = pyramid.labels || image.is_label;
    match pyramid.method {
        Some(method) => {
            if is_label && matches!(method, Method::Mean | Method::Gaussian) {
                warnings.push(format!(
                    "elements are labels, and `{}` makes numbers that are none of them",
                    method.name()
                ));
            }
            method
        }
        None if is_label => Method::Mode,
        None if is_by_type => {
            warnings.push(format!(
                "elements of type {data_type} are taken for labels: the method is `mode`"
            ));
            Method::Mode
        }
        None => Method::Mean,
    }
}

/// A level of the image at the target.
struct KnownLevel {
    level: Level,
}

/// The levels that the image at the target has.
async fn known_levels(
    group: &ImageGroup,
    request: &CopyRequest,
    image: &SourceImage,
    stores: &Stores,
) -> Result<Vec<KnownLevel>, Error> {
    let mut known = Vec::new();
    let rank = image.axes.len();
    let mut shapes = Vec::new();
    for found in &group.found.levels {
        let location = member_location(&group.location, &found.path);
        let options = crate::open::OpenOptions {
            select: None,
            cast: None,
            reached_as: Some(group.format),
            ..request.open_options()
        };
        let array = open_array(&location, &options, stores).await?;
        let list = |list: &Option<Vec<f64>>, usual: f64| {
            list.clone().filter(|list| list.len() == rank).unwrap_or_else(|| vec![usual; rank])
        };
        let scale = list(&found.scale, 1.0);
        let translation = list(&found.translation, 0.0);
        let shape = array.spec().shape.clone();
        shapes.push(shape.clone());
        let (path, factors) = (found.path.clone(), vec![1; rank]);
        known.push(KnownLevel { level: Level { path, factors, scale, translation, shape } });
    }
    // By the shapes: scales may be ratios of sizes.
    for (known, factors) in known.iter_mut().zip(true_factors(&group.found, &shapes)) {
        let factors = factors.into_iter().flatten();
        for (own, factor) in known.level.factors.iter_mut().rev().zip(factors.rev()) {
            *own = whole(factor);
        }
    }
    Ok(known)
}

/// The nearest whole factor.
fn whole(factor: f64) -> u64 {
    let factor = factor.round().clamp(1.0, 1e15);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number")]
    let factor = factor as u64;
    factor
}

/// The levels that are written, with their places in the image.
fn made_levels(
    pyramid: &PyramidRequest,
    (image, method): (&SourceImage, Method),
    (dialect, there, known): (Dialect, Option<&ImageGroup>, &[KnownLevel]),
    wanted: Vec<Vec<u64>>,
) -> Result<Vec<Level>, Error> {
    let shape = &image.array.spec().shape;
    let mut made = Vec::new();
    let all = if there.is_none() { vec![vec![1; shape.len()]] } else { Vec::new() };
    let taken = |path: &str| known.iter().any(|known| known.level.path == path);
    let mut number = if there.is_none() { 0 } else { 1 };
    for factors in all.into_iter().chain(wanted) {
        if let Some(level) = known.iter().find(|known| known.level.factors == factors) {
            return Err(Error::Conflict {
                location: member_location(
                    there.map_or("", |group| group.location.as_str()),
                    &level.level.path,
                ),
                reason: format!("is a level of factors {factors:?} already"),
                hint: Some(Remedy::from("ask for the levels that are not there")),
            });
        }
        let path = loop {
            let path = path_of(dialect, known.first().map(|known| &*known.level.path), number);
            number += 1;
            if !taken(&path) {
                break path;
            }
        };
        let is_block = method != Method::Stride;
        let (scale, translation) =
            level_transform(&image.scale, &image.translation, &factors, is_block);
        let shape = match factors.iter().all(|&factor| factor == 1) {
            true => shape.clone(),
            false => shape_of(pyramid.size, shape, &factors),
        };
        made.push(Level { path, factors, scale, translation, shape });
    }
    Ok(made)
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

/// Metadata of a pyramid.
struct Described {
    root: Map<String, Value>,
    groups: Vec<(String, Map<String, Value>)>,
    /// Attributes of the arrays of each level that is written.
    of_made: Vec<Map<String, Value>>,
    /// Files beside the target: location and text.
    beside: Vec<(String, Vec<u8>)>,
}

fn describe(
    source: &SourceImage,
    target: &str,
    (dialect, method, pyramid): (Dialect, Method, &PyramidRequest),
    known: &[KnownLevel],
    made: &[Level],
) -> Result<Described, Error> {
    let mut levels: Vec<Level> = known.iter().map(|known| known.level.clone()).collect();
    levels.extend(made.iter().cloned());
    levels.sort_by(|a, b| volume(&a.factors).cmp(&volume(&b.factors)));
    let settings = Map::from_iter([
        ("size".to_owned(), json!(pyramid.size.name())),
        ("rounding".to_owned(), json!(pyramid.rounding.name())),
        ("from".to_owned(), json!(pyramid.from.name())),
    ]);
    let image = Image {
        name: source.name.clone(),
        axes: source.axes.clone(),
        levels: levels.clone(),
        is_label: source.is_label || pyramid.labels,
        method: Some(method.name().to_owned()),
        settings,
        carried: source.rest.clone(),
        data_type: source.array.spec().data_type.name(),
        spatial_transform: source.spatial_transform,
    };
    let found = documents(&image, dialect).map_err(image_error)?;
    let attributes = |level: &Level| {
        let at = levels.iter().position(|known| known.path == level.path);
        at.and_then(|at| found.levels.get(at).cloned()).unwrap_or_default()
    };
    let of_made = made.iter().map(attributes).collect();
    if dialect != Dialect::BdvN5 {
        let groups = found.groups;
        return Ok(Described { root: found.group, groups, of_made, beside: Vec::new() });
    }
    // The file lies beside the container.
    let container = target.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let dataset = bdv_dataset(&image, container).map_err(image_error)?;
    let mut groups = Vec::new();
    for setup in &dataset.setups {
        groups.push((format!("setup{}", setup.id), found.group.clone()));
        for timepoint in 0..dataset.timepoints {
            for (_, timepoint_attributes) in &found.groups {
                let path = format!("setup{}/timepoint{timepoint}", setup.id);
                groups.push((path, timepoint_attributes.clone()));
            }
        }
    }
    let xml = bdv_xml(&dataset).into_bytes();
    Ok(Described { root: Map::new(), groups, of_made, beside: vec![(String::new(), xml)] })
}

fn volume(factors: &[u64]) -> u128 {
    factors.iter().fold(1_u128, |volume, &factor| volume.saturating_mul(u128::from(factor)))
}

fn image_error(error: ImageError) -> Error {
    Error::Usage { message: error.to_string(), hint: Some("`plain` writes arrays of a group".into()) }
}

/// The jobs of all arrays: the first writes all chunks, each its document.
async fn jobs(
    image: &SourceImage,
    (method, pyramid): (Method, &PyramidRequest),
    levels: Vec<SpecifiedLevel>,
    stores: &Stores,
) -> Result<Vec<TreeArray>, Error> {
    let mut all: Vec<JobLevel> = levels.iter().map(|level| level.level.clone()).collect();
    let mut arrays = Vec::new();
    for level in levels {
        let SpecifiedLevel { level: of, paths, metadata, layout, request, warnings } = level;
        for (member, path) in of.members.iter().zip(paths) {
            let own = CopyRequest { target: member.location.clone(), ..request.clone() };
            let target = (metadata.clone(), std::sync::Arc::clone(&layout));
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
            let found = Specified::as_found(own, image.array.clone(), target, stores);
            let warnings = if is_first { warnings.clone() } else { Vec::new() };
            let specified = Specified { warnings, pyramid: Some(pyramid), ..found };
            let mut job = Box::pin(Job::plan_target(specified)).await?;
            job.in_tree = true;
            job.keeps_no_state = !is_first;
            arrays.push(TreeArray { path, job });
        }
    }
    Ok(arrays)
}
