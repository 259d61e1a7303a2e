//! Places of the chunks of a shard, or of those that one table names.

/// Value of both numbers of an entry where there is no chunk.
pub(super) const NOTHING: u64 = u64::MAX;

/// Places of the chunks of one shard, or of a table of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardIndex {
    /// Slot of the first entry.
    pub(super) first: u64,
    pub(super) entries: Vec<(u64, u64)>,
}

impl ShardIndex {
    /// An index of `slots` slots from `first` on, without chunks.
    pub(super) fn nothing(first: u64, slots: u64) -> Self {
        let slots = usize::try_from(slots).unwrap_or(0);
        Self { first, entries: vec![(NOTHING, NOTHING); slots] }
    }

    /// Offset and length of the chunk at `slot`, bytes; `None` if there is no such chunk.
    pub fn entry(&self, slot: u64) -> Option<(u64, u64)> {
        let entry = self.entries.get(self.place(slot)?)?;
        (*entry != (NOTHING, NOTHING)).then_some(*entry)
    }

    /// The bytes of an entry in `shard`, the whole object. An index that was decoded for it has no
    /// entry outside.
    pub fn slice(shard: &[u8], (offset, length): (u64, u64)) -> &[u8] {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        shard.get(start..end).unwrap_or_default()
    }

    /// Enters a chunk.
    pub fn set(&mut self, slot: u64, offset: u64, length: u64) {
        if let Some(entry) = self.place(slot).and_then(|place| self.entries.get_mut(place)) {
            *entry = (offset, length);
        }
    }

    /// Takes the entries of a part of it.
    pub fn take(&mut self, part: &Self) {
        for (slot, (offset, length)) in (part.first..).zip(&part.entries) {
            self.set(slot, *offset, *length);
        }
    }

    /// Slots that it has entries for.
    pub fn slots(&self) -> std::ops::Range<u64> {
        self.first..self.first.saturating_add(self.entries.len() as u64)
    }

    /// Number of chunks it has.
    pub fn count(&self) -> u64 {
        self.entries.iter().filter(|entry| **entry != (NOTHING, NOTHING)).count() as u64
    }

    /// Length of the longest chunk, bytes.
    pub fn longest_bytes(&self) -> u64 {
        let lengths = self.entries.iter().filter(|entry| **entry != (NOTHING, NOTHING));
        lengths.map(|(_, length)| *length).max().unwrap_or(0)
    }

    fn place(&self, slot: u64) -> Option<usize> {
        usize::try_from(slot.checked_sub(self.first)?).ok()
    }
}
