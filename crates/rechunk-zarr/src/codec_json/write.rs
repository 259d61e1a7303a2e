//! Codecs into metadata.

use rechunk_format::ElementOrder;
use rechunk_grid::Endian;
use serde_json::{Map, Value, json};

use super::zfp::{write_zfp, write_zfpy};
use super::{NUMCODECS, extensions};
use crate::codec_spec::{CodecSpec, LzmaFilter, LzmaSpec, PcodecSpec, Predictor, TypePair};
use crate::element_type::ElementType;
use crate::metadata::ZarrVersion;
use crate::shard_codec::ShardCodec;
use crate::sharding;

/// As numcodecs writes it.
pub(crate) fn write_v2_codec(codec: &CodecSpec) -> Value {
    let mut map = Map::new();
    map.insert("id".to_owned(), Value::from(codec.name()));
    map.extend(settings(codec, ZarrVersion::V2));
    Value::Object(map)
}

/// As the v3 specification spells it; what it does not know, as zarr-python does.
pub(crate) fn write_v3_codec(codec: &CodecSpec) -> Value {
    let configuration = match codec {
        CodecSpec::Blosc { cname, clevel, shuffle, typesize, blocksize } => json!({
            "cname": cname.name(), "clevel": clevel, "shuffle": shuffle.name(),
            "typesize": typesize, "blocksize": blocksize,
        }),
        CodecSpec::Zstd { level, checksum } => json!({"level": level, "checksum": checksum}),
        CodecSpec::Gzip { level } => json!({"level": level}),
        CodecSpec::Shards(shards) => {
            let chunk_shape = &shards.chunk_shape;
            return sharding::write(&shards.format, chunk_shape, &shard_codecs(shards));
        }
        CodecSpec::N5Block(block) => {
            return block.write(block.compressor.as_ref().map(write_v3_codec));
        }
        CodecSpec::ScaleOffset(codec) => extensions::write_scale_offset(codec),
        CodecSpec::CastValue(cast) => extensions::write_cast_value(cast),
        CodecSpec::PackedNumbers(packed) => extensions::write_packed(packed),
        CodecSpec::Reshape(axes) => extensions::write_reshape(axes),
        CodecSpec::PackBits(packing) if codec.is_core_v3() => {
            json!({"padding_encoding": packing.padding_encoding()})
        }
        CodecSpec::Zfp { spec, .. } if codec.is_core_v3() => write_zfp(spec.mode),
        codec if codec.is_of_tiff() => Value::Object(settings(codec, ZarrVersion::V3)),
        codec if codec.is_core_v3() => return json!({"name": codec.name()}),
        codec => {
            let name = format!("{NUMCODECS}{}", codec.name());
            return json!({"name": name, "configuration": settings(codec, ZarrVersion::V3)});
        }
    };
    json!({"name": codec.name(), "configuration": configuration})
}

/// The codecs of the chunks in a shard.
fn shard_codecs(shards: &ShardCodec) -> Vec<Value> {
    let ElementOrder { axes, endian } = &shards.order;
    let mut list = Vec::with_capacity(shards.codecs.len() + 2);
    if !axes.iter().copied().eq(0..axes.len()) {
        list.push(json!({"name": "transpose", "configuration": {"order": axes}}));
    }
    let filters = shards.codecs.iter().take_while(|codec| codec.is_array_to_array()).count();
    let (filters, rest) = shards.codecs.split_at(filters);
    list.extend(filters.iter().map(write_v3_codec));
    if !rest.first().is_some_and(CodecSpec::is_array_to_bytes) {
        list.push(if shards.data_type.swap_bytes() == 1 {
            json!({"name": "bytes"})
        } else {
            json!({"name": "bytes", "configuration": {"endian": endian}})
        });
    }
    list.extend(rest.iter().map(write_v3_codec));
    list
}

