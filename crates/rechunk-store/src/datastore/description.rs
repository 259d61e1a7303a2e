//! The description of a data set, as its server gives it.

use serde::Deserialize;

use super::fault::Fault;
use super::location::VersionAsked;

/// A distance, and its unit.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Measure {
    pub value: f64,
    pub unit: String,
}

/// A resolution. Lists are x, y, z.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DescribedLevel {
    pub resolutions: [u64; 3],
    pub block_dimensions: [u64; 3],
}

/// A data set; what is of no use here is left out.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Description {
    pub voxel_type: String,
    pub dimensions: [u64; 3],
    #[serde(default = "one")]
    timepoints: u64,
    /// Numbers of the timepoints, where they do not count from 0.
    timepoint_ids: Option<Vec<u64>>,
    #[serde(default = "one")]
    pub channels: u64,
    #[serde(default = "one")]
    pub angles: u64,
    pub voxel_unit: Option<String>,
    pub voxel_resolution: Option<[f64; 3]>,
    pub timepoint_resolution: Option<Measure>,
    pub resolution_levels: Vec<DescribedLevel>,
    #[serde(default)]
    versions: Vec<u64>,
}

fn one() -> u64 {
    1
}

impl Description {
    /// Reads the document that `url` gave.
    pub(super) fn read(url: &str, document: &[u8]) -> Result<Self, Fault> {
        let wrong = |reason: String| Fault::NotDescribed { url: url.to_owned(), reason };
        let found: Self =
            serde_json::from_slice(document).map_err(|error| wrong(error.to_string()))?;
        let levels = found.resolution_levels.iter();
        let mut extents = levels.flat_map(|level| level.block_dimensions.iter());
        let of_elements = found.dimensions.iter().chain([&found.channels, &found.angles]);
        if extents.any(|extent| i32::try_from(*extent).map_or(true, |extent| extent < 1))
            || of_elements.into_iter().any(|count| *count == 0)
            || found.time_count() == 0
        {
            return Err(wrong("an extent in it is none".to_owned()));
        }
        Ok(found)
    }

    /// Number of timepoints.
    pub(super) fn time_count(&self) -> u64 {
        let count = |ids: &Vec<u64>| u64::try_from(ids.len()).unwrap_or(u64::MAX);
        self.timepoint_ids.as_ref().map_or(self.timepoints, count)
    }

    /// Number of the timepoint at `index`, of those that there are.
    pub(super) fn time(&self, index: u64) -> Option<u64> {
        match &self.timepoint_ids {
            Some(ids) => ids.get(usize::try_from(index).ok()?).copied(),
            None => (index < self.timepoints).then_some(index),
        }
    }

    /// Index of the timepoint `number`.
    pub(super) fn time_index(&self, number: u64) -> Option<u64> {
        match &self.timepoint_ids {
            Some(ids) => {
                let found = ids.iter().position(|id| *id == number)?;
                u64::try_from(found).ok()
            }
            None => (number < self.timepoints).then_some(number),
        }
    }

    /// The level of some factors.
    pub(super) fn level(&self, factors: [u64; 3]) -> Result<&DescribedLevel, Fault> {
        let found = self.resolution_levels.iter().find(|level| level.resolutions == factors);
        found.ok_or_else(|| {
            let text = |[x, y, z]: [u64; 3]| format!("{x}/{y}/{z}");
            let there = self.resolution_levels.iter().map(|level| text(level.resolutions));
            let there = in_words(there.collect());
            Fault::NoLevel { asked: text(factors), there }
        })
    }

    /// The version that is asked for, as paths name it; `None`: it is to be made.
    pub(super) fn version(&self, asked: VersionAsked) -> Result<Option<String>, Fault> {
        Ok(match asked {
            VersionAsked::New => None,
            VersionAsked::MixedLatest => Some("mixedLatest".to_owned()),
            VersionAsked::Latest => {
                let newest = self.versions.iter().max().ok_or(Fault::NoVersions)?;
                Some(newest.to_string())
            }
            VersionAsked::Number(number) if self.versions.contains(&number) => {
                Some(number.to_string())
            }
            VersionAsked::Number(asked) => {
                let mut there = self.versions.clone();
                there.sort_unstable();
                let there = in_words(there.iter().map(u64::to_string).collect());
                return Err(Fault::NoVersion { asked, there });
            }
        })
    }
}

/// A list for people.
fn in_words(list: Vec<String>) -> String {
    /// Most items that are said.
    const MOST: usize = 20;
    let more = list.len().saturating_sub(MOST);
    let said = list.into_iter().take(MOST).collect::<Vec<_>>().join(", ");
    match (said.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (false, 0) => said,
        (false, more) => format!("{said} and {more} more"),
    }
}
