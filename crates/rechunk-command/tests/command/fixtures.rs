//! Tasks, runners, and files that programs of tests hand over.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rechunk_command::{
    Answer, BoxView, CommandError, CommandSpec, Failure, Runner, Task, TaskFailure,
};
use rechunk_grid::DataType;
use tempfile::TempDir;

/// A box with its bytes.
#[derive(Debug, Clone)]
pub(crate) struct Elements {
    pub data_type: DataType,
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
}

impl Elements {
    /// Bytes that differ from each other, and are bools where they have to be.
    pub(crate) fn new(data_type: DataType, shape: &[u64]) -> Self {
        let bytes = shape.iter().product::<u64>() * data_type.item_bytes();
        let byte = |at: u64| u8::try_from((at * 151 + 7 * (at / 256)) % 251).unwrap();
        let bools = |byte: u8| if data_type == DataType::Bool { byte % 2 } else { byte };
        let bytes = (0..bytes).map(byte).map(bools).collect();
        Self { data_type, shape: shape.to_vec(), bytes }
    }

    pub(crate) fn view(&self) -> BoxView<'_> {
        BoxView { data_type: self.data_type, shape: &self.shape, bytes: &self.bytes }
    }
}

/// A runner with a scratch directory of its own.
#[derive(Debug)]
pub(crate) struct Bench {
    pub scratch: TempDir,
    pub cancel: Arc<AtomicBool>,
    pub runner: Runner,
}

impl Bench {
    pub(crate) fn new(spec: CommandSpec) -> Self {
        let (scratch, cancel) = (tempfile::tempdir().unwrap(), Arc::<AtomicBool>::default());
        let runner = Runner::new(spec, scratch.path().join("tasks"), Arc::clone(&cancel)).unwrap();
        Self { scratch, cancel, runner }
    }

    /// A runner of a shell script. It has the input as `$1`, the output as `$2`, and as `$3` a
    /// directory that stays.
    pub(crate) fn shell(script: &str, change: impl FnOnce(&mut CommandSpec)) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let quoted = shell_quoted(script);
        let stays = scratch.path().display();
        let mut spec = CommandSpec::new(format!("/bin/sh -c {quoted} sh {{in}} {{out}} {stays}"));
        change(&mut spec);
        if spec.persistent {
            spec.command = format!("/bin/sh -c {quoted} sh {stays}");
        }
        let cancel = Arc::<AtomicBool>::default();
        let runner = Runner::new(spec, scratch.path().join("tasks"), Arc::clone(&cancel)).unwrap();
        Self { scratch, cancel, runner }
    }

    /// Runs a box without pads at its own place.
    pub(crate) fn run(&self, input: &Elements) -> Result<Answer, CommandError> {
        self.run_into(input, input.data_type)
    }

    pub(crate) fn run_into(
        &self,
        input: &Elements,
        out_type: DataType,
    ) -> Result<Answer, CommandError> {
        let sides: Vec<_> =
            input.shape.iter().map(|&extent| (0, i64::try_from(extent).unwrap())).collect();
        let pads = vec![(0, 0); input.shape.len()];
        self.runner.run(&Task {
            index: &[3, 0],
            inputs: &[input.view()],
            out_type,
            read: &sides,
            keep: &sides,
            pads: &pads,
        })
    }

    /// Runs a small box, and returns why the program failed.
    pub(crate) fn fails(&self) -> TaskFailure {
        let failure = failure(self.run(&small()).unwrap_err());
        let left = std::fs::read_dir(self.scratch.path().join("tasks")).unwrap().count();
        assert_eq!(left, 0, "the directory of the task is left");
        failure
    }

    /// Text of a file in the directory that stays.
    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.scratch.path().join(name)).unwrap_or_default()
    }
}

/// A box of six elements of 16 bits.
pub(crate) fn small() -> Elements {
    Elements::new(DataType::Uint16, &[2, 3])
}

pub(crate) fn failure(error: CommandError) -> TaskFailure {
    match error {
        CommandError::Failed(failure) => *failure,
        other => panic!("{other}"),
    }
}

/// Why an output was refused.
pub(crate) fn output_reason(failure: &TaskFailure) -> String {
    match &failure.failure {
        Failure::Output { reason } => reason.clone(),
        other => panic!("{other}"),
    }
}

/// Text in quotes of the shell, with braces that are no placeholders.
pub(crate) fn shell_quoted(text: &str) -> String {
    let text = text.replace('{', "{{").replace('}', "}}").replace('\'', "'\\''");
    format!("'{text}'")
}

/// Writes a file, and returns its path as text.
pub(crate) fn file(directory: &Path, name: &str, bytes: &[u8]) -> String {
    let path = directory.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// True if the process of the number in `text` is there.
pub(crate) fn is_running(text: &str) -> bool {
    let number = text.trim();
    assert!(number.parse::<u32>().is_ok(), "`{number}` is no process");
    let status = std::process::Command::new("/bin/sh")
        .args(["-c", &format!("kill -0 {number} 2>/dev/null")])
        .status();
    // A zombie whose parent does not wait is as good as gone.
    let state = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    status.unwrap().success() && !state.contains(") Z ")
}

/// True if the process of the number in `text` is gone, or is within seconds.
pub(crate) fn ends(text: &str) -> bool {
    (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        !is_running(text)
    })
}