/// The settings as numcodecs names them.
fn settings(codec: &CodecSpec, version: ZarrVersion) -> Map<String, Value> {
    let settings = match codec {
        CodecSpec::Blosc { cname, clevel, shuffle, typesize: _, blocksize } => json!({
            "cname": cname.name(), "clevel": clevel,
            "shuffle": shuffle.number(), "blocksize": blocksize,
        }),
        // Left out when false: tensorstore refuses it.
        CodecSpec::Zstd { level, checksum: true } => json!({"level": level, "checksum": true}),
        CodecSpec::Zstd { level, .. } | CodecSpec::Gzip { level } | CodecSpec::Zlib { level } => {
            json!({"level": level})
        }
        CodecSpec::Bz2 { level } => json!({"level": level}),
        CodecSpec::Lz4 { acceleration } => json!({"acceleration": acceleration}),
        CodecSpec::Lzma(spec) => lzma(spec),
        CodecSpec::Pcodec { spec, .. } => pcodec(spec),
        CodecSpec::Zfp { spec, element } => write_zfpy(spec.mode, *element),
        CodecSpec::Checksum { kind, is_first } if *is_first != kind.is_first_by_default() => {
            json!({"location": if *is_first { "start" } else { "end" }})
        }
        CodecSpec::Checksum { .. }
        | CodecSpec::PackBits(_)
        | CodecSpec::Shards(_)
        | CodecSpec::N5Block(_)
        | CodecSpec::Tiff(_) => json!({}),
        CodecSpec::Predictor(codec) => predictor(codec, version),
        CodecSpec::ScaleOffset(codec) => extensions::write_scale_offset(codec),
        CodecSpec::CastValue(cast) => extensions::write_cast_value(cast),
        CodecSpec::PackedNumbers(packed) => extensions::write_packed(packed),
        CodecSpec::Reshape(axes) => extensions::write_reshape(axes),
        CodecSpec::Shuffle { element_bytes } => json!({"elementsize": element_bytes}),
        CodecSpec::Delta(types) => typed(json!({}), *types, version),
        CodecSpec::FixedScaleOffset { types, offset, scale } => {
            let numbers = json!({"offset": offset.write(), "scale": scale.write()});
            typed(numbers, *types, version)
        }
        CodecSpec::Quantize { types, digits } => typed(json!({"digits": digits}), *types, version),
        CodecSpec::AsType(types) => json!({
            "encode_dtype": numpy(types.encoded, version),
            "decode_dtype": numpy(types.decoded, version),
        }),
        CodecSpec::BitRound { keep_bits, .. } => json!({"keepbits": keep_bits}),
    };
    match settings {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// In v3 the elements of a filter are in the machine's order, which is little-endian wherever
/// zarr-python runs; the codec `bytes` orders them afterwards.
fn numpy(element: ElementType, version: ZarrVersion) -> String {
    match version {
        ZarrVersion::V2 => element.numpy(),
        ZarrVersion::V3 => ElementType::new(element.data_type, Endian::Little).numpy(),
    }
}

fn typed(mut settings: Value, types: TypePair, version: ZarrVersion) -> Value {
    settings["dtype"] = Value::from(numpy(types.decoded, version));
    settings["astype"] = Value::from(numpy(types.encoded, version));
    settings
}

fn predictor(codec: &Predictor, version: ZarrVersion) -> Value {
    let mut settings = json!({"axis": codec.axis, "dist": 1});
    if version == ZarrVersion::V2 {
        settings["shape"] = json!(codec.shape);
        settings["dtype"] = Value::from(codec.element.numpy());
    }
    settings
}

fn lzma(spec: &LzmaSpec) -> Value {
    let filters = spec.filters.as_ref().map(|filters| filters.iter().map(lzma_filter).collect());
    json!({
        "format": spec.format.number(), "check": spec.check.number(), "preset": spec.preset,
        "filters": filters.map_or(Value::Null, Value::Array),
    })
}

fn lzma_filter(filter: &LzmaFilter) -> Value {
    match filter {
        LzmaFilter::Delta { distance_less_one } => {
            json!({"id": 3, "dist": u32::from(*distance_less_one) + 1})
        }
        LzmaFilter::Lzma { is_lzma2, preset, dict_size, lc, lp, pb, mode, nice_len, mf, depth } => {
            let id = if *is_lzma2 { 0x21 } else { 0x4000_0000_0000_0001_u64 };
            let mut filter = json!({"id": id});
            let named = [
                ("preset", preset),
                ("dict_size", dict_size),
                ("lc", lc),
                ("lp", lp),
                ("pb", pb),
                ("mode", mode),
                ("nice_len", nice_len),
                ("mf", mf),
                ("depth", depth),
            ];
            // Python refuses a filter with a null in it.
            for (name, value) in named {
                if let Some(value) = value {
                    filter[name] = Value::from(*value);
                }
            }
            filter
        }
    }
}

fn pcodec(spec: &PcodecSpec) -> Value {
    json!({
        "level": spec.level,
        "mode_spec": if spec.is_classic { "classic" } else { "auto" },
        "delta_spec": spec.delta.name(),
        "paging_spec": "equal_pages_up_to",
        "delta_encoding_order": spec.delta_order,
        "equal_pages_up_to": spec.page_elements,
    })
}
