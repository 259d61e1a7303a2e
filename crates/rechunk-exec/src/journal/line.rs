//! Lines of the journal: JSON, then a checksum of it.

use std::time::Duration;

use rechunk_kernel::Digest;
use rechunk_plan::PLAN_VERSION;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::task_range::TaskRange;

/// Version of the journal's form; a reader refuses versions it does not know.
pub const JOURNAL_VERSION: u32 = 1;

/// Shortest time between two step marks of a task.
pub(crate) const STEP_MARK_INTERVAL: Duration = Duration::from_millis(100);

/// First line of a journal: what it is the journal of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalHeader {
    /// [`JOURNAL_VERSION`] of the writer.
    pub version: u32,
    /// Version of the plan's form when it was begun.
    pub plan_version: u32,
    /// The plan's fingerprint: task numbers mean nothing under another.
    pub fingerprint: String,
    /// Data with which the caller finds or rebuilds the job.
    pub job: serde_json::Value,
}

impl JournalHeader {
    /// The header of a journal for the plan of `fingerprint`.
    pub fn new(fingerprint: &str, job: serde_json::Value) -> Self {
        Self {
            version: JOURNAL_VERSION,
            plan_version: PLAN_VERSION,
            fingerprint: fingerprint.to_owned(),
            job,
        }
    }

    /// True if both begin the journal of one run. An older program may have begun it: tasks are
    /// numbered alike in every form of a plan that has this fingerprint.
    pub(crate) fn is_of_run(&self, other: &Self) -> bool {
        self.version == other.version
            && self.fingerprint == other.fingerprint
            && self.job == other.job
    }
}

/// A line after the first: tasks are done, or some steps of one are; or tasks are to be done again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mark {
    pub stage: usize,
    pub task: u64,
    /// Number of tasks from `task` on, if more than one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub tasks: u64,
    /// Steps done; `None` when the whole task is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The digest of what they took from the source, where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "hex")]
    pub digest: Option<Digest>,
    /// They are not done any more, whatever lines before this one say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

/// Digests as text.
mod hex {
    use rechunk_kernel::Digest;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde calls it")]
    pub(super) fn serialize<S: Serializer>(
        digest: &Option<Digest>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        digest.map(|digest| digest.to_string()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Digest>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_one(tasks: &u64) -> bool {
    *tasks == 1
}

impl Mark {
    /// A task is done.
    pub(crate) fn task(stage: usize, task: u64) -> Self {
        Self::tasks(stage, task, task.saturating_add(1))
    }

    /// The tasks from `start` to before `end` are done.
    pub(crate) fn tasks(stage: usize, start: u64, end: u64) -> Self {
        let tasks = end.saturating_sub(start);
        Self { stage, task: start, tasks, steps: None, digest: None, undone: false }
    }

    /// The tasks of `tasks` are not done any more.
    pub(crate) fn undone(tasks: &TaskRange) -> Self {
        Self { undone: true, ..Self::tasks(tasks.stage, tasks.start, tasks.end) }
    }

    /// Returns the mark with the digest of all that was taken from the source.
    pub(crate) fn with_digest(self, digest: Option<Digest>) -> Self {
        Self { digest, ..self }
    }

    /// The first `steps` steps of a task are done.
    pub(crate) fn steps(stage: usize, task: u64, steps: u64) -> Self {
        Self { steps: Some(steps), ..Self::task(stage, task) }
    }
}

/// `value` as a line: JSON, ` #`, CRC32C of the JSON in 8 hex digits, newline.
pub(crate) fn encode<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(value)?;
    let checksum = crc32c::crc32c(json.as_bytes());
    Ok(format!("{json} #{checksum:08x}\n"))
}

/// The value of a line without its newline; `None` if it is damaged.
pub(crate) fn decode<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    const TAIL: usize = " #00000000".len();
    let (json, tail) = line.split_at_checked(line.len().checked_sub(TAIL)?)?;
    let hex = std::str::from_utf8(tail.strip_prefix(b" #")?).ok()?;
    let checksum = u32::from_str_radix(hex, 16).ok()?;
    (checksum == crc32c::crc32c(json)).then(|| serde_json::from_slice(json).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_round_trip_and_any_damage_is_seen() {
        let mark = Mark::steps(1, 12, 7);
        let text = encode(&mark).unwrap();
        assert!(text.starts_with(r#"{"stage":1,"task":12,"steps":7} #"#), "{text}");
        let line = text.trim_end().as_bytes();
        assert_eq!(decode::<Mark>(line), Some(mark));
        for at in 0..line.len() {
            let mut damaged = line.to_vec();
            damaged[at] ^= 1;
            assert_eq!(decode::<Mark>(&damaged), None, "at {at}");
            assert_eq!(decode::<Mark>(&line[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn a_digest_is_kept_and_old_lines_have_none() {
        let digest = "0123456789abcdef0123456789abcdef";
        let mark = Mark::task(0, 3).with_digest(digest.parse().ok());
        let text = encode(&mark).unwrap();
        assert!(text.contains(&format!(r#""digest":"{digest}""#)), "{text}");
        assert_eq!(decode::<Mark>(text.trim_end().as_bytes()), Some(mark));
        let wrong = text.replace(digest, "012");
        let json = wrong.split(" #").next().unwrap();
        let line = format!("{json} #{:08x}", crc32c::crc32c(json.as_bytes()));
        assert_eq!(decode::<Mark>(line.as_bytes()), None);
    }

    #[test]
    fn a_whole_task_has_no_steps() {
        let text = encode(&Mark::task(0, 12)).unwrap();
        assert!(text.starts_with(r#"{"stage":0,"task":12} #"#), "{text}");
    }
}
