//! The plan of an apply.

use rechunk_apply::{ApplyPlan, ApplySpec, BoxSpec, LevelSpec, TargetGrid, ValueKind, prepare};
use rechunk_format::{Layout, RunFormat, ShardFormat};
use rechunk_grid::ArraySpec;
use rechunk_ops::ValueKind as OpKind;
use rechunk_plan::PlanRequest;
use rechunk_planner::{ApplyPlanRequest, ApplySource, Planned, plan_apply};

use super::command::check_shape;
use super::converted::is_cast;
use super::opened::Work;
use super::{Function, LevelRequest, Opened, Pads};
use crate::plan_request::source_side;
use crate::words::named;
use crate::{ChunkSpec, Error};

impl Opened {
    /// Plans the apply: `request` is that of a copy from the source to the target.
    pub(crate) fn plan(
        &self,
        request: &PlanRequest,
        source: &ArraySpec,
        target: Option<&dyn Layout>,
    ) -> Result<(Planned, Vec<String>), Error> {
        let job = self.job(source, target)?;
        let leaves_blocks = self.leaves_blocks(job.way())?;
        if target.and_then(Layout::runs).is_some_and(is_one_file) {
            return Err(Error::Usage {
                message: "results cannot be written into one file of elements".to_owned(),
                hint: Some("write Zarr or N5, and copy that".into()),
            });
        }
        let mut warnings = Vec::new();
        if leaves_blocks {
            warnings.push(
                "blocks of the top level stay uncombined, in layers of one array; results are \
                 written nowhere else"
                    .to_owned(),
            );
        }
        let halo = self.halo(source)?;
        let crop = &job.levels()[0].crop;
        if crop.iter().zip(&halo).any(|(crop, halo)| crop < halo) {
            warnings.push(format!(
                "`{}` looks {halo:?} elements around each one, more than the crop {crop:?}: there \
                 will be seams between work chunks; the crop `auto` has none",
                self.request.operation.name()
            ));
        }
        let shape = job.op_shape_max();
        let (scratch_bytes, calls_at_once) = match &self.work {
            Work::Named(operation) => (operation.scratch_bytes(&shape, source.data_type), None),
            Work::Command(command) => {
                let inputs = job.op_input_shape_max();
                check_shape(command, &self.types, self.output, &inputs)?;
                (command.memory_bytes.unwrap_or(0), command.jobs)
            }
            Work::Function(function) => {
                (function.scratch_bytes(&shape, source.data_type), function.calls_at_once)
            }
        };
        let converted = job.op_shape_max().iter().fold(16_u64, |bytes, &n| bytes.saturating_mul(n));
        let converts = is_cast(&self.spec);
        let others: Vec<ApplySource> = self
            .others
            .iter()
            .map(|other| ApplySource {
                item_bytes: other.spec().item_bytes(),
                side: source_side(&other.array, &other.location, 1.0),
            })
            .collect();
        let asked = ApplyPlanRequest {
            request,
            others: &others,
            job,
            op: self.spec.clone(),
            boundary: self.request.boundary,
            missing: self.request.missing,
            scratch_bytes: scratch_bytes.saturating_add(if converts { converted } else { 0 }),
            calls_at_once,
        };
        let planned = plan_apply(&asked);
        let planned =
            planned.map_err(|error| Error::no_plan(request.budget.memory_bytes, error))?;
        Ok((planned, warnings))
    }

    /// Elements around each one that the operation looks at, along each axis; 0 if nobody knows.
    fn halo(&self, source: &ArraySpec) -> Result<Vec<u64>, Error> {
        let rank = source.shape.len();
        match &self.work {
            Work::Named(operation) => {
                let halo = operation.halo(rank).map_err(Error::operation)?;
                Ok(halo.into_iter().map(|[before, after]| before.max(after)).collect())
            }
            Work::Function(Function { halo: Some(halo), .. }) => {
                let halo = halo.resolve(source, &[]).map_err(|error| named("the halo", error))?;
                if halo.len() == rank {
                    return Ok(halo);
                }
                Err(Error::Usage {
                    message: "the halo: a function cannot have `auto`".to_owned(),
                    hint: Some("give it as numbers".into()),
                })
            }
            Work::Command(_) | Work::Function(_) => Ok(vec![0; rank]),
        }
    }

