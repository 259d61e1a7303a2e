//! One `--chunks` for arrays of many shapes: what each of them takes of it.

use std::collections::{BTreeMap, BTreeSet};

use rechunk_format::Layout;
use rechunk_format::cast::is_number;
use rechunk_grid::ArraySpec;
use rechunk_zarr::takes_streams;

use super::level_regions::LevelRegions;
use super::rules::Wishes;
use crate::variable::is_staged;
use crate::{ChunkSpec, CopyRequest, Error, Extent, ShardSpec};
use rechunk_words::RegionSpec;

/// Follows which specifications were of use to any array.
#[derive(Debug, Default)]
pub(crate) struct Fit {
    used: BTreeMap<(&'static str, String), Use>,
    /// Levels of images, of which a selection means the part that it means of level 0.
    levels: LevelRegions,
}

/// Findings about a specification.
#[derive(Debug, Default)]
struct Use {
    /// It was of use to an array.
    fits: bool,
    /// An array had another number of axes: its path and axes.
    misfit: Option<(String, usize)>,
    /// Dimensions it names that no array has so far.
    unseen: BTreeSet<String>,
}

impl Fit {
    /// Expects the dimensions that `--select` names, if there is one. Of an image it may go by
    /// position; then it goes by names from now on.
    pub(crate) fn of_select(whole: &mut CopyRequest, levels: LevelRegions) -> Result<Self, Error> {
        let mut fit = Self { levels, ..Self::default() };
        if let Some(select) = &mut whole.select {
            if let Some(named) = fit.levels.named(select) {
                *select = named;
            }
            fit.expect("--select", &select.to_string(), &select.names()?);
        }
        Ok(fit)
    }

    /// Returns the part of `--select` that is for the array at `path`.
    pub(crate) fn select(
        &mut self,
        whole: &CopyRequest,
        path: &str,
        spec: &ArraySpec,
    ) -> Option<RegionSpec> {
        let select = whole.select.as_ref()?;
        self.saw("--select", &select.to_string(), spec);
        Some(self.levels.of_level(path, spec, select.part(spec)?))
    }

    /// The request of the array at `path`, and what is to be said about it.
    pub(crate) fn request(
        &mut self,
        path: &str,
        layout: &dyn Layout,
        wishes: Wishes,
        whole: &CopyRequest,
    ) -> (CopyRequest, Vec<String>) {
        let spec = layout.spec();
        let mut request =
            CopyRequest { write_empty: wishes.write_empty, is_member: true, ..whole.clone() };
        let has_cast = wishes.cast.is_some();
        let is_variable = spec.data_type.is_variable();
        if is_variable && layout.variable().is_none() {
            return as_it_is(request, &wishes);
        }
        let mut warnings = Vec::new();
        request.cast = wishes.cast.filter(|_| is_number(spec.data_type));
        if request.cast.is_none() && has_cast {
            let data_type = spec.data_type;
            warnings.push(format!("its elements are {data_type}: only numbers are cast"));
        }
        request.codec = wishes.codec.filter(|codec| {
            let takes = !is_variable || takes_streams(codec.text());
            if !takes {
                let codec = codec.text();
                warnings.push(format!(
                    "its elements differ in length, on which `{codec}` does not work: its codecs \
                     are kept"
                ));
            }
            takes
        });
        if is_variable && is_staged(request.planning.strategy) {
            request.planning.strategy = rechunk_plan::Strategy::Auto;
        }
        let chunks = self.part("--chunks", &wishes.chunks, path, spec);
        // A scalar has nothing that could be cut.
        if matches!(chunks, Part::Misfit) && !spec.shape.is_empty() {
            warnings.push(misfit("--chunks", &wishes.chunks, spec, "its chunks are kept"));
        }
        request.chunks = chunks.spec().unwrap_or_default();
        request.shards = match wishes.shards {
            // An element is no shard.
            Some(ShardSpec::Shape(_)) if spec.shape.is_empty() => None,
            Some(ShardSpec::Shape(shape)) if shape != ChunkSpec::Keep => {
                let shards = self.part("--shards", &shape, path, spec);
                if let Part::Misfit = shards {
                    let then = "it gets those it would without";
                    warnings.push(misfit("--shards", &shape, spec, then));
                }
                shards.spec().map(ShardSpec::Shape)
            }
            other => other,
        };
        (request, warnings)
    }

