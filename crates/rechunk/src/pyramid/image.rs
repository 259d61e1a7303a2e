//! The image that levels are made of: an array, or level 0 of an image that a group describes.

use rechunk_image::{
    Axis, AxisKind, Dialect, FoundImage, FoundLevel, read_axes_from_array, read_image,
};
use rechunk_store::{Role, Store, Stores};
use rechunk_words::{LengthUnit, VoxelAxis};
use rechunk_zarr::GroupMetadata;
use serde_json::{Map, Value};

use crate::chunk_keys;
use crate::formats::{Documents, Fact, Format};
use crate::image_above::{Above, Climb};
use crate::member_location::member_location;
use crate::open::{OpenArray, Opened, open_array, open_node, open_store};
use crate::real_path::canonical;
use crate::request::CopyRequest;
use crate::{Error, Remedy};

/// An image of which level 0 is open. Lists have one entry for each axis, slowest first.
pub(super) struct SourceImage {
    /// Level 0, with the keys that its chunks have.
    pub array: OpenArray,
    /// Which keys these are, where its metadata says others.
    pub other_keys: Option<String>,
    pub axes: Vec<Axis>,
    /// Distance of neighbours, in the units of the axes; 1 where nothing says it.
    pub scale: Vec<f64>,
    /// Place of element 0, in the units of the axes.
    pub translation: Vec<f64>,
    pub name: String,
    pub is_label: bool,
    /// Other attributes of its group.
    pub rest: Map<String, Value>,
    /// Affine of level 0 from corners of pixels.
    pub spatial_transform: Option<[f64; 6]>,
    /// The group that describes it.
    pub group: Option<ImageGroup>,
}

/// A group that describes an image.
pub(super) struct ImageGroup {
    pub location: String,
    pub format: Format,
    pub found: FoundImage,
    pub metadata: GroupMetadata,
    /// There are images of labels below it.
    pub has_labels: bool,
    /// The array is its level 0, not a coarser one.
    pub is_level_0: bool,
}

/// Opens the image at the source of a request.
pub(super) async fn open_image(
    request: &CopyRequest,
    stores: &Stores,
) -> Result<SourceImage, Error> {
    let location = &request.source;
    let store = open_store(location, stores)?;
    let options = request.open_options();
    let (array, group) = match open_node(location, &options, &store).await? {
        Opened::Array(array) => {
            let group = image_of(location, &array, &store).await?;
            (*array, group)
        }
        Opened::Group(documents, format) => {
            let group = of_group(location, &store, (&documents, format)).await?;
            let Some(group) = group else { return Err(no_image(location)) };
            let first = group.found.levels.first().map(|level| level.path.clone());
            let path = first.ok_or_else(|| no_image(location))?;
            let options = crate::open::OpenOptions { reached_as: Some(format), ..options };
            let array = open_array(&member_location(location, &path), &options, stores).await?;
            (array, Some(group))
        }
    };
    if array.spec().shape.is_empty() {
        return Err(Error::NotAnArray {
            location: array.location,
            reason: "it is a scalar, of which there are no levels".to_owned(),
            hint: None,
        });
    }
    let (array, other_keys) = chunk_keys::settled(array).await?;
    Ok(SourceImage { other_keys, ..described(array, group) })
}

impl SourceImage {
    /// Size and place of the voxels of the level of these factors. The place is that of level 0:
    /// formats that ask for it mean the corner of the first voxel.
    pub(super) fn voxels(&self, factors: &[u64]) -> Vec<VoxelAxis> {
        let unit = |axis: &Axis| LengthUnit::parse(axis.unit.as_deref()?).ok();
        let lists = self.axes.iter().zip(&self.scale).zip(&self.translation).zip(factors);
        lists
            .map(|(((axis, size), origin), factor)| VoxelAxis {
                size: size * *factor as f64,
                origin: *origin,
                unit: unit(axis),
            })
            .collect()
    }
}

fn no_image(location: &str) -> Error {
    Error::NotAnArray {
        location: location.to_owned(),
        reason: "it is a group that describes no image".to_owned(),
        hint: Some(Remedy::from("name the array of level 0; `rechunk info GROUP` lists arrays")),
    }
}

