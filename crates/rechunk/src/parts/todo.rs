//! Tasks of a share that nobody has done, and the mark that says that all of it is done.

use rechunk_exec::{DoneSet, JournalContents, JournalHeader, TaskRange};
use rechunk_kernel::Digest;

use super::marks::Marks;
use crate::Error;
use crate::work_dir::WorkDir;

/// Tasks that a part still has to do of its share.
#[derive(Debug)]
pub(super) struct Todo {
    tasks: TaskRange,
    /// All that is done: by shares that are marked, and by parts that were stopped.
    pub known: DoneSet,
    /// Tasks of the share that are not done.
    pub left: Vec<TaskRange>,
    /// Tasks of the share that its mark says, so far.
    own: DoneSet,
}

impl Marks {
    /// The tasks that are left of `tasks`; `None` if others have marked all. `before` is what is
    /// marked; journals of parts that were stopped say the rest.
    pub(super) async fn todo(
        &self,
        tasks: TaskRange,
        before: DoneSet,
        header: &JournalHeader,
    ) -> Result<Option<Todo>, Error> {
        if before.count_in(&tasks) == tasks.len() {
            return Ok(None);
        }
        let mut own = DoneSet::default();
        for busy in self.busy_with(&tasks).await? {
            own.join(&busy.done(header).await.within(&tasks));
        }
        let mut known = before;
        known.join(&own);
        let left = known.left_in(&tasks);
        Ok(Some(Todo { tasks, known, left, own }))
    }
}

impl Todo {
    /// Notes that all that was left is done; `digest` is of what it took from the source.
    pub(super) fn did_all(&mut self, digest: Option<Digest>) {
        self.own.add_all(&std::mem::take(&mut self.left), digest);
    }

    /// Puts the mark of the share, of which nothing is left.
    pub(super) async fn mark(
        self,
        (work, marks): (&WorkDir, &Marks),
        header: JournalHeader,
    ) -> Result<(), Error> {
        let text = JournalContents::new(header, self.own).text();
        marks.put(&self.tasks, text.map_err(|error| work.journal_error(error))?).await
    }
}
