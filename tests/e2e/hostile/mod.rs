//! Hostile input as tables: what is wrong, odd or malicious, and the outcome it must have.
//!
//! A [`Case`] is a name, a builder that lays out a source, and an [`Outcome`]: the array copied
//! with the right elements, or a refusal with its exit code, its words and what may be left behind.
//! Every case runs the real binary in 64 MiB and is held to the same limits: no panic, no signal,
//! no control characters or endless text in what it says, little memory, a short time, the source
//! untouched.

mod bombs;
mod build;
mod chunks;
mod metadata_v2;
mod metadata_v3;
mod n5;
mod n5_blocks;
mod odd_v2;
mod outcome;
mod raw_files;
mod raw_headers;
mod raw_targets;
mod shards;
mod surroundings;

use std::time::{Duration, Instant};

use crate::harness::{BINARY, Done, Folder, Run, is_root, open_to_all};
use outcome::Listing;
pub(crate) use outcome::{Elements, Left, Outcome};

/// Far more than 64 MiB of budget need; a claim that is believed needs more.
const PEAK_RSS_BYTES_MAX: u64 = 200 << 20;
/// Longest run, on a machine that does other things too: a claim that is believed takes hours.
const TIME_MAX: Duration = Duration::from_mins(2);
/// Most text on stderr, bytes: a message is for people.
const MESSAGE_BYTES_MAX: usize = 4 << 10;
/// Runs the rest as a user that owns nothing.
const AS_NOBODY: &str = r#"exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@""#;

/// Something hostile, and what must come of it.
pub(crate) struct Case {
    name: String,
    /// Name of the source: formats are told apart by their endings too.
    source: &'static str,
    build: Box<dyn Fn(&Scene)>,
    /// Arguments in place of the usual copy; `SOURCE` and `TARGET` stand for the paths.
    arguments: Option<Vec<String>>,
    /// A shell command that prepares the surroundings and then runs `"$@"`.
    shell: Option<&'static str>,
    /// Run by a user that owns nothing.
    is_by_nobody: bool,
    options: Vec<String>,
    outcome: Outcome,
}

/// Where a case is played: a source, and an empty directory for the target.
pub(crate) struct Scene {
    folder: Folder,
    source: &'static str,
}

impl Scene {
    fn new(is_public: bool, source: &'static str) -> Self {
        let folder = if is_public { Folder::public() } else { Folder::new() };
        std::fs::create_dir(folder.at("out")).unwrap();
        if is_public {
            // The build directory may be closed to others; the binary has to be where they may
            // look.
            open_to_all(folder.path(), 0o755);
            std::fs::copy(BINARY, folder.at("rechunk")).unwrap();
        }
        Self { folder, source }
    }

    /// The source's path, where a builder puts something.
    pub(crate) fn source(&self) -> String {
        self.folder.at(self.source)
    }

    /// The target's path.
    pub(crate) fn target(&self) -> String {
        self.folder.at("out/t.zarr")
    }

    /// A path beside the source.
    pub(crate) fn at(&self, name: &str) -> String {
        self.folder.at(name)
    }

    /// Writes a file of the source.
    pub(crate) fn write(&self, key: &str, bytes: impl AsRef<[u8]>) {
        let path = self.folder.path().join(self.source).join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Writes the source itself, which is one file.
    pub(crate) fn write_file(&self, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.source(), bytes).unwrap();
    }

    /// Takes a file of the source away.
    pub(crate) fn remove(&self, key: &str) {
        std::fs::remove_file(self.folder.path().join(self.source).join(key)).unwrap();
    }
}

impl Case {
    pub(crate) fn new(
        name: impl Into<String>,
        build: impl Fn(&Scene) + 'static,
        outcome: Outcome,
    ) -> Self {
        let (name, build) = (name.into(), Box::new(build));
        Self {
            name,
            source: "source.zarr",
            build,
            arguments: None,
            shell: None,
            is_by_nobody: false,
            options: Vec::new(),
            outcome,
        }
    }

    /// With another name of the source.
    pub(crate) fn from(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    /// With more options of `copy`.
    pub(crate) fn with(mut self, options: &[&str]) -> Self {
        self.options = options.iter().map(|&option| option.to_owned()).collect();
        self
    }

    /// With other arguments than those of a copy.
    pub(crate) fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments = Some(arguments.iter().map(|&argument| argument.to_owned()).collect());
        self
    }

    /// Within surroundings that a shell makes before it runs `"$@"`.
    pub(crate) fn within(mut self, shell: &'static str) -> Self {
        self.shell = Some(shell);
        self
    }

    /// By a user that owns nothing, for what would not stop root.
    pub(crate) fn by_nobody(mut self) -> Self {
        self.is_by_nobody = true;
        self.shell = is_root().then_some(AS_NOBODY);
        self
    }

