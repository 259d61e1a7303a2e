//! A run: the stages of a plan, one after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{self, FutureExt, TryFutureExt};
use rechunk_kernel::{Digest, wide};
use rechunk_plan::Unit;
use rechunk_store::Store;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::begin;
use crate::check::{check, check_tasks};
use crate::journal::{DoneSet, Log, Marks, Writer};
use crate::memory::gate::Gate;
use crate::pyramid::{self, stage::PyramidStage};
use crate::raw_runs;
use crate::regions::stage::RegionStage;
use crate::stage::context::RunContext;
use crate::stage::stage_run::StageRun;
use crate::stage::way_in::WayIn;
use crate::tasks::run_tasks;
use crate::windows::{self, stage::WindowStage};
use crate::{
    ArrayDigest, Event, ExecError, Execution, Fault, Journal, JournalError, Observer, RunReport,
    Sink,
};

/// Time for writing the marks that wait, in a run that was cancelled or has failed. Without them,
/// those tasks are done again.
const LAST_FLUSH: Duration = Duration::from_millis(1500);

/// Runs a plan to its end, or the tasks of it that [`Execution::tasks`] names.
///
/// Tasks that `journal` has marked are not done again, and what gets done is marked in it. A run
/// that is cancelled, fails or is killed leaves whole objects and a journal to go on from.
/// Reserves no more than the plan says, and for what is read ahead of its step at a store that
/// answers late, no more than the plan leaves of its budget.
pub async fn run(
    execution: Arc<Execution>,
    journal: Option<Journal>,
    observer: Arc<dyn Observer>,
    cancel: CancellationToken,
) -> Result<RunReport, ExecError> {
    #[expect(clippy::disallowed_methods, reason = "a report says how long it took")]
    let started = Instant::now();
    let execution = Arc::new(Arc::unwrap_or_clone(execution).sending_as_planned().finding_gaps());
    // What was compared is not kept anywhere: a comparison is always a whole one.
    let writes = matches!(execution.sink, Sink::Write(_));
    let parts = journal.filter(|_| writes).map(Journal::into_parts);
    let (log, done) = parts.map_or((None, DoneSet::default()), |(log, done)| (Some(log), done));
    check(&execution, &done).map_err(ExecError::Run)?;
    check_tasks(&execution, log.as_ref().map(|_| &done)).map_err(ExecError::Run)?;

    let (marks, mut writer) = start_writer(&execution, &observer, log);
    let gate = Gate::new(gate_bytes(&execution));
    // Of a range, only what is done now is counted.
    let digest = execution.tasks.map_or_else(|| done.digest(0), |_| Some(Digest::default()));
    let context = RunContext::new(execution, gate, observer, marks.clone(), digest);
    let context = Arc::new(context);
    let result = tokio::select! {
        biased; // which of two failures is told does not depend on chance
        () = cancel.cancelled() => Err(ExecError::Cancelled),
        failure = ended(&mut writer) => Err(ExecError::Run(failure)),
        result = run_stages(&context, &done) => result,
    };
    if let (Err(_), Some(marks)) = (&result, &marks) {
        let _ = timeout(LAST_FLUSH, marks.flush()).await; // too late: those tasks are done again
    }
    drop(writer); // nothing waits in it, or nobody waits for it
    result.map(|digest| report(&context, &done, digest, started))
}

fn gate_bytes(execution: &Execution) -> u64 {
    let memory = &execution.plan.memory;
    memory.planned_peak_bytes.saturating_sub(memory.fixed_bytes)
}

/// The journal's writer, which ends with this: a run that is dropped writes no more.
type WriterTask = JoinSet<Result<(), JournalError>>;

fn start_writer(
    execution: &Execution,
    observer: &Arc<dyn Observer>,
    log: Option<Log>,
) -> (Option<Marks>, WriterTask) {
    let mut task = JoinSet::new();
    let Some(log) = log else { return (None, task) };
    let stores: Vec<Vec<Store>> =
        (0..execution.plan.stages.len()).map(|s| written_stores(execution, s)).collect();
    let (writer, marks) = Writer::new(log, stores, Arc::clone(observer));
    task.spawn(writer.run());
    (Some(marks), task)
}

/// The stores that stage `stage` writes to.
fn written_stores(execution: &Execution, stage: usize) -> Vec<Store> {
    let writes = |pieces: bool| {
        let outputs = &execution.plan.stages[stage].outputs;
        outputs.iter().any(|output| (output.unit == Unit::Piece) == pieces)
    };
    let target = Some(execution.sink.array().store()).filter(|_| writes(false));
    let intermediate = execution.intermediate.as_ref().filter(|_| writes(true));
    target.into_iter().chain(intermediate).cloned().collect()
}

/// Waits until the journal's writer ends, which it does of its own only when it fails.
async fn ended(writer: &mut WriterTask) -> Fault {
    let Some(ended) = writer.join_next().await else { return std::future::pending().await };
    match ended {
        Ok(Err(error)) => Fault::Journal(error),
        Ok(Ok(())) => Fault::Cpu { reason: "the journal's writer ended too early".to_owned() },
        Err(error) => Fault::Cpu { reason: format!("the journal's writer: {error}") },
    }
}

