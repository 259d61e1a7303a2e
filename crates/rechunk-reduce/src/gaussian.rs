//! Means weighted by a Gaussian, separable along the axes.

use rechunk_grid::DataType;

use crate::cells::product;
use crate::element::{Element, for_elements};
use crate::error::ReduceError;
use crate::item::Item;
use crate::kernel::check_bytes;
use crate::method::{Method, Rounding};
use crate::taps::{Axis, Taps};
use crate::window::GaussianWindow;

/// Reduces each cell of a window to the mean of the elements in and around it, weighted by a
/// Gaussian.
///
/// `input` has the extents of the window's axes, `output` its cells. The Gaussian is separable.
/// Along an axis of factor f > 1 it is centred (f - 1) / 2 elements after the first of the cell,
/// its standard deviation is √(f² - 1) / (2 √(2 ln 2)) elements (Cardoso et al., "Scale factor
/// point spread function matching: beyond aliasing in image resampling", MICCAI 2015), and elements
/// up to [`Method::halo`] from the cell count; along an axis of factor 1, one element does. Weights
/// are normalised over the elements that exist.
///
/// Works in 64-bit floats, and needs memory for 8 bytes per element of the input, divided by the
/// last factor above 1. Integers are rounded by `rounding`. Equal elements make equal results
/// wherever a box is cut. Refuses a type that the method does not take, a cell that begins after
/// the box ends, a factor of 0, and buffers of other lengths.
///
/// ```
/// use rechunk_grid::DataType;
/// use rechunk_reduce::{GaussianWindow, Rounding, gaussian};
///
/// let input = [0, 0, 0, 0, 100, 100, 100_u8];
/// let window = GaussianWindow::whole(&[7], &[2]);
/// let mut output = [0; 4];
/// gaussian(Rounding::HalfAway, DataType::Uint8, &input, &window, &mut output)?;
/// assert_eq!(output, [0, 7, 93, 100]);
/// # Ok::<(), rechunk_reduce::ReduceError>(())
/// ```
pub fn gaussian(
    rounding: Rounding,
    data_type: DataType,
    input: &[u8],
    window: &GaussianWindow,
    output: &mut [u8],
) -> Result<(), ReduceError> {
    let axes = window.axes.iter().enumerate().map(|(at, axis)| Axis::new(at, *axis));
    let axes = axes.collect::<Result<Vec<_>, _>>()?;
    let extents = window.axes.iter().map(|axis| axis.extent);
    let elements = product(extents)?;
    let cells = product(window.axes.iter().map(|axis| axis.cells))?;
    for_elements!(Method::Gaussian, data_type, T => {
        check_bytes("input", input.len(), elements, size_of::<<T as Item>::Bytes>())?;
        check_bytes("output", output.len(), cells, size_of::<<T as Item>::Bytes>())?;
        if cells > 0 {
            reduce_axes::<T>(rounding, T::items(input), &axes, T::items_mut(output));
        }
        Ok(())
    })
}

/// Reduces one axis after the other, the last first: its rows are next to each other.
fn reduce_axes<T: Element>(
    rounding: Rounding,
    input: &[T::Bytes],
    axes: &[Axis],
    output: &mut [T::Bytes],
) {
    if axes.iter().all(|axis| axis.factor == 1) {
        return copy_window(input, axes, output);
    }
    let mut extents: Vec<_> = axes.iter().map(|axis| axis.extent).collect();
    let mut reduced: Option<Vec<f64>> = None;
    // Those with a factor first: what they leave is smaller.
    let by_factor =
        |wanted: bool| (0..axes.len()).rev().filter(move |&at| (axes[at].factor > 1) == wanted);
    for at in by_factor(true).chain(by_factor(false)) {
        let axis = &axes[at];
        if axis.is_as_is() {
            continue;
        }
        let inner: usize = extents[at + 1..].iter().product();
        let read = |item: T::Bytes| T::read(item).to_real();
        reduced = Some(match reduced {
            None => reduce_axis(input, read, axis, inner),
            Some(values) => reduce_axis(&values, |value| value, axis, inner),
        });
        extents[at] = axis.cells;
    }
    for (output, value) in output.iter_mut().zip(reduced.into_iter().flatten()) {
        *output = T::from_real(value, rounding).write();
    }
}

