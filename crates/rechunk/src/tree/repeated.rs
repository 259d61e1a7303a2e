//! Has attributes that repeat shapes say what is so in the copy of a group.

use super::{TreeArray, TreeJob};
use crate::repeats::{self, Changes};

impl TreeJob {
    /// Changes the attributes of groups and arrays where regions of arrays are copied, and warns of
    /// what is no longer true and cannot be changed.
    pub(super) fn follow_selected(&mut self) {
        if self.request.select.is_none() {
            return;
        }
        let mut changes = Changes::default();
        for TreeArray { path, job } in &self.arrays {
            changes.add_selected(path, &job.source);
        }
        if !changes.is_any() {
            return;
        }
        self.warnings.extend(repeats::follow(&changes, "", &mut self.root.attributes));
        for (path, group) in &mut self.groups {
            self.warnings.extend(repeats::follow(&changes, path, &mut group.attributes));
        }
        for TreeArray { path, job } in &mut self.arrays {
            let said = repeats::follow(&changes, path, job.target.attributes_mut());
            self.warnings.extend(said);
        }
    }
}
