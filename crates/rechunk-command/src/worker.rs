//! A persistent program: it stays, reads one task a line and writes one answer a line.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::error::Failure;
use crate::process::{Clock, Interrupted, Limits, Pace, Process, Tail, printable};

/// Longest answer, bytes.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// Characters of a wrong answer that are shown.
const SHOWN_CHARACTERS: usize = 200;

/// Why a program gives no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    Failed(Failure),
    Interrupted(Interrupted),
}

impl<T: Into<Interrupted>> From<T> for NoAnswer {
    fn from(interrupted: T) -> Self {
        Self::Interrupted(interrupted.into())
    }
}

/// Answer of a persistent program to one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    Done,
    Skip,
    Refused(String),
}

/// Answer as it is written: one of these, and nothing else.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Written {
    Ok(bool),
    Skip(bool),
    Error(String),
}

/// A persistent program that runs.
#[derive(Debug)]
pub(crate) struct Worker {
    process: Process,
    heard: Vec<u8>,
}

impl Worker {
    /// Starts the program.
    pub(crate) fn start(program: &Path, arguments: &[String]) -> io::Result<Self> {
        let process = Process::start::<&str>(program, arguments, &[], true)?;
        Ok(Self { process, heard: Vec::new() })
    }

    /// Returns false if the program has ended since its last answer.
    pub(crate) fn is_alive(&mut self) -> bool {
        let looked = self.process.wait(Duration::ZERO, false, &mut self.heard);
        looked.is_ok() && self.process.has_stdout() && !self.process.has_ended().unwrap_or(true)
    }

    /// Hands over a task, a line of JSON, and waits for the answer.
    pub(crate) fn ask(&mut self, line: &[u8], limits: &Limits<'_>) -> Result<Reply, NoAnswer> {
        self.process.wait(Duration::ZERO, false, &mut self.heard)?;
        if !self.heard.is_empty() {
            return Err(self.wrong(0));
        }
        let (mut rest, mut pace) = (line, Pace::new());
        loop {
            limits.check()?;
            let has_ended = self.process.has_ended()?;
            let event = self.process.wait(pace.next(), !rest.is_empty(), &mut self.heard)?;
            if let Some(end) = self.heard.iter().position(|&byte| byte == b'\n') {
                return self.answer(end, rest.is_empty());
            }
            if self.heard.len() > ANSWER_BYTES_MAX {
                return Err(self.wrong(0));
            }
            if has_ended || !self.process.has_stdout() {
                let said = self.heard.is_empty();
                return Err(if said { NoAnswer::Failed(Failure::Ended) } else { self.wrong(0) });
            }
            if event.can_write && !rest.is_empty() {
                match self.process.write(rest) {
                    Ok(written) => rest = &rest[written..],
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                        return Err(NoAnswer::Failed(Failure::Ended));
                    }
                    Err(error) => return Err(error.into()),
                }
                pace = Pace::new();
            }
        }
    }

    /// Takes the answer that ends at `end` out of what was heard.
    fn answer(&mut self, end: usize, is_asked: bool) -> Result<Reply, NoAnswer> {
        let reply = match serde_json::from_slice(&self.heard[..end]) {
            Ok(Written::Ok(true)) => Reply::Done,
            Ok(Written::Skip(true)) => Reply::Skip,
            Ok(Written::Error(message)) => Reply::Refused(shortened(message.as_bytes())),
            Ok(Written::Ok(false) | Written::Skip(false)) | Err(_) => return Err(self.wrong(0)),
        };
        if end + 1 < self.heard.len() {
            return Err(self.wrong(end + 1));
        }
        if !is_asked {
            return Err(self.wrong(0));
        }
        self.heard.clear();
        Ok(reply)
    }

    /// Quotes the line that begins at `from`.
    fn wrong(&self, from: usize) -> NoAnswer {
        let line = self.heard[from..].split(|&byte| byte == b'\n').next().unwrap_or_default();
        NoAnswer::Failed(Failure::Answer { said: format!("`{}`", shortened(line)) })
    }

    /// Returns the end of its stderr since the last task, and forgets it.
    pub(crate) fn take_output(&mut self) -> String {
        self.process.drain(&mut Tail::default());
        let output = self.process.tail.text();
        self.process.tail.clear();
        output
    }

    /// Kills the program. Returns the end of its stderr.
    pub(crate) fn kill(mut self) -> String {
        self.process.kill();
        self.take_output()
    }

    /// Tells the program that there are no more tasks.
    pub(crate) fn close(&mut self) {
        self.process.close_stdin();
    }

    /// Gives the program the rest of a time to end; then dropping it kills it.
    pub(crate) fn wait_for_end(&mut self, limits: &Limits<'_>, clock: Clock) {
        let mut pace = Pace::new();
        while !clock.is_over() && limits.check().is_ok() {
            let waited = self.process.wait(pace.next(), false, &mut self.heard);
            self.heard.clear();
            if waited.is_err() || self.process.has_ended().unwrap_or(true) {
                return;
            }
        }
    }
}

/// Returns the beginning of a text in one line.
fn shortened(text: &[u8]) -> String {
    let mut text = printable(text);
    if let Some((end, _)) = text.char_indices().nth(SHOWN_CHARACTERS) {
        text.truncate(end);
        text.push('…');
    }
    text
}
