//! A group whose arrays go into those of a group that exists: all get their chunks, then all are made
//! known.

use std::collections::{BTreeMap, BTreeSet};

use rechunk_plan::Estimate;
use rechunk_store::{Meter, Role, Store, Stores};
use rechunk_zarr::{GroupMetadata, ZarrVersion};

use super::coordinates::is_coordinate;
use super::fit::Fit;
use super::rules::{Rules, Selection};
use super::state::SavedTree;
use super::walk::Found;
use super::{NAMED_MAX, Source, TreeArray, TreeJob, member_location, member_options, select};
use crate::documents::{Documents, Wanted};
use crate::format::Format;
use crate::growth::{
    self, Begun, Change, Growth, Placement, check_unmoved, of_target, update_consolidated,
};
use crate::job::Job;
use crate::metadata::Metadata;
use crate::open::{OpenArray, OpenOptions, Opened, open_array, open_node};
use crate::others::{self, Others};
use crate::place::work_dir;
use crate::repeats::{Changes, GrownGroups};
use crate::request::CopyRequest;
use crate::select::Selected;
use crate::target::open_target;
use crate::work_dir::{Left, WorkDir, store_error};
use crate::{Axes, Error};

/// What becomes of the arrays of a group.
#[derive(Debug, Default)]
struct Sorted {
    arrays: Vec<TreeArray>,
    /// Those that the target has and that stay as they are.
    unmoved: Vec<String>,
    /// Those that the target does not have.
    missing: Vec<String>,
    /// What is wrong with the first of those that would stay.
    unlike: Option<Error>,
}

impl TreeJob {
    /// Plans to put the arrays of a group into those of the target.
    pub(super) async fn prepare_growth(
        mut request: CopyRequest,
        placement: Placement,
        selection: Selection,
        source: &Source,
        stores: Stores,
    ) -> Result<Self, Error> {
        growth::check_request(&request, &placement)?;
        selection.check_unchanged(placement.option())?;
        if request.cast.is_some() {
            return Err(Error::Usage {
                message: format!(
                    "--cast is of one array, where a group goes by {}",
                    placement.option()
                ),
                hint: Some("cast a copy of the source first, and put that there".to_owned()),
            });
        }
        // What is misspelt is no matter of one array.
        let mut fit = Fit::of_select(&request)?;
        if let Placement::Region(text) = &placement {
            let names = growth::named(Selected::parse(text).and_then(|selected| selected.names()))?;
            fit.expect("--region", text, &names);
        }
        request.planning.memory_bytes = Some(request.planning.budget().memory_bytes);
        let rules = Rules::parse(&selection)?;
        let mut found =
            Found::below(&request.source, &source.store, source.format, source.wanted(&request))
                .await?;
        select(&rules, &selection, &mut found, &request.source)?;
        if let Some((path, reason)) = found.unreadable.first() {
            return Err(Error::NotATree {
                location: request.source,
                reason: format!("this version cannot read {path} ({reason})"),
                hint: Some(format!("leave it out: --exclude '{path}'")),
            });
        }
        let Target { store: target, format, arrays: theirs, others, root, groups } =
            Target::open(&request, &stores).await?;
        let begun = begun(&request, &stores).await?;
        let mut sorted = Sorted::default();
        for path in &found.arrays {
            if !theirs.contains(path) {
                sorted.missing.push(path.clone());
                continue;
            }
            let begun = begun.get(path);
            let options = member_options(&request, source.format);
            let whole = (&request, options);
            let planned = plan_one(whole, &placement, path, begun, &mut fit, &stores).await;
            match planned.map_err(|error| error.of_member(path))? {
                Planned::Moved(job) => {
                    sorted.arrays.push(TreeArray { path: path.clone(), job: *job });
                }
                Planned::Unmoved(alike) => {
                    sorted.unmoved.push(path.clone());
                    let error = alike.err().map(|error| error.of_member(path));
                    sorted.unlike = sorted.unlike.or(error);
                }
            }
        }
        if sorted.missing.is_empty() {
            fit.check()?;
        }
        let left_behind = left_behind(&request, &placement, &found, &theirs, &stores).await?;
        sorted.check(&request, &placement, &left_behind)?;
        if let Some(error) = sorted.unlike {
            return Err(error);
        }
        // The target keeps its own files.
        let mut warnings = if selection.no_others {
            Vec::new()
        } else {
            others::differences(&found.others, &others, &source.store, &target).await?
        };
        let attributes = |path: &str| match path {
            "" => Some(&root.attributes),
            _ => groups.get(path).map(|group| &group.attributes),
        };
        let changes = changes(&sorted.arrays);
        let grown_groups = GrownGroups::new(changes, format.zarr_version(), attributes);
        warnings.extend(grown_groups.warnings(attributes));
        Ok(Self {
            request,
            selection,
            arrays: sorted.arrays,
            unmoved: sorted.unmoved,
            warnings,
            format,
            groups: BTreeMap::new(),
            root: GroupMetadata::default(),
            others: Others::default(),
            others_estimate: Estimate::default(),
            consolidated: BTreeSet::new(),
            grown_groups,
            stores,
        })
    }

