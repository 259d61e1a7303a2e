use rechunk_grid::DataType;

/// The type of an element as N5 names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum N5Type {
    /// Integers of 8 to 64 bits, `float32` or `float64`.
    Number(DataType),
    /// Strings, each ended by a 0 byte.
    String,
    /// Serialised Java objects.
    Object,
    /// Sets of labels in blocks of variable length, which say `uint8` and have an attribute.
    LabelMultiset,
}

/// The numbers N5 has.
const NUMBERS: [DataType; 10] = [
    DataType::Uint8,
    DataType::Uint16,
    DataType::Uint32,
    DataType::Uint64,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::Float32,
    DataType::Float64,
];

impl N5Type {
    /// As `dataType` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number(data_type) => data_type.plain_name(),
            Self::String => "string",
            Self::Object => "object",
            Self::LabelMultiset => DataType::Uint8.plain_name(),
        }
    }

    /// For people.
    pub fn shown_name(self) -> &'static str {
        match self {
            Self::LabelMultiset => "label multiset",
            other => other.name(),
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "string" => Some(Self::String),
            "object" => Some(Self::Object),
            number => DataType::from_name(number).and_then(Self::of),
        }
    }

    /// The type that holds such elements; `None` if N5 has none.
    pub fn of(data_type: DataType) -> Option<Self> {
        NUMBERS.contains(&data_type).then_some(Self::Number(data_type))
    }

    /// Data type of the elements. Of a type of variable length only the format can tell one from
    /// the next.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Number(data_type) => data_type,
            Self::String | Self::Object | Self::LabelMultiset => DataType::Variable,
        }
    }
}
