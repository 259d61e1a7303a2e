//! Reads a window of a source, and fills it beyond the border.

use rechunk_apply::{AxisWindow, VoxelBox, fill_padded};
use rechunk_array::{Array, RegionOptions, RegionRead};
use rechunk_grid::Region;
use rechunk_plan::{ApplyWork, MissingChunks};

use crate::Fault;
use crate::regions::fault::region_fault;
use crate::regions::spare::Spare;
use crate::units::frame::{self, Frame, buffer_bytes};

/// Reads `bounds` of a source, which may reach beyond it. There it is filled by the rule of `work`,
/// with `constant` where that is one value. Adds to `counts` which chunks were there.
pub(super) async fn window(
    source: &Array,
    bounds: &VoxelBox,
    (work, spare): (&ApplyWork, &Spare),
    constant: &[u8],
    counts: &mut RegionRead,
) -> Result<Vec<u8>, Fault> {
    let shape = &source.layout().spec().shape;
    let axes = bounds.axes.iter().zip(shape);
    let windows: Vec<AxisWindow> =
        axes.map(|(&span, &extent)| work.boundary.window(span, extent)).collect();
    let lengths: Vec<u64> = windows.iter().map(AxisWindow::read_length).collect();
    let inside = Region::whole(&lengths);
    let mut read = spare.take(inside.elements(), constant.len())?;
    if !inside.is_empty() {
        let options = (constant.len(), work.transfer_bytes);
        let own = parts(source, &windows, &mut read, options).await?;
        if work.missing == MissingChunks::Error && own.missing > 0 {
            let array = source.location().to_owned();
            return Err(Fault::MissingChunks { array, count: own.missing });
        }
        (counts.found, counts.missing) = (counts.found + own.found, counts.missing + own.missing);
    }
    let is_inside = |region: Region| Region::whole(shape).contains(&region);
    if bounds.to_region().is_some_and(is_inside) {
        return Ok(read);
    }
    let elements = bounds.shape().iter().product();
    let mut padded = vec![0; buffer_bytes(elements, constant.len())?];
    let filled = fill_padded(&read, &windows, constant, &mut padded);
    filled.map_err(|error| Fault::Plan { reason: error.to_string() })?;
    spare.give(read);
    Ok(padded)
}

/// Reads the parts of a source that the windows need into `read`, where they lie one after the
/// other along each axis.
async fn parts(
    source: &Array,
    windows: &[AxisWindow],
    read: &mut [u8],
    (item_bytes, memory_bytes): (usize, u64),
) -> Result<RegionRead, Fault> {
    let options = RegionOptions::default().with_memory_bytes(memory_bytes);
    let lengths: Vec<u64> = windows.iter().map(AxisWindow::read_length).collect();
    let counts: Vec<u64> = windows.iter().map(|axis| axis.intervals().len() as u64).collect();
    let is_one = counts.iter().all(|&count| count == 1);
    let all = Frame::of_region(&Region::whole(&lengths), item_bytes)?;
    let mut sum = RegionRead::default();
    for choice in Region::whole(&counts).positions() {
        let (mut place, mut from) = (Region::whole(&lengths), Region::whole(&lengths));
        for (axis, window) in windows.iter().enumerate() {
            let chosen = usize::try_from(choice[axis]).unwrap_or(usize::MAX);
            let before = window.intervals().iter().take(chosen);
            place.start[axis] = before.map(|range| range.end - range.start).sum();
            let range = &window.intervals()[chosen];
            place.shape[axis] = range.end - range.start;
            (from.start[axis], from.shape[axis]) = (range.start, place.shape[axis]);
        }
        let found = if is_one {
            source.read_region_counting(&from, read, &options).await
        } else {
            let mut part = vec![0; buffer_bytes(from.elements(), item_bytes)?];
            let found = source.read_region_counting(&from, &mut part, &options).await;
            let own = Frame::of_region(&place, item_bytes)?;
            frame::copy(item_bytes, &place, (&part, &own), (&mut *read, &all), 1)?;
            found
        };
        let found = found.map_err(region_fault(Fault::Source))?;
        (sum.found, sum.missing) = (sum.found + found.found, sum.missing + found.missing);
    }
    Ok(sum)
}

/// True if the operation is not to be called, by the chunks of its sources so far; `is_last` if
/// there are no others.
pub(super) fn is_left_out(rule: MissingChunks, counts: RegionRead, is_last: bool) -> bool {
    match rule {
        MissingChunks::Fill | MissingChunks::Error => false,
        MissingChunks::SkipIfAny => counts.missing > 0,
        MissingChunks::SkipIfAll => is_last && counts.found == 0,
    }
}

/// Cuts `wanted` out of the elements of `bounds`, in which it lies.
pub(super) fn cut(
    bytes: &[u8],
    bounds: &VoxelBox,
    wanted: &VoxelBox,
    item_bytes: usize,
) -> Result<Vec<u8>, Fault> {
    let region = within(bounds, wanted);
    frame::cut(item_bytes, (bytes, &Region::whole(&bounds.shape())), &region)
}

/// The part of `bounds` in the box `wanted`, counted from the first element of `bounds`.
pub(super) fn within(bounds: &VoxelBox, wanted: &VoxelBox) -> Region {
    let within = bounds.intersect(wanted);
    let start = within.axes.iter().zip(&bounds.axes);
    let start = start.map(|(within, bounds)| within.start.abs_diff(bounds.start)).collect();
    Region::new(start, within.shape())
}
