//! Affines of the plane, as the Zarr convention `spatial` writes them.

/// Six numbers: x = 0·column + 1·row + 2, y = 3·column + 4·row + 5, with numbers for positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Affine(pub [f64; 6]);

impl Affine {
    /// Size of an element along rows and columns, without rotation.
    pub(crate) fn steps(self) -> [f64; 2] {
        [self.0[4], self.0[0]]
    }

    /// Place of a point of the array: y, then x.
    pub(crate) fn at(self, [row, column]: [f64; 2]) -> [f64; 2] {
        let along =
            |first: usize| self.0[first] * column + self.0[first + 1] * row + self.0[first + 2];
        [along(3), along(0)]
    }

    /// The affine of an array of larger elements, of which the first corner is at a point.
    pub(crate) fn coarser(self, [by_row, by_column]: [f64; 2], corner: [f64; 2]) -> Self {
        let [top, left] = self.at(corner);
        let linear = |at: usize, by: f64| self.0[at] * by;
        Self([
            linear(0, by_column),
            linear(1, by_row),
            left,
            linear(3, by_column),
            linear(4, by_row),
            top,
        ])
    }
}
