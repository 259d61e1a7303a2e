//! A copy whose target is specified, and which has no plan yet.

use std::sync::Arc;

use rechunk_format::Layout;
use rechunk_grid::WriteEmpty;
use rechunk_plan::{PlanRequest, Strategy};
use rechunk_store::Stores;

use crate::Error;
use crate::apply::Opened;
use crate::calendar;
use crate::carried::carry;
use crate::formats::{Fact, Metadata};
use crate::voxel_grid::known_voxels;

use crate::open::OpenArray;
use crate::plan_request::plan_request;
use crate::pyramid::PyramidJob;
use crate::repeats;
use crate::request::CopyRequest;
use crate::sample::Sampled;
use crate::specify::{cut_extents, specify_target};
use crate::variable;

/// A source that is open, and the target that it is copied to.
pub(crate) struct Specified {
    pub request: CopyRequest,
    pub source: OpenArray,
    pub target: Metadata,
    pub target_layout: Arc<dyn Layout>,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
    pub times: Vec<String>,
    /// Operation that is applied, where it is no copy.
    pub applied: Option<Opened>,
    /// Levels that are written, where it is no copy.
    pub pyramid: Option<PyramidJob>,
    pub stores: Stores,
}

impl Specified {
    /// Specifies a new target. Reads what `request` asks to know of times, and nothing else.
    pub(crate) async fn new(
        mut request: CopyRequest,
        source: OpenArray,
        stores: Stores,
    ) -> Result<Self, Error> {
        let times = Box::pin(calendar::resolve(&mut request, &source, &stores)).await?;
        let mut source = source;
        let format = request.target_format();
        if format.has(Fact::VoxelFields) {
            source.voxels = known_voxels(&source).await?;
        }
        let applied = Box::pin(Opened::of(&request, &source, &stores, None)).await?;
        let results =
            applied.as_ref().map(|applied| applied.results(&request, &source)).transpose()?;
        let wish = results.as_ref().unwrap_or(&source);
        let (mut target, mut warnings) = specify_target(&request, wish)?;
        if let Some(applied) = &applied {
            applied.note(&source, &mut target)?;
        }
        // Of a group all arrays are looked at together.
        if request.select.is_some() && !request.is_member {
            warnings.extend(repeats::follow_selected(&source, &mut target));
        }
        let layout = |target: &Metadata| target.layout().map_err(Error::target_metadata);
        let (source, layout) = match results {
            Some(_) => (source, layout(&target)?),
            None => carry(source, &target, layout)?,
        };
        let notes = cut_extents(&request, &source, &layout.spec().chunk_shape)?;
        let notes = notes.into_iter().collect();
        let found = Self::as_found(request, source, (target, layout), stores);
        Ok(Self { warnings, notes, times, applied, ..found })
    }

    /// Takes a target that is there.
    pub(crate) fn as_found(
        request: CopyRequest,
        source: OpenArray,
        (target, target_layout): (Metadata, Arc<dyn Layout>),
        stores: Stores,
    ) -> Self {
        let (warnings, notes, times) = (Vec::new(), Vec::new(), Vec::new());
        let (applied, pyramid) = (None, None);
        Self {
            request,
            source,
            target,
            target_layout,
            warnings,
            notes,
            times,
            applied,
            pyramid,
            stores,
        }
    }

    /// The request to the planner, by what was found of the source.
    pub(crate) fn plan_request(&self, sampled: &Sampled) -> Result<PlanRequest, Error> {
        let mut plan_request = self.fixed_request(sampled.ratio)?;
        if !self.is_uncut() {
            return Ok(plan_request);
        }
        let layouts = self.layouts();
        if let Some(item_bytes) = sampled.item_bytes {
            variable::by_element(&mut plan_request, layouts, item_bytes)
                .map_err(Error::target_metadata)?;
            return Ok(plan_request);
        }
        self.force_passthrough(&mut plan_request)?;
        if self.source.spec().data_type.is_variable() && plan_request.source.shard.is_some() {
            // What a shard is expected to have, so that it can be read as a whole.
            let expected = plan_request.source.encoded_bytes_expected;
            let elements = plan_request.source.chunk_bytes(1).max(1);
            plan_request.item_bytes = expected.saturating_mul(2).div_ceil(elements).max(1);
        }
        Ok(plan_request)
    }

    /// Elements of the source differ in length and have to be told apart for what is asked; `ratio`
    /// is encoded bytes over elements, expected.
    pub(crate) fn goes_by_element(&self, ratio: f64) -> Result<bool, Error> {
        let (source, target) = self.layouts();
        if !self.is_uncut() || !variable::can_be_cut(source, target) {
            return Ok(false);
        }
        let strategy = self.request.planning.strategy;
        if variable::is_staged(strategy) {
            return Err(Error::Usage {
                message: format!(
                    "{}: elements of variable length are copied in one pass, without the \
                     intermediate of the strategy `{}`",
                    self.source.location,
                    strategy.name()
                ),
                hint: Some("leave the option out".into()),
            });
        }
        let request = self.fixed_request(ratio)?;
        let (source, target) = (&request.source, &request.target);
        let is_same = request.same_encoding
            && source.chunk_shape == target.chunk_shape
            && source.edges.is_none();
        Ok(!is_same || !matches!(strategy, Strategy::Auto | Strategy::Passthrough))
    }

    /// Elements are no bytes of a known number, or lose something where they are encoded.
    fn is_uncut(&self) -> bool {
        let is_kept = self.request.lossy_codec(&self.target).is_none();
        self.source.spec().data_type.is_variable() || (is_kept && self.target.is_lossy())
    }

    fn layouts(&self) -> (&dyn Layout, &dyn Layout) {
        (self.source.array.layout().as_ref(), self.target_layout.as_ref())
    }

    /// The request for elements of a fixed size; `ratio` is encoded over decoded bytes of the
    /// source, expected.
    fn fixed_request(&self, ratio: f64) -> Result<PlanRequest, Error> {
        plan_request(&self.request, &self.source, &self.target_layout, ratio, &self.stores)
    }

    /// Has an array that cannot be cut copied as it is: refuses requests that say otherwise.
    fn force_passthrough(&self, plan_request: &mut PlanRequest) -> Result<(), Error> {
        let request = &self.request;
        let refuse = |reason: &str| Error::NotAnArray {
            location: self.source.location.clone(),
            reason: format!(
                "elements that cannot be told apart and images that lose something are only copied \
                 chunk by chunk, {reason}"
            ),
            hint: Some("leave the option out".into()),
        };
        if request.write_empty != WriteEmpty::Auto {
            return Err(refuse("so --write-empty cannot be chosen"));
        }
        if !matches!(request.planning.strategy, Strategy::Auto | Strategy::Passthrough) {
            return Err(refuse("which is the strategy `passthrough`"));
        }
        plan_request.strategy = Strategy::Passthrough;
        Ok(())
    }
}
