//! `--coords`: what becomes of the coordinates of a group, which readers want at once.

use rechunk_grid::ArraySpec;
use serde::{Deserialize, Serialize};

use super::rules::Wishes;
use crate::{ChunkSpec, Extent, ShardSpec};

/// Most bytes of elements that are put into one chunk; a longer coordinate gets `auto` chunks.
const SINGLE_MAX_BYTES: u64 = 64 << 20;

/// Chunks and shards of coordinates that no rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Coords {
    /// Each gets one chunk and no shard: a reader that opens the group asks for each once.
    Single,
    /// Their chunks and shards stay as they are.
    Keep,
    /// They follow the wishes for the other arrays.
    Follow,
}

impl Coords {
    /// The word of the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "single" => Some(Self::Single),
            "keep" => Some(Self::Keep),
            "follow" => Some(Self::Follow),
            _ => None,
        }
    }

    /// Returns the choice where nothing is said: who asks for other chunks means those of the data.
    pub(crate) fn usual(chunks: &ChunkSpec) -> Self {
        if *chunks == ChunkSpec::Keep { Self::Follow } else { Self::Single }
    }

    /// Wishes for a coordinate, in place of those for all arrays.
    pub(crate) fn wishes(self, spec: &ArraySpec, of_all: Wishes) -> Wishes {
        match self {
            Self::Single => {
                let elements = spec.shape.iter().fold(1_u64, |a, b| a.saturating_mul(*b));
                let bytes = elements.saturating_mul(spec.data_type.item_bytes());
                let is_small = bytes <= SINGLE_MAX_BYTES;
                let chunks = if is_small { ChunkSpec::Whole } else { ChunkSpec::Auto };
                let chunks = longer(spec, &of_all).unwrap_or(chunks);
                Wishes { chunks, shards: Some(ShardSpec::None), ..of_all }
            }
            Self::Keep => Wishes { chunks: ChunkSpec::Keep, shards: None, ..of_all },
            Self::Follow => of_all,
        }
    }
}

/// The chunks of a coordinate whose dimension is to have chunks longer than it is now: it will grow
/// too.
fn longer(spec: &ArraySpec, of_all: &Wishes) -> Option<ChunkSpec> {
    let chunks = of_all.chunks.clone().keeping_extents(of_all.keep_extent);
    let ChunkSpec::Named(named) = chunks else { return None };
    let name = spec.dimension_name(0)?;
    named.into_iter().find_map(|(dimension, extent)| match extent {
        Extent::Exactly(elements) if dimension == name && elements > *spec.shape.first()? => {
            Some(ChunkSpec::Positional(vec![extent]))
        }
        _ => None,
    })
}

/// Whether the array at `path` is a coordinate variable: it has one axis, and that axis' name (CF
/// conventions, section 1.3).
pub(crate) fn is_coordinate(path: &str, spec: &ArraySpec) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(spec.dimension_names.as_deref(), Some([Some(dimension)]) if dimension == name)
}
