//! Costs of stores and codecs: the constants of the cost model.
//!
//! The built-in numbers are round figures: object stores as their public price lists and
//! documented request rates say (us-east-1 list prices, 2026), local ones and codecs as measured
//! single-threaded on commodity x86-64. They rank plans; they are not a forecast of wall time.

use serde::{Deserialize, Serialize};

use crate::Multipart;

/// Costs of one store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoreProfile {
    /// Name: `local`, `hdd`, `s3`, `gs`, `az`, `http`, `datastore`, `memory`, or a file's.
    pub name: String,
    /// Latency of one read request, seconds.
    pub get_seconds: f64,
    /// Latency of one write request, seconds.
    pub put_seconds: f64,
    /// Bytes per second one process reads.
    pub read_bytes_per_second: f64,
    /// Bytes per second one process writes.
    pub write_bytes_per_second: f64,
    /// Requests that may usefully be in flight from one process.
    pub concurrency: u32,
    /// Read requests the store answers in a second, those of all processes together; `None`: as
    /// many as are asked.
    #[serde(default)]
    pub get_requests_per_second: Option<f64>,
    /// Write requests the store answers in a second, those of all processes together.
    #[serde(default)]
    pub put_requests_per_second: Option<f64>,
    /// Price of one read request, US dollars.
    pub get_usd: f64,
    /// Price of one write request, US dollars; also of one request of a multipart upload.
    pub put_usd: f64,
    /// Price of the bytes that are read, US dollars for 2^30 of them: what leaves the region.
    #[serde(default)]
    pub egress_usd_per_gib: f64,
    /// Price of the bytes that are written, US dollars for 2^30 of them: replication.
    #[serde(default, skip_serializing_if = "is_free")]
    pub write_usd_per_gib: f64,
    /// Price of keeping bytes that were deleted or replaced, US dollars for 2^30 of them. Stores do
    /// so for a while that keep versions, or delete softly.
    #[serde(default, skip_serializing_if = "is_free")]
    pub retention_usd_per_gib: f64,
    /// Form in which large objects are written; `None`: in one request, whatever their size.
    #[serde(default)]
    pub multipart: Option<Multipart>,
}

/// Decoding and encoding speed of a codec on one core, decoded bytes per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CodecSpeed {
    /// Name as in [`crate::Side::codec`].
    pub name: String,
    /// Decoded bytes per second, decoding.
    pub decode_bytes_per_second: f64,
    /// Decoded bytes per second, encoding.
    pub encode_bytes_per_second: f64,
}

/// Speeds of all codecs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CodecSpeeds {
    /// By name; a codec that is not listed counts as `default`.
    pub codecs: Vec<CodecSpeed>,
    /// Bytes per second of copying pieces between chunk buffers.
    pub copy_bytes_per_second: f64,
}

/// All constants of the cost model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Name of the file it is from; `None`: built in.
    #[serde(default)]
    pub name: Option<String>,
    /// The store of the source.
    pub source: StoreProfile,
    /// The store of the intermediate.
    pub intermediate: StoreProfile,
    /// The store of the target.
    pub target: StoreProfile,
    /// Codec and copy speeds.
    pub speeds: CodecSpeeds,
}

impl Profile {
    /// Uses one store for all three roles.
    pub fn uniform(store: &StoreProfile) -> Self {
        Self {
            name: None,
            source: store.clone(),
            intermediate: store.clone(),
            target: store.clone(),
            speeds: CodecSpeeds::default(),
        }
    }

    /// Names of its parts, for reports.
    pub fn names(&self) -> ProfileNames {
        ProfileNames {
            file: self.name.clone(),
            source: self.source.name.clone(),
            intermediate: self.intermediate.name.clone(),
            target: self.target.name.clone(),
        }
    }
}

/// Which profiles a plan was priced with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileNames {
    /// Name of the profile file; `None`: there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Name of the source's store profile.
    pub source: String,
    /// Name of the intermediate's.
    pub intermediate: String,
    /// Name of the target's.
    pub target: String,
}

/// True of a price that there is not: older plans and profiles do not have it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(crate) fn is_free(usd: &f64) -> bool {
    *usd <= 0.0
}

const MIB: f64 = 1024.0 * 1024.0;

