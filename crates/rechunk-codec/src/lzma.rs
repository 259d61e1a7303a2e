//! LZMA in its three formats, as Python's `lzma` and so numcodecs write them.

use liblzma::stream::{
    Action, Check, Error, Filters, LzmaOptions, MatchFinder, Mode, Status, Stream,
};

use crate::{LzmaCheck, LzmaFilter, LzmaFormat, LzmaSpec};

/// Preset where nothing else is said, as in Python.
const PRESET_DEFAULT: u32 = 6;

/// The bits of a preset that are its level; the other one makes it slower.
const PRESET_LEVEL_MASK: u32 = 0x1f;

/// Smallest dictionary LZMA knows, bytes.
const DICTIONARY_BYTES_MIN: u64 = 4096;

/// Dictionaries of the presets, KiB.
const DICTIONARY_KIB: [u64; 10] = [256, 1024, 2048, 4096, 4096, 8192, 8192, 16_384, 32_768, 65_536];

/// Bytes that a decoder allocates beside its dictionary: 65 KiB by liblzma's own estimate, and the
/// headers and the index of the xz format.
const DECODER_BYTES: u64 = 1 << 20;

/// Bytes that an encoder allocates at most for each byte of its dictionary (a power of two), and
/// beside it. They bound liblzma's own estimates (5.8) for all presets and dictionaries from 4 KiB
/// to 64 MiB.
const ENCODER_BYTES_PER_DICTIONARY_BYTE: u64 = 12;
const ENCODER_BYTES: u64 = 2 << 20;

/// Dictionary the settings ask for, bytes.
fn dictionary_bytes(spec: &LzmaSpec) -> u64 {
    let by_preset = |preset: Option<u32>| {
        let level = preset.unwrap_or(PRESET_DEFAULT) & PRESET_LEVEL_MASK;
        let level = usize::try_from(level).unwrap_or(9).min(9);
        DICTIONARY_KIB[level] << 10
    };
    let by_filter = |filter: &LzmaFilter| match filter {
        LzmaFilter::Delta { .. } => 0,
        LzmaFilter::Lzma { preset, dict_size, .. } => {
            dict_size.map_or_else(|| by_preset(*preset), u64::from)
        }
    };
    match &spec.filters {
        Some(filters) => filters.iter().map(by_filter).max().unwrap_or(0),
        None => by_preset(spec.preset),
    }
}

/// The dictionary that is of use for `decoded` bytes: nothing reaches further back than their
/// first. A power of two, because estimates are.
fn useful_dictionary_bytes(spec: &LzmaSpec, decoded: u64) -> u64 {
    let most = decoded.max(DICTIONARY_BYTES_MIN).next_power_of_two();
    dictionary_bytes(spec).max(DICTIONARY_BYTES_MIN).min(most)
}

/// The most a decoder may allocate. A stream with a header says itself how large its dictionary
/// is, whatever its chunk's size: it may have that of its settings, or of the default preset.
pub fn decode_workspace_bytes(spec: &LzmaSpec, decoded: u64) -> u64 {
    let dictionary = match spec.format {
        LzmaFormat::Xz | LzmaFormat::Alone => dictionary_bytes(spec).max(DICTIONARY_KIB[6] << 10),
        LzmaFormat::Raw => useful_dictionary_bytes(spec, decoded),
    };
    dictionary.saturating_add(DECODER_BYTES)
}

/// The most an encoder allocates.
pub fn encode_workspace_bytes(spec: &LzmaSpec, decoded: u64) -> u64 {
    useful_dictionary_bytes(spec, decoded)
        .next_power_of_two()
        .saturating_mul(ENCODER_BYTES_PER_DICTIONARY_BYTE)
        .saturating_add(ENCODER_BYTES)
}

