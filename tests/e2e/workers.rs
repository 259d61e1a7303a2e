//! Python processes that have their libraries already (`tests/oracle/worker.py`): to import them
//! takes longer than most scripts do.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

/// The modules that most scripts import, and that start no threads by that.
const MODULES: [&str; 5] = ["numpy", "numcodecs", "zarr", "xarray", "z5py"];

/// Workers that wait for a script, by their Python.
static IDLE: Mutex<Option<HashMap<PathBuf, Vec<Worker>>>> = Mutex::new(None);

/// Output of a script of `python` for `input`; fails if the script does.
pub(crate) fn run(python: &Path, script: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut worker = idle(python, Vec::pop).unwrap_or_else(|| Worker::start(python));
    let (status, output) = worker.run(script, arguments, input);
    idle(python, |workers| workers.push(worker));
    assert_eq!(status, 0, "{} {arguments:?}", script.display());
    output
}

/// Calls `change` with the workers of `python` that wait.
fn idle<R>(python: &Path, change: impl FnOnce(&mut Vec<Worker>) -> R) -> R {
    let mut all = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    change(all.get_or_insert_default().entry(python.to_owned()).or_default())
}

/// A process that runs one script after the other. It ends when its standard input does.
struct Worker {
    _process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    fn start(python: &Path) -> Self {
        let mut process = Command::new(python)
            .args(["-W", "ignore"])
            .arg(crate::harness::root().join("tests/oracle/worker.py"))
            .args(MODULES)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let requests = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        Self { _process: process, requests, answers }
    }

    /// Status and output of a script.
    fn run(&mut self, script: &Path, arguments: &[&str], input: &[u8]) -> (i64, Vec<u8>) {
        let request = json!({"script": script, "arguments": arguments, "bytes": input.len()});
        writeln!(self.requests, "{request}").unwrap();
        self.requests.write_all(input).unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let length = usize::try_from(answer["bytes"].as_u64().unwrap()).unwrap();
        let mut output = vec![0; length];
        self.answers.read_exact(&mut output).unwrap();
        (answer["status"].as_i64().unwrap(), output)
    }
}
