//! Places of cells in a box that has elements around them.

/// An axis of a [`GaussianWindow`], in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GaussianAxis {
    /// Elements of the box along the axis.
    pub extent: u64,
    /// Element of the box at which the first cell begins: as many stand before it.
    pub start: u64,
    /// Number of cells.
    pub cells: u64,
    /// Elements of a cell; the end of the array may cut the last cell.
    pub factor: u64,
}

/// Place of cells in a box that has elements around them.
///
/// Before the first cell and after the last, the box has [`Method::halo`](crate::Method::halo)
/// elements, or those up to the border of the array; more are not looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GaussianWindow {
    /// The axes, slowest first.
    pub axes: Vec<GaussianAxis>,
}

impl GaussianWindow {
    /// The window of a whole array of `shape` elements, by cells of `factors`.
    pub fn whole(shape: &[u64], factors: &[u64]) -> Self {
        let axes = shape.iter().zip(factors).map(|(&extent, &factor)| {
            let factor = factor.max(1);
            GaussianAxis { extent, start: 0, cells: extent.div_ceil(factor), factor }
        });
        Self { axes: axes.collect() }
    }
}
