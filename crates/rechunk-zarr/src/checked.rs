//! Checks of an array's metadata, so that no layout of it fails.

use rechunk_codec::lz4_block;
use rechunk_format::FormatError;
use rechunk_grid::{AxisEdges, ChunkGrid, Edges, Endian, FillValue};

use crate::chunk_lengths;
use crate::codec_spec::CodecSpec;
use crate::codecs::{Chain, stored_shape};
use crate::element_type::ElementType;
use crate::field::Field;
use crate::metadata::{
    ArrayMetadata, BLOSC_CHUNK_BYTES_MAX, CHAIN_LENGTH_MAX, CHUNK_BYTES_MAX, ZarrVersion,
};
use crate::shard_codec::ShardCodec;

impl ArrayMetadata {
    /// Returns this array in chunks that end at `edges`, the longest of which are as long as its
    /// own. Where its chunks lie in shards, shards end there, and chunks stay as they are.
    pub fn with_chunk_lengths(&self, edges: Edges) -> Result<Self, FormatError> {
        let mut target = self.with_whole_shards();
        target.spec.edges = Some(edges);
        target.check()?;
        Ok(target)
    }

    /// Returns this array grown to `shape`, in chunks that end at `edges`. Where its chunks lie in
    /// shards, shards end there, and chunks stay as they are.
    pub fn grown(&self, shape: &[u64], edges: Edges) -> Result<Self, FormatError> {
        let mut grown = self.with_whole_shards();
        grown.spec.shape = shape.to_vec();
        for (axis, length) in grown.spec.chunk_shape.iter_mut().enumerate() {
            *length = edges.axis(axis).map_or(*length, AxisEdges::longest);
        }
        grown.spec.edges = Some(edges);
        grown.check_chunk_lengths(&self.version.chunk_field())?;
        // Codecs are those for the longest chunk, which may be a new one.
        let stored = stored_shape(&grown.order, &grown.spec.chunk_shape);
        grown.codecs = ShardCodec::for_shape(&grown.codecs, &stored)?;
        grown.check()?;
        Ok(grown)
    }

    /// The codecs for a chunk of the chunk shape.
    pub(crate) fn chain(&self) -> Result<Chain, FormatError> {
        let shape = stored_shape(&self.order, &self.spec.chunk_shape);
        Chain::new(&self.codecs, self.chunk_bytes(), &shape)
    }

    /// Checks what the rest of the crate relies on, so that a layout cannot fail.
    pub(crate) fn check(&self) -> Result<(), FormatError> {
        let chunks = self.version.chunk_field();
        self.spec.grid().map_err(|error| chunks.invalid(error.to_string()))?;
        if self.spec.edges.is_some() {
            self.check_chunk_lengths(&chunks)?;
        }
        if let Some(shards) = &self.sharding {
            ChunkGrid::new(&self.spec.shape, shards.shard_shape())
                .map_err(|error| chunks.invalid(error.to_string()))?;
            if self.version == ZarrVersion::V2 {
                return Err(chunks.unsupported("a shard in Zarr v2", "use --format zarr3"));
            }
        }
        let bytes = self.chunk_bytes();
        if bytes > CHUNK_BYTES_MAX || usize::try_from(bytes).is_err() {
            let what = format!("a chunk of {bytes} bytes");
            return Err(chunks.unsupported(what, "the largest is 1 TiB"));
        }
        for codec in &self.codecs {
            let most = match codec {
                CodecSpec::Blosc { .. } => BLOSC_CHUNK_BYTES_MAX,
                CodecSpec::Lz4 { .. } => lz4_block::CHUNK_BYTES_MAX,
                _ => continue,
            };
            if bytes > most {
                let name = codec.name();
                let what = format!("a chunk of {bytes} bytes with codec {name:?}");
                let hint = format!("{name} holds at most {most} bytes: use smaller chunks or zstd");
                return Err(chunks.unsupported(what, &hint));
            }
        }
        self.check_parts()
    }

    /// Chunks of different lengths are something of v3. Where they are shards, the chunks inside
    /// divide each.
    fn check_chunk_lengths(&self, chunks: &Field) -> Result<(), FormatError> {
        if self.version == ZarrVersion::V2 {
            let what = "chunks of different lengths in Zarr v2";
            return Err(chunks.unsupported(what, "use --format zarr3"));
        }
        let Some(edges) = &self.spec.edges else { return Ok(()) };
        for codec in &self.codecs {
            if let CodecSpec::Shards(shards) = codec {
                chunk_lengths::check_shards(edges, &self.order.axes, &shards.chunk_shape)?;
            }
        }
        Ok(())
    }

