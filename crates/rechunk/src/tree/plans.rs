//! Plans the copies of the arrays of a group. All are planned before the first is copied; those
//! that are too many to be held are planned again when their turn comes.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt};
use rechunk_format::Packed;
use rechunk_grid::ArraySpec;
use rechunk_plan::{Estimate, Plan};
use rechunk_planner::PlanError;
use rechunk_store::{Meter, Stores};
use rechunk_zarr::{Consolidated, GroupMetadata};

use super::coordinates::{Coords, is_coordinate};
use super::fit::Fit;
use super::rules::{Rules, Wishes};
use super::said::Said;
use super::walk::FoundDocuments;
use super::{NAMED_MAX, TreeArray, TreeJob, member_options};
use crate::dimension_names::GroupNames;
use crate::formats::Format;
use crate::job::Job;
use crate::member_location::member_location;
use crate::open::{OpenArray, OpenOptions, open_store};
use crate::request::CopyRequest;
use crate::{Error, Remedy, consolidated};

/// Most arrays whose plans are held until their turn comes: a few tens of kilobytes each.
pub(super) const HELD_MAX: usize = 1000;

/// Arrays of a group of which it is known with what their plans were compared.
pub(super) const CANDIDATES_MAX: usize = 100;

/// Plans copies of the arrays of one group.
#[derive(Debug)]
pub(super) struct Planner {
    pub rules: Rules,
    /// The request for the group.
    pub whole: CopyRequest,
    pub stores: Stores,
    /// Names that only groups have for the axes of some.
    pub names: GroupNames,
    /// Paths of arrays whose chunks lie in directories, where nothing else is asked for.
    pub nested: BTreeSet<String>,
    /// Of the group.
    pub format: Format,
    /// The documents that are known.
    pub documents: FoundDocuments,
    /// Every plan is held, however many there are.
    pub holds_all: bool,
}

/// Arrays that are planned again when their turn comes, and what is to be known of them before.
#[derive(Debug, Default)]
pub(super) struct Later {
    planner: Option<Planner>,
    paths: Vec<Box<str>>,
    /// Digests of the documents in the source and in the target.
    identities: Packed,
    /// The documents in the target, where the format has consolidated metadata.
    pub described: Option<Consolidated>,
    /// Of each.
    pub figures: Vec<Figures>,
    /// Predicted traffic of all.
    pub estimate: Estimate,
    /// Warnings of all.
    pub said: Said,
}

/// The plan of an array in numbers, bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    /// Elements, without padding.
    pub array_bytes: u64,
    /// Elements that all stages write.
    pub written_bytes: u64,
    pub planned_peak_bytes: u64,
    /// Objects that are read and written.
    pub objects: u64,
    pub stages: usize,
}

impl Figures {
    pub(super) fn of(plan: &Plan) -> Self {
        let array_bytes = plan.source().bytes_of(&plan.source().shape);
        let estimate = &plan.estimate;
        Self {
            array_bytes,
            written_bytes: array_bytes.saturating_mul(plan.stages.len() as u64),
            planned_peak_bytes: plan.memory.planned_peak_bytes,
            objects: estimate.source.get_requests.saturating_add(estimate.target.objects),
            stages: plan.stages.len(),
        }
    }
}

impl Later {
    fn add(&mut self, path: &str, job: &Job) -> Result<(), Error> {
        self.figures.push(Figures::of(&job.planned.plan));
        self.estimate.add(&job.planned.plan.estimate);
        job.warnings.iter().for_each(|warning| self.said.add(path, warning));
        let saved = job.saved();
        let identities = [saved.source_identity, saved.target_identity].join("\n");
        self.identities.push(identities.as_bytes());
        self.paths.push(path.into());
        let Some(array) = job.target.zarr() else { return Ok(()) };
        let described = self
            .described
            .get_or_insert_with(|| Consolidated::new(array.version, &GroupMetadata::default()));
        described.set_array(path, array).map_err(Error::target_metadata)
    }

