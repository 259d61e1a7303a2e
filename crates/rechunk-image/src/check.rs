//! Checks of an image against the shapes of its arrays.

use crate::dialect::Dialect;
use crate::found::FoundImage;

/// Parts of an element that a scale may be off, so that it is not told.
const TOLERANCE: f64 = 0.01;

/// The shape of a level along the axes of an image; `None` if it is missing or of other axes.
fn shape<'a>(found: &FoundImage, shapes: &'a [Vec<u64>], level: usize) -> Option<&'a [u64]> {
    let shape = shapes.get(level).filter(|shape| !shape.is_empty())?;
    let (rank, axes) = (shape.len(), found.axes.len());
    // GeoZarr names axes of space only: the last ones.
    if found.dialect == Dialect::GeoZarr && axes < rank {
        return Some(&shape[rank - axes..]);
    }
    (rank == axes || axes == 0).then_some(shape.as_slice())
}

/// Sizes that a level of a factor may have: whole blocks only, or a ragged one too.
fn sizes(size: u64, factor: f64) -> [f64; 2] {
    let ratio = size as f64 / factor;
    // Factors that are ratios of sizes give whole numbers, nearly.
    let near = ratio.round();
    if (ratio - near).abs() < 1e-6 * near.max(1.0) {
        return [near.max(1.0); 2];
    }
    [ratio.floor().max(1.0), ratio.ceil().max(1.0)]
}

fn agrees(size: u64, factor: f64, level_size: u64) -> bool {
    let level_size = level_size as f64;
    factor > 0.0 && sizes(size, factor).iter().any(|size| (size - level_size).abs() < 0.5)
}

/// The factor of one axis: the one that is said, if it is whole and agrees with the sizes. Else
/// the nearest whole number that does, else the ratio of sizes.
fn true_factor(size: u64, level_size: u64, said: Option<f64>) -> f64 {
    if size == level_size || level_size == 0 {
        return 1.0;
    }
    let ratio = size as f64 / level_size as f64;
    let wanted = said.filter(|said| said.is_finite() && *said > 0.0).unwrap_or(ratio);
    let is_whole = (wanted - wanted.round()).abs() < 1e-6 * wanted;
    if is_whole && agrees(size, wanted.round(), level_size) {
        return wanted.round();
    }
    // The halves tie: ratios of sizes are above the factor where the rest was dropped.
    let down = (wanted - 1e-9).round();
    let candidates = [down, wanted.floor(), wanted.ceil(), ratio.floor(), ratio.ceil()];
    let fits = |factor: &f64| *factor >= 1.0 && agrees(size, *factor, level_size);
    candidates.into_iter().find(fits).unwrap_or(ratio)
}

/// Factors that scales say, in relation to level 0.
fn said_factors(found: &FoundImage, level: usize) -> Option<Vec<f64>> {
    let (base, scale) = (found.base_scale.as_ref()?, found.levels.get(level)?.scale.as_ref()?);
    (base.len() == scale.len()).then(|| scale.iter().zip(base).map(|(of, by)| of / by).collect())
}

/// Elements of level 0 for each element of a level, by axis of its array, as the shapes allow it.
/// Writers say ratios of sizes where blocks were smaller; a level without a shape has `None`.
///
/// `shapes` are those of the levels in their order; an empty one stands for a missing array.
///
/// ```
/// use rechunk_image::{read_image, true_factors};
/// let attributes = serde_json::json!({"multiscales": [{"axes": ["y", "x"], "datasets": [
///     {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 1]}]},
///     {"path": "1", "coordinateTransformations": [{"type": "scale", "scale": [2.5, 2.3333333]}]},
/// ]}]});
/// let image = read_image(attributes.as_object().unwrap()).unwrap();
/// let factors = true_factors(&image, &[vec![5, 7], vec![2, 3]]);
/// assert_eq!(factors[1], Some(vec![2.0, 2.0]));
/// ```
pub fn true_factors(found: &FoundImage, shapes: &[Vec<u64>]) -> Vec<Option<Vec<f64>>> {
    let first = shape(found, shapes, 0);
    let levels = 0..found.levels.len();
    let factors = |level: usize| {
        let (first, shape) = (first?, shape(found, shapes, level)?);
        let said = said_factors(found, level).filter(|said| said.len() == shape.len());
        let axes = first.iter().zip(shape).enumerate();
        let factor = |(axis, (&size, &level_size)): (usize, (&u64, &u64))| {
            true_factor(size, level_size, said.as_ref().map(|said| said[axis]))
        };
        // Axes that the image does not name stay as they are.
        let whole = shapes[level].len();
        let unnamed = vec![1.0; whole.saturating_sub(shape.len())].into_iter();
        (first.len() == shape.len() && whole == shapes[0].len())
            .then(|| unnamed.chain(axes.map(factor)).collect())
    };
    levels.map(factors).collect()
}

/// The name of an axis, or its number.
fn axis_name(found: &FoundImage, axis: usize) -> String {
    found.axes.get(axis).map_or_else(|| axis.to_string(), |axis| axis.name.clone())
}

