//! OME-Zarr in the groups of a copy: images in several resolutions, plates, wells, lists of labels.
//! Each version of Zarr has versions of OME-Zarr that lie in it, and readers look for these: what
//! goes into another is said in one of those. Other chunks change nothing of what groups say.

use std::collections::{BTreeMap, BTreeSet};

use rechunk_format::json::text;
use rechunk_image::{Dialect, Upgraded, upgrade};
use rechunk_zarr::GroupMetadata;
use serde_json::{Map, Value};

use super::rules::Selection;
use super::walk::in_words;
use crate::image_above::image_levels;
use crate::member_location::member_path;
use crate::{Error, Format};

/// Outcome for the groups of a copy.
#[derive(Debug, Default)]
pub(super) struct Carried {
    pub warnings: Vec<String>,
    /// Paths of levels whose images are said in a version with nested chunks.
    pub nested: BTreeSet<String>,
}

/// Metadata of groups by which those are known that only their place tells.
struct Places {
    /// Groups with images.
    images: BTreeSet<String>,
    /// Groups whose images are found by counting.
    counted: BTreeSet<String>,
}

/// Has groups say OME-Zarr in the version that readers look for in the format of the target.
/// Levels that the source does not have, of `arrays`, are told too.
pub(super) fn carry(
    root: &mut GroupMetadata,
    groups: &mut BTreeMap<String, GroupMetadata>,
    arrays: &[String],
    (asked, target): (Option<Dialect>, Format),
) -> Carried {
    let mut carried = Carried::default();
    let all = || std::iter::once(("", &*root)).chain(groups.iter().map(|(path, g)| (&**path, g)));
    let of_those = |is_one: fn(&Map<String, Value>) -> bool| {
        let those = all().filter(|(_, group)| is_one(&group.attributes));
        those.map(|(path, _)| path.to_owned()).collect()
    };
    let places = Places { images: of_those(has_images), counted: of_those(is_counted) };
    let usual = target.usual_dialect();
    let mut changed: Vec<[Dialect; 2]> = Vec::new();
    let mut first = String::new();
    let all = std::iter::once(("", root)).chain(groups.iter_mut().map(|(path, g)| (&**path, g)));
    for (path, group) in all {
        let place = in_words(path);
        carried.warnings.extend(missing_levels(&place, path, group, arrays));
        let is_new = group.attributes.get("ome").is_some_and(is_ome);
        if !is_new && !places.is_old_ome(path, &group.attributes) {
            continue;
        }
        let to = asked.or(match usual {
            Dialect::OmeZarr04 if !is_new => None,
            Dialect::OmeZarr05 if is_new => None,
            usual => Some(usual).filter(|usual| usual.is_ome()),
        });
        match to.map(|to| (to, upgrade(&group.attributes, to))) {
            None if usual.is_ome() => {}
            None => carried.warnings.push(format!(
                "{place} is one of OME-Zarr, which readers do not look for in {}: its attributes are \
                 copied as they are",
                target.name()
            )),
            Some((to, Ok(Upgraded { attributes, from, notes }))) if from != to => {
                group.attributes = attributes;
                if changed.is_empty() {
                    first.clone_from(&place);
                }
                changed.push([from, to]);
                carried.warnings.extend(notes.into_iter().map(|note| format!("{place}: {note}")));
                if to == Dialect::OmeZarr04 {
                    let levels = image_levels(&group.attributes).into_iter();
                    carried.nested.extend(levels.map(|level| member_path(path, level.path)));
                }
            }
            Some((_, Ok(_))) => {}
            Some((_, Err(error))) => carried
                .warnings
                .push(format!("{place}: {error}: its attributes are copied as they are")),
        }
    }
    carried.warnings.extend(said(&first, &changed, target));
    carried
}

