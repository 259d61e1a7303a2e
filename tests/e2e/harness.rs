//! Runs the binary and looks at what it leaves behind.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_rechunk");
/// A user that owns nothing.
pub(crate) const NOBODY: u32 = 65534;
/// Longer than any run here takes; a run that hangs must not hang the tests.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A path inside `fixtures`, as an argument.
pub(crate) fn fixture(name: &str) -> String {
    root().join("fixtures").join(name).display().to_string()
}

/// The real array that most tests use: 54 × 18 × 432 float32 in chunks of 7 × 18 × 100, Zarr v2.
pub(crate) fn ostia() -> String {
    fixture("ostia_monthly.zarr/surface_temperature")
}

/// A directory that is removed at the end.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// On the disk of the build directory: `/tmp` may be memory.
    pub(crate) fn new() -> Self {
        Self(TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    /// A folder where every user may look.
    pub(crate) fn public() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A path inside, as an argument.
    pub(crate) fn at(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

/// A run to be made.
pub(crate) struct Run {
    command: Command,
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Done {
    /// Exit code; 128 + the number of the signal that ended it.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    said: String,
}

impl Run {
    /// `rechunk` with arguments.
    pub(crate) fn rechunk(arguments: &[impl AsRef<OsStr>]) -> Self {
        Self::program(BINARY.as_ref(), arguments)
    }

    /// Any program, without the environment that would change what `rechunk` does.
    pub(crate) fn program(program: &Path, arguments: &[impl AsRef<OsStr>]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments);
        let ours = |name: &OsString| name.to_string_lossy().starts_with("RECHUNK_");
        for (name, _) in std::env::vars_os().filter(|(name, _)| ours(name)) {
            command.env_remove(name);
        }
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        Self { command }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub(crate) fn in_directory(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// As another user; only root may.
    pub(crate) fn by_user(mut self, user: u32) -> Self {
        self.command.uid(user);
        self
    }

    /// Starts it with both outputs piped.
    pub(crate) fn start(mut self) -> Child {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", self.command))
    }

    /// Runs it to its end.
    pub(crate) fn go(self) -> Done {
        let said = format!("{:?}", self.command);
        let mut child = self.start();
        let stdout = reader(child.stdout.take().unwrap());
        let stderr = reader(child.stderr.take().unwrap());
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > TIMEOUT {
                child.kill().unwrap();
                panic!("no end after {TIMEOUT:?}: {said}");
            }
            thread::sleep(Duration::from_millis(2));
        };
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        Done { code, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap(), said }
    }

    /// Runs it to its end and has the operating system say what its memory peaked at, bytes.
    pub(crate) fn go_measured(self) -> (Done, u64) {
        let folder = Folder::public();
        let report = folder.at("peak");
        // The helper may run as another user.
        std::fs::write(&report, "").unwrap();
        open_to_all(folder.path(), 0o777);
        open_to_all(report.as_ref(), 0o666);
        let mut wrapped = Command::new(tool("peak_rss"));
        wrapped.arg(&report).arg(self.command.get_program()).args(self.command.get_args());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => wrapped.env(name, value),
                None => wrapped.env_remove(name),
            };
        }
        if let Some(directory) = self.command.get_current_dir() {
            wrapped.current_dir(directory);
        }
        let done = Self { command: wrapped }.go();
        let peak = std::fs::read_to_string(&report).unwrap();
        let peak = peak.trim().parse();
        (done, peak.expect("peak_rss says a number"))
    }
}

fn reader(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).expect("output is UTF-8")
    })
}

/// Sets the mode of a path.
pub(crate) fn open_to_all(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// `rechunk` with arguments, run to its end.
pub(crate) fn rechunk(arguments: &[impl AsRef<OsStr>]) -> Done {
    Run::rechunk(arguments).go()
}

impl Done {
    /// It ended well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.ends_with(0)
    }

    /// It ended with an exit code, and not by a panic.
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "exit code of {}\n{}\n{}", self.said, self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}\n{}", self.said, self.stderr);
        self
    }

    /// It ended with an exit code that is not success, and not by a panic or a signal.
    #[track_caller]
    pub(crate) fn fails(self) -> Self {
        let code = self.code;
        assert!((1..=6).contains(&code), "exit code {code} of {}\n{}", self.said, self.stderr);
        self.ends_with(code)
    }

    /// Stderr says each of these.
    #[track_caller]
    pub(crate) fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            let found = self.stderr.contains(text);
            assert!(found, "`{text}` is missing in what {} says:\n{}", self.said, self.stderr);
        }
        self
    }

    /// The one JSON object on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!("{error} in the stdout of {}:\n{}", self.said, self.stdout)
        })
    }
}

/// Does `work` for every item, on two threads; the answers in the order of the items.
pub(crate) fn on_two_threads<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let answers: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let worker = || {
        while let Some((item, answer)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).zip(answers.get(at))
        } {
            *answer.lock().unwrap() = Some(work(item));
        }
    };
    thread::scope(|scope| {
        scope.spawn(worker);
        scope.spawn(worker);
    });
    answers.into_iter().map(|answer| answer.into_inner().unwrap().unwrap()).collect()
}

/// A helper of `tests/tools`, compiled when it is first needed.
pub(crate) fn tool(name: &str) -> PathBuf {
    static COMPILING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = COMPILING.lock().unwrap();
    let source = root().join("tests/tools").join(format!("{name}.c"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let modified = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    if modified(&program) <= modified(&source) {
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let status = Command::new(&compiler)
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"])
            .args([&program, &source])
            .status()
            .unwrap_or_else(|error| panic!("these tests need a C compiler: {compiler}: {error}"));
        assert!(status.success(), "{compiler} {}", source.display());
    }
    program
}

/// Relative path → SHA-256 of the content, of every file below `directory`; directories have "".
pub(crate) fn tree(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        for entry in std::fs::read_dir(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(directory).unwrap().display().to_string();
            if path.is_dir() {
                found.insert(name, String::new());
                open.push(path);
            } else {
                let digest = Sha256::digest(std::fs::read(&path).unwrap_or_default());
                found.insert(name, format!("{digest:x}"));
            }
        }
    }
    found
}

/// Copies what is in a directory into another, which need not be there.
pub(crate) fn copy_directory(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_directory(&entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), place).unwrap();
        }
    }
}

/// Whether a location has metadata that a reader would take for an array.
pub(crate) fn looks_finished(target: &str) -> bool {
    ["zarr.json", ".zarray"].iter().any(|name| Path::new(target).join(name).exists())
}

/// Whether the tests run as root, whom no permission stops.
pub(crate) fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

/// Bytes of the elements at a location.
pub(crate) fn elements(folder: &Folder, location: &str) -> Vec<u8> {
    let file = folder.at("elements.bin");
    rechunk(&["copy", location, &file, "--format", "raw", "--overwrite", "-q"]).ok();
    std::fs::read(file).unwrap()
}

/// Asserts that the source was read as planned.
#[track_caller]
pub(crate) fn assert_read_as_planned(report: &Value, what: &str) {
    let (planned, counted) = (&report["estimate"]["source"], &report["traffic"]["source"]);
    for count in ["get_requests", "decoded_read_bytes"] {
        assert_eq!(planned[count], counted[count], "{what}: {count}");
    }
}
