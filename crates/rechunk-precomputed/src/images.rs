//! Chunks that are images: JPEG and PNG. The pixels of an image, row by row, are the voxels of a
//! chunk, whatever its width and height; each has all channels.

use std::io::Cursor;

use jpeg_encoder::{Encoder, SamplingFactor};
use png::{BitDepth, ColorType, Transformations};
use rechunk_format::FormatError;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use crate::JpegQuality;
use crate::field::field;
use crate::names::CHUNK_SIZES;

/// Bytes that an image takes beside its pixels, and that its codec allocates beside them.
const HEADER_BYTES: u64 = 64 << 10;
const CODEC_BYTES: u64 = 1 << 20;

/// Voxels that a decoder of JPEG may pad an image to, for one of a full chunk, and for none.
const PADDED_FACTOR: u64 = 4;
const PADDED_MORE: u64 = 1 << 16;

/// Pixels of the largest part that a JPEG is made of, along an axis.
const JPEG_UNIT: u64 = 16;
/// Pixels along an axis of the parts that are written.
const JPEG_BLOCK: u64 = 8;
/// Largest extent of a JPEG, pixels.
const JPEG_EXTENT_MAX: u64 = 0xffff;
/// Most bytes of a pixel of one channel in a JPEG. At the highest quality a coefficient of 8 bits
/// takes 18; by the energy of a block not all can have more.
const JPEG_PIXEL_BYTES_MAX: u64 = 3;

/// Voxels of a chunk, or of what the volume has of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pixels {
    /// Voxels, each a pixel.
    pub voxels: usize,
    /// Voxels along x.
    pub width: usize,
    /// Voxels of a full chunk.
    pub chunk_voxels: u64,
    pub channels: usize,
    /// Bytes of a channel of a voxel: 1 or 2.
    pub item_bytes: usize,
}

/// Most bytes of an image of `decoded` bytes, by other writers too.
pub(crate) fn encoded_bytes_max(decoded: u64) -> u64 {
    decoded.saturating_mul(2) + HEADER_BYTES
}

/// The most that decoding allocates for a chunk of `decoded` bytes: coefficients of 16 bits for all
/// that is padded, and pixels by channel.
pub(crate) fn decode_workspace_bytes(decoded: u64, channels: u64) -> u64 {
    let padded = decoded.saturating_mul(PADDED_FACTOR) + PADDED_MORE * channels;
    padded.saturating_mul(2).saturating_add(decoded * 2) + CODEC_BYTES
}

/// The most that encoding a chunk of `decoded` bytes allocates.
pub(crate) fn encode_workspace_bytes(decoded: u64) -> u64 {
    encoded_bytes_max(decoded).saturating_add(decoded) + 2 * CODEC_BYTES
}

/// Most bytes of a JPEG of a chunk of this size along x, y and z, as it is written.
pub(crate) fn jpeg_bytes_max(size: [u64; 3], channels: u64) -> u64 {
    let [x, y, z] = size;
    let padded = |extent: u64| extent.saturating_add(JPEG_BLOCK);
    let pixels = padded(x).saturating_mul(padded(y.saturating_mul(z)));
    pixels
        .saturating_mul(channels)
        .saturating_mul(JPEG_PIXEL_BYTES_MAX)
        .saturating_add(HEADER_BYTES)
}

/// The most that encoding a chunk of `decoded` bytes as a JPEG of up to `encoded` bytes allocates.
pub(crate) fn encode_jpeg_workspace_bytes(decoded: u64, encoded: u64) -> u64 {
    encoded.saturating_add(decoded) + CODEC_BYTES
}

/// Refuses chunks of a size along x, y and z that no JPEG has, or that would be mostly padding.
pub(crate) fn check_jpeg(size: [u64; 3]) -> Result<(), FormatError> {
    let [width, height] = [size[0], size[1].saturating_mul(size[2])];
    let refuse = |hint: &str| {
        let what = format!("a JPEG of {width} x {height} pixels (x, and y times z, of a chunk)");
        Err(field(CHUNK_SIZES).unsupported(what, hint))
    };
    if width.max(height) > JPEG_EXTENT_MAX {
        return refuse(&format!("take chunks with at most {JPEG_EXTENT_MAX} along each"));
    }
    if is_mostly_padding(width, height, width * height) {
        return refuse("it is too narrow: take chunks that are longer along x");
    }
    Ok(())
}

/// An image takes so much more room than the voxels of a chunk that no reader has to make it.
fn is_mostly_padding(width: u64, height: u64, chunk_voxels: u64) -> bool {
    let padded = width.next_multiple_of(JPEG_UNIT) * height.next_multiple_of(JPEG_UNIT);
    padded > chunk_voxels.saturating_mul(PADDED_FACTOR) + PADDED_MORE
}

/// Encodes the bytes of a chunk as a JPEG, in which all channels have all pixels; the contents of
/// `encoded` are lost.
pub(crate) fn encode_jpeg(
    decoded: &[u8],
    pixels: &Pixels,
    quality: JpegQuality,
    encoded: &mut Vec<u8>,
) -> Result<(), String> {
    let narrow = |extent: usize| u16::try_from(extent).map_err(|error| error.to_string());
    let (width, height) = (narrow(pixels.width)?, narrow(pixels.voxels / pixels.width)?);
    encoded.clear();
    let mut encoder = Encoder::new(&mut *encoded, quality.get());
    encoder.set_sampling_factor(SamplingFactor::R_4_4_4);
    let encoded = if pixels.channels == 1 {
        encoder.encode(decoded, width, height, jpeg_encoder::ColorType::Luma)
    } else {
        let mut by_pixel = vec![0; decoded.len()];
        pixels.by_pixel(decoded, &mut by_pixel);
        encoder.encode(&by_pixel, width, height, jpeg_encoder::ColorType::Rgb)
    };
    encoded.map_err(|error| error.to_string())
}

