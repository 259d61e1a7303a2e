//! Jobs that are killed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::arrays::RawArray;
use crate::harness::{BINARY, Done, Folder, Run, rechunk, tool, tree};

/// A copy or an apply to be killed.
pub(super) struct Job {
    pub verb: &'static str,
    pub folder: Folder,
    pub source: String,
    pub options: Vec<&'static str>,
    /// Files of the target of an undisturbed run.
    pub whole: BTreeMap<String, String>,
    /// File-changing calls of an undisturbed run.
    pub calls: u64,
    /// Report of an undisturbed run.
    pub report: Value,
    /// Microseconds that each of these calls takes longer: marks of steps are made now and then.
    pub slow: &'static str,
    /// Chunks of a shard of the target; 0 without shards.
    pub shard_chunks: usize,
}

/// Manner of a kill.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kill {
    pub at: u64,
    pub is_torn: bool,
    pub loses: bool,
}

impl Job {
    pub(super) fn new(source: &RawArray, options: &[&'static str]) -> Self {
        Self::of("copy", source, options, "0")
    }

    pub(super) fn slow(source: &RawArray, options: &[&'static str], slow: &'static str) -> Self {
        Self::of("copy", source, options, slow)
    }

    pub(super) fn of(
        verb: &'static str,
        source: &RawArray,
        options: &[&'static str],
        slow: &'static str,
    ) -> Self {
        let folder = Folder::new();
        let path = folder.at("source.zarr");
        source.write(&path);
        let options = [options, &["--threads", "4", "--json"]].concat();
        let mut job = Self {
            verb,
            folder,
            source: path,
            options,
            whole: BTreeMap::new(),
            calls: 0,
            report: Value::Null,
            slow,
            shard_chunks: 0,
        };
        let target = job.target(0);
        let done = job.under_killpoint(&target, &[], &[]).ok();
        job.report = done.json();
        job.shard_chunks = shard_chunks(&job.report);
        job.whole = job.contents(&target.join("t.zarr"));
        let log = std::fs::read_to_string(target.join("log")).unwrap();
        assert!(
            log.contains("fdatasync") && (log.contains("syncfs") || log.contains("fsync")),
            "nothing is synced"
        );
        job.calls = log.lines().count().try_into().unwrap();
        if verb == "copy" {
            rechunk(&["verify", &job.source, &target.join("t.zarr").display().to_string()]).ok();
        }
        job
    }

    /// Contents of an array: digests by file. The chunks of a shard stand in the order they were
    /// finished in: for a shard it is the digest of its chunks in their own order.
    pub(super) fn contents(&self, array: &Path) -> BTreeMap<String, String> {
        let mut files = tree(array);
        for (key, digest) in &mut files {
            let path = array.join(key);
            if self.shard_chunks > 0 && key.starts_with("c/") && path.is_file() {
                *digest = digest_of_shard(&std::fs::read(path).unwrap(), self.shard_chunks);
            }
        }
        files
    }

    /// A new directory for one round.
    pub(super) fn target(&self, round: u64) -> PathBuf {
        let target = self.folder.path().join(format!("round-{round}"));
        std::fs::create_dir(&target).unwrap();
        target
    }

    pub(super) fn command(&self, target: &Path, more: &[&str]) -> Vec<String> {
        let target = target.join("t.zarr").display().to_string();
        let copy = [self.verb, self.source.as_str(), target.as_str()];
        [&copy[..], &self.options, more].concat().into_iter().map(str::to_owned).collect()
    }

    /// Runs it under the tool, which logs beside the target.
    pub(super) fn under_killpoint(
        &self,
        target: &Path,
        tool_options: &[&str],
        more: &[&str],
    ) -> Done {
        let (prefix, log) =
            (target.join("t.zarr").display().to_string(), target.join("log").display().to_string());
        let command = self.command(target, more);
        let mut arguments =
            vec!["--prefix", prefix.as_str(), "--log", log.as_str(), "--slow", self.slow];
        arguments.extend(tool_options);
        arguments.extend(["--", BINARY]);
        arguments.extend(command.iter().map(String::as_str));
        Run::program(&tool("killpoint"), &arguments).go()
    }

    pub(super) fn kill(&self, target: &Path, kill: Kill, more: &[&str]) -> Done {
        let (at, seed) = (kill.at.to_string(), (kill.at * 31).to_string());
        let mut options = vec!["--at", at.as_str()];
        if kill.is_torn {
            options.push("--torn");
        }
        if kill.loses {
            options.extend(["--lose", seed.as_str()]);
        }
        self.under_killpoint(target, &options, more)
    }

    pub(super) fn resume(&self, target: &Path) -> Done {
        let command = self.command(target, &["--resume"]);
        rechunk(&command.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// Chunks of a target shard, by the report.
fn shard_chunks(report: &Value) -> usize {
    let list = |name: &str| -> Option<Vec<usize>> {
        serde_json::from_value(report["plan"][name].clone()).ok()
    };
    let (Some(shard), Some(chunk)) = (list("target_shards"), list("target_chunks")) else {
        return 0;
    };
    shard.iter().zip(chunk).map(|(shard, chunk)| shard / chunk).product()
}

/// The chunks of a shard with its index, little-endian and with a checksum, at the end.
fn digest_of_shard(shard: &[u8], chunks: usize) -> String {
    let (data, index) = shard.split_at(shard.len() - 16 * chunks - 4);
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let mut digest = Sha256::new();
    for entry in index[..16 * chunks].chunks_exact(16) {
        let (offset, length) = (number(&entry[..8]), number(&entry[8..]));
        digest.update(length.to_le_bytes());
        if let Ok(offset) = usize::try_from(offset)
            && length != u64::MAX
        {
            digest.update(&data[offset..offset + usize::try_from(length).unwrap()]);
        }
    }
    format!("{:x}", digest.finalize())
}
