//! Pcodec in its standalone format, as numcodecs and zarrs write it.
//!
//! The format's headers may ask for a dictionary and a window of any size: they are looked at
//! before the decoder, which would allocate what they say.

use half::f16;
use pco::data_types::Number;
use pco::errors::PcoError;
use pco::standalone::{DecompressorItem, FileCompressor, FileDecompressor, guarantee};
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};
use rechunk_grid::{DataType, Endian};

use crate::codec_spec::{PcodecDelta, PcodecSpec};
use crate::element_type::ElementType;

/// Elements that are decoded at a time; a multiple of Pcodec's batch of 256.
const BATCH_ELEMENTS: usize = 4096;

/// Largest window that encoders look back, elements.
const WINDOW_ELEMENTS_MAX: u64 = 1 << 15;

/// Tables and batches of a decoder, whatever the chunk's size: three latent variables of at most
/// 2^14 states and 2^15 bins.
const DECODER_BYTES: u64 = 6 << 20;

/// Bytes before a chunk's own metadata: its type and its element count.
const PREAMBLE_BYTES: usize = 4;

/// Runs `$run` with `$number` standing for the Rust type of an element type.
macro_rules! with_number {
    ($data_type:expr, $number:ident => $run:expr) => {
        match $data_type {
            DataType::Int16 => {
                type $number = i16;
                $run
            }
            DataType::Int32 => {
                type $number = i32;
                $run
            }
            DataType::Int64 => {
                type $number = i64;
                $run
            }
            DataType::Uint16 => {
                type $number = u16;
                $run
            }
            DataType::Uint32 => {
                type $number = u32;
                $run
            }
            DataType::Uint64 => {
                type $number = u64;
                $run
            }
            DataType::Float16 => {
                type $number = f16;
                $run
            }
            DataType::Float32 => {
                type $number = f32;
                $run
            }
            DataType::Float64 => {
                type $number = f64;
                $run
            }
            other => Err(format!("it has no type {}", other.name())),
        }
    };
}

/// True for the types Pcodec has and numcodecs offers.
pub(crate) fn has_type(element: ElementType) -> bool {
    element.is_number() && element.item_bytes() > 1 && element.endian == Endian::Little
}

/// Most bytes of a chunk of `decoded` bytes, by the format's own guarantee.
pub(super) fn encoded_bytes_max(spec: &PcodecSpec, element: ElementType, decoded: u64) -> u64 {
    let count = decoded / element.item_bytes() as u64;
    let pages = Pages::new(count, page_elements(spec));
    // A page's elements in whole bytes, and the rest of it.
    let page_bytes = pages.longest().saturating_mul(element.item_bytes() as u64);
    let rest_bytes = match element.item_bytes() {
        2 => guarantee::chunk_size::<u16>(0),
        4 => guarantee::chunk_size::<u32>(0),
        _ => guarantee::chunk_size::<u64>(0),
    };
    let bytes = page_bytes.saturating_add(rest_bytes as u64).saturating_mul(pages.count);
    // Another writer may have cut its pages otherwise: an eighth more holds thousands of them.
    bytes.saturating_add(decoded / 8).saturating_add(64 << 10)
}

/// Elements cut into as few pages as possible, of nearly equal length. (Pcodec has the same as a
/// list, which a document can make longer than memory.)
struct Pages {
    elements: u64,
    count: u64,
}

impl Pages {
    fn new(elements: u64, page_elements: u64) -> Self {
        Self { elements, count: elements.div_ceil(page_elements) }
    }

    fn longest(&self) -> u64 {
        self.elements.div_ceil(self.count.max(1))
    }

    /// The lengths; the first ones may be longer by one.
    fn lengths(&self) -> impl Iterator<Item = u64> {
        let (shortest, more) =
            (self.elements / self.count.max(1), self.elements % self.count.max(1));
        (0..self.count).map(move |number| shortest + u64::from(number < more))
    }
}

/// The most a decoder allocates: a dictionary and twice a window, each not larger than the chunk.
pub(super) fn decode_workspace_bytes(element: ElementType, decoded: u64) -> u64 {
    let item_bytes = element.item_bytes() as u64;
    let window = decoded.max(WINDOW_ELEMENTS_MAX * item_bytes);
    decoded + 2 * window + BATCH_ELEMENTS as u64 * item_bytes + DECODER_BYTES
}

