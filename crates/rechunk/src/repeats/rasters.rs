//! Which dimensions are the rows and the columns of a raster.

use super::{AxisChange, Changes, Dimension};

/// Names of rows and columns that are usual, where nothing says them.
const USUAL: [[&str; 2]; 5] =
    [["y", "x"], ["lat", "lon"], ["latitude", "longitude"], ["Y", "X"], ["northing", "easting"]];

/// Change of the rows and columns of a raster.
pub(super) enum Raster<'a> {
    /// Nothing changes, or it is not known what is a row.
    Same,
    /// Its rows and columns.
    Cut { rows: &'a AxisChange, columns: &'a AxisChange },
    /// Arrays with these dimensions are not cut alike.
    Several,
}

/// The raster that the node at `path` is of; `names` are those of its rows and columns, if they are
/// said.
pub(super) fn raster<'a>(changes: &'a Changes, path: &str, names: Option<[&str; 2]>) -> Raster<'a> {
    let said = names.into_iter().chain(USUAL.into_iter().filter(|_| names.is_none()));
    for [rows, columns] in said {
        match (changes.dimension(path, rows), changes.dimension(path, columns)) {
            (Dimension::Unknown, _) | (_, Dimension::Unknown) => {}
            (Dimension::One(rows), Dimension::One(columns)) => {
                let is_changed = rows.is_changed() || columns.is_changed();
                return if is_changed { Raster::Cut { rows, columns } } else { Raster::Same };
            }
            (Dimension::Several, _) | (_, Dimension::Several) => {
                return if changes.changes_any([rows, columns]) {
                    Raster::Several
                } else {
                    Raster::Same
                };
            }
        }
    }
    Raster::Same
}

impl Changes {
    /// Whether some axis of one of these names changes.
    fn changes_any(&self, names: [&str; 2]) -> bool {
        let mut axes = self.arrays.iter().flat_map(|array| &array.axes);
        let is_named =
            |axis: &AxisChange| axis.name.as_deref().is_some_and(|name| names.contains(&name));
        axes.any(|axis| is_named(axis) && axis.is_changed())
    }
}