    /// Their paths.
    pub(super) fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.paths.iter().map(|path| &**path)
    }

    /// Each path with the digests of its documents in the source and in the target.
    pub(super) fn identities(&self) -> impl Iterator<Item = (&str, String, String)> {
        self.paths().enumerate().map(|(number, path)| {
            let text = self.identities.get(number).and_then(|text| String::from_utf8(text).ok());
            let text = text.unwrap_or_default();
            let (source, target) = text.split_once('\n').unwrap_or_default();
            (path, source.to_owned(), target.to_owned())
        })
    }

    /// Plans one of them, by its number among them; `None` if there is none.
    pub(super) async fn plan(&self, number: usize) -> Result<Option<TreeArray>, Error> {
        let Some((planner, path)) = self.planner.as_ref().zip(self.paths.get(number)) else {
            return Ok(None);
        };
        let job = planner.plan(path).await.map_err(|error| error.of_member(path))?;
        Ok(Some(TreeArray { path: path.to_string(), job }))
    }
}

impl TreeJob {
    /// Arrays that are copied.
    pub fn array_count(&self) -> usize {
        self.arrays.len() + self.later.paths().len()
    }

    /// Paths of all arrays that are copied, in their order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|array| array.path.as_str()).chain(self.later.paths())
    }

    /// The plans of all arrays in numbers, in their order.
    pub(super) fn figures(&self) -> impl Iterator<Item = Figures> {
        let held = self.arrays.iter().map(|array| Figures::of(&array.job.planned.plan));
        held.chain(self.later.figures.iter().copied())
    }
}

impl Planner {
    /// Plans the copy of every array. An error names all arrays that cannot be read, or the most
    /// memory that is needed.
    pub(super) async fn plan_all(
        self,
        mut fit: Fit,
        paths: Vec<String>,
        mut unreadable: Vec<(String, String)>,
    ) -> Result<(Vec<TreeArray>, Later), Error> {
        let (mut held, mut later) = (Vec::new(), Later::default());
        let count = paths.len();
        let mut unwritable: Vec<(String, Error)> = Vec::new();
        let mut largest: Option<(u64, Error)> = None;
        let at_once = consolidated::at_once(&open_store(&self.whole.source, &self.stores)?);
        let this = &self;
        let opened = stream::iter(paths).map(|path| async move {
            let opened = this.open(&path).await;
            (path, opened)
        });
        let planned = opened.buffered(at_once).map(|(path, opened)| {
            let asked = opened.and_then(|opened| this.ask(&mut fit, &path, opened));
            async move {
                let planned = async { asked?.plan().await };
                (path, planned.await)
            }
        });
        let mut planned = Box::pin(planned.buffered(at_once));
        while let Some((path, planned)) = planned.next().await {
            match planned {
                Ok(mut job) if this.holds_all || held.len() < HELD_MAX => {
                    if held.len() >= CANDIDATES_MAX {
                        job.planned.candidates = Vec::new();
                    }
                    held.push(TreeArray { path, job });
                }
                Ok(job) => later.add(&path, &job)?,
                Err(error @ (Error::SourceMetadata { .. } | Error::NotAnArray { .. })) => {
                    unreadable.push((path, reason(&error)));
                }
                Err(error @ Error::TargetMetadata { .. }) => unwritable.push((path, error)),
                Err(error) => match minimum_bytes(&error) {
                    Some(bytes) if largest.as_ref().is_none_or(|(most, _)| *most < bytes) => {
                        largest = Some((bytes, error.of_member(&path)));
                    }
                    Some(_) => {}
                    None => return Err(error.of_member(&path)),
                },
            }
        }
        drop(planned);
        if !unreadable.is_empty() {
            unreadable.sort_unstable();
            return Err(unreadable_error(&self.whole.source, &unreadable));
        }
        if !unwritable.is_empty() {
            return Err(unwritable_error(unwritable, count));
        }
        fit.check()?;
        if let Some((_, error)) = largest {
            return Err(error);
        }
        later.planner = Some(self);
        Ok((held, later))
    }

    /// Plans the copy of one array.
    async fn plan(&self, path: &str) -> Result<Job, Error> {
        let opened = self.open(path).await?;
        self.ask(&mut Fit::default(), path, opened)?.plan().await
    }

    /// Opens one array, and all that is asked of stores for it from now on is counted for it.
    async fn open(&self, path: &str) -> Result<(OpenArray, Stores), Error> {
        let stores = self.stores.with_meter(&Meter::new());
        let location = member_location(&self.whole.source, path);
        let options = OpenOptions {
            cast: None,
            names: self.names.get(path).cloned(),
            wants_names: false, // all groups are known
            ..member_options(&self.whole, self.format)
        };
        let array = self.documents.open(path, &location, &options, &stores).await?;
        Ok((array, stores))
    }

