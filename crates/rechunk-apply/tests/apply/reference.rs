//! Chunk-wise apply as slow and obvious as can be: one voxel after the other, exact fractions,
//! every work chunk looked at. Shares no code with the crate but the names of settings.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rechunk_apply::{
    Accumulator, ApplyPlan, ApplySpec, BlockView, BottomTile, BoxSpec, LevelSpec, Mode, OpOutput,
    Round, TaskOutput, run_task,
};
use rechunk_grid::{DataType, Region};

/// A fraction that is kept in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fraction(pub(crate) i128, pub(crate) i128);

fn divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { divisor(b, a % b) }
}

impl Fraction {
    pub(crate) fn new(over: i128, under: i128) -> Self {
        let common = divisor(over, under).max(1);
        Self(over / common, under / common)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self::new(self.0 * other.1 + other.0 * self.1, self.1 * other.1)
    }

    pub(crate) fn times(self, other: Self) -> Self {
        Self::new(self.0 * other.0, self.1 * other.1)
    }

    pub(crate) fn larger(self, other: Self) -> Self {
        if self.0 * other.1 >= other.0 * self.1 { self } else { other }
    }

    /// Half to even.
    pub(crate) fn rounded(self) -> Self {
        let floor = self.0.div_euclid(self.1);
        let twice = 2 * (self.0 - floor * self.1);
        let up = twice > self.1 || twice == self.1 && floor % 2 != 0;
        Self(floor + i128::from(up), 1)
    }
}

/// One level: as in a spec, bottom first.
pub(crate) struct Reference {
    pub(crate) levels: Vec<LevelSpec>,
    pub(crate) region: Vec<(i64, i64)>,
    pub(crate) gap: Vec<i64>,
    pub(crate) round: Round,
    /// Value of the operation: start of the padded box, then the voxel.
    pub(crate) op: fn(&[i64], &[i64]) -> i128,
}

/// A value that depends on the box and on the voxel.
pub(crate) fn mixed(start: &[i64], voxel: &[i64]) -> i128 {
    let mut hash: u64 = 0x9e37_79b9_7f4a_7c15;
    for number in start.iter().chain(voxel) {
        hash ^= number.cast_unsigned();
        hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash ^= hash >> 29;
    }
    i128::from(hash >> 3)
}

pub(crate) fn at(pads: &[u64], axis: usize) -> i64 {
    pads.get(axis).map_or(0, |&pad| i64::try_from(pad).unwrap())
}

/// Work chunks of an axis: task box, and whether it lies at the start and at the end.
fn tiles(region: (i64, i64), chunk: i64, gap: i64, blend: i64) -> Vec<(i64, i64, bool, bool)> {
    let mut found = Vec::new();
    let mut start = region.0;
    while start < region.1 {
        let end = (start + chunk).min(region.1);
        let is_last = start + chunk + gap >= region.1;
        found.push((start - blend, end + blend, start == region.0, is_last));
        start += chunk + gap;
    }
    found
}

fn ramp(mode: Mode, k: i64, blend: i64) -> Fraction {
    let odd = i128::from(2 * blend + 1);
    let k = i128::from(k);
    match mode {
        Mode::Linear => Fraction::new(k, odd),
        Mode::Quadratic if k <= i128::from(blend) => Fraction::new(2 * k * k, odd * odd),
        Mode::Quadratic => Fraction::new(odd * odd - 2 * (odd - k) * (odd - k), odd * odd),
        _ => unreachable!("the reference knows exact weights only"),
    }
}

/// Every combination of one entry per axis.
fn combinations<T: Copy>(axes: &[Vec<T>]) -> Vec<Vec<T>> {
    axes.iter().fold(vec![Vec::new()], |all, axis| {
        all.iter()
            .flat_map(|head| {
                axis.iter().map(|&one| {
                    let mut next = head.clone();
                    next.push(one);
                    next
                })
            })
            .collect()
    })
}

impl Reference {
    /// Value of a voxel of the target; `None` in a gap.
    pub(crate) fn value(&self, voxel: &[i64]) -> Option<Fraction> {
        let top = self.levels.len() - 1;
        self.combined(top, &self.region, &self.gap, voxel)
    }

