//! End of a run: the target is verified and made visible, and leftovers are removed; or the
//! finished part is kept.

use std::sync::Arc;

use rechunk_exec::{RunReport, intermediate_keys};
use rechunk_format::Layout;
use rechunk_store::{Role, Store};
use tokio_util::sync::CancellationToken;

use crate::archive_packing::{self, comment};
use crate::error::store_error;
use crate::growth::{describe_grown, describe_in_groups};
use crate::gzip_file::{pack, part_of};
use crate::job::Job;
use crate::place::Place;
use crate::plan_request::array_at;
use crate::report::Report;
use crate::request::Running;
use crate::target::commit;
use crate::work_dir::Left;
use crate::{Error, consolidated, source_check, verify};

impl Job {
    /// After the last chunk: verify, make visible, take the old array's place, tell the groups
    /// above, clean up.
    pub(crate) async fn finish(
        &self,
        place: &Place,
        running: Running,
        run: &RunReport,
        cancel: &CancellationToken,
    ) -> Result<Option<bool>, Error> {
        let digest = run.digest.as_ref();
        self.check_missing_after(run.missing.as_ref(), run.tasks_resumed).await?;
        let is_replaced = place.is_replaced().await?;
        let chunks = if is_replaced { &place.target } else { &place.chunks };
        // One file takes its name, and the place of another, when all is found to be right.
        let under_way = self.file_under_way(chunks)?;
        if !is_replaced && under_way.is_none() {
            self.finish_objects(chunks).await?;
        }
        let verified = if running.verify {
            let layout = under_way.as_ref().unwrap_or(&self.target_layout);
            let written = array_at(layout, chunks, Role::Control);
            let (location, planning) = (&self.request.target, &self.request.planning);
            if self.applied.is_some() {
                self.verify_applied(place, written, cancel).await?;
            } else if self.pyramid.is_some() {
                self.verify_pyramid(place, written, cancel).await?;
            } else {
                verify::check_copy(&self.source, &written, digest, location, planning, cancel)
                    .await?;
            }
            Some(true)
        } else {
            None
        };
        let stages = &self.planned.plan.stages;
        let copies = stages.iter().any(rechunk_plan::Stage::is_copied_by_store);
        let has_runs = stages.iter().any(|stage| stage.schedule().is_some());
        if run.was_listed || has_runs || copies && !running.verify {
            source_check::check_unseen(self).await?;
        }
        source_check::check_metadata(self).await?;
        place.check_lock().await?; // last: what follows is made known
        if under_way.is_some() {
            self.finish_objects(chunks).await?;
        }
        if let Some(change) = &self.change {
            if self.in_tree {
                // Of a group all arrays are made known together.
                return self.leave_written(place, running).await.map(|()| verified);
            }
            // From here on the new shape is this run's doing.
            if let Some(work) = &place.work {
                work.set_done(&self.saved()).await?;
            }
            change.commit(&self.request.target, &place.target).await?;
        } else if !is_replaced {
            let location = &self.request.target;
            let version = self.request.n5_version();
            commit(location, &place.chunks, &place.groups, &self.target, version).await?;
            place.replace().await?;
            if self.is_packed() {
                let name = self.target.file_name().unwrap_or_default();
                pack(&place.chunks, &name, &place.target).await?;
            }
        }
        // Before it is said that all is done, so that a resume does what a kill has cut off.
        if !self.in_tree {
            self.describe(&place.target).await?;
        }
        if let (Some(archive), Some(work)) = (self.archive(), &place.work) {
            let comment = comment(self.target.format(), self.target.attributes());
            let counts = (cancel, self.planned.plan.task_count());
            archive_packing::pack(&archive, (&place.target, work), comment, running.verify, counts)
                .await?;
        }
        if let Some(work) = &place.work {
            if self.change.is_none() {
                work.set_done(&self.saved()).await?;
            }
            if !running.keep_temp {
                work.remove_done(self.remove_pieces(place)).await?;
            }
        } else if !running.keep_temp {
            self.remove_pieces(place).await?;
        }
        Ok(verified)
    }