async fn of_group(
    location: &str,
    store: &Store,
    (documents, format): (&Documents, Format),
) -> Result<Option<ImageGroup>, Error> {
    let metadata = documents.group().map_err(|error| Error::source_metadata(location, error))?;
    let Some(mut found) = read_image(&metadata.attributes) else { return Ok(None) };
    if found.dialect == Dialect::BdvN5
        && let Some(resolution) = resolution_below(location, store, &found).await?
    {
        found.base_scale = Some(resolution);
    }
    let failed = |source| Error::source_store(location, source);
    let labels = store.with_role(Role::Control).child("labels").map_err(failed)?;
    let has_labels = labels.exists_anything().await.map_err(failed)?;
    let location = location.to_owned();
    Ok(Some(ImageGroup { location, format, found, metadata, has_labels, is_level_0: true }))
}

/// The size of voxels that a timepoint of BigDataViewer says, slowest axis first.
async fn resolution_below(
    location: &str,
    store: &Store,
    found: &FoundImage,
) -> Result<Option<Vec<f64>>, Error> {
    let first = found.levels.first().and_then(|level| level.path.rsplit_once('/'));
    let Some((timepoint, _)) = first else { return Ok(None) };
    let failed = |source| Error::source_store(location, source);
    let place = store.with_role(Role::Control).child(timepoint).map_err(failed)?;
    let documents = Documents::fetch(&place).await.map_err(failed)?;
    let attributes = documents.group().map(|group| group.attributes).unwrap_or_default();
    let list = attributes.get("resolution").and_then(Value::as_array);
    let list: Option<Vec<f64>> = list.and_then(|list| list.iter().map(Value::as_f64).collect());
    Ok(list.map(|list| list.into_iter().rev().collect()))
}

/// The image of which an array is a level, of the groups above it; the nearest counts. What it says
/// of level 0 is then what it says of that level.
async fn image_of(
    location: &str,
    array: &OpenArray,
    store: &Store,
) -> Result<Option<ImageGroup>, Error> {
    let format = array.metadata.format();
    let mut climb = Climb::from(location, store);
    while let Some(Above { location, place, documents, path }) = climb.next().await? {
        // A group that cannot be read says nothing.
        let found = of_group(&location, &place, (&documents, format)).await;
        let Some(mut group) = found.ok().flatten() else { continue };
        let is_array = |level: &FoundLevel| level.path.trim_matches('/') == path;
        let Some(at) = group.found.levels.iter().position(is_array) else { continue };
        if at > 0 {
            let level = &group.found.levels[at];
            let (scale, translation) = (level.scale.clone(), level.translation.clone());
            (group.found.base_scale, group.found.base_translation) = (scale, translation);
            group.found.spatial_transform = None;
            group.is_level_0 = false;
        }
        return Ok(Some(group));
    }
    Ok(None)
}

