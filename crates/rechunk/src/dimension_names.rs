//! Names of axes that an array has not itself, but the group of an OME-Zarr image it is a level of.
//!
//! What an array says of itself comes first, in the order that its format's crate knows. These
//! names are for options and for the field `dimension_names` of Zarr v3, which version 0.5 of
//! OME-Zarr asks for. Into the attributes of a target they are not written: the group goes on
//! saying them.

use std::collections::{BTreeMap, HashSet};

use rechunk_format::json::text;
use rechunk_store::{Role, Store};
use rechunk_zarr::GroupMetadata;
use serde_json::{Map, Value};

use crate::Error;
use crate::formats::Documents;

/// Most levels above an array that are looked at: writers put levels one or two groups down.
const LEVELS_MAX: usize = 3;

/// The axes of an image before they could be named (OME-Zarr 0.1 and 0.2).
const FIXED_AXES: [&str; 5] = ["t", "c", "z", "y", "x"];

/// Names of the axes of an array, slowest first.
pub(crate) type AxisNames = Vec<String>;

/// Names of axes by the path of the array.
#[derive(Debug, Default)]
pub(crate) struct GroupNames(BTreeMap<String, AxisNames>);

impl GroupNames {
    /// Those that any of these groups, by path, has for arrays below it; the nearest group counts.
    pub(crate) fn of<'a>(groups: impl IntoIterator<Item = (&'a str, &'a GroupMetadata)>) -> Self {
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_unstable_by_key(|(path, _)| path.len());
        let mut names = BTreeMap::new();
        for (path, group) in groups {
            for (level, axes) in levels(&group.attributes) {
                let level = if path.is_empty() { level } else { format!("{path}/{level}") };
                names.insert(level, axes);
            }
        }
        Self(names)
    }

    /// Those of the array at `path`.
    pub(crate) fn get(&self, path: &str) -> Option<&AxisNames> {
        self.0.get(path)
    }
}

/// Looks for the names of the array at `store` in the groups above it, the nearest first.
pub(crate) async fn look_above(location: &str, store: &Store) -> Result<Option<AxisNames>, Error> {
    let (mut place, mut path) = (store.with_role(Role::Control), String::new());
    for _ in 0..LEVELS_MAX {
        let parent = place.parent().map_err(|source| Error::source_store(location, source))?;
        let Some((group, name)) = parent else { break };
        path = if path.is_empty() { name } else { format!("{name}/{path}") };
        let documents = match Documents::fetch(&group).await {
            Ok(documents) => documents,
            // Whoever may not look there has no image there.
            Err(error) if error.is_permission_denied() => break,
            Err(source) => return Err(Error::source_store(location, source)),
        };
        // A group that cannot be read names nothing.
        let attributes = documents.group().map(|group| group.attributes).unwrap_or_default();
        if let Some((_, axes)) = levels(&attributes).into_iter().find(|(level, _)| *level == path) {
            return Ok(Some(axes));
        }
        place = group;
    }
    Ok(None)
}

/// The levels of the images that a group describes: path below the group, names of the axes.
fn levels(attributes: &Map<String, Value>) -> Vec<(String, AxisNames)> {
    let images = attributes.get("ome").and_then(|ome| ome.get("multiscales"));
    let images = images.or_else(|| attributes.get("multiscales")).and_then(Value::as_array);
    let mut found = Vec::new();
    for image in images.into_iter().flatten() {
        let Some(axes) = axes(image) else { continue };
        let datasets = image.get("datasets").and_then(Value::as_array);
        let paths = datasets.into_iter().flatten().filter_map(|level| text(level.get("path")?));
        found.extend(paths.map(|path| (path.trim_matches('/').to_owned(), axes.clone())));
    }
    found
}

/// Names of an image's axes, if each axis has one of its own. They are objects with a name (0.4,
/// 0.5; of 0.6 in its first coordinate system), or bare names (0.3).
fn axes(image: &Value) -> Option<AxisNames> {
    let systems = image.get("coordinateSystems").and_then(Value::as_array);
    let of_system = systems.and_then(|systems| systems.first()?.get("axes"));
    let Some(axes) = image.get("axes").or(of_system) else {
        let version = text(image.get("version")?)?;
        let is_fixed = matches!(version, "0.1" | "0.2");
        return is_fixed.then(|| FIXED_AXES.map(str::to_owned).to_vec());
    };
    let name = |axis: &Value| text(axis.get("name").unwrap_or(axis)).map(str::to_owned);
    let names: AxisNames = axes.as_array()?.iter().map(name).collect::<Option<_>>()?;
    let distinct: HashSet<&String> = names.iter().collect();
    let is_clear = distinct.len() == names.len() && names.iter().all(|name| !name.is_empty());
    is_clear.then_some(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(multiscales: &Value) -> Option<String> {
        let group = GroupMetadata::with_attributes(multiscales.as_object().unwrap().clone());
        GroupNames::of([("", &group)]).get("0").map(|names| names.join(","))
    }

    #[test]
    fn every_version_of_an_image_names_its_axes() {
        let levels = json!([{"path": "0"}, {"path": "1"}]);
        let named =
            |names: &[&str]| -> Value { names.iter().map(|n| json!({"name": n})).collect() };
        let v04 = |axes: Value| json!({"multiscales": [{"axes": axes, "datasets": levels}]});
        let system = json!([{"name": "physical", "axes": named(&["z", "y", "x"])}]);
        for (attributes, expected) in [
            (v04(named(&["t", "c", "y", "x"])), Some("t,c,y,x")),
            (v04(json!(["z", "y", "x"])), Some("z,y,x")),
            (json!({"ome": v04(named(&["y", "x"]))}), Some("y,x")),
            (
                json!({"ome": {"multiscales": [{"coordinateSystems": system, "datasets": levels}]}}),
                Some("z,y,x"),
            ),
            (json!({"multiscales": [{"version": "0.1", "datasets": levels}]}), Some("t,c,z,y,x")),
            (json!({"multiscales": [{"version": "0.4", "datasets": levels}]}), None),
            (v04(json!([{"type": "space"}])), None),
            (v04(json!(["x", "x"])), None),
            (v04(json!(["", "x"])), None),
            (v04(json!("zyx")), None),
            (json!({"multiscales": {}}), None),
            (json!({"multiscales": [{"axes": ["x"]}]}), None),
        ] {
            assert_eq!(names(&attributes).as_deref(), expected, "{attributes}");
        }
    }

    #[test]
    fn the_nearest_group_counts() {
        let image = |path: &str, axes: &[&str]| {
            let images = json!([{"axes": axes, "datasets": [{"path": path}]}]);
            GroupMetadata::with_attributes(Map::from_iter([("multiscales".to_owned(), images)]))
        };
        let (outer, inner) = (image("a/0", &["y", "x"]), image("0", &["v", "u"]));
        let (deep, slashed) = (image("scale0/image", &["z"]), image("/1/", &["w"]));
        let groups = [("a", &inner), ("", &outer), ("b/c", &deep), ("d", &slashed)];
        let names = GroupNames::of(groups);
        let of = |path: &str| names.get(path).map(|names| names.join(","));
        assert_eq!(of("a/0").as_deref(), Some("v,u"));
        assert_eq!(of("b/c/scale0/image").as_deref(), Some("z"));
        assert_eq!(of("d/1").as_deref(), Some("w"));
        assert_eq!((of("0"), of("a")), (None, None));
    }
}
