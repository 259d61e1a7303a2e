//! Lengths of the chunks that an array gets behind its last one, where they may differ.

use rechunk_grid::{ArraySpec, AxisChunks, AxisEdges};
use rechunk_words::{ChunkLengths, ChunkSpec, Extent, ShardSpec, TimeSpan, axis_in_words};

use super::{Asked, CHUNKS, Change, Growth, SHARDS};
use crate::calendar::{
    MonthRun, chunks_in_words, in_spans, months_in, months_of, of_array, open_coordinate,
};
use crate::formats::Fact;
use crate::open::OpenArray;
use crate::tree::is_coordinate;
use crate::{Error, Remedy};

/// Months of a chunk that are looked for in a grid whose chunks may be some of the calendar.
const SPANS: [i64; 12] = [1, 2, 3, 4, 6, 12, 24, 36, 48, 60, 120, 1200];

/// Length of chunks, and how many there are of it.
type Run = (u64, u64);

/// Chunks along the axis that grows.
#[derive(Debug)]
pub(super) struct Lengths {
    /// Ends of all of them; `None` where they keep the one length that they have.
    pub ends: Option<AxisEdges>,
    /// Way in which the new ones were found, in words: `time=1M (3 chunks of 28 to 31)`.
    pub said: String,
}

/// The array that grows along an axis.
struct Growing<'a> {
    asked: &'a Asked<'a>,
    source: &'a OpenArray,
    target: &'a OpenArray,
    spec: ArraySpec,
    axis: usize,
    /// Elements along it, before and after.
    before: u64,
    after: u64,
}

/// Works out the chunks that the source goes into; `None` where the grid stays regular and nothing
/// else was asked for.
pub(super) async fn lengths(
    asked: &Asked<'_>,
    (source, target): (&OpenArray, &OpenArray),
    growth: &Growth,
    change: &Change,
) -> Result<Option<Lengths>, Error> {
    let spec = target.metadata.spec();
    let Some(axis) = growth.axis else { return Ok(None) };
    let (before, after) = (growth.before[axis], growth.after[axis]);
    let grown = Growing { asked, source, target, spec, axis, before, after };
    let wish = grown.wish()?;
    let Some((runs, end)) = grown.there(wish.as_ref())? else { return Ok(None) };
    let own = grown.edges();
    if wish.is_none()
        && let Some(listed) = own.and_then(|_| change.listed_ends(&growth.after, axis))
    {
        let said = format!("{}: as its grid lists them", grown.name());
        return Ok(Some(Lengths { ends: Some(listed), said }));
    }
    if after <= end {
        let said = format!("{}: what the last chunk has room for", grown.name());
        return Ok(Some(Lengths { ends: own.cloned(), said }));
    }
    let (word, more) = grown.new_runs(wish, end).await?;
    let (shortest, longest) =
        more.iter().fold((u64::MAX, 0), |(least, most), run| (least.min(run.0), most.max(run.0)));
    let count: u64 = more.iter().map(|run| run.1).sum();
    let chunks = chunks_in_words(count, (shortest, longest));
    let said = format!("{}={word} ({chunks})", grown.name());
    let chunks = AxisChunks::of_runs(axis, after, runs.into_iter().chain(more));
    let chunks = chunks.map_err(|error| grown.usage(&error.to_string(), "give other lengths"))?;
    Ok(Some(Lengths { ends: chunks.into_edges(), said }))
}

