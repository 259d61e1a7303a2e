//! Measures a store and this machine's codecs, and makes a profile of what was measured.
//!
//! Objects of ours go below the location, into a directory with a random name that is removed in
//! the end, whatever happens on the way. A number that cannot be measured is not made up: it stays
//! the built-in profile's, and is said not to be measured.

mod codecs;
mod ladder;
mod place;
mod sample;

use rechunk_plan::StoreProfile;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use rechunk_store::{Stores, store_kind};

use crate::Error;
use crate::profile::{CodecEntry, ProfileFile, SpeedsEntry, StoreEntry, key_place, place_of};

pub use codecs::{CodecMeasurement, CodecsMeasurement};
pub use ladder::Rung;
pub use place::StoreMeasurement;

/// Limits of a probe.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProbeOptions {
    /// Most bytes written to the store, and most bytes read from it.
    pub bytes: u64,
    /// Time for the store and the codecs together, seconds; a slow store or codec takes longer, as
    /// what was begun is finished.
    pub seconds: f64,
    /// An object below the location: it is read, and nothing is written.
    pub read: Option<String>,
}

impl ProbeOptions {
    /// A probe that writes and reads.
    pub fn new(bytes: u64, seconds: f64) -> Self {
        Self { bytes, seconds, read: None }
    }
}

/// Results of a probe.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Probed {
    /// The location as it was given.
    pub location: String,
    /// The built-in profile that says what was not measured.
    pub like: String,
    /// The store.
    pub store: StoreMeasurement,
    /// This machine.
    pub codecs: CodecsMeasurement,
    /// The profile's fields that were not measured.
    pub not_measured: Vec<String>,
}

/// Measures the store at `location` and this machine's codecs.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let at = |name: &str| folder.path().join(name).display().to_string();
/// # let (source, target) = (at("source.zarr"), at("target.zarr"));
/// # std::fs::create_dir(&source)?;
/// # std::fs::write(source.clone() + "/.zarray", r#"{"zarr_format": 2, "shape": [4, 6],
/// #     "chunks": [1, 6], "dtype": "<f4", "compressor": null, "filters": null,
/// #     "fill_value": 0, "order": "C"}"#)?;
/// use rechunk::{CancellationToken, ProbeOptions, Stores, probe};
///
/// let options = ProbeOptions::new(1 << 16, 0.02);
/// let location = folder.path().display().to_string();
/// let cancel = CancellationToken::new();
/// let measured = probe(&location, &options, &Stores::default(), &cancel).await?;
/// assert!(!measured.codecs.codecs.is_empty());
/// # Ok(())
/// # }
/// ```
pub async fn probe(
    location: &str,
    options: &ProbeOptions,
    stores: &Stores,
    cancel: &CancellationToken,
) -> Result<Probed, Error> {
    let half = options.seconds / 2.0;
    let store = place::measure(location, options, half, stores, cancel).await?;
    let codecs = codecs::measure(half, cancel).await?;
    if cancel.is_cancelled() {
        let doing = format!("probing {location}");
        return Err(Error::Interrupted { doing });
    }
    let like = store_kind(location).to_owned();
    let mut probed =
        Probed { location: location.to_owned(), like, store, codecs, not_measured: Vec::new() };
    probed.not_measured = probed.not_measured();
    Ok(probed)
}

impl Probed {
    /// Puts what was measured into a profile file. What that says of this location and was not
    /// measured now stays: prices that were corrected, writes when only reads were measured.
    pub fn add_to(&self, file: &mut ProfileFile) {
        let key = place_of(&self.location).unwrap_or_else(|| self.like.clone());
        // However the place is written there.
        let is_same = |other: &&String| **other == key || key_place(other).as_ref() == Some(&key);
        let others: Vec<String> = file.stores.keys().filter(is_same).cloned().collect();
        let before = others.iter().filter_map(|other| file.stores.remove(other)).last();
        file.stores.insert(key, self.entry(before.unwrap_or_else(|| self.built_in())));
        let speeds = file.speeds.get_or_insert_with(SpeedsEntry::default);
        speeds.copy_bytes_per_second = Some(rounded(self.codecs.copy_bytes_per_second));
        for codec in &self.codecs.codecs {
            let entry = CodecEntry {
                decode_bytes_per_second: rounded(codec.decode_bytes_per_second),
                encode_bytes_per_second: rounded(codec.encode_bytes_per_second),
            };
            speeds.codecs.insert(codec.name.clone(), entry);
        }
    }

    /// Fields of the store that were measured, by the names of [`StoreEntry`].
    fn measured(&self) -> Vec<String> {
        let store = &self.store;
        let fields = [
            ("get_seconds", store.get_seconds.is_some()),
            ("put_seconds", store.put_seconds.is_some()),
            ("read_bytes_per_second", store.read_bytes_per_second.is_some()),
            ("write_bytes_per_second", store.write_bytes_per_second.is_some()),
            ("concurrency", store.concurrency.is_some()),
        ];
        fields.iter().filter(|(_, is)| *is).map(|(name, _)| (*name).to_owned()).collect()
    }

    fn not_measured(&self) -> Vec<String> {
        const NEVER: [&str; 8] = [
            "get_requests_per_second",
            "put_requests_per_second",
            "get_usd",
            "put_usd",
            "egress_usd_per_gib",
            "write_usd_per_gib",
            "retention_usd_per_gib",
            "multipart",
        ];
        let measured = self.measured();
        let could_be = ["put_seconds", "write_bytes_per_second"];
        let mut not: Vec<String> = could_be.iter().map(|&name| name.to_owned()).collect();
        not.retain(|name| !measured.contains(name));
        not.extend(NEVER.map(str::to_owned));
        not.extend(self.codecs.not_measured.iter().map(|name| format!("speeds.codecs.{name}")));
        not
    }

    /// An entry that says what is not measured: prices and limits, which are the built-in
    /// profile's, for the user to correct.
    fn built_in(&self) -> StoreEntry {
        let base = StoreProfile::built_in(&self.like).unwrap_or_else(StoreProfile::local);
        StoreEntry {
            like: Some(self.like.clone()),
            get_requests_per_second: base.get_requests_per_second,
            put_requests_per_second: base.put_requests_per_second,
            get_usd: Some(base.get_usd),
            put_usd: Some(base.put_usd),
            egress_usd_per_gib: Some(base.egress_usd_per_gib),
            write_usd_per_gib: Some(base.write_usd_per_gib),
            retention_usd_per_gib: Some(base.retention_usd_per_gib),
            multipart: base.multipart,
            ..StoreEntry::default()
        }
    }

    /// `entry` with what was measured.
    fn entry(&self, mut entry: StoreEntry) -> StoreEntry {
        let store = &self.store;
        for (field, measured) in [
            (&mut entry.get_seconds, store.get_seconds),
            (&mut entry.put_seconds, store.put_seconds),
            (&mut entry.read_bytes_per_second, store.read_bytes_per_second),
            (&mut entry.write_bytes_per_second, store.write_bytes_per_second),
        ] {
            *field = measured.map(rounded).or(*field);
        }
        entry.concurrency = store.concurrency.or(entry.concurrency);
        for name in self.measured() {
            if !entry.measured.contains(&name) {
                entry.measured.push(name);
            }
        }
        entry
    }
}

/// Three significant digits: another run gives others.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "numbers as they were written")]
mod tests;
