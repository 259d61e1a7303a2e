//! Contents of a page: what is known of a job before its run, and after it.

use std::sync::{Arc, LazyLock};

use rechunk::planner::{PlanRequest, Planned};
use rechunk::what_if::WhatIf;
use rechunk::{
    ArrayReport, Class, CopyReport, Error, Job, Meter, Prepared, Report, TaskReport, Traffic,
    TreeArray, TreeJob, TreeReport, system,
};

use super::figures::Figures;
use super::recorder::{Record, StageSpan};
use crate::numbers::plural;
use crate::phrases::Phrases;
use crate::price::profiles_in_words;
use crate::subject::Subject;

/// Contents of a page: all that is known before a run.
///
/// ```
/// use rechunk::planner::{PlanRequest, Side, plan};
/// use rechunk_render::{Sheet, Subject};
///
/// let sides = (Side::raw(&[5, 200], 4), Side::raw(&[100, 20], 4));
/// let request = PlanRequest::local(&[100, 400], 4, sides, 16 << 20);
/// let subject = Subject::of_request(&request, "float32");
/// let page = Sheet::of_plan(subject, &request, &plan(&request)?).plan_page();
/// assert!(page.starts_with("<!DOCTYPE html>"));
/// # Ok::<(), rechunk::planner::PlanError>(())
/// ```
#[derive(Debug)]
pub struct Sheet {
    pub(super) title: String,
    /// One array, or those of a group.
    pub(super) arrays: Vec<ArraySheet>,
    pub(super) group: Option<GroupSheet>,
    /// Plans under other conditions, made when a page is.
    pub(super) what_if: Foreseen,
    pub(super) phrases: Phrases,
}

/// Plans that are made when they are asked for: dozens, where only some readers look.
pub(super) type Foreseen = LazyLock<Option<WhatIf>, Box<dyn FnOnce() -> Option<WhatIf> + Send>>;

fn foreseen(requests: Vec<PlanRequest>) -> Foreseen {
    LazyLock::new(Box::new(move || WhatIf::new(&requests.iter().collect::<Vec<_>>())))
}

/// One array.
#[derive(Debug)]
pub(super) struct ArraySheet {
    /// Its path in the group; empty where there is none.
    pub(super) path: String,
    pub(super) subject: Subject,
    pub(super) planned: Planned,
    /// Of the plan; then of the run.
    pub(super) report: Report,
    /// Meter of the requests of a run.
    pub(super) meter: Option<Arc<Meter>>,
}

/// The group that arrays are in.
#[derive(Debug)]
pub(super) struct GroupSheet {
    pub(super) report: TreeReport,
    pub(super) words: String,
    pub(super) meter: Arc<Meter>,
}

/// Progress of the job.
pub(super) enum State<'a> {
    /// A plan.
    Planned,
    /// A run begins.
    Begun,
    /// A run has ended; with an error, if it did not come to its end.
    Ended { record: &'a Record, error: Option<&'a Error> },
}

impl Sheet {
    /// Describes the copy of an array or of a group.
    pub fn of_copy(copy: &Prepared) -> Self {
        match copy {
            Prepared::Array(job) => Self::of_job(job),
            Prepared::Tree(job) => Self::of_tree(job),
        }
    }

    fn of_job(job: &Job) -> Self {
        let array = ArraySheet::of_job(String::new(), job);
        Self {
            title: array.subject.title.clone(),
            what_if: foreseen(vec![PlanRequest::clone(&job.plan_request)]),
            arrays: vec![array],
            group: None,
            phrases: Phrases::default(),
        }
    }

    fn of_tree(job: &TreeJob) -> Self {
        let requests = job.arrays.iter().map(|array| PlanRequest::clone(&array.job.plan_request));
        let target = if job.request.target.is_empty() { "…" } else { &job.request.target };
        let array = |one: &TreeArray| ArraySheet::of_job(one.path.clone(), &one.job);
        Self {
            title: format!("{} → {target}", job.request.source),
            arrays: job.arrays.iter().map(array).collect(),
            what_if: foreseen(requests.collect()),
            phrases: Phrases::default(),
            group: Some(GroupSheet {
                report: TreeReport::of_plan(job),
                words: format!(
                    "{}, {}, {}",
                    plural(job.array_count() as u64, "array"),
                    plural(job.groups().count() as u64, "group"),
                    job.format().name()
                ),
                meter: job.meter(),
            }),
        }
    }

    /// Describes a plan for shapes alone.
    pub fn of_plan(subject: Subject, request: &PlanRequest, planned: &Planned) -> Self {
        Self {
            title: subject.title.clone(),
            what_if: foreseen(vec![request.clone()]),
            arrays: vec![ArraySheet {
                path: String::new(),
                subject,
                report: Report::of_plan(planned, &[]),
                planned: planned.clone(),
                meter: None,
            }],
            group: None,
            phrases: Phrases::default(),
        }
    }

    /// Says what a reader can do next in the words of `phrases`.
    #[must_use]
    pub fn with_phrases(self, phrases: Phrases) -> Self {
        Self { phrases, ..self }
    }

    /// Takes the outcome of a run.
    pub(super) fn note_run(&mut self, record: &Record, outcome: Result<&CopyReport, &Error>) {
        match outcome {
            Ok(CopyReport::Array(report)) => {
                if let Some(array) = self.arrays.first_mut() {
                    array.report = report.as_ref().clone();
                }
            }
            Ok(CopyReport::Tree(done)) => {
                for ArrayReport { path, report } in &done.arrays {
                    if let Some(array) = self.arrays.iter_mut().find(|array| array.path == *path) {
                        array.report = report.clone();
                    }
                }
                if let Some(group) = &mut self.group {
                    group.report = TreeReport { arrays: Vec::new(), ..done.as_ref().clone() };
                }
            }
            Err(_) if self.is_group() => self.note_failed(record),
            Err(_) => self.arrays.iter_mut().for_each(|array| array.note_failed(record)),
        }
    }

