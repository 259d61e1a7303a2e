//! The right results of an apply: dense, one voxel after the other, by the specification.
//! Shares no code with the library.

use std::collections::BTreeSet;

use rechunk::{Boundary, Expand, MissingChunks, Mode, Round};

use super::case::{Case, Level};
use super::volume::{Kind, Volume, positions};

/// Start and end along an axis.
pub(super) type Span = (i64, i64);

/// An operation, computed here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Op {
    Identity,
    Gaussian(f64),
    Median(i64),
    /// True from this value on.
    Threshold(f64),
    /// The first source where the second is not 0, else 7.
    Mask,
}

impl Op {
    /// As users write it.
    pub(super) fn text(self) -> String {
        match self {
            Self::Identity => "identity".to_owned(),
            Self::Gaussian(sigma) => format!("gaussian:sigma={sigma}"),
            Self::Median(size) => format!("median:size={size}"),
            Self::Threshold(least) => format!("threshold:min={least}"),
            Self::Mask => "mask:fill=7".to_owned(),
        }
    }

    /// Voxels around each one that it looks at.
    #[expect(clippy::cast_possible_truncation, reason = "a few voxels")]
    pub(super) fn halo(self) -> i64 {
        match self {
            Self::Gaussian(sigma) => (4.0 * sigma + 0.5) as i64,
            Self::Median(size) => size / 2,
            Self::Identity | Self::Threshold(_) | Self::Mask => 0,
        }
    }

    /// Type of its results.
    pub(super) fn kind(self, source: Kind) -> Kind {
        if let Self::Threshold(_) = self { Kind::Bool } else { source }
    }
}

/// Position in an array that stands for one beyond it; walks there step by step.
fn inside(rule: Boundary, mut at: i64, extent: i64) -> Option<i64> {
    while !(0..extent).contains(&at) {
        at = match rule {
            Boundary::Constant => return None,
            Boundary::Nearest => at.clamp(0, extent - 1),
            Boundary::Symmetric if at < 0 => -1 - at,
            Boundary::Symmetric => 2 * extent - 1 - at,
            Boundary::Reflect if extent == 1 => 0,
            Boundary::Reflect if at < 0 => -at,
            Boundary::Reflect => 2 * (extent - 1) - at,
            Boundary::Wrap if at < 0 => at + extent,
            Boundary::Wrap => at - extent,
        };
    }
    Some(at)
}

fn grown(bounds: &[Span], pads: &[i64]) -> Vec<Span> {
    bounds.iter().zip(pads).map(|(span, pad)| (span.0 - pad, span.1 + pad)).collect()
}

/// Weight of voxel `k` of a ramp, from 1, of a task box of `size` voxels.
fn weight(mode: Mode, k: i64, blend: i64, size: i64) -> f64 {
    let float = |number: i64| f64::from(i32::try_from(number).unwrap());
    let (step, half) = (float(k), float(blend) + 0.5);
    match mode {
        Mode::Linear => step / (2.0 * half),
        Mode::Quadratic if k <= blend => (step / half).powi(2) / 2.0,
        Mode::Quadratic => 1.0 - (2.0 - step / half).powi(2) / 2.0,
        Mode::Bump => {
            let bump = |index: i64| {
                let t = 2.0 * float(index + 1) / float(size + 1) - 1.0;
                (-1.0 / (1.0 - t * t)).exp()
            };
            bump(k - 1) / (bump(k - 1) + bump(k - 1 + size - 2 * blend))
        }
        Mode::Max | Mode::Defer => 1.0,
    }
}

/// A work chunk of an axis: its task box, and whether it is the first and the last.
type Tile = (Span, bool, bool);

fn tiles(region: Span, level: (i64, i64), gap: i64) -> Vec<Tile> {
    let ((chunk, blend), mut start, mut found) = (level, region.0, Vec::new());
    while start < region.1 {
        let end = (start + chunk).min(region.1);
        let is_last = start + chunk + gap >= region.1;
        found.push(((start - blend, end + blend), start == region.0, is_last));
        start += chunk + gap;
    }
    found
}

