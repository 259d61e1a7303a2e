//! Reduction of a box by any method that looks at cells only.

use rechunk_grid::DataType;

use crate::cells::Cells;
use crate::element::{Element, for_elements};
use crate::error::ReduceError;
use crate::extremes::{Extremes, Largest, Least};
use crate::kernel::run;
use crate::mean::Mean;
use crate::median::Median;
use crate::method::{Method, Rounding};
use crate::mode::Mode;
use crate::stride::stride;
use crate::sums::check_volume;

/// Reduces each cell of a box to an element, by any method but [`Method::Gaussian`].
///
/// `input` has `shape` elements, `output` one for each cell: `shape / factors`, rounded up. A bool
/// is a byte of 0 or 1. `rounding` is for means of integers and bool.
///
/// Refuses a type that the method does not take, factors of another rank or of 0, buffers of other
/// lengths, and means of cells whose sum could overflow (more than 2³¹ elements of 32 bits or
/// less).
///
/// ```
/// use rechunk_grid::DataType;
/// use rechunk_reduce::{Method, Rounding, reduce};
///
/// // 3 × 3 elements, by 2 along both axes: the cells at the end are cut.
/// let input = [0, 1, 2, 4, 5, 6, 8, 9, 10_u8];
/// let mut output = [0; 4];
/// let (shape, factors) = ([3, 3], [2, 2]);
/// let half_away = Rounding::HalfAway;
/// reduce(Method::Mean, half_away, DataType::Uint8, &input, &shape, &factors, &mut output)?;
/// assert_eq!(output, [3, 4, 9, 10]);
/// reduce(Method::Max, half_away, DataType::Uint8, &input, &shape, &factors, &mut output)?;
/// assert_eq!(output, [5, 6, 9, 10]);
/// # Ok::<(), rechunk_reduce::ReduceError>(())
/// ```
pub fn reduce(
    method: Method,
    rounding: Rounding,
    data_type: DataType,
    input: &[u8],
    shape: &[u64],
    factors: &[u64],
    output: &mut [u8],
) -> Result<(), ReduceError> {
    method.check(data_type)?;
    let cells = Cells::new(shape, factors)?;
    match method {
        Method::Mean => for_elements!(method, data_type, T => {
            mean::<T>(rounding, input, &cells, output)
        }),
        Method::Mode => for_elements!(method, data_type, T => {
            run::<T, _>(Mode::<T>::new(), input, &cells, output)
        }),
        Method::Median => for_elements!(method, data_type, T => {
            run::<T, _>(Median::<T>::new(), input, &cells, output)
        }),
        Method::Min => for_elements!(method, data_type, T => {
            run::<T, _>(Extremes::<T, Least>::new(), input, &cells, output)
        }),
        Method::Max => for_elements!(method, data_type, T => {
            run::<T, _>(Extremes::<T, Largest>::new(), input, &cells, output)
        }),
        Method::Stride => {
            let item_bytes = usize::try_from(data_type.item_bytes()).unwrap_or(usize::MAX);
            stride(input, item_bytes, &cells, output)
        }
        Method::Gaussian => Err(ReduceError::LooksAround { method: method.name() }),
    }
}

fn mean<T: Element>(
    rounding: Rounding,
    input: &[u8],
    cells: &Cells,
    output: &mut [u8],
) -> Result<(), ReduceError> {
    let volume = cells.volume();
    check_volume(volume, T::WIDE_MAX)?;
    if volume <= T::NARROW_MAX {
        run::<T, _>(Mean::<T::Narrow>::new(rounding), input, cells, output)
    } else if volume <= T::MIDDLE_MAX {
        run::<T, _>(Mean::<T::Middle>::new(rounding), input, cells, output)
    } else {
        run::<T, _>(Mean::<T::Wide>::new(rounding), input, cells, output)
    }
}