    fn ask(
        &self,
        fit: &mut Fit,
        path: &str,
        (source, stores): (OpenArray, Stores),
    ) -> Result<Asked, Error> {
        let whole = &self.whole;
        let select = fit.select(whole, path, source.spec());
        let source = source.selected(select.as_ref())?.squeezed_for(self.whole.target_format())?;
        let wishes = wishes(&self.rules, fit, whole, path, source.spec());
        let (mut request, warnings) =
            fit.request(path, source.array.layout().as_ref(), wishes, whole);
        let source = source.cast(request.cast.as_ref())?;
        if self.nested.contains(path) {
            request.separator.get_or_insert('/');
        }
        request.select = select;
        request.source.clone_from(&source.location);
        request.target = member_location(&whole.target, path);
        Ok(Asked { request, source, stores, warnings })
    }
}

/// Request for one array, with warnings about it.
struct Asked {
    request: CopyRequest,
    source: OpenArray,
    stores: Stores,
    warnings: Vec<String>,
}

impl Asked {
    async fn plan(self) -> Result<Job, Error> {
        let mut job = Job::plan(self.request, self.source, self.stores).await?;
        job.warnings.splice(0..0, self.warnings);
        job.in_tree = true;
        Ok(job)
    }
}

/// Wishes for the array at `path`, by options for all arrays, coordinates, rules: the last counts.
fn wishes(
    rules: &Rules,
    fit: &mut Fit,
    whole: &CopyRequest,
    path: &str,
    spec: &ArraySpec,
) -> Wishes {
    let mut wishes = Wishes::of(whole);
    if is_coordinate(path, spec) {
        // A dimension that only coordinates have is not misspelt.
        fit.see(&wishes, path, spec);
        let coords = rules.coords.unwrap_or_else(|| Coords::usual(&whole.chunks));
        // Who asks for smaller data does not mean coarser coordinates.
        wishes = Wishes { cast: None, ..coords.wishes(spec, wishes) };
    }
    rules.apply(path, wishes)
}

/// The memory that would do, bytes, where that is what is missing.
fn minimum_bytes(error: &Error) -> Option<u64> {
    match error {
        Error::Plan { source, .. } => match **source {
            PlanError::DoesNotFit { minimum_bytes, .. } => Some(minimum_bytes),
            _ => None,
        },
        _ => None,
    }
}

/// Why an array cannot be read or written, without the place that is said beside it.
fn reason(error: &Error) -> String {
    match error {
        Error::SourceMetadata { source, .. } | Error::TargetMetadata { source } => {
            source.to_string()
        }
        Error::NotAnArray { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}

fn unreadable_error(location: &str, unreadable: &[(String, String)]) -> Error {
    let first = unreadable.first().map_or("", |(path, _)| path);
    Error::NotATree {
        location: location.to_owned(),
        reason: format!("this version cannot read or write {}", with_reasons(unreadable)),
        hint: Some(Remedy::LeaveSomeOut { path: first.to_owned() }),
    }
}

/// The error of arrays that the target has no place for, of `count` in all.
fn unwritable_error(mut unwritable: Vec<(String, Error)>, count: usize) -> Error {
    unwritable.sort_by(|(one, _), (other, _)| one.cmp(other));
    if unwritable.len() == count {
        let (path, error) = unwritable.swap_remove(0);
        return error.of_member(&path);
    }
    let named: Vec<(String, String)> =
        unwritable.into_iter().map(|(path, error)| (path, reason(&error))).collect();
    let path = named.first().map_or_else(String::new, |(path, _)| path.clone());
    let hint =
        if named.len() == 1 { Remedy::LeaveOut { path } } else { Remedy::LeaveSomeOut { path } };
    let message = format!("the target has no place for {}", with_reasons(&named));
    Error::Usage { message, hint: Some(hint) }
}

/// The first paths, each with the reason beside it.
fn with_reasons(arrays: &[(String, String)]) -> String {
    let named = arrays.iter().take(NAMED_MAX);
    let mut names: Vec<String> = named.map(|(path, reason)| format!("{path} ({reason})")).collect();
    if let Some(more) = arrays.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}
