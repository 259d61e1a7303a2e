//! `--append` and `--region`: the source goes into an array that exists.

mod above;
mod agree;
mod commit;
mod counted;
mod lengths;
mod meaning;
mod neighbours;
mod order;
mod target;
mod trust;
mod values;

use std::sync::Arc;

use rechunk_array::Array;
use rechunk_format::{Layout, PlacedLayout};
use rechunk_grid::{AxisEdges, GridError, Region};
use rechunk_store::Stores;
use serde::{Deserialize, Serialize};

pub(crate) use above::describe_in_groups;
pub(crate) use commit::{Change, describe_grown, update_consolidated};
pub(crate) use counted::counted;
pub(crate) use neighbours::Neighbours;
pub(crate) use target::{of_target, open_existing};
pub(crate) use trust::{Trust, check_trust};

use crate::carried::carry;
use crate::formats::Metadata;
use crate::open::OpenArray;
use crate::placement::{Placement, named};
use crate::request::CopyRequest;
use crate::tree::is_coordinate;
use crate::{ChunkSpec, Error, Remedy, format_shape};
use rechunk_words::axis_in_words;

/// Place of the source in an array that exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Growth {
    /// Shape of the target before, elements.
    pub before: Vec<u64>,
    /// Shape of the target when it is done, elements.
    pub after: Vec<u64>,
    /// Region of the target that the source fills.
    pub region: Region,
    /// The axis along which it grows; `None` where it keeps its shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<usize>,
    /// Region that is written: the filled one up to the ends of chunks (or shards) that it meets.
    pub written: Region,
    /// Lengths of its chunks along that axis when it is done, where they differ: `31 28 31 30`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengths: Option<AxisEdges>,
    /// The source's times are counted anew, as the target counts them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted_anew: bool,
    /// In words: `appends 365 to 1460 along time`.
    pub summary: String,
}

impl Growth {
    /// The written elements that the target has and keeps, where there are some.
    pub fn keeps_elements(&self) -> bool {
        self.region != self.written
    }

    /// Checks what was read from somewhere: that it is of one array.
    pub(crate) fn check(&self) -> Result<(), String> {
        let rank = self.after.len();
        let is_inside = |region: &Region| {
            let end = |axis: usize| region.start[axis].checked_add(region.shape[axis]);
            region.start.len() == rank
                && region.shape.len() == rank
                && (0..rank).all(|axis| end(axis).is_some_and(|end| end <= self.after[axis]))
        };
        let is_whole = self.before.len() == rank
            && self.axis.is_none_or(|axis| axis < rank)
            && is_inside(&self.region)
            && is_inside(&self.written)
            && self.written.contains(&self.region);
        let reaches = |lengths: &AxisEdges| {
            let after = self.axis.and_then(|axis| self.after.get(axis));
            let last = lengths.ends().last();
            lengths.held().is_none() && after.zip(last).is_some_and(|(after, end)| end >= after)
        };
        let is_whole = is_whole && self.lengths.as_ref().is_none_or(reaches);
        if is_whole { Ok(()) } else { Err("it goes where the target has no elements".to_owned()) }
    }
}

/// Target as it will be, and the source as it is read for it.
#[derive(Debug)]
pub(crate) struct Grown {
    pub growth: Growth,
    /// The source, where it goes in what is written.
    pub source: OpenArray,
    /// The target as it will be.
    pub target: Metadata,
    /// The layout of what is written.
    pub layout: Arc<dyn Layout>,
    /// Change of metadata that makes the new shape known.
    pub change: Change,
    /// Lengths of chunks, where they may differ, in words.
    pub said: Option<String>,
}

/// Wish to put a source into an array that exists.
pub(crate) struct Asked<'a> {
    pub request: &'a CopyRequest,
    pub placement: &'a Placement,
    /// The growth that an interrupted run has begun there.
    pub begun: Option<&'a Begun>,
    /// The meaning of the elements is not compared.
    pub is_trusted: bool,
    /// It is one array of a group, all of which grow.
    pub is_member: bool,
    pub stores: &'a Stores,
}

