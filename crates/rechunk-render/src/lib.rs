//! Shows plans, reports and descriptions: as text, as SVG and as HTML.
//!
//! Every function takes a value of [`rechunk`] and returns a `String`; none reads or writes a file,
//! knows a terminal, or names an option. Where a text says what to do next, the program that shows
//! it gives the names: [`Phrases`].
//!
//! | value | text | other forms |
//! |---|---|---|
//! | a plan with data: [`Prepared`](rechunk::Prepared) | [`copy_text`] | [`Sheet::of_copy`] |
//! | the plan of one array: [`Job`](rechunk::Job) | | [`job_svg`] |
//! | a plan for shapes alone: [`Planned`] | [`plan_text`] | [`plan_svg`], [`Sheet::of_plan`] |
//! | a baseline of the literature | [`baseline_text`] | |
//! | the report of a run | [`report_text`] | [`Sheet::run_page`] |
//! | a comparison | [`comparison_text`], [`group_comparison_text`] | |
//! | an array or a group | [`info_text`] | |
//! | a migration in place | [`migration_text`] | |
//! | the state at a target | [`status_text`], [`cleaned_text`] | [`status_page`] |
//! | a plan in parts | [`parts_text`], [`part_text`] | |
//! | a measured profile | [`probe_text`] | |
//! | an error | [`error_text`] | [`error_json`] |
//!
//! ```
//! use rechunk::planner::{PlanRequest, Side, plan};
//! use rechunk_render::{Sheet, Subject, plan_svg, plan_text};
//!
//! // 100 × 400 × 500 elements of 4 bytes, planned for 16 MiB of memory.
//! let sides = (Side::raw(&[5, 200, 500], 4), Side::raw(&[100, 20, 20], 4));
//! let request = PlanRequest::local(&[100, 400, 500], 4, sides, 16 << 20);
//! let planned = plan(&request)?;
//! let subject = Subject::of_request(&request, "float32");
//!
//! println!("{}", plan_text(&subject, &planned, true));
//! let picture = plan_svg(&subject, &planned);
//! let page = Sheet::of_plan(subject, &request, &planned).plan_page();
//! assert!(picture.starts_with("<svg") && page.starts_with("<!DOCTYPE html>"));
//! # Ok::<(), rechunk::planner::PlanError>(())
//! ```
//!
//! Texts may come from documents and directories of strangers. Names in tables are kept on
//! one line; before a whole text goes to a terminal, [`harmless`] takes out of it what a terminal
//! would obey. Pages and pictures escape all text.
//!
//! [`Planned`]: rechunk::planner::Planned

mod copy_plan;
mod error;
mod first_lines;
mod group_comparison;
mod group_plan;
mod harmless;
mod html;
mod info;
mod migration;
mod numbers;
mod parts;
mod phrases;
mod picture;
mod plan;
mod price;
mod probe;
mod pyramid_plan;
mod report;
mod status;
mod subject;
mod svg;
mod table;

pub use copy_plan::{Shown, copy_text};
pub use error::{error_json, error_text};
pub use group_comparison::group_comparison_text;
pub use harmless::harmless;
pub use html::{Record, Recorder, Sheet, status_page};
pub use info::info_text;
pub use migration::migration_text;
pub use numbers::seconds;
pub use parts::{part_text, parts_text};
pub use phrases::Phrases;
pub use picture::{job_svg, plan_svg};
pub use plan::{baseline_text, plan_text};
pub use probe::probe_text;
pub use report::{comparison_text, report_text};
pub use status::{cleaned_text, status_text};
pub use subject::Subject;
