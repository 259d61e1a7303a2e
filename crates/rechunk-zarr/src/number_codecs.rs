//! Settings of the codecs `scale_offset` and `cast_value`, registered extensions of Zarr v3.
//!
//! Both work on each number alone, wherever it lies, and so on the fill value too.

use std::fmt;

use rechunk_grid::FillValue;

use crate::codec_settings::TypePair;
use crate::element_type::ElementType;

/// Most entries of one direction of a `scalar_map`.
pub(crate) const MAP_ENTRIES_MAX: usize = 1 << 16;

/// A number as an element holds it: its bytes, the lowest first, in the low bytes of the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(pub u64);

impl Word {
    /// The number of a fill value of at most 8 bytes.
    pub(crate) fn of(value: &FillValue) -> Self {
        let mut word = [0; 8];
        for (slot, byte) in word.iter_mut().zip(&value.bytes) {
            *slot = *byte;
        }
        Self(u64::from_le_bytes(word))
    }

    /// The number as the fill value of elements of that type.
    pub(crate) fn fill_value(self, element: ElementType) -> FillValue {
        FillValue { bytes: self.0.to_le_bytes()[..element.item_bytes().min(8)].to_vec() }
    }
}

/// `(x - offset) * scale`, in the arithmetic of the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScaleOffset {
    /// The elements, before and after.
    pub element: ElementType,
    /// Subtracted first.
    pub offset: Word,
    /// Multiplied with after that; never zero.
    pub scale: Word,
}

/// Casts numbers to another type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CastValue {
    /// Before and after.
    pub types: TypePair,
    /// Rounding of a number to one that the type has.
    pub rounding: Rounding,
    /// Replacement of a number beyond the range of the type; `None` is an error.
    pub out_of_range: Option<OutOfRange>,
    /// Numbers that become others when they are encoded, whatever the rules say.
    pub encode: ScalarMap,
    /// Numbers that become others when they are decoded, whatever the rules say.
    pub decode: ScalarMap,
}

/// Numbers and what they become, sorted by `ScalarMap::key`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ScalarMap(Vec<(Word, Word)>);

impl ScalarMap {
    /// A map of entries in any order. Of two for the same number the first counts.
    pub(crate) fn new(mut entries: Vec<(Word, Word)>) -> Self {
        entries.sort_by_key(|(from, _)| *from);
        entries.dedup_by_key(|(from, _)| *from);
        Self(entries)
    }

    /// Replacement of a number, by its key.
    pub(crate) fn get(&self, key: Word) -> Option<Word> {
        let found = self.0.binary_search_by_key(&key, |(from, _)| *from);
        found.ok().map(|position| self.0[position].1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn entries(&self) -> &[(Word, Word)] {
        &self.0
    }
}

/// Rounding of a number to one that a type has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Rounding {
    NearestEven,
    TowardsZero,
    TowardsPositive,
    TowardsNegative,
    NearestAway,
}

impl Rounding {
    const ALL: [Self; 5] = [
        Self::NearestEven,
        Self::TowardsZero,
        Self::TowardsPositive,
        Self::TowardsNegative,
        Self::NearestAway,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NearestEven => "nearest-even",
            Self::TowardsZero => "towards-zero",
            Self::TowardsPositive => "towards-positive",
            Self::TowardsNegative => "towards-negative",
            Self::NearestAway => "nearest-away",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rounding| rounding.name() == name)
    }
}

/// Replacement of a number that is beyond the range of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutOfRange {
    /// The nearest integer of the type; of a type of floats an infinity.
    Clamp,
    /// The integer of the type that is congruent to it.
    Wrap,
}

impl OutOfRange {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Clamp => "clamp",
            Self::Wrap => "wrap",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Clamp, Self::Wrap].into_iter().find(|rule| rule.name() == name)
    }
}

/// For people: `float32 as uint16`.
impl fmt::Display for CastValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.types)?;
        if self.rounding != Rounding::NearestEven {
            write!(formatter, ", {}", self.rounding.name())?;
        }
        if let Some(rule) = self.out_of_range {
            write!(formatter, ", {}", rule.name())?;
        }
        match self.encode.entries().len().max(self.decode.entries().len()) {
            0 => Ok(()),
            1 => write!(formatter, ", 1 value mapped"),
            count => write!(formatter, ", {count} values mapped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_entries_for_a_number_counts() {
        let word = Word;
        let map = ScalarMap::new(vec![
            (word(3), word(30)),
            (word(1), word(10)),
            (word(3), word(31)),
            (word(2), word(20)),
        ]);
        for (from, to) in [(1, Some(10)), (2, Some(20)), (3, Some(30)), (4, None), (0, None)] {
            assert_eq!(map.get(word(from)), to.map(word));
        }
        assert_eq!(map.entries().len(), 3);
    }
}
