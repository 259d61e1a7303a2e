//! A block of a level, made of the finest one: all of it, or the cells that have changed.

use futures::{StreamExt, TryStreamExt, stream};

use super::cells::reduced;
use super::finest::{Finest, Known};
use super::tree::Tree;
use crate::blocks::Durability;
use crate::boxes::{Box3, copy, positions};
use crate::open_level::{OpenLevel, StoredBlock};
use crate::{BlockAddress, DatastoreError, WireBlock};

/// Objects of a level whose blocks are made at once.
const OBJECTS_AT_ONCE: usize = 4;
/// Most bytes of the finest level that are held for a block at once.
const BOX_BYTES_MAX: u64 = 32 << 20;
/// Bytes of blocks of an object that are kept to be stored together.
const KEPT_BYTES: usize = 32 << 20;

/// A block of a level, and its elements that are made anew.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stale {
    pub address: BlockAddress,
    /// A box of the level; what is beyond the block does not count.
    pub cells: Box3,
}

/// Blocks of one object of a level that are made anew.
pub(super) type Object = (OpenLevel, Vec<Stale>);

/// Makes blocks of levels anew, some at once. Whoever makes one of them later sees what was stored
/// before.
pub(super) async fn make_each(
    finest: &Finest,
    tree: &Tree,
    objects: impl IntoIterator<Item = Object>,
) -> Result<(), DatastoreError> {
    let makes = objects.into_iter().map(|(coarse, blocks)| async move {
        let Some(first) = blocks.first() else { return Ok(()) };
        let key = coarse.key(&first.address)?;
        let _maker = coarse.makers().of(&key).lock().await;
        make_object(finest, &coarse, tree, &blocks, Durability::Each).await
    });
    stream::iter(makes).buffer_unordered(OBJECTS_AT_ONCE).try_collect().await
}

/// Makes blocks of levels anew as [`make_each`] does. What is below them is read once for all, and
/// blocks that are `known` are not decoded.
pub(super) async fn make_together(
    (finest, known): (OpenLevel, Known),
    tree: &Tree,
    objects: Vec<Object>,
) -> Result<(), DatastoreError> {
    let mut keys = Vec::with_capacity(objects.len());
    for (coarse, blocks) in &objects {
        if let Some(first) = blocks.first() {
            keys.push(coarse.key(&first.address)?);
        }
    }
    let locks = finest.clone();
    let _makers = locks.makers().all(keys).await;
    let finest = &Finest::kept(finest, known);
    let makes = objects.into_iter().map(|(coarse, blocks)| async move {
        make_object(finest, &coarse, tree, &blocks, Durability::WithSync).await
    });
    stream::iter(makes).buffer_unordered(OBJECTS_AT_ONCE).try_collect().await
}

async fn make_object(
    finest: &Finest,
    coarse: &OpenLevel,
    tree: &Tree,
    blocks: &[Stale],
    durability: Durability,
) -> Result<(), DatastoreError> {
    let (mut made, mut bytes) = (Vec::new(), 0);
    for stale in blocks {
        let block = make(finest, coarse, tree, *stale).await?;
        bytes += block.as_ref().map_or(0, StoredBlock::bytes);
        made.push((stale.address, block));
        if bytes > KEPT_BYTES {
            bytes = 0;
            coarse.change(made.drain(..), durability).await?;
        }
    }
    coarse.change(made, durability).await
}

/// A block of a level, made anew; `None` where nothing is stored below it. If it is stored then
/// elements that are not stale stay; else all are made that have anything stored below them.
async fn make(
    finest: &Finest,
    coarse: &OpenLevel,
    tree: &Tree,
    Stale { address, cells }: Stale,
) -> Result<Option<StoredBlock>, DatastoreError> {
    let own = coarse.box_of(&address);
    let item_bytes = coarse.item_bytes();
    let mut wanted = cells.intersect(own);
    let mut block: Option<Vec<u8>> = None;
    if wanted != own {
        match coarse.read_elements(&address, None).await? {
            None => wanted = cells_stored(finest.level(), coarse, &address, wanted).await?,
            Some((sizes, elements)) => {
                let stored = Box3 { start: own.start, size: sizes.map(u64::from) };
                let block = block.insert(own.zeros(item_bytes));
                copy(&elements, stored, block, own, item_bytes)?;
            }
        }
    }
    let piece = piece(coarse, wanted.size)?;
    let counts = std::array::from_fn(|axis| wanted.size[axis].div_ceil(piece[axis]));
    for at in positions(counts) {
        let start = std::array::from_fn(|axis| wanted.start[axis] + at[axis] * piece[axis]);
        let part = Box3 { start, size: piece }.intersect(wanted);
        let below = below(finest.level(), coarse, part);
        let made = match finest.read(address.view(), below).await? {
            Some(elements) => compute(coarse, tree, elements, below.size).await?,
            None if block.is_none() => continue,
            None => part.zeros(item_bytes),
        };
        let block = block.get_or_insert_with(|| own.zeros(item_bytes));
        copy(&made, part, block, own, item_bytes)?;
    }
    let Some(elements) = block else { return Ok(None) };
    let sizes = own.size.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    let block = WireBlock { sizes, elements: elements.into() };
    let level = coarse.clone();
    tokio::task::spawn_blocking(move || level.encode(&block)).await?.map(Some)
}

