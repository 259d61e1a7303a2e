//! Missing chunks of a source: counted, told, and refused where they are more than is allowed.

use rechunk_array::Missing;

use crate::chunk_keys;
use crate::job::Job;
use crate::missing_report::MissingReport;
use crate::open::OpenArray;
use crate::source_check;
use crate::tree::TreeJob;
use crate::{Error, Remedy};
use rechunk_words::MaxMissing;

impl Job {
    /// Has missing chunks counted from now on. Refuses a source of which more is missing than is
    /// allowed, as far as a list of what is there can say so. Writes nothing. Without
    /// `--max-missing` nothing is listed.
    pub async fn check_missing(&mut self) -> Result<(), Error> {
        let Some(most) = self.request.max_missing else { return Ok(()) };
        if self.source.packed.is_some() || self.source.array.missing().is_some() {
            return Ok(()); // the second time
        }
        self.source.array = self.source.array.clone().counting_missing(&self.sampled.found);
        let listed = self.source.array.list_there().await;
        let listed = listed.map_err(|error| Error::source_store(&self.request.source, error))?;
        match listed {
            Some(missing) => refuse_more(&self.source, &MissingReport::new(&missing, false), most),
            None => Ok(()),
        }
    }

    /// Checks the missing chunks when all is read, before the target is made known. Refuses them
    /// where they were removed in the meantime, lie under other keys, or are more than is allowed.
    pub(crate) async fn check_missing_after(
        &self,
        missing: Option<&Missing>,
        tasks_resumed: u64,
    ) -> Result<(), Error> {
        let Some(missing) = missing else { return Ok(()) };
        if missing.objects > 0 {
            source_check::check_directories(self).await?;
            chunk_keys::check_missing(&self.source, &missing.first).await?;
        }
        let refuses_all = |most: &MaxMissing| !most.allows(missing.of, missing.of);
        let Some(most) = self.request.max_missing.filter(refuses_all) else { return Ok(()) };
        let is_resumed = tasks_resumed > 0;
        refuse_more(&self.source, &MissingReport::new(missing, is_resumed), most)?;
        if is_resumed { self.check_missing_now(most).await } else { Ok(()) }
    }

    /// [`Job::check_missing_after`] where earlier runs have read a part. Chunks that are missing
    /// now were so then, too, or were removed since; that is refused elsewhere, as what was written
    /// since is.
    async fn check_missing_now(&self, most: MaxMissing) -> Result<(), Error> {
        source_check::check_directories_since(self, self.begun_at).await?;
        let array = self.source.array.clone().counting_missing(&[]);
        let listed = array.list_there().await;
        let listed = listed.map_err(|error| Error::source_store(&self.request.source, error))?;
        match listed.filter(|_| array.layout().shards().is_none()) {
            Some(missing) => refuse_more(&self.source, &MissingReport::new(&missing, false), most),
            None => Err(Error::SourceChunks {
                location: self.request.source.clone(),
                reason:
                    "how much of it was missing is not known: an earlier run has read a part of it"
                        .to_owned(),
                hint: Some(Remedy::StartAgainOrAllow),
            }),
        }
    }
}

impl TreeJob {
    /// [`Job::check_missing`] of every array.
    pub async fn check_missing(&mut self) -> Result<(), Error> {
        for array in &mut self.arrays {
            let checked = array.job.check_missing().await;
            checked.map_err(|error| error.of_member(&array.path))?;
        }
        Ok(())
    }
}

fn refuse_more(source: &OpenArray, found: &MissingReport, most: MaxMissing) -> Result<(), Error> {
    if most.allows(found.chunks, found.of) {
        return Ok(());
    }
    let allowed = most.sentence();
    Err(Error::SourceChunks {
        location: source.location.clone(),
        reason: format!("{}{}, and {allowed} (--max-missing)", found.sentence(), found.examples()),
        hint: Some(Remedy::RepairOrAllow),
    })
}
