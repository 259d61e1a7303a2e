//! An image in several resolutions, as the description of a group has it: its levels, and what is
//! wrong with them.

use rechunk_array::RegionOptions;
use rechunk_grid::{DataType, Region};
use rechunk_image::{FoundImage, check_image, read_image, true_factors};
use rechunk_reduce::{Method, Rounding, reduce};
use rechunk_store::Stores;
use rechunk_zarr::GroupMetadata;
use serde::Serialize;

use crate::Error;
use crate::formats::{Fact, Format};
use crate::member_location::member_location;
use crate::open::{OpenArray, OpenOptions, open_array};

/// Elements of a level that are compared with level 0.
const SAMPLES: u64 = 16;
/// Largest box of level 0 that is read for one of them, elements.
const CELL_MAX: u64 = 1 << 22;
/// Part of the samples that have to be unlike for a level to be told of.
const UNLIKE: u64 = 2;

/// An image in several resolutions.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ImageInfo {
    /// Dialect of its description.
    pub dialect: String,
    /// Its name.
    pub name: Option<String>,
    /// Names of its axes with their units, slowest first: `z (micrometer)`.
    pub axes: Vec<String>,
    /// It is an image of labels.
    pub is_label: bool,
    /// Its levels, in the order of the description.
    pub levels: Vec<ImageLevel>,
    /// Faults of the description and of the levels, in sentences.
    pub problems: Vec<String>,
}

/// A level of an image. Lists are in C order.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ImageLevel {
    /// Path of its array.
    pub path: String,
    /// Shape of its array, elements; absent where there is none.
    pub shape: Option<Vec<u64>>,
    /// Elements of level 0 for each of its own along each axis, as shapes have them.
    pub factors: Option<Vec<f64>>,
    /// Distance of neighbours, in the units of the axes, as the description says it.
    pub scale: Option<Vec<f64>>,
    /// Place of element 0, in the units of the axes, as the description says it.
    pub translation: Option<Vec<f64>>,
    /// Methods that give all elements that were compared; absent where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<String>>,
}

/// Describes the image of a group, if it describes one; `shape_of` has the shapes of its arrays by
/// path. With `stores`, elements are compared.
pub(crate) async fn image_info(
    location: &str,
    (format, group): (Format, &GroupMetadata),
    shape_of: impl Fn(&str) -> Option<Vec<u64>>,
    (options, stores): (&OpenOptions, Option<&Stores>),
) -> Result<Option<ImageInfo>, Error> {
    let Some(found) = read_image(&group.attributes) else { return Ok(None) };
    let shapes: Vec<Vec<u64>> = found
        .levels
        .iter()
        .map(|level| shape_of(level.path.trim_matches('/')).unwrap_or_default())
        .collect();
    let mut problems = check_image(&found, &shapes);
    let factors = true_factors(&found, &shapes);
    let mut levels = Vec::with_capacity(found.levels.len());
    for ((level, shape), factors) in found.levels.iter().zip(&shapes).zip(factors) {
        levels.push(ImageLevel {
            path: level.path.clone(),
            shape: Some(shape.clone()).filter(|shape| !shape.is_empty()),
            factors,
            scale: level.scale.clone(),
            translation: level.translation.clone(),
            methods: None,
        });
    }
    if let Some(stores) = stores {
        let sampled = sample(location, &found, &mut levels, (options, stores)).await;
        // What cannot be read is told by who reads it.
        problems.extend(sampled.unwrap_or_default());
    }
    let axes = found.axes.iter().map(|axis| match &axis.unit {
        Some(unit) => format!("{} ({unit})", axis.name),
        None => axis.name.clone(),
    });
    // The attributes of scales are made up for who knows the attributes of N5 only.
    let dialect = if format.has(Fact::Levels) { format.usual_dialect() } else { found.dialect };
    Ok(Some(ImageInfo {
        dialect: dialect.name().to_owned(),
        name: found.name.clone(),
        axes: axes.collect(),
        is_label: found.is_label,
        levels,
        problems,
    }))
}

/// Compares a few elements of each level with those of level 0 that they stand for.
async fn sample(
    location: &str,
    found: &FoundImage,
    levels: &mut [ImageLevel],
    (options, stores): (&OpenOptions, &Stores),
) -> Result<Vec<String>, Error> {
    let mut problems = Vec::new();
    let Some(first) = found.levels.first() else { return Ok(problems) };
    let open = async |path: &str| -> Result<OpenArray, Error> {
        open_array(&member_location(location, path), options, stores).await
    };
    let base = open(&first.path).await?;
    for level in levels.iter_mut().skip(1) {
        let Some(factors) = level.factors.as_deref().and_then(whole) else { continue };
        if factors.iter().all(|&factor| factor == 1) || level.shape.is_none() {
            continue;
        }
        let array = open(&level.path).await?;
        if array.spec().data_type != base.spec().data_type {
            problems.push(format!("level {:?} has another type than level 0", level.path));
            continue;
        }
        let Some(sampled) = compare(&base, &array, &factors).await? else { continue };
        let Sampled { methods, count, beyond } = sampled;
        if beyond.saturating_mul(UNLIKE) > count {
            problems.push(format!(
                "level {:?} is not level 0 by {:?}: {beyond} of {count} elements that were compared \
                 lie beyond all of level 0 around them",
                level.path, factors
            ));
        }
        level.methods = Some(methods);
    }
    Ok(problems)
}

