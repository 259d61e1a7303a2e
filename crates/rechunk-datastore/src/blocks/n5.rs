use std::sync::Arc;

use bytes::Bytes;
use rechunk_format::{FormatError, Layout};
use rechunk_n5::N5Layout;
use rechunk_store::Store;

use super::changes::{Changes, Durability, Elements, replace};
use crate::documents::n5::array_path;
use crate::{BlockAddress, Dataset, DatastoreError, WireBlock};

/// Blocks that are files of N5.
#[derive(Debug)]
pub(crate) struct N5Blocks {
    layout: Arc<N5Layout>,
    number: usize,
    angles: u64,
}

impl N5Blocks {
    pub(super) fn new(dataset: &Dataset, number: usize) -> Result<Self, DatastoreError> {
        let layout = Arc::new(dataset.n5_layout(&dataset.resolution_levels[number])?);
        Ok(Self { layout, number, angles: dataset.angles })
    }

    pub(super) fn key(&self, address: &BlockAddress) -> String {
        let setup = Dataset::setup_of(address.channel, address.angle, self.angles);
        let array = array_path(setup, address.time, self.number);
        let [x, y, z] = address.position;
        format!("{array}/{x}/{y}/{z}")
    }

    /// The stored bytes of a block; `None` if it is not there.
    pub(super) async fn get(
        &self,
        version: &Store,
        address: &BlockAddress,
    ) -> Result<Option<Bytes>, DatastoreError> {
        let limit_bytes = self.layout.codec_cost().encoded_bytes_max;
        Ok(version.get(&self.key(address), limit_bytes).await?)
    }

    pub(super) async fn decode(
        &self,
        version: &Store,
        address: &BlockAddress,
        encoded: Bytes,
    ) -> Result<Elements, DatastoreError> {
        let damaged = |reason: String| DatastoreError::Damaged {
            place: format!("{}/{}", version.label(), self.key(address)),
            reason,
        };
        let broken = |error: FormatError| damaged(error.to_string());
        let plain = self.layout.plain_stored(&encoded).map_err(broken)?;
        let (sizes, elements) = if let Some((sizes, elements)) = plain {
            (sizes, encoded.slice(elements))
        } else {
            let layout = Arc::clone(&self.layout);
            let decode = move || layout.decode_stored(&encoded);
            let decoded = tokio::task::spawn_blocking(decode).await?;
            let (sizes, elements) = decoded.map_err(broken)?;
            (sizes, elements.into())
        };
        let sizes =
            <[u32; 3]>::try_from(sizes).map_err(|_| damaged("it has not three axes".to_owned()))?;
        Ok((sizes, elements))
    }

    pub(super) fn encode(&self, block: &WireBlock) -> Result<Bytes, DatastoreError> {
        Ok(self.layout.encode_stored(&block.sizes, &block.elements)?.into())
    }

    pub(super) async fn change(
        &self,
        version: &Store,
        changes: Changes,
        durability: Durability,
    ) -> Result<(), DatastoreError> {
        for (address, block) in changes {
            replace(version, &self.key(&address), block, durability).await?;
        }
        Ok(())
    }
}
