//! The copy of a whole group: its arrays in their order, then the groups, the root last.

mod adding;
mod begun;
mod commit;
mod coordinates;
mod done;
mod fit;
mod give_up;
mod grown;
mod growth;
mod in_format;
mod level_regions;
mod levels;
mod members;
mod ome;
mod parts;
mod plans;
mod repeated;
mod report;
mod rules;
mod run;
mod said;
mod saved;
mod state;
mod taken_in;
mod together;
mod volume;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rechunk_plan::{Estimate, estimate_files};
use rechunk_store::{Meter, Store, Stores};
use rechunk_zarr::GroupMetadata;

pub(crate) use adding::Adding;
pub(crate) use commit::NodeDocuments;
pub use coordinates::Coords;
pub(crate) use coordinates::is_coordinate;
pub(crate) use give_up::remove_begun;
pub(crate) use grown::check_not_between;
pub(crate) use in_format::InFormat;
pub use report::{ArrayReport, Totals, TreeReport};
pub use rules::Selection;
pub(crate) use said::Said;
pub(crate) use saved::SavedTree;
pub(crate) use walk::Found;

use crate::formats::{Documents, Format, Wanted};
use crate::into_version::check_takes_group;
use crate::job::Job;
use crate::member_location::paths_above;
use crate::open::{OpenOptions, left_out};
use crate::others::{Others, OthersReport};
use crate::plan_request::profile;
use crate::pyramid::PyramidReport;
use crate::repeats::GrownGroups;
use crate::request::{CopyRequest, takes_parts};
use crate::{Error, Remedy};
use fit::Fit;
use level_regions::LevelRegions;
use members::MemberLists;
use plans::{Later, Planner};
use rules::Rules;

/// Most arrays named in a message.
const NAMED_MAX: usize = 12;

/// A planned copy of a group with everything below it.
#[derive(Debug)]
pub struct TreeJob {
    /// Request for the whole group; each array in it has its own, [`Job::request`].
    pub request: CopyRequest,
    /// Which arrays, and what differs for some.
    pub selection: Selection,
    /// The arrays, in the order in which they are copied: the first thousand. Others are planned
    /// again when their turn comes; [`TreeJob::array_count`] counts them too.
    pub arrays: Vec<TreeArray>,
    later: Later,
    /// Arrays that stay as they are, where others grow.
    pub(crate) unmoved: Vec<String>,
    /// Warnings beside those of the arrays.
    pub warnings: Vec<String>,
    pub(crate) format: Format,
    /// The groups below the root, by path.
    pub(crate) groups: BTreeMap<String, GroupMetadata>,
    pub(crate) root: GroupMetadata,
    /// Files beside arrays and documents, which are copied as they are.
    pub(crate) others: Others,
    /// Predicted traffic of copying them.
    pub others_estimate: Estimate,
    /// Groups below the root that have consolidated metadata of their own, by path.
    pub(crate) consolidated: BTreeSet<String>,
    /// Groups of the target that repeat the shapes of arrays which grow.
    pub(crate) grown_groups: GrownGroups,
    /// The group is there, and gets these levels; else a new one is made.
    pub(crate) adds: Option<Adding>,
    /// Bytes of the file beside the target that is written in the end.
    pub(crate) beside: Option<Vec<u8>>,
    /// The levels, where the arrays are those of a pyramid.
    pub pyramid: Option<Box<PyramidReport>>,
    pub(crate) stores: Stores,
}

/// An array of a group that is copied.
#[derive(Debug)]
#[non_exhaustive]
pub struct TreeArray {
    /// Its path in the group.
    pub path: String,
    /// Its copy.
    pub job: Job,
}

/// A group that is open.
pub(crate) struct Source {
    pub store: Store,
    pub documents: Documents,
    pub format: Format,
}

impl Source {
    /// Which documents count below it.
    fn wanted(&self, request: &CopyRequest) -> Wanted {
        member_options(request, self.format).wanted()
    }
}

/// Options for opening the arrays of a group that is read in `format`.
fn member_options(whole: &CopyRequest, format: Format) -> OpenOptions {
    OpenOptions { select: None, is_member: true, reached_as: Some(format), ..whole.open_options() }
}

