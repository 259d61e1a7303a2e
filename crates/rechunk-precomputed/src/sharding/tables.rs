//! Directories and tables of shards, as the executor reads and writes them.

use rechunk_format::{Place, SHARD_CHUNKS_MAX, ShardTables};

use super::{Morton, ShardHash, Sharding, low_bits, table};

/// Bytes of an entry of the directory: begin and end of a table.
const ENTRY_BYTES: u64 = 16;
/// Most bits of minishards whose shards are read and written as a whole: a directory of 16 MiB.
const DIRECTORY_BITS_MAX: u32 = 20;

/// Axes of space: the last three of a chunk's index.
const SPACE: usize = 3;

/// Directories and tables of the shards of a scale.
///
/// With the identity as hash a shard is a box of chunks, and so is a minishard: these are the
/// lowest bits of a Morton code. Else, or where it is asked for, each chunk is found by itself.
#[derive(Debug)]
pub(crate) struct Minishards {
    sharding: Sharding,
    morton: Morton,
    /// Bits of the chunks of a shard and of a table, where these are boxes.
    bits: Option<(u32, u32)>,
    chunks: Vec<u64>,
    table_chunks: Vec<u64>,
    /// Most chunks that a stored table has.
    table_chunks_max: u64,
    identity: String,
}

impl Minishards {
    /// Those of an array of `rank` axes whose grid has so many chunks along x, y and z. `None` if
    /// its codes have too many bits.
    pub(crate) fn new(
        sharding: Sharding,
        grid: [u64; 3],
        rank: usize,
        is_scattered: bool,
    ) -> Option<Self> {
        let morton = Morton::new(grid)?;
        let all_bits = morton.bits();
        let in_shard = sharding.preshift_bits.saturating_add(sharding.minishard_bits);
        let shard_bits = in_shard.min(all_bits);
        let is_box = !is_scattered
            && sharding.hash == ShardHash::Identity
            && in_shard.saturating_add(sharding.shard_bits) >= all_bits
            && sharding.minishard_bits <= DIRECTORY_BITS_MAX
            && low_bits(shard_bits) < SHARD_CHUNKS_MAX;
        let bits = is_box.then_some((shard_bits, sharding.preshift_bits.min(shard_bits)));
        let boxed = |bits: u32| {
            let [x, y, z] = morton.bits_by_axis(bits).map(|bits| 1 << bits);
            let mut shape = vec![1; rank.saturating_sub(SPACE)];
            shape.extend([z, y, x]);
            shape
        };
        let (chunks, table_chunks, table_chunks_max) = match bits {
            Some((shard, table)) => (boxed(shard), boxed(table), 1 << table),
            None => (vec![1; rank], vec![1; rank], scattered_max(&sharding, grid, all_bits)),
        };
        let shown = if is_box { "boxes" } else { "scattered" };
        let identity = format!("precomputed {sharding:?} {grid:?} {shown}");
        Some(Self { sharding, morton, bits, chunks, table_chunks, table_chunks_max, identity })
    }

    /// Number by which chunks of shard `index` are named: the bits that all of them have in common.
    pub(crate) fn number(&self, index: &[u64]) -> u64 {
        let chunk = index.iter().zip(&self.chunks).map(|(index, chunks)| index * chunks);
        let code = self.morton.code(xyz(&chunk.collect::<Vec<_>>()));
        code >> self.bits.map_or(0, |(shard, _)| shard)
    }

    /// Name of the object of shard `index`.
    pub(crate) fn name(&self, index: &[u64]) -> String {
        self.sharding.name(self.sharding.shard(self.code(self.number(index), 0)))
    }

    /// Index of the shard of this name, of an array of `rank` axes. It may lie outside of the grid.
    /// `None` if it is the name of none, and where objects hold chunks from anywhere.
    pub(crate) fn index_named(&self, name: &str, rank: usize) -> Option<Vec<u64>> {
        let (shard_bits, _) = self.bits?;
        let shard = self.sharding.shard_named(name)?;
        let code = shard.checked_shl(shard_bits).filter(|code| code >> shard_bits == shard)?;
        let [x, y, z] = self.morton.position(code);
        let mut index = vec![0; rank.checked_sub(SPACE)?];
        index.extend([z, y, x]);
        Some(index.iter().zip(&self.chunks).map(|(index, chunks)| index / chunks).collect())
    }

    /// The code of the chunk of a slot of shard `number`.
    fn code(&self, number: u64, slot: u64) -> u64 {
        number << self.bits.map_or(0, |(shard, _)| shard) | slot
    }

    fn table_of(&self, slot: u64) -> u64 {
        self.bits.map_or(0, |(_, table)| slot >> table)
    }

    /// Number of tables of a shard.
    fn tables(&self) -> u64 {
        self.bits.map_or(1, |(shard, table)| 1 << (shard - table))
    }
}

