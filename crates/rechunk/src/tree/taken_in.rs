//! A job of a group below that of another job, which does both.

use super::{TreeArray, TreeJob};

impl TreeJob {
    /// Takes in the job of the group `name` below this one's. Says why it cannot.
    pub(crate) fn take_in(&mut self, name: &str, other: Self) -> Result<(), String> {
        if other.array_count() > other.arrays.len() {
            return Err(format!("they have {} arrays, which are too many", other.array_count()));
        }
        let below = |path: &str| format!("{name}/{path}");
        let array = |TreeArray { path, job }: TreeArray| TreeArray { path: below(&path), job };
        self.arrays.extend(other.arrays.into_iter().map(array));
        self.groups.insert(name.to_owned(), other.root);
        self.groups.extend(other.groups.into_iter().map(|(path, group)| (below(&path), group)));
        self.consolidated.extend(other.consolidated.iter().map(|path| below(path)));
        let warnings = other.warnings.into_iter();
        self.warnings.extend(warnings.map(|warning| format!("{name}: {warning}")));
        Ok(())
    }
}
