//! The source's codecs in the target, where nobody asks for others.
//!
//! A copy writes the elements it has read, and another reader must find the same ones. Most codecs
//! give back what they are given. Filters that round do not, so they are kept only where this is
//! certain: for every stored value there can be, and for the fill value, which stands in the
//! target's chunks where the source has none. Those that do the same to each number are not undone
//! at all (`carried.rs`).

use crate::carried;
use crate::choice::bind;
use crate::codec_json::zfp_element;
use crate::codec_spec::{
    BitPacking, BloscName, ChecksumKind, CodecSpec, Shuffle, TypePair, ZfpElement, ZfpMode, ZfpSpec,
};
use crate::codecs::survives;
use crate::element_type::ElementType;
use crate::metadata::{ArrayMetadata, ZarrVersion};
use crate::tiff_codecs::without_tiff;

/// The source's codecs, as far as they keep the elements and `version` has them. A sentence for
/// each that is left out or changed.
pub(crate) fn kept_codecs(
    source: &ArrayMetadata,
    version: ZarrVersion,
    naming: Naming,
    warnings: &mut Vec<String>,
) -> Vec<CodecSpec> {
    let of_others = without_tiff(source);
    let source = match &of_others {
        Some((source, reason)) => {
            warnings.push(reason.clone());
            source
        }
        None => source,
    };
    let mut codecs = lossless(source, version, warnings);
    if version != source.version {
        codecs = match version {
            ZarrVersion::V2 => in_v2(codecs, warnings),
            ZarrVersion::V3 => in_v3(codecs, naming, warnings),
        };
    }
    let mut input = source.element();
    for codec in &mut codecs {
        bind(codec, input, source.element(), version);
        input = codec.output(input);
    }
    codecs
}

/// The codecs without the filters that would change an element.
fn lossless(
    source: &ArrayMetadata,
    version: ZarrVersion,
    warnings: &mut Vec<String>,
) -> Vec<CodecSpec> {
    let mut kept: Vec<CodecSpec> = Vec::with_capacity(source.codecs.len());
    let (numbers, others) = carried::split(&source.codecs, false);
    let mut is_unfiltered = false;
    if !numbers.is_empty() {
        match numbers_fault(source, &numbers, version) {
            None => kept.clone_from(&numbers),
            Some(reason) => {
                let names: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                warnings.push(format!("{} is left out: {reason}", names.join(" + ")));
                is_unfiltered = true;
            }
        }
    }
    for codec in &others {
        if matches!(codec, CodecSpec::Reshape(_)) {
            warnings.push("reshape is left out: it moves no element".to_owned());
            continue;
        }
        let looks_at_elements =
            codec.is_array_to_array() || matches!(codec, CodecSpec::Shuffle { .. });
        if is_unfiltered && looks_at_elements {
            warnings.push(format!("{codec} worked on what was filtered: it is left out too"));
            continue;
        }
        let is_unreadable = version != source.version && version == ZarrVersion::V3;
        let kept_as = if is_unreadable && widens_bytes(codec) {
            Keep::Never("zarr-python cannot read it in Zarr v3 on elements of one byte")
        } else {
            keep(codec, source, &kept)
        };
        match kept_as {
            Keep::AsIs => kept.push(codec.clone()),
            Keep::Done => warnings.push(format!(
                "{codec} has rounded what the source holds: it is left out, and the elements are \
                 written as they are"
            )),
            Keep::Exactly(exact) => {
                warnings.push(format!(
                    "{codec} has rounded what the source holds: it is written as {exact}, so that \
                     nothing is rounded again"
                ));
                kept.push(exact);
            }
            Keep::Never(reason) => {
                warnings.push(format!("{codec} is left out: {reason}"));
                is_unfiltered = codec.input().is_some_and(|input| codec.output(input) != input);
            }
        }
    }
    kept
}

/// Why filters of each number are not kept.
fn numbers_fault(
    source: &ArrayMetadata,
    numbers: &[CodecSpec],
    version: ZarrVersion,
) -> Option<&'static str> {
    match version {
        ZarrVersion::V2 => Some("Zarr v2 has no such codec"),
        ZarrVersion::V3 => carried::fault(source, numbers),
    }
}

