//! Progress on stderr: a bar on a terminal, plain lines, JSON lines, or nothing.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rechunk::{Event, Observer, format_byte_size};
use rechunk_render::seconds;
use serde_json::json;

use crate::args::{OutputArgs, Progress};
use crate::signals;

/// Time between two plain or JSON lines.
const LINE_EVERY: Duration = Duration::from_secs(2);

/// Shows events; [`Display::finish`] clears what is left on the terminal.
pub(crate) struct Display {
    kind: Kind,
    state: Mutex<State>,
}

enum Kind {
    None,
    Bar(ProgressBar),
    Plain,
    Json,
}

#[derive(Debug, Default)]
struct State {
    /// The array, where the job has many.
    array: Option<ArrayState>,
    stage: String,
    /// Bytes of elements written in this stage, and of these, before this run.
    bytes: u64,
    bytes_before: u64,
    bytes_total: u64,
    tasks: u64,
    tasks_total: u64,
    started: Option<Instant>,
    line_at: Option<Instant>,
}

/// Which of many arrays is copied, and how far all are.
#[derive(Debug, Clone)]
struct ArrayState {
    path: String,
    number: usize,
    arrays: usize,
    /// Bytes of elements written by the stages of all arrays.
    bytes: u64,
    bytes_total: u64,
}

/// The display the options ask for; it also answers who asks how far it is by a signal.
pub(crate) fn observer(output: &OutputArgs) -> Arc<Display> {
    let kind = match output.progress {
        _ if output.quiet => Kind::None,
        Progress::None => Kind::None,
        Progress::Auto if !std::io::stderr().is_terminal() => Kind::None,
        Progress::Auto | Progress::Bar => Kind::Bar(bar()),
        Progress::Plain => Kind::Plain,
        Progress::Json => Kind::Json,
    };
    let display = Arc::new(Display { kind, state: Mutex::default() });
    let asked = Arc::downgrade(&display);
    signals::on_status_request(move || {
        if let Some(display) = asked.upgrade() {
            display.answer();
        }
    });
    display
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
    let template =
        "{prefix:>8} [{wide_bar}] {bytes} / {total_bytes}  {bytes_per_sec}  ETA {eta}  {msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
    }
    bar
}

impl Display {
    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Kind::Bar(bar) = &self.kind {
            bar.finish_and_clear();
        }
    }

    /// Says how far it is, whatever else is shown.
    fn answer(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.kind {
            Kind::Json => self.line(&mut state, true),
            Kind::Bar(bar) => bar.println(state.words()),
            Kind::Plain | Kind::None => super::say(&state.words()),
        }
    }

    fn line(&self, state: &mut State, force: bool) {
        let due = state.line_at.is_none_or(|at| at.elapsed() >= LINE_EVERY);
        if !(force || due) {
            return;
        }
        state.line_at = Some(Instant::now());
        match &self.kind {
            Kind::Plain => super::say(&state.words()),
            Kind::Json => {
                let (speed, eta) = state.speed();
                let mut line = json!({
                    "event": "progress",
                    "stage": state.stage,
                    "bytes": state.bytes,
                    "bytes_total": state.bytes_total,
                    "tasks": state.tasks,
                    "tasks_total": state.tasks_total,
                    "bytes_per_second": speed,
                    "eta_seconds": eta,
                });
                if let Some(array) = &state.array {
                    line["array"] = json!(array.path);
                    line["array_number"] = json!(array.number);
                    line["arrays"] = json!(array.arrays);
                    line["all_bytes"] = json!(array.bytes);
                    line["all_bytes_total"] = json!(array.bytes_total);
                }
                super::say(&line.to_string());
            }
            Kind::None | Kind::Bar(_) => {}
        }
    }
}

impl State {
    /// Bytes a second in this stage, and seconds that are left of it. None in the first moment: all
    /// bytes so far may be those of an earlier run, told late.
    fn speed(&self) -> (f64, Option<f64>) {
        let elapsed = self.started.map_or(0.0, |at| at.elapsed().as_secs_f64());
        let done = self.bytes.saturating_sub(self.bytes_before) as f64;
        let speed = if elapsed >= 0.001 { done / elapsed } else { 0.0 };
        let left = self.bytes_total.saturating_sub(self.bytes) as f64;
        (speed, (speed > 0.0).then(|| left / speed))
    }