    fn command(&self, scene: &Scene) -> Vec<String> {
        let place = |text: &String| match text.as_str() {
            "SOURCE" => scene.source(),
            "TARGET" => scene.target(),
            other => other.replace("SCENE", &scene.at("")),
        };
        if let Some(arguments) = &self.arguments {
            return arguments.iter().map(place).collect();
        }
        let copy = ["copy", "SOURCE", "TARGET", "--codec", "none", "--format", "zarr2"];
        let limits = ["--write-empty", "always", "--no-fsync", "--max-mem", "64MiB"];
        let fixed = copy.into_iter().chain(limits).map(str::to_owned);
        let chunks = self.outcome.chunks().map(|chunks| ["--chunks".to_owned(), chunks]);
        let all = fixed.chain(chunks.into_iter().flatten()).chain(self.options.iter().cloned());
        all.map(|text| place(&text)).collect()
    }

    fn run(&self, scene: &Scene) -> (Done, u64) {
        let command = self.command(scene);
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let target = scene.at("out");
        match self.shell {
            None => Run::rechunk(&command).go_measured(),
            Some(shell) => {
                let binary = if self.is_by_nobody { &scene.at("rechunk") } else { BINARY };
                let before = ["-c", shell, "sh", binary];
                let shell = Run::program("/bin/sh".as_ref(), &[&before, &command[..]].concat());
                shell.env("OUT", &target).env("SOURCE", &scene.source()).go_measured()
            }
        }
    }

    /// Plays the case; says what is wrong.
    fn play(&self) -> Result<(), String> {
        let scene = Scene::new(self.is_by_nobody, self.source);
        (self.build)(&scene);
        let before = Listing::of(scene.source().as_ref());
        let started = Instant::now();
        let (done, peak_bytes) = self.run(&scene);
        let took = started.elapsed();
        check_manners(&done)?;
        if peak_bytes > PEAK_RSS_BYTES_MAX {
            return Err(format!("it took {} MiB of memory", peak_bytes >> 20));
        }
        if took > TIME_MAX {
            return Err(format!("it took {took:?}"));
        }
        let changes = before.changes(&Listing::of(scene.source().as_ref()));
        if !changes.is_empty() {
            return Err(format!("the source was changed: {changes:?}"));
        }
        self.outcome.check(&done, &scene).map_err(|wrong| {
            format!("{wrong}\n  exit code {}, it says:\n{}", done.code, done.stderr)
        })
    }
}

/// Checks the rules for every run, however it ends.
fn check_manners(done: &Done) -> Result<(), String> {
    let Done { code, stdout, stderr, .. } = done;
    if *code > 128 && *code != 130 || [101, 126, 127].contains(code) {
        return Err(format!("it ended with {code}:\n{stderr}"));
    }
    for text in ["panicked", "RUST_BACKTRACE", "stack backtrace", "overflowed its stack"] {
        if stderr.contains(text) {
            return Err(format!("it says {text}:\n{stderr}"));
        }
    }
    let is_rude = |c: char| c != '\n' && c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
    if let Some(control) = stderr.chars().chain(stdout.chars()).find(|&c| is_rude(c)) {
        return Err(format!("a control character {control:?} reaches the terminal"));
    }
    if stderr.len() > MESSAGE_BYTES_MAX {
        return Err(format!("a message of {} bytes", stderr.len()));
    }
    Ok(())
}

/// Plays all cases of a group and says which failed.
fn play_all(group: &str, cases: &[Case]) {
    let started = Instant::now();
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| case.play().err().map(|wrong| format!("{}: {wrong}", case.name)))
        .collect();
    println!("{group}: {} cases in {:.1?}", cases.len(), started.elapsed());
    let count = failed.len();
    assert!(failed.is_empty(), "{count} of {} cases:\n{}", cases.len(), failed.join("\n\n"));
}

/// Fewest cases in all, so that a table is not lost unseen.
const CASES_MIN: usize = 320;

#[test]
fn there_are_cases_for_every_group() {
    let groups = [
        chunks::cases(),
        metadata_v2::cases(),
        odd_v2::cases(),
        metadata_v3::cases(),
        shards::cases(),
        bombs::cases(),
        surroundings::cases(),
        n5::cases(),
        n5_blocks::cases(),
        raw_files::cases(),
        raw_headers::cases(),
        raw_targets::cases(),
    ];
    assert!(groups.iter().all(|cases| cases.len() >= 10));
    let names: Vec<&String> = groups.iter().flatten().map(|case| &case.name).collect();
    assert!(names.len() >= CASES_MIN, "{} cases", names.len());
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "two cases have one name");
}
