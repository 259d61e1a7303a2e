use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::{HEADER_WORDS, INDEX_BITS, Labels, WORD_BYTES};

/// The largest word that a block's header can say for its table.
const TABLE_AT_MAX: usize = (1 << 24) - 1;

/// Encodes the labels of a chunk; the contents of `encoded` are lost. Fails where a table would lie
/// further away than a header can say.
pub(crate) fn encode(decoded: &[u8], labels: &Labels, encoded: &mut Vec<u8>) -> Result<(), String> {
    let channel_bytes = labels.channel_bytes();
    if decoded.len() != channel_bytes * labels.channels {
        return Err(format!("{} bytes are no chunk", decoded.len()));
    }
    encoded.clear();
    encoded.resize(labels.channels * WORD_BYTES, 0);
    let mut block = Block::new(labels);
    for (number, decoded) in decoded.chunks_exact(channel_bytes).enumerate() {
        let start = encoded.len();
        put(encoded, number, start / WORD_BYTES)?;
        encoded.resize(start + labels.blocks() * HEADER_WORDS * WORD_BYTES, 0);
        block.encode_channel(decoded, labels, encoded, start)?;
    }
    Ok(())
}

/// The most that encoding allocates: a block's labels, and where tables are.
pub(crate) fn workspace_bytes(blocks: u64, block_voxels: u64) -> u64 {
    /// An entry of a hash map, which may be half empty and grow by a copy.
    const ENTRY_BYTES: u64 = 96;
    // Labels, those that differ, and as many in a copy that grows.
    blocks.saturating_mul(ENTRY_BYTES).saturating_add(block_voxels.saturating_mul(8 * 4)) + 4096
}

/// Buffers for the block that is encoded.
struct Block {
    /// The label of each voxel, of those in the volume.
    labels: Vec<(usize, u64)>,
    /// Those that differ, sorted.
    table: Vec<u64>,
    hasher: RandomState,
    /// First byte and length of tables that are in the channel, by the hash of their bytes.
    tables: HashMap<u64, (usize, usize)>,
}

impl Block {
    fn new(labels: &Labels) -> Self {
        let voxels = labels.block_voxels();
        Self {
            labels: Vec::with_capacity(voxels),
            table: Vec::with_capacity(voxels),
            hasher: RandomState::new(),
            tables: HashMap::new(),
        }
    }

    /// Appends the channel whose headers begin at byte `start`.
    fn encode_channel(
        &mut self,
        decoded: &[u8],
        labels: &Labels,
        encoded: &mut Vec<u8>,
        start: usize,
    ) -> Result<(), String> {
        self.tables.clear();
        for number in 0..labels.blocks() {
            self.take(decoded, labels, number);
            let bits = bits_for(self.table.len());
            let indices_at = encoded.len();
            self.write_indices(encoded, bits, labels.block_voxels());
            let table_at = self.write_table(encoded, labels.item_bytes);
            let words = |at: usize| (at - start) / WORD_BYTES;
            if words(table_at) > TABLE_AT_MAX {
                return Err(format!(
                    "a table is {} words away, and {TABLE_AT_MAX} can be said: use smaller chunks",
                    words(table_at)
                ));
            }
            let header = start / WORD_BYTES + number * HEADER_WORDS;
            put(encoded, header, words(table_at) | (narrow(bits) << 24))?;
            put(encoded, header + 1, words(indices_at))?;
        }
        Ok(())
    }

    /// Takes the labels of block `number`.
    fn take(&mut self, decoded: &[u8], labels: &Labels, number: usize) {
        self.labels.clear();
        let item_bytes = labels.item_bytes;
        let taken = labels.rows(number, |in_block, bytes| {
            let row = decoded[bytes].chunks_exact(item_bytes).enumerate();
            self.labels.extend(row.map(|(voxel, label)| {
                let mut wide = [0; 8];
                wide[..item_bytes].copy_from_slice(label);
                (in_block + voxel, u64::from_le_bytes(wide))
            }));
            Ok::<(), std::convert::Infallible>(())
        });
        match taken {
            Ok(()) => {}
            Err(never) => match never {},
        }
        self.table.clear();
        let mut last = None;
        // Runs of one label are most of what there is.
        for (_, label) in &self.labels {
            if last != Some(*label) {
                self.table.push(*label);
                last = Some(*label);
            }
        }
        self.table.sort_unstable();
        self.table.dedup();
    }

    fn write_indices(&self, encoded: &mut Vec<u8>, bits: u32, block_voxels: usize) {
        let start = encoded.len();
        let bits = narrow(bits);
        encoded.resize(start + (block_voxels * bits).div_ceil(32) * WORD_BYTES, 0);
        if bits == 0 {
            return;
        }
        let mut last = None;
        for (voxel, label) in &self.labels {
            let index = match last {
                Some((known, index)) if known == *label => index,
                _ => self.table.partition_point(|entry| entry < label),
            };
            last = Some((*label, index));
            // An index of up to 8 bits lies in one byte, others in whole ones.
            let at = voxel * bits;
            let bytes = index.to_le_bytes();
            if bits < 8 {
                encoded[start + at / 8] |= bytes[0] << (at % 8);
            } else {
                encoded[start + at / 8..][..bits / 8].copy_from_slice(&bytes[..bits / 8]);
            }
        }
    }

    /// Writes the table, unless the channel has it already; the byte where it begins.
    fn write_table(&mut self, encoded: &mut Vec<u8>, item_bytes: usize) -> usize {
        let at = encoded.len();
        for label in &self.table {
            encoded.extend_from_slice(&label.to_le_bytes()[..item_bytes]);
        }
        let (before, table) = encoded.split_at(at);
        let hash = self.hasher.hash_one(table);
        match self.tables.get(&hash) {
            Some((known, length)) if before.get(*known..known + length) == Some(table) => {
                let known = *known;
                encoded.truncate(at);
                known
            }
            _ => {
                self.tables.insert(hash, (at, table.len()));
                at
            }
        }
    }
}

/// Bits of an index into a table of `entries`.
fn bits_for(entries: usize) -> u32 {
    let fits = |bits: &&u32| 1_usize.checked_shl(**bits).is_none_or(|most| entries <= most);
    INDEX_BITS.iter().find(fits).copied().unwrap_or(32)
}

/// Writes word `at`.
fn put(encoded: &mut [u8], at: usize, value: usize) -> Result<(), String> {
    let value = u32::try_from(value)
        .map_err(|_| "it would be over 16 GiB long: use smaller chunks".to_owned())?;
    encoded[at * WORD_BYTES..][..WORD_BYTES].copy_from_slice(&value.to_le_bytes());
    Ok(())
}

fn narrow(bits: u32) -> usize {
    usize::try_from(bits).unwrap_or(usize::MAX)
}
