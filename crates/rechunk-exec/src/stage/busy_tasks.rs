//! Tasks of a stage for which something is stored, where the source was listed.

use std::sync::OnceLock;

use rechunk_kernel::wide;
use rechunk_plan::StageGeometry;

use crate::stage::way_in::WayIn;
use crate::{Execution, Sink};

/// Share of the list's bytes that the numbers of tasks may have.
const TASKS_SHARE: u64 = 4;

/// The tasks of a stage that have something to do, once it is known which.
#[derive(Debug)]
pub(crate) struct BusyTasks {
    /// A task for which nothing is stored, in the source and in what it is compared with, has
    /// nothing to do.
    pub does_nothing_with_nothing: bool,
    /// Those for which something is, ascending.
    known: OnceLock<Vec<u64>>,
}

impl BusyTasks {
    /// `leaves_absent_out`: what is absent in the source is not written; `is_same_fill`: it reads
    /// the same where it is absent in the target.
    pub(crate) fn new(
        execution: &Execution,
        way_in: &WayIn,
        leaves_absent_out: bool,
        is_same_fill: bool,
    ) -> Self {
        let does_nothing_with_nothing = way_in.reads_source()
            && !matches!(way_in, WayIn::Runs)
            && execution.plan.source().edges.is_none()
            && match execution.sink {
                Sink::Write(_) => {
                    !execution.in_place && (way_in.passes_through() || leaves_absent_out)
                }
                Sink::Compare(_) => is_same_fill,
                Sink::Digest { .. } => true,
            };
        Self { does_nothing_with_nothing, known: OnceLock::new() }
    }

    /// Those that have something to do; `None` if that may be all of them.
    pub(crate) fn known(&self) -> Option<&Vec<u64>> {
        self.known.get()
    }

    /// Keeps those that meet an object that is there, unless they are too many to hold.
    pub(crate) fn find(&self, execution: &Execution, geometry: &StageGeometry) {
        let compared = match &execution.sink {
            Sink::Compare(other) => Some(other),
            Sink::Write(_) | Sink::Digest { .. } => None,
        };
        let most = execution.list_bytes() / TASKS_SHARE / wide(size_of::<u64>());
        let mut tasks: Vec<u64> = Vec::new();
        for array in [&execution.source].into_iter().chain(compared) {
            let Some((list, grid)) = array.object_list().zip(array.object_grid()) else { return };
            for index in list.indices() {
                for task in geometry.tasks_meeting(&grid.region(&index)) {
                    if tasks.last() != Some(&task) {
                        tasks.push(task);
                    }
                    if wide(tasks.len()) > most {
                        return;
                    }
                }
            }
        }
        tasks.sort_unstable();
        tasks.dedup();
        let _ = self.known.set(tasks); // it is found once
    }
}