/// Decodes one stream or, in the formats with a header, several, into at most `bound` bytes. What
/// follows a whole stream and is none itself is ignored, as Python does.
pub fn decode(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    bound: usize,
    spec: &LzmaSpec,
) -> Result<(), String> {
    decoded.clear();
    decoded.reserve_exact(bound);
    let mut rest = encoded;
    loop {
        let before = decoded.len();
        match decode_stream(rest, decoded, bound, spec) {
            Ok(used) => rest = &rest[used.min(rest.len())..],
            Err(Refusal::Damaged(reason)) => return Err(reason),
            Err(Refusal::NoStream) if rest.len() == encoded.len() => {
                return Err("this is no LZMA stream of that format".to_owned());
            }
            Err(Refusal::NoStream) => {
                decoded.truncate(before);
                return Ok(());
            }
        }
        if rest.is_empty() || spec.format == LzmaFormat::Raw {
            return Ok(());
        }
    }
}

enum Refusal {
    NoStream,
    Damaged(String),
}

impl Refusal {
    fn of(error: Error) -> Self {
        Self::Damaged(explain(error).to_owned())
    }
}

/// Decodes the stream at the start of `encoded` behind what is in `decoded`; how many bytes it has.
fn decode_stream(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    bound: usize,
    spec: &LzmaSpec,
) -> Result<usize, Refusal> {
    let mut decoder = decoder(spec, bound as u64).map_err(Refusal::of)?;
    let mut spare = [0];
    loop {
        let used = usize::try_from(decoder.total_in()).unwrap_or(usize::MAX).min(encoded.len());
        let (filled, out) = (decoded.len(), decoder.total_out());
        let input = &encoded[used..];
        // When all room is taken, one byte more tells a stream that ends from one that goes on.
        let status = if filled < bound {
            decoder.process_vec(input, decoded, Action::Run)
        } else {
            decoder.process(input, &mut spare, Action::Run)
        };
        let is_too_long = filled >= bound && decoder.total_out() > out;
        match status {
            Err(Error::Format) => return Err(Refusal::NoStream),
            Err(error) => return Err(Refusal::of(error)),
            _ if is_too_long => {
                return Err(Refusal::Damaged(format!("decodes to more than {bound} bytes")));
            }
            Ok(Status::StreamEnd) => {
                return usize::try_from(decoder.total_in()).map_err(|_| Refusal::NoStream);
            }
            // liblzma says so when it can neither read nor write.
            Ok(Status::MemNeeded) => return Err(Refusal::Damaged("is cut short".to_owned())),
            Ok(_) => {}
        }
    }
}

fn decoder(spec: &LzmaSpec, decoded: u64) -> Result<Stream, Error> {
    let limit = decode_workspace_bytes(spec, decoded);
    match spec.format {
        LzmaFormat::Xz => Stream::new_stream_decoder(limit, 0),
        LzmaFormat::Alone => Stream::new_lzma_decoder(limit),
        LzmaFormat::Raw => Stream::new_raw_decoder(&filters(spec, decoded)?),
    }
}

/// One stream of at most `bound` bytes.
pub fn encode(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    bound: usize,
    spec: &LzmaSpec,
) -> Result<(), String> {
    encoded.clear();
    encoded.reserve_exact(bound);
    let length = decoded.len() as u64;
    let mut encoder = encoder(spec, length).map_err(|error| explain(error).to_owned())?;
    loop {
        let used = usize::try_from(encoder.total_in()).unwrap_or(usize::MAX).min(decoded.len());
        let status = encoder.process_vec(&decoded[used..], encoded, Action::Finish);
        match status.map_err(|error| explain(error).to_owned())? {
            Status::StreamEnd => return Ok(()),
            Status::MemNeeded => return Err(format!("encodes to more than {bound} bytes")),
            _ => {}
        }
    }
}

