//! The order of axes between formats that count them slowest first and formats that count them
//! fastest first (N5, NIfTI).
//!
//! By default the metadata is reversed and no element moves. The other way keeps the order of the
//! indices. What was done is noted in the attributes of the array that is written, so that the way
//! back is the same way; there the note is dropped again.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::formats::{Fact, Format};

/// Attribute that notes what was done to the axes of an array that came from another format.
pub(crate) const NOTE: &str = "rechunk_axes";

/// Order of axes between N5 or NIfTI and formats that count slowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Axes {
    /// The metadata is reversed, elements stay where they are: N5's x, y, z becomes z, y, x.
    #[default]
    Reverse,
    /// Indices keep their order: x, y, z stays x, y, z.
    Keep,
}

impl Axes {
    /// As `--axes` and the note have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reverse => "reverse",
            Self::Keep => "keep",
        }
    }

    /// Returns the order of this name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Reverse, Self::Keep].into_iter().find(|axes| axes.name() == name)
    }

    /// As the crate of N5 has it.
    pub(crate) fn of_n5(self) -> rechunk_n5::AxisOrder {
        match self {
            Self::Reverse => rechunk_n5::AxisOrder::Reversed,
            Self::Keep => rechunk_n5::AxisOrder::Kept,
        }
    }

    /// As the crate of raw files has it, for NIfTI.
    pub(crate) fn of_nifti(self) -> rechunk_raw::AxisOrder {
        match self {
            Self::Reverse => rechunk_raw::AxisOrder::Reversed,
            Self::Keep => rechunk_raw::AxisOrder::Kept,
        }
    }

    /// Returns the order that `attributes` note, if they do.
    pub(crate) fn noted(attributes: &Map<String, Value>) -> Option<Self> {
        attributes.get(NOTE).and_then(Value::as_str).and_then(Self::from_name)
    }

    /// Changes the note of attributes that go from one format to another: made on the way there,
    /// dropped on the way back.
    pub(crate) fn note(self, from: Format, to: Format, attributes: &mut Map<String, Value>) {
        if from.has(Fact::FastestFirst) == to.has(Fact::FastestFirst) {
            return;
        }
        if attributes.shift_remove(NOTE).is_none() {
            attributes.insert(NOTE.to_owned(), self.name().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let mut attributes = Map::from_iter([("a".to_owned(), Value::from(1))]);
        let before = attributes.clone();
        Axes::Keep.note(Format::N5, Format::Zarr3, &mut attributes);
        assert_eq!(Axes::noted(&attributes), Some(Axes::Keep));
        Axes::Keep.note(Format::Zarr3, Format::Raw, &mut attributes);
        assert_eq!(Axes::noted(&attributes), Some(Axes::Keep));
        Axes::Keep.note(Format::Raw, Format::N5, &mut attributes);
        assert_eq!(attributes, before);
    }
}
