//! Free room on local disks, held against the bytes that a plan is expected to write.

use rechunk_exec::TaskRange;
use rechunk_plan::Plan;
use rechunk_store::{FreeRoom, Store, Stores};
use rechunk_words::format_byte_size;

use crate::Error;
use crate::archive::Archive;
use crate::intermediate::place_of_temp;
use crate::job::Job;
use crate::target::open_target;
use crate::tree::{TreeArray, TreeJob};

impl Job {
    /// Warns where a disk has less free room than is expected to be written: by the whole plan, or
    /// by some tasks of it. Chunks compress as the few did that were looked at when it was planned.
    pub(crate) fn room_warnings(&self, tasks: Option<&TaskRange>) -> Result<Vec<String>, Error> {
        let target = open_target(&self.request.target, &self.stores)?;
        // Beside the target, if nothing else is said.
        let temp = place_of_temp(self)?.unwrap_or_else(|| target.clone());
        let plan = &self.planned.plan;
        let (to_temp, to_target) = written(plan, tasks);
        let (target, to_target) = packed(&self.request.target, target, to_target, &self.stores)?;
        Ok(warnings([("intermediate", &temp, to_temp), ("target", &target, to_target)]))
    }
}

impl TreeJob {
    /// [`Job::room_warnings`] for all arrays: their intermediates come and go one after the other.
    pub(crate) fn room_warnings(&self) -> Result<Vec<String>, Error> {
        let target = open_target(&self.request.target, &self.stores)?;
        let mut temp = (target.clone(), 0);
        for TreeArray { job, .. } in &self.arrays {
            let bytes = job.planned.plan.estimate.intermediate.written_bytes;
            if bytes > temp.1 {
                temp = (place_of_temp(job)?.unwrap_or_else(|| target.clone()), bytes);
            }
        }
        let to_target = self.estimate().target.written_bytes;
        let (target, to_target) = packed(&self.request.target, target, to_target, &self.stores)?;
        Ok(warnings([("intermediate", &temp.0, temp.1), ("target", &target, to_target)]))
    }
}

/// Place and bytes of a target: what is to be a ZIP file is on its disk twice before it is one.
fn packed(
    location: &str,
    target: Store,
    bytes: u64,
    stores: &Stores,
) -> Result<(Store, u64), Error> {
    match Archive::whole(location) {
        Some(archive) => Ok((archive.open_built(stores)?, bytes.saturating_mul(2))),
        None => Ok((target, bytes)),
    }
}

/// Bytes that are expected to be written to the intermediate and to the target.
fn written(plan: &Plan, tasks: Option<&TaskRange>) -> (u64, u64) {
    let estimate = &plan.estimate;
    let (temp, target) = (estimate.intermediate.written_bytes, estimate.target.written_bytes);
    let Some(tasks) = tasks else { return (temp, target) };
    let of_stage = plan.stages.get(tasks.stage).map_or(1, |stage| stage.tasks.max(1));
    let share = |bytes: u64| {
        let bytes = u128::from(bytes) * u128::from(tasks.len()) / u128::from(of_stage);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    };
    let intermediate_stages = plan.stages.len().saturating_sub(1);
    if tasks.stage < intermediate_stages {
        (share(temp / intermediate_stages as u64), 0)
    } else {
        (0, share(target))
    }
}

fn warnings(places: [(&str, &Store, u64); 2]) -> Vec<String> {
    let found = places.map(|(name, store, bytes)| (name, store.label(), store.free_room(), bytes));
    let mut warnings = Vec::new();
    let [temp, target] = &found;
    if let (Some(on_temp), Some(on_target)) = (temp.2, target.2)
        && on_temp.disk == on_target.disk
        && temp.3 > 0
    {
        let name = if target.3 > 0 { "intermediate and target" } else { "intermediate" };
        let both = (name, temp.1, temp.2, temp.3.saturating_add(target.3));
        warnings.extend(warning(&both));
    } else {
        warnings.extend(found.iter().filter_map(warning));
    }
    warnings
}

fn warning((name, location, room, bytes): &(&str, &str, Option<FreeRoom>, u64)) -> Option<String> {
    let free_bytes = (*room)?.free_bytes;
    (*bytes > free_bytes).then(|| {
        format!(
            "{location}: {} are expected to be written to its disk ({name}), which has {} free",
            format_byte_size(*bytes),
            format_byte_size(free_bytes)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_on_one_disk_share_its_room() {
        let folder = tempfile::tempdir().unwrap();
        let store = |path: &str| {
            let path = folder.path().join(path).display().to_string();
            Stores::default().open(&path).unwrap()
        };
        let (temp, target) = (store("temp"), store("t.zarr"));
        let half = target.free_room().unwrap().free_bytes / 10 * 6;
        let of = |to_temp, to_target| {
            warnings([("intermediate", &temp, to_temp), ("target", &target, to_target)])
        };
        assert!(of(half, 0).is_empty() && of(0, half).is_empty());
        assert!(of(half, half)[0].contains("intermediate and target"), "{:?}", of(half, half));
        assert!(of(0, 2 * half)[0].contains("(target)"));
        let memory = Stores::default().open("memory://a").unwrap();
        assert!(warnings([("intermediate", &memory, u64::MAX), ("target", &memory, 1)]).is_empty());
    }
}
