//! An external program as an operation, as the executor calls it.

use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rechunk_apply::OpOutput;
use rechunk_command::{Answer, BoxView, CommandSpec, Runner, Task};
use rechunk_exec::{WindowCall, WindowOp};
use rechunk_grid::DataType;
use rechunk_plan::OpSpec;
use tempfile::TempDir;

use super::boxes::{pads, spans};
use crate::Error;

/// Name of the operation in plans.
const NAME: &str = "exec";

/// An external program.
pub(super) struct CommandOp {
    runner: Runner,
    spec: OpSpec,
    output: DataType,
    calls: Arc<AtomicU64>,
    /// Directory of its tasks' files; removed with it.
    _scratch: TempDir,
}

impl std::fmt::Debug for CommandOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandOp").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// A command as a plan names it: what decides its results.
fn spec_of(command: &CommandSpec, output: DataType) -> OpSpec {
    let settings = [
        ("command", command.command.clone()),
        ("format", command.format.name().to_owned()),
        ("returns", format!("{:?}", command.returns).to_lowercase()),
        ("output", output.name()),
    ];
    let settings = settings.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    OpSpec { name: NAME.to_owned(), settings }
}

/// An error with its causes, in one text.
fn text(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

/// The refusal of a command.
fn refused(error: &dyn StdError) -> Error {
    Error::Usage { message: format!("the program: {}", text(error)), hint: None }
}

impl CommandOp {
    /// Finds the program, and makes a directory for its files. `cancel` ends what runs.
    pub(super) fn new(
        command: &CommandSpec,
        inputs: &[DataType],
        output: DataType,
        (calls, cancel): (Arc<AtomicU64>, Arc<AtomicBool>),
    ) -> Result<Self, Error> {
        let scratch = tempfile::Builder::new().prefix("rechunk-exec-").tempdir();
        let scratch = scratch.map_err(|error| Error::State {
            path: "the directory for temporary files".to_owned(),
            reason: format!("has no room for the files of tasks: {error}"),
        })?;
        // Shapes are checked when they are planned.
        command.check(inputs, output, &[1]).map_err(|error| refused(&error))?;
        let runner = Runner::new(command.clone(), scratch.path().to_owned(), cancel);
        let runner = runner.map_err(|error| refused(&error))?;
        let spec = spec_of(command, output);
        Ok(Self { runner, spec, output, calls, _scratch: scratch })
    }

    /// The operation as a plan names it.
    pub(super) fn spec(&self) -> OpSpec {
        self.spec.clone()
    }
}

/// Refuses boxes that the files of a command cannot hold.
pub(super) fn check_shape(
    command: &CommandSpec,
    inputs: &[DataType],
    output: DataType,
    shape: &[u64],
) -> Result<(), Error> {
    command.check(inputs, output, shape).map_err(|error| refused(&error))
}

impl WindowOp for CommandOp {
    fn computes(&self, spec: &OpSpec, _: &[DataType]) -> bool {
        *spec == self.spec
    }

    fn run(&self, call: WindowCall<'_>) -> Result<OpOutput, String> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let inputs = call.inputs.iter().map(|input| BoxView {
            data_type: input.data_type,
            shape: &input.shape,
            bytes: &input.bytes,
        });
        let inputs: Vec<_> = inputs.collect();
        let tile = call.tile;
        let answer = self.runner.run(&Task {
            index: &call.task.index,
            inputs: &inputs,
            out_type: self.output,
            read: &spans(&tile.read),
            keep: &spans(&tile.task_box),
            pads: &pads(tile),
        });
        match answer.map_err(|error| text(&error))? {
            Answer::Padded(bytes) => Ok(OpOutput::Padded(bytes)),
            Answer::Cropped(bytes) => Ok(OpOutput::Cropped(bytes)),
            Answer::Skip => Ok(OpOutput::Skip),
        }
    }
}
