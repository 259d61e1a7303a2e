//! Lists of members in the attributes of groups: wells of a plate, images of a well, labels, levels
//! of an image, columns of a table. An entry for a member that was left out is left out too.

use std::collections::BTreeSet;

use rechunk_format::json::text;
use rechunk_image::derive_from_kept;
use rechunk_zarr::GroupMetadata;
use serde_json::Value;

use super::walk::in_words;

/// Nodes below a group in the source, and those of them that are copied.
#[derive(Debug)]
pub(super) struct MemberLists {
    /// Paths of all nodes of the source.
    all: BTreeSet<String>,
    /// Paths of those that are copied.
    copied: BTreeSet<String>,
}

/// A list of members.
struct List {
    /// Name of the list in a message.
    name: &'static str,
    /// Names that lead to the list; `*` stands for every element of a list.
    place: &'static [&'static str],
    /// The field of an entry that names the member; `None`: the entry is the name.
    field: Option<&'static str>,
    /// Group at which the paths of its members begin.
    base: Base,
}

/// Group at which the paths in a list begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    /// The group that has the list.
    Group,
    /// The group above it.
    Parent,
}

const fn list(
    name: &'static str,
    place: &'static [&'static str],
    field: Option<&'static str>,
    base: Base,
) -> List {
    List { name, place, field, base }
}

/// All lists that are known. OME-Zarr has them in the attributes up to 0.4, and below `ome` from
/// 0.5 on.
const LISTS: [List; 14] = [
    list("multiscales", &["multiscales", "*", "datasets"], Some("path"), Base::Group),
    list("multiscales", &["ome", "multiscales", "*", "datasets"], Some("path"), Base::Group),
    list("plate.wells", &["plate", "wells"], Some("path"), Base::Group),
    list("plate.wells", &["ome", "plate", "wells"], Some("path"), Base::Group),
    list("well.images", &["well", "images"], Some("path"), Base::Group),
    list("well.images", &["ome", "well", "images"], Some("path"), Base::Group),
    list("labels", &["labels"], None, Base::Group),
    list("labels", &["ome", "labels"], None, Base::Group),
    list("series", &["series"], None, Base::Parent),
    list("series", &["ome", "series"], None, Base::Parent),
    // GeoZarr.
    list("multiscales.layout", &["multiscales", "layout"], Some("asset"), Base::Group),
    // AnnData tables.
    list("column-order", &["column-order"], None, Base::Group),
    // NCZarr.
    list("_nczarr_group.arrays", &["_nczarr_group", "arrays"], None, Base::Group),
    list("_nczarr_group.groups", &["_nczarr_group", "groups"], None, Base::Group),
];

impl MemberLists {
    /// Of `all` arrays and groups that the source has, and those that are copied.
    pub(super) fn new(all: BTreeSet<String>, copied: BTreeSet<String>) -> Self {
        Self { all, copied }
    }

    /// True if the source has it and it is not copied. What the source does not have is none of our
    /// business.
    fn is_left_out(&self, path: &str) -> bool {
        let is_in = |paths: &BTreeSet<String>| {
            let below = format!("{path}/");
            paths.contains(path)
                || paths.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
        };
        is_in(&self.all) && !is_in(&self.copied)
    }