    /// Notes the work of a run of a group that failed.
    fn note_failed(&mut self, record: &Record) {
        let mut traffic = Traffic::default();
        for array in &mut self.arrays {
            let began = record.arrays.contains(&array.path);
            if let Some(meter) = array.meter.as_ref().filter(|_| began) {
                let counted = meter.traffic();
                traffic.add(&counted);
                array.report.traffic = Some(counted);
                array.report.elapsed_seconds = Some(record.seconds_of(&array.path));
            }
        }
        let total = self.arrays.iter().map(|array| array.planned.plan.task_count()).sum();
        if let Some(group) = &mut self.group {
            traffic.add(&group.meter.traffic());
            let report = &mut group.report;
            report.traffic = Some(traffic);
            report.tasks = Some(record.tasks(total));
            report.memory.peak_rss_bytes = Some(system::peak_rss_bytes());
            report.elapsed_seconds = Some(record.elapsed_seconds);
        }
    }

    pub(super) fn is_group(&self) -> bool {
        self.group.is_some()
    }

    pub(super) fn totals(&self) -> Figures {
        match (&self.group, self.arrays.first()) {
            (Some(group), _) => self.group_totals(&group.report),
            (None, Some(array)) => Figures::from(&array.report),
            (None, None) => Figures::default(),
        }
    }

    fn group_totals(&self, report: &TreeReport) -> Figures {
        let bytes = self.arrays.iter().map(|array| array.report.plan.array_bytes());
        Figures {
            decoded_bytes: bytes.fold(0, u64::saturating_add),
            estimate: report.estimate.clone(),
            traffic: report.traffic,
            memory: report.memory.clone(),
            tasks: report.tasks,
            elapsed_seconds: report.elapsed_seconds,
            verified: report.verified,
            warnings: report.warnings.clone(),
        }
    }

    /// Summary of the job, in a line.
    pub(super) fn subtitle(&self) -> String {
        let growth = self.arrays.first().and_then(|array| array.report.growth.as_ref());
        let growth = growth.map_or_else(String::new, |growth| format!("; {}", growth.summary));
        let words = match (&self.group, self.arrays.first()) {
            (Some(group), _) => group.words.clone(),
            (None, Some(array)) => {
                let plan = &array.planned.plan;
                format!(
                    "{} plan {}, {} threads",
                    plan.kind,
                    plan.fingerprint.get(..8).unwrap_or(&plan.fingerprint),
                    plan.threads
                )
            }
            (None, None) => String::new(),
        };
        words + &growth
    }

    /// By which profiles, and which plan.
    pub(super) fn footer(&self) -> String {
        let plans = self.arrays.iter().map(|array| &array.planned.plan);
        let has_intermediate = plans.clone().any(|plan| plan.stages.len() > 1);
        let names = plans.filter_map(|plan| plan.priced_by.as_ref());
        let profiles = profiles_in_words(names, has_intermediate);
        let plan = match &self.arrays[..] {
            [array] if !self.is_group() => format!(" Plan {}.", array.planned.plan.fingerprint),
            _ => String::new(),
        };
        format!("Times and prices by the profile {}.{plan}", profiles.join("; "))
    }
}

impl ArraySheet {
    fn of_job(path: String, job: &Job) -> Self {
        Self {
            path,
            subject: Subject::of_job(job),
            planned: job.planned.clone(),
            report: job.plan_report(),
            meter: Some(job.meter()),
        }
    }

    /// Notes the work of a run that failed.
    fn note_failed(&mut self, record: &Record) {
        let report = &mut self.report;
        report.traffic = self.meter.as_ref().map(|meter| meter.traffic());
        report.memory.peak_rss_bytes = Some(system::peak_rss_bytes());
        report.elapsed_seconds = Some(record.elapsed_seconds);
        report.tasks = Some(record.tasks(self.planned.plan.task_count()));
    }
}

impl Record {
    /// The tasks that were done, of `total`.
    fn tasks(&self, total: u64) -> TaskReport {
        let (done, resumed) =
            (self.tasks_done.saturating_add(self.tasks_resumed), self.tasks_resumed);
        TaskReport { total, done: done.min(total), resumed: resumed.min(total) }
    }

    /// Time of the stages of one array, seconds.
    fn seconds_of(&self, path: &str) -> f64 {
        let is_of = |stage: &&StageSpan| {
            stage.array.and_then(|array| self.arrays.get(array)).is_some_and(|of| of == path)
        };
        self.stages.iter().filter(is_of).map(|stage| stage.end - stage.start).sum()
    }
}

impl State<'_> {
    /// Its colour and its name.
    pub(super) fn word(&self) -> (&'static str, &'static str) {
        match self {
            State::Planned => ("still", "planned"),
            State::Begun => ("still", "begun"),
            State::Ended { error: None, .. } => ("good", "done"),
            State::Ended { error: Some(error), .. } => match error.class() {
                Class::Interrupted => ("bad", "interrupted"),
                _ => ("bad", "failed"),
            },
        }
    }

    pub(super) fn record(&self) -> Option<&Record> {
        match self {
            State::Ended { record, .. } => Some(record),
            State::Planned | State::Begun => None,
        }
    }
}
