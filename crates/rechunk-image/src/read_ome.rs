//! Images as OME-Zarr describes them, up to 0.6.

use serde_json::{Map, Value};

use crate::axis::{Axis, AxisKind};
use crate::conventions::OME_KEYS;
use crate::dialect::Dialect;
use crate::found::{FoundImage, FoundLevel};
use crate::placement::Placement;
use crate::values::{AXES_MAX, LEVELS_MAX, numbers, path, tell, text, without};

/// Most transformations of one level.
const STEPS_MAX: usize = 64;

/// Transformations of a level put together, and whether they say a scale and a translation.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    pub placement: Placement,
    pub has_scale: bool,
    pub has_translation: bool,
}

impl Steps {
    pub(crate) fn none(rank: usize) -> Self {
        Self { placement: Placement::identity(rank), has_scale: false, has_translation: false }
    }

    /// Goes on with a list of transformations; says which one cannot be put into a scale and a
    /// translation.
    pub(crate) fn then(&mut self, list: &[Value]) -> Result<(), String> {
        if list.len() > STEPS_MAX {
            return Err(format!("{} transformations are not read", list.len()));
        }
        for step in list {
            let kind = step.get("type").and_then(Value::as_str).unwrap_or_default();
            let along = |key: &str| {
                let list = step.get(key).and_then(numbers);
                list.ok_or_else(|| format!("its {kind} is no list of numbers"))
            };
            let fits = match kind {
                "identity" => {
                    self.has_scale = true;
                    true
                }
                "scale" => {
                    self.has_scale = true;
                    self.placement.then_scale(&along("scale")?)
                }
                "translation" => {
                    self.has_translation = true;
                    self.placement.then_translation(&along("translation")?)
                }
                "sequence" => {
                    let inner = step.get("transformations").and_then(Value::as_array);
                    let inner = inner.ok_or("its sequence has no transformations")?;
                    if inner.iter().any(|step| step.get("transformations").is_some()) {
                        return Err("its sequence holds another one".to_owned());
                    }
                    self.then(inner)?;
                    true
                }
                _ => return Err(format!("its transformation {kind:?} is not read")),
            };
            if !fits {
                let rank = self.placement.scale.len();
                return Err(format!("its {kind} is not of {rank} axes"));
            }
        }
        Ok(())
    }
}

/// The axes of a list of names or of objects.
pub(crate) fn read_axes(list: &[Value], problems: &mut Vec<String>) -> Vec<Axis> {
    let mut axes = Vec::new();
    for (at, value) in list.iter().take(AXES_MAX).enumerate() {
        if let Some(name) = value.as_str() {
            axes.push(Axis::of_name(name));
            continue;
        }
        let name = text(value.get("name")).unwrap_or_else(|| {
            tell(problems, format!("axis {at} has no name"));
            format!("dim_{at}")
        });
        let kind = match value.get("type").and_then(Value::as_str) {
            Some("space") => AxisKind::Space,
            Some("time") => AxisKind::Time,
            Some("channel") => AxisKind::Channel,
            Some(_) => AxisKind::Other,
            None => AxisKind::of_name(&name),
        };
        let known = ["name", "type", "unit"];
        let keys = value.as_object().into_iter().flat_map(Map::keys);
        for key in keys.filter(|key| !known.contains(&key.as_str())) {
            tell(problems, format!("{key:?} of axis {name:?} is left out"));
        }
        axes.push(Axis { name, kind, unit: text(value.get("unit")) });
    }
    if list.len() > AXES_MAX {
        tell(problems, format!("{} axes are more than {AXES_MAX}", list.len()));
    }
    axes
}

/// The coordinate system that the levels of an image of 0.6 lead to.
pub(crate) fn intrinsic(image: &Value) -> Option<&Value> {
    let systems = image.get("coordinateSystems")?.as_array()?;
    let dataset = image.get("datasets").and_then(|datasets| datasets.get(0));
    let output = dataset
        .and_then(|dataset| dataset.get("coordinateTransformations")?.get(0)?.get("output"))
        .and_then(|output| output.get("name").or(Some(output))?.as_str());
    let is_it = |system: &&Value| system.get("name").and_then(Value::as_str) == output;
    output.and_then(|_| systems.iter().find(is_it)).or_else(|| systems.first())
}

/// True for a transformation between named coordinate systems.
pub(crate) fn is_between_systems(step: &Value) -> bool {
    step.get("input").is_some() || step.get("output").is_some()
}

/// The list at a key; empty if there is none.
pub(crate) fn list_at<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn first_rank(image: &Value) -> Option<usize> {
    let steps = list_at(image.get("datasets")?.get(0)?, "coordinateTransformations");
    let inner = steps.iter().flat_map(|step| list_at(step, "transformations"));
    let lists = steps.iter().chain(inner);
    lists
        .filter_map(|step| step.get("scale").or_else(|| step.get("translation")))
        .find_map(|list| Some(numbers(list)?.len()))
}