/// name, get s, put s, read MiB/s, write MiB/s, concurrency, get $, put $
type Row = (&'static str, f64, f64, f64, f64, u32, f64, f64);
const BUILT_IN: [Row; 8] = [
    ("local", 60e-6, 150e-6, 2000.0, 800.0, 16, 0.0, 0.0),
    ("hdd", 10e-3, 12e-3, 150.0, 120.0, 1, 0.0, 0.0),
    ("s3", 30e-3, 60e-3, 250.0, 250.0, 64, 0.4e-6, 5e-6),
    ("gs", 40e-3, 70e-3, 250.0, 250.0, 64, 0.4e-6, 5e-6),
    ("az", 35e-3, 65e-3, 250.0, 250.0, 64, 0.44e-6, 5.5e-6),
    ("http", 50e-3, 50e-3, 100.0, 100.0, 16, 0.0, 0.0),
    // Blocks that wait share a round trip.
    ("datastore", 5e-3, 5e-3, 100.0, 100.0, 256, 0.0, 0.0),
    ("memory", 1e-6, 1e-6, 8000.0, 8000.0, 64, 0.0, 0.0),
];

/// Name, GETs and PUTs per second that the store allows. The limits are for a prefix (s3), for a
/// bucket before it has grown (gs), for an account (az).
const CAPS: [(&str, f64, f64); 3] =
    [("s3", 5500.0, 3500.0), ("gs", 5000.0, 1000.0), ("az", 20000.0, 20000.0)];

impl StoreProfile {
    /// Names of the built-in profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|row| row.0)
    }

    /// A built-in profile by name.
    pub fn built_in(name: &str) -> Option<Self> {
        BUILT_IN.iter().find(|row| row.0 == name).map(Self::from_row)
    }

    /// The profile of a local SSD with a warm page cache.
    pub fn local() -> Self {
        Self::from_row(&BUILT_IN[0])
    }

    fn from_row(row: &Row) -> Self {
        let &(name, get_seconds, put_seconds, read, write, concurrency, get_usd, put_usd) = row;
        let caps = CAPS.iter().find(|caps| caps.0 == name);
        Self {
            name: name.to_owned(),
            get_seconds,
            put_seconds,
            read_bytes_per_second: read * MIB,
            write_bytes_per_second: write * MIB,
            concurrency,
            get_requests_per_second: caps.map(|caps| caps.1),
            put_requests_per_second: caps.map(|caps| caps.2),
            get_usd,
            put_usd,
            egress_usd_per_gib: 0.0,
            write_usd_per_gib: 0.0,
            retention_usd_per_gib: 0.0,
            multipart: caps.map(|_| Multipart::DEFAULT),
        }
    }
}

impl CodecSpeeds {
    /// Decode and encode speed of `codec`, decoded bytes per second on one core.
    pub fn of(&self, codec: &str) -> (f64, f64) {
        let find = |name: &str| self.codecs.iter().find(|speed| speed.name == name);
        find(codec).or_else(|| find("default")).map_or((200.0 * MIB, 100.0 * MIB), |speed| {
            (speed.decode_bytes_per_second, speed.encode_bytes_per_second)
        })
    }
}

impl Default for CodecSpeeds {
    /// Measured on real packed int16 and float32 fields, one thread (docs/design/005); those of
    /// bz2, lzma, pcodec and of filters are rough.
    fn default() -> Self {
        // name, decode MiB/s, encode MiB/s
        const SPEEDS: [(&str, f64, f64); 26] = [
            ("none", 20000.0, 20000.0),
            ("zstd", 900.0, 160.0),
            ("gzip", 600.0, 85.0),
            ("zlib", 600.0, 85.0),
            ("blosc-lz4", 2800.0, 1000.0),
            ("blosc-lz4hc", 2800.0, 100.0),
            ("blosc-blosclz", 2500.0, 900.0),
            ("blosc-snappy", 1500.0, 700.0),
            ("blosc-zlib", 400.0, 80.0),
            ("blosc-zstd", 1000.0, 100.0),
            ("lz4", 3000.0, 600.0),
            ("bz2", 30.0, 12.0),
            ("lzma", 80.0, 4.0),
            ("pcodec", 1500.0, 150.0),
            ("crc32c", 8000.0, 8000.0),
            ("crc32", 8000.0, 8000.0),
            ("adler32", 8000.0, 8000.0),
            ("fletcher32", 1000.0, 1000.0),
            ("shuffle", 1000.0, 1000.0),
            ("delta", 300.0, 300.0),
            ("fixedscaleoffset", 200.0, 200.0),
            ("quantize", 300.0, 200.0),
            ("astype", 300.0, 300.0),
            ("bitround", 5000.0, 400.0),
            ("packbits", 500.0, 500.0),
            ("default", 200.0, 60.0),
        ];
        let codecs = SPEEDS
            .iter()
            .map(|&(name, decode, encode)| CodecSpeed {
                name: name.to_owned(),
                decode_bytes_per_second: decode * MIB,
                encode_bytes_per_second: encode * MIB,
            })
            .collect();
        Self { codecs, copy_bytes_per_second: 3000.0 * MIB }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_without_caps_and_parts_is_read() {
        let older = r#"{"name": "x", "get_seconds": 0.1, "put_seconds": 0.2,
            "read_bytes_per_second": 1e6, "write_bytes_per_second": 1e6, "concurrency": 4,
            "get_usd": 0.5, "put_usd": 0.25}"#;
        let store: StoreProfile = serde_json::from_str(older).unwrap();
        assert_eq!((store.get_requests_per_second, store.multipart), (None, None));
        assert!(store.egress_usd_per_gib.abs() < f64::EPSILON);
    }

    #[test]
    fn what_is_remote_and_has_a_price_has_limits() {
        for name in StoreProfile::names() {
            let store = StoreProfile::built_in(name).unwrap();
            let has_price = store.put_usd > 0.0;
            assert_eq!(store.multipart.is_some(), has_price, "{name}");
            assert_eq!(store.put_requests_per_second.is_some(), has_price, "{name}");
        }
    }
}
