//! The copy of a group in parts: the shares of a stage go over all arrays, one after the other.
//!
//! Each array is open to parts as one alone is, in its own state; the state of the group says which
//! arrays belong to it. Arrays that cannot be divided are left to the end, which is the run of the
//! whole group that finds all others done.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rechunk_exec::{Observer, TaskRange};
use rechunk_plan::{Divided, StageGeometry, share};
use rechunk_store::Store;
use rechunk_words::StagePart;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::begun::announced;
use super::report::TreeReport;
use super::saved::SavedTree;
use super::state::{Left, Start, TreePlace, start};
use super::{NAMED_MAX, TreeArray, TreeJob};
use crate::Error;
use crate::formats::hex;
use crate::job::Job;
use crate::may_start::other_job;
use crate::parts::{
    Ending, PartReport, PartsReport, Patience, StageTasks, State, add_name, check_kind, closed,
    no_part, no_shared_target, no_stage, not_written, overwrites, shared_place, wait_for_parts,
};
use crate::report::MemoryReport;
use crate::request::{Existing, Running};
use crate::saved_group::SavedGroup;
use crate::wait::Wait;
use crate::work_dir::WorkDir;

/// State of the group where parts are to work.
enum Found {
    /// It is open to parts: by this process, or by one before.
    Open { is_new: bool },
    /// The target is complete.
    Complete,
}

impl TreeJob {
    /// The copy and its plans, to be saved and run later or elsewhere. Refuses a group of more than
    /// a thousand arrays.
    pub fn saved(&self) -> Result<SavedGroup, Error> {
        SavedGroup::of(self)
    }

    /// Takes over the plans of a saved copy, if what is copied has not changed.
    pub(crate) fn adopt(&mut self, saved: &SavedGroup) -> Result<(), Error> {
        if let Some(difference) = saved.group().difference(&SavedTree::new(self)) {
            return Err(Error::Conflict {
                location: self.request.target.clone(),
                reason: format!("cannot follow the saved plan: {difference}"),
                hint: Some("plan again".into()),
            });
        }
        for TreeArray { path, job } in &mut self.arrays {
            let adopted = saved.plan(path).and_then(|plan| job.adopt(plan));
            adopted.map_err(|error| error.of_member(path))?;
        }
        Ok(())
    }

    /// Opens the copy to parts, which any number of processes may then do, as [`Job::begin_parts`]
    /// does it with an array.
    ///
    /// [`Job::begin_parts`]: crate::Job::begin_parts
    pub async fn begin_parts(mut self, running: Running) -> Result<PartsReport, Error> {
        let found = Box::pin(self.open_to_parts(running)).await?;
        let (begun, complete) = match found {
            Found::Open { is_new } => (is_new, false),
            Found::Complete => (false, true),
        };
        let mut fingerprint = Sha256::new();
        self.arrays
            .iter()
            .for_each(|array| fingerprint.update(&array.job.planned.plan.fingerprint));
        Ok(PartsReport {
            target: self.request.target.clone(),
            fingerprint: hex(&fingerprint.finalize()),
            begun,
            complete,
            stages: self.stage_tasks(),
            left_to_finish: self
                .arrays
                .iter()
                .filter(|array| !is_divided(array))
                .map(|array| array.path.clone())
                .collect(),
            warnings: if begun { self.room_warnings()? } else { Vec::new() },
        })
    }

