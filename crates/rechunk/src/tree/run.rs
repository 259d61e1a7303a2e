//! Checks the copy of a group, begins it and runs it.

use std::sync::Arc;
use std::time::Instant;

use rechunk_exec::Observer;
use rechunk_store::Store;
use tokio_util::sync::CancellationToken;

use super::TreeJob;
use super::begun::{BegunTree, Publication};
use super::done::{is_done, keeps_no_state};
use super::report::TreeReport;
use super::said::Said;
use super::state::{Left, Start, TreePlace, start};
use crate::archive::{check_above, check_kept};
use crate::intermediate::check_temp;
use crate::place::work_dir;
use crate::plan_request::temp_is_memory;
use crate::request::Running;
use crate::target::{check_apart, groups_above, open_target};
use crate::undertaking::{Settings, carry_out};
use crate::work_dir::WorkDir;
use crate::{Error, consolidated};

impl TreeJob {
    /// Checks, without writing anything, that [`TreeJob::run`] may write its target, and takes over
    /// the plans it would resume.
    pub async fn check_target(&mut self, running: Running) -> Result<(), Error> {
        if Box::pin(self.check_start(running)).await? == Start::Fresh {
            self.warnings.extend(self.room_warnings()?);
        }
        Ok(())
    }

    /// [`TreeJob::check_target`], and what the run would do.
    async fn check_start(&mut self, running: Running) -> Result<Start, Error> {
        check_kept(&self.request.target, running.keep_temp)?;
        let target = self.open_target().await?;
        let left = match self.work_dir(&target)? {
            Some(work) => Left::at(&work, &target).await?,
            None => Left::Nothing,
        };
        let start = start(self, running, &target, &left).await?;
        self.check_missing().await?;
        let is_written = self.is_written(&target, start).await?;
        let is_late = self.is_late(&target, running);
        if matches!(&left, Left::Unfinished(saved) if !saved.to_remove().is_empty()) {
            return Ok(start); // of levels that are made anew nothing is begun
        }
        for array in &mut self.arrays {
            let job = &mut array.job;
            let checked = async {
                check_temp(job)?;
                match start {
                    Start::Done => return Ok(()),
                    Start::Resume if is_done(job, is_written).await? => return Ok(()),
                    Start::Resume if is_late && keeps_no_state(job, true).await? => {}
                    Start::Resume => Box::pin(job.check_target(running)).await?,
                    Start::Fresh | Start::Over => {}
                }
                if running.verify { job.check_verifiable().await } else { Ok(()) }
            };
            Box::pin(checked).await.map_err(|error: Error| error.of_member(&array.path))?;
        }
        Ok(start)
    }

    /// Runs the copy. On an error what is done is kept, and a later run with [`Existing::Resume`]
    /// goes on from there: arrays that are complete are not copied again.
    pub async fn run(
        self,
        running: Running,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<TreeReport, Error> {
        let begun = Box::pin(self.begin(running, observer, cancel)).await?;
        Box::pin(carry_out(begun)).await
    }

    /// Checks that the copy may be made, and takes the target.
    async fn begin(
        mut self,
        running: Running,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<BegunTree, Error> {
        #[expect(clippy::disallowed_methods, reason = "a report says how long it took")]
        let started = Instant::now();
        if !running.durable {
            self.stores = self.stores.without_fsync();
        }
        Box::pin(self.check_start(running)).await?;
        let place = Box::pin(TreePlace::prepare(&self, running)).await?;
        Ok(BegunTree {
            report: TreeReport::begin(&self, running.verify),
            job: self,
            place,
            settings: Settings { running, observer, cancel, started },
            said: Said::default(),
            publication: Publication::Nothing,
        })
    }

    /// The state of each array would take more requests than the array.
    pub(super) fn is_late(&self, target: &Store, running: Running) -> bool {
        target.answers_late() && !target.is_volatile() && !self.grows() && !running.keep_temp
    }

    /// Opens the target, and checks what is around it and in its way.
    pub(super) async fn open_target(&self) -> Result<Store, Error> {
        let (source, location) = (&self.request.source, &self.request.target);
        if self.adds.is_none() {
            check_apart(source, location, "target")?;
        }
        let has_intermediate = self.figures().any(|figures| figures.stages > 1);
        let temp = self.request.temp.as_deref().filter(|temp| !temp_is_memory(temp));
        if let Some(temp) = temp.filter(|_| has_intermediate) {
            check_apart(source, temp, "place for the intermediate")?;
        }
        let target = open_target(location, &self.stores)?;
        if let Some(work) = self.work_dir(&target)? {
            // What is there is removed at the end.
            check_apart(source, work.location(), "target")?;
        }
        if !self.grows() && self.adds.is_none() {
            let above = groups_above(&target, self.format).await?;
            check_above(location, !above.is_empty())?;
        }
        consolidated::check(location, &target, self.format).await?;
        self.check_beside().await?;
        Ok(target)
    }

    /// True if the run that is gone on with has written all arrays, and has begun to make known
    /// that they have grown.
    pub(super) async fn is_written(&self, target: &Store, start: Start) -> Result<bool, Error> {
        match self.work_dir(target)? {
            Some(work) if self.grows() && start == Start::Resume => work.is_written().await,
            _ => Ok(false),
        }
    }

    /// Opens the directory of the state of a run; `None` in memory.
    pub(super) fn work_dir(&self, target: &Store) -> Result<Option<WorkDir>, Error> {
        work_dir(&self.request.target, target, &self.stores)
    }
}
