//! Shards that are read and decoded as a whole.

use rechunk_format::ElementOrder;
use rechunk_grid::FillValue;
use serde_json::Value;

use crate::codec_spec::CodecSpec;
use crate::metadata::ArrayMetadata;
use crate::shard_codec::ShardCodec;
use crate::sharding;

impl ArrayMetadata {
    /// Returns this array with each shard as one chunk: it is read and decoded as a whole. (The
    /// codec `sharding_indexed` alone, which [`ArrayMetadata::sharding`] stands for, as any other
    /// codec.)
    #[must_use]
    pub fn with_whole_shards(&self) -> Self {
        let mut whole = self.clone();
        let Some(format) = whole.sharding.take() else { return whole };
        if let Some(codecs) = self.verbatim.codecs.as_ref().and_then(Value::as_array) {
            // Its elements differ in length: no codec here takes such a shard apart.
            let codec = sharding::write(&format, &self.spec.chunk_shape, codecs);
            whole.verbatim.codecs = Some(Value::Array(vec![codec]));
            whole.spec.chunk_shape = format.shard_shape().to_vec();
            return whole;
        }
        let (data_type, rank) = (self.spec.data_type, self.spec.shape.len());
        let zero = FillValue::zero(data_type.item_bytes());
        let fill = self.spec.fill_value.as_ref().unwrap_or(&zero);
        whole.spec.chunk_shape = format.shard_shape().to_vec();
        whole.order = ElementOrder { axes: (0..rank).collect(), endian: self.order.endian };
        whole.codecs = vec![CodecSpec::Shards(Box::new(ShardCodec {
            format,
            chunk_shape: self.spec.chunk_shape.clone(),
            order: self.order.clone(),
            codecs: self.codecs.clone(),
            data_type,
            fill: fill.stored(data_type, self.order.endian),
        }))];
        whole
    }
}
