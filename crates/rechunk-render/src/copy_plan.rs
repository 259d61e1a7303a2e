//! The plan of a copy as text.

use rechunk::Prepared;

use super::group_plan::group_text;
use super::plan::plan_text;
use super::subject::Subject;

/// Parts of a plan that are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// The candidates that were not taken, for one array.
    pub candidates: bool,
    /// The memory that reading back takes, of a group.
    pub verifies: bool,
}

/// Shows the plan of a copy as text.
///
/// ```
/// # async fn example() -> Result<(), rechunk::Error> {
/// use rechunk::{CopyRequest, Selection, Stores, prepare};
/// use rechunk_render::{Shown, copy_text};
///
/// let request = CopyRequest::new("a.zarr", "b.zarr");
/// let prepared = prepare(request, Selection::default(), &Stores::default()).await?;
/// println!("{}", copy_text(&prepared, Shown::default()));
/// # Ok(())
/// # }
/// ```
pub fn copy_text(copy: &Prepared, shown: Shown) -> String {
    match copy {
        Prepared::Array(job) => plan_text(&Subject::of_job(job), &job.planned, shown.candidates),
        Prepared::Tree(job) => group_text(job, shown.verifies),
    }
}