    /// The layout of the file that is not whole yet, of an array that is one and not packed
    /// afterwards.
    fn file_under_way(&self, folder: &Store) -> Result<Option<Arc<dyn Layout>>, Error> {
        let Some((root, name)) = folder.local_root().zip(self.target.file_name()) else {
            return Ok(None);
        };
        // An earlier run may have given it its name, and one without elements is made when it ends.
        if self.is_packed() || !part_of(&root.join(name)).is_file() {
            return Ok(None);
        }
        let layout = self.target.under_way().map(|metadata| metadata.layout()).transpose();
        layout.map_err(Error::target_metadata)
    }

    /// Gives what was written in parts its names.
    async fn finish_objects(&self, chunks: &Store) -> Result<(), Error> {
        let finished = array_at(&self.target_layout, chunks, Role::Target).finish_objects().await;
        finished.map_err(|source| Error::Finish {
            location: self.request.target.clone(),
            source: Box::new(source),
        })
    }

    /// Says in consolidated metadata above the target what it is now.
    pub(crate) async fn describe(&self, target: &Store) -> Result<(), Error> {
        let location = &self.request.target;
        let Some(growth) = &self.growth else {
            return consolidated::update(location, target, &self.target).await;
        };
        describe_grown(location, target, &self.target).await?;
        let change = (growth, self.change.as_ref());
        describe_in_groups(location, target, &self.target, change).await
    }

    /// Leaves all chunks written and nothing made known, as the state says then.
    async fn leave_written(&self, place: &Place, running: Running) -> Result<(), Error> {
        if let Some(work) = &place.work {
            work.set_done(&self.saved()).await?;
            if !running.keep_temp {
                self.remove_pieces(place).await?;
                work.remove_pieces().await?;
            }
        } else if !running.keep_temp {
            self.remove_pieces(place).await?;
        }
        Ok(())
    }

    /// Removes the intermediate while the work directory still says where it is. Its pieces go by
    /// their names, where a listing may be late; all of it goes where it lies outside of that
    /// directory.
    async fn remove_pieces(&self, place: &Place) -> Result<(), Error> {
        let listed = |store: &&Store| store.local_root().is_none() && !store.is_volatile();
        if let Some(store) = place.intermediate.as_ref().filter(listed) {
            let removed = store.delete_keys(intermediate_keys(&self.planned.plan)).await;
            removed.map_err(|source| store_error("remove", store.label(), source))?;
        }
        match &place.temp_to_remove {
            Some(outside) => outside.remove().await,
            None => Ok(()),
        }
    }

    /// Keeps the report of a run that has failed, and gives the target up.
    pub(crate) async fn leave(&self, place: &mut Place, report: &Report) {
        // Who has lost the target writes nothing beside it: another run may have completed it.
        let is_held = place.check_lock().await.is_ok();
        if let Some(work) = place.work.as_ref().filter(|_| is_held) {
            work.put_report(report).await;
        }
        place.give_up().await;
        if !is_held && let Err(error) = remove_late(&self.request.target, place).await {
            tracing::warn!(%error, "what was sent too late could not be removed");
        }
    }
}

/// Removes what a run that was taken over has sent late to an intermediate outside of its work
/// directory. The other run had ended, and nothing says any more that it is there. While a run
/// writes the target, or one is to be gone on with, it is left to that one.
async fn remove_late(target: &str, place: &Place) -> Result<(), Error> {
    let Some((work, outside)) = place.work.as_ref().zip(place.temp_to_remove.as_ref()) else {
        return Ok(());
    };
    if work.store.local_root().is_some() || outside.is_volatile() {
        return Ok(()); // a lock of the system is not taken over
    }
    let Ok(lock) = work.lock(target).await else { return Ok(()) };
    let removed = async {
        match work.left_since().await? {
            Left::Nothing | Left::Late => outside.remove().await,
            Left::Unfinished(_) | Left::Damaged(_) | Left::Done(_) => Ok(()),
        }
    };
    let removed = lock.while_held(target, removed).await;
    work.unlock(lock).await?;
    removed
}
