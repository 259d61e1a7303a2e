//! The coordinate of an axis: an array of one axis beside the array, named like the dimension.

use rechunk_array::ArrayError;
use rechunk_grid::{ChunkGrid, DataType, Endian};
use rechunk_store::{Meter, Stores, check_below};
use rechunk_words::TimeSpan;

use super::length::Length;
use super::spacing::{Irregular, Number, Spacing, Spacings};
use super::units::Units;
use crate::elements::Chunks;
use crate::member_location::member_location;
use crate::open::{OpenArray, OpenOptions, open_array};

/// Most chunks, or shards, of a coordinate that are read: of more, the first, the last, and some
/// between.
const CHUNKS_MAX: u64 = 64;

/// Name, units and spacing of a coordinate.
#[derive(Debug)]
pub(super) struct Coordinate {
    /// The array that holds it.
    pub array: OpenArray,
    name: String,
    units: Units,
    spacing: Result<Spacing, Irregular>,
}

impl Coordinate {
    /// Reads the coordinate of `axis` of `source`; why that cannot be done otherwise. What is asked
    /// of the store is no part of the copy and is not counted.
    pub(super) async fn read(
        source: &OpenArray,
        axis: usize,
        name: &str,
        stores: &Stores,
    ) -> Result<Self, String> {
        let array = open(source, axis, name, stores).await?;
        let (spec, location) = (array.spec(), &array.location);
        let units = Units::of(spec.data_type, &array.metadata.meaning());
        let units = units.map_err(|reason| format!("the coordinate {location}: {reason}"))?;
        let spacing = spacings(&array).await?.spacing();
        let spacing = spacing.ok_or_else(|| format!("{location} has one value, and no spacing"))?;
        Ok(Self { name: name.to_owned(), units, spacing, array })
    }

    /// Elements in `span`; why there is no such number, and one that is near, otherwise.
    pub(super) fn elements(&self, span: TimeSpan) -> Result<u64, (String, Option<u64>)> {
        let length = Length::of(span);
        let mean = self.spacing.map_or_else(|found| found.mean.abs(), |found| found.step);
        let about = whole(self.units.about(length) / mean);
        let spacing = self.spacing.map_err(|found| (self.irregular(found), about))?;
        if spacing.step == 0.0 {
            return Err((format!("the values of `{}` are all the same", self.name), None));
        }
        let values = self.units.in_values(length).map_err(|reason| (reason, about))?;
        let elements = values / spacing.step;
        let tolerance = elements * (spacing.slack / spacing.step + 1e-9);
        let nearest = elements.round();
        if nearest >= 1.0 && (elements - nearest).abs() <= tolerance.min(0.25) {
            return whole(nearest).ok_or_else(|| ("that is too long".to_owned(), None));
        }
        let step = self.units.one.times(spacing.step);
        let below = whole(elements.floor()).unwrap_or(0);
        let reason = format!(
            "the values of `{}` are {step} apart, and that is no whole number of them: {below} are \
             shorter, {} longer",
            self.name,
            below.saturating_add(1)
        );
        Err((reason, whole(nearest.max(1.0))))
    }

    fn irregular(&self, found: Irregular) -> String {
        let length = |spacing: f64| self.units.one.times(spacing.abs());
        let order =
            if found.other.signum() == found.first.signum() { "" } else { ", the other way" };
        format!(
            "the values of `{}` are not evenly spaced: the first two are {} apart, those from {} on \
             {}{order}",
            self.name,
            length(found.first),
            found.at,
            length(found.other)
        )
    }
}

/// Opens the coordinate of `axis` of `source`; why that cannot be done otherwise. What is asked of
/// the store is no part of the copy and is not counted.
pub(crate) async fn open(
    source: &OpenArray,
    axis: usize,
    name: &str,
    stores: &Stores,
) -> Result<OpenArray, String> {
    let is_name = !name.contains('/') && check_below(name).is_ok();
    let location = is_name.then(|| beside(&source.location, name));
    let location =
        location.ok_or_else(|| format!("{name:?} is no name that a coordinate could have"))?;
    let stores = stores.with_meter(&Meter::new());
    let opened = open_array(&location, &OpenOptions::default(), &stores).await;
    let array = opened.map_err(|error| {
        format!("the coordinate {location} is needed for that: {}", error.chain().join(": "))
    })?;
    let spec = array.spec();
    let [extent] = spec.shape[..] else {
        return Err(format!("the coordinate {location} has {} axes", spec.shape.len()));
    };
    if extent < source.spec().shape[axis] {
        let wanted = source.spec().shape[axis];
        return Err(format!("the coordinate {location} has {extent} values for {wanted}"));
    }
    Ok(array)
}