enum Keep {
    AsIs,
    /// In a mode that gives back what it is given.
    Exactly(CodecSpec),
    /// Its decoder does nothing.
    Done,
    Never(&'static str),
}

/// Whether `codec`, behind the filters `before` it, gives back what the source holds.
#[expect(clippy::match_same_arms, reason = "one of the two has a condition")]
fn keep(codec: &CodecSpec, source: &ArrayMetadata, before: &[CodecSpec]) -> Keep {
    let is_exact = match codec {
        CodecSpec::BitRound { .. } => return Keep::Done,
        CodecSpec::Zfp { spec, element } => return keep_zfp(*spec, *element, source),
        CodecSpec::Quantize { types, .. } if types.decoded == types.encoded => return Keep::Done,
        CodecSpec::Delta(types) => {
            if types.decoded.is_float() || types.encoded.is_float() {
                return Keep::Never("sums of floats are not exact");
            }
            // Another cut begins at other elements, which are stored whole.
            types.encoded.item_bytes() >= types.decoded.item_bytes()
        }
        // Numbers are only numbers where the filter looks at the elements as they are.
        CodecSpec::AsType(types) | CodecSpec::FixedScaleOffset { types, .. }
            if types.decoded != flow(source, before) =>
        {
            false
        }
        CodecSpec::Quantize { .. } => false,
        CodecSpec::AsType(types) => {
            gives_back(codec, *types) || is_wider(*types) || holds_integers(*types)
        }
        CodecSpec::FixedScaleOffset { types, .. } => gives_back(codec, *types),
        // Behind other filters.
        CodecSpec::ScaleOffset(_) | CodecSpec::CastValue(_) => false,
        _ => return Keep::AsIs,
    };
    if !is_exact {
        return Keep::Never("elements could change when they are encoded again");
    }
    let filters: Vec<CodecSpec> = before.iter().chain([codec]).cloned().collect();
    match stored_fill_value(source) {
        Some(fill) if !survives(&filters, &fill) => {
            Keep::Never("it cannot hold the fill value, which missing chunks are read as")
        }
        _ => Keep::AsIs,
    }
}

/// zfp rounds again whenever it encodes, and at other chunk borders otherwise.
fn keep_zfp(spec: ZfpSpec, element: ElementType, source: &ArrayMetadata) -> Keep {
    let is_halved = zfp_element(element).is_some_and(ZfpElement::is_halved);
    let has_high_bit = |fill: Vec<u8>| fill.last().is_some_and(|&byte| byte > 0x7f);
    if is_halved && stored_fill_value(source).is_some_and(has_high_bit) {
        return Keep::Never("it cannot hold the fill value, which missing chunks are read as");
    }
    if spec.mode == ZfpMode::Reversible {
        return Keep::AsIs;
    }
    Keep::Exactly(CodecSpec::Zfp { spec: spec.reversible(), element })
}

/// The type of the elements behind the filters `before`.
fn flow(source: &ArrayMetadata, before: &[CodecSpec]) -> ElementType {
    before.iter().fold(source.element(), |element, codec| codec.output(element))
}

/// The fill value as an element of a chunk.
fn stored_fill_value(source: &ArrayMetadata) -> Option<Vec<u8>> {
    let fill = source.spec.fill_value.as_ref()?;
    Some(fill.stored(source.spec.data_type, source.order.endian))
}

/// True if decoding every stored value of 8 or 16 bits, encoding that and decoding again gives the
/// same elements: all are tried.
fn gives_back(codec: &CodecSpec, types: TypePair) -> bool {
    let stored: Vec<u8> = match types.encoded.item_bytes() {
        1 => (0..=u8::MAX).collect(),
        2 => (0..=u16::MAX).flat_map(u16::to_le_bytes).collect(),
        _ => return false,
    };
    let mut elements = Vec::new();
    crate::codecs::decode_filter(codec, &stored, &mut elements);
    survives(std::slice::from_ref(codec), &elements)
}

/// True if the decoded type holds every number of the encoded one, so that nothing is rounded on
/// the way out, or back.
fn is_wider(types: TypePair) -> bool {
    let TypePair { decoded, encoded } = types;
    let bits = |element: ElementType| 8 * element.item_bytes();
    match (decoded.is_float(), encoded.is_float()) {
        (true, true) => bits(decoded) >= bits(encoded),
        (true, false) => bits(encoded) < bits(decoded) && encoded.is_integer(),
        (false, true) => false,
        (false, false) if decoded.is_signed() == encoded.is_signed() => {
            bits(decoded) >= bits(encoded) && decoded.is_integer() && encoded.is_integer()
        }
        (false, false) => {
            decoded.is_signed() && bits(decoded) > bits(encoded) && encoded.is_integer()
        }
    }
}

/// True if the encoded type holds every number of the decoded one, and those are integers. Whatever
/// is stored, its decoded number is encoded as itself.
fn holds_integers(types: TypePair) -> bool {
    let TypePair { decoded, encoded } = types;
    decoded.is_integer() && is_wider(TypePair { decoded: encoded, encoded: decoded })
}

/// True if zarr-python cannot write or read it in v3, with its own filters. It takes their output
/// from single bytes for bytes, too, which have no byte order.
pub(crate) fn widens_bytes(codec: &CodecSpec) -> bool {
    codec
        .input()
        .is_some_and(|input| input.item_bytes() == 1 && codec.output(input).item_bytes() > 1)
}

pub(crate) fn in_v2(codecs: Vec<CodecSpec>, warnings: &mut Vec<String>) -> Vec<CodecSpec> {
    let codecs = codecs.into_iter().filter_map(|codec| match codec {
        CodecSpec::PackedNumbers(_) => {
            warnings.push(format!("Zarr v2 has no {codec}: chunks are written without it"));
            None
        }
        codec => zfp_in_v2(codec, warnings),
    });
    let codecs: Vec<CodecSpec> = codecs.collect();
    let count = codecs.len();
    let kept = codecs.into_iter().filter(|codec| *codec != CodecSpec::CRC32C);
    let kept: Vec<CodecSpec> = kept
        .map(|codec| match codec {
            CodecSpec::PackBits(_) => CodecSpec::PackBits(BitPacking::Numcodecs),
            other => other,
        })
        .collect();
    if kept.len() < count {
        // As a filter, which numcodecs has, most readers would refuse it.
        warnings.push("Zarr v2 has no crc32c: chunks are written without it".to_owned());
    }
    kept
}

/// zfp of zarrs as numcodecs has it, with a header; nothing where numcodecs has not got the type.
fn zfp_in_v2(codec: CodecSpec, warnings: &mut Vec<String>) -> Option<CodecSpec> {
    let CodecSpec::Zfp { spec, element } = codec else { return Some(codec) };
    if zfp_element(element).is_some_and(ZfpElement::is_native) {
        let spec = ZfpSpec { has_header: true, ..spec };
        return Some(CodecSpec::Zfp { spec, element });
    }
    let name = element.data_type.name();
    warnings.push(format!("Zarr v2 has no zfp of {name}: chunks are written without it"));
    None
}

fn in_v3(codecs: Vec<CodecSpec>, naming: Naming, warnings: &mut Vec<String>) -> Vec<CodecSpec> {
    let (mut kept, mut is_bytes) = (Vec::with_capacity(codecs.len()), false);
    for codec in codecs {
        let takes_elements = codec.is_array_to_array() || codec.is_array_to_bytes();
        if takes_elements && is_bytes {
            warnings
                .push(format!("Zarr v3 cannot say {codec} here: chunks are written without it"));
            continue;
        }
        is_bytes |= !codec.is_array_to_array();
        kept.push(said_in_v3(codec, naming, warnings));
    }
    kept
}

/// Treatment of a compressor that the specification of Zarr v3 has no name for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// The nearest one that it has a name for stands in its place.
    Nearest,
    /// It stays, by the name that zarr-python has for it.
    Kept,
}