impl TreeJob {
    /// A job of no arrays, which makes an empty group.
    pub(crate) fn new(request: CopyRequest, format: Format, stores: Stores) -> Self {
        Self {
            request,
            selection: Selection::default(),
            arrays: Vec::new(),
            later: Later::default(),
            unmoved: Vec::new(),
            warnings: Vec::new(),
            format,
            groups: BTreeMap::new(),
            root: GroupMetadata::default(),
            others: Others::default(),
            others_estimate: Estimate::default(),
            consolidated: BTreeSet::new(),
            grown_groups: GrownGroups::default(),
            adds: None,
            beside: None,
            pyramid: None,
            stores,
        }
    }

    /// Plans the copy of everything in a group.
    pub(crate) async fn prepare(
        mut request: CopyRequest,
        selection: Selection,
        source: &Source,
        stores: Stores,
    ) -> Result<Self, Error> {
        check_takes_group(&request)?;
        if let Some(placement) = request.placement.clone() {
            let planned = Self::prepare_growth(request, placement, selection, source, stores);
            return Box::pin(planned).await;
        }
        let rules = Rules::of(&selection);
        let by_dialect = ome::format_of(&selection)?;
        let format = request.format.or(by_dialect);
        let format = format.unwrap_or_else(|| Format::of_target(&request.target));
        ome::check(&selection, format)?;
        if !format.takes_groups() {
            return Err(Error::Usage {
                message: format!("a group cannot be written as {}", format.name()),
                hint: Some("give --format zarr3, zarr2, n5 or precomputed".into()),
            });
        }
        // One budget, whatever is free when the next array is planned.
        request.planning.memory_bytes = Some(request.planning.budget().memory_bytes);
        let location = request.source.clone();
        let root = source.documents.group();
        let mut root = root.map_err(|error| Error::source_metadata(&location, error))?;
        let mut found =
            Found::below(&location, &source.store, source.format, source.wanted(&request)).await?;
        let levels = LevelRegions::of(&root, &found.groups);
        let fit = Fit::of_select(&mut request, levels)?;
        let mut warnings = std::mem::take(&mut found.warnings);
        warnings.extend(left_out(&location, &source.store).await?);
        found.unreadable.append(&mut found.unreadable_groups);
        let is_filtered = !selection.include.is_empty() || !selection.exclude.is_empty();
        let all = is_filtered.then(|| found.paths());
        select(&rules, &selection, &mut found, &location)?;
        check_room_for_state(&found, &location)?;
        found.others.check(&location)?;
        warnings.extend(found.others.warnings(selection.no_others));
        let is_part = all.as_ref().is_some_and(|all| *all != found.paths());
        if is_part || request.select.is_some() {
            warnings.extend(found.others.warnings_of_a_part());
        }
        if let Some(all) = all {
            let lists = MemberLists::new(all, found.paths());
            let groups = found.groups.iter_mut().map(|(path, group)| (path.as_str(), group));
            for (path, group) in std::iter::once(("", &mut root)).chain(groups) {
                let said = lists.follow(path, group);
                let emptied = if said.is_empty() { None } else { ome::drop_empty(path, group) };
                warnings.extend(said.into_iter().chain(emptied));
            }
        }
        let formats = (source.format, format);
        warnings.extend(volume::carry(&mut root, formats, &location));
        let said = found.say_in(&mut root, formats, (selection.dialect, request.axes));
        warnings.extend(said.warnings);
        let planner = Planner {
            rules,
            whole: CopyRequest { format: Some(format), ..request.clone() },
            stores: stores.clone(),
            names: said.names,
            nested: said.nested,
            format: source.format,
            documents: found.documents,
            // What is said of all of them together changes what each is.
            holds_all: request.select.is_some() || request.max_missing.is_some(),
        };
        let (arrays, later) = planner.plan_all(fit, found.arrays, found.unreadable).await?;
        let others_estimate = estimate_others(&found.others, &request, &stores)?;
        let mut job = Self {
            selection,
            arrays,
            later,
            warnings,
            groups: found.groups,
            root,
            others: found.others,
            others_estimate,
            consolidated: found.consolidated,
            ..Self::new(request, format, stores)
        };
        job.follow_selected();
        volume::check(&job)?;
        Ok(job)
    }