/// Most chunks that are taken for right in a table, where shards are no boxes. A hash spreads them:
/// eight times as many as there are on average, and some more, is more than it can be.
fn scattered_max(sharding: &Sharding, grid: [u64; 3], all_bits: u32) -> u64 {
    const FACTOR: u64 = 8;
    const MORE: u64 = 64;
    let all = grid.iter().fold(1, |product: u64, count| product.saturating_mul(*count));
    let of_bits = |bits: u32| 1_u64.checked_shl(bits).unwrap_or(u64::MAX);
    let groups = of_bits(all_bits.saturating_sub(sharding.preshift_bits));
    let tables = of_bits(sharding.minishard_bits.saturating_add(sharding.shard_bits));
    let most = groups.div_ceil(tables).saturating_mul(FACTOR).saturating_add(MORE).min(groups);
    most.saturating_mul(of_bits(sharding.preshift_bits)).min(all)
}

/// Position along x, y and z.
fn xyz(index: &[u64]) -> [u64; 3] {
    let mut position = [0; 3];
    for (place, index) in position.iter_mut().zip(index.iter().rev()) {
        *place = *index;
    }
    position
}

impl ShardTables for Minishards {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn chunks(&self) -> &[u64] {
        &self.chunks
    }

    fn table_chunks(&self) -> &[u64] {
        &self.table_chunks
    }

    fn is_scattered(&self) -> bool {
        self.bits.is_none()
    }

    fn slot(&self, index: &[u64]) -> u64 {
        let Some((shard_bits, _)) = self.bits else { return 0 };
        self.morton.code(xyz(index)) & low_bits(shard_bits)
    }

    fn directory_bytes(&self) -> u64 {
        ENTRY_BYTES.checked_shl(self.sharding.minishard_bits).unwrap_or(u64::MAX)
    }

    fn table_bytes_max(&self) -> u64 {
        table::bytes_max(self.table_chunks_max, self.sharding.has_gzip_tables)
    }

    fn tables_bytes_max(&self) -> u64 {
        self.table_bytes_max().saturating_mul(self.tables())
    }

    fn entry_place(&self, number: u64, slot: u64) -> Place {
        let minishard = self.sharding.minishard(self.code(number, slot));
        (minishard.saturating_mul(ENTRY_BYTES), ENTRY_BYTES)
    }

    fn table_place(&self, entry: &[u8]) -> Result<Option<Place>, String> {
        let (begin, end) = entry
            .split_first_chunk::<8>()
            .and_then(|(begin, rest)| Some((begin, rest.first_chunk::<8>()?)))
            .ok_or_else(|| format!("an entry of the directory has {} bytes", entry.len()))?;
        let (begin, end) = (u64::from_le_bytes(*begin), u64::from_le_bytes(*end));
        if begin == end {
            return Ok(None);
        }
        let length = end.checked_sub(begin);
        let offset = begin.checked_add(self.directory_bytes());
        match (offset, length) {
            (Some(offset), Some(length)) => Ok(Some((offset, length))),
            _ => Err(format!("the directory has a table from {begin} to {end}")),
        }
    }

    fn read_table(
        &self,
        number: u64,
        slot: u64,
        stored: &[u8],
        enter: &mut dyn FnMut(u64, Place),
    ) -> Result<(), String> {
        let form = (self.sharding.has_gzip_tables, self.table_chunks_max);
        table::read(stored, form, self.directory_bytes(), |code, place| {
            let Some((shard_bits, _)) = self.bits else {
                if code == number {
                    enter(0, place);
                }
                return Ok(()); // others are chunks of other places
            };
            let own = code & low_bits(shard_bits);
            if code >> shard_bits != number || self.table_of(own) != self.table_of(slot) {
                return Err(format!("a table names chunk {code}, which does not belong there"));
            }
            enter(own, place);
            Ok(())
        })
    }

    fn write(
        &self,
        number: u64,
        offset: u64,
        entry: &dyn Fn(u64) -> Option<Place>,
    ) -> (Vec<u8>, Vec<u8>) {
        let start = self.directory_bytes();
        let mut directory = vec![0; usize::try_from(start).unwrap_or(0)];
        let mut tables = Vec::new();
        let Some((_, table_bits)) = self.bits else { return (directory, tables) };
        for number_of_table in 0..self.tables() {
            let slots = number_of_table << table_bits..(number_of_table + 1) << table_bits;
            let chunks = slots.filter_map(|slot| Some((self.code(number, slot), entry(slot)?)));
            let begin = offset.saturating_sub(start).saturating_add(tables.len() as u64);
            table::write(
                &chunks.collect::<Vec<_>>(),
                self.sharding.has_gzip_tables,
                start,
                &mut tables,
            );
            let end = offset.saturating_sub(start).saturating_add(tables.len() as u64);
            let (at, length) = self.entry_place(number, number_of_table << table_bits);
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            let length = usize::try_from(length).unwrap_or(0);
            if let Some(place) = directory.get_mut(at..at.saturating_add(length)) {
                place[..8].copy_from_slice(&begin.to_le_bytes());
                place[8..].copy_from_slice(&end.to_le_bytes());
            }
        }
        (directory, tables)
    }
}