    /// Value at `voxel` of the work chunks of `level` over `region`.
    fn combined(
        &self,
        level: usize,
        region: &[(i64, i64)],
        gap: &[i64],
        voxel: &[i64],
    ) -> Option<Fraction> {
        let of = &self.levels[level];
        let axes: Vec<Vec<_>> = (0..voxel.len())
            .map(|axis| {
                let chunk = i64::try_from(of.chunk[axis]).unwrap();
                tiles(region[axis], chunk, gap[axis], at(&of.blend, axis))
                    .into_iter()
                    .filter(|tile| tile.0 <= voxel[axis] && voxel[axis] < tile.1)
                    .collect()
            })
            .collect();
        let mut sum: Option<Fraction> = None;
        let contributors = combinations(&axes);
        for tile in contributors {
            let task: Vec<(i64, i64)> = tile.iter().map(|axis| (axis.0, axis.1)).collect();
            let value = self.task(level, &task, voxel);
            let mut weight = Fraction(1, 1);
            if of.mode != Mode::Max {
                for (axis, &(start, end, is_first, is_last)) in tile.iter().enumerate() {
                    let blend = at(&of.blend, axis);
                    let (low, high) = (voxel[axis] - start + 1, end - voxel[axis]);
                    if !is_first && low <= 2 * blend {
                        weight = weight.times(ramp(of.mode, low, blend));
                    } else if !is_last && high <= 2 * blend {
                        weight = weight.times(ramp(of.mode, high, blend));
                    }
                }
            }
            let value = value.times(weight);
            sum = Some(match sum {
                None => value,
                Some(sum) if of.mode == Mode::Max => sum.larger(value),
                Some(sum) => sum.plus(value),
            });
        }
        let is_top = level + 1 == self.levels.len();
        sum.map(|sum| if self.round == Round::Level || is_top { sum.rounded() } else { sum })
    }

    /// Value at `voxel` of a task box of `level`.
    fn task(&self, level: usize, task: &[(i64, i64)], voxel: &[i64]) -> Fraction {
        let grown = |pads: &[u64]| -> Vec<(i64, i64)> {
            let axes = task.iter().enumerate();
            axes.map(|(axis, span)| (span.0 - at(pads, axis), span.1 + at(pads, axis))).collect()
        };
        let Some(below) = level.checked_sub(1) else {
            let start: Vec<i64> = grown(&self.levels[0].crop).iter().map(|span| span.0).collect();
            return Fraction((self.op)(&start, voxel), 1);
        };
        let region = grown(&self.levels[level].crop);
        let gap = vec![0; voxel.len()];
        self.combined(below, &region, &gap, voxel).unwrap()
    }
}

/// Reference of a plan.
pub(crate) fn reference(plan: &ApplyPlan, op: fn(&[i64], &[i64]) -> i128) -> Reference {
    let levels = plan.levels().iter().map(|level| LevelSpec {
        chunk: level.chunk.clone(),
        crop: level.crop.clone(),
        blend: level.blend.clone(),
        mode: level.mode,
    });
    Reference {
        levels: levels.collect(),
        region: plan.region().axes.iter().map(|span| (span.start, span.end)).collect(),
        gap: plan.gap().iter().map(|&gap| i64::try_from(gap).unwrap()).collect(),
        round: plan.round(),
        op,
    }
}

/// A value of an integer type as bytes, cut to its bits.
pub(crate) fn encoded(data_type: DataType, value: i128) -> Vec<u8> {
    let bytes = usize::try_from(data_type.item_bytes()).unwrap();
    let value = if data_type == DataType::Bool { value & 1 } else { value };
    let all = value.to_ne_bytes();
    if cfg!(target_endian = "little") { all[..bytes].to_vec() } else { all[16 - bytes..].to_vec() }
}

/// A value of an integer type.
pub(crate) fn decoded(data_type: DataType, bytes: &[u8]) -> i128 {
    macro_rules! read {
        ($type:ty) => {
            <$type>::from_ne_bytes(bytes.try_into().unwrap()).into()
        };
    }
    match data_type {
        DataType::Bool | DataType::Uint8 => read!(u8),
        DataType::Uint16 => read!(u16),
        DataType::Uint32 => read!(u32),
        DataType::Uint64 => read!(u64),
        DataType::Int8 => read!(i8),
        DataType::Int16 => read!(i16),
        DataType::Int32 => read!(i32),
        DataType::Int64 => read!(i64),
        _ => unreachable!("integers only"),
    }
}

