//! One attempt at a task: files in, the program, its file out.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::directory::TaskDirectory;
use crate::document::{Document, Paths, environment, value};
use crate::error::{CommandError, Failure};
use crate::files::{self, Expected};
use crate::process::{Ending, Interrupted, Limits, Process, Stop, Tail};
use crate::spec::{CommandSpec, Returns};
use crate::task::{Answer, Task};
use crate::template::Template;
use crate::worker::{NoAnswer, Reply, Worker};

/// Exit code of a program that has nothing to write.
const SKIP_CODE: i32 = 99;

/// A command that was found.
#[derive(Debug)]
pub(crate) struct Program {
    pub spec: CommandSpec,
    pub template: Template,
    pub file: PathBuf,
}

/// Failure of an attempt.
#[derive(Debug)]
pub(crate) enum AttemptError {
    /// The program failed; it may be tried again.
    Failed { failure: Failure, output: String, directory: Option<PathBuf> },
    /// There is no sense in another attempt.
    Fatal(CommandError),
}

impl From<CommandError> for AttemptError {
    fn from(error: CommandError) -> Self {
        Self::Fatal(error)
    }
}

/// End of a program, and the end of what it said.
struct Ran {
    end: Result<Done, Failure>,
    output: String,
}

/// End of a program that did its work.
enum Done {
    Written,
    Skip,
}

impl Program {
    /// Makes one attempt at a task. A persistent program is taken from `worker`, or started, and
    /// left there if it can go on.
    pub(crate) fn attempt(
        &self,
        task: &Task<'_>,
        number: u32,
        scratch: &Path,
        cancel: &AtomicBool,
        worker: &mut Option<Worker>,
    ) -> Result<Answer, AttemptError> {
        let format = self.spec.format;
        let out_shape = task.out_shape(self.spec.returns)?;
        let directory = TaskDirectory::new(scratch, task.index, self.spec.keep_files)?;
        let paths = Paths::new(directory.path(), task.inputs.len(), format.ending());
        let paths = paths.ok_or_else(|| not_text(directory.path()))?;
        for (path, input) in paths.inputs.iter().zip(task.inputs) {
            files::write(Path::new(path), format, input)?;
        }
        let document = Document::new(&self.spec, task, &out_shape, number, &paths).line();
        let scratch_error = |source| CommandError::Scratch { path: (&paths.meta).into(), source };
        let line = document.map_err(|error| scratch_error(error.into()))?;
        #[expect(clippy::disallowed_methods, reason = "a program reads a file, no store")]
        std::fs::write(&paths.meta, &line).map_err(scratch_error)?;

        let timeout = self.spec.timeout_milliseconds.map(Duration::from_millis);
        let limits = Limits::begin(timeout, cancel);
        let ran = if self.spec.persistent {
            self.ask(&line, &limits, worker)?
        } else {
            self.run(task, &paths, &limits)?
        };
        let read = match ran.end {
            Ok(Done::Skip) => return Ok(Answer::Skip),
            Ok(Done::Written) => self.read(task, &out_shape, Path::new(&paths.output))?,
            Err(failure) => Err(failure),
        };
        let elements = read.map_err(|failure| AttemptError::Failed {
            failure,
            output: ran.output,
            directory: directory.kept(),
        })?;
        Ok(match self.spec.returns {
            Returns::Padded => Answer::Padded(elements),
            Returns::Cropped => Answer::Cropped(elements),
        })
    }

    /// Reads the output of a program.
    fn read(
        &self,
        task: &Task<'_>,
        out_shape: &[u64],
        path: &Path,
    ) -> Result<Result<Vec<u8>, Failure>, CommandError> {
        let (returns, other) = match self.spec.returns {
            Returns::Padded => (Returns::Cropped, "without its pads"),
            Returns::Cropped => (Returns::Padded, "with its pads"),
        };
        let other_shape = task.out_shape(returns)?;
        let expected = Expected {
            data_type: task.out_type,
            shape: out_shape,
            other_shape: &other_shape,
            other,
        };
        let read = files::read(path, self.spec.format, &expected)?;
        Ok(read.map_err(|reason| Failure::Output { reason }))
    }

    /// Runs the program for one task.
    fn run(
        &self,
        task: &Task<'_>,
        paths: &Paths,
        limits: &Limits<'_>,
    ) -> Result<Ran, CommandError> {
        let arguments = self.template.fill(|placeholder| value(placeholder, task, paths));
        let started = Process::start(&self.file, &arguments, &environment(task), false);
        let mut process = match started {
            Ok(process) => process,
            Err(error) => return Ok(Ran { end: Err(system(&error)), output: String::new() }),
        };
        let mut stdout = Tail::default();
        let end = match process.finish(limits, &mut stdout) {
            Ok(Ending::Exited(status)) => judge(status),
            Ok(Ending::LeftProcess) => Err(Failure::LeftProcess),
            Err(interrupted) => {
                process.kill();
                Err(failure(interrupted)?)
            }
        };
        process.drain(&mut stdout);
        let stderr = process.tail.text();
        let output = if stderr.is_empty() { stdout.text() } else { stderr };
        Ok(Ran { end, output })
    }

    /// Has a persistent program do one task.
    fn ask(
        &self,
        line: &[u8],
        limits: &Limits<'_>,
        place: &mut Option<Worker>,
    ) -> Result<Ran, CommandError> {
        let alive = place.take().and_then(|mut worker| worker.is_alive().then_some(worker));
        let mut worker = match alive {
            Some(worker) => worker,
            None => match Worker::start(&self.file, &self.template.fill(|_| String::new())) {
                Ok(worker) => worker,
                Err(error) => return Ok(Ran { end: Err(system(&error)), output: String::new() }),
            },
        };
        let end = match worker.ask(line, limits) {
            Ok(Reply::Done) => Ok(Done::Written),
            Ok(Reply::Skip) => Ok(Done::Skip),
            Ok(Reply::Refused(message)) => Err(Failure::Refused { message }),
            Err(NoAnswer::Failed(failure)) => {
                return Ok(Ran { end: Err(failure), output: worker.kill() });
            }
            Err(NoAnswer::Interrupted(interrupted)) => {
                let output = worker.kill();
                return Ok(Ran { end: Err(failure(interrupted)?), output });
            }
        };
        let output = worker.take_output();
        *place = Some(worker);
        Ok(Ran { end, output })
    }
}

fn judge(status: ExitStatus) -> Result<Done, Failure> {
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(Done::Written),
        (Some(SKIP_CODE), _) => Ok(Done::Skip),
        (Some(code), _) => Err(Failure::Exit { code }),
        (None, signal) => Err(Failure::Signal { signal: signal.unwrap_or_default() }),
    }
}

/// Returns the failure of a program that was stopped; an error if that was the caller's wish.
fn failure(interrupted: Interrupted) -> Result<Failure, CommandError> {
    match interrupted {
        Interrupted::Stopped(Stop::Cancelled) => Err(CommandError::Cancelled),
        Interrupted::Stopped(Stop::TimedOut(limit)) => Ok(Failure::TimedOut { limit }),
        Interrupted::System(error) => Ok(system(&error)),
    }
}

fn system(error: &io::Error) -> Failure {
    Failure::System { reason: error.to_string() }
}

fn not_text(path: &Path) -> CommandError {
    let source = io::Error::new(io::ErrorKind::InvalidInput, "the path is no UTF-8");
    CommandError::Scratch { path: path.to_owned(), source }
}
