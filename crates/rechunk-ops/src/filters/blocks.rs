//! Filters that work axis by axis, on blocks that stay in the cache.
//!
//! A box is cut along the first axis that is filtered into blocks of some planes. A block is
//! filtered along that axis from the input, then along the later axes in place, and stored. Along
//! each axis, strips of neighbouring lines are copied with their surroundings and filtered there:
//! inner loops run over contiguous elements, whatever the axis.

use std::ops::Range;

use bytemuck::Pod;

/// A filter along one axis.
pub(super) trait LineFilter<C> {
    /// Elements before and after a position that its result depends on.
    fn reach(&self) -> usize;

    /// Filters `width` lines that lie side by side. `padded` has `reach` rows more than `result` on
    /// both sides, `width` elements each, and may be overwritten.
    fn apply(&self, padded: &mut [C], width: usize, result: &mut [C]);
}

/// Filters of the axes; `None` leaves an axis as it is.
pub(super) type Chain<F> = Vec<Option<F>>;

/// Bytes of a block, about: it is filtered along all axes while it is in the second cache.
const BLOCK_BYTES: usize = 1 << 20;
/// Bytes of a strip with its surroundings, about: it stays in the first cache.
const STRIP_BYTES: usize = 24 << 10;
/// Lines of a strip at least.
const STRIP_LINES_MIN: usize = 32;

/// A box to be filtered.
#[derive(Debug)]
pub(super) struct Filtered<'a, T, F> {
    /// Elements of the box.
    pub(super) input: &'a [T],
    /// Extents of the box: one or more.
    pub(super) shape: &'a [usize],
    /// Part of the box to be computed.
    pub(super) keep: &'a [Range<usize>],
    /// One or more chains of filters, each applied to the input.
    pub(super) chains: &'a [Chain<F>],
}

/// Sizes that a box is worked on in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sizes {
    /// First axis that is filtered.
    lead: usize,
    /// Planes of a block.
    planes: usize,
    /// Elements of a plane.
    slab: usize,
    /// Elements of the largest strip.
    strip: usize,
}

/// Elements before and after that chains depend on, along each axis.
fn reaches<C, F: LineFilter<C>>(chains: &[Chain<F>], rank: usize) -> Vec<usize> {
    let reach = |axis: usize| {
        let filters = chains.iter().filter_map(|chain| chain.get(axis)?.as_ref());
        filters.map(LineFilter::reach).max().unwrap_or(0)
    };
    (0..rank).map(reach).collect()
}

impl Sizes {
    fn new(shape: &[usize], reaches: &[usize], item_bytes: usize) -> Self {
        let lead = reaches.iter().position(|&reach| reach > 0).unwrap_or(0);
        let slab: usize = shape[lead + 1..].iter().product();
        let at_least = reaches[lead].max(4);
        let planes = (BLOCK_BYTES / item_bytes / slab.max(1)).max(at_least).min(shape[lead]);
        let strips = (lead..shape.len()).map(|axis| {
            let lines: usize = shape[axis + 1..].iter().product();
            let rows = if axis == lead { planes } else { shape[axis] } + 2 * reaches[axis];
            // Fewer rows, at the end of a box, leave room for more lines.
            let fewest = rows.saturating_mul(STRIP_LINES_MIN.min(lines));
            rows.saturating_mul(lines).min(fewest.max(STRIP_BYTES / item_bytes))
        });
        Self { lead, planes, slab, strip: strips.max().unwrap_or(0) }
    }
}

/// Lines of a strip of `rows`, of `lines` that lie side by side.
fn strip_lines(rows: usize, lines: usize, item_bytes: usize) -> usize {
    let fitting = STRIP_BYTES / item_bytes / rows.max(1) / STRIP_LINES_MIN * STRIP_LINES_MIN;
    fitting.max(STRIP_LINES_MIN).min(lines)
}

/// Bytes that [`filter`] allocates for values of `item_bytes`.
pub(super) fn scratch_bytes(
    shape: &[usize],
    reaches: &[usize],
    item_bytes: usize,
    chains: usize,
) -> u64 {
    if shape.is_empty() || shape.contains(&0) {
        return 0;
    }
    let sizes = Sizes::new(shape, reaches, item_bytes);
    let blocks = sizes.planes.saturating_mul(sizes.slab).saturating_mul(chains.min(2));
    let elements = blocks.saturating_add(sizes.strip.saturating_mul(2));
    u64::try_from(elements.saturating_mul(item_bytes)).unwrap_or(u64::MAX)
}

