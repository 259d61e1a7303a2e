//! Factors and shapes of the levels of an image.

use rechunk_image::{Axis, AxisKind};
use rechunk_plan::LevelsFrom;

use super::request::{LevelSize, LevelsRequest, PyramidRequest};
use crate::words::named;
use crate::{Error, Remedy};

/// Most levels that are made without their factors being named.
const LEVELS_MAX: u32 = 32;

/// An image of which levels are to be made.
pub(super) struct Sizes<'a> {
    pub axes: &'a [Axis],
    /// Distance of neighbours along each axis.
    pub scale: &'a [f64],
    /// Shape, elements.
    pub shape: &'a [u64],
}

fn usage(message: String, hint: &str) -> Error {
    Error::Usage { message, hint: Some(Remedy::from(hint)) }
}

/// Factors of the levels beside the first, finest first. Refuses those that leave nothing, that are
/// no coarser than the level before, and that cannot be made from it.
pub(super) fn factors(request: &PyramidRequest, image: &Sizes<'_>) -> Result<Vec<Vec<u64>>, Error> {
    let names: Vec<String> = image.axes.iter().map(|axis| axis.name.clone()).collect();
    if let Some(axis) = image.shape.iter().position(|&extent| extent == 0) {
        let message =
            format!("the axis `{}` has no elements, of which to make levels", names[axis]);
        return Err(Error::Usage { message, hint: None });
    }
    let found = match &request.levels {
        LevelsRequest::Factors(factors) => {
            factors.resolve(&names).map_err(|error| named("the levels", error))?
        }
        LevelsRequest::Count(count) => {
            let most = usize::try_from((*count).min(LEVELS_MAX)).unwrap_or(usize::MAX);
            let found = halved(image, |levels, _| levels.len() < most);
            if *count > LEVELS_MAX || found.len() < most {
                let message = format!(
                    "there are {} levels below {:?}, not {count}",
                    found.len(),
                    image.shape
                );
                return Err(usage(message, "ask for fewer levels, or name their factors"));
            }
            found
        }
        LevelsRequest::Until(extent) => {
            let reach = (*extent).max(1);
            let is_long = |shape: &[u64]| {
                let axes = shape.iter().zip(image.axes);
                axes.into_iter()
                    .any(|(&length, axis)| axis.kind == AxisKind::Space && length > reach)
            };
            halved(image, |_, shape| is_long(shape))
        }
    };
    if found.is_empty() {
        let message = format!("no level is asked for of an image of {:?}", image.shape);
        return Err(usage(
            message,
            "it is small already; name factors to have levels all the same",
        ));
    }
    check(request, image, &found)?;
    Ok(found)
}

/// Factors of levels, each half the one before along the axes of space that are not coarser than
/// others. There is one more while `wants` says so of these, of which the last has that shape.
fn halved(image: &Sizes<'_>, wants: impl Fn(&[Vec<u64>], &[u64]) -> bool) -> Vec<Vec<u64>> {
    let mut found: Vec<Vec<u64>> = Vec::new();
    let mut factors = vec![1_u64; image.shape.len()];
    let mut shape = image.shape.to_vec();
    while wants(&found, &shape) && found.len() < LEVELS_MAX as usize {
        // An axis of one element is as coarse as can be.
        let may = |axis: &usize| image.axes[*axis].kind == AxisKind::Space && shape[*axis] > 1;
        let spacing = |axis: usize| image.scale[axis].abs() * factors[axis] as f64;
        let axes: Vec<usize> = (0..image.shape.len()).filter(may).collect();
        let finest = axes.iter().map(|&axis| spacing(axis)).fold(f64::INFINITY, f64::min);
        let halved: Vec<usize> =
            axes.into_iter().filter(|&axis| spacing(axis) < finest * 2.0).collect();
        if halved.is_empty() {
            break;
        }
        for axis in halved {
            factors[axis] = factors[axis].saturating_mul(2);
            shape[axis] = (image.shape[axis] / factors[axis]).max(1);
        }
        found.push(factors.clone());
    }
    found
}