/// The most an encoder allocates, as measured: a page's elements, up to three latent variables of
/// 8 bytes with their sorted copies, and its output.
pub(super) fn encode_workspace_bytes(spec: &PcodecSpec, element: ElementType, decoded: u64) -> u64 {
    let count = decoded / element.item_bytes() as u64;
    let page = count.min(page_elements(spec));
    page.saturating_mul(ENCODER_BYTES_PER_ELEMENT).saturating_add(ENCODER_BYTES)
}

const ENCODER_BYTES_PER_ELEMENT: u64 = 96;
const ENCODER_BYTES: u64 = 8 << 20;

fn page_elements(spec: &PcodecSpec) -> u64 {
    u64::from(spec.page_elements).max(1)
}

/// Decodes into at most `bound` bytes.
pub(super) fn decode(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    bound: usize,
    element: ElementType,
) -> Result<(), String> {
    with_number!(element.data_type, T => decode_as::<T>(encoded, decoded, bound, element))
}

fn decode_as<T: Number + Default + Bytes>(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    bound: usize,
    element: ElementType,
) -> Result<(), String> {
    decoded.clear();
    decoded.reserve_exact(bound);
    let (file, mut rest) = FileDecompressor::new(encoded).map_err(|error| explain(&error))?;
    let has_lookback = file.format_version().major >= 3;
    let mut batch = vec![T::default(); BATCH_ELEMENTS];
    loop {
        let most = (bound - decoded.len()) / element.item_bytes();
        check_claims(rest, most as u64, element, has_lookback)?;
        let item = file.chunk_decompressor::<T, _>(rest).map_err(|error| explain(&error))?;
        let mut chunk = match item {
            DecompressorItem::Chunk(chunk) => chunk,
            DecompressorItem::EndOfData(_) => return Ok(()),
        };
        if chunk.n() > most {
            return Err(format!("decodes to more than {bound} bytes"));
        }
        loop {
            let progress = chunk.read(&mut batch).map_err(|error| explain(&error))?;
            batch[..progress.n_processed].iter().for_each(|number| number.put(decoded));
            if progress.finished {
                break;
            }
        }
        rest = chunk.into_src();
    }
}

/// Refuses a chunk whose metadata asks for a dictionary or a window that its elements, at most
/// `most`, cannot fill. What cannot be read here the decoder refuses.
fn check_claims(
    chunk: &[u8],
    most: u64,
    element: ElementType,
    has_lookback: bool,
) -> Result<(), String> {
    let Some(metadata) = chunk.get(PREAMBLE_BYTES..) else { return Ok(()) };
    let mut bits = Bits { bytes: metadata, position: 0 };
    let item_bits = 8 * element.item_bytes() as u64;
    match bits.take(4) {
        Some(1 | 2) => bits.skip(item_bits),
        Some(3) => bits.skip(8),
        Some(4) => {
            let entries = bits.take(25).unwrap_or(0);
            if entries > most {
                return Err(format!("a dictionary of {entries} entries for {most} elements"));
            }
            bits.align();
            bits.skip(entries * item_bits);
        }
        _ => {}
    }
    if has_lookback && bits.take(4) == Some(2) {
        let window = 2_u64 << bits.take(5).unwrap_or(0);
        if window > most.max(WINDOW_ELEMENTS_MAX) {
            return Err(format!("a window of {window} elements for {most} elements"));
        }
    }
    Ok(())
}

/// Bits from the least significant on.
struct Bits<'a> {
    bytes: &'a [u8],
    position: u64,
}

impl Bits<'_> {
    fn take(&mut self, count: u64) -> Option<u64> {
        let mut value = 0;
        for at in 0..count {
            let byte = usize::try_from((self.position + at) / 8).ok()?;
            let bit = self.bytes.get(byte)? >> ((self.position + at) % 8) & 1;
            value |= u64::from(bit) << at;
        }
        self.position += count;
        Some(value)
    }

    fn skip(&mut self, count: u64) {
        self.position += count;
    }

    fn align(&mut self) {
        self.position = self.position.next_multiple_of(8);
    }
}