/// The codec by a name that most readers of v3 know, if there is one. Adds a sentence for people
/// where it is another codec, or where there is none.
pub fn said_in_v3(codec: CodecSpec, naming: Naming, warnings: &mut Vec<String>) -> CodecSpec {
    if codec.is_core_v3() {
        return codec;
    }
    if matches!(codec, CodecSpec::Checksum { kind: ChecksumKind::Crc32c, .. }) {
        return CodecSpec::CRC32C;
    }
    let Some(nearest) = nearest_in_v3(&codec).filter(|_| naming == Naming::Nearest) else {
        warnings.push(not_core(&codec));
        return codec;
    };
    let name = codec.name();
    warnings.push(format!(
        "Zarr v3 has no {name}: chunks are written with {nearest}; --codec keep writes \
         \"numcodecs.{name}\", which fewer readers have"
    ));
    nearest
}

/// The compressor of Zarr v3 that is most like one it has no name for. Both give back what they are
/// given.
fn nearest_in_v3(codec: &CodecSpec) -> Option<CodecSpec> {
    /// Level at which zstd still writes as fast as bzip2 and LZMA, which are chosen for size.
    const SMALL: CodecSpec = CodecSpec::Zstd { level: 9, checksum: false };
    Some(match codec {
        // The same compression in another envelope.
        CodecSpec::Zlib { level } => CodecSpec::Gzip { level: *level },
        CodecSpec::Bz2 { .. } | CodecSpec::Lzma(_) => SMALL,
        // The same compression in another envelope.
        CodecSpec::Lz4 { .. } => CodecSpec::Blosc {
            cname: BloscName::Lz4,
            clevel: 5,
            shuffle: Shuffle::None,
            typesize: 0,
            blocksize: 0,
        },
        _ => return None,
    })
}

/// That v3 has another name for a codec, which not every reader knows.
pub(crate) fn not_core(codec: &CodecSpec) -> String {
    let name = codec.name();
    let readers = if widens_bytes(codec) {
        "which zarr-python cannot read on elements of one byte"
    } else {
        "which zarr-python reads and others may not"
    };
    format!(
        "{name:?} is not in the specification of Zarr v3: chunks are written with \
         \"numcodecs.{name}\", {readers}; --codec names another"
    )
}

#[cfg(test)]
mod tests;