/// The operation over a padded box: `op` cut to the type.
pub(crate) fn op_bytes(
    data_type: DataType,
    tile: &BottomTile,
    op: fn(&[i64], &[i64]) -> i128,
) -> Vec<u8> {
    let start: Vec<i64> = tile.padded.axes.iter().map(|span| span.start).collect();
    let mut bytes = Vec::new();
    for offset in Region::whole(&tile.padded.shape()).positions() {
        let voxel: Vec<i64> = start
            .iter()
            .zip(&offset)
            .map(|(start, &offset)| start + i64::try_from(offset).unwrap())
            .collect();
        bytes.extend(encoded(data_type, op(&start, &voxel)));
    }
    bytes
}

/// Runs a plan in memory, tasks in the order of `order`; gives values by position in `kept`, and
/// how often the operation was called. `None` where nothing was written.
pub(crate) fn run(
    plan: &ApplyPlan,
    op: fn(&[i64], &[i64]) -> i128,
    is_reversed: bool,
) -> (BTreeMap<Vec<i64>, Vec<u8>>, u64, u64) {
    let data_type = plan.data_type();
    let (mut calls, mut elements) = (0, 0);
    let mut blocks = BTreeMap::new();
    let mut ordinals: Vec<u64> = (0..plan.task_count()).collect();
    if is_reversed {
        ordinals.reverse();
    }
    let fill = encoded(data_type, 0);
    for ordinal in ordinals {
        let output = run_task(plan, ordinal, &fill, &mut |tile| {
            calls += 1;
            elements += u64::try_from(tile.padded.elements()).unwrap();
            Ok::<_, ()>(OpOutput::Padded(op_bytes(data_type, tile, op)))
        });
        let TaskOutput::Block { bytes, covered } = output.unwrap() else { panic!("skipped") };
        assert_eq!(covered, None);
        blocks.insert(ordinal, bytes);
    }
    let mut written = BTreeMap::new();
    let mut write = |bounds: &rechunk_apply::VoxelBox, bytes: &[u8], mask: &[bool]| {
        let item = usize::try_from(data_type.item_bytes()).unwrap();
        let voxels = Region::whole(&bounds.shape());
        for ((offset, bytes), _) in
            voxels.positions().zip(bytes.chunks(item)).zip(mask).filter(|(_, is_set)| **is_set)
        {
            let voxel: Vec<i64> = bounds
                .axes
                .iter()
                .zip(&offset)
                .map(|(span, &offset)| span.start + i64::try_from(offset).unwrap())
                .collect();
            assert!(written.insert(voxel, bytes.to_vec()).is_none(), "written twice");
        }
    };
    if plan.way() == rechunk_apply::Way::Direct {
        for (&ordinal, bytes) in &blocks {
            let keep = plan.task(ordinal).keep;
            let mask = vec![true; usize::try_from(keep.elements()).unwrap()];
            write(&keep, bytes, &mask);
        }
        return (written, calls, elements);
    }
    for number in 0..plan.reduction_count() {
        let region = plan.reduction(number);
        let mut ordinals: Vec<u64> = plan.contributors(&region).ordinals().collect();
        if is_reversed {
            ordinals.reverse();
        }
        let (mut results, mut states) = (Vec::new(), Vec::new());
        // Twice over different backgrounds: voxels that differ were not written.
        for background in [0_u8, 0xff] {
            let mut sum = Accumulator::new(&plan.pull_combine(), &region).unwrap();
            for &ordinal in &ordinals {
                let task = plan.task(ordinal);
                let block = BlockView { bounds: &task.keep, bytes: &blocks[&ordinal] };
                sum.add(ordinal, block, &plan.task_weights(&task)).unwrap();
            }
            let bytes = region.elements() * u128::from(data_type.item_bytes());
            let mut out = vec![background; usize::try_from(bytes).unwrap()];
            states.push(sum.finish(&mut out).unwrap());
            results.push(out);
        }
        assert_eq!(states[0], states[1]);
        let item = usize::try_from(data_type.item_bytes()).unwrap();
        let both = results[0].chunks(item).zip(results[1].chunks(item));
        let mask: Vec<bool> = both.map(|(one, two)| one == two).collect();
        write(&region, &results[0], &mask);
    }
    (written, calls, elements)
}

