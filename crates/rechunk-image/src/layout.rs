//! Levels of GeoZarr (`multiscales.layout`) that are derived from levels which are left out.

use serde_json::{Map, Value, json};

use crate::values::{LEVELS_MAX, numbers, path, text};

/// Steps from a level to another, along each axis: an element of it lies at
/// `scale · element + translation` of the other.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    scale: Vec<f64>,
    translation: Vec<f64>,
}

/// A level as it stands in a layout.
struct Entry {
    path: String,
    /// The level that it is derived from.
    from: Option<String>,
    /// Steps to that level; `None` where they are not said.
    step: Option<Step>,
}

/// Has the levels of a layout that `stays` name only such levels as what they are derived from.
///
/// Steps to a level that is left out are joined with its own. Of levels derived from a first one
/// that is left out, the first becomes what the others are derived from. Returns sentences on
/// levels of which the steps are not known. The entries of others are not looked at.
///
/// ```
/// use rechunk_image::derive_from_kept;
/// let level = |path: &str, from: &str| serde_json::json!({"asset": path, "derived_from": from,
///     "transform": {"scale": [2.0], "translation": [0.0]}});
/// let said = serde_json::json!({"multiscales": {"layout": [
///     {"asset": "0"}, level("1", "0"), level("2", "1")]}});
/// let mut said = said.as_object().unwrap().clone();
/// assert!(derive_from_kept(&mut said, |path| path != "1").is_empty());
/// let last = &said["multiscales"]["layout"][2];
/// assert_eq!((&last["derived_from"], &last["transform"]["scale"][0]), (&"0".into(), &4.0.into()));
/// ```
pub fn derive_from_kept(
    attributes: &mut Map<String, Value>,
    stays: impl Fn(&str) -> bool,
) -> Vec<String> {
    let layout = attributes.get_mut("multiscales").and_then(|all| all.get_mut("layout"));
    let levels = layout.and_then(Value::as_array_mut).filter(|all| all.len() <= LEVELS_MAX);
    let Some(levels) = levels else { return Vec::new() };
    let entries: Vec<Option<Entry>> = levels.iter().map(entry).collect();
    let (mut notes, mut firsts) = (Vec::new(), Vec::<(String, String, Step)>::new());
    for (level, own) in levels.iter_mut().zip(&entries) {
        let (Some(level), Some(own)) = (level.as_object_mut(), own) else { continue };
        let is_cut = own.from.as_deref().is_some_and(|from| !stays(from));
        if !is_cut || !stays(&own.path) {
            continue;
        }
        let Some((base, step)) = origin(own, &entries, &stays) else {
            notes.push(format!(
                "the level {} is derived from {}, which is left out: how it lies on other levels is \
                 no longer said",
                own.path,
                own.from.as_deref().unwrap_or_default()
            ));
            level.shift_remove("derived_from");
            level.shift_remove("transform");
            continue;
        };
        if stays(&base) {
            derive(level, &base, &step);
        } else if let Some((_, first, of_first)) = firsts.iter().find(|first| first.0 == base) {
            derive(level, first, &step.seen_from(of_first));
        } else {
            level.shift_remove("derived_from");
            // Where nothing else says its place, the steps do.
            if level.contains_key("spatial:transform") {
                put(level, &Step::none(step.scale.len()));
            } else {
                put(level, &step);
            }
            firsts.push((base, own.path.clone(), step));
        }
    }
    notes
}

fn entry(level: &Value) -> Option<Entry> {
    let step = || {
        let transform = level.get("transform")?;
        let scale = numbers(transform.get("scale")?)?;
        let translation = match transform.get("translation") {
            Some(list) => numbers(list).filter(|list| list.len() == scale.len())?,
            None => vec![0.0; scale.len()],
        };
        let is_usual = scale.iter().all(|factor| factor.is_normal());
        is_usual.then_some(Step { scale, translation })
    };
    let plain = |path: &str| path.trim_start_matches("./").trim_matches('/').to_owned();
    Some(Entry {
        path: plain(&path(level.get("asset"))?),
        from: text(level.get("derived_from")).as_deref().map(plain),
        step: step(),
    })
}

/// Walks from a level to the first that stays, or that is derived from none: its path, and the
/// steps to it. `None` where steps are not said, or lead in a circle.
fn origin(
    level: &Entry,
    all: &[Option<Entry>],
    stays: &impl Fn(&str) -> bool,
) -> Option<(String, Step)> {
    let mut base = level.from.clone()?;
    let mut step = level.step.clone()?;
    for _ in 0..all.len() {
        if base == level.path {
            return None;
        }
        if stays(&base) {
            return Some((base, step));
        }
        let above = all.iter().flatten().find(|entry| entry.path == base)?;
        let Some(from) = &above.from else { return Some((base, step)) };
        step = step.then(above.step.as_ref()?)?;
        base.clone_from(from);
    }
    None
}

impl Step {
    fn none(rank: usize) -> Self {
        Self { scale: vec![1.0; rank], translation: vec![0.0; rank] }
    }

