//! An undertaking: begun, its tasks done, finished; or left, to be gone on with.
//!
//! The copy of one array, new or into one that exists ([`Begun`]), and the copy of a group
//! (`tree/begun.rs`) have other targets, plans and documents, and the same course.

mod begun;
mod execute;
mod range_report;
mod repair;
mod said;

pub use begun::Begun;
pub(crate) use begun::Settings;
pub(crate) use execute::MISSING_BEFORE_LISTING;
pub use range_report::RangeReport;
pub(crate) use repair::Repairs;

use crate::Error;

/// An undertaking that has begun: it holds its target, and its state says what it is to do.
pub(crate) trait Undertaking: Sized {
    /// The report of all of it.
    type Report;

    /// Does all tasks that are not done.
    async fn work_on(&mut self) -> Result<(), Error>;

    /// Makes the target known, when all tasks are done, and removes what is left of the run; gives
    /// the target up where that fails.
    async fn end(self) -> Result<Self::Report, Error>;

    /// Gives the target up after a failure; what is done is kept.
    async fn leave_after(self, error: &Error);
}

/// Does what is left of an undertaking, and finishes it.
pub(crate) async fn carry_out<U: Undertaking>(mut begun: U) -> Result<U::Report, Error> {
    match Box::pin(begun.work_on()).await {
        Ok(()) => Box::pin(begun.end()).await,
        Err(error) => {
            begun.leave_after(&error).await;
            Err(error)
        }
    }
}
