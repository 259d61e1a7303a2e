//! The file of `--html`: written of a plan, when a run begins, and when it has ended.

use rechunk::{CopyReport, Error};
use rechunk_render::{Record, Sheet};

use crate::phrases::phrases;
use crate::terminal::write_file;

/// A page, and the file that it is written to.
pub(crate) struct HtmlFile {
    path: String,
    sheet: Sheet,
}

impl HtmlFile {
    /// Takes what the page is about.
    pub(crate) fn new(path: &str, sheet: Sheet) -> Self {
        Self { path: path.to_owned(), sheet: sheet.with_phrases(phrases()) }
    }

    /// Writes the page of the plan.
    pub(crate) fn write_plan(&self) -> Result<(), Error> {
        write_file(&self.path, &self.sheet.plan_page())
    }

    /// Writes the page of the plan when its run begins. So a file that cannot be written is known
    /// at once, and a run that is killed leaves its plan.
    pub(crate) fn write_begun(&self) -> Result<(), Error> {
        write_file(&self.path, &self.sheet.begun_page())
    }

    /// Writes the page of a run.
    pub(crate) fn write_run(
        self,
        record: &Record,
        outcome: Result<&CopyReport, &Error>,
    ) -> Result<(), Error> {
        write_file(&self.path, &self.sheet.run_page(record, outcome))
    }
}