/// The format in which the version lies that is asked for. Refuses what is no version.
pub(super) fn format_of(selection: &Selection) -> Result<Option<Format>, Error> {
    match selection.dialect {
        Some(dialect) if !dialect.is_ome() => Err(Error::Usage {
            message: format!("{} is no version of OME-Zarr", dialect.name()),
            hint: Some("copies say another version of OME-Zarr; a pyramid writes others".into()),
        }),
        dialect => Ok(dialect.and_then(|dialect| Format::of_images(dialect.container()))),
    }
}

/// Refuses a version that does not lie in the format of the target.
pub(super) fn check(selection: &Selection, format: Format) -> Result<(), Error> {
    let Some(wanted) = format_of(selection)?.filter(|wanted| *wanted != format) else {
        return Ok(());
    };
    let name = selection.dialect.map_or("", Dialect::name);
    Err(Error::Usage {
        message: format!("{name} cannot be written as {}", format.name()),
        hint: Some(format!("leave the format out: it lies in {}", wanted.name()).into()),
    })
}

/// A sentence on the groups that say another version now.
fn said(first: &str, changed: &[[Dialect; 2]], target: Format) -> Option<String> {
    let [from, to] = changed.first()?;
    let others = match changed.len() {
        1 => String::new(),
        count => format!(" (and {} other groups)", count - 1),
    };
    let (from, to) = (from.name(), to.name());
    let target = target.name();
    Some(format!("{first}{others}: {from} becomes {to}, which readers look for in {target}"))
}

/// Levels that an image names and the source does not have.
fn missing_levels(
    place: &str,
    path: &str,
    group: &GroupMetadata,
    arrays: &[String],
) -> Option<String> {
    let levels = image_levels(&group.attributes).into_iter().map(|level| level.path);
    let missing: Vec<&str> =
        levels.filter(|level| arrays.binary_search(&member_path(path, level)).is_err()).collect();
    (!missing.is_empty()).then(|| {
        format!(
            "{place} is an OME image, and its `multiscales` names levels that the source does not \
             have: {}",
            missing.join(", ")
        )
    })
}

/// The path of the group above the one at `path`.
fn above(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(above, _)| above)
}

/// Leaves out images of which no level is left, and channels of no image; says so.
pub(super) fn drop_empty(path: &str, group: &mut GroupMetadata) -> Option<String> {
    let place = in_words(path);
    let said = || format!("{place}: no level of its image is left: it describes none");
    drop_images(&mut group.attributes).then(said)
}

/// True if images without levels were left out.
fn drop_images(attributes: &mut Map<String, Value>) -> bool {
    let is_empty =
        |image: &Value| image.get("datasets").and_then(Value::as_array).is_some_and(Vec::is_empty);
    let drop_from = |attributes: &mut Map<String, Value>| {
        let Some(images) = attributes.get_mut("multiscales").and_then(Value::as_array_mut) else {
            return false;
        };
        let before = images.len();
        images.retain(|image| !is_empty(image));
        let (is_fewer, is_none) = (images.len() < before, images.is_empty());
        if is_fewer && is_none {
            attributes.shift_remove("multiscales");
            attributes.shift_remove("omero");
        }
        is_fewer
    };
    let mut is_fewer = drop_from(attributes);
    if let Some(ome) = attributes.get_mut("ome").and_then(Value::as_object_mut) {
        is_fewer |= drop_from(ome);
        if is_fewer && ome.keys().all(|key| key == "version") {
            attributes.shift_remove("ome");
        }
    }
    is_fewer
}

/// Images as OME-Zarr has them up to 0.4, not those of other conventions with this key.
fn has_images(attributes: &Map<String, Value>) -> bool {
    let images = attributes.get("multiscales").and_then(Value::as_array);
    let datasets = |image: &Value| image.get("datasets").and_then(Value::as_array).cloned();
    let is_image = |image: &Value| {
        datasets(image).is_some_and(|all| all.iter().all(|level| level.get("transform").is_none()))
    };
    images.is_some_and(|images| !images.is_empty() && images.iter().all(is_image))
}

fn is_counted(attributes: &Map<String, Value>) -> bool {
    attributes.get("bioformats2raw.layout").is_some_and(Value::is_number)
}

