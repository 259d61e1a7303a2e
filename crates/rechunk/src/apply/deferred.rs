//! An apply whose blocks stay uncombined: the array that they are left in.

use std::sync::Arc;

use rechunk_apply::{ApplyPlan, DeferredArray, Way};
use rechunk_array::Array;
use rechunk_grid::ArraySpec;
use serde_json::{Map, Value};

use super::Opened;
use super::result_type::as_results;
use crate::formats::raw::of_spec;
use crate::open::OpenArray;
use crate::request::CopyRequest;
use crate::{ChunkSpec, Error};

/// Name of the axis that tells layers apart.
const LAYER: &str = "layer";

impl Opened {
    /// Looks whether blocks stay uncombined, and refuses what does not go with it.
    pub(super) fn leaves_blocks(&self, way: Way) -> Result<bool, Error> {
        match (way, self.request.defer) {
            (Way::Defer, false) => Err(Error::Apply {
                code: "DIRS_MISSING",
                message: "the blend mode `defer` leaves blocks uncombined, and no place is named \
                          for them"
                    .to_owned(),
                proposal: Some("a place by the option `defer`".to_owned()),
            }),
            (way, _) => Ok(way == Way::Defer),
        }
    }

    /// The array of blocks that stay uncombined, seen as a source: the target is specified by it.
    pub(super) fn left(
        &self,
        request: &CopyRequest,
        source: &OpenArray,
    ) -> Result<OpenArray, Error> {
        if request.chunks != ChunkSpec::Keep || request.shards.is_some() {
            return Err(Error::Usage {
                message: "blocks that stay uncombined decide their chunks: neither chunks nor \
                          shards can be chosen"
                    .to_owned(),
                hint: Some("leave the option out".into()),
            });
        }
        let results = as_results(source, self.output)?;
        let left = deferred(&self.job(source.spec(), None)?)?;
        let metadata = of_spec(spec_of(&left, results.spec()));
        let layout = metadata.layout().map_err(Error::target_metadata)?;
        Ok(OpenArray {
            array: Array::new(Arc::clone(&layout), source.array.store().clone()),
            metadata,
            cast: None,
            voxels: None,
            ..results
        })
    }

    /// Positions of the blocks, for attributes: of their array's first voxel in the target, and of
    /// one block to its neighbour.
    pub(super) fn places(&self, source: &OpenArray) -> Result<Option<Value>, Error> {
        if !self.request.defer {
            return Ok(None);
        }
        let job = self.job(source.spec(), None)?;
        let left = deferred(&job)?;
        let top = &job.levels()[job.top()];
        let mut places = Map::new();
        places.insert("origin".to_owned(), left.origin.into());
        places.insert("layered_axes".to_owned(), left.axes.into());
        places.insert("work".to_owned(), top.chunk.clone().into());
        places.insert("blend".to_owned(), top.blend.clone().into());
        places.insert("gap".to_owned(), job.gap().to_vec().into());
        Ok(Some(Value::Object(places)))
    }
}

fn deferred(job: &ApplyPlan) -> Result<DeferredArray, Error> {
    job.deferred().ok_or_else(|| Error::Usage {
        message: "no blocks are left uncombined".to_owned(),
        hint: None,
    })
}

fn spec_of(left: &DeferredArray, results: &ArraySpec) -> ArraySpec {
    let names = results.dimension_names.as_ref().map(|names| {
        std::iter::once(Some(LAYER.to_owned())).chain(names.iter().cloned()).collect()
    });
    ArraySpec {
        shape: left.shape.clone(),
        chunk_shape: left.chunk.clone(),
        edges: None,
        dimension_names: names,
        ..results.clone()
    }
}
