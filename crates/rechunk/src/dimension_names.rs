//! Names of axes that an array has not itself, but the group of an OME-Zarr image it is a level of.
//!
//! What an array says of itself comes first, in the order that its format's crate knows. These
//! names are for options and for the field `dimension_names` of Zarr v3, which version 0.5 of
//! OME-Zarr asks for. Into the attributes of a target they are not written: the group goes on
//! saying them.

use std::collections::{BTreeMap, HashSet};

use rechunk_format::json::text;
use rechunk_store::Store;
use rechunk_zarr::GroupMetadata;
use serde_json::Value;

use crate::Error;
use crate::image_above::{image_axes, image_levels, look_above};
use crate::member_location::member_path;

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
            for level in image_levels(&group.attributes) {
                let Some(axes) = axes(level.image) else { continue };
                names.insert(member_path(path, level.path), axes);
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
pub(crate) async fn names_above(location: &str, store: &Store) -> Result<Option<AxisNames>, Error> {
    look_above(location, store, |level| axes(level.image)).await
}

/// Names of an image's axes, if each axis has one of its own. They are objects with a name (0.4,
/// 0.5; of 0.6 in its first coordinate system), or bare names (0.3).
fn axes(image: &Value) -> Option<AxisNames> {
    let Some(axes) = image_axes(image) else {
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
    use serde_json::{Map, json};

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
