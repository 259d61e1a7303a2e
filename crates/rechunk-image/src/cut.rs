//! Images of which regions are kept: where their levels begin, and which channels they have.

use serde_json::{Map, Value, json};

use crate::added::images;
use crate::axis::{Axis, AxisKind};
use crate::documents_ome::named_transformation;
use crate::read_ome::{Steps, read_axes};
use crate::upgrade_images::is_usual;
use crate::values::path;

/// Part of an axis that is kept, elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisCut {
    /// Extent before.
    pub before: u64,
    /// The first element that is kept.
    pub start: u64,
    /// Extent afterwards.
    pub after: u64,
}

impl AxisCut {
    fn is_whole(&self) -> bool {
        self.start == 0 && self.before == self.after
    }
}

/// Has images of OME-Zarr in the attributes of a group say where the kept regions of their levels
/// are. `cut_of` has these by the path of the level, one for each axis.
///
/// Translations move, channels of `omero` that are cut off are left out, and the plane that it has
/// viewers begin with is the same one, or the nearest. Returns sentences on what is no longer so
/// and could not be changed.
///
/// ```
/// use rechunk_image::{AxisCut, cut_levels};
/// let said = serde_json::json!({"multiscales": [{"axes": ["x"], "datasets": [
///     {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [0.5]}]}]}]});
/// let mut said = said.as_object().unwrap().clone();
/// let notes = cut_levels(&mut said, |_| Some(vec![AxisCut { before: 9, start: 4, after: 2 }]));
/// assert!(notes.is_empty());
/// let steps = &said["multiscales"][0]["datasets"][0]["coordinateTransformations"];
/// assert_eq!(steps[1], serde_json::json!({"type": "translation", "translation": [2.0]}));
/// ```
pub fn cut_levels(
    attributes: &mut Map<String, Value>,
    cut_of: impl Fn(&str) -> Option<Vec<AxisCut>>,
) -> Vec<String> {
    let mut notes = Vec::new();
    let (mut of_channels, mut of_planes) = (None, [None; 2]);
    let Some(all) = images(attributes) else { return notes };
    for image in all.iter_mut().filter_map(Value::as_object_mut) {
        let channel = axis_at(image, |axis| axis.kind == AxisKind::Channel);
        let depth = axis_at(image, |axis| axis.name.eq_ignore_ascii_case("z"));
        let planes = [depth, axis_at(image, |axis| axis.kind == AxisKind::Time)];
        let datasets = image.get_mut("datasets").and_then(Value::as_array_mut);
        let mut cuts: Vec<Vec<AxisCut>> = Vec::new();
        for dataset in datasets.into_iter().flatten() {
            let Some(level) = path(dataset.get("path")) else { continue };
            let Some(cut) = cut_of(&level) else { continue };
            if !moved(dataset, &level, &cut) {
                notes.push(format!("the place of the level {level} is not changed"));
            }
            let own = |axis: Option<usize>| axis.and_then(|axis| cut.get(axis).copied());
            of_channels = of_channels.or(own(channel));
            of_planes = [0, 1].map(|at: usize| of_planes[at].or(own(planes[at])));
            cuts.push(cut);
        }
        if are_unlike(&cuts) {
            let note = "the region is taken of each level by its own indices: they do not show the \
                        same part of the image";
            notes.push(note.to_owned());
        }
    }
    if let Some(cut) = of_channels.filter(|cut| !cut.is_whole()) {
        keep_channels(attributes, cut);
    }
    for (name, cut) in ["defaultZ", "defaultT"].into_iter().zip(of_planes) {
        if let Some(cut) = cut.filter(|cut| !cut.is_whole()) {
            move_plane(attributes, name, cut);
        }
    }
    notes
}

/// Position of the first axis that is so.
fn axis_at(image: &Map<String, Value>, is_it: impl Fn(&Axis) -> bool) -> Option<usize> {
    let system = image.get("coordinateSystems").and_then(|systems| systems.get(0));
    let axes = image.get("axes").or(system.and_then(|system| system.get("axes")))?;
    let axes = read_axes(axes.as_array()?, &mut Vec::new());
    axes.iter().position(is_it)
}