fn check_scale(found: &FoundImage, shapes: &[Vec<u64>], level: usize, told: &mut Vec<String>) {
    let path = &found.levels[level].path;
    let Some(said) = said_factors(found, level) else {
        told.push(format!("level {path:?} says no scale"));
        return;
    };
    let (Some(first), Some(shape)) = (shape(found, shapes, 0), shape(found, shapes, level)) else {
        return;
    };
    for (axis, factor) in said.iter().enumerate() {
        let (Some(&size), Some(&level_size)) = (first.get(axis), shape.get(axis)) else { continue };
        if !agrees(size, *factor, level_size) {
            let [floor, ceil] = sizes(size, if *factor > 0.0 { *factor } else { 1.0 });
            told.push(format!(
                "level {path:?} says a factor of {factor} along {}, of which {size} elements \
                 become {floor} or {ceil}, and has {level_size}",
                axis_name(found, axis)
            ));
        }
    }
}

fn check_translation(found: &FoundImage, level: usize, told: &mut Vec<String>) {
    let item = &found.levels[level];
    let (Some(said), Some(base)) = (said_factors(found, level), &found.base_scale) else { return };
    let path = &item.path;
    let is_coarse = said.iter().any(|factor| *factor > 1.0 + TOLERANCE);
    let Some(translation) = &item.translation else {
        if is_coarse {
            told.push(format!(
                "level {path:?} says no translation: means of blocks lie half a block further"
            ));
        }
        return;
    };
    let zeros = vec![0.0; base.len()];
    let origin = found.base_translation.as_ref().unwrap_or(&zeros);
    if origin.len() != base.len() || translation.len() != base.len() {
        return;
    }
    for (axis, factor) in said.iter().enumerate() {
        let offset = (translation[axis] - origin[axis]) / base[axis];
        let middle = (factor - 1.0) / 2.0;
        let is_near = |wanted: f64| (offset - wanted).abs() <= TOLERANCE * factor.abs().max(1.0);
        if !is_near(middle) && !is_near(0.0) {
            told.push(format!(
                "level {path:?} begins {offset} elements of level 0 further along {}: neither 0 \
                 as a stride nor {middle} as blocks do",
                axis_name(found, axis)
            ));
        }
    }
}

fn check_order(found: &FoundImage, shapes: &[Vec<u64>], level: usize, told: &mut Vec<String>) {
    let (path, before) = (&found.levels[level].path, &found.levels[level - 1].path);
    if found.levels[..level].iter().any(|other| other.path == *path) {
        told.push(format!("level {path:?} is named twice"));
        return;
    }
    let (finer, coarser) = (shape(found, shapes, level - 1), shape(found, shapes, level));
    if let (Some(finer), Some(coarser)) = (finer, coarser) {
        if finer == coarser {
            told.push(format!("level {path:?} is as large as {before:?} before it"));
        } else if finer.iter().zip(coarser).any(|(finer, coarser)| coarser > finer) {
            told.push(format!("level {path:?} is larger than {before:?} before it"));
        }
    }
    let (finer, coarser) = (said_factors(found, level - 1), said_factors(found, level));
    if let (Some(finer), Some(coarser)) = (finer, coarser) {
        let is_less = |(finer, coarser): (&f64, &f64)| *coarser < *finer * (1.0 - 1e-9);
        if finer.iter().zip(&coarser).any(is_less) {
            told.push(format!("level {path:?} says a finer scale than {before:?} before it"));
        }
    }
}

/// Sentences on where an image disagrees with its arrays, or with itself; empty if nowhere.
/// Those of [`FoundImage::problems`] are among them.
///
/// `shapes` are those of the levels in their order; an empty one stands for a missing array.
///
/// ```
/// use rechunk_image::{check_image, read_image};
/// let attributes = serde_json::json!({"multiscales": [{"axes": ["y", "x"], "datasets": [
///     {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 1]}]},
///     {"path": "1", "coordinateTransformations": [
///         {"type": "scale", "scale": [2, 2]},
///         {"type": "translation", "translation": [0.5, 0.5]},
///     ]},
/// ]}]});
/// let image = read_image(attributes.as_object().unwrap()).unwrap();
/// assert!(check_image(&image, &[vec![5, 7], vec![2, 4]]).is_empty());
/// assert_eq!(check_image(&image, &[vec![5, 7], vec![2, 5]]).len(), 1);
/// ```
pub fn check_image(found: &FoundImage, shapes: &[Vec<u64>]) -> Vec<String> {
    let mut told = found.problems.clone();
    let axes = found.axes.len();
    for (at, level) in found.levels.iter().enumerate() {
        let path = &level.path;
        match shapes.get(at).map_or(0, Vec::len) {
            0 => told.push(format!("level {path:?} has no array")),
            rank if axes != 0 && shape(found, shapes, at).is_none() => {
                told.push(format!("level {path:?} has {rank} axes, the image {axes}"));
            }
            _ => {}
        }
        for (list, name) in [(&level.scale, "scale"), (&level.translation, "translation")] {
            let length = list.as_ref().map_or(axes, Vec::len);
            if axes != 0 && length != axes {
                told.push(format!("level {path:?} has a {name} of {length} axes, not {axes}"));
            }
        }
        check_scale(found, shapes, at, &mut told);
        if at > 0 {
            check_translation(found, at, &mut told);
            check_order(found, shapes, at, &mut told);
        }
    }
    told
}
