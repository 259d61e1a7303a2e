//! Arrays to be written, and files whose shape somebody says.

use rechunk_format::field::Field;
use rechunk_format::{ElementOrder, FormatError};
use rechunk_grid::{ArraySpec, DataType, FillValue};
use serde_json::{Map, Value};

use crate::nifti::{self, AxisOrder};
use crate::slab::slab_shape;
use crate::{Files, Header, KeyTemplate, RawMetadata, element_name, npy};

impl RawMetadata {
    /// An array with a file for each chunk of `spec`. `record` has the fields where elements are
    /// records; [`ElementOrder::c_little`] is the usual order.
    pub fn blocks(
        spec: ArraySpec,
        order: ElementOrder,
        record: Option<Value>,
    ) -> Result<Self, FormatError> {
        let key = KeyTemplate::usual(spec.shape.len());
        let files = Files::Blocks { key, offset_bytes: 0 };
        let spec = without_fill_value(spec);
        let metadata = Self { spec, order, files, record, attributes: Map::new() };
        metadata.check()?;
        metadata.array_json().map(|_| metadata)
    }

    /// An `.npy` file. The chunk shape of `spec` is not looked at.
    pub fn npy(
        spec: ArraySpec,
        order: ElementOrder,
        record: Option<Value>,
        name: &str,
    ) -> Result<Self, FormatError> {
        let header = npy::header(&spec, &order, record.as_ref())?;
        Self::single(spec, order, record, name, Header::Npy(header))
    }

    /// A `.nii` file. The header is the one that `attributes` keep under `nifti`, if it is one of
    /// such an array (then its byte order is taken too), else the least that is valid. The chunk
    /// shape of `spec` is not looked at.
    pub fn nifti(
        spec: ArraySpec,
        attributes: Map<String, Value>,
        name: &str,
        axes: AxisOrder,
    ) -> Result<Self, FormatError> {
        let (header, endian) = nifti::header(&spec, &attributes, axes)?;
        let order = ElementOrder { axes: axes.storage_axes(spec.shape.len()), endian };
        let mut metadata = Self::single(spec, order, None, name, Header::Nifti(header))?;
        metadata.attributes = attributes;
        Ok(metadata)
    }

    /// A file of nothing but elements from `offset_bytes` on, whose shape, type and order somebody
    /// says. The chunk shape of `spec` is not looked at.
    pub fn headerless(
        spec: ArraySpec,
        order: ElementOrder,
        record: Option<Value>,
        offset_bytes: u64,
        name: &str,
    ) -> Result<Self, FormatError> {
        let mut metadata = Self::single(spec, order, record, name, Header::None)?;
        metadata.files =
            Files::Single { name: name.to_owned(), offset_bytes, header: Header::None };
        metadata.check().map(|()| metadata)
    }

    /// The data type of a name that somebody gives for a file without a header: `uint16`,
    /// `M8[ns]`.
    pub fn data_type_of(name: &str) -> Result<DataType, FormatError> {
        element_name::parse_name(&Field::new("raw array", "data_type"), name)
    }

    fn single(
        spec: ArraySpec,
        order: ElementOrder,
        record: Option<Value>,
        name: &str,
        header: Header,
    ) -> Result<Self, FormatError> {
        if matches!(name, "" | "." | "..") || name.contains('/') {
            let reason = format!("{name:?} is no name for a file");
            return Err(Field::new("raw array", "name").invalid(reason));
        }
        let mut spec = without_fill_value(spec);
        // The order is checked before it says what a slab is.
        spec.chunk_shape = vec![1; spec.shape.len()];
        let offset_bytes = u64::try_from(header.bytes().len()).unwrap_or(u64::MAX);
        let files = Files::Single { name: name.to_owned(), offset_bytes, header };
        let mut metadata = Self { spec, order, files, record, attributes: Map::new() };
        metadata.check()?;
        let spec = &metadata.spec;
        metadata.spec.chunk_shape =
            slab_shape(&spec.shape, &metadata.order.axes, spec.item_bytes());
        metadata.check().map(|()| metadata)
    }
}

/// Every element is stored: a file has no place for what the others would be.
fn without_fill_value(spec: ArraySpec) -> ArraySpec {
    ArraySpec { fill_value: None::<FillValue>, ..spec }
}