    fn check_parts(&self) -> Result<(), FormatError> {
        let document = self.version.document_key();
        let rank = self.spec.shape.len();
        let mut axes = self.order.axes.clone();
        axes.sort_unstable();
        if axes.iter().copied().ne(0..rank) {
            let field = Field::new(document, "order");
            return Err(field.invalid(format!("{:?} does not order {rank} axes", self.order.axes)));
        }
        let names = self.spec.dimension_names.as_ref().map_or(rank, Vec::len);
        if names != rank {
            let field = Field::new(document, "dimension_names");
            return Err(field.invalid(format!("{names} names for {rank} axes")));
        }
        let fill_bytes = self.spec.fill_value.as_ref().map(|fill| fill.bytes.len() as u64);
        if fill_bytes.is_some_and(|bytes| bytes != self.spec.item_bytes()) {
            let field = Field::new(document, "fill_value");
            return Err(field.invalid("its size is not that of an element"));
        }
        self.check_codecs()
    }

    fn check_codecs(&self) -> Result<(), FormatError> {
        let field = self.version.codec_field();
        if self.codecs.len() > CHAIN_LENGTH_MAX {
            return Err(field.unsupported(format!("a chain of {} codecs", self.codecs.len()), ""));
        }
        for codec in &self.codecs {
            codec.check_version(self.version)?;
        }
        self.check_fill()?;
        if self.version == ZarrVersion::V3 {
            self.check_v3_places(&field)?;
        }
        // Each codec has to fit what the one before it leaves.
        self.chain().map(drop).map_err(|error| match error {
            FormatError::Unsupported { what, hint, .. } => {
                field.unsupported(what, hint.trim_start_matches("; "))
            }
            other => other,
        })
    }

    /// Refuses filters that have no place for the fill value. Others ask for it where they are
    /// read: nobody else would open the array.
    fn check_fill(&self) -> Result<(), FormatError> {
        if self.spec.data_type.is_variable() {
            return Ok(());
        }
        let zero = FillValue::zero(self.spec.item_bytes());
        let fill = self.spec.fill_value.as_ref().unwrap_or(&zero);
        let fill = fill.stored(self.spec.data_type, self.order.endian);
        ShardCodec::set_fill(&mut self.codecs.clone(), &fill)
            .map_err(|reason| Field::new(self.version.document_key(), "fill_value").invalid(reason))
    }

    /// In v3 filters come first, and `bytes` orders the bytes of all types alike.
    fn check_v3_places(&self, field: &Field) -> Result<(), FormatError> {
        let filters = self.codecs.iter().take_while(|codec| codec.is_array_to_array()).count();
        let (filters, rest) = self.codecs.split_at(filters);
        let is_late = |codec: &&CodecSpec| codec.is_array_to_array() || codec.is_array_to_bytes();
        if let Some(codec) = rest.iter().skip(1).find(is_late) {
            let reason = format!("codec {:?} must come before it is bytes", codec.name());
            return Err(field.invalid(reason));
        }
        let mut element = self.element();
        for codec in filters {
            let from = codec.input().unwrap_or(element);
            let to = codec.output(element);
            let differ = |a: ElementType, b: ElementType| {
                a.endian != b.endian && a.item_bytes() > 1 && b.item_bytes() > 1
            };
            if differ(from, element) || differ(from, to) {
                let what = format!("codec {:?} between two byte orders", codec.name());
                return Err(field.unsupported(what, "in Zarr v3 all elements have one"));
            }
            element = to;
        }
        // The chunks in a shard have their own.
        let has_order = |codec: &CodecSpec| {
            codec.is_array_to_bytes()
                && !matches!(codec, CodecSpec::Shards(_) | CodecSpec::N5Block(_))
        };
        if rest.first().is_some_and(has_order) && element.endian == Endian::Big {
            let what = format!("codec {:?} on big-endian elements", rest[0].name());
            return Err(field.unsupported(what, ""));
        }
        Ok(())
    }
}