/// Every choice of one entry of each axis.
fn choices<T: Copy>(axes: &[Vec<T>]) -> impl Iterator<Item = Vec<T>> {
    let counts = axes.iter().map(|axis| i64::try_from(axis.len()).unwrap());
    let chosen = |(axis, at): (&Vec<T>, i64)| axis[usize::try_from(at).unwrap()];
    positions(&counts.collect::<Vec<_>>())
        .map(move |choice| axes.iter().zip(choice).map(chosen).collect())
}

impl Case {
    /// The box that was asked for.
    fn asked(&self) -> Vec<Span> {
        let whole = || self.sources[0].shape.iter().map(|&extent| (0, extent)).collect();
        self.region.clone().unwrap_or_else(whole)
    }

    /// The box that is worked on.
    pub(super) fn worked_on(&self) -> Vec<Span> {
        let top = self.levels.last().unwrap();
        let mut region = self.asked();
        for (axis, span) in region.iter_mut().enumerate() {
            let (commit, chunk, gap) = (self.commit[axis], top.work[axis], self.gap_of(axis));
            if matches!(self.expand, Expand::ArrayChunk | Expand::Both) {
                *span = (span.0 / commit * commit, (span.1 + commit - 1) / commit * commit);
            }
            if matches!(self.expand, Expand::Work | Expand::Both) {
                span.1 += (chunk - (span.1 - span.0)).rem_euclid(chunk + gap);
            }
        }
        region
    }

    /// The box whose results are written.
    fn kept(&self) -> Vec<Span> {
        let kept = if self.clip { self.asked() } else { self.worked_on() };
        let axes = kept.iter().zip(&self.sources[0].shape);
        axes.map(|(span, &extent)| (span.0.max(0), span.1.min(extent))).collect()
    }

    fn gap_of(&self, axis: usize) -> i64 {
        self.gap.get(axis).copied().unwrap_or(0)
    }

    /// All elements of the target, C order.
    pub(super) fn expected(&self) -> Vec<f64> {
        let shape = &self.sources[0].shape;
        let fill = self.target_fill();
        self.expected_over(&positions(shape).map(|_| fill).collect::<Vec<_>>())
    }

    /// All elements of the target, C order, where nothing is written as they are in `before`.
    pub(super) fn expected_over(&self, before: &[f64]) -> Vec<f64> {
        let (region, kept) = (self.worked_on(), self.kept());
        let gap: Vec<i64> = (0..region.len()).map(|axis| self.gap_of(axis)).collect();
        let value = |(voxel, &before): (Vec<i64>, &f64)| {
            if !kept.iter().zip(&voxel).all(|(span, at)| (span.0..span.1).contains(at)) {
                return before;
            }
            self.combined(self.levels.len() - 1, &region, &gap, &voxel).unwrap_or(before)
        };
        positions(&self.sources[0].shape).zip(before).map(value).collect()
    }

    /// Value of voxels that nothing is written to: the fill value of the source, if results have
    /// it.
    fn target_fill(&self) -> f64 {
        if let Op::Threshold(_) = self.op { 0.0 } else { self.sources[0].fill }
    }

