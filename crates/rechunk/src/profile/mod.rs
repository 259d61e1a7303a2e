//! Profile files: what a user's own stores cost and how fast the machine's codecs are.
//!
//! A file describes several stores. One applies to every location below its key, or to a whole kind
//! of store, or where it is asked for by name; what it does not say is the built-in profile's.

mod choose;
mod parse;

use std::collections::BTreeMap;

use rechunk_plan::{CodecSpeed, CodecSpeeds, Multipart, StoreProfile};
use serde::{Deserialize, Serialize};

use crate::Error;

pub(crate) use choose::{choose, key_place, place_of};

/// Version of the form.
pub(crate) const VERSION: u32 = 1;

/// Profile file: `--profile` reads it, and `probe` writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProfileFile {
    /// Version of this form: 1.
    pub version: u32,
    /// Name of the profile in plans.
    pub name: String,
    /// Stores by location (`s3://bucket/data`, `/data`: what lies below it too), kind (`s3`), or a
    /// name of the user's own.
    #[serde(default)]
    pub stores: BTreeMap<String, StoreEntry>,
    /// Speeds of this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speeds: Option<SpeedsEntry>,
}

/// A store, in a profile file. What is left out is the built-in profile's. Fields as in
/// [`StoreProfile`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct StoreEntry {
    /// The built-in profile that says the rest; `None`: that of the kind of location.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// Latency of one read request, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub get_seconds: Option<f64>,
    /// Latency of one write request, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub put_seconds: Option<f64>,
    /// Bytes per second one process reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_second: Option<f64>,
    /// Bytes per second one process writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_second: Option<f64>,
    /// Requests that may usefully be in flight from one process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Read requests the store answers in a second, to all processes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub get_requests_per_second: Option<f64>,
    /// Write requests the store answers in a second, to all processes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub put_requests_per_second: Option<f64>,
    /// Price of one read request, US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub get_usd: Option<f64>,
    /// Price of one write request, US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub put_usd: Option<f64>,
    /// Price of 2^30 bytes read, US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_usd_per_gib: Option<f64>,
    /// Price of 2^30 bytes written, US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_usd_per_gib: Option<f64>,
    /// Price of 2^30 bytes that are kept after they were deleted, US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_usd_per_gib: Option<f64>,
    /// Multipart uploads of large objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multipart: Option<Multipart>,
    /// Which of these fields were measured by `probe`; for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<String>,
}

/// Speeds of a machine, in a profile file. What is left out is built in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SpeedsEntry {
    /// Bytes per second of copying pieces between chunk buffers, on one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy_bytes_per_second: Option<f64>,
    /// Codecs by the name the built-in speeds have.
    pub codecs: BTreeMap<String, CodecEntry>,
}

/// Speed of a codec on one core, in a profile file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CodecEntry {
    /// Decoded bytes per second, decoding.
    pub decode_bytes_per_second: f64,
    /// Decoded bytes per second, encoding.
    pub encode_bytes_per_second: f64,
}

impl ProfileFile {
    /// A file that says nothing yet.
    pub fn new(name: &str) -> Self {
        Self { version: VERSION, name: name.to_owned(), stores: BTreeMap::new(), speeds: None }
    }

    /// Its JSON form, for a file.
    pub fn to_json(&self) -> Result<String, Error> {
        let json = serde_json::to_string_pretty(self)
            .map_err(|error| Error::State { path: self.name.clone(), reason: error.to_string() })?;
        Ok(json + "\n")
    }

    /// The profile of the store `key`.
    fn store(&self, key: &str) -> Option<StoreProfile> {
        let entry = self.stores.get(key)?;
        let base = StoreProfile::built_in(entry.like.as_deref().or_else(|| choose::kind_of(key))?)?;
        Some(entry.over(key, &base))
    }

    /// Codec speeds: the file's, and the built-in ones of what it does not name.
    fn speeds(&self) -> CodecSpeeds {
        let mut speeds = CodecSpeeds::default();
        let Some(entry) = &self.speeds else { return speeds };
        if let Some(copy) = entry.copy_bytes_per_second {
            speeds.copy_bytes_per_second = copy;
        }
        for (name, codec) in &entry.codecs {
            speeds.codecs.retain(|speed| speed.name != *name);
            speeds.codecs.push(CodecSpeed {
                name: name.clone(),
                decode_bytes_per_second: codec.decode_bytes_per_second,
                encode_bytes_per_second: codec.encode_bytes_per_second,
            });
        }
        speeds
    }
}

impl StoreEntry {
    /// `base` with what this says, called `name`.
    fn over(&self, name: &str, base: &StoreProfile) -> StoreProfile {
        StoreProfile {
            name: name.to_owned(),
            get_seconds: self.get_seconds.unwrap_or(base.get_seconds),
            put_seconds: self.put_seconds.unwrap_or(base.put_seconds),
            read_bytes_per_second: self.read_bytes_per_second.unwrap_or(base.read_bytes_per_second),
            write_bytes_per_second: self
                .write_bytes_per_second
                .unwrap_or(base.write_bytes_per_second),
            concurrency: self.concurrency.unwrap_or(base.concurrency),
            get_requests_per_second: self.get_requests_per_second.or(base.get_requests_per_second),
            put_requests_per_second: self.put_requests_per_second.or(base.put_requests_per_second),
            get_usd: self.get_usd.unwrap_or(base.get_usd),
            put_usd: self.put_usd.unwrap_or(base.put_usd),
            egress_usd_per_gib: self.egress_usd_per_gib.unwrap_or(base.egress_usd_per_gib),
            write_usd_per_gib: self.write_usd_per_gib.unwrap_or(base.write_usd_per_gib),
            retention_usd_per_gib: self.retention_usd_per_gib.unwrap_or(base.retention_usd_per_gib),
            multipart: self.multipart.or(base.multipart),
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "numbers are read as they were written")]
mod tests;
