//! A PostgreSQL of a test's own: a directory that is made for it, on a port of loopback.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// User that runs it where tests are run by root, which PostgreSQL refuses: nobody.
const NOBODY: u32 = 65534;
/// The password of its user `rechunk`.
const PASSWORD: &str = "s3cret-of-tests";
/// Places where distributions put its programs, beside `PATH`.
const INSTALLED: &str = "/usr/lib/postgresql";

/// A PostgreSQL that is stopped, and removed, when this is dropped.
#[derive(Debug)]
pub struct Postgres {
    programs: PathBuf,
    directory: TempDir,
    port: u16,
}

impl Postgres {
    /// Makes and starts one. `None` where there is no PostgreSQL on this machine: that is said on
    /// stderr, for `test` is skipped then.
    #[expect(clippy::print_stderr, reason = "a test that is skipped is to be seen")]
    pub fn start(test: &str) -> io::Result<Option<Self>> {
        let Some(programs) = programs() else {
            eprintln!("skipped: {test} needs PostgreSQL (initdb, pg_ctl and psql)");
            return Ok(None);
        };
        let directory = tempfile::Builder::new().prefix("rechunk-postgres").tempdir()?;
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))?;
        if is_root() {
            chown(directory.path(), Some(NOBODY), Some(NOBODY))?;
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let postgres = Self { programs, directory, port };
        let password = postgres.path("password");
        fs::write(&password, PASSWORD)?;
        if is_root() {
            chown(&password, Some(NOBODY), Some(NOBODY))?;
        }
        let (data, password) = (postgres.data(), format!("--pwfile={password}"));
        let words = ["-D", &data, "-U", "rechunk", "-A", "scram-sha-256", &password, "-E", "UTF8"];
        postgres.run("initdb", &[&words[..], &["--no-sync", "--locale=C"]].concat())?;
        postgres.up()?;
        Ok(Some(postgres))
    }

    /// Starts it again, on the same port.
    pub fn up(&self) -> io::Result<()> {
        let (data, log) = (self.data(), self.path("log"));
        let settings = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories='' \
             -c fsync=off -c max_connections=300",
            self.port
        );
        self.run("pg_ctl", &["start", "-w", "-D", &data, "-l", &log, "-o", &settings]).map(drop)
    }

    /// Stops it: all connections break.
    pub fn down(&self) -> io::Result<()> {
        self.run("pg_ctl", &["stop", "-w", "-m", "immediate", "-D", &self.data()]).map(drop)
    }

    /// The URL of a database, which is made if it is not there. Its name is of lower-case letters,
    /// digits and `_`.
    pub fn database(&self, name: &str) -> io::Result<String> {
        let there = self.ask("postgres", "SELECT datname FROM pg_database")?;
        if !there.lines().any(|line| line == name) {
            self.ask("postgres", &format!("CREATE DATABASE {name}"))?;
        }
        Ok(self.url(name))
    }

    /// The URL of a database, with its password.
    pub fn url(&self, name: &str) -> String {
        format!("postgres://rechunk:{PASSWORD}@127.0.0.1:{}/{name}", self.port)
    }

    /// The password that is in every URL.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// The answer to a statement: a line for each row.
    pub fn ask(&self, database: &str, sql: &str) -> io::Result<String> {
        ask_postgres(&self.url(database), sql)
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    fn data(&self) -> String {
        self.path("data")
    }

    fn run(&self, program: &str, words: &[&str]) -> io::Result<Output> {
        let mut command = Command::new(self.programs.join(program));
        command.args(words).current_dir(self.directory.path()).stdin(Stdio::null());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        // A server keeps the descriptors of whoever starts it.
        let is_start = words.first() == Some(&"start");
        if is_start {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        succeeded(program, command.output()?).map_err(|error| {
            let log = fs::read_to_string(self.path("log")).unwrap_or_default();
            io::Error::other(format!("{error}{log}"))
        })
    }
}

fn succeeded(program: &str, output: Output) -> io::Result<Output> {
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{program}: {}: {said}", output.status)))
}

/// The answer of the database at a URL to a statement: a line for each row.
pub fn ask_postgres(url: &str, sql: &str) -> io::Result<String> {
    let programs = programs().ok_or_else(|| io::Error::other("there is no psql"))?;
    let words = ["-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql];
    let output = succeeded("psql", Command::new(programs.join("psql")).args(words).output()?)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // It may be down already.
        let _ = self.down();
    }
}

/// The directory of the programs of PostgreSQL.
fn programs() -> Option<PathBuf> {
    let has_all = |directory: &Path| {
        ["initdb", "pg_ctl", "psql"].iter().all(|program| directory.join(program).is_file())
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let versions = fs::read_dir(INSTALLED).into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    versions.sort();
    found.extend(versions.into_iter().rev());
    found.into_iter().find(|directory| has_all(directory))
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