/// Moves the translation of a level to the first element that is kept. False if it says its place
/// otherwise than by a scale and a translation.
fn moved(dataset: &mut Value, level: &str, cut: &[AxisCut]) -> bool {
    if cut.iter().all(|axis| axis.start == 0) {
        return true;
    }
    let Some(own) = dataset.get_mut("coordinateTransformations").and_then(Value::as_array_mut)
    else {
        return false;
    };
    let mut steps = Steps::none(cut.len());
    if steps.then(own).is_err() || !steps.has_scale {
        return false;
    }
    let before = &steps.placement;
    let moves = before.translation.iter().zip(&before.scale).zip(cut);
    let translation: Vec<f64> =
        moves.map(|((translation, scale), cut)| translation + scale * cut.start as f64).collect();
    let translation = json!({"type": "translation", "translation": translation});
    let is_named = matches!(own.as_slice(), [one] if one.get("input").is_some());
    let inner = match own.as_slice() {
        [one] => one.get("transformations").and_then(Value::as_array).cloned(),
        _ => None,
    };
    let list = inner.unwrap_or_else(|| own.clone());
    let scale = match list.first() {
        Some(first) if is_usual(&list) => json!({"type": "scale", "scale": first["scale"]}),
        _ => json!({"type": "scale", "scale": before.scale}),
    };
    let list = vec![scale, translation];
    *own = if is_named { vec![named_transformation(level, list)] } else { list };
    true
}

/// True if levels are cut so that they do not show the same part of the first: some end more than
/// an element away.
fn are_unlike(cuts: &[Vec<AxisCut>]) -> bool {
    let Some((first, others)) = cuts.split_first() else { return false };
    let is_unlike = |(one, other): (&AxisCut, &AxisCut)| {
        let factor = one.before as f64 / other.before.max(1) as f64;
        let differs = |of_one: u64, of_other: u64| {
            (of_one as f64 - of_other as f64 * factor).abs() >= factor.max(1.0) * 1.5
        };
        let ends = [one.start.saturating_add(one.after), other.start.saturating_add(other.after)];
        one.before != other.before
            && !(one.is_whole() && other.is_whole())
            && (differs(one.start, other.start) || differs(ends[0], ends[1]))
    };
    others.iter().any(|other| first.iter().zip(other).any(is_unlike))
}

/// The display of an image, wherever its version has it.
fn omero(attributes: &mut Map<String, Value>) -> Option<&mut Value> {
    let is_new = attributes.get("ome").is_some_and(|ome| ome.get("omero").is_some());
    if is_new { attributes.get_mut("ome")?.get_mut("omero") } else { attributes.get_mut("omero") }
}

/// Has the plane `name` be the one that it was, or the nearest that is kept.
fn move_plane(attributes: &mut Map<String, Value>, name: &str, cut: AxisCut) {
    let defaults = omero(attributes).and_then(|omero| omero.get_mut("rdefs"));
    let Some(plane) = defaults.and_then(|defaults| defaults.get_mut(name)) else { return };
    if let Some(before) = plane.as_u64() {
        *plane = before.saturating_sub(cut.start).min(cut.after.saturating_sub(1)).into();
    }
}

