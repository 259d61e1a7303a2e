//! Compression of a source, from the sizes of a few of its objects.

use std::time::SystemTime;

use futures::future::try_join_all;
use rechunk_grid::Region;
use rechunk_store::Role;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::open::OpenArray;

/// Objects, chunks or shards, whose size is looked up to predict encoded bytes.
const SAMPLES: u64 = 8;

/// Compression and presence of a few objects spread over a source.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// Encoded over decoded bytes.
    pub ratio: f64,
    /// Bytes that an element is expected to take, where that is looked at.
    pub item_bytes: Option<u64>,
    /// Numbers, in C order, of the objects that are there.
    pub found: Vec<u64>,
    /// Indices of those that are not.
    pub missing: Vec<Vec<u64>>,
    /// Time before they were looked at.
    pub begun_at: SystemTime,
}

/// Findings about a few objects of a source, for whoever does not want to look again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Sampled {
    /// Encoded over decoded bytes.
    pub ratio: f64,
    /// Bytes that an element is expected to take, where elements differ in length and were looked
    /// at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_bytes: Option<u64>,
    /// Numbers, in C order, of objects that were there.
    pub found: Vec<u64>,
}

/// Encoded over decoded bytes of a few objects spread over the source.
pub(crate) async fn sample_ratio(source: &OpenArray) -> Result<f64, Error> {
    if source.array.layout().codec_cost().is_raw {
        return Ok(1.0);
    }
    Ok(sample(source, false).await?.ratio)
}

/// Looks at a few objects spread over the source, where answers take long and it `is_sparing` at
/// one if that is there. Of one that is stored as it is nothing has to be known to plan: remote
/// ones are not asked then.
pub(crate) async fn sample(source: &OpenArray, is_sparing: bool) -> Result<Sample, Error> {
    let positions = spread(&source.object_grid()?.indices());
    if is_sparing && source.array.store().answers_late() && positions.len() > 1 {
        let one = sample_at(source, positions.get(positions.len() / 2).cloned()).await?;
        if one.missing.is_empty() {
            return Ok(one);
        }
    }
    sample_at(source, positions).await
}

async fn sample_at(
    source: &OpenArray,
    positions: impl IntoIterator<Item = Vec<u64>>,
) -> Result<Sample, Error> {
    let is_raw = source.array.layout().codec_cost().is_raw;
    #[expect(clippy::disallowed_methods, reason = "a source that is written later is refused")]
    let begun_at = SystemTime::now();
    let mut sample =
        Sample { ratio: 1.0, item_bytes: None, found: Vec::new(), missing: Vec::new(), begun_at };
    let is_asked = source.array.has_whole_objects() && !source.array.store().answers_late();
    if is_raw && !is_asked {
        return Ok(sample);
    }
    let grid = source.object_grid()?;
    let store = source.array.store().with_role(Role::Control);
    let sizes = positions.into_iter().map(|index| {
        let store = &store;
        async move {
            let key = source.array.layout().object_key(&index);
            let size = store.head(&key).await;
            let size = size.map_err(|error| Error::source_store(&source.location, error))?;
            Ok::<_, Error>((index, size))
        }
    });
    let (mut bytes, mut elements) = (0_u64, 0_u64);
    for (index, size) in try_join_all(sizes).await? {
        match size {
            Some(size) => {
                bytes = bytes.saturating_add(size);
                elements = elements.saturating_add(grid.chunk(&index).elements());
                sample.found.push(grid.indices().ordinal(&index));
            }
            None => sample.missing.push(index),
        }
    }
    if is_raw {
        return Ok(sample);
    }
    let decoded_bytes = elements.saturating_mul(source.spec().item_bytes());
    // Nothing is known of the decoded size of elements of variable length.
    let most = if source.spec().data_type.is_variable() { f64::MAX } else { 1.5 };
    sample.ratio = match decoded_bytes {
        0 => 0.5,
        decoded_bytes => (bytes as f64 / decoded_bytes as f64).min(most),
    };
    Ok(sample)
}

/// Positions of `grid`: all if they are few, else as many as [`SAMPLES`], of which each lies in
/// another equal part of every axis. What is stored often changes along one axis (a Latin
/// hypercube; McKay, Beckman and Conover, 1979).
pub(crate) fn spread(grid: &Region) -> Vec<Vec<u64>> {
    if grid.elements() <= SAMPLES {
        return grid.positions().collect();
    }
    // Odd numbers have no factor in common with a power of two: each takes every part once.
    let strides = (0..SAMPLES / 2).map(|number| 2 * number + 1).cycle();
    let strides: Vec<u64> = strides.take(grid.rank()).collect();
    let part_of = |sample: u64, stride: u64| (sample * stride + stride / 2) % SAMPLES;
    (0..SAMPLES)
        .map(|sample| {
            let axes = strides.iter().zip(&grid.shape);
            let middle = |(&stride, &extent): (&u64, &u64)| {
                let parts = 2 * u128::from(part_of(sample, stride)) + 1;
                let at = u128::from(extent) * parts / u128::from(2 * SAMPLES);
                u64::try_from(at).unwrap_or(0)
            };
            axes.map(middle).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: &[u64]) -> Vec<Vec<u64>> {
        spread(&Region::new(vec![0; shape.len()], shape.to_vec()))
    }

    #[test]
    fn samples_differ_on_every_axis() {
        // Every eightieth of the first grid, in C order, begins a plane.
        for shape in [&[8, 8, 10][..], &[64, 64], &[u64::MAX], &[16, 16, 16, 16, 9]] {
            let found = of(shape);
            assert_eq!(found.len(), 8, "{shape:?}");
            for (axis, &extent) in shape.iter().enumerate() {
                let mut at: Vec<u64> = found.iter().map(|position| position[axis]).collect();
                at.sort_unstable();
                at.dedup();
                assert!(at.len() == 8 && at[7] < extent, "axis {axis} of {shape:?}: {found:?}");
            }
        }
    }

    #[test]
    fn small_grids_are_looked_at_as_a_whole() {
        for (shape, count) in [(&[1][..], 1), (&[2, 4], 8), (&[2, 1, 3], 6), (&[], 1), (&[4, 0], 0)]
        {
            assert_eq!(of(shape).len(), count, "{shape:?}");
        }
        assert_eq!(of(&[3, 3]).len(), 8, "not all, and some may be there twice");
    }
}