    /// Leaves entries out of the lists of the group at `path`, and says which.
    pub(super) fn follow(&self, path: &str, group: &mut GroupMetadata) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.all.is_subset(&self.copied) {
            return warnings;
        }
        let stays = |level: &str| !self.is_left_out(&join(path, level));
        let notes = derive_from_kept(&mut group.attributes, stays);
        warnings.extend(notes.into_iter().map(|note| format!("{}: {note}", in_words(path))));
        for list in &LISTS {
            let mut left_out = Vec::new();
            let base = list.base.of(path);
            let mut keeps = |name: &str| {
                let member = join(base, name);
                let is_kept = !self.is_left_out(&member);
                if !is_kept {
                    left_out.push(name.to_owned());
                }
                is_kept
            };
            let emptied = match list.place.split_first() {
                Some((first, rest)) => match group.attributes.get_mut(*first) {
                    Some(value) => retain(value, rest, list.field, &mut keeps),
                    None => false,
                },
                None => false,
            };
            if left_out.is_empty() {
                continue;
            }
            let (place, names) = (in_words(path), left_out.join(", "));
            let what = if list.name.starts_with("multiscales") { "levels" } else { "members" };
            let rest = if emptied { ", and none is left" } else { "" };
            warnings.push(format!(
                "{place}: its `{}` names {what} that are not copied: {names}; their entries are left \
                 out{rest}",
                list.name
            ));
        }
        warnings.extend(self.of_layout(path, group));
        warnings
    }

    /// Says that images which bioformats2raw finds by counting are no longer all there.
    fn of_layout(&self, path: &str, group: &GroupMetadata) -> Option<String> {
        const LAYOUT: &str = "bioformats2raw.layout";
        let attributes = &group.attributes;
        let has_layout = attributes.contains_key(LAYOUT)
            || attributes.get("ome").is_some_and(|ome| ome.get(LAYOUT).is_some());
        if !has_layout {
            return None;
        }
        let is_image = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
        let mut images: Vec<&str> = self
            .all
            .iter()
            .filter_map(|node| below(path, node))
            .filter_map(|rest| rest.split('/').next())
            .filter(|name| is_image(name) || *name == "OME")
            .filter(|name| self.is_left_out(&join(path, name)))
            .collect();
        images.dedup();
        (!images.is_empty()).then(|| {
            format!(
                "{} says `{LAYOUT}`, by which readers count images from 0 on and look for OME: not \
                 copied are {}",
                in_words(path),
                images.join(", ")
            )
        })
    }
}

impl Base {
    fn of(self, path: &str) -> &str {
        match self {
            Self::Group => path,
            Self::Parent => path.rsplit_once('/').map_or("", |(above, _)| above),
        }
    }
}

/// The path of `name` in the group at `base`, without what does not change it.
fn join(base: &str, name: &str) -> String {
    let names = base.split('/').chain(name.split('/'));
    let names: Vec<&str> = names.filter(|name| !name.is_empty() && *name != ".").collect();
    names.join("/")
}

/// The path below the group at `base`; `None` if it is not.
fn below<'a>(base: &str, path: &'a str) -> Option<&'a str> {
    if base.is_empty() { Some(path) } else { path.strip_prefix(base)?.strip_prefix('/') }
}

