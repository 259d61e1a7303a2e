//! Records a run, in little memory however long it takes. Times of tasks are kept while they are
//! few. Short spans of time have the bytes that were written, how many tasks ran and how much
//! memory was resident.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rechunk::{Event, Observer, system};

/// Tasks whose times are kept; where there are more, none is.
const TASKS_MAX: usize = 600;
/// Stages (of all arrays) whose times are kept.
const SPANS_MAX: usize = 2000;
/// Spans of time: when a run takes longer, two become one.
const BINS_MAX: usize = 240;
const BIN_SECONDS_MIN: f64 = 0.005;
/// Seconds between two looks at the resident memory. There are several in each span, but a look
/// takes some time, and memory may be used for a short while only.
const LOOK_SECONDS: (f64, f64) = (0.005, 0.1);

/// Records of a run: when its stages and tasks ran, what they moved, how much memory was resident.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Record {
    /// Stages, in the order in which they ran.
    pub(super) stages: Vec<StageSpan>,
    /// Their tasks; none if they were too many.
    pub(super) tasks: Vec<TaskSpan>,
    /// They were too many.
    pub(super) drops_tasks: bool,
    /// All tasks that were done, and those of earlier runs.
    pub(super) tasks_done: u64,
    pub(super) tasks_resumed: u64,
    /// Spans of time.
    pub(super) bins: Vec<Bin>,
    /// Length of each, seconds.
    pub(super) bin_seconds: f64,
    /// Time of the whole run, seconds.
    pub(super) elapsed_seconds: f64,
    /// The arrays that were begun, in their order.
    pub(super) arrays: Vec<String>,
}

/// A stage that ran. Times are seconds since the run began.
#[derive(Debug, Clone)]
pub(super) struct StageSpan {
    /// Number of the array among those that were begun, if there are several.
    pub(super) array: Option<usize>,
    /// Its number in its plan.
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) tasks_done: u64,
    /// Bytes of elements it has written in this run.
    pub(super) bytes: u64,
}

/// A task that was done. Times are seconds since the run began.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TaskSpan {
    /// Its stage, by position in [`Record::stages`].
    pub(super) stage: usize,
    /// Its number in the stage.
    pub(super) task: u64,
    pub(super) start: f64,
    pub(super) end: f64,
}

/// Counts of a span of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Bin {
    /// Bytes of elements that were finished.
    pub(super) bytes: u64,
    /// Seconds of all tasks together.
    pub(super) task_seconds: f64,
    /// The most memory that was seen resident, bytes; 0 where nobody looked.
    pub(super) rss_bytes: u64,
}

/// Notes events, and passes them on.
///
/// ```
/// use std::sync::Arc;
///
/// let recorder = rechunk_render::Recorder::new(Arc::new(rechunk::NullObserver));
/// // The run is given `recorder` as its observer; afterwards a sheet makes a page of the record.
/// let record = recorder.record();
/// ```
pub struct Recorder {
    inner: Arc<dyn Observer>,
    started: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    record: Record,
    running: HashMap<(usize, u64), f64>,
    /// When, seconds since the run began.
    looked_at: Option<f64>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("started", &self.started).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Passes events on to `inner`.
    #[expect(clippy::disallowed_methods, reason = "the page says when stages and tasks ran")]
    pub fn new(inner: Arc<dyn Observer>) -> Arc<Self> {
        let mut state = State::default();
        state.record.bin_seconds = BIN_SECONDS_MIN;
        Arc::new(Self { inner, started: Instant::now(), state: Mutex::new(state) })
    }

    /// Returns the records so far; everything that still runs ends now.
    pub fn record(&self) -> Record {
        let now = self.started.elapsed().as_secs_f64();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let running: Vec<f64> = state.running.drain().map(|(_, start)| start).collect();
        for start in running {
            state.record.add_task_time(start, now);
        }
        let mut record = state.record.clone();
        record.elapsed_seconds = now;
        if let Some(stage) = record.stages.last_mut().filter(|stage| stage.end < stage.start) {
            stage.end = now;
        }
        record
    }
}

impl Observer for Recorder {
    fn event(&self, event: &Event) {
        let now = self.started.elapsed().as_secs_f64();
        self.state.lock().unwrap_or_else(PoisonError::into_inner).note(event, now);
        self.inner.event(event);
    }
}

impl State {
    fn note(&mut self, event: &Event, now: f64) {
        let record = &mut self.record;
        match event {
            Event::ArrayStarted { path, .. } => record.arrays.push(path.clone()),
            Event::RunStarted { tasks_done, .. } => record.tasks_resumed += tasks_done,
            Event::StageStarted { stage, name, .. } => record.begin_stage(*stage, name, now),
            Event::TaskStarted { stage, task } => {
                self.running.insert((*stage, *task), now);
            }
            Event::TaskDone { stage, task } => {
                record.tasks_done += 1;
                let last = record.stages.len().checked_sub(1);
                if let Some(at) = last {
                    record.stages[at].tasks_done += 1;
                }
                if let Some(start) = self.running.remove(&(*stage, *task)) {
                    record.add_task_time(start, now);
                    record.drops_tasks |= record.tasks.len() >= TASKS_MAX;
                    if record.drops_tasks {
                        record.tasks = Vec::new();
                    } else if let Some(stage) = last {
                        record.tasks.push(TaskSpan { stage, task: *task, start, end: now });
                    }
                }
            }
            Event::TasksPassedOver { tasks, .. } => {
                record.tasks_done += tasks;
                if let Some(stage) = record.stages.last_mut() {
                    stage.tasks_done += tasks;
                }
            }
            Event::Progress { decoded_bytes, .. } => {
                let bin = record.bin(now);
                bin.bytes = bin.bytes.saturating_add(*decoded_bytes);
                if let Some(stage) = record.stages.last_mut() {
                    stage.bytes = stage.bytes.saturating_add(*decoded_bytes);
                }
            }
            Event::StageDone { .. } => {
                if let Some(stage) = record.stages.last_mut() {
                    stage.end = now;
                }
            }
            _ => {}
        }
        let look_after = (self.record.bin_seconds / 8.0).clamp(LOOK_SECONDS.0, LOOK_SECONDS.1);
        if self.looked_at.is_none_or(|at| now - at >= look_after) {
            self.looked_at = Some(now);
            let bin = self.record.bin(now);
            bin.rss_bytes = bin.rss_bytes.max(system::rss_bytes());
        }
    }
}

