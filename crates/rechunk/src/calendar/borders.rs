//! Chunks that end where months or years of the calendar do: lengths for all of them, counted from
//! every value of the coordinate.

use std::ops::Range;

use rechunk_array::ArrayError;
use rechunk_grid::{DataType, Endian};
use rechunk_words::{ChunkLengths, SpanUnit, TimeSpan};

use super::coordinate::number;
use super::since::Since;
use crate::elements::Chunks;
use crate::open::OpenArray;

/// Months of a span; `None` if it is counted in seconds.
pub(crate) fn months_of(span: TimeSpan) -> Option<i64> {
    let months = match span.unit {
        SpanUnit::Year => span.count.checked_mul(12)?,
        SpanUnit::Month => span.count,
        SpanUnit::Week | SpanUnit::Day | SpanUnit::Hour | SpanUnit::Minute | SpanUnit::Second => {
            return None;
        }
    };
    i64::try_from(months).ok()
}

/// Values of a coordinate that follow each other in the same months: number of the months, counted
/// from the year 0, and of the values.
pub(crate) type MonthRun = (i64, u64);

/// Months that the values of a coordinate lie in.
#[derive(Debug)]
pub(crate) struct Months {
    /// Those of the values, one after the other.
    pub runs: Vec<MonthRun>,
    /// The one of a value as far behind the last as that is behind the one before.
    pub next: Option<i64>,
}

/// Lengths of chunks along `axis` of `source`, each of `months` months of the calendar: a year, or
/// a part of it counted from January. Months without a value are no chunks. Reads the whole
/// `coordinate`, which is no part of the copy and is not counted. Whether the last is whole comes
/// with them: the next value would lie in another.
pub(super) async fn lengths(
    coordinate: &OpenArray,
    (source, axis): (&OpenArray, usize),
    months: i64,
) -> Result<(ChunkLengths, bool), String> {
    let Months { runs, next } = months_in(coordinate, of_array(source, axis)).await?;
    let spans = in_spans(&runs, months);
    let last = spans.last().map(|last| last.0);
    let is_whole = next.map(|next| next.div_euclid(months.max(1))) > last;
    let lengths = ChunkLengths::of_runs(spans.into_iter().map(|(_, length)| (length, 1)));
    let lengths = lengths.ok_or_else(|| format!("{} has no values", coordinate.location))?;
    Ok((lengths, is_whole))
}

/// Positions in the coordinate of `axis` of the elements of an array, which may be a region of one.
pub(crate) fn of_array(array: &OpenArray, axis: usize) -> Range<u64> {
    let first = array.origin().get(axis).copied().unwrap_or(0);
    first..first.saturating_add(array.spec().shape[axis])
}

/// The months that the values of a coordinate lie in, those in `range`. Reads all of it, which is
/// no part of a copy and is not counted.
pub(crate) async fn months_in(coordinate: &OpenArray, range: Range<u64>) -> Result<Months, String> {
    let since = Since::of_attributes(&coordinate.metadata.meaning())
        .or_else(|| Since::of_type(coordinate.spec().data_type))
        .ok_or_else(|| {
            let location = &coordinate.location;
            format!("{location} does not say a date that it counts days or shorter times from")
        })?;
    let mut runs = Runs { range, found: Vec::new(), last: None, step: 0 };
    walk(coordinate, |position, element, data_type| {
        runs.see(position, element, (&since, data_type))
    })
    .await?;
    let next = runs.last.and_then(|last| since.month(last.saturating_add(runs.step)));
    Ok(Months { runs: runs.found, next })
}

/// Puts months together, `months` at a time, counted from January of the year 0.
pub(crate) fn in_spans(runs: &[MonthRun], months: i64) -> Vec<MonthRun> {
    let mut spans: Vec<MonthRun> = Vec::new();
    for (month, length) in runs {
        let span = month.div_euclid(months.max(1));
        match spans.last_mut() {
            Some(last) if last.0 == span => last.1 = last.1.saturating_add(*length),
            _ => spans.push((span, *length)),
        }
    }
    spans
}

/// Months that values lie in, one after the other.
#[derive(Debug)]
struct Runs {
    /// Positions of the values that count.
    range: Range<u64>,
    found: Vec<MonthRun>,
    /// The last value, nanoseconds, and how far it is behind the one before.
    last: Option<i128>,
    step: i128,
}

impl Runs {
    fn see(
        &mut self,
        position: u64,
        element: &[u8],
        (since, data_type): (&Since, DataType),
    ) -> Result<(), String> {
        if !self.range.contains(&position) {
            return Ok(());
        }
        let moment = since.moment_of(element, data_type);
        let month = moment.and_then(|moment| since.month(moment));
        let (moment, month) =
            moment.zip(month).ok_or_else(|| format!("its value {position} is no time"))?;
        self.step = self.last.map_or(0, |last| moment.saturating_sub(last));
        self.last = Some(moment);
        match self.found.last_mut() {
            Some(last) if last.0 == month => last.1 += 1,
            Some(last) if last.0 > month => {
                return Err(format!("its value {position} is earlier than the one before"));
            }
            _ => self.found.push((month, 1)),
        }
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