/// Factors that are whole numbers.
fn whole(factors: &[f64]) -> Option<Vec<u64>> {
    let one = |factor: &f64| {
        let is_whole = *factor >= 1.0 && *factor < 1e9 && factor.fract() == 0.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small whole number"
        )]
        let number = *factor as u64;
        is_whole.then_some(number)
    };
    factors.iter().map(one).collect()
}

/// Outcome of comparing a level.
struct Sampled {
    /// Methods that give all elements.
    methods: Vec<String>,
    /// Elements that were compared.
    count: u64,
    /// Of these, those that are less or more than all of level 0 around their cells.
    beyond: u64,
}

/// Methods that give all elements of a level that were compared; `None` where none was.
pub(crate) async fn methods_of(
    base: &OpenArray,
    level: &OpenArray,
    factors: &[u64],
) -> Result<Option<Vec<String>>, Error> {
    Ok(compare(base, level, factors).await?.map(|sampled| sampled.methods))
}

async fn compare(
    base: &OpenArray,
    level: &OpenArray,
    factors: &[u64],
) -> Result<Option<Sampled>, Error> {
    let data_type = base.spec().data_type;
    let around: u64 = factors.iter().map(|factor| factor.saturating_mul(3)).product();
    if Method::Mean.check(data_type).is_err()
        || around > CELL_MAX
        || level.spec().shape.contains(&0)
    {
        return Ok(None);
    }
    let tried: Vec<(Method, Rounding)> =
        [Method::Mode, Method::Median, Method::Min, Method::Max, Method::Stride]
            .map(|method| (method, Rounding::HalfAway))
            .into_iter()
            .chain(Rounding::ALL.map(|rounding| (Method::Mean, rounding)))
            .collect();
    let mut fits = vec![true; tried.len()];
    let (mut count, mut beyond) = (0, 0);
    let shape = &level.spec().shape;
    for number in 0..SAMPLES {
        let share = |axis: usize, extent: u64| {
            // Spread over all axes by odd steps.
            let step = [5, 7, 11, 3, 13][axis % 5];
            (number * step + number / 2) % SAMPLES * extent / SAMPLES
        };
        let index: Vec<u64> = shape.iter().enumerate().map(|(axis, &n)| share(axis, n)).collect();
        let Some((cell, wide)) = boxes(&index, factors, &base.spec().shape) else { continue };
        let own = Region::new(index.clone(), vec![1; index.len()]);
        let (value, elements, all) =
            (bytes(level, &own).await?, bytes(base, &cell).await?, bytes(base, &wide).await?);
        count += 1;
        for ((method, rounding), fits) in tried.iter().zip(&mut fits) {
            let mut made = vec![0; value.len()];
            let done = reduce(
                *method,
                *rounding,
                data_type,
                &elements,
                &cell.shape,
                &cell.shape,
                &mut made,
            );
            *fits &= done.is_ok() && made == value;
        }
        let bound = |method: Method| {
            let mut made = vec![0; value.len()];
            let done = reduce(
                method,
                Rounding::HalfAway,
                data_type,
                &all,
                &wide.shape,
                &wide.shape,
                &mut made,
            );
            done.ok().map(|()| made)
        };
        if let (Some(low), Some(high)) = (bound(Method::Min), bound(Method::Max)) {
            beyond += u64::from(!is_between(data_type, (&low, &high), &value));
        }
    }
    let mut methods: Vec<String> = Vec::new();
    for ((method, _), _) in tried.iter().zip(&fits).filter(|(_, fits)| **fits) {
        if !methods.iter().any(|known| known == method.name()) {
            methods.push(method.name().to_owned());
        }
    }
    Ok((count > 0).then_some(Sampled { methods, count, beyond }))
}

/// The elements of level 0 of a cell, and those of the cells around it too.
fn boxes(index: &[u64], factors: &[u64], shape: &[u64]) -> Option<(Region, Region)> {
    let mut cell = Region::new(index.to_vec(), factors.to_vec());
    for (start, factor) in cell.start.iter_mut().zip(factors) {
        *start = start.checked_mul(*factor)?;
    }
    let whole = Region::whole(shape);
    let mut wide = cell.clone();
    for (axis, factor) in factors.iter().enumerate() {
        let before = cell.start[axis].min(*factor);
        wide.start[axis] -= before;
        wide.shape[axis] += before + factor;
    }
    Some((cell.intersect(&whole)?, wide.intersect(&whole)?))
}

async fn bytes(array: &OpenArray, region: &Region) -> Result<Vec<u8>, Error> {
    let item_bytes = array.spec().item_bytes();
    let length = usize::try_from(region.elements().saturating_mul(item_bytes)).unwrap_or(0);
    let mut bytes = vec![0; length];
    let read = array.array.read_region_into(region, &mut bytes, &RegionOptions::default()).await;
    let location = || array.location.clone();
    read.map_err(|source| Error::ReadRegion { location: location(), source: Box::new(source) })?;
    Ok(bytes)
}

/// True if a value lies between two: it is no new least and no new largest of them. Also where one
/// of them is not a number.
fn is_between(data_type: DataType, (low, high): (&[u8], &[u8]), value: &[u8]) -> bool {
    let of_two = |method: Method, bound: &[u8]| {
        let mut made = vec![0; value.len()];
        let both = [bound, value].concat();
        let done = reduce(method, Rounding::HalfAway, data_type, &both, &[2], &[2], &mut made);
        done.is_err() || made == bound
    };
    of_two(Method::Min, low) && of_two(Method::Max, high)
}
