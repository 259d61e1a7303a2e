//! Speeds of this machine's codecs, on one core, and of its copies.

use std::time::{Duration, Instant};

use rechunk_format::{FormatError, Layout};
use rechunk_kernel::copy_region;
use rechunk_plan::CodecSpeeds;
use rechunk_zarr::{ZarrLayout, parse_v2};
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::sample;
use crate::Error;

/// Decoded bytes of a chunk.
const CHUNK_BYTES: usize = 1 << 20;

/// Speeds of a codec on one core.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CodecMeasurement {
    /// Name as in the profile.
    pub name: String,
    /// Decoded bytes per second, decoding.
    pub decode_bytes_per_second: f64,
    /// Decoded bytes per second, encoding.
    pub encode_bytes_per_second: f64,
    /// Decoded over encoded bytes.
    pub ratio: f64,
}

/// Speeds of this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CodecsMeasurement {
    /// The codecs.
    pub codecs: Vec<CodecMeasurement>,
    /// Names in the profile that were not measured.
    pub not_measured: Vec<String>,
    /// Bytes per second of copying a box between chunk buffers.
    pub copy_bytes_per_second: f64,
}

/// The byte codecs, with the settings a copy has if no others are asked for.
fn settings(item_bytes: usize) -> Vec<Value> {
    let blosc = |name: &str| json!({"id": "blosc", "cname": name, "clevel": 5, "shuffle": 1});
    let names = ["lz4", "lz4hc", "blosclz", "snappy", "zlib", "zstd"];
    let mut settings = vec![
        json!({"id": "zstd", "level": 3}),
        json!({"id": "gzip", "level": 5}),
        json!({"id": "zlib", "level": 5}),
        json!({"id": "lz4"}),
        json!({"id": "bz2", "level": 9}),
        json!({"id": "lzma", "preset": 6}),
        json!({"id": "pcodec", "level": 8}),
        json!({"id": "shuffle", "elementsize": item_bytes}),
    ];
    settings.extend(names.map(blosc));
    settings.extend(["crc32c", "crc32", "adler32", "fletcher32"].map(|id| json!({"id": id})));
    settings
}