/// Buffers of a run.
struct Strips<C> {
    padded: Vec<C>,
    result: Vec<C>,
}

/// Filters a box into `out`, which has its shape. Elements outside of it are those of its border.
///
/// `combine` merges the block of a later chain, at its position, into that of the first; `store`
/// puts a row into the output.
pub(super) fn filter<T: Copy, C: Pod, F: LineFilter<C>, U>(
    job: &Filtered<'_, T, F>,
    out: &mut [U],
    load: impl Fn(T) -> C,
    combine: impl Fn(usize, &mut [C], &[C]),
    store: impl Fn(&[C], &mut [U]),
) {
    if job.keep.iter().any(Range::is_empty) {
        return;
    }
    let reaches = reaches(job.chains, job.shape.len());
    let sizes = Sizes::new(job.shape, &reaches, size_of::<C>());
    let block = sizes.planes * sizes.slab;
    let mut strips =
        Strips { padded: vec![C::zeroed(); sizes.strip], result: vec![C::zeroed(); sizes.strip] };
    let mut first = vec![C::zeroed(); block];
    let mut later = vec![C::zeroed(); if job.chains.len() > 1 { block } else { 0 }];
    let volume = job.shape[sizes.lead] * sizes.slab;
    let outer: usize = job.shape[..sizes.lead].iter().product();
    for outer in (0..outer).filter(|&outer| is_kept(job, outer, 0..sizes.lead)) {
        let input = &job.input[outer * volume..][..volume];
        let out = &mut out[outer * volume..][..volume];
        let keep = job.keep[sizes.lead].clone();
        for start in keep.clone().step_by(sizes.planes) {
            let planes = start..(start + sizes.planes).min(keep.end);
            let first = &mut first[..planes.len() * sizes.slab];
            for (at, chain) in job.chains.iter().enumerate() {
                if at == 0 {
                    run_chain(job, chain, sizes, input, &planes, &load, first, &mut strips);
                } else {
                    let later = &mut later[..first.len()];
                    run_chain(job, chain, sizes, input, &planes, &load, later, &mut strips);
                    combine(at, first, later);
                }
            }
            store_block(job, sizes, first, planes, out, &store);
        }
    }
}

/// Filters a block along all axes.
#[expect(clippy::too_many_arguments, reason = "the parts of one loop")]
fn run_chain<T: Copy, C: Pod, F: LineFilter<C>>(
    job: &Filtered<'_, T, F>,
    chain: &Chain<F>,
    sizes: Sizes,
    input: &[T],
    planes: &Range<usize>,
    load: &impl Fn(T) -> C,
    block: &mut [C],
    strips: &mut Strips<C>,
) {
    first_axis(job, chain, sizes, input, planes, load, block, strips);
    for (axis, filter) in chain.iter().enumerate().skip(sizes.lead + 1) {
        if let Some(filter) = filter {
            later_axis(job, filter, sizes.lead, axis, block, strips);
        }
    }
}

/// Whether the position `index` over some axes lies in the part that is kept.
fn is_kept<T, F>(job: &Filtered<'_, T, F>, mut index: usize, axes: Range<usize>) -> bool {
    for axis in axes.rev() {
        if !job.keep[axis].contains(&(index % job.shape[axis])) {
            return false;
        }
        index /= job.shape[axis];
    }
    true
}

/// Position of a padded row in an axis of `extent`: rows outside are those at the border.
fn source_row(first: usize, row: usize, reach: usize, extent: usize) -> usize {
    (first + row).saturating_sub(reach).min(extent - 1)
}