    /// Paths of the groups below the root that are made.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }

    /// Name of the format that is written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Where what is asked for the group itself is counted; each array has its own,
    /// [`Job::meter`].
    pub fn meter(&self) -> Arc<Meter> {
        Arc::clone(self.stores.meter())
    }

    /// Files beside arrays and documents; `None` where there is nothing to say of them.
    pub fn others(&self) -> Option<OthersReport> {
        OthersReport::of(&self.others)
    }

    /// Predicted traffic of all arrays and other files.
    pub fn estimate(&self) -> Estimate {
        let mut sum = self.others_estimate.clone();
        sum.add(&self.later.estimate);
        for array in &self.arrays {
            sum.add(&array.job.planned.plan.estimate);
        }
        sum
    }

    /// Everything that is to be said: of the group, and of arrays after their path; once of many
    /// that are alike.
    pub fn all_warnings(&self) -> Vec<String> {
        let mut said = Said::default();
        for TreeArray { path, job } in &self.arrays {
            job.warnings.iter().for_each(|warning| said.add(path, warning));
        }
        said.extend(&self.later.said);
        self.warnings.iter().cloned().chain(said.lines()).collect()
    }
}

/// Predicts what the copy of other files takes.
fn estimate_others(
    others: &Others,
    request: &CopyRequest,
    stores: &Stores,
) -> Result<Estimate, Error> {
    let profile = profile(request, &request.target, stores)?;
    let sizes = others.files.iter().map(|file| file.bytes);
    Ok(estimate_files(sizes, takes_parts(&request.target), &profile))
}

/// Leaves what is to be copied, with the groups above each array; groups in which no array ever was
/// stay where they are selected themselves.
fn select(
    rules: &Rules,
    selection: &Selection,
    found: &mut Found,
    location: &str,
) -> Result<(), Error> {
    let unreadable = found.unreadable.iter().map(|(path, _)| path);
    let nodes = found.arrays.iter().chain(unreadable).chain(found.groups.keys());
    rules.know(nodes.map(String::as_str).chain(found.others.paths()));
    let selects = |path: &String| rules.selects(path);
    let paths = |found: &Found| -> Vec<String> {
        let unreadable = found.unreadable.iter().map(|(path, _)| path);
        found.arrays.iter().chain(unreadable).cloned().collect()
    };
    let all = paths(found);
    rules.check_used(&all, &found.others)?;
    found.arrays.retain(selects);
    found.unreadable.retain(|(path, _)| selects(path));
    let selected = paths(found);
    if selection.no_others {
        found.others.leave_out();
    } else {
        found.others.select(|path| rules.selects(path));
    }
    let is_filtered = !selection.include.is_empty() || !selection.exclude.is_empty();
    if selected.is_empty() && found.others.files.is_empty() && is_filtered {
        return Err(Error::Usage {
            message: format!("--include and --exclude leave no array of {location}"),
            hint: Some("`rechunk info GROUP` lists them".into()),
        });
    }
    let is_above = |group: &str, paths: &[String]| {
        let below = |path: &String| path.strip_prefix(group).is_some_and(|r| r.starts_with('/'));
        paths.iter().any(below)
    };
    found.groups.retain(|group, _| {
        is_above(group, &selected)
            || found.others.is_below(group)
            || (!is_above(group, &all) && rules.selects(group))
    });
    found.add_groups_between(selected.iter());
    Ok(())
}

/// Refuses a group in which something is where the copy of one of its arrays would keep its state.
fn check_room_for_state(found: &Found, location: &str) -> Result<(), Error> {
    let arrays: BTreeSet<&str> = found.arrays.iter().map(String::as_str).collect();
    for path in found.arrays.iter().chain(found.groups.keys()) {
        let mut places =
            paths_above(path).chain([&**path]).filter_map(|place| place.strip_suffix(".rechunk"));
        if let Some(array) = places.find(|array| arrays.contains(array)) {
            return Err(Error::NotATree {
                location: location.to_owned(),
                reason: format!(
                    "it has {path}, but {array}.rechunk is where the copy of {array} keeps its state"
                ),
                hint: Some(Remedy::LeaveOneOut { path: array.to_owned() }),
            });
        }
    }
    Ok(())
}