    /// Progress of the run, as a line.
    fn words(&self) -> String {
        if self.started.is_none() {
            return "not begun".to_owned();
        }
        let (speed, eta) = self.speed();
        format!(
            "{}{}: {} of {}, {} of {} tasks, {}/s{}{}",
            self.array.as_ref().map_or(String::new(), |array| format!("{}: ", array.path)),
            self.stage,
            format_byte_size(self.bytes),
            format_byte_size(self.bytes_total),
            self.tasks,
            self.tasks_total,
            format_byte_size(to_bytes(speed)),
            eta.map_or(String::new(), |eta| format!(", {} left", seconds(eta))),
            self.array.as_ref().map_or(String::new(), ArrayState::words),
        )
    }
}

impl ArrayState {
    /// Progress of all arrays.
    fn words(&self) -> String {
        let [done, all] = [self.bytes, self.bytes_total].map(format_byte_size);
        format!("; array {} of {}, {done} of {all} in all", self.number, self.arrays)
    }
}

/// A speed as whole bytes, for showing.
fn to_bytes(speed: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shown, clamped")]
    let bytes = speed.clamp(0.0, 1e18) as u64;
    bytes
}

/// Sets a bar to a stage, or to where it stands in all arrays.
fn begin(bar: &ProgressBar, state: &State) {
    if let Some(array) = &state.array {
        // One bar for all: it goes on from array to array.
        if array.number == 1 || bar.length() != Some(array.bytes_total) {
            bar.reset();
        }
        bar.set_prefix(array.path.clone());
        bar.set_length(array.bytes_total);
        bar.set_position(array.bytes);
    } else {
        bar.reset();
        bar.set_prefix(state.stage.clone());
        bar.set_length(state.bytes_total);
        bar.set_position(state.bytes);
    }
}

impl Observer for Display {
    fn event(&self, event: &Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::ArrayStarted { path, number, arrays, bytes_total, bytes_before } => {
                state.array = Some(ArrayState {
                    path: path.clone(),
                    number: *number,
                    arrays: *arrays,
                    bytes: *bytes_before,
                    bytes_total: *bytes_total,
                });
            }
            Event::StageStarted { name, tasks, tasks_done, bytes_total, bytes_done, .. } => {
                let mut array = state.array.take();
                if let Some(array) = &mut array {
                    array.bytes += bytes_done;
                }
                *state = State {
                    array,
                    stage: name.clone(),
                    bytes: *bytes_done,
                    bytes_before: *bytes_done,
                    bytes_total: *bytes_total,
                    tasks: *tasks_done,
                    tasks_total: *tasks,
                    started: Some(Instant::now()),
                    line_at: None,
                };
                if let Kind::Bar(bar) = &self.kind {
                    begin(bar, &state);
                }
                self.line(&mut state, true);
            }
            Event::Progress { decoded_bytes, .. } => {
                state.bytes = state.bytes.saturating_add(*decoded_bytes);
                if let Some(array) = &mut state.array {
                    array.bytes = array.bytes.saturating_add(*decoded_bytes);
                }
                if let Kind::Bar(bar) = &self.kind {
                    bar.inc(*decoded_bytes);
                }
                self.line(&mut state, false);
            }
            Event::TaskDone { .. } | Event::TasksPassedOver { .. } => {
                state.tasks += event.tasks_done();
                if let Kind::Bar(bar) = &self.kind {
                    bar.set_message(format!("task {} of {}", state.tasks, state.tasks_total));
                }
            }
            Event::StageDone { .. } => self.line(&mut state, true),
            Event::Warning { text } => match &self.kind {
                Kind::Bar(bar) => bar.println(format!("warning: {text}")),
                Kind::Json => super::say(&json!({ "event": "warning", "text": text }).to_string()),
                Kind::Plain | Kind::None => super::say(&format!("warning: {text}")),
            },
            _ => {}
        }
    }
}