/// Options that say how long chunks and shards are to be.
const CHUNKS: &str = "--chunks";
const SHARDS: &str = "--shards";

/// An option that is given, though a target that exists has decided it already.
pub(crate) fn decided_option(request: &CopyRequest) -> Option<&'static str> {
    // Behind an array there may come chunks of other lengths.
    let appends = matches!(request.placement, Some(Placement::Append(_)));
    let given = [
        (CHUNKS, request.chunks != ChunkSpec::Keep && !appends),
        (SHARDS, request.shards.is_some() && !appends),
        ("--keep-extent", request.keep_extent),
        ("--codec", request.codec.is_some()),
        ("--format", request.format.is_some()),
        ("--n5-version", request.n5_version.is_some()),
        ("--separator", request.separator.is_some()),
    ];
    given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
}

/// Refuses what the target has decided already.
pub(crate) fn check_request(request: &CopyRequest, placement: &Placement) -> Result<(), Error> {
    match decided_option(request) {
        None => Ok(()),
        Some(option) => {
            Err(usage(placement, &format!("{option} cannot be given: the target keeps its own")))
        }
    }
}

/// Refuses chunks that were asked for of arrays, none of which may get others.
pub(crate) fn check_used<'a>(
    request: &CopyRequest,
    placement: &Placement,
    mut said: impl Iterator<Item = &'a Vec<String>>,
) -> Result<(), Error> {
    let asks = request.chunks != ChunkSpec::Keep || request.shards.is_some();
    if !asks || said.any(|said| !said.is_empty()) {
        return Ok(());
    }
    let option = if request.shards.is_some() { SHARDS } else { CHUNKS };
    Err(usage(placement, &format!("{option} cannot be given: the target keeps its own")))
}

/// Reason why elements of variable length are not put there.
const CUT_TEXT: &str = "has elements of variable length, and one of its chunks would be of old and \
                        of new elements: those are not put together";

fn usage(placement: &Placement, reason: &str) -> Error {
    let hint = match placement {
        Placement::Append(_) => "--append NAME or --append AXIS puts the source behind the target",
        Placement::Region(_) => "write it like `time=0:1000,lat=10:20` or, for every axis, `0:9,:`",
        Placement::Whole => "leave it out",
    };
    Error::Usage { message: format!("{}: {reason}", placement.option()), hint: Some(hint.into()) }
}

fn conflict(location: &str, reason: String, hint: impl Into<Remedy>) -> Error {
    Error::Conflict { location: location.to_owned(), reason, hint: Some(hint.into()) }
}

/// Refuses to append a coordinate whose values do not go on those that are there. `source` and
/// `target` are as they were before [`specify`].
pub(crate) async fn check_order(
    location: &str,
    source: &OpenArray,
    target: &OpenArray,
    growth: &Growth,
) -> Result<(), Error> {
    let spec = target.spec();
    if growth.axis.is_none() || !is_coordinate(location.trim_end_matches('/'), spec) {
        return Ok(());
    }
    order::check(location, source, target, growth).await
}

/// Refuses an array that stays as it is where the target has it otherwise; a sentence where its
/// values could not be compared.
pub(crate) async fn check_unmoved(
    request: &CopyRequest,
    source: OpenArray,
    target: &OpenArray,
    stores: &Stores,
) -> Result<Option<String>, Error> {
    agree::check_alike(&target.location, &source, target)?;
    let start = vec![0; target.spec().shape.len()];
    neighbours::check_same(source, target, &start, request, stores).await
}

/// Growth that an interrupted run has begun at a target.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    pub growth: Growth,
    /// All is written, and the new shape may have been made known.
    pub is_written: bool,
}