/// Runs all stages; the method of the digest of what the first one reads, where it takes one.
async fn run_stages(
    context: &Arc<RunContext>,
    done: &DoneSet,
) -> Result<Option<&'static str>, ExecError> {
    let (tasks_total, tasks_done) = tasks_of(&context.execution, done);
    context.observer.event(&Event::RunStarted { tasks_total, tasks_done });
    if context.execution.plan.apply.is_some() {
        return run_windows(context, done).await.map(|()| None);
    }
    if context.execution.plan.pyramid.is_some() {
        return run_pyramid(context, done).await.map(|()| None);
    }
    let mut method = None;
    let mut settled = future::ready(Ok(())).boxed();
    for number in context.execution.stages() {
        let stage = begin::stage(Arc::clone(context), number).map_err(ExecError::Run)?;
        let stage = Arc::new(stage);
        method = method.or(stage.digest.method());
        context.observer.event(&stage_started(&stage, done).map_err(ExecError::Run)?);
        let range = context.execution.tasks_of(number);
        let (tasks, tasks_done) = (range.len(), done.count_in(&range));
        let name = &context.execution.plan.stages[number].name;
        let span = tracing::info_span!("stage", number, name);
        span.in_scope(|| tracing::info!(tasks, tasks_done, "begins"));
        futures::try_join!(settled, run_tasks(&stage, done).instrument(span.clone()))?;
        span.in_scope(|| tracing::info!("is done"));
        context.observer.event(&Event::StageDone { stage: number });
        settled = settle(context, number).map_err(ExecError::Run).boxed();
    }
    settled.await?;
    Ok(method)
}

/// Runs the stages of an apply, beside each other.
async fn run_windows(context: &Arc<RunContext>, done: &DoneSet) -> Result<(), ExecError> {
    let stages = WindowStage::all_of(context).map_err(ExecError::Run)?;
    let shared: Vec<&RegionStage> = stages.iter().map(|stage| &stage.shared).collect();
    context.observer.event(&RegionStage::started(&shared, done));
    windows::tasks::run_tasks(&stages, done).instrument(tracing::info_span!("apply")).await?;
    let Some(last) = stages.last() else { return Ok(()) };
    context.observer.event(&Event::StageDone { stage: last.shared.number });
    settle(context, last.shared.number).await.map_err(ExecError::Run)
}

/// Runs the passes of a pyramid, one after the other.
async fn run_pyramid(context: &Arc<RunContext>, done: &DoneSet) -> Result<(), ExecError> {
    for number in context.execution.stages() {
        let stage = PyramidStage::new(Arc::clone(context), number);
        let stage = Arc::new(stage.map_err(ExecError::Run)?);
        context.observer.event(&RegionStage::started(&[&stage.shared], done));
        let span = tracing::info_span!("pyramid", number);
        pyramid::tasks::run_tasks(&stage, done).instrument(span).await?;
        context.observer.event(&Event::StageDone { stage: number });
        settle(context, number).await.map_err(ExecError::Run)?;
    }
    Ok(())
}

/// Makes durable what a stage has written and marked. The next one may begin meanwhile: its marks
/// come after these in the journal, so what a resumed run takes for done of it rests on what is
/// durable.
async fn settle(context: &RunContext, stage: usize) -> Result<(), Fault> {
    match &context.marks {
        Some(marks) if !marks.flush().await => {
            std::future::pending::<()>().await; // `run` waits for the writer, and says why it ended
        }
        None if matches!(context.execution.sink, Sink::Write(_)) => {
            for store in written_stores(&context.execution, stage) {
                store.sync().await.map_err(Fault::Sync)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Number of tasks to do in all, and of those of them that an earlier run has done.
fn tasks_of(execution: &Execution, done: &DoneSet) -> (u64, u64) {
    let ranges = || execution.stages().map(|stage| execution.tasks_of(stage));
    let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0, u64::saturating_add);
    let total = sum(&mut ranges().map(|tasks| tasks.len()));
    (total, sum(&mut ranges().map(|tasks| done.count_in(&tasks))))
}

fn stage_started(stage: &StageRun, done: &DoneSet) -> Result<Event, Fault> {
    let bytes_of = |(start, end)| {
        stage.geometry.elements_of(start, end).saturating_mul(wide(stage.item_bytes))
    };
    let done_in = done.ranges_in(&stage.tasks).map(bytes_of);
    let mut bytes_done = done_in.fold(0, u64::saturating_add);
    if matches!(stage.way_in, WayIn::Runs) && bytes_done == 0 {
        bytes_done = raw_runs::task::bytes_done(stage, done.steps(stage.number, 0))?;
    }
    Ok(Event::StageStarted {
        stage: stage.number,
        name: stage.stage.name.clone(),
        tasks: stage.tasks.len(),
        tasks_done: done.count_in(&stage.tasks),
        bytes_total: bytes_of((stage.tasks.start, stage.tasks.end)),
        bytes_done,
        may_keep_freed: false,
    })
}

fn report(
    context: &RunContext,
    done: &DoneSet,
    method: Option<&'static str>,
    started: Instant,
) -> RunReport {
    let (tasks_total, tasks_resumed) = tasks_of(&context.execution, done);
    let compares = matches!(context.execution.sink, Sink::Compare(_));
    RunReport {
        was_listed: context.execution.source.object_list().is_some(),
        missing: context.execution.source.missing(),
        tasks_total,
        tasks_done: tasks_total,
        tasks_resumed,
        differences: compares.then(|| context.differences()),
        digest: method.zip(context.digest()).map(|(method, value)| ArrayDigest { method, value }),
        elapsed_seconds: started.elapsed().as_secs_f64(),
    }
}