/// Reduces an axis that has `inner` entries after each of its own.
fn reduce_axis<S: Copy>(
    input: &[S],
    read: impl Fn(S) -> f64 + Copy,
    axis: &Axis,
    inner: usize,
) -> Vec<f64> {
    let (length, cells) = (axis.extent.saturating_mul(inner), axis.cells * inner);
    let mut output = vec![0.0; input.len() / length.max(1) * cells];
    let (mut weights, mut phases) = (Vec::new(), Vec::new());
    for (output, input) in output.chunks_exact_mut(cells.max(1)).zip(input.chunks_exact(length)) {
        if inner == 1 {
            reduce_row(input, read, axis, (&mut weights, &mut phases), output);
            continue;
        }
        // A strip stays in the nearest cache while rows are added to it.
        for strip in (0..inner).step_by(STRIP) {
            let width = STRIP.min(inner - strip);
            for (cell, output) in output.chunks_exact_mut(inner).enumerate() {
                let Taps { start, weights } = axis.taps(cell, &mut weights);
                let output = &mut output[strip..strip + width];
                for (row, weight) in input[start * inner..].chunks_exact(inner).zip(weights) {
                    add_weighted(&row[strip..strip + width], read, *weight, output);
                }
            }
        }
    }
    output
}

/// Elements of a strip of rows.
const STRIP: usize = 1024;

fn add_weighted<S: Copy>(items: &[S], read: impl Fn(S) -> f64, weight: f64, output: &mut [f64]) {
    for (output, &item) in output.iter_mut().zip(items) {
        *output += read(item) * weight;
    }
}

/// Reduces a row whose elements are next to each other.
///
/// Neighbouring cells look at elements a factor apart: those of one phase are put next to each
/// other, so that cells add the elements of a weight at once.
fn reduce_row<S: Copy>(
    input: &[S],
    read: impl Fn(S) -> f64 + Copy,
    axis: &Axis,
    (scratch, phases): (&mut Vec<f64>, &mut Vec<f64>),
    output: &mut [f64],
) {
    let inner = axis.inner_cells();
    for cell in (0..inner.start).chain(inner.end..axis.cells) {
        let Taps { start, weights } = axis.taps(cell, scratch);
        let items = input[start..].iter().zip(weights);
        output[cell] = items.fold(0.0, |sum, (&item, weight)| sum + read(item) * weight);
    }
    let (weights, factor) = (axis.normalised(), axis.factor);
    let at_once = (STRIP / factor).max(1);
    for first in inner.clone().step_by(at_once) {
        let cells = at_once.min(inner.end - first);
        let output = &mut output[first..first + cells];
        output.fill(0.0);
        let used = (cells - 1) * factor + weights.len();
        let items = &input[axis.first_tap(first)..][..used];
        let length = used.div_ceil(factor);
        phases.clear();
        for phase in 0..factor.min(used) {
            phases.extend(items[phase..].iter().step_by(factor).map(|&item| read(item)));
            phases.resize((phase + 1) * length, 0.0);
        }
        for (at, &weight) in weights.iter().enumerate() {
            let from = at % factor * length + at / factor;
            add_weighted(&phases[from..from + cells], |value| value, weight, output);
        }
    }
}

/// Copies the elements of a window of factors 1.
fn copy_window<B: Copy>(input: &[B], axes: &[Axis], output: &mut [B]) {
    match axes {
        [] => output.copy_from_slice(input),
        [last] => output.copy_from_slice(&input[last.start..last.start + last.cells]),
        [first, rest @ ..] => {
            let inner: usize = rest.iter().map(|axis| axis.extent).product();
            let inner_cells: usize = rest.iter().map(|axis| axis.cells).product();
            let rows = input.chunks_exact(inner).skip(first.start);
            for (output, row) in output.chunks_exact_mut(inner_cells).zip(rows) {
                copy_window(row, rest, output);
            }
        }
    }
}