/// Works out the target that follows when `source` goes where it is asked to.
pub(crate) async fn specify(
    asked: &Asked<'_>,
    source: OpenArray,
    (target, change): (OpenArray, Change),
) -> Result<Grown, Error> {
    let Asked { request, placement, begun, .. } = *asked;
    check_request(request, placement)?;
    let location = &request.target;
    let now = &target.spec().shape;
    let before = match begun {
        None => now.clone(),
        Some(begun) => before(location, now, begun)?,
    };
    agree::check(location, &source, &target)?;
    if !asked.is_trusted {
        meaning::check(location, &source, &target, source.recount.is_some())?;
    }
    let mut growth = place(placement, &source, &target, before)?;
    let mut said = None;
    if let Some(begun) = begun {
        growth.lengths.clone_from(&begun.growth.lengths);
    } else if let Some(found) =
        Box::pin(lengths::lengths(asked, (&source, &target), &growth, &change)).await?
    {
        (growth.lengths, said) = (found.ends, Some(found.said));
    }
    let metadata = match growth.axis.zip(growth.lengths.as_ref()) {
        Some(along) => target.metadata.grown(&growth.after, along),
        None => Ok(target.metadata.with_shape(&growth.after)),
    };
    let metadata = metadata.map_err(Error::target_metadata)?;
    growth.written = written(location, &growth, &metadata)?;
    if growth.keeps_elements() && metadata.spec().data_type.is_variable() {
        return Err(conflict(location, CUT_TEXT.to_owned(), "put whole chunks there"));
    }
    let whole = growth.written == Region::whole(&growth.after);
    let layout = |target: &Metadata| {
        let layout = if whole { target.layout() } else { target.layout_of(&growth.written) };
        layout.map_err(Error::target_metadata)
    };
    let (source, layout) = carry(source, &metadata, layout)?;
    let source = placed(source, &growth)?;
    let change = change.with_extent(&metadata);
    Ok(Grown { growth, source, target: metadata, layout, change, said })
}

/// The shape before, of a target that has the shape `now`.
fn before(location: &str, now: &[u64], begun: &Begun) -> Result<Vec<u64>, Error> {
    let Begun { growth: Growth { before, after, .. }, is_written } = begun;
    if now == before || (*is_written && now == after) {
        return Ok(before.clone());
    }
    let planned = format!("{} of {}", format_shape(after), format_shape(before));
    let reason = if now == after {
        format!("was made {planned} by somebody else, while an interrupted run was about to")
    } else {
        format!("has the shape {}, but an interrupted run was to make {planned}", format_shape(now))
    };
    Err(Error::Conflict {
        location: location.to_owned(),
        reason,
        hint: Some("`rechunk clean TARGET` gives that run up".into()),
    })
}

/// Works out the place of the source in the target.
fn place(
    placement: &Placement,
    source: &OpenArray,
    target: &OpenArray,
    before: Vec<u64>,
) -> Result<Growth, Error> {
    let (own, shape) = (source.spec(), &source.spec().shape);
    if shape.contains(&0) {
        let of = format_shape(shape);
        return Err(usage(placement, &format!("the source has no elements ({of})")));
    }
    let spec = rechunk_grid::ArraySpec { shape: before.clone(), ..target.spec().clone() };
    let mut region = Region::new(vec![0; before.len()], shape.clone());
    let (mut after, mut along) = (before.clone(), None);
    let summary = match placement {
        Placement::Append(text) => {
            let axis = agree::axis(placement, text, &spec)?;
            agree::check_extents(&target.location, own, &spec, axis)?;
            region.start[axis] = before[axis];
            after[axis] = before[axis]
                .checked_add(shape[axis])
                .ok_or_else(|| usage(placement, "the axis would be too long"))?;
            along = Some(axis);
            let name = spec.dimension_name(axis);
            let name = name.map_or_else(|| format!("axis {axis}"), str::to_owned);
            format!("appends {} to {} along {name}", shape[axis], before[axis])
        }
        Placement::Whole => {
            if own.shape != before {
                return Err(Error::Conflict {
                    location: target.location.clone(),
                    reason: format!(
                        "has the shape {}, and the source {}",
                        format_shape(&before),
                        format_shape(shape)
                    ),
                    hint: Some(
                        "a data set keeps its shape: create another one, or write into a region"
                            .into(),
                    ),
                });
            }
            "writes all of it".to_owned()
        }
        Placement::Region(asked) => {
            region = named(asked.region(&spec))?;
            if region.shape != *shape {
                return Err(Error::Conflict {
                    location: target.location.clone(),
                    reason: format!(
                        "has a region {asked} of {} elements, but the source has {}",
                        format_shape(&region.shape),
                        format_shape(shape)
                    ),
                    hint: Some(Remedy::SelectPart),
                });
            }
            let parts =
                (0..region.rank()).filter(|&axis| region.shape[axis] != before[axis]).map(|axis| {
                    let (start, end) = (region.start[axis], region.end(axis));
                    format!("{start}:{end} of {}", axis_in_words(&spec, axis))
                });
            let parts: Vec<String> = parts.collect();
            let parts = if parts.is_empty() { "all".to_owned() } else { parts.join(", ") };
            format!("writes into {parts}")
        }
    };
    let written = region.clone();
    Ok(Growth {
        before,
        after,
        region,
        axis: along,
        written,
        lengths: None,
        counted_anew: source.recount.is_some(),
        summary,
    })
}