impl Growing<'_> {
    fn edges(&self) -> Option<&AxisEdges> {
        self.spec.edges.as_ref().and_then(|edges| edges.axis(self.axis))
    }

    fn name(&self) -> String {
        let name = self.spec.dimension_name(self.axis);
        name.map_or_else(|| format!("axis {}", self.axis), str::to_owned)
    }

    /// The option that is for the chunks of the grid, and the one that is not.
    fn options(&self) -> (&'static str, &'static str) {
        if self.target.metadata.has_shards() { (SHARDS, CHUNKS) } else { (CHUNKS, SHARDS) }
    }

    fn usage(&self, reason: &str, hint: impl Into<Remedy>) -> Error {
        let message = format!("{}: {reason}", self.options().0);
        Error::Usage { message, hint: Some(hint.into()) }
    }

    fn decided(option: &str) -> Error {
        Error::Usage {
            message: format!("{option} cannot be given: the target keeps its own"),
            hint: Some(
                "leave it out; where chunks differ in length, or are to, give lengths or months \
                 along the axis that grows"
                    .into(),
            ),
        }
    }

    /// The extent that is asked for along the axis.
    fn wish(&self) -> Result<Option<Extent>, Error> {
        let request = self.asked.request;
        let (option, other) = self.options();
        let chunks = Some(&request.chunks).filter(|chunks| **chunks != ChunkSpec::Keep);
        let shards = request.shards.as_ref().and_then(ShardSpec::shape);
        if request.shards.is_some() && shards.is_none() {
            return Err(Self::decided(SHARDS)); // none
        }
        let (own, not_own) =
            if self.target.metadata.has_shards() { (shards, chunks) } else { (chunks, shards) };
        // Of a group some arrays may have shards, and others not.
        if not_own.is_some() && !self.asked.is_member {
            return Err(Self::decided(other));
        }
        let Some(own) = own else { return Ok(None) };
        let mut extents = own.extents(option, &self.spec)?;
        let wish = extents.remove(self.axis);
        if extents.iter().any(|extent| *extent != Extent::Keep) {
            return Err(Self::decided(option));
        }
        Ok((wish != Extent::Keep).then_some(wish))
    }

    /// The chunks that are there, and where the last of them ends; `None` if no others are to come.
    fn there(&self, wish: Option<&Extent>) -> Result<Option<(Vec<Run>, u64)>, Error> {
        if let Some(edges) = self.edges() {
            return Ok(Some((edges.runs(), edges.ends().last().copied().unwrap_or(self.before))));
        }
        let Some(wish) = wish else { return Ok(None) };
        let differs = matches!(wish, Extent::Span { .. } | Extent::Lengths(_));
        let takes_lengths = self.target.metadata.format().has(Fact::ChunkLengths);
        let location = self.target.location.trim_end_matches('/');
        if self.asked.is_member && (!takes_lengths || is_coordinate(location, &self.spec)) {
            return Ok(None);
        }
        if !differs || !takes_lengths {
            return Err(Self::decided(self.options().0));
        }
        let length = self.target.metadata.object_shape()[self.axis].max(1);
        let count = self.before.div_ceil(length);
        let runs = if count == 0 { Vec::new() } else { vec![(length, count)] };
        Ok(Some((runs, length.saturating_mul(count))))
    }

    /// Chunks from `end` on, and what they were asked for with.
    async fn new_runs(&self, wish: Option<Extent>, end: u64) -> Result<(String, Vec<Run>), Error> {
        let rest = self.after - end;
        let word = wish.as_ref().map(ToString::to_string).unwrap_or_default();
        let runs = match wish {
            Some(Extent::Lengths(list)) => self.listed(&list, rest)?,
            Some(Extent::Elements(length) | Extent::Exactly(length)) => {
                vec![(length, rest.div_ceil(length.max(1)))]
            }
            Some(Extent::Whole) => vec![(rest, 1)],
            Some(Extent::Span { span, .. }) => {
                let months = self.months(span)?;
                self.whole_months(months, None, end).await?
            }
            Some(Extent::Auto | Extent::Keep) => {
                return Err(self.usage("`auto` is no length of a chunk", self.ways()));
            }
            None => {
                let (there, months) = self.found_months().await?;
                let runs = self.whole_months(months, there.last().copied(), end).await?;
                let word = if months % 12 == 0 {
                    format!("{}Y", months / 12)
                } else {
                    format!("{months}M")
                };
                return Ok((word, runs));
            }
        };
        Ok((word, runs))
    }

    fn ways(&self) -> String {
        let (option, name) = (self.options().0, self.name());
        format!("give the lengths of what is appended, {option} {name}=31+28, or {name}=1M")
    }

    fn months(&self, span: TimeSpan) -> Result<i64, Error> {
        months_of(span).ok_or_else(|| {
            self.usage(&format!("{span} is no months or years of the calendar"), self.ways())
        })
    }

    fn listed(&self, list: &ChunkLengths, rest: u64) -> Result<Vec<Run>, Error> {
        let runs = match list.on(self.axis, rest) {
            Ok(AxisChunks::Regular(length)) => vec![(length, rest.div_ceil(length.max(1)))],
            Ok(AxisChunks::Edges(edges)) => edges.runs(),
            Err(_) => Vec::new(),
        };
        if runs.iter().map(|run| run.1).sum::<u64>() == list.count() {
            return Ok(runs);
        }
        let reason = format!(
            "{list} are not the lengths of chunks for the {rest} elements that come behind those \
             that are there"
        );
        Err(self.usage(&reason, "give lengths that add up to them"))
    }

    /// The months that the chunks of the target are each as long as, and those of its values.
    async fn found_months(&self) -> Result<(Vec<MonthRun>, i64), Error> {
        let refuse = |reason: &str| {
            let along = axis_in_words(&self.spec, self.axis);
            let reason = format!(
                "chunks of the target differ in length along {along}, and new ones follow from \
                 nothing: {reason}"
            );
            self.usage(&reason, self.ways())
        };
        let there = self.target_months().await.map_err(|reason| refuse(&reason))?;
        let Some(edges) = self.edges() else { return Err(refuse("they are regular")) };
        let lengths = || edges.chunks().map(|(start, end)| end.min(self.before) - start);
        let is_of = |months: &&i64| {
            in_spans(&there, **months).into_iter().map(|(_, length)| length).eq(lengths())
        };
        match SPANS.iter().find(is_of) {
            Some(months) => Ok((there, *months)),
            None => Err(refuse("they are no months of its coordinate")),
        }
    }

    /// Months of the values that the target has.
    async fn target_months(&self) -> Result<Vec<MonthRun>, String> {
        let name = self.spec.dimension_name(self.axis).ok_or("it has no name")?;
        let stores = self.asked.stores;
        let coordinate = open_coordinate(self.target, self.axis, name, stores).await?;
        let extent = coordinate.spec().shape.first().copied().unwrap_or(0);
        if extent < self.before {
            return Err(format!("{} has {extent} values", coordinate.location));
        }
        Ok(months_in(&coordinate, 0..self.before).await?.runs)
    }

    /// Lengths of chunks of so many months from `end` on, by the values of the source. `last` is
    /// the last month of the target, where that is known.
    async fn whole_months(
        &self,
        months: i64,
        last: Option<MonthRun>,
        end: u64,
    ) -> Result<Vec<Run>, Error> {
        let failed = |reason: String| self.usage(&reason, "give lengths like 31+28+31");
        let name = self.spec.dimension_name(self.axis).ok_or_else(|| {
            failed(format!("axis {} has no name, and so no coordinate", self.axis))
        })?;
        let (source, stores) = (self.source, self.asked.stores);
        let coordinate = open_coordinate(source, self.axis, name, stores).await.map_err(failed)?;
        let new = months_in(&coordinate, of_array(source, self.axis)).await.map_err(failed)?.runs;
        let last = match last {
            Some(last) => Some(last),
            // Nothing says in which month it ends where it has no coordinate.
            None if self.before > 0 => {
                self.target_months().await.ok().and_then(|there| there.last().copied())
            }
            None => None,
        };
        let last = last.map(|last| last.0.div_euclid(months.max(1)));
        let mut room = end - self.before;
        let mut runs = Vec::new();
        let spans = in_spans(&new, months);
        for (number, (span, length)) in spans.iter().copied().enumerate() {
            let goes_on = last.is_some_and(|last| last == span);
            let is_first = number == 0;
            if room > 0 && length <= room && (goes_on || (last.is_none() && is_first)) {
                room -= length; // its chunk is as long as the month
            } else if room > 0 || (goes_on && is_first) {
                return Err(self.inside((span, months), &behind(&spans, end - self.before)));
            } else {
                runs.push((length, 1));
            }
        }
        Ok(runs)
    }

    /// Refuses to go on with a chunk that is no whole month; `lengths` are those that can be said
    /// instead.
    fn inside(&self, (span, months): (i64, i64), lengths: &str) -> Error {
        let first = span.saturating_mul(months.max(1));
        let (year, month) = (first.div_euclid(12), first.rem_euclid(12) + 1);
        let what = if months == 1 { String::new() } else { format!("the {months} months from ") };
        let (option, name) = (self.options().0, self.name());
        Error::Conflict {
            location: self.target.location.clone(),
            reason: format!(
                "has a last chunk that does not end where {what}{year:04}-{month:02} of the source \
                 begins: chunks are whole months, and one that is there keeps its length"
            ),
            hint: Some(
                format!(
                    "append whole months: write the last one anew, or say how long chunks are to \
                     be, {option} {name}={lengths}"
                )
                .into(),
            ),
        }
    }
}

/// Lengths of the spans as a list for new chunks, without the `room` elements that the last chunk
/// takes.
fn behind(spans: &[(i64, u64)], room: u64) -> String {
    /// Lengths that are said.
    const SAID_MAX: usize = 12;
    let mut left = room;
    let lengths = spans.iter().map(|(_, length)| {
        let taken = left.min(*length);
        left -= taken;
        length - taken
    });
    let lengths: Vec<String> =
        lengths.filter(|length| *length > 0).map(|length| length.to_string()).collect();
    let rest = if lengths.len() > SAID_MAX { "+…" } else { "" };
    lengths[..lengths.len().min(SAID_MAX)].join("+") + rest
}