/// Describes an image, by its group first, and by the array itself.
fn described(array: OpenArray, group: Option<ImageGroup>) -> SourceImage {
    let spec = array.spec();
    let rank = spec.shape.len();
    let is_turned = array.metadata.format().has(Fact::AxisAttributes);
    let stored = array.metadata.spec();
    let own = read_axes_from_array(
        stored.shape.len(),
        stored.dimension_names.as_deref(),
        &array.metadata.meaning(),
        is_turned,
    );
    let found = group.as_ref().map(|group| &group.found);
    // Of an array that is read without some axes, groups say all.
    let all = rank + array.left_out.len();
    let fits = |list: &Option<Vec<f64>>| {
        let list = list.as_ref().filter(|list| list.len() == all);
        list.map(|list| array.of_kept(list))
    };
    let axes = found.map(|found| &found.axes).filter(|axes| axes.len() == all);
    let axes = axes.map(|axes| array.of_kept(axes));
    let scale = found.and_then(|found| fits(&found.base_scale)).or_else(|| fits(&own.scale));
    let translation =
        found.and_then(|found| fits(&found.base_translation)).or_else(|| fits(&own.translation));
    let scale = scale.unwrap_or_else(|| vec![1.0; rank]);
    let mut translation = translation.unwrap_or_else(|| vec![0.0; rank]);
    let attributes = array.metadata.attributes();
    let mut spatial_transform = found
        .and_then(|found| found.spatial_transform)
        .or_else(|| affine_of(attributes.get("spatial:transform")?));
    let mut rest = found.map(|found| found.rest.clone()).unwrap_or_default();
    for (name, value) in attributes.iter().filter(|(name, _)| name.starts_with("proj:")) {
        rest.entry(name.clone()).or_insert_with(|| value.clone());
    }
    let axes = axes.unwrap_or_else(|| array.of_kept(&own.axes));
    if array.region.is_some() {
        let origin = array.origin();
        let channel = axes.iter().position(|axis| axis.kind == AxisKind::Channel);
        if let Some(axis) = channel {
            cut_channels(&mut rest, origin[axis], spec.shape[axis]);
        }
        for (axis, start) in origin.iter().enumerate() {
            translation[axis] += *start as f64 * scale[axis];
        }
        spatial_transform = spatial_transform.map(|affine| shifted(affine, &origin));
    }
    let location = group.as_ref().map_or(&array.location, |group| &group.location);
    let name = found.and_then(|found| found.name.clone()).filter(|name| !name.is_empty());
    SourceImage {
        axes,
        scale,
        translation,
        name: name.unwrap_or_else(|| name_of(location)),
        is_label: found.is_some_and(|found| found.is_label),
        rest,
        spatial_transform,
        group,
        array,
        other_keys: None,
    }
}

/// The name of what is at a location, without endings. Names that only count (`0`, `s0`, `scale0`)
/// are names of levels: then the place above has the name.
fn name_of(location: &str) -> String {
    let real = canonical(location).map(|path| path.display().to_string());
    let names = real.as_deref().unwrap_or(location).rsplit('/');
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let names: Vec<String> = names.map(stem).filter(|name| !name.is_empty()).collect();
    let is_own = |name: &&String| {
        let word = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
        !(word.len() < name.len() && matches!(word, "" | "s" | "scale" | "level"))
    };
    names.iter().find(is_own).or(names.first()).cloned().unwrap_or_default()
}

/// Six numbers of the Zarr convention `spatial`.
fn affine_of(value: &Value) -> Option<[f64; 6]> {
    let list: Vec<f64> = value.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
    list.try_into().ok()
}

/// Leaves what `omero` says of channels that are taken.
fn cut_channels(rest: &mut Map<String, Value>, start: u64, count: u64) {
    let channels = rest.get_mut("omero").and_then(|omero| omero.get_mut("channels"));
    let Some(channels) = channels.and_then(Value::as_array_mut) else { return };
    let narrow = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    *channels = channels.iter().skip(narrow(start)).take(narrow(count)).cloned().collect();
}

/// The affine of a region that begins at `start`: of the last two axes, row and column.
fn shifted(affine: [f64; 6], start: &[u64]) -> [f64; 6] {
    let at =
        |from_end: usize| start.len().checked_sub(from_end).map_or(0.0, |axis| start[axis] as f64);
    let (row, column) = (at(2), at(1));
    let [by_column, by_row] = [[affine[0], affine[3]], [affine[1], affine[4]]];
    let moved = |axis: usize, offset: f64| by_column[axis] * column + by_row[axis] * row + offset;
    [affine[0], affine[1], moved(0, affine[2]), affine[3], affine[4], moved(1, affine[5])]
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn an_image_is_named_as_what_it_lies_in() {
        for (location, name) in [
            ("/data/em.zarr/s0", "em"),
            ("/data/em.ome.zarr", "em"),
            ("/data/em.zarr/scale0/", "em"),
            ("/data/em.n5/raw/s0", "raw"),
            ("/data/sst.zarr/sst", "sst"),
            ("/data/scan.npy", "scan"),
            ("/data/x7.zarr/0", "x7"),
            ("s3://bucket/a/em.zarr/0", "em"),
            ("/0/1", "1"),
        ] {
            assert_eq!(name_of(location), name, "{location}");
        }
    }
}