    /// Does `part`, which is a share, of stage `stage` of all arrays together, as [`Job::run_part`]
    /// does it with an array. An array has as many stages as its own plan.
    ///
    /// [`Job::run_part`]: crate::Job::run_part
    pub async fn run_part(
        mut self,
        (stage, part): (usize, StagePart),
        running: Running,
        wait: Duration,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<PartReport, Error> {
        #[expect(clippy::disallowed_methods, reason = "a report says how long it took")]
        let started = Instant::now();
        if running.existing == Existing::Overwrite {
            return Err(overwrites());
        }
        let shares = self.shares(stage, part)?;
        let memory = MemoryReport {
            budget_bytes: self.request.planning.budget().memory_bytes,
            planned_peak_bytes: self.planned_peak_bytes(true),
            peak_rss_bytes: None,
        };
        let mut report = PartReport::begin((stage, part), memory);
        let mut is_complete =
            matches!(Box::pin(self.open_to_parts(running)).await?, Found::Complete);
        let (target, work) = self.shared_place().await?;
        let mut wait = Wait::of(wait);
        let running = Running { existing: Existing::Resume, ..running };
        let mut arrays = Vec::new();
        for (number, tasks) in &shares {
            let Some(TreeArray { path, job }) = self.arrays.get(*number) else { continue };
            arrays.push((path.clone(), bytes_of(job, tasks)?));
        }
        for ((number, tasks), (event, _)) in shares.into_iter().zip(announced(arrays)) {
            if !is_complete && !matches!(Left::at(&work, &target).await?, Left::Unfinished(_)) {
                is_complete = self.is_complete(running, &target, &work).await;
                if !is_complete {
                    return Err(closed(&self.request.target));
                }
            }
            let Some(TreeArray { path, job }) = self.arrays.get_mut(number) else { continue };
            observer.event(&event);
            let told = (Arc::clone(&observer), cancel.clone());
            let done = Box::pin(job.do_tasks(tasks, running, &mut wait, told)).await;
            let mut done = done.map_err(|error| error.of_member(path))?;
            done.digest = None; // it is of one array
            done.warnings.iter_mut().for_each(|warning| *warning = format!("{path}: {warning}"));
            report.add(done, &job.meter().traffic());
        }
        report.traffic.add(&self.stores.meter().traffic());
        Ok(report.end(started))
    }

    /// Finishes a copy that was done in parts, as [`Job::finish_parts`] does it with an array.
    /// Arrays that cannot be divided are copied now.
    ///
    /// [`Job::finish_parts`]: crate::Job::finish_parts
    pub async fn finish_parts(
        mut self,
        running: Running,
        wait: Duration,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<TreeReport, Error> {
        let (target, work) = self.shared_place().await?;
        let mut wait = Wait::of(wait);
        while let Some(missing) = Box::pin(self.close_parts(&target, &work)).await? {
            let location = &self.request.target;
            let not_yet = || not_written(location, &missing);
            wait_for_parts(&mut wait, location, &cancel, not_yet).await?;
        }
        let running = Running { existing: Existing::Resume, ..running };
        Box::pin(self.run(running, observer, cancel)).await
    }

    /// Whether the target is the result of the copy already.
    async fn is_complete(&self, running: Running, target: &Store, work: &WorkDir) -> bool {
        let resumed = Running { existing: Existing::Resume, ..running };
        let Ok(left) = Left::at(work, target).await else { return false };
        matches!(start(self, resumed, target, &left).await, Ok(Start::Done))
    }

    /// The place where its end can be watched.
    pub(crate) async fn ending(&self) -> Result<Ending, Error> {
        Ok(Ending::of_group(self.shared_place().await?.1))
    }

    /// Closes the parts of all arrays, if all their tasks are done; else those that are missing, in
    /// words.
    async fn close_parts(
        &mut self,
        target: &Store,
        work: &WorkDir,
    ) -> Result<Option<String>, Error> {
        let left = Left::at(work, target).await?;
        match &left {
            Left::Unfinished(saved) => self.check_saved(saved)?,
            Left::Nothing | Left::Emptied => {
                // Of what is complete the run says so; nothing else was begun.
                if self.is_complete(Running::new(Existing::Resume), target, work).await {
                    return Ok(None);
                }
                return Ok(Some("all tasks of all arrays (it was not begun)".to_owned()));
            }
        }
        let mut missing = Vec::new();
        // None is closed while tasks of another are left.
        for closes in [false, true] {
            for TreeArray { path, job } in self.arrays.iter_mut().filter(|array| is_divided(array))
            {
                let place = shared_place(job)?;
                let left = if closes {
                    Box::pin(job.close_parts(&place)).await
                } else {
                    Box::pin(job.left_of_parts(&place)).await
                };
                let left = left.map_err(|error| error.of_member(path))?;
                if !left.is_empty() {
                    missing.push(format!("{path}: {}", job.all_in_words(&left)));
                }
            }
            if !missing.is_empty() {
                break;
            }
        }
        let more = missing.len().saturating_sub(NAMED_MAX);
        missing.truncate(NAMED_MAX);
        if more > 0 {
            missing.push(format!("those of {more} more arrays"));
        }
        Ok((!missing.is_empty()).then(|| missing.join("; ")))
    }

    /// The stages of all arrays together.
    pub(crate) fn stage_tasks(&self) -> Vec<StageTasks> {
        let mut stages: BTreeMap<usize, StageTasks> = BTreeMap::new();
        for array in self.arrays.iter().filter(|array| is_divided(array)) {
            for found in array.job.planned.plan.stages.iter().enumerate().map(StageTasks::of) {
                match stages.get_mut(&found.stage) {
                    None => drop(stages.insert(found.stage, found)),
                    Some(stage) => {
                        add_name(&mut stage.name, &found.name);
                        stage.tasks = stage.tasks.saturating_add(found.tasks);
                    }
                }
            }
        }
        stages.into_values().collect()
    }

    /// The tasks of a share, by the numbers of their arrays.
    fn shares(&self, stage: usize, part: StagePart) -> Result<Vec<(usize, TaskRange)>, Error> {
        let stages = self.stage_tasks().len();
        if stage >= stages.max(1) {
            return Err(no_stage(stage, stages));
        }
        let StagePart::Share(part) = part else {
            return Err(no_part(part, "each array of a group has tasks of its own: name a share"));
        };
        let mut found: Vec<(usize, StageGeometry, u64, u64)> = Vec::new();
        for (number, array) in self.arrays.iter().enumerate().filter(|(_, array)| is_divided(array))
        {
            let job = &array.job;
            let plan = &job.planned.plan;
            if let Some((of, geometry)) = plan.stages.get(stage).zip(job.geometry_of(stage)?) {
                found.push((number, geometry, of.tasks, plan.source().item_bytes));
            }
        }
        let divided: Vec<Divided<'_>> = found
            .iter()
            .map(|&(_, ref geometry, tasks, item_bytes)| Divided { geometry, tasks, item_bytes })
            .collect();
        let shares = share(&divided, part.index, part.of);
        let numbers = found.iter().map(|(number, ..)| *number);
        let shares = numbers.zip(shares).filter(|(_, tasks)| !tasks.is_empty());
        Ok(shares.map(|(number, tasks)| (number, TaskRange::new(stage, tasks))).collect())
    }

    /// Opens the group to parts, or finds that it is open; or finds the target complete.
    async fn open_to_parts(&mut self, running: Running) -> Result<Found, Error> {
        if !running.durable {
            self.stores = self.stores.without_fsync();
        }
        if self.grows() {
            return Err(Error::Usage {
                message: format!(
                    "{} cannot be written in parts: its arrays grow, as one change",
                    self.request.target
                ),
                hint: Some("run the plan as a whole".into()),
            });
        }
        if self.array_count() > self.arrays.len() {
            self.saved()?; // which says that they are too many
        }
        let (target, work) = self.shared_place().await?;
        let mut patience = Patience::new();
        loop {
            let left = Left::at(&work, &target).await?;
            if let Left::Unfinished(saved) = &left
                && !saved.is_given_up()
            {
                self.check_saved(saved)?; // one of something else stays there
                return Ok(Found::Open { is_new: false });
            }
            let resumed = Running { existing: Existing::Resume, ..running };
            if running.existing != Existing::Overwrite
                && let Ok(Start::Done) = start(self, resumed, &target, &left).await
            {
                return Ok(Found::Complete);
            }
            let error = match Box::pin(TreePlace::prepare(self, running)).await {
                Ok(place) => {
                    place.give_up().await;
                    return Ok(Found::Open { is_new: true });
                }
                Err(error) => error,
            };
            // Another process may have opened or ended it since this one looked.
            let state = match Left::at(&work, &target).await {
                Ok(Left::Unfinished(saved)) if saved.is_given_up() => State::Begun,
                Ok(Left::Unfinished(_)) => State::Open(String::new()),
                Ok(Left::Emptied) => State::Ended,
                Ok(Left::Nothing) | Err(_) => State::Nothing,
            };
            patience.wait(&work, state, error).await?;
        }
    }

    /// Refuses a copy that was begun otherwise.
    fn check_saved(&self, saved: &SavedTree) -> Result<(), Error> {
        match saved.difference(&SavedTree::new(self)) {
            Some(difference) => Err(other_job(&self.request.target, &difference)),
            None => Ok(()),
        }
    }

    /// The target and its work directory. Refuses a target that processes cannot share.
    async fn shared_place(&self) -> Result<(Store, WorkDir), Error> {
        let target = self.open_target().await?;
        match self.work_dir(&target)? {
            Some(work) => Ok((target, work)),
            None => Err(no_shared_target(&self.request.target)),
        }
    }
}

/// True if the tasks of an array can be divided among processes.
fn is_divided(array: &TreeArray) -> bool {
    check_kind(&array.job).is_ok()
}

/// Bytes of the elements of some tasks of an array.
fn bytes_of(job: &Job, tasks: &TaskRange) -> Result<u64, Error> {
    let elements = job
        .geometry_of(tasks.stage)?
        .map_or(0, |geometry| geometry.elements_of(tasks.start, tasks.end));
    Ok(elements.saturating_mul(job.planned.plan.source().item_bytes))
}
