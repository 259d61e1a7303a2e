//! Arrays beside one that is written, which say where its elements are: coordinates, limits of
//! cells, grid mappings. In the source they have to say the same as in the target.

use std::collections::{BTreeMap, BTreeSet};

use rechunk_grid::Region;
use rechunk_store::{Meter, Stores, check_below};
use serde_json::{Map, Value};

use super::agree::{ALIKE, check_axes, check_type};
use super::counted::{BOUNDS, counted};
use super::trust::Trust;
use super::values::{Found, compare, in_words};
use super::{conflict, meaning};
use crate::calendar::beside;
use crate::formats::Format;
use crate::job::Job;
use crate::open::{OpenArray, OpenOptions, open_array};
use crate::request::CopyRequest;
use crate::{Axes, Error, Remedy, format_shape};
use rechunk_words::axis_in_words;

/// Compares what lies beside arrays that are written, each once.
pub(crate) struct Neighbours<'a> {
    request: &'a CopyRequest,
    trust: &'a Trust,
    stores: Stores,
    /// Paths of all arrays that are written.
    written: BTreeSet<&'a str>,
    /// Paths that were looked at, or would have been but for `--trust`.
    seen: BTreeSet<String>,
    /// Sentences about neighbours that could not be compared, and why.
    pub warnings: Vec<String>,
}

/// Part of a dimension that is written, in the source and in the target.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    own_start: u64,
    their_start: u64,
    length: u64,
    /// Length of the dimension in the target when it is done.
    after: u64,
    grows: bool,
}

impl<'a> Neighbours<'a> {
    /// For the arrays at these paths; requests are no part of what is counted.
    pub(crate) fn new(
        request: &'a CopyRequest,
        trust: &'a Trust,
        stores: &Stores,
        written: impl Iterator<Item = &'a str>,
    ) -> Self {
        let (stores, seen, warnings) =
            (stores.with_meter(&Meter::new()), BTreeSet::new(), Vec::new());
        Self { request, trust, stores, written: written.collect(), seen, warnings }
    }

    /// Passes over arrays that were compared as a whole.
    pub(crate) fn skip(&mut self, paths: &[String]) {
        self.seen.extend(paths.iter().cloned());
    }

    /// Paths that were looked at.
    pub(crate) fn seen(&self) -> impl Iterator<Item = &str> + Clone {
        self.seen.iter().map(String::as_str)
    }

    /// Refuses to write the array at `path` where what lies beside it would then be wrong.
    pub(crate) async fn check(&mut self, path: &str, job: &Job) -> Result<(), Error> {
        let Some(stretches) = stretches(job) else { return Ok(()) };
        let (own, theirs) = (job.source.metadata.meaning(), job.target.meaning());
        let named: BTreeSet<String> = named(&own).into_iter().chain(named(&theirs)).collect();
        let mut names: Vec<String> = stretches.keys().cloned().collect();
        names.extend(named.iter().cloned());
        let group = path.rsplit_once('/').map_or(String::new(), |(group, _)| format!("{group}/"));
        while let Some(name) = names.pop() {
            let beside = format!("{group}{name}");
            let is_name = !name.contains('/') && check_below(&name).is_ok();
            if !is_name || !self.seen.insert(beside.clone()) || self.trust.means(&beside) {
                continue;
            }
            let goes_on = stretches.get(&name).is_some_and(|stretch| !stretch.grows);
            // What is written too is compared where it is to be what is there.
            if self.written.contains(beside.as_str()) && !goes_on {
                continue;
            }
            // An array that only has the name of a dimension is its coordinate if it has one axis.
            let is_by_name = stretches.contains_key(&name) && !named.contains(&name);
            let rank = is_by_name.then_some(1);
            let found = self.check_one((&name, rank), path, job, &stretches).await;
            let more = found.map_err(|error| error.of_member(&beside))?;
            names.extend(more);
        }
        Ok(())
    }