/// Measures all of them within about `seconds`, away from the async threads.
pub(super) async fn measure(
    seconds: f64,
    cancel: &CancellationToken,
) -> Result<CodecsMeasurement, Error> {
    let cancel = cancel.clone();
    let measured = tokio::task::spawn_blocking(move || measure_now(seconds, &cancel)).await;
    let failed = |reason: String| Error::State { path: "codecs".to_owned(), reason };
    match measured {
        Ok(Ok(measured)) => Ok(measured),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn measure_now(seconds: f64, cancel: &CancellationToken) -> Result<CodecsMeasurement, FormatError> {
    let samples =
        [("<i2", 2, sample::int16(CHUNK_BYTES / 2)), ("<f4", 4, sample::float32(CHUNK_BYTES / 4))];
    let count = settings(1).len();
    // Encoding and decoding of both samples, and the copies.
    let each = Duration::from_secs_f64(seconds / (count * samples.len() * 2 + 2) as f64);
    let mut codecs = Vec::with_capacity(count);
    for codec in 0..count {
        if cancel.is_cancelled() {
            break;
        }
        let mut sum = Sum::default();
        for (data_type, item_bytes, elements) in &samples {
            let layout = layout(data_type, *item_bytes, &settings(*item_bytes)[codec])?;
            sum.name.clone_from(&layout.codec_cost().name);
            sum.add(&layout, elements, each)?;
        }
        codecs.push(sum.measurement());
    }
    let is_measured = |name: &String| codecs.iter().any(|codec| codec.name == *name);
    let all = CodecSpeeds::default().codecs.into_iter().map(|speed| speed.name);
    let not_measured = all.filter(|name| !is_measured(name)).collect();
    let copy_bytes_per_second = copy_bytes_per_second(each * 2);
    Ok(CodecsMeasurement { codecs, not_measured, copy_bytes_per_second })
}

/// An array of one chunk of [`CHUNK_BYTES`].
fn layout(data_type: &str, item_bytes: usize, codec: &Value) -> Result<ZarrLayout, FormatError> {
    let elements = CHUNK_BYTES / item_bytes;
    let document = json!({
        "zarr_format": 2, "shape": [elements], "chunks": [elements], "dtype": data_type,
        "compressor": codec, "filters": null, "fill_value": 0, "order": "C",
    });
    ZarrLayout::new(parse_v2(document.to_string().as_bytes(), None)?)
}

/// Bytes and times of one codec.
#[derive(Debug, Default)]
struct Sum {
    name: String,
    decoded_bytes: f64,
    encoded_bytes: f64,
    /// Seconds that all samples take once, decoding and encoding.
    decode_seconds: f64,
    encode_seconds: f64,
}

impl Sum {
    fn add(
        &mut self,
        layout: &ZarrLayout,
        elements: &[u8],
        each: Duration,
    ) -> Result<(), FormatError> {
        let (mut encoded, mut scratch) = (Vec::new(), Vec::new());
        self.encode_seconds +=
            median_seconds(each, || layout.encode(&[0], elements, &mut encoded))?;
        self.decode_seconds += median_seconds(each, || {
            layout.decode(&[0], &encoded, &mut scratch).map(|decoded| {
                std::hint::black_box(decoded);
            })
        })?;
        // What gives back something else has no speed worth knowing.
        if layout.decode(&[0], &encoded, &mut scratch)? != elements {
            let reason = format!("{} does not give back what it was given", self.name);
            return Err(FormatError::Decode { codec: "probe", reason });
        }
        self.decoded_bytes += elements.len() as f64;
        self.encoded_bytes += encoded.len() as f64;
        Ok(())
    }

    fn measurement(self) -> CodecMeasurement {
        CodecMeasurement {
            name: self.name,
            decode_bytes_per_second: self.decoded_bytes / self.decode_seconds,
            encode_bytes_per_second: self.decoded_bytes / self.encode_seconds,
            ratio: self.decoded_bytes / self.encoded_bytes,
        }
    }
}

/// The median time of `work`, which is done at least once and again until `time` is over, seconds.
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn median_seconds<E>(time: Duration, mut work: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let deadline = Instant::now() + time;
    let mut times = Vec::new();
    loop {
        let began = Instant::now();
        work()?;
        times.push(began.elapsed().as_secs_f64());
        if Instant::now() >= deadline {
            break;
        }
    }
    times.sort_by(f64::total_cmp);
    // A clock that did not move between two readings has a resolution of no more than this.
    Ok(times[times.len() / 2].max(1e-9))
}

/// Copies decoded chunks of float32 to their places in a unit that no cache holds.
fn copy_bytes_per_second(time: Duration) -> f64 {
    /// Extents of a cubic chunk and a cubic unit, elements.
    const CHUNK: u64 = 64;
    const UNIT: u64 = 256;
    let strides = |extent: u64| [4 * extent * extent, 4 * extent, 4];
    let (from, to) = (strides(CHUNK), strides(UNIT));
    let chunk = sample::float32(CHUNK_BYTES / 4);
    let mut unit = vec![1_u8; CHUNK_BYTES * 64]; // written, so that no page is new
    let side = UNIT / CHUNK;
    let mut turn = 0;
    let seconds = median_seconds(time, || {
        let place = [turn / side / side % side, turn / side % side, turn % side];
        turn += 1;
        let offset = place.iter().zip(&to).map(|(at, stride)| at * CHUNK * stride).sum();
        let copied = copy_region(4, &[CHUNK; 3], &chunk, 0, &from, &mut unit, offset, &to, 1);
        std::hint::black_box(&unit);
        copied
    });
    CHUNK_BYTES as f64 / seconds.unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_codec_is_measured_once_and_gives_back_what_it_was_given() {
        let measured = measure_now(0.01, &CancellationToken::new()).unwrap();
        assert_eq!(measured.codecs.len(), settings(2).len());
        let known = CodecSpeeds::default().codecs;
        for codec in &measured.codecs {
            assert!(known.iter().any(|speed| speed.name == codec.name), "{codec:?}");
            let times = measured.codecs.iter().filter(|other| other.name == codec.name).count();
            assert_eq!(times, 1, "{codec:?}");
            for speed in [codec.decode_bytes_per_second, codec.encode_bytes_per_second] {
                assert!(speed.is_finite() && speed > 1e5, "{codec:?}");
            }
        }
        let ratio = |name: &str| measured.codecs.iter().find(|c| c.name == name).unwrap().ratio;
        assert!(ratio("zstd") > 1.1 && ratio("blosc-lz4") > 1.1 && ratio("shuffle") < 1.01);
        let mut not = measured.not_measured.clone();
        not.sort();
        let filters = ["astype", "bitround", "default", "delta", "fixedscaleoffset", "none"];
        assert_eq!(not, [&filters[..], &["packbits", "quantize"]].concat());
        assert!(measured.copy_bytes_per_second > 1e6);
    }
}
