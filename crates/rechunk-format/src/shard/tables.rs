//! Indexes in two steps: a directory at the start of a shard, and tables that it names.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// Offset and length in an object, bytes.
pub type Place = (u64, u64);

/// Form of an index in two steps. A directory at the start of a shard says where its tables are,
/// and each table where the chunks of a box are.
///
/// Chunks have slots in their shard; those of a table follow each other. A shard has a number,
/// [`crate::Layout::shard_number`], by which tables name chunks.
pub trait ShardTables: Debug + Send + Sync {
    /// Text that is equal for two forms exactly if their shards are interchangeable.
    fn identity(&self) -> &str;

    /// Chunks of a shard along each axis.
    fn chunks(&self) -> &[u64];

    /// Chunks along each axis of the box of a table. They divide those of a shard evenly.
    fn table_chunks(&self) -> &[u64];

    /// True if objects hold chunks from anywhere. Each chunk is then taken for a shard, but its
    /// object is not its own: it is not read as a whole, and never written.
    fn is_scattered(&self) -> bool;

    /// Position of chunk `index` among those of its shard.
    fn slot(&self, index: &[u64]) -> u64;

    /// Bytes of the directory.
    fn directory_bytes(&self) -> u64;

    /// Most bytes of a stored table.
    fn table_bytes_max(&self) -> u64;

    /// Most bytes of the tables of a shard together.
    fn tables_bytes_max(&self) -> u64;

    /// Place in shard `number` of the entry of the directory that names the table of `slot`.
    fn entry_place(&self, number: u64, slot: u64) -> Place;

    /// Place of the table that an entry of the directory names; `None` if it has no chunks.
    fn table_place(&self, entry: &[u8]) -> Result<Option<Place>, String>;

    /// Reads the stored table of `slot` of shard `number`. Calls `enter` with the slot and the
    /// place of each chunk of the shard that it has; an error where it names others or says
    /// nonsense.
    fn read_table(
        &self,
        number: u64,
        slot: u64,
        table: &[u8],
        enter: &mut dyn FnMut(u64, Place),
    ) -> Result<(), String>;

    /// The directory of shard `number`, and its tables, which are stored from `offset` on. `entry`
    /// gives the place of the chunk of a slot.
    fn write(
        &self,
        number: u64,
        offset: u64,
        entry: &dyn Fn(u64) -> Option<Place>,
    ) -> (Vec<u8>, Vec<u8>);
}

/// A form that is compared by its identity.
#[derive(Debug, Clone)]
pub(super) struct Tables(pub Arc<dyn ShardTables>);

impl Deref for Tables {
    type Target = dyn ShardTables;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for Tables {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Tables {}

impl Hash for Tables {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}
