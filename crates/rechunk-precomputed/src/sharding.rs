//! The `sharding` of a scale: how chunks are spread over objects, and found there.
//!
//! Neuroglancer's `neuroglancer_uint64_sharded_v1`. A chunk has a number, the compressed Morton
//! code of its position. Some low bits of it are left out (`preshift_bits`), the rest is hashed,
//! and of the hash the low bits name a minishard, those above them a shard. A shard begins with a
//! directory of its minishards; each of these has a table of its chunks.

mod boxes;
mod morton;
mod murmur;
mod table;
mod tables;

use rechunk_format::FormatError;
use rechunk_format::field::Field;
use serde_json::{Map, Value, json};

pub(crate) use boxes::{Boxes, Nearest};
pub(crate) use morton::Morton;
pub(crate) use tables::Minishards;

use crate::field::integer;

/// The only kind of sharding there is.
const TYPE: &str = "neuroglancer_uint64_sharded_v1";

/// Fields of the document.
const AT_TYPE: &str = "@type";
const HASH: &str = "hash";
const PRESHIFT_BITS: &str = "preshift_bits";
const MINISHARD_BITS: &str = "minishard_bits";
const SHARD_BITS: &str = "shard_bits";
const INDEX_ENCODING: &str = "minishard_index_encoding";
const DATA_ENCODING: &str = "data_encoding";

/// Most bits of the three fields.
const BITS_MAX: u32 = 64;

/// Bits of chunks in a minishard that is written: a table of 12 KiB, which a reader fetches whole.
const TABLE_BITS: u32 = 9;

/// Hash of the numbers of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShardHash {
    /// The number itself: shards are boxes of chunks.
    Identity,
    /// Low half of MurmurHash3, the 128-bit variant for x86: shards have chunks from anywhere.
    Murmur,
}

/// Spread of the chunks of a scale over shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sharding {
    /// Hash of the numbers of chunks.
    pub hash: ShardHash,
    /// Low bits of a number that are left out before it is hashed.
    pub preshift_bits: u32,
    /// Bits of a hash that name a minishard.
    pub minishard_bits: u32,
    /// Bits above them that name a shard.
    pub shard_bits: u32,
    /// Tables of minishards are compressed with gzip.
    pub has_gzip_tables: bool,
    /// Chunks are compressed with gzip.
    pub has_gzip_chunks: bool,
}

impl Sharding {
    /// Reads the field of a scale.
    pub(crate) fn parse(at: &Field, value: &Value) -> Result<Self, FormatError> {
        let map = at.object(value)?;
        let needed = |name: &str| {
            let at = at.child(name);
            map.get(name).map(|value| (at.clone(), value)).ok_or_else(|| at.invalid("is missing"))
        };
        let (type_at, said) = needed(AT_TYPE)?;
        if type_at.text(said)? != TYPE {
            let what = rechunk_format::field::shown(said);
            return Err(type_at.unsupported(what, &format!("only {TYPE} is read")));
        }
        let (hash_at, hash) = needed(HASH)?;
        let hash = match hash_at.text(hash)? {
            "identity" => ShardHash::Identity,
            "murmurhash3_x86_128" => ShardHash::Murmur,
            other => {
                let hint = "identity and murmurhash3_x86_128 are read";
                return Err(hash_at.unsupported(format!("hash {other:?}"), hint));
            }
        };
        let bits = |name: &str, most: u32| {
            let (at, value) = needed(name)?;
            let found = integer(value).and_then(|bits| u32::try_from(bits).ok());
            found.filter(|bits| *bits <= most).ok_or_else(|| {
                let shown = rechunk_format::field::shown(value);
                at.invalid(format!("{shown} is not from 0 to {most}"))
            })
        };
        let gzip = |name: &str| match map.get(name) {
            None => Ok(false),
            Some(value) => match at.child(name).text(value)? {
                "raw" => Ok(false),
                "gzip" => Ok(true),
                other => {
                    Err(at.child(name).unsupported(format!("{other:?}"), "raw and gzip are read"))
                }
            },
        };
        let preshift_bits = bits(PRESHIFT_BITS, BITS_MAX)?;
        let minishard_bits = bits(MINISHARD_BITS, 60)?;
        Ok(Self {
            hash,
            preshift_bits,
            minishard_bits,
            shard_bits: bits(SHARD_BITS, BITS_MAX - minishard_bits)?,
            has_gzip_tables: gzip(INDEX_ENCODING)?,
            has_gzip_chunks: gzip(DATA_ENCODING)?,
        })
    }

    /// The field of a scale.
    pub(crate) fn document(&self) -> Map<String, Value> {
        let encoding = |is_gzip| if is_gzip { "gzip" } else { "raw" };
        let hash = match self.hash {
            ShardHash::Identity => "identity",
            ShardHash::Murmur => "murmurhash3_x86_128",
        };
        let mut map = Map::new();
        let mut put = |name: &str, value: Value| map.insert(name.to_owned(), value);
        put(AT_TYPE, TYPE.into());
        put(HASH, hash.into());
        put(PRESHIFT_BITS, json!(self.preshift_bits));
        put(MINISHARD_BITS, json!(self.minishard_bits));
        put(SHARD_BITS, json!(self.shard_bits));
        put(INDEX_ENCODING, encoding(self.has_gzip_tables).into());
        put(DATA_ENCODING, encoding(self.has_gzip_chunks).into());
        map
    }

    /// That of shards of 2^`bits` chunks, where numbers have `all_bits` bits.
    pub(crate) fn of_bits(bits: u32, all_bits: u32) -> Self {
        let preshift_bits = bits.min(TABLE_BITS);
        Self {
            hash: ShardHash::Identity,
            preshift_bits,
            minishard_bits: bits - preshift_bits,
            shard_bits: all_bits.saturating_sub(bits),
            has_gzip_tables: false,
            has_gzip_chunks: false,
        }
    }

    /// The hash of chunk `number`.
    fn hashed(&self, number: u64) -> u64 {
        let shifted = number.checked_shr(self.preshift_bits).unwrap_or(0);
        match self.hash {
            ShardHash::Identity => shifted,
            ShardHash::Murmur => murmur::hash(shifted),
        }
    }

    /// The minishard of chunk `number`, in its shard.
    pub(crate) fn minishard(&self, number: u64) -> u64 {
        self.hashed(number) & low_bits(self.minishard_bits)
    }

    /// The shard of chunk `number`.
    pub(crate) fn shard(&self, number: u64) -> u64 {
        let hashed = self.hashed(number).checked_shr(self.minishard_bits).unwrap_or(0);
        hashed & low_bits(self.shard_bits)
    }

    /// Name of the object of a shard.
    pub(crate) fn name(&self, shard: u64) -> String {
        let digits = usize::try_from(self.shard_bits.div_ceil(4)).unwrap_or(0);
        format!("{shard:0digits$x}{ENDING}")
    }

    /// The shard that an object of this name is; the inverse of [`Sharding::name`].
    pub(crate) fn shard_named(&self, name: &str) -> Option<u64> {
        let shard = u64::from_str_radix(name.strip_suffix(ENDING)?, 16).ok()?;
        (self.name(shard) == name).then_some(shard)
    }
}

/// Ending of the names of shards.
const ENDING: &str = ".shard";

/// A number whose `bits` low bits are set.
fn low_bits(bits: u32) -> u64 {
    1_u64.checked_shl(bits).map_or(u64::MAX, |bit| bit - 1)
}

#[cfg(test)]
mod tests;