    /// The arrays go into those of a group that exists.
    pub fn grows(&self) -> bool {
        self.request.placement.is_some()
    }

    /// Paths of the arrays that stay as they are, where others grow.
    pub fn unmoved(&self) -> &[String] {
        &self.unmoved
    }
}

impl Sorted {
    /// Refuses groups that do not fit each other.
    fn check(
        &self,
        request: &CopyRequest,
        placement: &Placement,
        left_behind: &[String],
    ) -> Result<(), Error> {
        let conflict = |reason: String, hint: &str| {
            let (location, hint) = (request.target.clone(), Some(hint.to_owned()));
            Err(Error::Conflict { location, reason, hint })
        };
        if !self.missing.is_empty() {
            return conflict(
                format!("has no array {}, which the source has", names(&self.missing)),
                "--exclude leaves them out, or copy them there first",
            );
        }
        if !left_behind.is_empty() {
            return conflict(
                format!(
                    "has the array {}, which would not grow with the others: the source does not \
                     have it, or it is left out",
                    names(left_behind)
                ),
                "the source has to have every array with that dimension",
            );
        }
        let Some(first) = self.arrays.first() else {
            return Err(Error::Usage {
                message: format!(
                    "{}: no array of {} has a dimension `{}`",
                    placement.option(),
                    request.source,
                    placement.text()
                ),
                hint: Some("`rechunk info GROUP` shows their axes".to_owned()),
            });
        };
        let lengths = |array: &TreeArray| {
            let growth = array.job.growth.as_ref()?;
            let axis = growth.axis?;
            Some((*growth.before.get(axis)?, *growth.after.get(axis)?))
        };
        let differs = |array: &&TreeArray| lengths(array) != lengths(first);
        match (self.arrays.iter().find(differs), lengths(first)) {
            (Some(other), Some((before, after))) => {
                let (theirs, grown) = lengths(other).unwrap_or((0, 0));
                let (a, b) = (&first.path, &other.path);
                conflict(
                    format!(
                        "would not agree: {a} grows from {before} to {after}, {b} from {theirs} to {grown}"
                    ),
                    "all arrays with the dimension have to be as long, in each of the groups",
                )
            }
            _ => Ok(()),
        }
    }
}

fn names(paths: &[String]) -> String {
    let named: Vec<&str> = paths.iter().take(NAMED_MAX).map(String::as_str).collect();
    match paths.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        Some(more) => format!("{} and {more} more", named.join(", ")),
        None => named.join(", "),
    }
}

/// The group that exists.
struct Target {
    store: Store,
    format: Format,
    /// Paths of its arrays.
    arrays: Vec<String>,
    others: Others,
    root: GroupMetadata,
    /// The groups below the root that can be read, by path.
    groups: BTreeMap<String, GroupMetadata>,
}