    /// Compares one neighbour; names of more. One with another number of axes than is given is an
    /// array as others are.
    async fn check_one(
        &mut self,
        (name, rank): (&str, Option<usize>),
        path: &str,
        job: &Job,
        stretches: &BTreeMap<String, Stretch>,
    ) -> Result<Vec<String>, Error> {
        let axes = self.request.axes;
        let place = (&*job.request.target, job.target.format());
        let theirs = open_beside(place, name, axes, &self.stores).await;
        let theirs = theirs.map_err(|error| super::of_target(&job.request.target, error))?;
        let Some(theirs) = theirs else { return Ok(Vec::new()) };
        if rank.is_some_and(|rank| rank != theirs.spec().shape.len()) {
            return Ok(Vec::new());
        }
        check_long_enough(&theirs, path, stretches)?;
        let place = (&*job.request.source, job.source.metadata.format());
        let Some(own) = open_beside(place, name, axes, &self.stores).await? else {
            return Ok(Vec::new());
        };
        let more = own.metadata.meaning().into_owned();
        check_axes(&theirs.location, own.spec(), theirs.spec())?;
        let (own_region, their_region) = regions(&own, &theirs, stretches)?;
        let start = their_region.start.clone();
        let (own, theirs) = (part(own, &own_region)?, part(theirs, &their_region)?);
        let warning = check_same(own, &theirs, &start, self.request, &self.stores).await?;
        self.warnings.extend(warning.map(|warning| format!("{name}: {warning}")));
        Ok(BOUNDS.iter().filter_map(|key| Some(more.get(*key)?.as_str()?.to_owned())).collect())
    }
}

