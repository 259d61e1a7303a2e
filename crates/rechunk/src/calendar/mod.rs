//! Chunks as long as a time: `--chunks time=30D` means as many elements as the coordinate of the
//! axis has in 30 days.

mod coordinate;
mod dates;
mod length;
mod since;
mod spacing;
mod units;

pub(crate) use coordinate::{beside, number};
pub(crate) use since::Since;
pub(crate) use spacing::Number;

use rechunk_grid::ArraySpec;
use rechunk_store::Stores;
use rechunk_words::{ChunkSpec, Extent, ShardSpec, TimeSpan, axis_in_words};

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
    let mut sizes = Sizes { source, stores, read: Vec::new() };
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

/// Turns times along the axes of an array into numbers of elements.
struct Sizes<'a> {
    source: &'a OpenArray,
    stores: &'a Stores,
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
            let elements = self.elements(option, span, axis, &name).await?;
            *extent = if is_kept { Extent::Exactly(elements) } else { Extent::Elements(elements) };
            notes.push(format!("{name}={span} ({elements})"));
        }
        Ok((!notes.is_empty()).then_some((wanted, notes)))
    }

    /// Elements of `axis` in `span`.
    async fn elements(
        &mut self,
        option: &str,
        span: TimeSpan,
        axis: usize,
        name: &str,
    ) -> Result<u64, Error> {
        let known = self.read.iter().position(|(other, _)| *other == axis);
        let known = if let Some(known) = known {
            known
        } else {
            let read = Coordinate::read(self.source, axis, name, self.stores).await;
            let read = read.map_err(|reason| {
                let what = format!("{name}={span}: {reason}");
                usage(option, &what, "give a number of elements")
            })?;
            self.read.push((axis, read));
            self.read.len() - 1
        };
        let (_, coordinate) = &self.read[known];
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
