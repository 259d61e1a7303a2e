//! What is stored: an array's metadata, how many of its chunks exist and how large they are.

use std::sync::Arc;

use futures::TryStreamExt;
use rechunk_store::{Meter, Role};
use serde::Serialize;

use crate::Error;
use crate::open::{OpenArray, open_array};

/// Everything `rechunk info` shows.
#[derive(Debug, Clone, Serialize)]
pub struct ArrayInfo {
    /// Where it is.
    pub location: String,
    /// `zarr2` or `zarr3`.
    pub format: String,
    /// Extent of each axis, elements.
    pub shape: Vec<u64>,
    /// Dimension names.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// Data type.
    pub data_type: String,
    /// Shape of a chunk, elements.
    pub chunk_shape: Vec<u64>,
    /// Bytes of a decoded chunk; `None` where elements differ in length.
    pub chunk_bytes: Option<u64>,
    /// Axes as stored, slowest first (`[0, 1, 2]` is C order).
    pub axes: Vec<usize>,
    /// Byte order.
    pub endian: String,
    /// Codecs in words.
    pub codecs: String,
    /// Fill value as little-endian hex bytes; `None` where the metadata says null.
    pub fill_value_hex: Option<String>,
    /// Fill value as people read it.
    pub fill_value: String,
    /// Number of chunks in the grid.
    pub chunks: u64,
    /// Chunks that are stored.
    pub stored_chunks: u64,
    /// Chunks that are missing: they hold the fill value.
    pub missing_chunks: u64,
    /// Bytes of the elements, without padding; `None` where elements differ in length.
    pub decoded_bytes: Option<u64>,
    /// Bytes of the stored chunks.
    pub stored_bytes: u64,
    /// Decoded over stored bytes, of the chunks that are stored.
    pub compression_ratio: Option<f64>,
    /// User attributes.
    pub attributes: serde_json::Value,
    /// What may be wrong with it.
    pub hints: Vec<String>,
}

/// Reads the metadata and lists the chunks of the array at `location`.
pub async fn info(location: &str) -> Result<ArrayInfo, Error> {
    let meter = Meter::new();
    let open = open_array(location, &meter).await?;
    let (stored_chunks, stored_bytes) = count_chunks(&open).await?;
    let spec = open.spec().clone();
    let grid = open.grid()?;
    let layout = Arc::clone(open.array.layout());
    let order = layout.element_order();
    let item_bytes = (!spec.data_type.is_variable()).then(|| spec.item_bytes());
    let chunk_bytes = item_bytes.map(|item| grid.chunk_elements() * item);
    let chunks = grid.count();
    let mut info = ArrayInfo {
        location: location.to_owned(),
        format: layout.format_name().to_owned(),
        decoded_bytes: item_bytes.map(|item| spec.shape.iter().product::<u64>() * item),
        shape: spec.shape,
        dimension_names: spec.dimension_names,
        data_type: open.metadata.data_type_name(),
        chunk_shape: spec.chunk_shape,
        chunk_bytes,
        axes: order.axes.clone(),
        endian: format!("{:?}", order.endian).to_lowercase(),
        codecs: layout.codec_summary().to_owned(),
        fill_value: open.metadata.fill_value_text(),
        fill_value_hex: spec.fill_value.map(|fill| crate::open::hex(&fill.bytes)),
        chunks,
        stored_chunks,
        missing_chunks: chunks.saturating_sub(stored_chunks),
        stored_bytes,
        compression_ratio: chunk_bytes
            .filter(|_| stored_bytes > 0)
            .map(|bytes| (stored_chunks as f64 * bytes as f64) / stored_bytes as f64),
        attributes: open.metadata.plain_attributes(),
        hints: Vec::new(),
    };
    info.hints = hints(&info);
    Ok(info)
}

/// Counts the stored chunks: objects whose key is that of a chunk of the grid.
async fn count_chunks(open: &OpenArray) -> Result<(u64, u64), Error> {
    let store = open.array.store().with_role(Role::Control);
    let failed = |source: rechunk_store::StoreError| Error::source_store(&open.location, source);
    let grid = open.object_grid()?;
    let mut keys = store.list("");
    let (mut count, mut bytes) = (0_u64, 0_u64);
    while let Some((key, size)) = keys.try_next().await.map_err(failed)? {
        if let Some(index) = open.metadata.key_encoding.chunk_index(&key, grid.rank())
            && index.iter().enumerate().all(|(axis, &i)| i < grid.count_along(axis))
        {
            count += 1;
            bytes += size;
        }
    }
    Ok((count, bytes))
}

fn hints(info: &ArrayInfo) -> Vec<String> {
    let mut hints = Vec::new();
    let Some(chunk_bytes) = info.chunk_bytes else {
        return vec!["elements differ in length: chunks can be copied, not re-cut".to_owned()];
    };
    if chunk_bytes > 2 << 30 {
        hints.push("chunks are larger than 2 GiB: many readers and codecs refuse them".to_owned());
    }
    if chunk_bytes < 1 << 20 && info.chunks > 1000 {
        hints.push(format!(
            "{} chunks of less than 1 MiB: requests, not bytes, will take the time",
            info.chunks
        ));
    }
    hints
}
