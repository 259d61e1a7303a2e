//! `--job FILE`: options in a file. They are turned into the words that the command line has for
//! them, so that an option means one thing, wherever it is said; those of the command line win.

mod options;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod tests;
mod words;

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, Parser};
use rechunk::{Error, JOB_FILE_BYTES_MAX, JobFault, JobSyntax, Position, parse_job_file};

use crate::args::{Cli, Command, CopyArgs};
use crate::request::{self, usage};
use options::Options;

/// Places that stand for those a file leaves to the command line, while the file is checked.
const SOME_SOURCE: &str = "source.zarr";
const SOME_TARGET: &str = "target.zarr";

/// Most words of a file among which the one that is wrong is sought.
const WORDS_SOUGHT_MAX: usize = 1000;

/// A word of the command line, and where in the file it stands.
#[derive(Clone, PartialEq, Eq)]
struct Word {
    /// Name of the option, as clap knows it.
    id: String,
    /// Name of the option, as people know it.
    name: String,
    at: Position,
    /// `--chunks=-1,30,30`, or the value of a place.
    argument: String,
}

impl Word {
    /// The arrays it is about, where it is one of `--include`, `--exclude` and `--var`.
    fn pattern(&self) -> Option<&str> {
        let (_, value) = self.argument.split_once('=')?;
        let names = ["include", "exclude", "var"];
        names.contains(&self.name.as_str()).then(|| value.split(':').next().unwrap_or(value))
    }
}

/// A file that was read.
pub(crate) struct JobFile {
    path: String,
    words: Vec<Word>,
}

/// The arguments of the process: those of the command line, and those of the file it names.
pub(crate) fn command_line() -> Result<(Cli, Option<JobFile>), Error> {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let Some((command, seen)) = seen(&typed) else { return Ok((Cli::parse(), None)) };
    let Some(path) = seen.try_get_one::<String>("job").ok().flatten() else {
        return Ok((Cli::parse(), None));
    };
    let mut file = JobFile::read(path)?;
    file.check()?;
    file.retain(&command, &seen);
    let joined = file.join(&typed, &command, &seen);
    match Cli::try_parse_from(joined) {
        Ok(cli) => Ok((cli, Some(file))),
        Err(error) => error.exit(),
    }
}

/// The command that was typed, and its arguments as far as they can be read without the file.
fn seen(typed: &[OsString]) -> Option<(String, ArgMatches)> {
    let mut matches = Cli::command().ignore_errors(true).try_get_matches_from(typed).ok()?;
    matches.remove_subcommand()
}

