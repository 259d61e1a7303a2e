//! A target in N5.

use rechunk_format::FormatError;
use rechunk_format::field::Field;
use rechunk_grid::DataType;
use rechunk_n5::{ATTRIBUTES_KEY, N5Metadata, N5Target, N5Type, N5Version, parse_compression};

use super::{codecs, is_inside_n5};
use crate::Error;
use crate::attributes::Way;
use crate::axes::Axes;
use crate::formats::{Metadata, Wish};

/// The metadata of a target in N5.
pub(crate) fn target(wish: &Wish<'_>) -> Result<(Metadata, Vec<String>), Error> {
    let source = &wish.source.metadata;
    let (kept, mut warnings) = match source {
        Metadata::N5(metadata, _) => (metadata.compression, Vec::new()),
        other => match other.codecs() {
            Some(codecs) => codecs::n5_of_zarr(&codecs),
            None => (codecs::N5_DEFAULT, Vec::new()),
        },
    };
    let compression = match &wish.request.codec {
        None => kept,
        Some(codec) if codec.is_keep() => kept,
        Some(codec) => {
            warnings.clear();
            parse_compression(codec.text()).map_err(Error::target_metadata)?
        }
    };
    let axes = wish.axes();
    let mut spec = wish.source.spec().clone();
    (spec.chunk_shape, spec.edges) = (wish.chunk_shape.to_vec(), None);
    let mut attributes = source.attributes().clone();
    let way = Way { from: source.format(), to: wish.format, axes };
    warnings.extend(way.carry(&spec, source.attributes(), &mut attributes));
    let compression = compression.with_named_shuffle(spec.item_bytes());
    let target = N5Target { compression, axis_order: axes.of_n5(), version: version(wish) };
    if let Metadata::N5(metadata, _) = source {
        // All that is not asked for stays, also what only N5 has.
        let mut block_size = wish.chunk_shape.to_vec();
        if axes == Axes::Reverse {
            block_size.reverse();
        }
        let version = target.version;
        let data_type = match wish.source.cast {
            Some(cast) => number(cast.data_type).map_err(Error::target_metadata)?,
            None => metadata.data_type,
        };
        let kept =
            N5Metadata { block_size, data_type, compression, version, ..(**metadata).clone() };
        return Ok((Metadata::N5(Box::new(kept), axes), warnings));
    }
    let (metadata, more) =
        N5Metadata::new_target(&spec, &attributes, &target).map_err(Error::target_metadata)?;
    warnings.extend(more);
    Ok((Metadata::N5(Box::new(metadata), axes), warnings))
}

/// The type of N5 that elements are cast to.
fn number(data_type: DataType) -> Result<N5Type, FormatError> {
    N5Type::of(data_type).ok_or_else(|| {
        let what = format!("data type {:?} in N5", data_type.name());
        Field::new(ATTRIBUTES_KEY, "dataType").unsupported(what, "use --format zarr3")
    })
}

/// The version it says: only a container does, and this array may be all there is in one. Of a
/// group the root says it.
fn version(wish: &Wish<'_>) -> Option<N5Version> {
    let is_in_container = wish.request.is_member || is_inside_n5(&wish.request.target);
    (!is_in_container).then(|| wish.request.n5_version())
}