impl Record {
    fn begin_stage(&mut self, number: usize, name: &str, now: f64) {
        if self.stages.len() >= SPANS_MAX {
            return; // the last one stands for all that follow
        }
        self.stages.push(StageSpan {
            array: self.arrays.len().checked_sub(1),
            number,
            name: name.to_owned(),
            start: now,
            end: -1.0,
            tasks_done: 0,
            bytes: 0,
        });
    }

    /// The span that `now` is in; spans become longer until there are few enough.
    fn bin(&mut self, now: f64) -> &mut Bin {
        while now / self.bin_seconds >= BINS_MAX as f64 {
            self.bin_seconds *= 2.0;
            self.bins = self.bins.chunks(2).map(Bin::sum).collect();
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "< BINS_MAX")]
        let at = (now.max(0.0) / self.bin_seconds) as usize;
        if self.bins.len() <= at {
            self.bins.resize(at + 1, Bin::default());
        }
        &mut self.bins[at]
    }

    /// Shares the time of a task among the spans it ran in.
    fn add_task_time(&mut self, start: f64, end: f64) {
        self.bin(end);
        let seconds = self.bin_seconds;
        let mut bin_start = 0.0;
        for bin in &mut self.bins {
            let bin_end = bin_start + seconds;
            bin.task_seconds += (end.min(bin_end) - start.max(bin_start)).max(0.0);
            bin_start = bin_end;
        }
    }
}

impl Bin {
    fn sum(bins: &[Self]) -> Self {
        bins.iter().fold(Self::default(), |sum, bin| Self {
            bytes: sum.bytes + bin.bytes,
            task_seconds: sum.task_seconds + bin.task_seconds,
            rss_bytes: sum.rss_bytes.max(bin.rss_bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use rechunk::NullObserver;

    use super::*;

    fn noted(events: &[(f64, Event)]) -> Record {
        let recorder = Recorder::new(Arc::new(NullObserver));
        let mut state = recorder.state.lock().unwrap();
        for (now, event) in events {
            state.note(event, *now);
        }
        state.record.clone()
    }

    fn stage(name: &str) -> Event {
        Event::StageStarted {
            stage: 0,
            name: name.to_owned(),
            tasks: 9,
            tasks_done: 0,
            bytes_total: 100,
            bytes_done: 0,
            may_keep_freed: false,
        }
    }

    #[test]
    fn tasks_bytes_and_stages_are_where_they_were() {
        let record = noted(&[
            (0.0, stage("copy")),
            (0.0, Event::TaskStarted { stage: 0, task: 3 }),
            (0.004, Event::Progress { stage: 0, decoded_bytes: 40 }),
            (0.006, Event::Progress { stage: 0, decoded_bytes: 60 }),
            (0.010, Event::TaskDone { stage: 0, task: 3 }),
            (0.011, Event::StageDone { stage: 0 }),
        ]);
        assert_eq!(record.tasks, [TaskSpan { stage: 0, task: 3, start: 0.0, end: 0.010 }]);
        assert_eq!((record.bins[0].bytes, record.bins[1].bytes), (40, 60));
        let busy: f64 = record.bins.iter().map(|bin| bin.task_seconds).sum();
        assert!((busy - 0.010).abs() < 1e-12, "{busy}");
        let span = &record.stages[0];
        assert!((span.end - 0.011).abs() < 1e-12);
        assert_eq!((span.tasks_done, span.bytes, record.tasks_done), (1, 100, 1));
        assert!(record.bins.iter().any(|bin| bin.rss_bytes > 0));
    }

    #[test]
    fn a_long_run_with_many_tasks_takes_no_more_memory() {
        let mut events = vec![(0.0, stage("copy"))];
        for task in 0..5000_u32 {
            let at = f64::from(task);
            let (stage, task) = (0, u64::from(task));
            events.push((at, Event::TaskStarted { stage, task }));
            events.push((at + 0.5, Event::Progress { stage, decoded_bytes: 7 }));
            events.push((at + 1.0, Event::TaskDone { stage, task }));
        }
        let record = noted(&events);
        assert!(record.drops_tasks && record.tasks.is_empty() && record.tasks_done == 5000);
        assert!(record.bins.len() <= BINS_MAX && record.bins.len() > BINS_MAX / 4);
        assert_eq!(record.bins.iter().map(|bin| bin.bytes).sum::<u64>(), 35_000);
        let busy: f64 = record.bins.iter().map(|bin| bin.task_seconds).sum();
        assert!((busy - 5000.0).abs() < 1e-6, "{busy}");
    }
}
