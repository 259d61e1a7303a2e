//! Shows a plan, or a run, as one page: HTML with its style and drawings in it. It loads nothing
//! from elsewhere and can be read without its script.

mod arrays;
mod candidates;
mod chart;
mod figures;
mod knee;
mod markup;
mod measured;
mod page;
mod progress;
mod recorder;
mod scale;
mod sheet;
mod stages;
mod style;
mod subject;
mod timeline;

#[cfg(test)]
mod tests;

pub use progress::status_page;
pub use recorder::{Record, Recorder};
pub use sheet::Sheet;