impl JobFile {
    fn read(path: &str) -> Result<Self, Error> {
        let wrong = |reason: String| usage(format!("--job: {path}: {reason}"), None);
        let syntax = JobSyntax::of_name(path).ok_or_else(|| {
            let hint = "name it .toml, .yaml, .yml or .json";
            usage(format!("--job: the ending of {path} does not say its language"), Some(hint))
        })?;
        let limit = u64::try_from(JOB_FILE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
        let mut bytes = Vec::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(limit).read_to_end(&mut bytes))
            .map_err(|error| wrong(format!("it cannot be read: {error}")))?;
        if bytes.len() > JOB_FILE_BYTES_MAX {
            return Err(wrong(format!("it has more than {JOB_FILE_BYTES_MAX} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
        Self::parse(path, syntax, text.strip_prefix('\u{feff}').unwrap_or(&text))
    }

    fn parse(path: &str, syntax: JobSyntax, text: &str) -> Result<Self, Error> {
        let entries = parse_job_file(syntax, text).map_err(|fault| located(path, &fault))?;
        let directory = Path::new(path).parent().unwrap_or(Path::new(""));
        let words = Options::of_copy().words(&entries, directory);
        let words = words.map_err(|fault| located(path, &fault))?;
        Ok(Self { path: path.to_owned(), words })
    }

    /// Refuses what is wrong in the file by itself, at its place there.
    fn check(&self) -> Result<(), Error> {
        let all: Vec<&Word> = self.words.iter().collect();
        let Err(error) = meaning(&all) else { return Ok(()) };
        // What is already wrong without the file (in the environment) is no fault of the file.
        if meaning(&[]).is_err_and(|other| told(&other) == told(&error)) {
            return Ok(());
        }
        let is_to_blame = |word: &&Word| {
            // A codec is judged by the format.
            let judged_by = |other: &&Word| ["format", "target"].contains(&other.name.as_str());
            let mut some: Vec<&Word> = self.words.iter().filter(judged_by).collect();
            some.retain(|other| other != word);
            some.push(word);
            meaning(&some).is_err_and(|other| told(&other) == told(&error))
        };
        let place = self.words.iter().take(WORDS_SOUGHT_MAX).find(is_to_blame);
        let place = place.map(|word| word.at);
        Err(self.at(place, &error))
    }

    fn at(&self, place: Option<Position>, error: &Error) -> Error {
        let place = place.map_or_else(|| self.path.clone(), |at| format!("{}:{at}", self.path));
        Error::Usage { message: format!("{place}: {}", told(error)), hint: error.remedy() }
    }

    /// Says of a usage error which begins with an option of this file where it stands.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let Error::Usage { message, .. } = &error else { return error };
        let option = message.strip_prefix("--").and_then(|rest| rest.split([':', ' ']).next());
        let words = self.words.iter().filter(|word| Some(word.name.as_str()) == option);
        // Of what can be there several times, also beside the file, the one that is repeated.
        let is_meant = |word: &&Word| match word.pattern() {
            Some(pattern) => message.contains(&format!("`{pattern}`")),
            None => true,
        };
        match { words }.find(is_meant) {
            Some(word) => self.at(Some(word.at), &error),
            None => error,
        }
    }

    /// Leaves the words that are joined with what was typed.
    fn retain(&mut self, command: &str, seen: &ArgMatches) {
        let options = Options::of(command);
        self.words.retain(|word| options.joins(&word.id, |id| is_typed(seen, id)));
    }

    /// `typed`, with the words of the file.
    fn join(&self, typed: &[OsString], command: &str, seen: &ArgMatches) -> Vec<OsString> {
        let (places, others): (Vec<&Word>, Vec<&Word>) =
            self.words.iter().partition(|word| ["source", "target"].contains(&word.id.as_str()));
        // Those of the file come first: where an option may be there several times, the last
        // counts.
        let at = command_at(typed, command);
        let argument = |word: &&Word| OsString::from(&word.argument);
        let mut joined: Vec<OsString> = typed[..at].to_vec();
        joined.extend(others.iter().map(argument));
        joined.extend_from_slice(&typed[at..]);
        // By their order: without a source, a target would be taken for one.
        let place = |id: &str| places.iter().find(|word| word.id == id);
        let source = place("source");
        joined.extend(source.map(argument));
        if source.is_some() || is_typed(seen, "source") {
            joined.extend(place("target").map(argument));
        }
        joined
    }
}

/// Whether an option or a place was typed.
fn is_typed(seen: &ArgMatches, id: &str) -> bool {
    seen.try_contains_id(id).unwrap_or(false)
        && seen.value_source(id) == Some(ValueSource::CommandLine)
}

/// Position of the first word behind the command. Before it there may be the option that all
/// commands have.
fn command_at(typed: &[OsString], command: &str) -> usize {
    let mut at = 1;
    while typed.get(at).is_some_and(|word| word != command) {
        at += if typed[at] == "--log-file" { 2 } else { 1 };
    }
    (at + 1).min(typed.len())
}

/// Checks the meaning of these words for a copy, as far as that is possible without a source.
fn meaning(words: &[&Word]) -> Result<(), Error> {
    let (places, others): (Vec<&Word>, Vec<&Word>) =
        words.iter().partition(|word| ["source", "target"].contains(&word.id.as_str()));
    let mut line = vec!["rechunk", "copy"];
    line.extend(others.iter().map(|word| word.argument.as_str()));
    for (name, some) in [("source", SOME_SOURCE), ("target", SOME_TARGET)] {
        let given = places.iter().find(|word| word.id == name);
        line.push(given.map_or(some, |word| word.argument.as_str()));
    }
    match Cli::try_parse_from(line) {
        Ok(Cli { command: Command::Copy(args), .. }) => check_copy(&args),
        Ok(_) => Ok(()),
        Err(error) => Err(usage(said_by_clap(&error), None)),
    }
}

fn check_copy(args: &CopyArgs) -> Result<(), Error> {
    request::planned_stores(&args.stores, args.planning.concurrency)?;
    let copy = request::of_copy(args)?;
    copy.check(&request::selection(&args.selection)?)
}

/// Message of clap without the usage behind it, on one line.
fn said_by_clap(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let end = text.find("\n\nUsage:").or_else(|| text.find("\n\nFor more information"));
    let lines = text[..end.unwrap_or(text.len())].lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// An error with its causes, on one line.
fn told(error: &Error) -> String {
    error.chain().join(": ")
}

fn located(path: &str, fault: &JobFault) -> Error {
    usage(format!("{path}:{}: {}", fault.at, fault.reason), None)
}