/// Modes with exact weights, and the largest.
fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Linear), Just(Mode::Quadratic), Just(Mode::Max)]
}

/// One axis of a job: work chunks, crops and blends, bottom first, and where the box is.
#[derive(Debug, Clone)]
pub(crate) struct AxisSpec {
    pub(crate) chunks: Vec<u64>,
    pub(crate) crops: Vec<u64>,
    pub(crate) blends: Vec<u64>,
    pub(crate) length: u64,
    pub(crate) gap: u64,
    pub(crate) array_chunk: u64,
    pub(crate) start: u64,
    pub(crate) behind: u64,
    pub(crate) reduce: u64,
}

fn axis(levels: usize) -> impl Strategy<Value = AxisSpec> {
    let level = (1_u64..5, 0_u64..3, 0_u64..3);
    (
        prop::collection::vec(level, levels),
        (1_u64..4, 0_u64..9, 0_u64..2),
        (1_u64..7, 0_u64..6, 0_u64..4),
        0_u64..6,
    )
        .prop_map(move |(found, (count, cut, gap), (array_chunk, start, behind), reduce)| {
            let (mut chunks, mut crops, mut blends) = (Vec::new(), Vec::new(), Vec::new());
            for &(chunk, crop, blend) in &found {
                let pads = 2 * (crop + blend);
                // Above the bottom: with its pads a multiple of the chunk below.
                let below: Option<u64> = chunks.last().copied();
                let chunk = match below {
                    None => (chunk + 1).max(2 * blend),
                    Some(below) => {
                        let least = (chunk * below).max(2 * blend).max(1);
                        (least + pads).div_ceil(below) * below - pads
                    }
                };
                chunks.push(chunk);
                crops.push(crop);
                blends.push(blend);
            }
            let (top, gap) = (chunks[levels - 1], gap * 2);
            let whole = count * (top + gap) - gap;
            let length = if levels == 1 { (whole - cut.min(whole - 1)).max(1) } else { whole };
            AxisSpec {
                chunks,
                crops,
                blends,
                length,
                gap,
                array_chunk,
                start,
                behind,
                reduce: top.max(array_chunk) + reduce,
            }
        })
}

/// A job of one or two axes and up to three levels that can be prepared.
pub(crate) fn jobs(data_type: DataType) -> impl Strategy<Value = ApplySpec> {
    (1_usize..=2, 1_usize..=3)
        .prop_flat_map(move |(rank, levels)| {
            let levels = if rank == 2 { levels.min(2) } else { levels };
            (
                prop::collection::vec(axis(levels), rank),
                prop::collection::vec(modes(), levels),
                any::<bool>(),
                any::<bool>(),
            )
        })
        .prop_map(move |(axes, modes, at_end, has_reduce)| {
            let of = |field: fn(&AxisSpec) -> u64| axes.iter().map(field).collect::<Vec<_>>();
            let shape: Vec<u64> =
                axes.iter().map(|axis| axis.start + axis.length + axis.behind).collect();
            let levels = (0..modes.len()).rev().map(|level| LevelSpec {
                chunk: axes.iter().map(|axis| axis.chunks[level]).collect(),
                crop: axes.iter().map(|axis| axis.crops[level]).collect(),
                blend: axes.iter().map(|axis| axis.blends[level]).collect(),
                mode: modes[level],
            });
            let chunk = of(|axis| axis.array_chunk);
            let mut spec = ApplySpec::new(&shape, &chunk, data_type, levels.collect());
            // A gap and a blend of the top level exclude each other: the blend becomes a crop.
            if axes.iter().any(|axis| axis.gap > 0) {
                spec.gap = of(|axis| axis.gap);
                let top = &mut spec.levels[0];
                for (crop, blend) in top.crop.iter_mut().zip(&mut top.blend) {
                    *crop += std::mem::take(blend);
                }
            }
            let region = axes.iter().map(|axis| {
                let start = i64::try_from(axis.start).unwrap();
                (start, start + i64::try_from(axis.length).unwrap())
            });
            spec.region = BoxSpec::voxels(region);
            spec.round = if at_end { Round::End } else { Round::Level };
            if has_reduce {
                spec.reduce_max = Some(of(|axis| axis.reduce));
            }
            spec
        })
}