    /// These steps, and then `next`.
    fn then(&self, next: &Self) -> Option<Self> {
        (self.scale.len() == next.scale.len()).then(|| {
            let by = |axis: usize| (next.scale[axis], next.translation[axis]);
            let axes = 0..self.scale.len();
            Self {
                scale: axes.clone().map(|axis| self.scale[axis] * by(axis).0).collect(),
                translation: axes
                    .map(|axis| by(axis).0 * self.translation[axis] + by(axis).1)
                    .collect(),
            }
        })
    }

    /// Steps to a level from which `other` leads to where these lead.
    fn seen_from(&self, other: &Self) -> Self {
        let of = |axis: usize| (other.scale.get(axis), other.translation.get(axis));
        let part = |axis: usize, value: f64, shift: bool| match of(axis) {
            (Some(scale), Some(start)) => (value - if shift { *start } else { 0.0 }) / scale,
            _ => value,
        };
        let along = |list: &[f64], shift: bool| {
            list.iter().enumerate().map(|(axis, value)| part(axis, *value, shift)).collect()
        };
        Self { scale: along(&self.scale, false), translation: along(&self.translation, true) }
    }
}

fn derive(level: &mut Map<String, Value>, from: &str, step: &Step) {
    level.insert("derived_from".to_owned(), json!(from));
    put(level, step);
}

fn put(level: &mut Map<String, Value>, step: &Step) {
    let Some(transform) = level.get_mut("transform").and_then(Value::as_object_mut) else { return };
    transform.insert("scale".to_owned(), json!(step.scale));
    if transform.contains_key("translation") || step.translation.iter().any(|shift| *shift != 0.0) {
        transform.insert("translation".to_owned(), json!(step.translation));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(path: &str, from: &str, scale: f64, shift: f64) -> Value {
        json!({"asset": path, "derived_from": from,
               "transform": {"scale": [1.0, scale], "translation": [0.0, shift]}})
    }

    fn kept(levels: &[Value], left_out: &[&str]) -> (Vec<Value>, Vec<String>) {
        let said = json!({"multiscales": {"layout": levels}});
        let mut said = said.as_object().unwrap().clone();
        let notes = derive_from_kept(&mut said, |path| !left_out.contains(&path));
        let all = said["multiscales"]["layout"].as_array().unwrap();
        let stay = |level: &&Value| !left_out.contains(&level["asset"].as_str().unwrap());
        (all.iter().filter(stay).cloned().collect(), notes)
    }

    #[test]
    fn steps_to_levels_left_out_are_joined() {
        let first = json!({"asset": "0", "transform": {"scale": [1.0, 1.0]}});
        let chain = [
            first.clone(),
            level("1", "0", 2.0, 0.5),
            level("2", "./1/", 3.0, 1.0),
            level("3", "2", 2.0, 0.0),
        ];
        assert_eq!(kept(&chain, &["3"]), (chain[..3].to_vec(), vec![]));
        let (found, notes) = kept(&chain, &["1"]);
        let joined = level("2", "0", 6.0, 2.5);
        assert_eq!((found, notes), (vec![first.clone(), joined, chain[3].clone()], vec![]));
        let (found, _) = kept(&chain, &["1", "2"]);
        assert_eq!(found, [first.clone(), level("3", "0", 12.0, 2.5)]);
        // Without the first, the next is: what else says its place is kept.
        let mut own = chain.clone();
        own[1]["spatial:transform"] = json!([1, 0, 0, 0, 1, 0]);
        let (found, _) = kept(&own, &["0"]);
        assert_eq!(found[0].get("derived_from"), None);
        assert_eq!(found[0]["transform"], json!({"scale": [1.0, 1.0], "translation": [0.0, 0.0]}));
        assert_eq!(found[1..], own[2..]);
        let (found, _) = kept(&chain, &["0"]);
        assert_eq!(found[0]["transform"], chain[1]["transform"]);
        // Levels that are all derived from the first.
        let star = [first, level("1", "0", 2.0, 0.5), level("2", "0", 6.0, 2.5)];
        let (found, notes) = kept(&star, &["0"]);
        assert_eq!((&found[1], notes.len()), (&level("2", "1", 3.0, 1.0), 0));
    }

    #[test]
    fn what_is_not_said_is_not_made_up() {
        for levels in [
            vec![json!({"asset": "0"}), json!({"asset": "1", "derived_from": "0"})],
            vec![level("0", "1", 2.0, 0.0), level("1", "0", 2.0, 0.0)],
            vec![json!({"asset": "0", "derived_from": "9"}), level("1", "0", 0.0, 0.0)],
            vec![
                json!({"asset": "0", "derived_from": "0", "transform": {"scale": [2]}}),
                level("1", "0", 2.0, 0.0),
            ],
        ] {
            let (found, notes) = kept(&levels, &["0"]);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].get("derived_from"), None, "{levels:?}");
            assert_eq!((notes.len(), found[0].get("transform")), (1, None), "{levels:?}");
        }
        for odd in [json!(3), json!([]), json!({"layout": 3}), json!({"layout": [3, {"asset": 4}]})]
        {
            let mut said = Map::from_iter([("multiscales".to_owned(), odd)]);
            let before = said.clone();
            assert!(derive_from_kept(&mut said, |_| false).is_empty());
            assert_eq!(said, before);
        }
    }
}
