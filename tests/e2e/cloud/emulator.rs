//! Object stores that are not ours, as processes on loopback: Azurite (Azure) and moto (S3).

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::Environment;
use crate::harness::root;
use crate::oracle::World;

/// The account and the key of this emulator; nothing else has ever had them.
const ACCOUNT: &str = "rechunktest";
const KEY: &str = "bm90IGEgc2VjcmV0OiB0aGUga2V5IG9mIGFuIGVtdWxhdG9yIGluIGEgdGVzdA==";
const BOX: &str = "rechunk-box";
/// Longer than any of them takes to start, on a machine that is busy.
const START: Duration = Duration::from_mins(2);

/// A kind of emulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Azure Blob Storage, by Microsoft's Azurite.
    Azurite,
    /// S3, by moto.
    Moto,
}

/// An emulator that runs, with a bucket; ended when it is dropped.
pub(super) struct Emulator {
    kind: Kind,
    port: u16,
    process: Child,
    /// Its output on stderr and stdout.
    said: Arc<Mutex<String>>,
}

impl Kind {
    /// Whether it is installed. False only where it cannot be, or was asked to be left out: that is
    /// said aloud.
    pub(super) fn is_available(self) -> bool {
        for skip in ["RECHUNK_SKIP_EMULATORS", "RECHUNK_SKIP_ORACLES"] {
            if std::env::var(skip).is_ok_and(|value| value == "1") {
                println!("SKIPPED: {skip}=1, nothing is tested against {self:?}");
                return false;
            }
        }
        let is_there = |program: &str| {
            let asked = Command::new(program).arg("--version").output();
            asked.is_ok_and(|output| output.status.success())
        };
        if self == Self::Azurite && !(is_there("npm") && is_there("node")) {
            println!("SKIPPED: there is no npm with node, so nothing is tested against {self:?}");
            return false;
        }
        let program = self.program();
        let path = program.get_args().next().unwrap_or_default();
        assert!(
            root().join(path).exists(),
            "{} is missing: run tests/emulators/setup.sh and tests/oracle/setup.sh, or set \
             RECHUNK_SKIP_EMULATORS=1 to go without",
            path.display()
        );
        true
    }

    /// The program of the emulator, by its interpreter.
    fn program(self) -> Command {
        match self {
            Self::Azurite => node("tests/emulators/node_modules/azurite/dist/src/blob/main.js"),
            Self::Moto => python(World::Z3.python().with_file_name("moto_server")),
        }
    }

    /// Program of the emulator, told where to listen.
    fn listening(self, port: u16) -> Command {
        let (mut program, port) = (self.program(), port.to_string());
        match self {
            Self::Azurite => program
                .args(["--silent", "--skipApiVersionCheck", "--inMemoryPersistence"])
                .args(["--disableTelemetry", "--blobHost", "127.0.0.1", "--blobPort", &port])
                .env("AZURITE_ACCOUNTS", format!("{ACCOUNT}:{KEY}")),
            Self::Moto => program.args(["-H", "127.0.0.1", "-p", &port]),
        };
        // Azurite notes down what it is doing where it is started.
        program.current_dir(env!("CARGO_TARGET_TMPDIR"));
        program
    }
}

fn node(script: &str) -> Command {
    let mut node = Command::new("node");
    node.arg(root().join(script));
    node
}

fn python(script: PathBuf) -> Command {
    let mut python = Command::new(World::Z3.python());
    python.arg(script).env("PYTHONWARNINGS", "ignore");
    python
}

impl Emulator {
    /// Starts one at a port that is free, and makes its bucket.
    pub(super) fn start(kind: Kind) -> Self {
        // Between the moment a free port is found and that it is taken, another may take it.
        for _ in 0..5 {
            let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
            let mut command = kind.listening(port.port());
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut process = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
            let said = Arc::new(Mutex::new(String::new()));
            gather(process.stdout.take().unwrap(), &said);
            gather(process.stderr.take().unwrap(), &said);
            let mut emulator = Self { kind, port: port.port(), process, said };
            if emulator.answers() {
                emulator.ask("make", &[]);
                return emulator;
            }
            println!("{kind:?} ended at once: {}", emulator.said.lock().unwrap());
        }
        panic!("{kind:?} does not start");
    }

    /// Waits until it listens; false if it ends instead.
    fn answers(&mut self) -> bool {
        let started = Instant::now();
        while started.elapsed() < START {
            if self.process.try_wait().unwrap().is_some() {
                return false;
            }
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return true;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{:?} does not listen: {}", self.kind, self.said.lock().unwrap());
    }

    fn endpoint(&self) -> String {
        match self.kind {
            Kind::Azurite => format!("http://127.0.0.1:{}/{ACCOUNT}", self.port),
            Kind::Moto => format!("http://127.0.0.1:{}", self.port),
        }
    }

    /// The environment in which `rechunk` finds it.
    pub(super) fn environment(&self) -> Environment {
        match self.kind {
            Kind::Azurite => vec![
                ("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT.to_owned()),
                ("AZURE_STORAGE_ACCOUNT_KEY", KEY.to_owned()),
                ("AZURE_STORAGE_ENDPOINT", self.endpoint()),
            ],
            Kind::Moto => vec![
                ("AWS_ENDPOINT", self.endpoint()),
                ("AWS_ACCESS_KEY_ID", "rechunk-test".to_owned()),
                ("AWS_SECRET_ACCESS_KEY", "not-a-secret".to_owned()),
                ("AWS_REGION", "us-east-1".to_owned()),
            ],
        }
    }

    /// The location of a key.
    pub(super) fn url(&self, key: &str) -> String {
        let scheme = if self.kind == Kind::Azurite { "az" } else { "s3" };
        format!("{scheme}://{BOX}/{key}")
    }

    /// The keys of all objects; `unfinished KEY` for an upload of which nobody said that it is
    /// whole.
    pub(super) fn objects(&self) -> Vec<String> {
        self.ask("list", &[]).lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    /// SHA-256 of what tensorstore reads of a Zarr v3 array; `None` where it has no such store.
    pub(super) fn read_by_tensorstore(&self, key: &str) -> Option<String> {
        (self.kind == Kind::Moto).then(|| self.ask("read", &[key]).trim().to_owned())
    }

    /// Answer to a client that is not ours.
    fn ask(&self, command: &str, more: &[&str]) -> String {
        let endpoint = self.endpoint();
        let mut client = match self.kind {
            Kind::Azurite => {
                let mut client = node("tests/emulators/azurite.mjs");
                client.args([&endpoint, ACCOUNT, KEY]);
                client
            }
            Kind::Moto => {
                let mut client = python(root().join("tests/emulators/moto.py"));
                client.arg(&endpoint);
                client
            }
        };
        client.args([command, BOX]).args(more).envs(self.environment());
        let output = client.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{client:?}: {said}\n{}", self.said.lock().unwrap());
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Keeps what a process says, so that it never waits for a reader; the end of it if there is much.
fn gather(pipe: impl std::io::Read + Send + 'static, said: &Arc<Mutex<String>>) {
    const MOST: usize = 64 << 10;
    let said = Arc::clone(said);
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let mut said = said.lock().unwrap();
            if said.len() > MOST {
                said.clear();
            }
            said.push_str(&line);
            said.push('\n');
        }
    });
}
