//! Data types of arrays in words.

use rechunk_grid::DataType;

use crate::metadata::ArrayMetadata;
use crate::{record, variable};

impl ArrayMetadata {
    /// The data type for people: the fields of a record, the name of a type of variable length.
    pub fn data_type_name(&self) -> String {
        let verbatim = self.verbatim.data_type.as_ref();
        match (self.spec.data_type, verbatim) {
            (DataType::Structured { .. }, Some(value)) => record::of(value, self.version)
                .map_or_else(|| self.spec.data_type.name(), |record| record.describe()),
            (DataType::Variable, Some(value)) => variable::type_name(value, self),
            (data_type, _) => data_type.name(),
        }
    }
}
