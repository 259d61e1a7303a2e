//! Boxes of elements of a level, such as the finest.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::blocks::{Elements, Encoded};
use crate::boxes::{Box3, copy};
use crate::open_level::OpenLevel;
use crate::{BlockAddress, DatastoreError, View};

/// Most bytes of decoded blocks that are kept for levels that read them again.
const KEPT_BYTES: u64 = 48 << 20;

impl OpenLevel {
    /// The elements of a box, big-endian, x fastest; zeros where nothing is stored. `None` if no
    /// block in it is. Refuses boxes that are empty, or not within the level.
    pub async fn read_box(
        &self,
        view: View,
        start: [u64; 3],
        size: [u64; 3],
    ) -> Result<Option<Vec<u8>>, DatastoreError> {
        self.known().dataset.check_view(view.time, view.channel, view.angle)?;
        let extents = self.dimensions();
        let is_within = (0..3)
            .all(|axis| size[axis] > 0 && size[axis] <= extents[axis].saturating_sub(start[axis]));
        if !is_within {
            let reason = format!("{size:?} elements at {start:?} are not within {extents:?}");
            return Err(DatastoreError::Senseless(reason));
        }
        Finest::new(self.clone()).read(view, Box3 { start, size }).await
    }
}

/// Blocks that were written just now.
pub(super) type Known = HashMap<BlockAddress, Encoded>;

type Cell = Arc<OnceCell<Option<Elements>>>;

/// The finest level, whose blocks may be kept once they were read.
#[derive(Debug)]
pub(super) struct Finest {
    level: OpenLevel,
    /// Blocks that were read, of as many as there is room for.
    kept: Mutex<HashMap<BlockAddress, Cell>>,
    blocks_max: usize,
    known: Known,
}

impl Finest {
    /// Reads blocks whenever they are wanted.
    pub(super) fn new(level: OpenLevel) -> Self {
        Self { level, kept: Mutex::default(), blocks_max: 0, known: Known::new() }
    }

    /// Reads each block once, of as many as there is room for.
    pub(super) fn kept(level: OpenLevel, known: Known) -> Self {
        let blocks_max = usize::try_from(KEPT_BYTES / level.wire_bytes_max().max(1)).unwrap_or(0);
        Self { level, kept: Mutex::default(), blocks_max, known }
    }

    /// The level.
    pub(super) fn level(&self) -> &OpenLevel {
        &self.level
    }

    /// Place for a block that is kept, if there is one.
    fn cell(&self, address: &BlockAddress) -> Option<Cell> {
        let mut kept = self.kept.lock();
        if kept.len() >= self.blocks_max && !kept.contains_key(address) {
            return None;
        }
        Some(Arc::clone(kept.entry(*address).or_default()))
    }

    /// The elements of a box, big-endian, x fastest; zeros where nothing is stored. `None` if no
    /// block in it is.
    pub(super) async fn read(
        &self,
        view: View,
        wanted: Box3,
    ) -> Result<Option<Vec<u8>>, DatastoreError> {
        let (full, item_bytes) = (self.level.level().block_dimensions, self.level.item_bytes());
        let mut elements: Option<Vec<u8>> = None;
        for position in self.level.blocks_in(wanted) {
            let address = view.block(position);
            let cell = self.cell(&address).unwrap_or_default();
            let read = cell
                .get_or_try_init(|| self.level.read_elements(&address, self.known.get(&address)))
                .await?;
            let Some((sizes, block)) = read else { continue };
            let target = elements.get_or_insert_with(|| wanted.zeros(item_bytes));
            let origin = std::array::from_fn(|axis| position[axis] * full[axis]);
            let source = Box3 { start: origin, size: sizes.map(u64::from) };
            copy(block, source, target, wanted, item_bytes)?;
        }
        Ok(elements)
    }
}
