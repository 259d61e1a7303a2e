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
use crate::formats::{Fact, Format, Metadata};
use crate::voxel_grid::known_voxels;

use crate::open::OpenArray;
use crate::plan_request::plan_request;
use crate::pyramid::PyramidJob;
use crate::repeats;
use crate::request::CopyRequest;
use crate::specify::{cut_extents, specify_target};

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
        let format = request.format.unwrap_or_else(|| Format::of_target(&request.target));
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

    /// The request to the planner; `ratio` is encoded over decoded bytes of the source, expected.
    pub(crate) fn plan_request(&self, ratio: f64) -> Result<PlanRequest, Error> {
        let (request, source) = (&self.request, &self.source);
        let mut plan_request =
            plan_request(request, source, &self.target_layout, ratio, &self.stores)?;
        if source.spec().data_type.is_variable() || self.target.is_only_copied() {
            force_passthrough(&source.location, request, &mut plan_request)?;
        }
        Ok(plan_request)
    }
}

/// Has an array that cannot be cut copied as it is: refuses requests that say otherwise.
fn force_passthrough(
    location: &str,
    request: &CopyRequest,
    plan_request: &mut PlanRequest,
) -> Result<(), Error> {
    let refuse = |reason: &str| Error::NotAnArray {
        location: location.to_owned(),
        reason: format!(
            "elements of variable length and images that lose something are only copied chunk by chunk, {reason}"
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