/// Decodes a JPEG into the bytes of a chunk.
pub(crate) fn decode_jpeg(
    encoded: &[u8],
    pixels: &Pixels,
    decoded: &mut [u8],
) -> Result<(), String> {
    let color = if pixels.channels == 1 { ColorSpace::Luma } else { ColorSpace::RGB };
    let options = DecoderOptions::default().jpeg_set_out_colorspace(color);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(encoded), options);
    decoder.decode_headers().map_err(|error| error.to_string())?;
    let info = decoder.info().ok_or("it has no header")?;
    if usize::from(info.components) != pixels.channels {
        return Err(format!("{} components instead of {}", info.components, pixels.channels));
    }
    let (width, height) = (u64::from(info.width), u64::from(info.height));
    pixels.check(width, height)?;
    if is_mostly_padding(width, height, pixels.chunk_voxels) {
        return Err(format!("{width} x {height} pixels are too narrow an image"));
    }
    if decoder.output_buffer_size() != Some(decoded.len()) {
        return Err(format!("its pixels are not of {} bytes", pixels.channels));
    }
    if pixels.channels == 1 {
        return decoder.decode_into(decoded).map_err(|error| error.to_string());
    }
    let mut by_pixel = vec![0; decoded.len()];
    decoder.decode_into(&mut by_pixel).map_err(|error| error.to_string())?;
    pixels.by_channel(&by_pixel, decoded);
    Ok(())
}

/// Decodes a PNG into the bytes of a chunk.
pub(crate) fn decode_png(
    encoded: &[u8],
    pixels: &Pixels,
    decoded: &mut [u8],
) -> Result<(), String> {
    let limits = png::Limits { bytes: usize::try_from(CODEC_BYTES).unwrap_or(usize::MAX) };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(encoded), limits);
    decoder.set_transformations(Transformations::IDENTITY);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let info = reader.info();
    let (color, depth) = pixels.png_type()?;
    if (info.color_type, info.bit_depth) != (color, depth) {
        return Err(format!(
            "{:?} of {:?} bits instead of {color:?} of {depth:?}",
            info.color_type, info.bit_depth
        ));
    }
    pixels.check(u64::from(info.width), u64::from(info.height))?;
    if reader.output_buffer_size() != Some(decoded.len()) {
        return Err("its pixels are not those of a chunk".to_owned());
    }
    let mut by_pixel = vec![0; decoded.len()];
    reader.next_frame(&mut by_pixel).map_err(|error| error.to_string())?;
    pixels.by_channel(&by_pixel, decoded);
    Ok(())
}

/// Encodes the bytes of a chunk as a PNG; the contents of `encoded` are lost.
pub(crate) fn encode_png(
    decoded: &[u8],
    pixels: &Pixels,
    encoded: &mut Vec<u8>,
) -> Result<(), String> {
    let (color, depth) = pixels.png_type()?;
    let narrow = |extent: usize| u32::try_from(extent).map_err(|error| error.to_string());
    let (width, height) = (narrow(pixels.width)?, narrow(pixels.voxels / pixels.width)?);
    encoded.clear();
    let mut encoder = png::Encoder::new(&mut *encoded, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    let mut by_pixel = vec![0; decoded.len()];
    pixels.by_pixel(decoded, &mut by_pixel);
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer.write_image_data(&by_pixel).map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())
}

impl Pixels {
    /// Refuses an image of another number of pixels, before it is decoded.
    fn check(&self, width: u64, height: u64) -> Result<(), String> {
        if width.checked_mul(height) == Some(self.voxels as u64) {
            return Ok(());
        }
        Err(format!("{width} x {height} pixels instead of {} voxels", self.voxels))
    }

    fn png_type(&self) -> Result<(ColorType, BitDepth), String> {
        let color = match self.channels {
            1 => ColorType::Grayscale,
            2 => ColorType::GrayscaleAlpha,
            3 => ColorType::Rgb,
            4 => ColorType::Rgba,
            count => return Err(format!("no image has {count} channels")),
        };
        Ok((color, if self.item_bytes == 1 { BitDepth::Eight } else { BitDepth::Sixteen }))
    }

    /// Positions in a chunk of the bytes of an image, in which items are big-endian.
    fn places(&self) -> impl Iterator<Item = usize> {
        let Self { voxels, channels, item_bytes, .. } = *self;
        (0..voxels).flat_map(move |voxel| {
            (0..channels).flat_map(move |channel| {
                let start = (channel * voxels + voxel) * item_bytes;
                (start..start + item_bytes).rev()
            })
        })
    }

    fn by_channel(&self, by_pixel: &[u8], by_channel: &mut [u8]) {
        if self.channels * self.item_bytes == 1 {
            by_channel.copy_from_slice(by_pixel);
            return;
        }
        for (byte, place) in by_pixel.iter().zip(self.places()) {
            by_channel[place] = *byte;
        }
    }

    fn by_pixel(&self, by_channel: &[u8], by_pixel: &mut [u8]) {
        if self.channels * self.item_bytes == 1 {
            by_pixel.copy_from_slice(by_channel);
            return;
        }
        for (byte, place) in by_pixel.iter_mut().zip(self.places()) {
            *byte = by_channel[place];
        }
    }
}