    /// Takes note that the array at `path` has dimensions which `wishes` name, though what it gets
    /// is something else.
    pub(crate) fn see(&mut self, wishes: &Wishes, path: &str, spec: &ArraySpec) {
        self.part("--chunks", &wishes.chunks, path, spec);
        if let Some(ShardSpec::Shape(shape)) = &wishes.shards
            && *shape != ChunkSpec::Keep
        {
            self.part("--shards", shape, path, spec);
        }
    }

    /// Takes note that a specification names dimensions, each of which some array has to have.
    pub(crate) fn expect<'a>(
        &mut self,
        option: &'static str,
        text: &str,
        names: impl IntoIterator<Item = &'a String>,
    ) {
        self.used.entry((option, text.to_owned())).or_insert_with(|| Use {
            unseen: names.into_iter().cloned().collect(),
            ..Use::default()
        });
    }

    /// Takes note of which of them an array has.
    pub(crate) fn saw(&mut self, option: &'static str, text: &str, spec: &ArraySpec) {
        let used = self.used.entry((option, text.to_owned())).or_default();
        used.unseen.retain(|name| spec.axis_named(name).is_none());
        used.fits = true;
    }

    /// Returns the part of a specification that is for an array.
    fn part(
        &mut self,
        option: &'static str,
        wanted: &ChunkSpec,
        path: &str,
        spec: &ArraySpec,
    ) -> Part {
        let text = wanted.to_string();
        match wanted {
            ChunkSpec::Named(named) => {
                self.expect(option, &text, named.iter().map(|(name, _)| name));
                self.saw(option, &text, spec);
                let is_of_it = |(name, _): &&(String, Extent)| spec.axis_named(name).is_some();
                let entries: Vec<_> = named.iter().filter(is_of_it).cloned().collect();
                if entries.is_empty() { Part::None } else { Part::Spec(ChunkSpec::Named(entries)) }
            }
            ChunkSpec::Positional(extents) if extents.len() != spec.shape.len() => {
                let used = self.used.entry((option, text)).or_default();
                used.misfit.get_or_insert_with(|| (path.to_owned(), spec.shape.len()));
                Part::Misfit
            }
            _ => {
                self.used.entry((option, text)).or_default().fits = true;
                Part::Spec(wanted.clone())
            }
        }
    }

    /// Refuses specifications that were of use to no array: they are misspelt.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for ((option, text), used) in &self.used {
            let message = match (&used.misfit, used.unseen.first()) {
                (Some((path, axes)), _) if !used.fits => {
                    format!("{option}: no array has as many axes as `{text}` ({path} has {axes})")
                }
                (_, Some(name)) => format!("{option}: no array has a dimension `{name}`"),
                _ => continue,
            };
            let hint = Some("`rechunk info GROUP` shows their axes".into());
            return Err(Error::Usage { message, hint });
        }
        Ok(())
    }
}

/// The part of a specification that is an array's.
#[derive(Debug)]
enum Part {
    /// It names none of its dimensions.
    None,
    /// It has another number of axes.
    Misfit,
    Spec(ChunkSpec),
}

impl Part {
    fn spec(self) -> Option<ChunkSpec> {
        match self {
            Self::Spec(spec) => Some(spec),
            Self::None | Self::Misfit => None,
        }
    }
}

fn misfit(option: &str, wanted: &ChunkSpec, spec: &ArraySpec, then: &str) -> String {
    let axes = match spec.shape.len() {
        1 => "1 axis".to_owned(),
        count => format!("{count} axes"),
    };
    format!("it has {axes}, which `{option} {wanted}` does not fit: {then}")
}

/// Has an array that cannot be cut copied chunk by chunk, whatever was asked for the others.
fn as_it_is(request: CopyRequest, wishes: &Wishes) -> (CopyRequest, Vec<String>) {
    let asks = wishes.chunks != ChunkSpec::Keep
        || wishes.codec.as_ref().is_some_and(|codec| !codec.is_keep())
        || wishes.cast.is_some()
        || wishes.shards.as_ref().is_some_and(|shards| !shards.is_keep());
    let warning = asks.then(|| {
        "its elements cannot be told apart: chunks, shards, codecs and type stay as they are"
            .to_owned()
    });
    let mut request = CopyRequest {
        chunks: ChunkSpec::Keep,
        shards: None,
        codec: None,
        cast: None,
        write_empty: rechunk_grid::WriteEmpty::Auto,
        ..request
    };
    request.planning.strategy = rechunk_plan::Strategy::Auto;
    (request, warning.into_iter().collect())
}
