//! Exact sums of cells: means of several levels are rounded once each.

use rechunk_grid::DataType;

use crate::cells::Cells;
use crate::counts::Counts;
use crate::element::{Element, I64_ELEMENTS_MAX, for_elements};
use crate::error::ReduceError;
use crate::item::Item;
use crate::kernel::{check_bytes, run};
use crate::mean::Sums;
use crate::method::{Method, Rounding};
use crate::quotient::Quotient;

/// Type of the sums of elements, in buffers of native byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SumType {
    /// 64-bit integers: for bool and integers of at most 32 bits.
    I64,
    /// 128-bit integers: for integers of 64 bits.
    I128,
    /// 64-bit floats: for floats. An empty sum is -0, which changes no other.
    F64,
}

impl SumType {
    /// Type of the sums of elements; [`SumType::F64`] for types that have no mean.
    pub fn of(data_type: DataType) -> Self {
        match data_type.integer_range() {
            None => Self::F64,
            Some(_) if data_type.item_bytes() == 8 => Self::I128,
            Some(_) => Self::I64,
        }
    }

    /// Bytes of a sum.
    pub fn item_bytes(self) -> u64 {
        match self {
            Self::I64 | Self::F64 => 8,
            Self::I128 => 16,
        }
    }
}

impl Method {
    /// Bytes of an element that one pass over levels hands to the next: a sum, or an item of
    /// `data_type`.
    ///
    /// ```
    /// use rechunk_grid::DataType;
    /// use rechunk_reduce::Method;
    /// assert_eq!(Method::Mean.handed_on_bytes(DataType::Uint16), 8);
    /// assert_eq!(Method::Median.handed_on_bytes(DataType::Uint16), 2);
    /// ```
    pub fn handed_on_bytes(self, data_type: DataType) -> u64 {
        if self.is_summed() { SumType::of(data_type).item_bytes() } else { data_type.item_bytes() }
    }
}

/// Refuses a cell of more elements than a sum surely holds.
pub(crate) fn check_volume(elements: u64, limit: u64) -> Result<(), ReduceError> {
    if elements <= limit { Ok(()) } else { Err(ReduceError::TooManyElements { elements, limit }) }
}

/// Adds the elements of each cell of a box.
///
/// `input` has `shape` elements, `sums` one [`SumType::of`] the type for each cell. Sums of
/// integers are exact; floats are added as 64-bit floats in C order. Refuses what
/// [`reduce`](crate::reduce) refuses of a mean.
///
/// ```
/// use rechunk_grid::DataType;
/// use rechunk_reduce::{Counts, Rounding, SumType, fold_cells, round_sums, sum_cells};
///
/// // Two levels of a row of 5 elements, each by 2, with one rounding each.
/// let input = [1, 2, 2, 4, 7_u8];
/// let (mut sums, mut next) = ([0; 3 * 8], [0; 2 * 8]);
/// sum_cells(DataType::Uint8, &input, &[5], &[2], &mut sums)?;
/// fold_cells(SumType::I64, &sums, &[3], &[2], &mut next)?;
///
/// let (mut level_1, mut level_2) = ([0; 3], [0; 2]);
/// let half_away = Rounding::HalfAway;
/// let counts = Counts::Axes(vec![vec![2, 2, 1]]);
/// round_sums(DataType::Uint8, half_away, &sums, &counts, &[0], &mut level_1)?;
/// let counts = Counts::Axes(vec![vec![4, 1]]);
/// round_sums(DataType::Uint8, half_away, &next, &counts, &[0], &mut level_2)?;
/// // The mean of the first four is 2.25: from the rounded level 1 it would be 2.5, and 3.
/// assert_eq!((level_1, level_2), ([2, 3, 7], [2, 7]));
/// # Ok::<(), rechunk_reduce::ReduceError>(())
/// ```
pub fn sum_cells(
    data_type: DataType,
    input: &[u8],
    shape: &[u64],
    factors: &[u64],
    sums: &mut [u8],
) -> Result<(), ReduceError> {
    let cells = Cells::new(shape, factors)?;
    for_elements!(Method::Mean, data_type, T => sum_elements::<T>(input, &cells, sums))
}

