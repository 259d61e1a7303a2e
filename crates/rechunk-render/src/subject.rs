//! Words for what a plan is about: names, types, formats, notes.

use rechunk::planner::{Estimate, PlanRequest};
use rechunk::{Carried, Growth, Job, MoreMemory, format_shape};

use super::numbers::plural;

/// Subject of a plan, in words.
///
/// ```
/// use rechunk::planner::{PlanRequest, Side};
/// use rechunk_render::Subject;
///
/// let sides = (Side::raw(&[5, 200], 4), Side::raw(&[100, 20], 4));
/// let request = PlanRequest::local(&[100, 400], 4, sides, 16 << 20);
/// assert_eq!(Subject::of_request(&request, "float32").title, "5 × 200 → 100 × 20");
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Subject {
    /// `source → target`.
    pub title: String,
    /// Data type name.
    pub data_type: String,
    /// Names of the axes.
    pub axes: Vec<String>,
    /// Format and codec of source and target.
    pub source: String,
    /// Format and codec of the target.
    pub target: String,
    /// Results of chunks as long as a time: `time=30D (720)`.
    pub times: Vec<String>,
    /// Notes on the plan, in sentences.
    pub notes: Vec<String>,
    /// Place of the source in a target that exists.
    pub growth: Option<String>,
    /// Savings by more memory.
    pub advice: Option<String>,
    /// Processes that the plan is for, where there are several.
    pub workers: Option<u32>,
}

impl Subject {
    /// Describes a job.
    pub fn of_job(job: &Job) -> Self {
        let spec = job.source.spec();
        let name = |axis: usize| {
            let names = spec.dimension_names.as_ref()?;
            names.get(axis)?.clone()
        };
        let source = job.source.array.layout();
        let target = &job.target_layout;
        let shown = |location: &str| {
            if location.is_empty() { "…".to_owned() } else { location.to_owned() }
        };
        let carried = job.carried();
        let in_words = |format: &str, codecs: &str| match &carried {
            Some(carried) => format!("{format}  {} (carried) + {codecs}", carried.filters),
            None => format!("{format}  {codecs}"),
        };
        Self {
            title: format!("{} → {}", job.request.source, shown(&job.request.target)),
            data_type: carried.as_ref().map_or_else(|| spec.data_type.name(), Carried::types),
            axes: (0..spec.shape.len())
                .map(|axis| name(axis).unwrap_or_else(|| format!("axis {axis}")))
                .collect(),
            source: in_words(source.format_name(), source.codec_summary()),
            target: in_words(target.format_name(), target.codec_summary()),
            times: job.times.clone(),
            notes: job.notes.clone(),
            growth: job
                .growth
                .as_ref()
                .map(|growth| growth_words(growth, &job.planned.plan.estimate)),
            advice: job.more_memory.as_ref().map(MoreMemory::sentence),
            workers: Some(job.request.planning.workers).filter(|&workers| workers > 1),
        }
    }

    /// Describes a request for shapes alone, of elements of the type `data_type`.
    pub fn of_request(request: &PlanRequest, data_type: &str) -> Self {
        let chunks = [&request.source, &request.target].map(|side| format_shape(&side.chunk_shape));
        Self {
            title: chunks.join(" → "),
            data_type: data_type.to_owned(),
            axes: (0..request.shape.len()).map(|axis| format!("axis {axis}")).collect(),
            source: request.source.codec.clone(),
            target: request.target.codec.clone(),
            workers: Some(request.budget.workers).filter(|&workers| workers > 1),
            ..Self::default()
        }
    }
}

/// Says where the source goes, and what that takes.
fn growth_words(growth: &Growth, estimate: &Estimate) -> String {
    let reads = estimate.target.get_requests;
    let shape = format_shape(&growth.after);
    let becomes = growth.axis.map_or_else(String::new, |_| format!(", which becomes {shape}"));
    if reads == 0 {
        return format!("  {}{becomes}", growth.summary);
    }
    let requests = plural(reads, "request");
    format!("  {}{becomes}; {requests} for what chunks at the border keep", growth.summary)
}
