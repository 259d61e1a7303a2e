//! The plan as a picture: what is drawn of it.

use rechunk::planner::keep::Schedule;
use rechunk::planner::{CandidateOutcome, Plan, Planned};
use rechunk::{Job, format_byte_size};

use super::plan::relative;
use super::subject::Subject;
use super::svg::{BuffersPicture, CandidatePicture, PlanPicture, StagePicture, draw};

/// Draws the plan of a job as an SVG document.
///
/// ```
/// # async fn example() -> Result<(), rechunk::Error> {
/// let request = rechunk::CopyRequest::new("a.zarr", "b.zarr");
/// let job = rechunk::Job::prepare(request, &rechunk::Stores::default()).await?;
/// assert!(rechunk_render::job_svg(&job).starts_with("<svg"));
/// # Ok(())
/// # }
/// ```
pub fn job_svg(job: &Job) -> String {
    plan_svg(&Subject::of_job(job), &job.planned)
}

/// Draws a plan as an SVG document.
///
/// ```
/// use rechunk::planner::{PlanRequest, Side, plan};
/// use rechunk_render::{Subject, plan_svg};
///
/// let sides = (Side::raw(&[5, 200, 500], 4), Side::raw(&[100, 20, 20], 4));
/// let request = PlanRequest::local(&[100, 400, 500], 4, sides, 16 << 20);
/// let planned = plan(&request)?;
/// let subject = Subject::of_request(&request, "float32");
/// assert!(plan_svg(&subject, &planned).starts_with("<svg"));
/// # Ok::<(), rechunk::planner::PlanError>(())
/// ```
pub fn plan_svg(subject: &Subject, planned: &Planned) -> String {
    let plan = &planned.plan;
    let best = plan.estimate.seconds;
    let stages = plan.stages.iter().map(|stage| StagePicture {
        name: stage.name.clone(),
        read_box: stage.read_box(plan),
        write_box: stage.tile.clone(),
        tasks: stage.tasks,
        tasks_at_once: stage.tasks_at_once,
        memory_bytes: stage.task_bytes,
        buffers: stage.schedule().and_then(|schedule| buffers_picture(plan, schedule)),
    });
    let candidates = planned.candidates.iter().map(|candidate| {
        let (cost, note) = match &candidate.outcome {
            CandidateOutcome::Chosen { .. } => (Some(1.0), "chosen".to_owned()),
            CandidateOutcome::Dearer { estimate, .. } => {
                let ratio = if best > 0.0 { estimate.seconds / best } else { 1.0 };
                (Some(ratio), relative(estimate.seconds, best))
            }
            CandidateOutcome::DoesNotFit { needs_bytes } => {
                (None, format!("does not fit: needs {}", format_byte_size(*needs_bytes)))
            }
            CandidateOutcome::NotApplicable { reason } => {
                (None, format!("not applicable: {reason}"))
            }
        };
        CandidatePicture {
            kind: candidate.kind.to_string(),
            boxes: candidate.boxes.clone(),
            cost,
            note,
        }
    });
    draw(&PlanPicture {
        title: subject.title.clone(),
        subtitle: format!(
            "{} plan {} · {} · {} budget",
            plan.kind,
            &plan.fingerprint[..8],
            subject.data_type,
            format_byte_size(plan.memory.budget_bytes)
        ),
        axes: subject.axes.clone(),
        shape: plan.source().shape.clone(),
        item_bytes: plan.source().item_bytes,
        source_chunk: plan.source().chunk.clone(),
        target_chunk: plan.target().chunk.clone(),
        source_shard: plan.source().shard.clone(),
        target_shard: plan.target().shard.clone(),
        stages: stages.collect(),
        candidates: candidates.collect(),
        budget_bytes: plan.memory.budget_bytes,
        planned_peak_bytes: plan.memory.planned_peak_bytes,
        peak_rss_bytes: None,
    })
}

/// Buffers, and the largest of what they carry: on one axis the carry, on the faster ones all.
pub(crate) fn buffers_picture(plan: &Plan, schedule: &Schedule) -> Option<BuffersPicture> {
    let model = plan.keep_model().ok()?;
    let carries = model.carries(&schedule.buffer);
    let mut carried: Vec<Vec<u64>> = Vec::new();
    for (place, &axis) in schedule.step_axes.iter().enumerate() {
        if schedule.kept[axis] && carries[axis] > 0 {
            let mut shape = schedule.buffer.clone();
            shape[axis] = carries[axis];
            for &faster in &schedule.step_axes[place + 1..] {
                shape[faster] = plan.source().shape[faster];
            }
            carried.push(shape);
        }
    }
    let volume = |shape: &Vec<u64>| shape.iter().fold(1_u64, |all, &n| all.saturating_mul(n));
    let carried = carried.into_iter().max_by_key(volume);
    Some(BuffersPicture { count: model.buffers(schedule), carried })
}
