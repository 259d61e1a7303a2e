//! Why a command cannot be run, or did not do what it should.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use rechunk_grid::DataType;
use thiserror::Error;

/// Why a command cannot be run, or did not do what it should.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The command, or a setting of it, makes no sense.
    #[error("`{command}` cannot be run: {reason}")]
    Command {
        /// Text of the command.
        command: String,
        /// Mistake in it, and a way around.
        reason: String,
    },
    /// There is no such program.
    #[error("there is no program `{program}`: {reason}")]
    Program {
        /// Name as it was given.
        program: String,
        /// Places that were looked at.
        reason: String,
    },
    /// Files of the format cannot hold elements of this type.
    #[error(
        "{format} files cannot hold {data_type} elements, but {supported}; take another format"
    )]
    DataType {
        /// Name of the format.
        format: &'static str,
        /// Type of the elements.
        data_type: DataType,
        /// Types that the format has.
        supported: &'static str,
    },
    /// Files of the format cannot hold boxes of this shape.
    #[error("{format} files cannot hold boxes of {shape} elements: {reason}")]
    Shape {
        /// Name of the format.
        format: &'static str,
        /// Shape of the box.
        shape: String,
        /// Limit that is passed, and a way around.
        reason: String,
    },
    /// The platform has no process groups.
    #[error("external programs are run on Unix only: elsewhere they cannot be ended for certain")]
    Platform,
    /// The caller's task contradicts itself.
    #[error("a task was given wrongly: {reason}")]
    Task {
        /// Contradiction.
        reason: String,
    },
    /// A file for the program could not be made.
    #[error(
        "{}: {source}; it has to be a directory with room for the files of all programs that run \
         at once",
        path.display()
    )]
    Scratch {
        /// File or directory.
        path: PathBuf,
        /// Answer of the system.
        source: std::io::Error,
    },
    /// The program failed, in every attempt.
    #[error(transparent)]
    Failed(Box<TaskFailure>),
    /// The run was cancelled; a program that was running is killed.
    #[error("cancelled")]
    Cancelled,
}

/// Failure of a program on one box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFailure {
    /// Command as it was given, with placeholders.
    pub command: String,
    /// Index of the task.
    pub index: Vec<u64>,
    /// Box of the array that the task keeps: start and end of each axis.
    pub keep: Vec<(i64, i64)>,
    /// Number of attempts, all of which failed.
    pub attempts: u32,
    /// Failure of the last attempt.
    pub failure: Failure,
    /// End of what the program wrote to stderr, or to stdout if that was nothing. At most 4 KiB.
    pub output: String,
    /// Directory of the last attempt, if files are kept.
    pub directory: Option<PathBuf>,
}

impl std::error::Error for TaskFailure {}

impl fmt::Display for TaskFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, index, keep, failure, .. } = self;
        let keep = format_box(keep);
        write!(f, "`{command}` {failure} (task {}, elements {keep}", format_index(index))?;
        if self.attempts > 1 {
            write!(f, ", the last of {} attempts", self.attempts)?;
        }
        write!(f, "); {}", failure.remedy())?;
        if let Some(directory) = &self.directory {
            write!(f, "; its files are in {}", directory.display())?;
        }
        if self.output.is_empty() {
            return Ok(());
        }
        write!(f, "; its output ends:")?;
        self.output.lines().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

/// Failure of one attempt. Shown as the rest of a sentence that begins with the program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Failure {
    /// The system did not start it, or does not say how it goes on.
    #[error("could not be started or watched: {reason}")]
    System {
        /// Answer of the system.
        reason: String,
    },
    /// It ended with an exit code other than 0 and 99.
    #[error("ended with exit code {code}")]
    Exit {
        /// The exit code.
        code: i32,
    },
    /// A signal ended it.
    #[error("was ended by signal {signal}")]
    Signal {
        /// Number of the signal.
        signal: i32,
    },
    /// It ran for too long and was killed.
    #[error("ran for more than {limit:?} and was killed")]
    TimedOut {
        /// Time that it had.
        limit: Duration,
    },
    /// It ended, and a process that it began did not. That was killed.
    #[error("ended and left a process that keeps its output open")]
    LeftProcess,
    /// Its output is not what was asked for.
    #[error("left a wrong output: {reason}")]
    Output {
        /// Difference.
        reason: String,
    },
    /// A persistent program wrote something else than one answer.
    #[error("wrote {said} to stdout where one answer should be")]
    Answer {
        /// The line in quotes, or what is wrong about its length.
        said: String,
    },
    /// A persistent program said that it could not do the task.
    #[error("says: {message}")]
    Refused {
        /// Message of the program.
        message: String,
    },
    /// A persistent program ended without an answer.
    #[error("ended without an answer")]
    Ended,
}

impl Failure {
    /// Returns advice to the user.
    fn remedy(&self) -> &'static str {
        match self {
            Self::System { .. } => "check that it can be executed",
            Self::Exit { .. } => "exit code 0 means done, 99 that there is nothing to write",
            Self::Signal { .. } => {
                "signal 9 often means that memory ran out: let fewer programs run at once"
            }
            Self::TimedOut { .. } => "give it more time, or smaller boxes",
            Self::LeftProcess => {
                "it has to wait for its processes, or begin them with another stdout and stderr"
            }
            Self::Output { .. } => {
                "it has to write all elements to its output file before it ends with exit code 0"
            }
            Self::Answer { .. } => {
                "for each line of stdin it has to write one line, {\"ok\": true}, {\"skip\": true} or \
                 {\"error\": \"text\"}, and everything else to stderr"
            }
            Self::Refused { .. } => "the message is that of the program",
            Self::Ended => "it has to read tasks until stdin ends",
        }
    }
}

/// Shows an index of a task: `3,0,1`.
fn format_index(index: &[u64]) -> String {
    if index.is_empty() {
        return "of a scalar".to_owned();
    }
    index.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// Shows a box: `0..64 × -3..5`.
fn format_box(sides: &[(i64, i64)]) -> String {
    if sides.is_empty() {
        return "scalar".to_owned();
    }
    let sides = sides.iter().map(|(start, end)| format!("{start}..{end}"));
    sides.collect::<Vec<_>>().join(" × ")
}