    /// Blocks of the top level uncombined: position of the first voxel, shape and elements of the
    /// array whose first axis tells layers apart.
    pub(super) fn left(&self) -> (Vec<i64>, Vec<u64>, Vec<f64>) {
        let (region, top) = (self.worked_on(), self.levels.last().unwrap());
        let rank = region.len();
        let gap: Vec<i64> = (0..rank).map(|axis| self.gap_of(axis)).collect();
        let tiles = self.tiles(self.levels.len() - 1, &region, &gap);
        let is_layered = |axis: usize| top.blend_of(axis) > 0 && tiles[axis].len() > 1;
        let layered: Vec<usize> = (0..rank).filter(|&axis| is_layered(axis)).collect();
        let whole = grown(&region, &(0..rank).map(|axis| top.blend_of(axis)).collect::<Vec<_>>());
        let layers = vec![2; layered.len()];
        let extents: Vec<i64> = whole.iter().map(|span| span.1 - span.0).collect();
        let mut elements = Vec::new();
        for layer in positions(&layers) {
            for at in positions(&extents) {
                let voxel: Vec<i64> = at.iter().zip(&whole).map(|(at, span)| at + span.0).collect();
                let mut found = tiles.clone();
                for (axis, tiles) in found.iter_mut().enumerate() {
                    let parity = layered.iter().position(|&other| other == axis);
                    let mut number = -1;
                    tiles.retain(|tile| {
                        number += 1;
                        parity.is_none_or(|parity| number % 2 == layer[parity])
                            && (tile.0.0..tile.0.1).contains(&voxel[axis])
                    });
                }
                let block = choices(&found).next();
                let task = block.map(|tiles| tiles.iter().map(|tile| tile.0).collect::<Vec<_>>());
                let value = task.and_then(|task| self.task(self.levels.len() - 1, &task, &voxel));
                elements.push(value.unwrap_or_else(|| self.target_fill()));
            }
        }
        let shape = std::iter::once(layers.iter().product::<i64>()).chain(extents);
        let shape = shape.map(|extent| u64::try_from(extent).unwrap()).collect();
        (whole.iter().map(|span| span.0).collect(), shape, elements)
    }

    /// Calls of the operation: for work chunks that give something to what is kept.
    pub(super) fn calls(&self) -> u64 {
        let region = self.worked_on();
        let gap: Vec<i64> = (0..region.len()).map(|axis| self.gap_of(axis)).collect();
        self.calls_of(self.levels.len() - 1, &region, &gap, &self.kept())
    }

    fn calls_of(&self, level: usize, region: &[Span], gap: &[i64], wanted: &[Span]) -> u64 {
        let axes = self.tiles(level, region, gap);
        let calls = choices(&axes).map(|tiles| {
            let task: Vec<Span> = tiles.iter().map(|tile| tile.0).collect();
            let axes = task.iter().zip(wanted);
            let wanted: Vec<Span> =
                axes.map(|(task, wanted)| (task.0.max(wanted.0), task.1.min(wanted.1))).collect();
            if wanted.iter().any(|span| span.0 >= span.1) {
                return 0;
            }
            let Some(below) = level.checked_sub(1) else { return 1 };
            let region = grown(&task, &self.levels[level].crop_for(self));
            self.calls_of(below, &region, &vec![0; gap.len()], &wanted)
        });
        calls.sum()
    }

    /// Work chunks of `level` over `region`, along each axis.
    fn tiles(&self, level: usize, region: &[Span], gap: &[i64]) -> Vec<Vec<Tile>> {
        let of = &self.levels[level];
        let axes = region.iter().enumerate();
        axes.map(|(axis, &span)| tiles(span, (of.work[axis], of.blend_of(axis)), gap[axis]))
            .collect()
    }

    /// Value at `voxel` of the task boxes of `level` over `region`; `None` where there is none.
    fn combined(&self, level: usize, region: &[Span], gap: &[i64], voxel: &[i64]) -> Option<f64> {
        let of = &self.levels[level];
        let (mut sum, mut weights, mut largest) = (0.0, 0.0, None::<f64>);
        let mut axes = self.tiles(level, region, gap);
        for (tiles, at) in axes.iter_mut().zip(voxel) {
            tiles.retain(|tile| (tile.0.0..tile.0.1).contains(at));
        }
        for tiles in choices(&axes) {
            let task: Vec<Span> = tiles.iter().map(|tile| tile.0).collect();
            let Some(value) = self.task(level, &task, voxel) else { continue };
            let mut own = 1.0;
            for (axis, &((start, end), is_first, is_last)) in tiles.iter().enumerate() {
                let (blend, size) = (of.blend_of(axis), of.work[axis] + 2 * of.blend_of(axis));
                let (low, high) = (voxel[axis] - start + 1, end - voxel[axis]);
                if !is_first && low <= 2 * blend {
                    own *= weight(of.mode, low, blend, size);
                } else if !is_last && high <= 2 * blend {
                    own *= weight(of.mode, high, blend, size);
                }
            }
            (sum, weights) = (sum + own * value, weights + own);
            largest = Some(largest.map_or(value, |largest| largest.max(value)));
        }
        let largest = largest?;
        let value = if of.mode == Mode::Max { largest } else { sum / weights };
        let is_top = level + 1 == self.levels.len();
        let rounds = self.round == Round::Level || is_top;
        Some(if rounds { self.kind().rounded(value) } else { value })
    }

