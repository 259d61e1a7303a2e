//! Chunks as long as a time: `--chunks time=30D` means as many elements as the coordinate of the
//! axis has in 30 days.

mod borders;
mod coordinate;
mod dates;
mod length;
mod since;
mod spacing;
mod units;

pub(crate) use borders::{MonthRun, in_spans, months_in, months_of, of_array};
pub(crate) use coordinate::{beside, number, open as open_coordinate};
pub(crate) use since::Since;
pub(crate) use spacing::Number;

use rechunk_grid::ArraySpec;
use rechunk_store::Stores;
use rechunk_words::{ChunkLengths, ChunkSpec, Extent, ShardSpec, TimeSpan, axis_in_words};

use crate::formats::Fact;
use crate::open::OpenArray;
use crate::{CopyRequest, Error};
use coordinate::Coordinate;

/// Puts numbers of elements in the place of times in `--chunks` and `--shards`; what each became,
/// in words: `time=30D (720)`. Reads coordinates, where there are times.
pub(crate) async fn resolve(
    request: &mut CopyRequest,
    source: &OpenArray,
    stores: &Stores,
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    let format = request.target_format();
    let takes_lengths = format.has(Fact::ChunkLengths) && request.apply.is_none();
    let mut sizes = Sizes { source, stores, takes_lengths, read: Vec::new() };
    if let Some((chunks, more)) = sizes.numbers("--chunks", &request.chunks).await? {
        request.chunks = chunks;
        notes.extend(more);
    }
    if let Some(ShardSpec::Shape(shape)) = &request.shards
        && let Some((shape, more)) = sizes.numbers("--shards", shape).await?
    {
        request.shards = Some(ShardSpec::Shape(shape));
        notes.extend(more.into_iter().map(|note| format!("shards {note}")));
    }
    Ok(notes)
}

/// `3 chunks of 28 to 31`: a number of chunks, with the length of the shortest and of the longest.
pub(crate) fn chunks_in_words(count: u64, (shortest, longest): (u64, u64)) -> String {
    match (count, shortest == longest) {
        (1, _) => format!("a chunk of {longest}"),
        (_, true) => format!("{count} chunks of {longest}"),
        _ => format!("{count} chunks of {shortest} to {longest}"),
    }
}

/// Turns times along the axes of an array into numbers of elements.
struct Sizes<'a> {
    source: &'a OpenArray,
    stores: &'a Stores,
    /// Chunks of the target may differ in length.
    takes_lengths: bool,
    /// Coordinates that were read, by axis.
    read: Vec<(usize, Coordinate)>,
}

impl Sizes<'_> {
    /// `wanted` with numbers in the place of times, and what each became; `None` if there is no
    /// time.
    async fn numbers(
        &mut self,
        option: &str,
        wanted: &ChunkSpec,
    ) -> Result<Option<(ChunkSpec, Vec<String>)>, Error> {
        let (spec, mut notes) = (self.source.spec(), Vec::new());
        let mut wanted = wanted.clone();
        for (position, (name, extent)) in wanted.entries_mut().into_iter().enumerate() {
            let Extent::Span { span, is_kept } = *extent else { continue };
            let name = match name {
                Some(name) => name.to_owned(),
                None => name_of(option, span, spec, position)?,
            };
            let axis = spec.axis_named(&name).ok_or_else(|| {
                usage(option, &format!("there is no dimension `{name}`"), "see `rechunk info`")
            })?;
            if self.takes_lengths && self.is_of_calendar(span, axis, &name).await {
                let (lengths, is_whole) = self.lengths(option, span, axis, &name).await?;
                let (shortest, longest) = lengths.range();
                // A last month that is shorter because it is whole is no part of a longer one.
                let regular = lengths.regular().filter(|_| !is_whole || shortest == longest);
                let said = chunks_in_words(lengths.count(), (shortest, longest));
                notes.push(format!("{name}={span} ({said})"));
                *extent = regular.map_or(Extent::Lengths(lengths), Extent::Elements);
                continue;
            }
            let elements = self.elements(option, span, axis, &name).await?;
            *extent = if is_kept { Extent::Exactly(elements) } else { Extent::Elements(elements) };
            notes.push(format!("{name}={span} ({elements})"));
        }
        Ok((!notes.is_empty()).then_some((wanted, notes)))
    }

    /// Whether chunks of `span` along `axis` differ in length. Those of months and years of the
    /// calendar do, where no number of elements is as long as each.
    async fn is_of_calendar(&mut self, span: TimeSpan, axis: usize, name: &str) -> bool {
        if months_of(span).is_none() {
            return false;
        }
        match self.coordinate(axis, name).await {
            Ok(coordinate) => coordinate.elements(span).is_err(),
            Err(_) => false, // it is told where it is read
        }
    }

    /// Lengths of chunks of `axis` that are months or years of the calendar; true if the last of
    /// those is whole.
    async fn lengths(
        &mut self,
        option: &str,
        span: TimeSpan,
        axis: usize,
        name: &str,
    ) -> Result<(ChunkLengths, bool), Error> {
        let months = months_of(span).unwrap_or(1);
        let place = (self.source, axis);
        let lengths = match self.coordinate(axis, name).await {
            Ok(coordinate) => borders::lengths(&coordinate.array, place, months).await,
            Err(reason) => Err(reason),
        };
        lengths.map_err(|reason| {
            let what = format!("{name}={span}: {reason}");
            usage(option, &what, "give a number of elements, or lengths like 31+28+31")
        })
    }

    /// The coordinate of `axis`, read once; why it cannot be read otherwise.
    async fn coordinate(&mut self, axis: usize, name: &str) -> Result<&Coordinate, String> {
        let known = self.read.iter().position(|(other, _)| *other == axis);
        let known = if let Some(known) = known {
            known
        } else {
            let read = Coordinate::read(self.source, axis, name, self.stores).await?;
            self.read.push((axis, read));
            self.read.len() - 1
        };
        Ok(&self.read[known].1)
    }

    /// Elements of `axis` in `span`.
    async fn elements(
        &mut self,
        option: &str,
        span: TimeSpan,
        axis: usize,
        name: &str,
    ) -> Result<u64, Error> {
        let coordinate = self.coordinate(axis, name).await.map_err(|reason| {
            let what = format!("{name}={span}: {reason}");
            usage(option, &what, "give a number of elements")
        })?;
        coordinate.elements(span).map_err(|(reason, suggested)| {
            let hint = match suggested.filter(|&elements| elements > 0) {
                Some(elements) => format!("give a number of elements, e.g. {name}={elements}"),
                None => "give a number of elements".to_owned(),
            };
            usage(option, &format!("{name}={span}: {reason}"), &hint)
        })
    }
}

/// The name of an axis that is meant by its position.
fn name_of(option: &str, span: TimeSpan, spec: &ArraySpec, axis: usize) -> Result<String, Error> {
    spec.dimension_name(axis).map(str::to_owned).ok_or_else(|| {
        let axis = axis_in_words(spec, axis);
        let reason = format!("{span} along {axis}: it has no name, and so no coordinate");
        usage(option, &reason, "give a number of elements")
    })
}

/// Refusal of what `option` says.
fn usage(option: &str, reason: &str, hint: &str) -> Error {
    Error::Usage { message: format!("{option}: {reason}"), hint: Some(hint.into()) }
}

#[cfg(test)]
mod tests;
