//! zfp: arrays of numbers in blocks of 4 elements along each axis, exactly or nearly.
//!
//! The coding itself is the C library's, by way of zarrs, and only in a build with the feature
//! `zfp`. It believes its input: a header's shape, and that a stream is as long as its bits say.
//! So the header is read here, the stream is walked over before it is decoded (`extent`), and the
//! library gets it in a buffer of the largest size a stream of the field can have, behind which its
//! decoder cannot read whatever the bits are.

mod bits;
mod extent;
mod header;
#[cfg(feature = "zfp")]
mod library;
mod params;
mod settings;
#[cfg(not(feature = "zfp"))]
mod without_library;

#[cfg(not(feature = "zfp"))]
use without_library as library;

pub use settings::{Real, ZfpElement, ZfpMode, ZfpSpec};

use params::{Field, Params};

/// True if this build can encode and decode.
pub const IS_BUILT_IN: bool = cfg!(feature = "zfp");

/// Bytes of the words that zfp reads and writes.
const WORD_BYTES: u64 = 8;

/// Most axes that zfp has.
const AXES_MAX: usize = 4;

/// zfp's own structures.
const BASE_BYTES: u64 = crate::KIB;

/// A chunk as zfp sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZfpChunk {
    spec: ZfpSpec,
    element: ZfpElement,
    field: Field,
    params: Params,
}

impl ZfpChunk {
    /// A chunk of `shape`, slowest axis first; an error says what zfp does not take.
    ///
    /// Where there is a header, axes of one element are left out if there are more than zfp has:
    /// a reader takes the shape of a chunk from elsewhere.
    pub fn new(spec: ZfpSpec, element: ZfpElement, shape: &[u64]) -> Result<Self, String> {
        let mut shape = shape.to_vec();
        if spec.has_header {
            if shape.len() > AXES_MAX {
                shape.retain(|&extent| extent != 1);
            }
            if shape.is_empty() {
                shape.push(1);
            }
            if !element.is_native() {
                return Err("numcodecs has it for int32, int64, float32 and float64".to_owned());
            }
        }
        if shape.is_empty() || shape.len() > AXES_MAX {
            return Err(format!("a chunk of {} axes, but zfp takes 1 to 4", shape.len()));
        }
        if spec.has_header {
            header::check_shape(&shape)?;
        }
        let field = Field { scalar: element.scalar(), shape };
        let params = Params::of(spec.mode, &field, spec.has_header)?;
        Ok(Self { spec, element, field, params })
    }

    /// Bytes of the chunk before encoding.
    pub fn decoded_bytes(&self) -> u64 {
        self.field.elements().saturating_mul(self.element.item_bytes())
    }

    /// Most bytes that the chunk can become. Where there is a header, another writer may have other
    /// settings, or have taken all elements for one axis; and zarrs counts as it does without one.
    pub fn encoded_bytes_max(&self) -> u64 {
        let own = self.params.stream_bits_max(&self.field);
        if !self.spec.has_header {
            return whole_words(own);
        }
        let flat = Field { shape: vec![self.field.elements()], ..self.field };
        let full = [&self.field, &flat].map(|field| Params::REVERSIBLE.stream_bits_max(field));
        let zarrs = Params::of(self.spec.mode, &self.field, false);
        let zarrs = zarrs.map_or(0, |params| params.stream_bits_max(&self.field));
        let most = full.into_iter().fold(own.max(zarrs), u64::max);
        whole_words(most.saturating_add(header::BITS_MAX))
    }

    /// The most that decoding allocates: the stream in a buffer of its largest size, twice, since
    /// zarrs copies it, and the elements in zfp's type.
    pub fn decode_workspace_bytes(&self) -> u64 {
        let streams = self.encoded_bytes_max().saturating_mul(2);
        streams.saturating_add(self.native_bytes()).saturating_add(BASE_BYTES)
    }

    /// The most that encoding allocates: the elements in zfp's type, and the stream before it
    /// becomes a chunk.
    pub fn encode_workspace_bytes(&self) -> u64 {
        let stream = self.encoded_bytes_max();
        stream.saturating_add(self.native_bytes()).saturating_add(BASE_BYTES)
    }