/// True for the value of `ome` from 0.5 on.
fn is_ome(ome: &Value) -> bool {
    const KNOWN: [&str; 7] =
        ["version", "multiscales", "labels", "plate", "well", "series", "bioformats2raw.layout"];
    ome.as_object().is_some_and(|ome| KNOWN.iter().any(|key| ome.contains_key(*key)))
}

impl Places {
    /// True for attributes of OME-Zarr up to 0.4. Some of their names others use too: those count
    /// where they name images.
    fn is_old_ome(&self, path: &str, attributes: &Map<String, Value>) -> bool {
        let has_list = |key: &str, list: &str| {
            attributes.get(key).and_then(|value| value.get(list)).is_some_and(Value::is_array)
        };
        has_images(attributes)
            || is_counted(attributes)
            || has_list("plate", "wells")
            || has_list("well", "images")
            || self.names_images(path, attributes.get("labels"))
            || self.is_series(path, attributes.get("series"))
    }

    /// Whether labels are names of images in this group, or it is the group of labels of one.
    fn names_images(&self, path: &str, labels: Option<&Value>) -> bool {
        let Some(labels) = labels.and_then(Value::as_array) else { return false };
        let is_beside_levels = path == member_path(above(path), "labels") && !path.is_empty();
        is_beside_levels && self.images.contains(above(path))
            || labels
                .iter()
                .filter_map(text)
                .any(|label| self.images.contains(&member_path(path, label)))
    }

    /// Whether a list is that of a group `OME` beside images that are counted.
    fn is_series(&self, path: &str, series: Option<&Value>) -> bool {
        let is_list = !path.is_empty() && series.is_some_and(Value::is_array);
        is_list && self.counted.contains(above(path))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn group(attributes: &Value) -> GroupMetadata {
        GroupMetadata::with_attributes(attributes.as_object().unwrap().clone())
    }

    fn image(version: Option<&str>) -> Value {
        let mut image = json!({
            "axes": [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}],
            "datasets": [{"path": "0", "coordinateTransformations": [
                {"type": "scale", "scale": [0.5, 0.5]}]}],
        });
        if let Some(version) = version {
            image["version"] = json!(version);
        }
        json!([image])
    }

    fn carried(
        root: &Value,
        others: &[(&str, Value)],
        target: Format,
    ) -> (Vec<Value>, Vec<String>, Vec<String>) {
        let mut root = group(root);
        let mut groups =
            others.iter().map(|(path, value)| ((*path).to_owned(), group(value))).collect();
        let mut arrays: Vec<String> = others.iter().map(|(path, _)| format!("{path}/0")).collect();
        arrays.push("0".to_owned());
        arrays.sort_unstable();
        let carried = carry(&mut root, &mut groups, &arrays, (None, target));
        let said = std::iter::once(root).chain(groups.into_values());
        let said = said.map(|group| Value::Object(group.attributes)).collect();
        (said, carried.warnings, carried.nested.into_iter().collect())
    }

    #[test]
    fn every_group_of_an_image_says_the_version_of_its_container() {
        let labels = json!({"labels": ["cells"]});
        let label = json!({"multiscales": image(Some("0.4")), "image-label": {"version": "0.4"}});
        let own = json!({"multiscales": image(Some("0.4")), "omero": {"channels": []}, "mine": 1});
        let others = [("labels", labels), ("labels/cells", label)];
        let (said, warnings, _) = carried(&own, &others, Format::Zarr3);
        assert_eq!(
            said,
            [
                json!({"mine": 1, "ome": {"version": "0.5", "multiscales": image(None),
                    "omero": {"channels": []}}}),
                json!({"ome": {"version": "0.5", "labels": ["cells"]}}),
                json!({"ome": {"version": "0.5", "multiscales": image(None), "image-label": {}}}),
            ]
        );
        let told = "the group (and 2 other groups): ome-zarr-0.4 becomes ome-zarr-0.5, which readers \
                    look for in zarr3";
        assert_eq!(warnings, [told]);
        let again: Vec<(&str, Value)> =
            vec![("labels", said[1].clone()), ("labels/cells", said[2].clone())];
        let (back, _, nested) = carried(&said[0], &again, Format::Zarr2);
        assert_eq!(back[1], others[0].1);
        assert_eq!(back[0]["multiscales"], own["multiscales"]);
        assert_eq!(nested, ["0", "labels/cells/0"]);
        for same in [Format::Zarr3, Format::N5] {
            let (kept, _, _) = carried(&said[0], &again, same);
            assert_eq!(kept, said, "{same:?}");
        }
    }