/// The elements of a level that are made of a block of the finest. None where it is in no cell.
pub(super) fn cells_above(finest: &OpenLevel, coarse: &OpenLevel, block: &BlockAddress) -> Box3 {
    let (below, factors) = (finest.box_of(block), coarse.level().resolutions);
    let extent = coarse.dimensions();
    let start: [u64; 3] = std::array::from_fn(|axis| below.start[axis] / factors[axis]);
    let size = std::array::from_fn(|axis| {
        below.end(axis).div_ceil(factors[axis]).min(extent[axis]).saturating_sub(start[axis])
    });
    Box3 { start, size }
}

/// A box of the elements of a block that have anything stored below them, and of these.
async fn cells_stored(
    finest: &OpenLevel,
    coarse: &OpenLevel,
    address: &BlockAddress,
    cells: Box3,
) -> Result<Box3, DatastoreError> {
    let own = coarse.box_of(address);
    let mut stored = cells;
    for block in finest.blocks_in(below(finest, coarse, own)) {
        let block = address.view().block(block);
        let above = cells_above(finest, coarse, &block).intersect(own);
        if above.intersect(stored) != above && finest.is_stored(&block).await? {
            stored = stored.around(above);
        }
    }
    Ok(stored)
}

/// The box of the finest level below one of a level.
fn below(finest: &OpenLevel, coarse: &OpenLevel, own: Box3) -> Box3 {
    let (factors, extent) = (coarse.level().resolutions, finest.dimensions());
    let start: [u64; 3] = std::array::from_fn(|axis| own.start[axis] * factors[axis]);
    let size = std::array::from_fn(|axis| {
        own.size[axis].saturating_mul(factors[axis]).min(extent[axis] - start[axis])
    });
    Box3 { start, size }
}

/// Size of the parts of a block that are made one after the other: slices, rows, then elements.
fn piece(coarse: &OpenLevel, size: [u64; 3]) -> Result<[u64; 3], DatastoreError> {
    let factors = coarse.level().resolutions;
    let mut piece = size;
    let bytes = |piece: [u64; 3]| {
        let axes = piece.iter().zip(&factors);
        axes.fold(coarse.item_bytes(), |bytes, (size, factor)| {
            bytes.saturating_mul(size.saturating_mul(*factor))
        })
    };
    for axis in [2, 1, 0] {
        while bytes(piece) > BOX_BYTES_MAX && piece[axis] > 1 {
            piece[axis] = piece[axis].div_ceil(2);
        }
    }
    if bytes(piece) > BOX_BYTES_MAX {
        let reason = format!("a cell of {factors:?} elements has more than {BOX_BYTES_MAX} bytes");
        return Err(DatastoreError::Unacceptable(reason));
    }
    Ok(piece)
}

/// Elements of a level, big-endian, of those of a box of the finest.
async fn compute(
    coarse: &OpenLevel,
    tree: &Tree,
    mut elements: Vec<u8>,
    size: [u64; 3],
) -> Result<Vec<u8>, DatastoreError> {
    let (method, chain) = (tree.method, tree.chain(coarse.number()));
    let data_type = coarse.known().dataset.data_type()?;
    let made = tokio::task::spawn_blocking(move || {
        if cfg!(target_endian = "little") {
            data_type.swap(&mut elements);
        }
        let [x, y, z] = size;
        let mut made = reduced(method, data_type, &elements, &[z, y, x], &chain)?;
        if cfg!(target_endian = "little") {
            data_type.swap(&mut made);
        }
        Ok::<_, DatastoreError>(made)
    });
    made.await?
}
