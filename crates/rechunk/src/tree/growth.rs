//! A group whose arrays go into those of a group that exists: which go where, and do the groups
//! fit?

use std::collections::BTreeMap;

use rechunk_store::{Meter, Store, Stores};
use rechunk_zarr::GroupMetadata;

use super::fit::Fit;
use super::level_regions::LevelRegions;
use super::rules::{Rules, Selection};
use super::saved::SavedTree;
use super::walk::Found;
use super::{Source, TreeArray, TreeJob, member_options, select};
use crate::error::store_error;
use crate::formats::{Format, Wanted};
use crate::growth::{self, Begun, Neighbours, Trust, check_unmoved, of_target};
use crate::job::Job;
use crate::member_location::member_location;
use crate::open::{OpenArray, OpenOptions, Opened, open_array, open_node};
use crate::others::{self, Others};
use crate::place::work_dir;
use crate::placement::{Placement, named};
use crate::repeats::{Changes, GrownGroups};
use crate::request::CopyRequest;
use crate::some_names::some_names;
use crate::target::open_target;
use crate::{Error, Remedy};

/// Arrays of a group, by what becomes of them.
#[derive(Debug, Default)]
struct Sorted {
    arrays: Vec<TreeArray>,
    /// Those that the target has and that stay as they are.
    unmoved: Vec<String>,
    /// Those that the target does not have.
    missing: Vec<String>,
    /// Fault of the first of those that would stay.
    unlike: Option<Error>,
    warnings: Vec<String>,
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
                hint: Some("cast a copy of the source first, and put that there".into()),
            });
        }
        request.planning.memory_bytes = Some(request.planning.budget().memory_bytes);
        let (rules, trust) = (Rules::of(&selection), Trust::of(&request));
        let mut found =
            Found::below(&request.source, &source.store, source.format, source.wanted(&request))
                .await?;
        let root = source.documents.group();
        let root = root.map_err(|error| Error::source_metadata(&request.source, error))?;
        let levels = LevelRegions::of(&root, &found.groups);
        let mut fit = expected(&mut request, levels, &placement)?;
        let all = found.arrays.clone();
        select(&rules, &selection, &mut found, &request.source)?;
        if let Some((path, reason)) = found.unreadable.first() {
            return Err(Error::NotATree {
                location: request.source,
                reason: format!("this version cannot read {path} ({reason})"),
                hint: Some(Remedy::LeaveOut { path: path.clone() }),
            });
        }
        let Target { store: target, format, arrays: theirs, others, root, groups } =
            Target::open(&request, &stores).await?;
        trust.check_used(all.iter().chain(&theirs).map(String::as_str))?;
        let begun = begun(&request, &stores).await?;
        let mut sorted = Sorted::default();
        for path in &found.arrays {
            if !theirs.contains(path) {
                sorted.missing.push(path.clone());
                continue;
            }
            let begun = begun.get(path);
            let options = member_options(&request, source.format);
            let asked = Asked { whole: &request, options, placement: &placement, trust: &trust };
            let planned = plan_one(asked, path, begun, &mut fit, &stores).await;
            match planned.map_err(|error| error.of_member(path))? {
                Planned::Moved(job) => {
                    sorted.arrays.push(TreeArray { path: path.clone(), job: *job });
                }
                Planned::Unmoved(alike) => {
                    sorted.unmoved.push(path.clone());
                    match alike {
                        Ok(warning) => {
                            let warning = warning.map(|warning| format!("{path}: {warning}"));
                            sorted.warnings.extend(warning);
                        }
                        Err(error) => {
                            sorted.unlike.get_or_insert_with(|| error.of_member(path));
                        }
                    }
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
        let written = sorted.arrays.iter().map(|array| array.path.as_str());
        let mut neighbours = Neighbours::new(&request, &trust, &stores, written);
        neighbours.skip(&sorted.unmoved);
        for TreeArray { path, job } in &sorted.arrays {
            neighbours.check(path, job).await?;
        }
        warnings.append(&mut neighbours.warnings);
        warnings.append(&mut sorted.warnings);
        Ok(Self {
            selection,
            arrays: sorted.arrays,
            unmoved: sorted.unmoved,
            warnings,
            grown_groups,
            ..Self::new(request, format, stores)
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
            let (location, hint) = (request.target.clone(), Some(hint.into()));
            Err(Error::Conflict { location, reason, hint })
        };
        if !self.missing.is_empty() {
            return conflict(
                format!("has no array {}, which the source has", some_names(&self.missing)),
                "--exclude leaves them out, or copy them there first",
            );
        }
        if !left_behind.is_empty() {
            return conflict(
                format!(
                    "has the array {}, which would not grow with the others: the source does not \
                     have it, or it is left out",
                    some_names(left_behind)
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
                hint: Some("`rechunk info GROUP` shows their axes".into()),
            });
        };
        // A run that is gone on with has looked at it when it began.
        if !self.arrays.iter().any(|array| array.job.is_begun) {
            let said = self.arrays.iter().map(|array| &array.job.times);
            growth::check_used(request, placement, said)?;
        }
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
            hint: Some("the source is a group, and so has to be the target".into()),
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

/// Growths that an interrupted run has begun, by path.
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
    Unmoved(Result<Option<String>, Error>),
}

/// Wishes for the group.
struct Asked<'a> {
    whole: &'a CopyRequest,
    /// Options for opening its arrays.
    options: OpenOptions,
    placement: &'a Placement,
    trust: &'a Trust,
}

/// Expects the dimensions that regions name: what is misspelt is no matter of one array.
fn expected(
    request: &mut CopyRequest,
    levels: LevelRegions,
    placement: &Placement,
) -> Result<Fit, Error> {
    let mut fit = Fit::of_select(request, levels)?;
    if let Placement::Region(region) = placement {
        let names = named(region.names())?;
        fit.expect("--region", &region.to_string(), &names);
    }
    Ok(fit)
}

/// Plans one array.
async fn plan_one(
    asked: Asked<'_>,
    path: &str,
    begun: Option<&Begun>,
    fit: &mut Fit,
    stores: &Stores,
) -> Result<Planned, Error> {
    let Asked { whole, options, placement, trust } = asked;
    let stores = stores.with_meter(&Meter::new());
    let location = member_location(&whole.source, path);
    let source = open_array(&location, &options, &stores).await?;
    let select = fit.select(whole, path, source.spec());
    if let Placement::Region(region) = placement {
        fit.saw("--region", &region.to_string(), source.spec());
    }
    let source = source.selected(select.as_ref())?;
    let placement = part_of(placement, &source);
    let mut request = CopyRequest { placement, select, ..whole.clone() };
    request.source.clone_from(&source.location);
    request.target = member_location(&whole.target, path);
    if request.placement.is_none() {
        if trust.means(path) {
            return Ok(Planned::Unmoved(Ok(None)));
        }
        let alike = match theirs(&request.target, whole, &stores).await {
            Ok(target) => Box::pin(check_unmoved(&request, source, &target, &stores)).await,
            Err(error) => Err(error),
        };
        return Ok(Planned::Unmoved(alike));
    }
    let planned = Job::plan_growth(request, source, stores, begun.cloned(), Some(path));
    let mut job = Box::pin(planned).await?;
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

/// Part of the group's placement that is for an array; `None` if it has no such dimension.
fn part_of(placement: &Placement, array: &OpenArray) -> Option<Placement> {
    match placement {
        Placement::Append(name) => array.spec().axis_named(name.trim()).map(|_| placement.clone()),
        Placement::Region(region) => region.part(array.spec()).map(Placement::Region),
        Placement::Whole => Some(Placement::Whole),
    }
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
        if part_of(placement, &array).is_some() {
            left.push(path.clone());
        }
    }
    Ok(left)
}

/// Changes of the arrays that grow.
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