impl Target {
    async fn open(request: &CopyRequest, stores: &Stores) -> Result<Self, Error> {
        let location = &request.target;
        let store = open_target(location, stores)?;
        let conflict = |reason: String| Error::Conflict {
            location: location.clone(),
            reason,
            hint: Some("the source is a group, and so has to be the target".to_owned()),
        };
        let (root, format) = match open_node(location, &OpenOptions::default(), &store).await {
            // What grows has no need of what cannot be read of it.
            Ok(Opened::Group(documents, format)) => (documents.group().unwrap_or_default(), format),
            Ok(Opened::Array(_)) => return Err(conflict("is an array".to_owned())),
            Err(Error::SourceStore { source, .. }) => {
                return Err(store_error("read", location, *source));
            }
            Err(error) => return Err(conflict(format!("is not a group: {error}"))),
        };
        let found = Found::below(location, &store, format, Wanted::First(format)).await?;
        let unreadable = found.unreadable.into_iter().map(|(path, _)| path);
        let arrays = found.arrays.into_iter().chain(unreadable).collect();
        let (others, groups) = (found.others, found.groups);
        Ok(Self { store, format, arrays, others, root, groups })
    }
}

/// What an interrupted run has begun, by path.
async fn begun(request: &CopyRequest, stores: &Stores) -> Result<BTreeMap<String, Begun>, Error> {
    let store = open_target(&request.target, stores)?;
    let Some(work) = work_dir(&request.target, &store, stores)? else {
        return Ok(BTreeMap::new());
    };
    let Some(bytes) = work.saved_tree().await? else { return Ok(BTreeMap::new()) };
    let (saved, is_written) = (SavedTree::from_json(&bytes)?.growths(), work.is_written().await?);
    Ok(saved
        .filter_map(|(path, growth)| Some((path, Begun { growth: growth?, is_written })))
        .collect())
}

/// An array that grows, or one that stays as it is: it has to be alike.
enum Planned {
    Moved(Box<Job>),
    Unmoved(Result<(), Error>),
}

/// Plans one array.
async fn plan_one(
    (whole, options): (&CopyRequest, OpenOptions),
    placement: &Placement,
    path: &str,
    begun: Option<&Begun>,
    fit: &mut Fit,
    stores: &Stores,
) -> Result<Planned, Error> {
    let stores = stores.with_meter(&Meter::new());
    let location = member_location(&whole.source, path);
    let source = open_array(&location, &options, &stores).await?;
    let select = fit.select(whole, source.spec())?;
    if let Placement::Region(text) = placement {
        fit.saw("--region", text, source.spec());
    }
    let source = source.selected(select.as_deref())?;
    let placement = part_of(placement, &source)?;
    let mut request = CopyRequest { placement, select, ..whole.clone() };
    request.source.clone_from(&source.location);
    request.target = member_location(&whole.target, path);
    if request.placement.is_none() {
        let target = theirs(&request.target, whole, &stores).await;
        let alike = target.and_then(|target| check_unmoved(&request.target, &source, &target));
        return Ok(Planned::Unmoved(alike));
    }
    let mut job = Job::plan_growth(request, source, stores, begun.cloned()).await?;
    job.in_tree = true;
    Ok(Planned::Moved(Box::new(job)))
}

/// An array of the target of which nothing is written, so that it need not be one that can be.
async fn theirs(location: &str, whole: &CopyRequest, stores: &Stores) -> Result<OpenArray, Error> {
    let (axes, wants_names) = (whole.axes, whole.names_axes());
    let options = OpenOptions { axes, is_member: true, wants_names, ..OpenOptions::default() };
    let opened = open_array(location, &options, stores).await;
    opened.map_err(|error| of_target(location, error))
}

/// What an array takes of where the group goes; `None` if it has no such dimension.
fn part_of(placement: &Placement, array: &OpenArray) -> Result<Option<Placement>, Error> {
    Ok(match placement {
        Placement::Append(name) => array.spec().axis_named(name.trim()).map(|_| placement.clone()),
        Placement::Region(text) => Selected::parse(text)?.part(array.spec()).map(Placement::Region),
    })
}