/// Leaves the channels that `omero` describes and that are kept.
fn keep_channels(attributes: &mut Map<String, Value>, cut: AxisCut) {
    let channels =
        omero(attributes).and_then(|omero| omero.get_mut("channels")).and_then(Value::as_array_mut);
    let Some(channels) = channels.filter(|all| all.len() as u64 == cut.before) else { return };
    let end = cut.start.saturating_add(cut.after);
    let mut number = 0;
    channels.retain(|_| {
        number += 1;
        (cut.start..end).contains(&(number - 1))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(steps: &[Value]) -> Value {
        let level = |(at, steps): (usize, &Value)| json!({"path": at.to_string(), "coordinateTransformations": steps});
        let datasets: Vec<Value> = steps.iter().enumerate().map(level).collect();
        json!([{"axes": [{"name": "c", "type": "channel"}, {"name": "x", "type": "space"}],
            "datasets": datasets}])
    }

    fn whole(extent: u64) -> AxisCut {
        AxisCut { before: extent, start: 0, after: extent }
    }

    fn cut(said: &Value, of: &[[AxisCut; 2]]) -> (Value, Vec<String>) {
        let mut said = said.as_object().unwrap().clone();
        let notes =
            cut_levels(&mut said, |level| Some(of.get(level.parse::<usize>().unwrap())?.to_vec()));
        (Value::Object(said), notes)
    }

    #[test]
    fn a_level_begins_where_its_region_does() {
        let scale = json!([{"type": "scale", "scale": [1.0, 0.5]}]);
        let placed = |scale: f64, translation: f64| {
            json!([{"type": "scale", "scale": [1.0, scale]},
                {"type": "translation", "translation": [0.0, translation]}])
        };
        let region = AxisCut { before: 100, start: 10, after: 20 };
        let said =
            json!({"ome": {"multiscales": image(std::slice::from_ref(&scale)), "version": "0.5"}});
        let (after, notes) = cut(&said, &[[whole(3), region]]);
        assert_eq!(after["ome"]["multiscales"], image(&[placed(0.5, 5.0)]));
        assert_eq!(notes, Vec::<String>::new());
        let said = json!({"multiscales": image(&[scale, placed(1.0, 0.25)])});
        let half = AxisCut { before: 50, start: 10, after: 20 };
        let (after, notes) = cut(&said, &[[whole(3), region], [whole(3), half]]);
        assert_eq!(after["multiscales"], image(&[placed(0.5, 5.0), placed(1.0, 10.25)]));
        assert!(notes.len() == 1 && notes[0].contains("by its own indices"), "{notes:?}");
        let same = AxisCut { before: 50, start: 5, after: 10 };
        let (_, notes) = cut(&said, &[[whole(3), region], [whole(3), same]]);
        assert_eq!(notes, Vec::<String>::new());
        let (after, notes) = cut(&said, &[[whole(3), whole(100)], [whole(3), whole(50)]]);
        assert_eq!((after, notes), (said, Vec::new()));
    }

    #[test]
    fn transformations_of_other_versions_move_too() {
        let region = AxisCut { before: 100, start: 10, after: 20 };
        let named = |steps: Vec<Value>| json!([named_transformation("0", steps)]);
        let scale = json!({"type": "scale", "scale": [1.0, 2.0]});
        let at = |x: f64| json!({"type": "translation", "translation": [0.0, x]});
        for (before, after) in [
            (named(vec![scale.clone()]), named(vec![scale.clone(), at(20.0)])),
            (named(vec![scale.clone(), at(1.0)]), named(vec![scale.clone(), at(21.0)])),
            (json!([at(1.0), scale]), json!([scale, at(22.0)])),
        ] {
            let (found, notes) =
                cut(&json!({"multiscales": image(&[before])}), &[[whole(3), region]]);
            assert_eq!(found["multiscales"], image(&[after]));
            assert_eq!(notes, Vec::<String>::new());
        }
        let affine = json!([{"type": "affine", "affine": [[1.0, 0.0], [0.0, 1.0]]}]);
        for unknown in [affine, json!([]), json!(3), Value::Null] {
            let said = json!({"multiscales": image(&[unknown])});
            let (found, notes) = cut(&said, &[[whole(3), region]]);
            assert_eq!((found, notes.len()), (said, 1));
        }
    }

    #[test]
    fn channels_that_are_cut_off_are_not_described() {
        let scale = json!([{"type": "scale", "scale": [1.0, 0.5]}]);
        let omero = |labels: &[&str]| {
            let channels: Vec<Value> = labels.iter().map(|label| json!({"label": label})).collect();
            json!({"channels": channels})
        };
        let of = |labels: &[&str]| json!({"multiscales": image(std::slice::from_ref(&scale)), "omero": omero(labels)});
        let second = AxisCut { before: 3, start: 1, after: 2 };
        let (found, notes) = cut(&of(&["a", "b", "c"]), &[[second, whole(9)]]);
        assert_eq!((&found["omero"], notes.len()), (&omero(&["b", "c"]), 0));
        // Nobody knows which these are.
        let (found, _) = cut(&of(&["a", "b"]), &[[second, whole(9)]]);
        assert_eq!(found["omero"], omero(&["a", "b"]));
        let new = json!({"ome": of(&["a", "b", "c"])});
        let (found, _) = cut(&new, &[[second, whole(9)]]);
        assert_eq!(found["ome"]["omero"], omero(&["b", "c"]));
    }

    #[test]
    fn viewers_begin_with_the_plane_that_they_began_with() {
        let steps = json!([{"type": "scale", "scale": [1.0, 1.0]}]);
        let axes = json!([{"name": "t", "type": "time"}, {"name": "z", "type": "space"}]);
        let image = json!([{"axes": axes, "datasets": [{"path": "0", "coordinateTransformations": steps}]}]);
        let omero =
            |t: Value, z: u64| json!({"rdefs": {"defaultT": t, "defaultZ": z, "model": "color"}});
        let part = |start, after| AxisCut { before: 10, start, after };
        for (before, cuts, after) in [
            (omero(json!(4), 7), [part(3, 5), part(2, 8)], omero(json!(1), 5)),
            (omero(json!(4), 7), [whole(10), part(2, 3)], omero(json!(4), 2)),
            (omero(json!(1), 7), [part(3, 5), whole(10)], omero(json!(0), 7)),
            (omero(json!("x"), 0), [part(3, 5), part(1, 1)], omero(json!("x"), 0)),
        ] {
            let said = json!({"multiscales": image, "omero": before});
            let new = json!({"ome": said});
            assert_eq!(cut(&said, &[cuts]).0["omero"], after);
            assert_eq!(cut(&new, &[cuts]).0["ome"]["omero"], after);
        }
    }
}
