//! A target in precomputed.

use rechunk_precomputed::{
    Choice, Encoding, Packing, PrecomputedMetadata, PrecomputedTarget, TargetShards, derived_names,
    parse_choice, scale_key,
};
use rechunk_words::{ChunkSpec, LengthUnit, ShardSpec, VoxelAxis};
use serde_json::Value;

use crate::Error;
use crate::attributes::Way;
use crate::formats::{Metadata, Wish};
use crate::open::OpenArray;
use crate::voxel_grid;

/// Largest distance of an offset from a whole voxel, in voxels, that numbers with a point have.
const OFFSET_TOLERANCE: f64 = 1e-3;

/// Axes of space: the last three.
const SPACE: usize = 3;

/// The metadata of a target in precomputed.
pub(crate) fn target(wish: &Wish<'_>) -> Result<(Metadata, Vec<String>), Error> {
    let source = &wish.source.metadata;
    let (choice, mut warnings) = choice(wish)?;
    check_place(wish, choice)?;
    let mut spec = wish.source.spec().clone();
    (spec.chunk_shape, spec.edges) = (wish.chunk_shape.to_vec(), None);
    // All channels are in a chunk, whatever the chunks of the source.
    if let ([channels, _, _, _], [chunk, ..]) = (&spec.shape[..], &mut spec.chunk_shape[..])
        && wish.request.chunks == ChunkSpec::Keep
    {
        *chunk = *channels;
    }
    let (resolution, voxel_offset, said) = place(wish.source);
    warnings.extend(said);
    let mut attributes = source.attributes().clone();
    let way = Way { from: source.format(), to: wish.format, axes: wish.axes() };
    warnings.extend(way.carry(&spec, source.attributes(), &mut attributes));
    // The volume says them in fields of its own.
    let own = derived_names().into_iter().filter(|name| *name != "precomputed");
    for name in own {
        attributes.shift_remove(name);
    }
    if let Metadata::Precomputed(metadata) = source
        && !metadata.key.is_empty()
        && !wish.request.is_member
    {
        note_key(&mut attributes, &metadata.key);
    }
    let shards = wish.shard_shape.and_then(|shape| shards(wish, shape));
    let target = PrecomputedTarget {
        choice,
        shards,
        is_member: wish.request.is_member,
        resolution,
        voxel_offset,
    };
    let (metadata, more) = PrecomputedMetadata::new_target(&spec, &attributes, &target)
        .map_err(Error::target_metadata)?;
    warnings.extend(more);
    warnings.extend(others_left(&metadata));
    Ok((Metadata::Precomputed(Box::new(metadata)), warnings))
}

/// The encoding that is asked for; else that of the source, where it is a volume.
fn choice(wish: &Wish<'_>) -> Result<(Choice, Vec<String>), Error> {
    let source = match &wish.source.metadata {
        Metadata::Precomputed(metadata) => Some(metadata),
        Metadata::Zarr(_) | Metadata::N5(..) | Metadata::Raw(_) => None,
    };
    if let Some(codec) = wish.request.asked_codec() {
        let choice = parse_choice(codec.text()).map_err(Error::target_metadata)?;
        if let [.., z, y, x] = wish.chunk_shape {
            choice.check_chunk([*x, *y, *z]).map_err(Error::target_metadata)?;
        }
        return Ok((choice, Vec::new()));
    }
    let raw = Choice { encoding: Encoding::Raw, packing: Packing::None };
    let Some(source) = source else { return Ok((raw, Vec::new())) };
    let packing = match source.packing {
        // In shards it is chunks that are compressed, and not files.
        Packing::Gzip { .. } if source.sharding.is_some() && wish.shard_shape.is_none() => {
            Packing::None
        }
        Packing::Told | Packing::Brotli => Packing::None,
        known @ (Packing::None | Packing::Gzip { .. }) => known,
    };
    let is_kept = is_copied_as_it_is(wish) || source.encoding.is_lossless();
    if is_kept && fits(source.encoding, wish.source) {
        return Ok((Choice { encoding: source.encoding, packing }, Vec::new()));
    }
    let name = source.encoding.name();
    let warning = format!(
        "chunks of {name} are only copied as they are, unless it is asked for: these are written as raw"
    );
    Ok((raw, vec![warning]))
}

/// True if every chunk of the target is one of the source, of known encoding.
fn is_copied_as_it_is(wish: &Wish<'_>) -> bool {
    let source = wish.source;
    let is_told = source.array.layout().codec_summary().is_empty()
        || matches!(&source.metadata, Metadata::Precomputed(array) if array.packing == Packing::Told);
    wish.chunk_shape == source.spec().chunk_shape
        && source.region.is_none()
        && source.cast.is_none()
        && !is_told
}

/// True if an encoding of the source holds what is read of it.
fn fits(encoding: Encoding, source: &OpenArray) -> bool {
    source.cast.is_none() || encoding == Encoding::Raw
}

/// Refuses files that are compressed as a whole where no reader would look for them.
fn check_place(wish: &Wish<'_>, choice: Choice) -> Result<(), Error> {
    let target = &wish.request.target;
    let is_remote = target.contains("://") && !target.starts_with("file://");
    // In shards it is chunks that are compressed, as the document says.
    if !is_remote || wish.shard_shape.is_some() || choice.packing == Packing::None {
        return Ok(());
    }
    Err(Error::Usage {
        message: format!(
            "{target}: files that are compressed as a whole are only written to disks"
        ),
        hint: Some("leave gzip out: raw, compressed_segmentation, png or jpeg".into()),
    })
}

