//! A small picture of a data set, for lists of viewers.

use axum::body::Body;
use hyper::StatusCode;
use rechunk_datastore::{Known, OpenLevel, VersionWanted};

use super::open;
use crate::datastore::failure::{Answer, Failure};
use crate::datastore::state::Face;
use crate::typed::typed;

/// Most pixels along an axis.
const PIXELS_MAX: u64 = 128;
/// Most elements along an axis that are read for it.
const ELEMENTS_MAX: u64 = 512;
/// Most blocks along an axis that are read for it.
const BLOCKS_MAX: u64 = 8;

/// A picture of the slice in the middle of the coarsest level, of the first view. Of a level that
/// is large it has the middle of that slice; from black to white, as far as elements differ.
pub(super) async fn picture(face: &Face, known: &Known, version: VersionWanted) -> Answer {
    let levels = known.dataset.resolution_levels.len();
    let level = open(face, known, version, levels.saturating_sub(1)).await?;
    let (extents, full) = (level.dimensions(), level.level().block_dimensions);
    let size: [u64; 3] = std::array::from_fn(|axis| match axis {
        2 => 1,
        axis => extents[axis].min(ELEMENTS_MAX).min(full[axis].saturating_mul(BLOCKS_MAX)),
    });
    let start = std::array::from_fn(|axis| (extents[axis] - size[axis]) / 2);
    let time = known.dataset.timepoint_ids.first().copied().unwrap_or_default();
    let _held = face.downloads.take(level.wire_bytes_max().saturating_mul(3)).await;
    let elements = level.read_box(known.dataset.view_of(0, time), start, size).await?;
    let pixels = size.map(|size| size.min(PIXELS_MAX));
    let values = elements.map(|elements| sampled(&level, &elements, size, pixels));
    let bytes = png(pixels, &greys(pixels, values.as_deref())).map_err(|error| {
        tracing::error!(%error, "a picture cannot be written");
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "the picture cannot be written")
    })?;
    Ok(typed(StatusCode::OK, "image/png", Body::from(bytes)))
}

/// Values of the elements that lie nearest to the pixels.
fn sampled(level: &OpenLevel, elements: &[u8], size: [u64; 3], pixels: [u64; 3]) -> Vec<f64> {
    let kind = level.known().dataset.voxel_type.as_str();
    let item = usize::try_from(level.item_bytes()).unwrap_or(1);
    let nearest = |pixel: u64, axis: usize| pixel * size[axis] / pixels[axis];
    let at = |y: u64, x: u64| {
        let number = nearest(y, 1) * size[0] + nearest(x, 0);
        let first = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(item);
        elements.get(first..first.saturating_add(item)).map_or(0.0, |bytes| value(kind, bytes))
    };
    (0..pixels[1])
        .flat_map(|y| (0..pixels[0]).map(move |x| (y, x)))
        .map(|(y, x)| at(y, x))
        .collect()
}

/// The value of a big-endian element of a type of N5.
fn value(kind: &str, bytes: &[u8]) -> f64 {
    let mut wide = [0; 8];
    let length = bytes.len().min(8);
    wide[..length].copy_from_slice(&bytes[..length]);
    // As if it had 64 bits: what counts is how values lie to each other.
    let unsigned = u64::from_be_bytes(wide);
    match kind {
        "float32" => u32::try_from(unsigned >> 32).map_or(0.0, |bits| f32::from_bits(bits).into()),
        "float64" => f64::from_bits(unsigned),
        #[expect(clippy::cast_precision_loss, reason = "256 shades need no more")]
        signed if signed.starts_with("int") => i64::from_be_bytes(wide) as f64,
        #[expect(clippy::cast_precision_loss, reason = "256 shades need no more")]
        _ => unsigned as f64,
    }
}

/// Shades of values; all black where there are none, or none differ.
fn greys(pixels: [u64; 3], values: Option<&[f64]>) -> Vec<u8> {
    let count = usize::try_from(pixels[0] * pixels[1]).unwrap_or(0);
    let Some(values) = values else { return vec![0; count] };
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (finite().fold(f64::MAX, f64::min), finite().fold(f64::MIN, f64::max));
    let shade = |value: &f64| {
        // Halves first: the difference of two large floats may be infinite.
        let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "NaN and what is beyond 0 to 255 saturate"
        )]
        let shade = (share * 255.0).round() as u8;
        shade
    };
    values.iter().map(shade).collect()
}

fn png(pixels: [u64; 3], greys: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let [width, height, _] = pixels.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(greys)?;
    writer.finish()?;
    Ok(bytes)
}