    fn native_bytes(&self) -> u64 {
        self.field.elements().saturating_mul(u64::from(self.field.scalar.bits() / 8))
    }

    /// Decodes to exactly the chunk.
    pub fn decode(&self, encoded: &[u8], decoded: &mut Vec<u8>) -> Result<(), String> {
        // zarrs allocates; two buffers at once would be more than was accounted for.
        *decoded = Vec::new();
        let (field, params, start) = if self.spec.has_header {
            let header = header::read(encoded)?;
            self.check_header(&header)?;
            (header.field, header.params, header.bits)
        } else {
            (self.field.clone(), self.params, 0)
        };
        let bits = extent::stream_bits(encoded, start, &field, &params)?;
        let most = params.stream_bits_max(&field);
        if bits > most {
            return Err(format!("a stream of {bits} bits, but it can have no more than {most}"));
        }
        let length = usize::try_from(whole_words(most));
        let length = length.map_err(|error| error.to_string())?;
        let held = usize::try_from(bits.div_ceil(8)).map_err(|error| error.to_string())?;
        let mut stream = Vec::with_capacity(length);
        stream.extend(bits::shifted_down(encoded, start).take(held));
        stream.resize(length, 0);
        *decoded = library::decode(stream, self.element, &field.shape, &params)?;
        Ok(())
    }

    /// A header is a claim: it must be of this chunk, and ask for no more than was accounted for.
    fn check_header(&self, header: &header::Header) -> Result<(), String> {
        let (said, field) = (&header.field, &self.field);
        if said.scalar != field.scalar {
            return Err(format!(
                "the header says {:?}, but the elements are {:?}",
                said.scalar, field.scalar
            ));
        }
        if said.elements() != field.elements() {
            return Err(format!(
                "the header says a shape of {:?}, but a chunk has {} elements",
                said.shape,
                field.elements()
            ));
        }
        let stream = whole_words(header.params.stream_bits_max(said));
        if stream > self.encoded_bytes_max() {
            return Err(format!(
                "the header says up to {stream} bytes, more than the {} possible",
                self.encoded_bytes_max()
            ));
        }
        Ok(())
    }

    /// Encodes a chunk.
    pub fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), String> {
        if decoded.len() as u64 != self.decoded_bytes() {
            return Err(format!(
                "{} bytes, but a chunk has {}",
                decoded.len(),
                self.decoded_bytes()
            ));
        }
        self.check_half(decoded)?;
        *encoded = Vec::new(); // two at once would be more than was accounted for
        let stream = library::encode(decoded, self.element, &self.field.shape, &self.params)?;
        if !self.spec.has_header {
            *encoded = stream;
            return Ok(());
        }
        // As zfp would have written it: the header's bits, the blocks', zeros to a whole word.
        let bits = extent::stream_bits(&stream, 0, &self.field, &self.params)?;
        let most = usize::try_from(whole_words(bits + header::BITS_MAX));
        encoded.reserve_exact(most.map_err(|error| error.to_string())?);
        let start = header::write(&self.field, &self.params, encoded);
        bits::append(encoded, start, &stream, bits);
        encoded.resize(encoded.len().next_multiple_of(8), 0);
        Ok(())
    }

    /// zarrs writes the largest signed number in place of any that is larger: no rounding that
    /// anybody has asked for.
    fn check_half(&self, decoded: &[u8]) -> Result<(), String> {
        let item_bytes = usize::try_from(self.element.item_bytes()).unwrap_or(8);
        let mut highest = decoded.iter().skip(item_bytes - 1).step_by(item_bytes);
        if self.element.is_halved() && highest.any(|&byte| byte > 0x7f) {
            return Err(format!(
                "a number of 2^{} or more, which zfp cannot hold: use another codec",
                8 * item_bytes - 1
            ));
        }
        Ok(())
    }
}

/// Bytes of whole words that hold so many bits.
fn whole_words(bits: u64) -> u64 {
    bits.div_ceil(8 * WORD_BYTES).saturating_mul(WORD_BYTES)
}

#[cfg(test)]
mod tests;
