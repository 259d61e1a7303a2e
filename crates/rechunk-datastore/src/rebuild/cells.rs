//! Elements of a box of the finest level that become those of a level.

use rechunk_grid::{DataType, Region};
use rechunk_plan::{cells_of, ratio};
use rechunk_reduce::{
    Counts, Method, ReduceError, Rounding, SumType, fold_cells, reduce, round_sums, sum_cells,
};

/// Cells along each axis.
fn cells(shape: &[u64], factors: &[u64]) -> Vec<u64> {
    cells_of(&Region::whole(shape), factors).shape
}

fn bytes(shape: &[u64], item_bytes: u64) -> usize {
    let bytes = shape.iter().fold(item_bytes, |bytes, &extent| bytes.saturating_mul(extent));
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The elements that a box of `shape` elements becomes. Both are in the byte order of this machine.
/// `chain` has the factors of the level and of those that its sums are added from, coarsest first.
/// The box begins where a cell does; it is not larger than memory is for it.
pub(super) fn reduced(
    method: Method,
    data_type: DataType,
    elements: &[u8],
    shape: &[u64],
    chain: &[Vec<u64>],
) -> Result<Vec<u8>, ReduceError> {
    let Some(factors) = chain.first() else { return Ok(elements.to_vec()) };
    let item_bytes = data_type.item_bytes();
    let mut output = vec![0; bytes(&cells(shape, factors), item_bytes)];
    if method != Method::Mean {
        let rounding = Rounding::HalfAway;
        reduce(method, rounding, data_type, elements, shape, factors, &mut output)?;
        return Ok(output);
    }
    let sum_type = SumType::of(data_type);
    let mut finer: Option<(Vec<u8>, Vec<u64>, &[u64])> = None;
    for level in chain.iter().rev() {
        let sums = match finer {
            None => {
                let mut sums = vec![0; bytes(&cells(shape, level), sum_type.item_bytes())];
                sum_cells(data_type, elements, shape, level, &mut sums)?;
                sums
            }
            Some((below, extents, of)) => {
                let ratio = ratio(level, of);
                let mut sums = vec![0; bytes(&cells(&extents, &ratio), sum_type.item_bytes())];
                fold_cells(sum_type, &below, &extents, &ratio, &mut sums)?;
                sums
            }
        };
        finer = Some((sums, cells(shape, level), level));
    }
    if let Some((sums, ..)) = finer {
        let counts = Counts::of_box(shape, factors);
        let fill = vec![0; bytes(&[], item_bytes)];
        round_sums(data_type, Rounding::HalfAway, &sums, &counts, &fill, &mut output)?;
    }
    Ok(output)
}
