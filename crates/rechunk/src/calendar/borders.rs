//! Chunks that end where months or years of the calendar do: lengths for all of them, counted from
//! every value of the coordinate.

use rechunk_array::ArrayError;
use rechunk_grid::{DataType, Endian};
use rechunk_store::Stores;
use rechunk_words::{ChunkLengths, SpanUnit, TimeSpan};

use super::coordinate::{number, open};
use super::since::Since;
use crate::elements::Chunks;
use crate::open::OpenArray;

/// Months of a span; `None` if it is counted in seconds.
pub(super) fn months_of(span: TimeSpan) -> Option<i64> {
    let months = match span.unit {
        SpanUnit::Year => span.count.checked_mul(12)?,
        SpanUnit::Month => span.count,
        SpanUnit::Week | SpanUnit::Day | SpanUnit::Hour | SpanUnit::Minute | SpanUnit::Second => {
            return None;
        }
    };
    i64::try_from(months).ok()
}

/// Lengths of chunks along `axis` of `source`, each of `months` months of the calendar: a year, or
/// a part of it counted from January. Months without a value are no chunks. Reads the whole
/// coordinate, which is no part of the copy and is not counted.
pub(super) async fn lengths(
    (source, axis): (&OpenArray, usize),
    name: &str,
    months: i64,
    stores: &Stores,
) -> Result<ChunkLengths, String> {
    let array = open(source, axis, name, stores).await?;
    let extent = source.spec().shape[axis];
    let location = &array.location;
    let since = Since::of_attributes(&array.metadata.meaning())
        .or_else(|| Since::of_type(array.spec().data_type))
        .ok_or_else(|| {
            format!("{location} does not say a date that it counts days or shorter times from")
        })?;
    let first = first_of(source, axis);
    let mut runs = Runs { months, first, until: first.saturating_add(extent), ..Runs::default() };
    walk(&array, |position, element, data_type| runs.see(position, element, (&since, data_type)))
        .await?;
    let lengths = runs.lengths.into_iter().map(|length| (length, 1));
    ChunkLengths::of_runs(lengths).ok_or_else(|| format!("{location} has no values"))
}

/// Position in its coordinate of the first element of an array, of which a region may be read.
fn first_of(source: &OpenArray, axis: usize) -> u64 {
    source.region.as_ref().and_then(|(_, region)| region.start.get(axis)).copied().unwrap_or(0)
}

/// Lengths of runs of values in one group of months.
#[derive(Debug, Default)]
struct Runs {
    /// Months of a group.
    months: i64,
    /// Values that count: from the first up to and without the other.
    first: u64,
    until: u64,
    group: Option<i64>,
    lengths: Vec<u64>,
}

impl Runs {
    fn see(
        &mut self,
        position: u64,
        element: &[u8],
        (since, data_type): (&Since, DataType),
    ) -> Result<(), String> {
        if !(self.first..self.until).contains(&position) {
            return Ok(());
        }
        let month = since.moment_of(element, data_type).and_then(|moment| since.month(moment));
        let month = month.ok_or_else(|| format!("its value {position} is no time"))?;
        let group = month.div_euclid(self.months.max(1));
        match self.group {
            Some(before) if before == group => {
                if let Some(last) = self.lengths.last_mut() {
                    *last += 1;
                }
            }
            Some(before) if before > group => {
                return Err(format!("its value {position} is earlier than the one before"));
            }
            _ => self.lengths.push(1),
        }
        self.group = Some(group);
        Ok(())
    }
}

/// Hands every value of an array of one axis to `see`, little-endian, in its order.
async fn walk(
    array: &OpenArray,
    mut see: impl FnMut(u64, &[u8], DataType) -> Result<(), String>,
) -> Result<(), String> {
    let parts = Chunks::of(array).map_err(|error| error.chain().join(": "))?;
    let why = |error: ArrayError| format!("{}: {error}", array.location);
    let (grid, data_type) = (parts.grid(), parts.spec().data_type);
    let item = usize::try_from(data_type.item_bytes()).unwrap_or(1).max(1);
    let extent = parts.spec().shape.first().copied().unwrap_or(0);
    let mut scratch = Vec::new();
    for index in grid.indices().positions() {
        let chunk = grid.chunk(&index);
        let (start, length) = (chunk.start[0], chunk.shape[0]);
        let encoded = parts.fetch(&index).await.map_err(why)?;
        let decoded = match &encoded {
            Some(encoded) => parts.decode(&index, encoded, &mut scratch).map_err(why)?,
            None => &[],
        };
        let missing = || format!("{}: its chunk {index:?} is missing", array.location);
        let fill = if encoded.is_none() { parts.fill().ok_or_else(missing)? } else { &[] };
        let is_big = parts.element_order().endian == Endian::Big && encoded.is_some();
        let mut element = Vec::with_capacity(item);
        for at in 0..length.min(extent.saturating_sub(start)) {
            let from = usize::try_from(at).unwrap_or(usize::MAX).saturating_mul(item);
            let stored = if encoded.is_some() {
                decoded.get(from..from.saturating_add(item)).ok_or_else(missing)?
            } else {
                fill
            };
            element.clear();
            element.extend_from_slice(stored);
            if is_big {
                element.reverse();
            }
            if number(&element, 0, data_type, Endian::Little).is_none() {
                let location = &array.location;
                return Err(format!("{location}: its value {} is none", start + at));
            }
            see(start + at, &element, data_type)
                .map_err(|reason| format!("{}: {reason}", array.location))?;
        }
    }
    Ok(())
}
