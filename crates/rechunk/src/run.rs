//! Begins a job, or runs all of it. Its tasks are done in `undertaking`; how it ends is in
//! `finish.rs`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use rechunk_exec::Observer;
use rechunk_store::Role;
use tokio_util::sync::CancellationToken;

use crate::archive::check_kept;
use crate::around::Around;
use crate::complete::is_result_of;
use crate::gzip_file::unpack;
use crate::intermediate::remove_outside_of;
use crate::job::Job;
use crate::may_start::other_job;
use crate::may_start::{may_grow, may_start};
use crate::place::{Place, check_place, folder, work_dir};
use crate::plan_request::array_at;
use crate::report::{Report, TaskReport};
use crate::request::{Existing, Running};
use crate::resumption::resume_job;
use crate::target::{InTheWay, is_array, open_target};
use crate::undertaking::{Begun, Settings, carry_out};
use crate::work_dir::Left;
use crate::{Error, verify};

impl Job {
    /// Runs the job. On an error what is done is kept, and a later run with
    /// [`Existing::Resume`] goes on from there.
    pub async fn run(
        self,
        running: Running,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<Report, Error> {
        // Boxed: whoever waits for it need not hold all that it holds.
        let begun = Box::pin(self.begin(running, observer, cancel)).await?;
        Box::pin(carry_out(begun)).await
    }

    /// Begins the job: all checks, the lock, the saved job and the journal. Then its tasks can be
    /// done in ranges, and the target is made known when it is finished.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let at = |name: &str| folder.path().join(name).display().to_string();
    /// # let (source, target) = (at("source.zarr"), at("target.zarr"));
    /// # std::fs::create_dir(&source)?;
    /// # std::fs::write(source.clone() + "/.zarray", r#"{"zarr_format": 2, "shape": [4, 6],
    /// #     "chunks": [1, 6], "dtype": "<f4", "compressor": null, "filters": null,
    /// #     "fill_value": 0, "order": "C"}"#)?;
    /// use std::sync::Arc;
    /// use rechunk::{CancellationToken, CopyRequest, Existing, Job, NullObserver, Running, Stores};
    ///
    /// let mut request = CopyRequest::new(&source, &target);
    /// request.chunks = "4,2".parse()?;
    /// let job = Job::prepare(request, &Stores::default()).await?;
    /// let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
    /// let mut begun = job.begin(Running::new(Existing::Refuse), observer, cancel).await?;
    /// for tasks in begun.left() {
    ///     let done = begun.work(Some(tasks)).await?;
    ///     assert_eq!(done.tasks.done, tasks.len());
    /// }
    /// let report = begun.finish().await?; // refused while tasks are left
    /// assert!(report.tasks.is_some_and(|tasks| tasks.done == tasks.total));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn begin(
        mut self,
        running: Running,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<Begun, Error> {
        #[expect(clippy::disallowed_methods, reason = "a report says how long it took")]
        let started = Instant::now();
        if !running.durable {
            self.stores = self.stores.without_fsync();
        }
        check_kept(&self.request.target, running.keep_temp)?;
        if running.existing == Existing::Resume
            && let Some(report) = Box::pin(self.done_before(running, started, &cancel)).await?
        {
            return Ok(Begun::complete(self, report));
        }
        if running.verify {
            Box::pin(self.check_verifiable()).await?;
        }
        Box::pin(self.check_missing()).await?;
        let place = Box::pin(Place::prepare(&mut self, running)).await?;
        if self.source.packed.is_some() {
            let Some(work) = &place.work else { return Err(no_room(&self.request.target)) };
            self.source = Box::pin(unpack(&self.source, &work.unpacked()?)).await?;
        } else {
            self.source.array = self.watched_source();
        }
        Box::pin(Begun::open(self, place, Settings { running, observer, cancel, started })).await
    }

    /// Checks, without writing anything, that [`Job::run`] may write its target, and takes over the
    /// plan it would resume. So a refusal comes before anything else is said, and what is said is
    /// what will run.
    pub async fn check_target(&mut self, running: Running) -> Result<(), Error> {
        self.check_missing().await?;
        check_kept(&self.request.target, running.keep_temp)?;
        let (around, found) = check_place(self).await?;
        self.may_run(running, &around, found).await?;
        if matches!(around.left, Left::Nothing) && !self.is_complete {
            self.warnings.extend(self.room_warnings(None)?);
        }
        // What is local is looked at again when the run starts: nobody waits for that.
        self.around = around.target.answers_late().then(|| Box::new(around));
        Ok(())
    }

    async fn may_run(
        &mut self,
        running: Running,
        around: &Around,
        found: InTheWay,
    ) -> Result<(), Error> {
        let Around { target, left, .. } = around;
        match left {
            Left::Unfinished(saved) if running.existing == Existing::Resume => {
                resume_job(self, saved)
            }
            // A finished job that only left its traces: the run ends with removing them.
            left @ (Left::Done(_) | Left::Late) if self.growth.is_some() => {
                may_grow(self, running, left).map(drop)
            }
            Left::Done(_) | Left::Late
                if running.existing == Existing::Resume && is_array(target).await? =>
            {
                Ok(())
            }
            Left::Nothing if running.existing == Existing::Resume && is_array(target).await? => {
                let cancel = CancellationToken::new();
                let complete = is_result_of(self, target, running.verify, &cancel);
                self.is_complete = Box::pin(complete).await?;
                if self.is_complete {
                    return Ok(());
                }
                may_start(self, running, target, left, found).await.map(drop)
            }
            left => may_start(self, running, target, left, found).await.map(drop),
        }
    }

    /// Ends a run that was killed when all was written: what was to grow is made known, and
    /// leftovers are removed.
    pub(crate) async fn done_before(
        &self,
        running: Running,
        started: Instant,
        cancel: &CancellationToken,
    ) -> Result<Option<Report>, Error> {
        let location = &self.request.target;
        let target = open_target(location, &self.stores)?;
        // Without a target, what is left is not what makes it complete.
        let Some(work) = work_dir(location, &target, &self.stores)? else { return Ok(None) };
        if !is_array(&target).await? {
            return Ok(None);
        }
        let left = work.left().await?;
        if let Left::Unfinished(_) | Left::Damaged(_) = left {
            return Ok(None);
        }
        let has_traces = !matches!(left, Left::Nothing);
        let saved = if let Left::Done(saved) = left { saved } else { None };
        if self.change.is_some() && (saved.is_none() || self.in_tree) {
            return Ok(None); // what is there may be of any run; of a group all are made known together
        }
        // Nothing says whose it is then: it has to look like it.
        if saved.is_none()
            && !self.is_complete
            && !is_result_of(self, &target, running.verify, cancel).await?
        {
            return Ok(None);
        }
        let is_said = saved.is_some();
        if let Some(difference) = saved.as_ref().and_then(|saved| saved.difference(&self.saved())) {
            return Err(other_job(location, &difference));
        }
        if !has_traces {
            let verified = self.verified_before(running, cancel).await?;
            return Ok(Some(self.complete_report(started, verified)));
        }
        let lock = work.lock(location).await?;
        if is_said && !matches!(work.left_since().await?, Left::Done(_)) {
            work.unlock(lock).await?;
            return Ok(None); // another run has ended that meanwhile, and may have begun its own
        }
        let verified = self.verified_before(running, cancel).await?;
        if let Some(change) = &self.change {
            change.commit(location, &target).await?;
            self.describe(&target).await?;
        }
        match saved.filter(|_| !running.keep_temp) {
            Some(saved) => {
                let outside = async { remove_outside_of(&saved, &self.stores).await.map(drop) };
                work.remove_done(outside).await?;
            }
            None if is_said => work.unlock(lock).await?,
            None => work.remove().await?,
        }
        Ok(Some(self.complete_report(started, verified)))
    }

    /// The report of a run that has found its work done.
    fn complete_report(&self, started: Instant, verified: Option<bool>) -> Report {
        let mut report = self.report(started);
        report.verified = verified;
        report.already_complete = true;
        report.archive = self.archive().map(|archive| archive.report());
        report.tasks = Some(TaskReport::all_resumed(self.planned.plan.task_count()));
        report
    }

    /// Refuses a copy that cannot be compared with its source within the budget. To be asked before
    /// a run that is to verify: a refusal must not come after the work.
    pub(crate) async fn check_verifiable(&self) -> Result<(), Error> {
        self.check_lossless()?;
        if !self.is_copy() {
            return Ok(()); // what its plan makes once more is compared
        }
        let planning = &self.request.planning;
        verify::check_fits(&self.source, self.target_layout.as_ref(), planning).await
    }

    /// Refuses to compare a target that holds other elements than were read.
    fn check_lossless(&self) -> Result<(), Error> {
        let Some(codec) = self.request.lossy_codec(&self.target) else { return Ok(()) };
        Err(Error::Usage {
            message: format!(
                "{}: what is encoded as {codec} is not what was read, and nothing to compare",
                self.request.target
            ),
            hint: Some("do not verify it, or take a codec that loses nothing".into()),
        })
    }

    /// Verifies what an earlier run has written, if that is asked for and can be done.
    pub(crate) async fn verified_before(
        &self,
        running: Running,
        cancel: &CancellationToken,
    ) -> Result<Option<bool>, Error> {
        if !running.verify {
            return Ok(None);
        }
        self.check_lossless()?;
        if !self.is_copy() {
            return Ok(None); // its blocks are gone, and nothing is made again
        }
        let target = open_target(&self.request.target, &self.stores)?;
        let target = folder(&target, &self.target)?.map_or(target, |(folder, _)| folder);
        let written = array_at(&self.target_layout, &target, Role::Control);
        let (location, planning) = (&self.request.target, &self.request.planning);
        verify::check_copy(&self.source, &written, None, location, planning, cancel).await?;
        Ok(Some(true))
    }

    /// The plan, and what this process has done so far.
    pub(crate) fn report(&self, started: Instant) -> Report {
        let mut report = self.plan_report();
        report.traffic = Some(self.stores.meter().traffic());
        report.memory = report.memory.with_peak();
        if let (Some(report), Some(applied)) = (&mut report.apply, &self.applied) {
            report.op_calls = applied.calls.load(Ordering::Relaxed);
        }
        report.elapsed_seconds = Some(started.elapsed().as_secs_f64());
        report
    }
}

/// There is no place to unpack the source in.
fn no_room(target: &str) -> Error {
    Error::Usage {
        message: format!(
            "a compressed file cannot be copied to {target}: it is unpacked beside it"
        ),
        hint: Some("write to a local disk, or unpack it yourself".into()),
    }
}