/// The objects that the region meets, clipped to the array as it will be.
fn written(location: &str, growth: &Growth, target: &Metadata) -> Result<Region, Error> {
    let (spec, object) = (target.spec(), target.object_shape());
    if spec.edges.is_some() {
        let refuse = |error: GridError| conflict(location, error.to_string(), "repair it");
        let grid = spec.grid().map_err(refuse)?;
        return Ok(grid.region_of(&grid.covering(&growth.region)));
    }
    let (start, shape) = (0..object.len())
        .map(|axis| {
            let start = growth.region.start[axis] / object[axis] * object[axis];
            let end = growth.region.end(axis).div_ceil(object[axis]).saturating_mul(object[axis]);
            (start, end.min(growth.after[axis]) - start)
        })
        .unzip();
    Ok(Region::new(start, shape))
}

/// The source as a part of what is written.
fn placed(source: OpenArray, growth: &Growth) -> Result<OpenArray, Error> {
    if !growth.keeps_elements() {
        return Ok(source);
    }
    let failed =
        |source: &OpenArray, error: &GridError| Error::source_grid(&source.location, error);
    let start = growth.region.relative_to(&growth.written.start).start;
    let inner = source.without_shards()?;
    let layout = PlacedLayout::new(inner, &start, &growth.written.shape);
    let layout = layout.map_err(|error| failed(&source, &error))?;
    Ok(OpenArray { array: Array::new(Arc::new(layout), source.array.store().clone()), ..source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_from_somewhere_is_of_one_array() {
        let growth = Growth {
            before: vec![4, 6],
            after: vec![9, 6],
            region: Region::new(vec![4, 0], vec![5, 6]),
            axis: Some(0),
            written: Region::new(vec![3, 0], vec![6, 6]),
            lengths: None,
            counted_anew: false,
            summary: String::new(),
        };
        growth.check().unwrap();
        let lengths = |text: &str| AxisEdges::try_from(text.to_owned()).ok();
        let listed = Growth { lengths: lengths("4 3 3"), ..growth.clone() };
        listed.check().unwrap();
        for wrong in ["4 3", "3..10: 4x2"] {
            let wrong = Growth { lengths: lengths(wrong), ..growth.clone() };
            assert!(wrong.lengths.is_some() && wrong.check().is_err());
        }
        let nowhere = Growth { axis: None, ..listed };
        assert!(nowhere.check().is_err());
        let changes: [fn(&mut Growth); 8] = [
            |growth| growth.axis = Some(9),
            |growth| growth.before.clear(),
            |growth| growth.after.truncate(1),
            |growth| growth.region.shape.clear(),
            |growth| growth.region.start[0] = u64::MAX,
            |growth| growth.written.start.push(0),
            |growth| growth.written.shape[0] = 7,
            |growth| growth.written.start[0] = 5,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut wrong = growth.clone();
            change(&mut wrong);
            assert!(wrong.check().is_err(), "{number}");
        }
    }
}