/// A number of elements: at least one.
fn whole(elements: f64) -> Option<u64> {
    let rounded = elements.round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is in the range"
    )]
    let whole = (0.0..9e15).contains(&rounded).then_some(rounded as u64);
    whole
}

/// The array `name` in the group that `location` is in.
pub(crate) fn beside(location: &str, name: &str) -> String {
    let location = location.trim_end_matches('/');
    match location.rsplit_once('/') {
        // These are not the name that it has in its group.
        _ if location.split('/').next_back().is_some_and(|name| matches!(name, "." | "..")) => {
            member_location(&format!("{location}/.."), name)
        }
        Some((group, _)) => member_location(group, name),
        None => name.to_owned(),
    }
}

/// Looks at the values of an array of one axis, a chunk at a time, or a shard.
async fn spacings(array: &OpenArray) -> Result<Spacings, String> {
    let parts = Chunks::of(array).map_err(|error| error.chain().join(": "))?;
    let why = |error: ArrayError| format!("{}: {error}", array.location);
    let (grid, data_type) = (parts.grid(), parts.spec().data_type);
    let epsilon = match data_type {
        DataType::Float32 => f64::from(f32::EPSILON),
        DataType::Float64 => f64::EPSILON,
        _ => 0.0,
    };
    let mut spacings = Spacings::new(epsilon);
    let mut scratch = Vec::new();
    for index in chunks(grid) {
        let encoded = parts.fetch(&[index]).await.map_err(why)?;
        let (values, endian) = if let Some(encoded) = &encoded {
            let decoded = parts.decode(&[index], encoded, &mut scratch).map_err(why)?;
            (decoded, parts.element_order().endian)
        } else {
            let missing = || format!("{}: its chunk [{index}] is missing", array.location);
            (parts.fill().ok_or_else(missing)?, Endian::Little)
        };
        let chunk = grid.chunk(&[index]);
        let valid = chunk.shape[0].min(parts.spec().shape[0].saturating_sub(chunk.start[0]));
        for (offset, at) in (0..valid).enumerate() {
            let position = chunk.start[0].saturating_add(at);
            let offset = if encoded.is_some() { offset } else { 0 };
            let number = number(values, offset, data_type, endian).ok_or_else(|| {
                let location = &array.location;
                format!("{location}: its value {position} is none, or of no type that counts time")
            })?;
            spacings.see(position, number);
        }
    }
    Ok(spacings)
}

/// Which chunks are looked at.
fn chunks(grid: &ChunkGrid) -> Vec<u64> {
    let count = grid.count();
    if count <= CHUNKS_MAX {
        return (0..count).collect();
    }
    let ends = CHUNKS_MAX / 4;
    let between = (1..CHUNKS_MAX - 2 * ends).map(|at| {
        let inner =
            u128::from(count - 2 * ends) * u128::from(at) / u128::from(CHUNKS_MAX - 2 * ends);
        ends + u64::try_from(inner).unwrap_or(0)
    });
    (0..ends).chain(between).chain(count - ends..count).collect()
}

/// The value at `offset`; `None` for what is no number, or of a type that is none.
pub(crate) fn number(
    chunk: &[u8],
    offset: usize,
    data_type: DataType,
    endian: Endian,
) -> Option<Number> {
    let item = usize::try_from(data_type.item_bytes()).ok()?;
    let start = offset.checked_mul(item)?;
    let stored = chunk.get(start..start.checked_add(item)?)?;
    let mut bytes = [0_u8; 8];
    bytes.get_mut(..item)?.copy_from_slice(stored);
    if endian == Endian::Big {
        bytes.get_mut(..item)?.reverse();
    }
    let unsigned = u64::from_le_bytes(bytes);
    let shift = u32::try_from(64_usize.checked_sub(8 * item)?).ok()?;
    let signed = (unsigned.cast_signed() << shift) >> shift;
    match data_type {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            Some(Number::Integer(signed.into()))
        }
        DataType::Uint8 | DataType::Uint16 | DataType::Uint32 | DataType::Uint64 => {
            Some(Number::Integer(unsigned.into()))
        }
        // The smallest is no time (NaT).
        DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. } => {
            (signed != i64::MIN).then_some(Number::Integer(signed.into()))
        }
        DataType::Float32 => {
            let [a, b, c, d, ..] = bytes;
            let float = f32::from_le_bytes([a, b, c, d]);
            float.is_finite().then_some(Number::Float(float.into()))
        }
        DataType::Float64 => {
            let float = f64::from_le_bytes(bytes);
            float.is_finite().then_some(Number::Float(float))
        }
        _ => None,
    }
}