    fn task(&self, level: usize, task: &[Span], voxel: &[i64]) -> Option<f64> {
        let region = grown(task, &self.levels[level].crop_for(self));
        match level.checked_sub(1) {
            Some(below) => self.combined(below, &region, &vec![0; voxel.len()], voxel),
            None if self.is_skipped(&region) => None,
            None => Some(self.kind().rounded(self.call(&region, voxel))),
        }
    }

    /// True if the operation is not called for the box that it would read.
    fn is_skipped(&self, read: &[Span]) -> bool {
        let (mut found, mut missing) = (0, 0);
        for source in &self.sources {
            let axes = read.iter().zip(source.shape.iter().zip(&source.chunk));
            let axes = axes.map(|(span, (&extent, chunk))| {
                let found = (span.0..span.1).filter_map(|at| inside(self.boundary, at, extent));
                let met: BTreeSet<i64> = found.map(|at| at / chunk).collect();
                met.into_iter().collect::<Vec<i64>>()
            });
            let chunks: Vec<Vec<i64>> = choices(&axes.collect::<Vec<_>>()).collect();
            let lost = chunks.iter().filter(|index| source.is_missing(index)).count();
            (found, missing) = (found + chunks.len() - lost, missing + lost);
        }
        match self.missing {
            MissingChunks::SkipIfAny => missing > 0,
            MissingChunks::SkipIfAll => found == 0,
            _ => false,
        }
    }

    /// The element of a source for any position.
    fn read(&self, source: &Volume, voxel: &[i64]) -> f64 {
        let axes = voxel.iter().zip(&source.shape);
        let at: Option<Vec<i64>> =
            axes.map(|(&at, &extent)| inside(self.boundary, at, extent)).collect();
        let beyond = self.constant.unwrap_or(source.fill);
        at.map_or(beyond, |at| source.kind.rounded(source.value(&at)))
    }

    /// The result of one call, which sees the box `read`: beyond it, its nearest voxels.
    fn call(&self, read: &[Span], voxel: &[i64]) -> f64 {
        let source = &self.sources[0];
        let halo = self.op.halo();
        let near = |offset: &[i64]| {
            let axes = voxel.iter().zip(offset).zip(read);
            let at: Vec<i64> = axes
                .map(|((at, offset), span)| (at + offset - halo).clamp(span.0, span.1 - 1))
                .collect();
            self.read(source, &at)
        };
        let window = || positions(&vec![2 * halo + 1; voxel.len()]);
        match self.op {
            Op::Threshold(least) => f64::from(u8::from(self.read(source, voxel) >= least)),
            Op::Mask if self.read(&self.sources[1], voxel) == 0.0 => 7.0,
            Op::Identity | Op::Mask => self.read(source, voxel),
            Op::Median(_) => {
                let mut values: Vec<f64> = window().map(|at| near(&at)).collect();
                values.sort_by(f64::total_cmp);
                values[values.len() / 2]
            }
            Op::Gaussian(sigma) => {
                let bell = |at: i64| {
                    let distance = f64::from(i32::try_from(at - halo).unwrap());
                    (-0.5 * (distance / sigma).powi(2)).exp()
                };
                let norm: f64 = (0..=2 * halo).map(bell).sum();
                let weight = |at: &[i64]| at.iter().map(|&at| bell(at) / norm).product::<f64>();
                window().map(|at| weight(&at) * near(&at)).sum()
            }
        }
    }
}

impl Level {
    fn blend_of(&self, axis: usize) -> i64 {
        self.blend.get(axis).copied().unwrap_or(0)
    }

    /// Its crop along each axis.
    fn crop_for(&self, case: &Case) -> Vec<i64> {
        let rank = self.work.len();
        match &self.crop {
            Some(crop) => (0..rank).map(|axis| crop.get(axis).copied().unwrap_or(0)).collect(),
            None => vec![case.op.halo(); rank],
        }
    }
}