/// The arrays of the target that have the dimension, and are not among those that grow.
async fn left_behind(
    request: &CopyRequest,
    placement: &Placement,
    found: &Found,
    members: &[String],
    stores: &Stores,
) -> Result<Vec<String>, Error> {
    let mut left = Vec::new();
    if let Placement::Region(_) = placement {
        return Ok(left); // nothing grows
    }
    for path in members.iter().filter(|path| !found.arrays.contains(path)) {
        let location = member_location(&request.target, path);
        let opened = theirs(&location, request, stores).await;
        let array = opened.map_err(|error| error.of_member(path))?;
        if part_of(placement, &array)?.is_some() {
            left.push(path.clone());
        }
    }
    Ok(left)
}

/// What becomes of the arrays that grow.
fn changes(arrays: &[TreeArray]) -> Changes {
    let mut changes = Changes::default();
    for TreeArray { path, job } in arrays {
        if let Some(growth) = &job.growth {
            let lengths = (&growth.before[..], &growth.after[..]);
            changes.add_grown(path, &job.target.spec(), job.target.attributes(), lengths);
        }
        if let Some(change) = &job.change {
            changes.add_shape_document(change.before());
        }
    }
    changes
}

/// What makes the arrays known when all of them have their chunks.
#[derive(Debug)]
pub(super) struct GrownArrays {
    location: String,
    version: Option<ZarrVersion>,
    arrays: Vec<GrownArray>,
}

#[derive(Debug)]
struct GrownArray {
    path: String,
    location: String,
    is_coordinate: bool,
    change: Change,
    metadata: Metadata,
}

impl GrownArrays {
    pub(super) fn of(job: &TreeJob) -> Self {
        let array = |TreeArray { path, job }: &TreeArray| {
            Some(GrownArray {
                path: path.clone(),
                location: job.request.target.clone(),
                is_coordinate: is_coordinate(path, &job.target.spec()),
                change: job.change.clone()?,
                metadata: job.target.clone(),
            })
        };
        let mut arrays: Vec<GrownArray> = job.arrays.iter().filter_map(array).collect();
        // Whoever reads meanwhile finds nothing at a coordinate that no data has.
        arrays.sort_by_key(|array| array.is_coordinate);
        let (location, version) = (job.request.target.clone(), job.format.zarr_version());
        Self { location, version, arrays }
    }

    /// Makes all known, and removes what says that each is written. Doing it again changes nothing.
    pub(super) async fn commit(
        &self,
        root: &Store,
        groups: &GrownGroups,
        work: Option<&WorkDir>,
        stores: &Stores,
    ) -> Result<(), Error> {
        for array in &self.arrays {
            array.check_written(stores).await.map_err(|error| error.of_member(&array.path))?;
        }
        // From here on new shapes are this run's doing.
        if let Some(work) = work {
            work.set_written().await?;
        }
        for array in &self.arrays {
            let store = open_target(&array.location, stores)?;
            let made = array.change.commit(&array.location, &store).await;
            made.map_err(|error| error.of_member(&array.path))?;
        }
        let described: Vec<(&str, &Metadata)> =
            self.arrays.iter().map(|array| (array.path.as_str(), &array.metadata)).collect();
        groups.commit(&self.location, root).await?;
        update_consolidated(&self.location, root, self.version, &described, groups).await?;
        for array in &self.arrays {
            let store = open_target(&array.location, stores)?;
            if let Some(work) = work_dir(&array.location, &store, stores)?
                && work.exists().await?
            {
                work.remove().await?;
            }
        }
        Ok(())
    }
}