fn sum_elements<T: Element>(
    input: &[u8],
    cells: &Cells,
    sums: &mut [u8],
) -> Result<(), ReduceError> {
    let volume = cells.volume();
    check_volume(volume, T::WIDE_MAX)?;
    if volume <= T::NARROW_MAX {
        run::<T, _>(Sums::<T::Narrow, T::Wide>::new(), input, cells, sums)
    } else if volume <= T::MIDDLE_MAX {
        run::<T, _>(Sums::<T::Middle, T::Wide>::new(), input, cells, sums)
    } else {
        run::<T, _>(Sums::<T::Wide, T::Wide>::new(), input, cells, sums)
    }
}

/// Adds the sums of the cells of a level for the cells of the next.
///
/// `input` has `shape` sums, `sums` one for each cell of `factors`. Floats are added in C order.
/// Refuses what [`sum_cells`] refuses of shapes and buffers, and integers whose sum could overflow:
/// never those of at most 2³¹ elements.
pub fn fold_cells(
    sum_type: SumType,
    input: &[u8],
    shape: &[u64],
    factors: &[u64],
    sums: &mut [u8],
) -> Result<(), ReduceError> {
    let cells = Cells::new(shape, factors)?;
    let volume = cells.volume();
    match sum_type {
        SumType::I64 => {
            let largest = i64::items(input).iter().map(|&sum| i64::read(sum).unsigned_abs()).max();
            let limit = i64::MAX.unsigned_abs() / largest.unwrap_or(0).max(1);
            check_volume(volume, limit)?;
            run::<i64, _>(Sums::<i64, i64>::new(), input, &cells, sums)
        }
        SumType::I128 => {
            let largest =
                i128::items(input).iter().map(|&sum| i128::read(sum).unsigned_abs()).max();
            let limit = i128::MAX.unsigned_abs() / largest.unwrap_or(0).max(1);
            check_volume(volume, u64::try_from(limit).unwrap_or(u64::MAX))?;
            run::<i128, _>(Sums::<i128, i128>::new(), input, &cells, sums)
        }
        SumType::F64 => run::<f64, _>(Sums::<f64, f64>::new(), input, &cells, sums),
    }
}

/// Divides sums by the counts of their elements, with one rounding.
///
/// `sums` and `output` have an entry for each cell. `rounding` is for integers and bool; a float is
/// divided as a 64-bit float and rounded to the nearest of its type. A cell without elements
/// becomes `fill`, one element. Refuses a type that has no mean, and buffers of other lengths.
pub fn round_sums(
    data_type: DataType,
    rounding: Rounding,
    sums: &[u8],
    counts: &Counts<'_>,
    fill: &[u8],
    output: &mut [u8],
) -> Result<(), ReduceError> {
    let cells = counts.cells()?;
    for_elements!(Method::Mean, data_type, T => {
        round_elements::<T>(rounding, sums, (counts, cells), fill, output)
    })
}

/// Sums that are read at once.
const SUMS_AT_ONCE: usize = 256;

fn round_elements<T: Element>(
    rounding: Rounding,
    sums: &[u8],
    (counts, cells): (&Counts<'_>, usize),
    fill: &[u8],
    output: &mut [u8],
) -> Result<(), ReduceError> {
    check_bytes("buffer of sums", sums.len(), cells, size_of::<<T::Wide as Item>::Bytes>())?;
    check_bytes("output", output.len(), cells, size_of::<T::Bytes>())?;
    let fill = fill_item::<T>(fill)?;
    let (mut sums, mut output) = (T::Wide::items(sums), T::items_mut(output));
    let mut wide = [T::Wide::default(); SUMS_AT_ONCE];
    counts.for_runs(|length, count| {
        let Some((run_sums, rest)) = sums.split_at_checked(length) else { return };
        sums = rest;
        let Some(run) = output.split_off_mut(..length) else { return };
        if count == 0 {
            run.fill(fill);
            return;
        }
        for (output, sums) in run.chunks_mut(SUMS_AT_ONCE).zip(run_sums.chunks(SUMS_AT_ONCE)) {
            for (wide, &sum) in wide.iter_mut().zip(sums) {
                *wide = T::Wide::read(sum);
            }
            T::Wide::divide(&wide[..sums.len()], count, rounding, output);
        }
    });
    Ok(())
}

/// The fill element; refuses another number of bytes than one element has.
pub(crate) fn fill_item<T: Item>(fill: &[u8]) -> Result<T::Bytes, ReduceError> {
    check_bytes("fill value", fill.len(), 1, size_of::<T::Bytes>())?;
    Ok(T::items(fill)[0])
}

const _: () = assert!(I64_ELEMENTS_MAX == 1 << 31, "docs say so");