/// Shards of a shape. A shape that was asked for is meant; one that the source has, or that is to
/// have a size, is a wish.
fn shards(wish: &Wish<'_>, shape: &[u64]) -> Option<TargetShards> {
    let zyx = *shape.last_chunk::<SPACE>()?;
    let asked = wish.request.shards.as_ref().filter(|asked| !asked.is_keep());
    let is_sized = matches!(asked, Some(ShardSpec::Shape(shape)) if shape.has_auto());
    let like = match &wish.source.metadata {
        Metadata::Precomputed(metadata) => metadata.sharding,
        Metadata::Zarr(_) | Metadata::N5(..) | Metadata::Raw(_) => None,
    };
    let like = like.filter(|_| asked.is_none());
    Some(TargetShards {
        zyx,
        is_exact: asked.is_some() && !is_sized,
        is_told: asked.is_none(),
        like,
    })
}

/// Keeps the key of the scale that is copied.
fn note_key(attributes: &mut serde_json::Map<String, Value>, key: &str) {
    let fields =
        attributes.entry("precomputed").or_insert_with(|| Value::Object(serde_json::Map::new()));
    let Some(fields) = fields.as_object_mut() else { return };
    let scale = fields.entry("scale").or_insert_with(|| Value::Object(serde_json::Map::new()));
    if let Some(scale) = scale.as_object_mut() {
        scale.insert("key".to_owned(), key.into());
    }
}

/// Size of a voxel in nanometres and position of the first one, along x, y and z; sentences on what
/// is not known.
fn place(source: &OpenArray) -> ([f64; 3], [i64; 3], Vec<String>) {
    let (mut resolution, mut offset, mut warnings) = ([1.0; 3], [0; 3], Vec::new());
    let said = source.voxels.clone().or_else(|| voxel_grid::said(source));
    let origin = source.origin();
    let start = |axis: usize| i64::try_from(origin[axis]).unwrap_or(0);
    let rank = source.spec().shape.len();
    let Some(axes) = said.filter(|axes| axes.len() == rank && rank >= SPACE) else {
        if rank >= SPACE {
            for (place, axis) in offset.iter_mut().zip((0..rank).rev()) {
                *place = start(axis);
            }
        }
        let warning =
            "the source does not say the size of its voxels: the resolution is 1 x 1 x 1 nm";
        return (resolution, offset, vec![warning.to_owned()]);
    };
    if axes.iter().rev().take(SPACE).any(|axis| axis.unit.is_none()) {
        warnings.push(
            "the source says no unit of its voxels: they are taken for nanometres".to_owned(),
        );
    }
    for (at, (number, axis)) in axes.iter().enumerate().rev().take(SPACE).enumerate() {
        resolution[at] = in_nanometres(axis, axis.size);
        let voxels = axis.origin / axis.size;
        let whole = voxels.round();
        let is_whole = (voxels - whole).abs() <= OFFSET_TOLERANCE;
        let voxels = if is_whole { whole } else { voxels.floor() };
        offset[at] =
            start(number).saturating_add(format!("{voxels:.0}").parse::<i64>().unwrap_or_default());
        if !is_whole && !is_centre(axis.origin / axis.size) {
            warnings.push(format!(
                "the offset {} is no whole number of voxels of {}: it becomes that of voxel {voxels}",
                axis.origin, axis.size
            ));
        }
    }
    (resolution, offset, warnings)
}

/// True for the centre of a cell of several voxels, counted in cells from that of its first voxel.
/// So say images where their levels begin; the corner is meant.
fn is_centre(cells: f64) -> bool {
    /// Voxels of a cell along an axis, the most.
    const FACTOR_MAX: u32 = 1 << 12;
    let rest = cells - cells.floor();
    (2..=FACTOR_MAX).any(|factor| {
        let centre = f64::from(factor - 1) / f64::from(2 * factor);
        (rest - centre).abs() <= OFFSET_TOLERANCE * 1e-3
    })
}

/// The key of a scale with such voxels, slowest axis first; `None` where an axis of space is
/// missing.
pub(crate) fn scale_path(voxels: &[VoxelAxis]) -> Option<String> {
    let [z, y, x] = *voxels.last_chunk::<SPACE>()?;
    Some(scale_key([x, y, z].map(|axis| in_nanometres(&axis, axis.size))))
}

/// A length along an axis in nanometres, without the last digits of a conversion.
fn in_nanometres(axis: &VoxelAxis, length: f64) -> f64 {
    let Some(unit) = axis.unit else { return length };
    let factor = unit.in_units_of(LengthUnit::Nanometer);
    let exact = length * factor;
    let rounded = exact.round();
    if (exact - rounded).abs() <= rounded.abs() * 1e-12 { rounded } else { exact }
}

/// Says what else the document of the source names.
fn others_left(metadata: &PrecomputedMetadata) -> Option<String> {
    let named = metadata.other_directories();
    (!named.is_empty()).then(|| {
        format!(
            "the volume names {}, which are not copied: copy these directories too",
            named.join(", ")
        )
    })
}