/// Filters the planes of a block along the leading axis, from the input.
#[expect(clippy::too_many_arguments, reason = "the parts of one loop")]
fn first_axis<T: Copy, C: Pod, F: LineFilter<C>>(
    job: &Filtered<'_, T, F>,
    chain: &Chain<F>,
    sizes: Sizes,
    input: &[T],
    planes: &Range<usize>,
    load: &impl Fn(T) -> C,
    block: &mut [C],
    strips: &mut Strips<C>,
) {
    let slab = sizes.slab;
    let Some(filter) = &chain[sizes.lead] else {
        let source = &input[planes.start * slab..planes.end * slab];
        block.iter_mut().zip(source).for_each(|(value, &element)| *value = load(element));
        return;
    };
    let (reach, extent) = (filter.reach(), job.shape[sizes.lead]);
    let rows = planes.len() + 2 * reach;
    let lines = strip_lines(rows, slab, size_of::<C>());
    for line in (0..slab).step_by(lines) {
        let width = lines.min(slab - line);
        let padded = &mut strips.padded[..rows * width];
        for (row, padded) in padded.chunks_exact_mut(width).enumerate() {
            let source = source_row(planes.start, row, reach, extent);
            let source = &input[source * slab + line..][..width];
            padded.iter_mut().zip(source).for_each(|(value, &element)| *value = load(element));
        }
        let result = &mut strips.result[..planes.len() * width];
        filter.apply(padded, width, result);
        for (plane, result) in block.chunks_exact_mut(slab).zip(result.chunks_exact(width)) {
            plane[line..line + width].copy_from_slice(result);
        }
    }
}

/// Filters a block along an axis after the leading one, in place.
fn later_axis<T, C: Pod, F: LineFilter<C>>(
    job: &Filtered<'_, T, F>,
    filter: &F,
    lead: usize,
    axis: usize,
    block: &mut [C],
    strips: &mut Strips<C>,
) {
    let (reach, extent, keep) = (filter.reach(), job.shape[axis], &job.keep[axis]);
    let inner: usize = job.shape[axis + 1..].iter().product();
    let rows = keep.len() + 2 * reach;
    let lines = strip_lines(rows, inner, size_of::<C>());
    let volumes = block.chunks_exact_mut(extent * inner).enumerate();
    for (_, volume) in volumes.filter(|(outer, _)| is_kept(job, *outer, lead + 1..axis)) {
        for line in (0..inner).step_by(lines) {
            let width = lines.min(inner - line);
            let padded = &mut strips.padded[..rows * width];
            pad_lines(volume, inner, line, extent, keep.start, reach, width, padded);
            let result = &mut strips.result[..keep.len() * width];
            filter.apply(padded, width, result);
            let kept = volume[keep.start * inner..].chunks_exact_mut(inner);
            for (row, result) in kept.zip(result.chunks_exact(width)) {
                row[line..line + width].copy_from_slice(result);
            }
        }
    }
}

/// Copies a strip with its surroundings.
#[expect(clippy::too_many_arguments, reason = "the parts of one loop")]
fn pad_lines<C: Pod>(
    volume: &[C],
    inner: usize,
    line: usize,
    extent: usize,
    first: usize,
    reach: usize,
    width: usize,
    padded: &mut [C],
) {
    if inner == 1 {
        // One line: its middle at once.
        let (low, high) = (first.saturating_sub(reach), first + padded.len() - reach);
        let high = high.min(extent);
        let before = reach.saturating_sub(first);
        padded[..before].fill(volume[0]);
        padded[before..before + high - low].copy_from_slice(&volume[low..high]);
        padded[before + high - low..].fill(volume[extent - 1]);
        return;
    }
    for (row, padded) in padded.chunks_exact_mut(width).enumerate() {
        let source = source_row(first, row, reach, extent);
        padded.copy_from_slice(&volume[source * inner + line..][..width]);
    }
}

/// Stores the rows of a block that are kept.
fn store_block<T, C, F, U>(
    job: &Filtered<'_, T, F>,
    sizes: Sizes,
    block: &[C],
    planes: Range<usize>,
    out: &mut [U],
    store: &impl Fn(&[C], &mut [U]),
) {
    let last = job.shape.len() - 1;
    if sizes.lead == last {
        return store(&block[..planes.len()], &mut out[planes]);
    }
    let extent = job.shape[last];
    let (from, kept) = (planes.start * sizes.slab, planes.len() * sizes.slab);
    let rows = block[..kept].chunks_exact(extent).zip(out[from..].chunks_exact_mut(extent));
    for (index, (row, out)) in rows.enumerate() {
        if is_kept(job, index, sizes.lead + 1..last) {
            store(&row[job.keep[last].clone()], &mut out[job.keep[last].clone()]);
        }
    }
}