/// Encodes in pages, each with metadata of its own.
pub(super) fn encode(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    spec: &PcodecSpec,
    element: ElementType,
) -> Result<(), String> {
    with_number!(element.data_type, T => encode_as::<T>(decoded, encoded, spec, element))
}

fn encode_as<T: Number + Bytes>(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    spec: &PcodecSpec,
    element: ElementType,
) -> Result<(), String> {
    encoded.clear();
    let most = encoded_bytes_max(spec, element, decoded.len() as u64);
    encoded.reserve_exact(usize::try_from(most).map_err(|error| error.to_string())?);
    let count = decoded.len() / element.item_bytes();
    let file = FileCompressor::default().with_n_hint(count);
    file.write_header(&mut *encoded).map_err(|error| explain(&error))?;
    let mut rest = decoded;
    for page in Pages::new(count as u64, page_elements(spec)).lengths() {
        let page = usize::try_from(page).map_err(|error| error.to_string())?;
        let (bytes, after) = rest.split_at_checked(page * element.item_bytes()).ok_or("a page")?;
        let numbers: Vec<T> = bytes.chunks_exact(element.item_bytes()).map(T::get).collect();
        let config = config(spec).with_paging_spec(PagingSpec::Exact(vec![page]));
        let chunk = file.chunk_compressor(&numbers, &config);
        let mut chunk = chunk.map_err(|error| explain(&error))?;
        chunk.write(&mut *encoded).map_err(|error| explain(&error))?;
        rest = after;
    }
    file.write_footer(encoded).map_err(|error| explain(&error))?;
    Ok(())
}

fn config(spec: &PcodecSpec) -> ChunkConfig {
    let order = |order: u8| DeltaSpec::TryConsecutive(usize::from(order));
    let delta = match spec.delta {
        PcodecDelta::Auto => spec.delta_order.map_or(DeltaSpec::Auto, order),
        PcodecDelta::None => DeltaSpec::NoOp,
        PcodecDelta::Consecutive => order(spec.delta_order.unwrap_or(0)),
        PcodecDelta::Lookback => DeltaSpec::TryLookback,
    };
    ChunkConfig::default()
        .with_compression_level(usize::from(spec.level))
        .with_mode_spec(if spec.is_classic { ModeSpec::Classic } else { ModeSpec::Auto })
        .with_delta_spec(delta)
}

fn explain(error: &PcoError) -> String {
    error.to_string()
}

/// A number as its little-endian bytes.
trait Bytes: Sized {
    fn get(bytes: &[u8]) -> Self;
    fn put(&self, bytes: &mut Vec<u8>);
}

macro_rules! bytes {
    ($($number:ty),*) => {$(
        impl Bytes for $number {
            fn get(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or_else(Self::default, |bytes| Self::from_le_bytes(*bytes))
            }

            fn put(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

bytes!(i16, i32, i64, u16, u32, u64, f16, f32, f64);

#[cfg(test)]
mod tests {
    use pco::PagingSpec;

    use super::*;

    /// Pcodec's own pages and guarantee, of counts that it can list.
    #[test]
    fn pages_are_those_of_pcodec() {
        let spec = |page_elements| PcodecSpec {
            level: 8,
            is_classic: false,
            delta: PcodecDelta::Auto,
            delta_order: None,
            page_elements,
        };
        let element = ElementType::new(DataType::Int32, Endian::Little);
        for (elements, page) in [(0, 5), (1, 5), (5, 5), (6, 5), (14, 5), (1000, 1), (70_000, 256)]
        {
            let own = PagingSpec::EqualPagesUpTo(usize::try_from(page).unwrap());
            let lengths: Vec<u64> =
                own.n_per_page(elements).unwrap().iter().map(|&length| length as u64).collect();
            let pages = Pages::new(elements as u64, u64::from(page));
            assert_eq!(pages.lengths().collect::<Vec<_>>(), lengths, "{elements} {page}");
            let guaranteed = guarantee::file_size::<u32>(elements, &own).unwrap();
            let bytes = encoded_bytes_max(&spec(page), element, 4 * elements as u64);
            assert!(bytes >= guaranteed as u64, "{elements} {page}");
        }
        assert!(encoded_bytes_max(&spec(1), element, 1 << 40) > 1 << 44);
    }
}