fn check(request: &PyramidRequest, image: &Sizes<'_>, levels: &[Vec<u64>]) -> Result<(), Error> {
    let mut before = vec![1; image.shape.len()];
    for (number, factors) in levels.iter().enumerate() {
        let text = list(factors);
        let axes = factors.iter().zip(image.shape).zip(image.axes);
        for ((&factor, &extent), axis) in axes {
            if factor > extent {
                return Err(usage(
                    format!(
                        "level {}: the factor {factor} along `{}` leaves nothing of its {extent} \
                         elements",
                        number + 1,
                        axis.name
                    ),
                    "an axis that cannot shrink further keeps the factor of the level before",
                ));
            }
        }
        let is_coarser = factors.iter().zip(&before).all(|(own, before)| own >= before);
        if !is_coarser || *factors == before {
            return Err(usage(
                format!(
                    "level {}: the factors {text} are no coarser than {} of the level before",
                    number + 1,
                    list(&before)
                ),
                "factors are against level 0, and grow from level to level: 1,2,2;1,4,4",
            ));
        }
        let nests = factors.iter().zip(&before).all(|(own, before)| own.is_multiple_of(*before));
        if request.from == LevelsFrom::Previous && !nests {
            return Err(usage(
                format!(
                    "level {}: cells of {text} are not made up of those of {}, the level before",
                    number + 1,
                    list(&before)
                ),
                "compute it from the source (s0), or choose factors that divide each other",
            ));
        }
        before.clone_from(factors);
    }
    Ok(())
}

fn list(factors: &[u64]) -> String {
    factors.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Shape of a level.
pub(super) fn shape_of(size: LevelSize, shape: &[u64], factors: &[u64]) -> Vec<u64> {
    shape.iter().zip(factors).map(|(&extent, &factor)| size.of(extent, factor)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(names: &[&str]) -> Vec<Axis> {
        names.iter().map(|name| Axis::of_name(name)).collect()
    }

    fn found(levels: LevelsRequest, scale: &[f64], shape: &[u64]) -> Result<Vec<Vec<u64>>, Error> {
        let names = ["t", "c", "z", "y", "x"];
        let axes = axes(&names[names.len() - shape.len()..]);
        factors(&PyramidRequest::new(levels), &Sizes { axes: &axes, scale, shape })
    }

    #[test]
    fn a_coarse_axis_waits_until_the_others_are_as_coarse() {
        let levels = found(LevelsRequest::Count(4), &[4.0, 1.0, 1.0], &[64, 640, 640]).unwrap();
        assert_eq!(levels, [[1, 2, 2], [1, 4, 4], [2, 8, 8], [4, 16, 16]]);
        let levels = found(LevelsRequest::Until(70), &[1.0; 5], &[9, 3, 64, 300, 130]).unwrap();
        assert_eq!(levels, [[1, 1, 2, 2, 2], [1, 1, 4, 4, 4], [1, 1, 8, 8, 8]]);
    }

    #[test]
    fn an_axis_that_cannot_shrink_further_keeps_its_factor() {
        let levels = found(LevelsRequest::Count(3), &[1.0; 3], &[2, 16, 16]).unwrap();
        assert_eq!(levels, [[2, 2, 2], [2, 4, 4], [2, 8, 8]]);
        let error = found(LevelsRequest::Count(9), &[1.0; 3], &[2, 16, 16]).unwrap_err();
        assert!(error.to_string().contains("4 levels"), "{error}");
    }

    #[test]
    fn factors_that_make_no_levels_are_refused() {
        let asked = |text: &str| LevelsRequest::Factors(text.parse().unwrap());
        for (text, says) in [
            ("1,1,1", "no coarser"),
            ("1,2,2;1,2,2", "no coarser"),
            ("2,2,2;1,4,4", "no coarser"),
            ("4,1,1", "leaves nothing"),
            ("2,2", "2 factors"),
        ] {
            let error = found(asked(text), &[1.0; 3], &[3, 16, 16]).unwrap_err();
            assert!(error.to_string().contains(says), "{text}: {error}");
        }
        let mut request = PyramidRequest::new(asked("1,2,2;1,3,3"));
        let axes = axes(&["z", "y", "x"]);
        let image = Sizes { axes: &axes, scale: &[1.0; 3], shape: &[3, 16, 16] };
        assert!(factors(&request, &image).is_ok());
        request.from = LevelsFrom::Previous;
        assert!(factors(&request, &image).unwrap_err().to_string().contains("made up"));
    }
}
