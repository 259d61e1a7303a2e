use std::collections::BTreeMap;

use rechunk_format::Layout;
use rechunk_grid::ChunkGrid;

use super::about::about;
use crate::Violation;
use crate::violation::ensure;

/// Checks that a layout that was made again puts and encodes chunks alike.
pub(super) fn check_equal(layout: &dyn Layout, again: &dyn Layout) -> Result<(), Violation> {
    let (of, about) = (layout.spec(), about(layout));
    ensure(layout.encoding_identity() == again.encoding_identity(), || {
        format!("{about}: its identity is another one each time")
    })?;
    let grid = of.grid().map_err(|error| Violation::new(format!("{about}: {error}")))?;
    for index in grid.indices().positions() {
        ensure(layout.chunk_key(&index) == again.chunk_key(&index), || {
            format!("{about}: the key of chunk {index:?} is another one each time")
        })?;
    }
    Ok(())
}

/// Checks that objects have keys of their own, which lead back to them, and that no two chunks of
/// an object are in one place.
pub(super) fn check(layout: &dyn Layout, grid: &ChunkGrid) -> Result<(), Violation> {
    let about = about(layout);
    let mut objects: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut places: BTreeMap<(String, u64), Vec<u64>> = BTreeMap::new();
    for index in grid.indices().positions() {
        let object = object_of(layout, &index);
        let key = layout.object_key(&object);
        let wrong = |what: &str| format!("{about}: the key {key:?} of object {object:?} {what}");
        ensure(is_below(&key), || wrong("leads out of the array"))?;
        ensure(layout.chunk_key(&index) == key, || {
            wrong(&format!("is not that of its chunk {index:?}"))
        })?;
        ensure(layout.object_index(&key).as_ref() == Some(&object), || {
            wrong("does not lead back to it")
        })?;
        let other = objects.entry(key.clone()).or_insert_with(|| object.clone());
        ensure(*other == object, || wrong(&format!("is that of object {other:?} too")))?;
        let other = places.entry((key.clone(), place(layout, &index))).or_insert(index.clone());
        ensure(*other == index, || {
            wrong(&format!("holds chunks {other:?} and {index:?} in one place"))
        })?;
    }
    for key in ["", "/", "..", "../0", "\u{0}", "no chunk"] {
        ensure(layout.object_index(key).is_none(), || {
            format!("{about}: {key:?} is taken for the key of an object")
        })?;
    }
    Ok(())
}

/// Index of the object that chunk `index` is in.
fn object_of(layout: &dyn Layout, index: &[u64]) -> Vec<u64> {
    match (layout.shards(), layout.runs()) {
        (Some(shards), _) => shards.shard_of(index),
        (None, Some(runs)) => runs.file_of(layout.spec(), index),
        (None, None) => index.to_vec(),
    }
}

/// Place of chunk `index` in its object: the slot of a shard, or the first byte.
fn place(layout: &dyn Layout, index: &[u64]) -> u64 {
    match (layout.shards(), layout.chunk_range(index)) {
        (Some(shards), _) => shards.slot(index),
        (None, Some((offset, _))) => offset,
        (None, None) => 0,
    }
}

fn is_below(key: &str) -> bool {
    !key.is_empty() && key.split('/').all(|name| !["", ".", ".."].contains(&name))
}
