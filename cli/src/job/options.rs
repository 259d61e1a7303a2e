//! The options that a job file can set: all that `copy` has, by the names they have there.

use std::path::Path;

use clap::{Arg, ArgAction, CommandFactory};
use rechunk::{JobEntry, JobFault};

use super::{Word, words};
use crate::args::Cli;

/// Options that are no matter of a job.
const NOT_IN_FILES: [&str; 3] = ["job", "help", "version"];
/// Locations and files, which are relative to the job file.
const PLACES: [&str; 7] = ["source", "target", "temp", "profile", "svg", "html", "log_file"];
/// Key by which editors find the schema of a JSON file.
const SCHEMA_KEY: &str = "$schema";
/// Names as alike as this are taken for misspelt.
const LIKENESS_MIN: f64 = 0.8;

/// Kind of the value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// True or false.
    Flag,
    /// Number of times that a flag is there.
    Count,
    /// A text or a number.
    Text,
    /// `1460,30,30`, a list, or a table by dimension.
    Extents,
    /// `time=0:10`, a list, or a table by dimension.
    Slices,
    /// `5,6`, or a list.
    Shape,
    /// A text, or the format's own JSON.
    Codec,
    /// One text or several.
    Texts,
    /// Options of stores, also as a table, also by location.
    StoreOptions,
    /// Settings that differ for some arrays.
    Rules,
}

/// The options of a command.
pub(super) struct Options {
    command: clap::Command,
}

impl Options {
    pub(super) fn of_copy() -> Self {
        Self::of("copy")
    }

    /// The options of the command of this name.
    pub(super) fn of(command: &str) -> Self {
        let mut all = Cli::command();
        all.build(); // global options become those of each command
        let found = all.find_subcommand(command).cloned();
        Self { command: found.unwrap_or(all) }
    }

    /// Those that a file can set.
    pub(super) fn in_files(&self) -> impl Iterator<Item = &Arg> {
        let is_in_files = |arg: &&Arg| !NOT_IN_FILES.contains(&arg.get_id().as_str());
        self.command.get_arguments().filter(is_in_files)
    }

    fn find(&self, id: &str) -> Option<&Arg> {
        self.command.get_arguments().find(|arg| arg.get_id().as_str() == id)
    }

    /// True if a file's value of option `id` is added to the typed ones. The command has it, and it
    /// was not typed, nor an option that it conflicts with. Rules and options of stores add up.
    pub(super) fn joins(&self, id: &str, is_typed: impl Fn(&str) -> bool) -> bool {
        let Some(arg) = self.find(id) else { return false };
        if matches!(kind(arg), Kind::Rules | Kind::StoreOptions) {
            return true;
        }
        let mut typed =
            self.command.get_arguments().filter(|other| is_typed(other.get_id().as_str()));
        !is_typed(id) && !typed.any(|other| self.excludes(arg, other) || self.excludes(other, arg))
    }

    /// Whether `arg` is declared to conflict with `other`.
    fn excludes(&self, arg: &Arg, other: &Arg) -> bool {
        let conflicts = self.command.get_arg_conflicts_with(arg);
        conflicts.iter().any(|conflict| conflict.get_id() == other.get_id())
    }

    /// The words that the entries of a file in `directory` mean.
    pub(super) fn words(
        &self,
        entries: &[JobEntry],
        directory: &Path,
    ) -> Result<Vec<Word>, JobFault> {
        let mut words = Vec::with_capacity(entries.len());
        for entry in entries.iter().filter(|entry| entry.key != SCHEMA_KEY) {
            let arg = self.in_files().find(|arg| name(arg) == entry.key);
            let arg = arg.ok_or_else(|| {
                let names: Vec<String> = self.in_files().map(name).collect();
                unknown(entry, &names)
            })?;
            for (at, value) in words::of(kind(arg), entry)? {
                let is_place = PLACES.contains(&arg.get_id().as_str());
                let value = if is_place { place(directory, &value) } else { value };
                words.push(Word {
                    id: arg.get_id().to_string(),
                    name: entry.key.clone(),
                    at,
                    argument: argument(arg, value),
                });
            }
        }
        Ok(words)
    }
}

/// The name of an option in a file: that of the command line.
pub(super) fn name(arg: &Arg) -> String {
    arg.get_long().unwrap_or(arg.get_id().as_str()).to_owned()
}

/// Kind of the value of an option.
pub(super) fn kind(arg: &Arg) -> Kind {
    match (arg.get_id().as_str(), arg.get_action()) {
        ("chunks" | "shards", _) => Kind::Extents,
        ("select", _) => Kind::Slices,
        ("raw-shape", _) => Kind::Shape,
        ("codec", _) => Kind::Codec,
        ("var", _) => Kind::Rules,
        ("store_option", _) => Kind::StoreOptions,
        (_, ArgAction::SetTrue) => Kind::Flag,
        (_, ArgAction::Count) => Kind::Count,
        (_, ArgAction::Append) => Kind::Texts,
        _ => Kind::Text,
    }
}

/// Argument as it is typed; `value` of a flag is nothing.
fn argument(arg: &Arg, value: String) -> String {
    match (arg.get_long(), kind(arg)) {
        (Some(long), Kind::Flag | Kind::Count) => format!("--{long}"),
        (Some(long), _) => format!("--{long}={value}"),
        // What begins like an option is a place all the same.
        (None, _) if value.starts_with('-') => format!("./{value}"),
        (None, _) => value,
    }
}

/// A key that is none.
pub(super) fn unknown(entry: &JobEntry, names: &[String]) -> JobFault {
    let likeness = |name: &&String| strsim::jaro_winkler(&entry.key, name);
    let nearest = names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let meant = nearest.filter(|name| likeness(name) >= LIKENESS_MIN);
    let tip = meant.map(|name| format!(" (did you mean {name:?}?)")).unwrap_or_default();
    JobFault::new(entry.key_at, format!("unknown key {:?}{tip}", entry.key))
}

/// Path from here of a location in a file in `directory`. URLs are what they are.
fn place(directory: &Path, location: &str) -> String {
    let is_fixed = location.is_empty()
        || location.contains("://")
        || location == "memory:"
        || Path::new(location).is_absolute();
    if is_fixed || directory.as_os_str().is_empty() {
        return location.to_owned();
    }
    directory.join(location).to_string_lossy().into_owned()
}