/// Keeps the entries of a list, `place` below `value`, of which `keeps` says so by the name of the
/// member. True if entries were left out and none is left.
fn retain(
    value: &mut Value,
    place: &[&str],
    field: Option<&str>,
    keeps: &mut dyn FnMut(&str) -> bool,
) -> bool {
    let Some((first, rest)) = place.split_first() else {
        let Value::Array(entries) = value else { return false };
        let before = entries.len();
        entries.retain(|entry| {
            let name = match field {
                Some(field) => entry.get(field),
                None => Some(entry),
            };
            name.and_then(text).is_none_or(&mut *keeps)
        });
        return entries.is_empty() && before > 0;
    };
    match value {
        Value::Array(elements) if *first == "*" => {
            let mut emptied = false;
            for element in elements {
                emptied |= retain(element, rest, field, keeps);
            }
            emptied
        }
        Value::Object(members) => {
            members.get_mut(*first).is_some_and(|value| retain(value, rest, field, keeps))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn follow(path: &str, attributes: Value, all: &[&str], left_out: &[&str]) -> (Value, String) {
        let Value::Object(attributes) = attributes else { panic!() };
        let mut group = GroupMetadata::with_attributes(attributes);
        let own = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        let all: BTreeSet<String> = own(all);
        let copied = all.iter().filter(|path| !left_out.contains(&path.as_str())).cloned();
        let members = MemberLists::new(all.clone(), copied.collect());
        let said = members.follow(path, &mut group).join("\n");
        (Value::Object(group.attributes), said)
    }

    #[test]
    fn entries_of_members_left_out_are_left_out() {
        let wells = |names: &[&str]| -> Vec<Value> {
            names.iter().map(|name| json!({"path": name, "rowIndex": 0})).collect()
        };
        let paths = |names: &[&str]| -> Vec<Value> {
            names.iter().map(|name| json!({"path": name})).collect()
        };
        for (path, before, all, left_out, after, says) in [
            (
                "",
                json!({"plate": {"rows": [1], "wells": wells(&["A/1", "A/2"])}}),
                &["A", "A/1", "A/1/0", "A/2", "A/2/0"][..],
                &["A/2", "A/2/0"][..],
                json!({"plate": {"rows": [1], "wells": wells(&["A/1"])}}),
                "`plate.wells`",
            ),
            (
                "",
                json!({"ome": {"version": "0.5", "plate": {"wells": wells(&["A/1", "B/9"])}}}),
                &["A/1/0", "B/9/0"],
                &["B/9/0"],
                json!({"ome": {"version": "0.5", "plate": {"wells": wells(&["A/1"])}}}),
                "B/9",
            ),
            (
                "A/1",
                json!({"well": {"images": [{"path": "0"}, {"path": "1", "acquisition": 2}]}}),
                &["A/1/0", "A/1/1", "A/2/1"],
                &["A/1/0"],
                json!({"well": {"images": [{"path": "1", "acquisition": 2}]}}),
                "the group A/1: its `well.images`",
            ),
            (
                "labels",
                json!({"labels": ["cells", "nuclei", "never/there"]}),
                &["labels/cells/0", "labels/nuclei/0"],
                &["labels/nuclei/0"],
                json!({"labels": ["cells", "never/there"]}),
                "`labels`",
            ),
            (
                "i/labels",
                json!({"ome": {"labels": ["cells"]}}),
                &["i/labels/cells/0", "i/0"],
                &["i/labels/cells/0"],
                json!({"ome": {"labels": []}}),
                "and none is left",
            ),
            (
                "OME",
                json!({"series": ["0", "1"]}),
                &["0/0", "1/0", "OME"],
                &["1/0"],
                json!({"series": ["0"]}),
                "`series`",
            ),
            (
                "",
                json!({"multiscales": [{"datasets": paths(&["0", "1"])}]}),
                &["0", "1"],
                &["0"],
                json!({"multiscales": [{"datasets": paths(&["1"])}]}),
                "names levels that are not copied: 0",
            ),
            (
                "g",
                json!({"multiscales": {"layout": [{"asset": "r10m"}, {"asset": "./r20m"}]}}),
                &["g/r10m/b", "g/r20m/b"],
                &["g/r20m/b"],
                json!({"multiscales": {"layout": [{"asset": "r10m"}]}}),
                "`multiscales.layout`",
            ),
            (
                "obs",
                json!({"column-order": ["a", "b"], "_index": "i"}),
                &["obs/a", "obs/b", "obs/i"],
                &["obs/b"],
                json!({"column-order": ["a"], "_index": "i"}),
                "`column-order`",
            ),
        ] {
            let (found, said) = follow(path, before.clone(), all, left_out);
            assert_eq!(found, after, "{path}: {before}");
            assert!(said.contains(says), "{said}");
            let (found, said) = follow(path, before.clone(), all, &[]);
            assert_eq!((found, said), (before, String::new()));
        }
    }

    #[test]
    fn images_that_are_found_by_counting_are_named() {
        for attributes in [
            json!({"bioformats2raw.layout": 3}),
            json!({"ome": {"bioformats2raw.layout": 3, "version": "0.5"}}),
        ] {
            let all = ["0/0", "1/0", "2/0", "OME", "other/0"];
            let (_, said) = follow("", attributes.clone(), &all, &["1/0", "other/0"]);
            assert!(
                said.contains("bioformats2raw.layout") && said.ends_with("copied are 1"),
                "{said}"
            );
            let (_, said) = follow("", attributes, &all, &["other/0"]);
            assert_eq!(said, "");
        }
    }

    /// Attributes of other users of these names are not understood, and stay.
    #[test]
    fn what_is_no_such_list_stays() {
        for attributes in [
            json!({"labels": {"0": "a"}}),
            json!({"labels": [1, null, ["0"]]}),
            json!({"plate": "0", "well": ["0"], "ome": [{"labels": ["0"]}]}),
            json!({"multiscales": {"datasets": [{"path": "0"}]}}),
            json!({"series": "0", "column-order": 0}),
        ] {
            let (found, said) = follow("", attributes.clone(), &["0", "1"], &["0"]);
            assert_eq!((found, said), (attributes, String::new()));
        }
    }
}
