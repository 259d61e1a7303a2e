//! Compressions by the names that formats have for them.

use rechunk_n5::Compression;
use rechunk_zarr::{CodecSpec, LzmaCheck, LzmaFormat, LzmaSpec};

/// Compression of a target of N5 where the source says nothing.
pub(super) const N5_DEFAULT: Compression = Compression::Gzip { level: 5, use_zlib: false };

/// Level of gzip and zlib that encoders choose by themselves.
const DEFLATE_LEVEL: i32 = 6;

/// The codecs of Zarr that do what a compression of N5 does, for elements of `item_bytes`.
pub(super) fn zarr_of_n5(compression: Compression, item_bytes: u64) -> Vec<CodecSpec> {
    let codec = match compression {
        Compression::Raw => return Vec::new(),
        Compression::Gzip { level, use_zlib } => {
            // Readers of Zarr know no -1, which is what N5 calls the encoder's own choice.
            let level = if level < 0 { DEFLATE_LEVEL } else { level };
            if use_zlib { CodecSpec::Zlib { level } } else { CodecSpec::Gzip { level } }
        }
        Compression::Bzip2 { block_size } => CodecSpec::Bz2 { level: block_size },
        Compression::Xz { preset } => CodecSpec::Lzma(LzmaSpec {
            format: LzmaFormat::Xz,
            check: LzmaCheck::Default,
            preset: Some(preset.into()),
            filters: None,
        }),
        Compression::Lz4 { .. } => CodecSpec::Lz4 { acceleration: 1 },
        Compression::Blosc { cname, clevel, shuffle, blocksize, typesize } => {
            let typesize = typesize.unwrap_or(u8::try_from(item_bytes).unwrap_or(1));
            let shuffle = shuffle.resolved(typesize);
            CodecSpec::Blosc { cname, clevel, shuffle, typesize, blocksize }
        }
        Compression::Zstd { level } => CodecSpec::Zstd { level, checksum: false },
    };
    vec![codec]
}

/// The compression of N5 that does what the compressor among these codecs does, and a sentence for
/// each of the others.
pub(super) fn n5_of_zarr(codecs: &[CodecSpec]) -> (Compression, Vec<String>) {
    let (mut compression, mut warnings) = (None, Vec::new());
    for codec in codecs {
        match n5_compression(codec) {
            Some(found) if compression.is_none() => compression = Some(found),
            _ => warnings.push(format!("N5 has no {codec}: it is left out")),
        }
    }
    if codecs.is_empty() {
        return (Compression::Raw, warnings);
    }
    (compression.unwrap_or(N5_DEFAULT), warnings)
}

fn n5_compression(codec: &CodecSpec) -> Option<Compression> {
    Some(match *codec {
        CodecSpec::Gzip { level } => Compression::Gzip { level, use_zlib: false },
        CodecSpec::Zlib { level } => Compression::Gzip { level, use_zlib: true },
        CodecSpec::Bz2 { level } => Compression::Bzip2 { block_size: level },
        CodecSpec::Zstd { level, .. } => Compression::Zstd { level },
        CodecSpec::Lz4 { .. } => Compression::Lz4 { block_bytes: 1 << 16 },
        CodecSpec::Blosc { cname, clevel, shuffle, blocksize, .. } => {
            Compression::Blosc { cname, clevel, shuffle, blocksize, typesize: None }
        }
        CodecSpec::Lzma(LzmaSpec { format: LzmaFormat::Xz, preset, filters: None, .. }) => {
            let preset = preset.map_or(6, |preset| u8::try_from(preset & 15).unwrap_or(6).min(9));
            Compression::Xz { preset }
        }
        _ => return None,
    })
}
