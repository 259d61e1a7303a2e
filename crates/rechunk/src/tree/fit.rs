//! One `--chunks` for arrays of many shapes: what each of them takes of it.

use std::collections::{BTreeMap, BTreeSet};

use rechunk_format::cast::is_number;
use rechunk_grid::ArraySpec;

use super::rules::Wishes;
use crate::option_words::is_keep;
use crate::select::Selected;
use crate::{ChunkSpec, CopyRequest, Error, Extent};

/// Follows which specifications were of use to any array.
#[derive(Debug, Default)]
pub(crate) struct Fit {
    used: BTreeMap<(&'static str, String), Use>,
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
    /// Expects the dimensions that `--select` names, if there is one.
    pub(crate) fn of_select(whole: &CopyRequest) -> Result<Self, Error> {
        let mut fit = Self::default();
        if let Some(text) = &whole.select {
            fit.expect("--select", text, &Selected::parse(text)?.names()?);
        }
        Ok(fit)
    }

    /// Returns the part of `--select` that is for an array.
    pub(crate) fn select(
        &mut self,
        whole: &CopyRequest,
        spec: &ArraySpec,
    ) -> Result<Option<String>, Error> {
        let Some(text) = &whole.select else { return Ok(None) };
        self.saw("--select", text, spec);
        Ok(Selected::parse(text)?.part(spec))
    }

    /// The request of the array at `path`, and what is to be said about it.
    pub(crate) fn request(
        &mut self,
        path: &str,
        spec: &ArraySpec,
        wishes: Wishes,
        whole: &CopyRequest,
    ) -> Result<(CopyRequest, Vec<String>), Error> {
        let mut request =
            CopyRequest { write_empty: wishes.write_empty, is_member: true, ..whole.clone() };
        let has_cast = wishes.cast.is_some();
        if spec.data_type.is_variable() {
            return Ok(as_it_is(request, &wishes));
        }
        let mut warnings = Vec::new();
        request.cast = wishes.cast.filter(|_| is_number(spec.data_type));
        if request.cast.is_none() && has_cast {
            let data_type = spec.data_type;
            warnings.push(format!("its elements are {data_type}: only numbers are cast"));
        }
        request.codec = wishes.codec;
        let chunks = self.part("--chunks", &wishes.chunks, path, spec)?;
        // A scalar has nothing that could be cut.
        if matches!(chunks, Part::Misfit) && !spec.shape.is_empty() {
            warnings.push(misfit("--chunks", &wishes.chunks, spec, "its chunks are kept"));
        }
        request.chunks = chunks.text().unwrap_or_else(|| "keep".to_owned());
        request.shards = match wishes.shards.as_deref().map(str::trim) {
            // An element is no shard.
            Some(text) if text != "none" && spec.shape.is_empty() => None,
            Some(text) if !is_word(text) => {
                let shards = self.part("--shards", text, path, spec)?;
                if let Part::Misfit = shards {
                    warnings.push(misfit("--shards", text, spec, "it gets those it would without"));
                }
                shards.text()
            }
            other => other.map(str::to_owned),
        };
        Ok((request, warnings))
    }

    /// Takes note that the array at `path` has dimensions which `wishes` name, though what it gets
    /// is something else.
    pub(crate) fn see(
        &mut self,
        wishes: &Wishes,
        path: &str,
        spec: &ArraySpec,
    ) -> Result<(), Error> {
        self.part("--chunks", &wishes.chunks, path, spec)?;
        if let Some(text) = wishes.shards.as_deref().filter(|text| !is_word(text)) {
            self.part("--shards", text, path, spec)?;
        }
        Ok(())
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
        text: &str,
        path: &str,
        spec: &ArraySpec,
    ) -> Result<Part, Error> {
        match &ChunkSpec::parse(text)? {
            ChunkSpec::Named(named) => {
                self.expect(option, text, named.iter().map(|(name, _)| name));
                self.saw(option, text, spec);
                let has = |name: &str| spec.axis_named(name).is_some();
                let is_of_it =
                    |entry: &&str| entry.split_once('=').is_some_and(|(name, _)| has(name.trim()));
                let entries: Vec<&str> = text.split(',').filter(is_of_it).collect();
                Ok(if entries.is_empty() { Part::None } else { Part::Text(entries.join(",")) })
            }
            ChunkSpec::Positional(extents)
                if extents.len() != spec.shape.len() && extents[..] != [Extent::Whole] =>
            {
                let used = self.used.entry((option, text.to_owned())).or_default();
                used.misfit.get_or_insert_with(|| (path.to_owned(), spec.shape.len()));
                Ok(Part::Misfit)
            }
            ChunkSpec::Positional(_) | ChunkSpec::Every(_) => {
                self.used.entry((option, text.to_owned())).or_default().fits = true;
                Ok(Part::Text(text.to_owned()))
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
            let hint = Some("`rechunk info GROUP` shows their axes".to_owned());
            return Err(Error::Usage { message, hint });
        }
        Ok(())
    }
}

/// The shards are not given by their shape.
fn is_word(shards: &str) -> bool {
    matches!(shards.trim(), "none" | "keep")
}

/// The part of a specification that is an array's.
#[derive(Debug)]
enum Part {
    /// It names none of its dimensions.
    None,
    /// It has another number of axes.
    Misfit,
    Text(String),
}

impl Part {
    fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::None | Self::Misfit => None,
        }
    }
}

fn misfit(option: &str, text: &str, spec: &ArraySpec, then: &str) -> String {
    let axes = match spec.shape.len() {
        1 => "1 axis".to_owned(),
        count => format!("{count} axes"),
    };
    format!("it has {axes}, which `{option} {}` does not fit: {then}", text.trim())
}

/// Has an array that cannot be cut copied chunk by chunk, whatever was asked for the others.
fn as_it_is(request: CopyRequest, wishes: &Wishes) -> (CopyRequest, Vec<String>) {
    let asks = wishes.chunks.trim() != "keep"
        || wishes.codec.as_deref().is_some_and(|codec| !is_keep(codec))
        || wishes.cast.is_some()
        || wishes.shards.as_deref().is_some_and(|shards| shards.trim() != "keep");
    let warning = asks.then(|| {
        "its elements differ in length: chunks, shards, codecs and type stay as they are".to_owned()
    });
    let mut request = CopyRequest {
        chunks: "keep".to_owned(),
        shards: None,
        codec: None,
        cast: None,
        write_empty: rechunk_grid::WriteEmpty::Auto,
        ..request
    };
    request.planning.strategy = rechunk_plan::Strategy::Auto;
    (request, warning.into_iter().collect())
}