    #[test]
    fn plates_and_series_are_known_by_what_they_are() {
        let plate = json!({"plate": {"version": "0.4", "wells": [{"path": "A/1"}]}});
        let well = json!({"well": {"images": [{"path": "0"}], "version": "0.4"}});
        let (said, _, _) = carried(&plate, &[("A", json!({})), ("A/1", well)], Format::Zarr3);
        assert_eq!(said[0]["ome"]["plate"], json!({"wells": [{"path": "A/1"}]}));
        assert_eq!(said[1], json!({}));
        assert_eq!(said[2]["ome"]["well"], json!({"images": [{"path": "0"}]}));
        let series = [("OME", json!({"series": ["0"]}))];
        let (said, _, _) = carried(&json!({"bioformats2raw.layout": 3}), &series, Format::Zarr3);
        assert_eq!(said[0], json!({"ome": {"version": "0.5", "bioformats2raw.layout": 3}}));
        assert_eq!(said[1], json!({"ome": {"version": "0.5", "series": ["0"]}}));
    }

    /// Attributes of these names that are somebody else's stay where they are.
    #[test]
    fn what_is_no_ome_zarr_stays() {
        let cosem = json!([{"datasets": [{"path": "0", "transform": {"scale": [1]}}]}]);
        for attributes in [
            json!({"labels": ["a", "b"], "series": [1], "plate": "B7", "well": 3}),
            json!({"multiscales": cosem}),
            json!({"multiscales": {"layout": [{"asset": "0"}]}}),
            json!({"ome": "no object", "omero": {}}),
            json!({"multiscales": []}),
        ] {
            for target in [Format::Zarr2, Format::Zarr3] {
                let others = [("g", json!({"series": ["0"]}))];
                let (said, warnings, _) = carried(&attributes, &others, target);
                assert_eq!(said, [attributes.clone(), others[0].1.clone()]);
                assert_eq!(warnings, Vec::<String>::new(), "{attributes}");
            }
        }
    }

    #[test]
    fn an_image_without_levels_is_none() {
        let empty = json!([{"axes": ["x"], "datasets": []}]);
        let omero = json!({"channels": []});
        for (own, left) in [
            (json!({"multiscales": empty, "omero": omero, "mine": 1}), Some(json!({"mine": 1}))),
            (json!({"ome": {"version": "0.5", "multiscales": empty}}), Some(json!({}))),
            (json!({"multiscales": image(None)}), None),
            (json!({"multiscales": {"datasets": []}}), None),
        ] {
            let mut group = group(&own);
            let said = drop_empty("", &mut group);
            assert_eq!(said.is_some(), left.is_some(), "{own}");
            assert_eq!(Value::Object(group.attributes), left.unwrap_or(own));
        }
    }

    #[test]
    fn what_cannot_be_said_in_a_version_is_told() {
        let old = json!({"multiscales": [{"version": "0.3", "axes": ["y", "x"],
            "datasets": [{"path": "0"}]}]});
        let (said, warnings, _) = carried(&old, &[], Format::Zarr3);
        assert_eq!(said[0]["ome"]["multiscales"][0]["axes"][0]["type"], "space");
        assert!(warnings.iter().any(|told| told.contains("still says none")), "{warnings:?}");
        let (_, warnings, _) = carried(&old, &[], Format::N5);
        assert!(warnings[0].contains("do not look for in n5"), "{warnings:?}");
    }
}