fn encoder(spec: &LzmaSpec, decoded: u64) -> Result<Stream, Error> {
    match spec.format {
        LzmaFormat::Xz => {
            let check = match spec.check {
                LzmaCheck::None => Check::None,
                LzmaCheck::Crc32 => Check::Crc32,
                LzmaCheck::Default | LzmaCheck::Crc64 => Check::Crc64,
                LzmaCheck::Sha256 => Check::Sha256,
            };
            Stream::new_stream_encoder(&filters(spec, decoded)?, check)
        }
        LzmaFormat::Alone => match spec.filters.as_deref() {
            None => Stream::new_lzma_encoder(&plain_options(spec, decoded)?),
            Some([filter @ LzmaFilter::Lzma { .. }]) => {
                Stream::new_lzma_encoder(&options(filter, spec, decoded)?)
            }
            Some(_) => Err(Error::Options),
        },
        LzmaFormat::Raw => Stream::new_raw_encoder(&filters(spec, decoded)?),
    }
}

/// The chain of filters inside LZMA; by preset where none is named.
fn filters(spec: &LzmaSpec, decoded: u64) -> Result<Filters, Error> {
    let mut chain = Filters::new();
    let Some(filters) = &spec.filters else {
        chain.lzma2(&plain_options(spec, decoded)?);
        return Ok(chain);
    };
    for filter in filters {
        match filter {
            LzmaFilter::Delta { distance_less_one } => {
                chain.delta_properties(&[*distance_less_one])?;
            }
            LzmaFilter::Lzma { is_lzma2: true, .. } => {
                chain.lzma2(&options(filter, spec, decoded)?);
            }
            LzmaFilter::Lzma { .. } => {
                chain.lzma1(&options(filter, spec, decoded)?);
            }
        }
    }
    Ok(chain)
}

/// A dictionary that is larger than the data would be memory without use.
fn dictionary(spec: &LzmaSpec, decoded: u64) -> u32 {
    u32::try_from(useful_dictionary_bytes(spec, decoded)).unwrap_or(u32::MAX)
}

fn plain_options(spec: &LzmaSpec, decoded: u64) -> Result<LzmaOptions, Error> {
    let mut options = LzmaOptions::new_preset(spec.preset.unwrap_or(PRESET_DEFAULT))?;
    options.dict_size(dictionary(spec, decoded));
    Ok(options)
}

fn options(filter: &LzmaFilter, spec: &LzmaSpec, decoded: u64) -> Result<LzmaOptions, Error> {
    let LzmaFilter::Lzma { preset, lc, lp, pb, mode, nice_len, mf, depth, .. } = filter else {
        return Err(Error::Options);
    };
    let mut options = LzmaOptions::new_preset(preset.unwrap_or(PRESET_DEFAULT))?;
    options.dict_size(dictionary(spec, decoded));
    if let Some(bits) = lc {
        options.literal_context_bits(*bits);
    }
    if let Some(bits) = lp {
        options.literal_position_bits(*bits);
    }
    if let Some(bits) = pb {
        options.position_bits(*bits);
    }
    if let Some(length) = nice_len {
        options.nice_len(*length);
    }
    if let Some(depth) = depth {
        options.depth(*depth);
    }
    if let Some(mode) = mode {
        options.mode(if *mode == 1 { Mode::Fast } else { Mode::Normal });
    }
    if let Some(finder) = mf {
        options.match_finder(match finder {
            3 => MatchFinder::HashChain3,
            4 => MatchFinder::HashChain4,
            0x12 => MatchFinder::BinaryTree2,
            0x13 => MatchFinder::BinaryTree3,
            0x14 => MatchFinder::BinaryTree4,
            _ => return Err(Error::Options),
        });
    }
    Ok(options)
}

fn explain(error: Error) -> &'static str {
    match error {
        Error::Data => "the data is damaged",
        Error::Options => "the settings are not ones that LZMA takes",
        Error::Format => "this is no LZMA stream of that format",
        Error::MemLimit => "the stream's dictionary is larger than its settings allow",
        Error::Mem => "there is no memory for it",
        Error::Program => "liblzma refused the call",
        Error::NoCheck | Error::UnsupportedCheck => "its integrity check is not known",
    }
}
