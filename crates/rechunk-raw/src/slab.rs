//! Chunks of an array that is one file.

/// Most bytes of a slab: large enough that a request costs little beside them, small enough to
/// hold many.
pub const SLAB_BYTES: u64 = 4 << 20;

/// Longest box `(1, …, 1, k, whole, …)`, in the order of storage `axes` (slowest first), of at most
/// [`SLAB_BYTES`]. It is contiguous in the file wherever it lies. At least one element.
pub(crate) fn slab_shape(shape: &[u64], axes: &[usize], item_bytes: u64) -> Vec<u64> {
    let mut slab = vec![1; shape.len()];
    let mut bytes = item_bytes.max(1);
    for &axis in axes.iter().rev() {
        let extent = shape[axis].max(1);
        slab[axis] = (SLAB_BYTES / bytes).clamp(1, extent);
        if slab[axis] < extent {
            break;
        }
        bytes = bytes.saturating_mul(extent);
    }
    slab
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_are_as_long_as_they_may_be() {
        let c = [0, 1, 2];
        assert_eq!(slab_shape(&[100, 100, 100], &c, 2), [100, 100, 100]);
        assert_eq!(slab_shape(&[3500, 3500, 3500], &c, 2), [1, 599, 3500]);
        assert_eq!(slab_shape(&[3500, 3500, 3500], &[2, 1, 0], 2), [3500, 599, 1]);
        // Whole planes.
        assert_eq!(slab_shape(&[500, 1000, 1000], &c, 1), [4, 1000, 1000]);
        // A row that is too long.
        assert_eq!(slab_shape(&[2, 2, 1 << 30], &c, 8), [1, 1, 1 << 19]);
        assert_eq!(slab_shape(&[2, 2, 1 << 22], &c, 1), [1, 1, 1 << 22]);
        assert_eq!(slab_shape(&[], &[], 8), [0; 0]);
        assert_eq!(slab_shape(&[0, 5], &[0, 1], 8), [1, 5]);
        assert_eq!(slab_shape(&[u64::MAX, 5], &[0, 1], 1 << 20), [1, 4]);
    }
}