/// Opens the array of a name in the group that the array at `location`, of that format, is in, if
/// there is one.
pub(super) async fn open_beside(
    (location, format): (&str, Format),
    name: &str,
    axes: Option<Axes>,
    stores: &Stores,
) -> Result<Option<OpenArray>, Error> {
    if name.contains('/') || check_below(name).is_err() {
        return Ok(None);
    }
    let reached_as = Some(format);
    let options = OpenOptions { axes, reached_as, is_member: true, ..OpenOptions::default() };
    let stores = stores.with_meter(&Meter::new());
    match open_array(&beside(location, name), &options, &stores).await {
        Ok(array) => Ok(Some(array)),
        Err(Error::NotAnArray { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The dimensions of what is written, by name; `None` for an array that is no part of a target that
/// stays.
fn stretches(job: &Job) -> Option<BTreeMap<String, Stretch>> {
    let growth = job.growth.as_ref()?;
    let (theirs, own) = (job.target.spec(), job.source.metadata.spec());
    let selected = job.source.region.as_ref();
    let mut stretches = BTreeMap::new();
    for axis in 0..growth.after.len() {
        let name = theirs.dimension_name(axis).or_else(|| own.dimension_name(axis));
        let Some(name) = name else { continue };
        let stretch = Stretch {
            own_start: selected.map_or(0, |(_, region)| region.start[axis]),
            their_start: growth.region.start[axis],
            length: growth.region.shape[axis],
            after: growth.after[axis],
            grows: growth.axis == Some(axis),
        };
        stretches.entry(name.to_owned()).or_insert(stretch);
    }
    Some(stretches)
}

/// The arrays that the attributes of an array name: further coordinates, grid mappings (CF
/// conventions, sections 5, 5.6).
fn named(attributes: &Map<String, Value>) -> Vec<String> {
    let text = |name: &str| attributes.get(name).and_then(Value::as_str).unwrap_or_default();
    let mappings: Vec<&str> = text("grid_mapping").split_whitespace().collect();
    // `crs: x y` names the coordinates that a mapping is of.
    let has_lists = mappings.iter().any(|word| word.ends_with(':'));
    let mappings = mappings.into_iter().filter(|word| !has_lists || word.ends_with(':'));
    let mappings = mappings.map(|word| word.trim_end_matches(':'));
    text("coordinates").split_whitespace().chain(mappings).map(str::to_owned).collect()
}

/// Refuses to let an array grow beyond what lies beside it.
fn check_long_enough(
    theirs: &OpenArray,
    path: &str,
    stretches: &BTreeMap<String, Stretch>,
) -> Result<(), Error> {
    let spec = theirs.spec();
    for (axis, &extent) in spec.shape.iter().enumerate() {
        let stretch = spec.dimension_name(axis).and_then(|name| stretches.get(name));
        let Some(stretch) = stretch.filter(|stretch| stretch.grows && extent < stretch.after)
        else {
            continue;
        };
        let reason = format!(
            "has {extent} elements along {}, and {path} would have {}: who reads both would find that \
             they do not fit",
            axis_in_words(spec, axis),
            stretch.after
        );
        let hint = Remedy::GrowAllOrTrust;
        return Err(conflict(&theirs.location, reason, hint));
    }
    Ok(())
}

/// Regions of a neighbour, in the source and in the target, that belong to the written elements.
fn regions(
    own: &OpenArray,
    theirs: &OpenArray,
    stretches: &BTreeMap<String, Stretch>,
) -> Result<(Region, Region), Error> {
    let (a, b) = (own.spec(), theirs.spec());
    let (mut from, mut to) = (Region::whole(&a.shape), Region::whole(&b.shape));
    for axis in 0..a.shape.len() {
        let name = b.dimension_name(axis).or_else(|| a.dimension_name(axis));
        if let Some(stretch) = name.and_then(|name| stretches.get(name)) {
            (from.start[axis], from.shape[axis]) = (stretch.own_start, stretch.length);
            (to.start[axis], to.shape[axis]) = (stretch.their_start, stretch.length);
        }
    }
    let is_there = from.shape == to.shape
        && (0..a.shape.len())
            .all(|axis| from.end(axis) <= a.shape[axis] && to.end(axis) <= b.shape[axis]);
    if is_there {
        return Ok((from, to));
    }
    let reason = format!(
        "has the shape {}, and the source {}: they are not of the same places",
        format_shape(&b.shape),
        format_shape(&a.shape)
    );
    Err(conflict(&theirs.location, reason, ALIKE))
}

fn part(array: OpenArray, region: &Region) -> Result<OpenArray, Error> {
    if *region == Region::whole(&array.spec().shape) || array.spec().data_type.is_variable() {
        return Ok(array);
    }
    array.part(region)
}

/// Refuses an array of the source whose type, attributes or values differ from those of the target.
/// The target's values begin at `start`. Returns a sentence where the values could not be compared.
pub(super) async fn check_same(
    own: OpenArray,
    theirs: &OpenArray,
    start: &[u64],
    request: &CopyRequest,
    stores: &Stores,
) -> Result<Option<String>, Error> {
    let location = &theirs.location;
    let (own, _) = counted(own, theirs, request, stores).await?;
    if own.recount.is_none() {
        check_type(location, &own, theirs)?;
    }
    meaning::check(location, &own, theirs, own.recount.is_some())?;
    match compare(&own, theirs, &request.planning).await? {
        Found::Equal => Ok(None),
        Found::Unlike(reason) => {
            let reason = format!("is stored otherwise than in the source: {reason}");
            Err(conflict(location, reason, DIFFERS))
        }
        Found::Unknown(reason) => Ok(Some(format!("it is not compared: {reason}"))),
        Found::Differ { at, own: mine, theirs: other } => {
            let there: Vec<u64> = at.iter().zip(start).map(|(at, start)| at + start).collect();
            let reason = format!(
                "holds {} at {there:?}, and the source {} at {:?}",
                in_words(&other, theirs),
                in_words(&mine, theirs),
                own.region.as_ref().map_or(at.clone(), |(_, region)| {
                    at.iter().zip(&region.start).map(|(at, start)| at + start).collect()
                })
            );
            Err(conflict(location, reason, DIFFERS))
        }
    }
}

const DIFFERS: Remedy = Remedy::PlaceOrTrust;