    /// Refuses the crop `auto` of an operation that does not say how far it looks.
    fn check_auto(&self) -> Result<(), Error> {
        let (what, hint) = match &self.work {
            Work::Command(_) => ("a program", "give it as numbers"),
            Work::Function(Function { halo: None, .. }) => {
                ("a function", "give the halo of the function, or the crop as numbers")
            }
            Work::Named(_) | Work::Function(_) => return Ok(()),
        };
        if self.request.bottom.crop != Some(Pads::Auto) {
            return Ok(());
        }
        let message = format!("crop `auto`: nobody knows how far {what} looks");
        Err(Error::Usage { message, hint: Some(hint.into()) })
    }

    /// Prepares the job. The target of one whose blocks stay is not asked: it has another shape.
    pub(super) fn job(
        &self,
        source: &ArraySpec,
        target: Option<&dyn Layout>,
    ) -> Result<ApplyPlan, Error> {
        let asked = &self.request;
        self.check_auto()?;
        let halo = self.halo(source)?;
        let levels = asked.levels.iter().chain([&asked.bottom]).enumerate();
        let levels = levels.map(|(number, level)| {
            let is_bottom = number == asked.levels.len();
            level_of(level, source, if is_bottom { &halo } else { &[] })
        });
        let levels = levels.collect::<Result<Vec<_>, Error>>()?;
        let mut spec = ApplySpec::without_target(&source.shape, self.output, levels);
        spec.defer = asked.defer;
        let grid = |spec: &ArraySpec, chunk: &[u64]| TargetGrid {
            shape: spec.shape.clone(),
            chunk: chunk.to_vec(),
        };
        spec.target = match target {
            _ if asked.defer => Some(grid(source, &source.chunk_shape)),
            Some(target) => {
                let (written, shards) = (target.spec(), target.shards());
                let commit = shards.map_or(&written.chunk_shape[..], ShardFormat::shard_shape);
                Some(grid(written, commit))
            }
            None => None,
        };
        spec.region = match (&asked.region, &self.physical) {
            (Some(region), _) => {
                let bounds = region.bounds(source).map_err(|error| named("the box", error))?;
                BoxSpec::voxels(bounds)
            }
            (None, Some(axes)) => BoxSpec::Fractional(axes.clone()),
            (None, None) => BoxSpec::Whole,
        };
        spec.gap = pads(asked.gap.as_ref(), source, &[])?;
        spec.expand = asked.expand;
        spec.shrink = asked.shrink;
        spec.auto_divide = asked.auto_divide;
        spec.reduce_max =
            asked.reduce_max.as_ref().map(|chunk| extents(chunk, source)).transpose()?;
        spec.direct = asked.direct;
        spec.clip = asked.clip;
        spec.round = asked.round;
        let kind = match &self.work {
            Work::Named(operation) => operation.value_kind(),
            Work::Function(function) if function.gives_labels => OpKind::Label,
            Work::Command(_) | Work::Function(_) => OpKind::Intensity,
        };
        spec.value_kind = match kind {
            OpKind::Intensity => ValueKind::Intensity,
            OpKind::Label if asked.blend_labels => ValueKind::LabelForced,
            OpKind::Label => ValueKind::Label,
        };
        prepare(&spec).map_err(Error::apply)
    }
}

/// Objects of the target cannot be replaced by themselves.
fn is_one_file(runs: &RunFormat) -> bool {
    runs.is_single || runs.has_tail || runs.offset_bytes > 0
}

/// Extents of work chunks, which may be longer than the array.
fn extents(chunk: &ChunkSpec, source: &ArraySpec) -> Result<Vec<u64>, Error> {
    let chunk = chunk.clone().keeping_extents(true);
    chunk.extents("the work chunk", source)?;
    chunk.resolve(source, 16 << 20).map_err(|error| named("the work chunk", error))
}

fn pads(asked: Option<&Pads>, source: &ArraySpec, auto: &[u64]) -> Result<Vec<u64>, Error> {
    if auto.is_empty() && asked == Some(&Pads::Auto) {
        return Err(Error::Usage {
            message: "`auto` is what the operation needs: the crop of the bottom level".to_owned(),
            hint: Some("give it to that, and numbers to the others".into()),
        });
    }
    let Some(asked) = asked else { return Ok(Vec::new()) };
    Ok(asked.resolve(source, auto)?)
}

fn level_of(level: &LevelRequest, source: &ArraySpec, halo: &[u64]) -> Result<LevelSpec, Error> {
    let spec = LevelSpec::new(extents(&level.work, source)?);
    let spec = spec.crop(pads(level.crop.as_ref(), source, halo)?);
    Ok(spec.blend(pads(level.blend.as_ref(), source, &[])?, level.mode))
}
