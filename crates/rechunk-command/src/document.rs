//! Tells a program its task: a document, environment variables, placeholders.

use std::path::Path;

use rechunk_grid::DataType;
use serde::Serialize;

use crate::spec::{CommandSpec, Returns};
use crate::task::Task;
use crate::template::Placeholder;

/// Document of a task: `task.json`, and the line that a persistent program reads.
#[derive(Debug, Serialize)]
pub(crate) struct Document<'a> {
    index: &'a [u64],
    read: &'a [(i64, i64)],
    keep: &'a [(i64, i64)],
    pads: &'a [(u64, u64)],
    dtype: String,
    shape: &'a [u64],
    inputs: Vec<Input<'a>>,
    out_dtype: String,
    out_shape: &'a [u64],
    returns: Returns,
    format: &'static str,
    attempt: u32,
    dir: &'a str,
    /// Files of the inputs.
    #[serde(rename = "in")]
    files: &'a [String],
    out: &'a str,
}

#[derive(Debug, Serialize)]
struct Input<'a> {
    dtype: String,
    shape: &'a [u64],
}

/// Paths of one attempt, as text.
#[derive(Debug)]
pub(crate) struct Paths {
    pub directory: String,
    pub inputs: Vec<String>,
    pub output: String,
    pub meta: String,
}

impl Paths {
    /// Names the files of a task in `directory`. Returns none if that is no text.
    pub(crate) fn new(directory: &Path, inputs: usize, ending: &str) -> Option<Self> {
        let directory = directory.to_str()?.to_owned();
        Some(Self {
            inputs: (0..inputs).map(|number| format!("{directory}/in{number}.{ending}")).collect(),
            output: format!("{directory}/out.{ending}"),
            meta: format!("{directory}/task.json"),
            directory,
        })
    }
}

impl<'a> Document<'a> {
    /// Describes one attempt at a task.
    pub(crate) fn new(
        spec: &CommandSpec,
        task: &Task<'a>,
        out_shape: &'a [u64],
        attempt: u32,
        paths: &'a Paths,
    ) -> Self {
        let inputs = task.inputs.iter();
        let inputs =
            inputs.map(|input| Input { dtype: input.data_type.name(), shape: input.shape });
        Self {
            index: task.index,
            read: task.read,
            keep: task.keep,
            pads: task.pads,
            dtype: first_type(task).map(DataType::name).unwrap_or_default(),
            shape: first_shape(task),
            inputs: inputs.collect(),
            out_dtype: task.out_type.name(),
            out_shape,
            returns: spec.returns,
            format: spec.format.name(),
            attempt,
            dir: &paths.directory,
            files: &paths.inputs,
            out: &paths.output,
        }
    }

    /// Returns one line of JSON, with its end.
    pub(crate) fn line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

/// Environment variables of a task.
pub(crate) fn environment(task: &Task<'_>) -> [(&'static str, String); 7] {
    let starts = |sides: &[(i64, i64)]| listed(sides.iter().map(|side| side.0));
    let ends = |sides: &[(i64, i64)]| listed(sides.iter().map(|side| side.1));
    [
        ("CHUNK_INDEX", listed(task.index)),
        ("CHUNK_READ_LO", starts(task.read)),
        ("CHUNK_READ_HI", ends(task.read)),
        ("CHUNK_KEEP_LO", starts(task.keep)),
        ("CHUNK_KEEP_HI", ends(task.keep)),
        ("CHUNK_SHAPE", listed(first_shape(task))),
        ("CHUNK_DTYPE", first_type(task).map(DataType::name).unwrap_or_default()),
    ]
}

/// Value of a placeholder in a task.
pub(crate) fn value(placeholder: Placeholder, task: &Task<'_>, paths: &Paths) -> String {
    match placeholder {
        Placeholder::Input(number) => paths.inputs.get(number).cloned().unwrap_or_default(),
        Placeholder::Output => paths.output.clone(),
        Placeholder::Meta => paths.meta.clone(),
        Placeholder::Directory => paths.directory.clone(),
        Placeholder::Index => listed(task.index),
        Placeholder::Shape => listed(first_shape(task)),
        Placeholder::DataType => first_type(task).map(DataType::name).unwrap_or_default(),
    }
}

fn first_type(task: &Task<'_>) -> Option<DataType> {
    task.inputs.first().map(|input| input.data_type)
}

fn first_shape<'a>(task: &Task<'a>) -> &'a [u64] {
    task.inputs.first().map(|input| input.shape).unwrap_or_default()
}

fn listed(numbers: impl IntoIterator<Item = impl ToString>) -> String {
    numbers.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}