impl GrownArray {
    /// Refuses to make known what somebody has given up meanwhile.
    async fn check_written(&self, stores: &Stores) -> Result<(), Error> {
        let store = open_target(&self.location, stores)?;
        if self.change.is_made(&self.location, &store).await? {
            return Ok(());
        }
        let Some(work) = work_dir(&self.location, &store, stores)? else { return Ok(()) };
        if let Left::Done(Some(_)) = work.left().await? {
            return Ok(());
        }
        Err(Error::Conflict {
            location: self.location.clone(),
            reason: "has lost what was written for it: somebody has cleaned up".to_owned(),
            hint: Some("--resume writes it again".to_owned()),
        })
    }
}

/// True if all chunks of an array that grows have been written by the run that is gone on with, in a
/// group whose arrays are being made known if `group_is_written`.
pub(super) async fn is_written(job: &Job, group_is_written: bool) -> Result<bool, Error> {
    let location = &job.request.target;
    let store = open_target(location, &job.stores)?;
    let Some(work) = work_dir(location, &store, &job.stores)? else { return Ok(false) };
    match work.left().await? {
        Left::Done(Some(saved)) => Ok(saved.difference(&job.saved()).is_none()),
        Left::Nothing | Left::Done(None) | Left::Late if group_is_written => {
            is_known(location, job.growth.as_ref(), job.request.axes, &store).await
        }
        Left::Nothing | Left::Done(None) | Left::Late | Left::Unfinished(_) => Ok(false),
    }
}

/// True if the array has grown to what it was to be.
async fn is_known(
    location: &str,
    growth: Option<&Growth>,
    axes: Option<Axes>,
    store: &Store,
) -> Result<bool, Error> {
    let Some(growth) = growth.filter(|growth| growth.axis.is_some()) else { return Ok(false) };
    let documents = Documents::fetch(&store.with_role(Role::Control)).await;
    let documents = documents.map_err(|source| store_error("look at", location, source))?;
    let array = documents.array(axes).ok().flatten();
    Ok(array.is_some_and(|array| array.spec().shape == growth.after))
}

/// Refuses members that another run has begun by itself, or has changed since they were looked at.
pub(super) async fn check_fresh(job: &TreeJob) -> Result<(), Error> {
    for TreeArray { path, job } in &job.arrays {
        let location = &job.request.target;
        let store = open_target(location, &job.stores)?;
        if let Some(change) = &job.change {
            let unchanged = change.check_unchanged(location, &store).await;
            unchanged.map_err(|error| error.of_member(path))?;
        }
        let Some(work) = work_dir(location, &store, &job.stores)? else { continue };
        if let Left::Unfinished(_) | Left::Done(Some(_)) = work.left().await? {
            let error = Error::Conflict {
                location: location.clone(),
                reason: "holds what is left of another run".to_owned(),
                hint: Some(format!("`rechunk clean {location}` gives it up")),
            };
            return Err(error.of_member(path));
        }
    }
    Ok(())
}

/// Refuses to give up a run of which some arrays are known and others are not: they would not agree.
pub(crate) async fn check_not_between(
    target: &str,
    saved: &SavedTree,
    work: &WorkDir,
    stores: &Stores,
) -> Result<(), Error> {
    if !work.is_written().await? {
        return Ok(()); // none is known by its doing
    }
    let (mut known, mut unknown) = (0_u64, 0_u64);
    let axes = saved.axes();
    for (path, growth) in saved.clone().growths() {
        let Some(growth) = growth.filter(|growth| growth.axis.is_some()) else { continue };
        let location = member_location(target, &path);
        let store = open_target(&location, stores)?;
        if is_known(&location, Some(&growth), axes, &store).await? {
            known += 1;
        } else {
            unknown += 1;
        }
    }
    if known == 0 {
        return Ok(());
    }
    // Consolidated metadata comes after the last of them.
    Err(Error::Conflict {
        location: target.to_owned(),
        reason: format!(
            "holds a run that has written all and was about to say so: {known} of {} arrays have \
             their new shape",
            known + unknown
        ),
        hint: Some("run the same command with --resume, which takes a moment".to_owned()),
    })
}