fn axes(image: &Value, version: Option<&str>, problems: &mut Vec<String>) -> Vec<Axis> {
    let system = intrinsic(image).and_then(|system| system.get("axes"));
    let said = system.or_else(|| image.get("axes")).and_then(Value::as_array);
    let axes = said.map(|list| read_axes(list, problems)).unwrap_or_default();
    if !axes.is_empty() {
        return axes;
    }
    if matches!(version, Some("0.1" | "0.2")) {
        // Images of these versions are always of five axes.
        return Axis::of_rank(5);
    }
    let Some(rank) = first_rank(image) else {
        tell(problems, "the image says no axes".to_owned());
        return Vec::new();
    };
    tell(problems, format!("the image says no axes, its scales have {rank}"));
    Axis::of_rank(rank)
}

fn read_level(dataset: &Value, whole: &[Value], rank: usize) -> (FoundLevel, Option<String>) {
    let mut steps = Steps::none(rank);
    let own = list_at(dataset, "coordinateTransformations");
    let problem = steps.then(own).and_then(|()| steps.then(whole)).err();
    let path = path(dataset.get("path")).unwrap_or_default();
    let mut level = FoundLevel { path, scale: None, translation: None };
    if problem.is_none() {
        level.scale = steps.has_scale.then_some(steps.placement.scale);
        level.translation = steps.has_translation.then_some(steps.placement.translation);
    }
    (level, problem)
}

/// Attributes of the group beside the image; keys of OME-Zarr come to the top.
fn rest(attributes: &Map<String, Value>, ome: Option<&Map<String, Value>>) -> Map<String, Value> {
    let Some(ome) = ome else { return without(attributes, &["multiscales"]) };
    let mut rest = without(attributes, &["ome", "multiscales"]);
    let mut unknown = Map::new();
    for (key, value) in ome.iter().filter(|(key, _)| *key != "multiscales" && *key != "version") {
        let is_known = OME_KEYS.contains(&key.as_str());
        let to = if is_known { &mut rest } else { &mut unknown };
        to.insert(key.clone(), value.clone());
    }
    if !unknown.is_empty() {
        rest.insert("ome".to_owned(), Value::Object(unknown));
    }
    rest
}

/// The first image of `multiscales`; `None` if there is none, or if it is one of COSEM.
pub(crate) fn read_ome(attributes: &Map<String, Value>) -> Option<FoundImage> {
    let ome = attributes.get("ome").and_then(Value::as_object);
    let ome = ome.filter(|ome| ome.contains_key("multiscales"));
    let images = ome.unwrap_or(attributes).get("multiscales")?.as_array()?;
    let image = images.first()?;
    let datasets = image.get("datasets")?.as_array()?;
    if datasets.iter().any(|dataset| dataset.get("transform").is_some()) {
        return None;
    }
    let version = text(image.get("version"));
    let version = ome.and_then(|ome| text(ome.get("version"))).or(version);
    let is_06 = image.get("coordinateSystems").is_some()
        || version.as_ref().is_some_and(|version| version.starts_with("0.6"));
    let dialect = match (ome, is_06) {
        (None, _) => Dialect::OmeZarr04,
        (Some(_), false) => Dialect::OmeZarr05,
        (Some(_), true) => Dialect::OmeZarr06,
    };
    let mut found = FoundImage::empty(dialect);
    let problems = &mut found.problems;
    if images.len() > 1 {
        tell(problems, format!("the group has {} images, the first is read", images.len()));
    }
    found.axes = axes(image, version.as_deref(), problems);
    let (named, whole): (Vec<_>, Vec<_>) =
        list_at(image, "coordinateTransformations").iter().cloned().partition(is_between_systems);
    if !named.is_empty() {
        tell(problems, "transformations to other coordinate systems are left out".to_owned());
    }
    for (at, dataset) in datasets.iter().take(LEVELS_MAX).enumerate() {
        let (level, problem) = read_level(dataset, &whole, found.axes.len());
        if level.path.is_empty() {
            tell(problems, format!("level {at} has no path below the group"));
            continue;
        }
        if let Some(problem) = problem {
            tell(problems, format!("level {:?}: {problem}", level.path));
        }
        found.levels.push(level);
    }
    if datasets.is_empty() || datasets.len() > LEVELS_MAX {
        tell(problems, format!("the image has {} levels", datasets.len()));
    }
    found.rest = rest(attributes, ome);
    found.is_label = found.rest.contains_key("image-label");
    found.name = text(image.get("name"));
    found.method = text(image.get("type"));
    found.version = version;
    Some(found.with_base())
}
