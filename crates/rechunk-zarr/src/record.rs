//! Records: elements of named fields, `structured` in zarr-python's words.
//!
//! They are moved as bytes and never swapped, so that all that has to be known of the fields is
//! how many bytes they take, and how the other version of Zarr spells them.

use rechunk_format::FormatError;
use rechunk_grid::{DataType, Endian, FillValue, ITEM_BYTES_MAX};
use serde_json::{Map, Value, json};

use crate::codec_json::parse_v3_extension;
use crate::field::{Field, shown};
use crate::fill_value::parse_fill_value;
use crate::json::text;
use crate::metadata::ZarrVersion;
use crate::{types_v2, types_v3};

/// Deepest nesting of records that is read.
const DEPTH_MAX: usize = 16;

/// The fields of a record, in their order, without gaps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    fields: Vec<RecordField>,
}

#[derive(Debug, Clone, PartialEq)]
struct RecordField {
    name: String,
    kind: Kind,
    /// Elements of a field that is an array itself (v2 only); empty for one element.
    shape: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Plain(DataType, Endian),
    Record(Record),
}

impl Record {
    /// Reads `[["a", "<i4"], ["b", "<f8", [2, 3]], ["c", [["d", "|S3"]]]]`.
    pub(crate) fn parse_v2(field: &Field, value: &Value) -> Result<Self, FormatError> {
        Self::parse(field, field.list(value)?, ZarrVersion::V2, 0)
    }

    /// Reads the configuration of `structured` or `struct`.
    pub(crate) fn parse_v3(
        field: &Field,
        configuration: &Map<String, Value>,
    ) -> Result<Self, FormatError> {
        Self::parse_configuration(field, configuration, 0)
    }

    fn parse_configuration(
        field: &Field,
        configuration: &Map<String, Value>,
        depth: usize,
    ) -> Result<Self, FormatError> {
        let field = field.child("configuration").child("fields");
        let fields = configuration.get("fields").ok_or_else(|| field.invalid("is missing"))?;
        Self::parse(&field, field.list(fields)?, ZarrVersion::V3, depth)
    }

    fn parse(
        field: &Field,
        list: &[Value],
        version: ZarrVersion,
        depth: usize,
    ) -> Result<Self, FormatError> {
        if depth > DEPTH_MAX {
            return Err(field.unsupported(format!("records in records, {depth} deep"), ""));
        }
        if list.is_empty() {
            return Err(field.invalid("a record has at least one field"));
        }
        let fields = list.iter().map(|item| RecordField::parse(field, item, version, depth));
        let record = Self { fields: fields.collect::<Result<_, _>>()? };
        match record.bytes() {
            Some(bytes) if (1..=ITEM_BYTES_MAX).contains(&bytes) => Ok(record),
            _ => {
                let hint = format!("a record has 1 to {ITEM_BYTES_MAX} bytes");
                Err(field.unsupported(format!("the record {}", record.describe()), &hint))
            }
        }
    }

    /// Bytes of a record.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.fields.iter().try_fold(0_u64, |sum, field| sum.checked_add(field.bytes()?))
    }

    /// The data type it is to the rest of the program.
    pub(crate) fn data_type(&self) -> DataType {
        let bytes = self.bytes().and_then(|bytes| u32::try_from(bytes).ok());
        DataType::Structured { bytes: bytes.unwrap_or(u32::MAX) }
    }

    /// The fields for people: `{a: int32, b: float64[2,3]}`. Equal for equal records, whichever
    /// version spells them; big-endian fields say so.
    pub(crate) fn describe(&self) -> String {
        let fields: Vec<String> = self.fields.iter().map(RecordField::describe).collect();
        format!("{{{}}}", fields.join(", "))
    }

    /// As v2 spells it; `None` if a field has a type that v2 has no name for. `endian` is the byte
    /// order of all fields where v3's codec `bytes` says it.
    pub(crate) fn to_v2(&self, endian: Endian) -> Option<Value> {
        self.fields.iter().map(|field| field.to_v2(endian)).collect()
    }

    /// As zarr-python 3.1 spells it in v3, which knows neither big-endian fields nor fields that
    /// are arrays: then the reason.
    pub(crate) fn to_v3(&self) -> Result<Value, String> {
        let fields: Vec<Value> =
            self.fields.iter().map(RecordField::to_v3).collect::<Result<_, _>>()?;
        Ok(json!({"name": "structured", "configuration": {"fields": fields}}))
    }

    /// The fill value of `struct`: an object with a value for every field. Its bytes are as they
    /// are stored in the byte order `endian`, because records are never swapped.
    pub(crate) fn parse_fill_value(
        &self,
        field: &Field,
        value: &Value,
        endian: Endian,
    ) -> Result<FillValue, FormatError> {
        let map = field.object(value)?;
        let mut bytes = Vec::new();
        for part in &self.fields {
            let field = field.child(&part.name);
            let value = map.get(&part.name).ok_or_else(|| field.invalid("is missing"))?;
            match &part.kind {
                Kind::Record(record) => {
                    bytes.extend(record.parse_fill_value(&field, value, endian)?.bytes);
                }
                Kind::Plain(data_type, _) => {
                    let parsed = parse_fill_value(&field, value, *data_type, ZarrVersion::V3)?;
                    let mut item = parsed.map(|parsed| parsed.bytes).unwrap_or_default();
                    if endian == Endian::Big {
                        let swap_bytes = usize::try_from(data_type.swap_bytes()).unwrap_or(1);
                        item.chunks_mut(swap_bytes.max(1)).for_each(<[u8]>::reverse);
                    }
                    bytes.extend(item);
                }
            }
        }
        Ok(FillValue { bytes })
    }
}

impl RecordField {
    fn parse(
        field: &Field,
        value: &Value,
        version: ZarrVersion,
        depth: usize,
    ) -> Result<Self, FormatError> {
        let wrong = || field.invalid(format!("{} is not a field of a record", shown(value)));
        let (name, kind, shape) = match (value, version) {
            (Value::Array(parts), _) => match (parts.as_slice(), version) {
                ([name, kind], _) => (name, kind, None),
                ([name, kind, shape], ZarrVersion::V2) => (name, kind, Some(shape)),
                _ => return Err(wrong()),
            },
            (Value::Object(map), ZarrVersion::V3) => {
                let (name, kind) = (map.get("name"), map.get("data_type"));
                (name.ok_or_else(wrong)?, kind.ok_or_else(wrong)?, None)
            }
            _ => return Err(wrong()),
        };
        let name = text(name).ok_or_else(wrong)?;
        let kind_field = field.child(name);
        let kind = match version {
            ZarrVersion::V2 => parse_v2_kind(&kind_field, kind, depth)?,
            ZarrVersion::V3 => parse_v3_kind(&kind_field, kind, depth)?,
        };
        let shape = shape.map(|shape| parse_shape(&kind_field, shape)).transpose()?;
        Ok(Self { name: name.to_owned(), kind, shape: shape.unwrap_or_default() })
    }

    fn bytes(&self) -> Option<u64> {
        let item = match &self.kind {
            Kind::Plain(data_type, _) => data_type.item_bytes(),
            Kind::Record(record) => record.bytes()?,
        };
        rechunk_grid::element_count(&self.shape)?.checked_mul(item)
    }

    fn describe(&self) -> String {
        let kind = match &self.kind {
            Kind::Plain(data_type, Endian::Big) => format!("{data_type} big-endian"),
            Kind::Plain(data_type, Endian::Little) => data_type.name(),
            Kind::Record(record) => record.describe(),
        };
        // Names come from a document: no control characters in messages.
        let name = self.name.escape_debug();
        if self.shape.is_empty() {
            format!("{name}: {kind}")
        } else {
            format!("{name}: {kind} {:?}", self.shape)
        }
    }

    fn to_v2(&self, endian: Endian) -> Option<Value> {
        let kind = match &self.kind {
            Kind::Plain(data_type, own) => {
                let is_big = *own == Endian::Big || endian == Endian::Big;
                let endian = if is_big { Endian::Big } else { Endian::Little };
                Value::from(types_v2::write(*data_type, endian)?)
            }
            Kind::Record(record) => record.to_v2(endian)?,
        };
        Some(if self.shape.is_empty() {
            json!([self.name, kind])
        } else {
            json!([self.name, kind, self.shape])
        })
    }

    fn to_v3(&self) -> Result<Value, String> {
        if !self.shape.is_empty() {
            return Err(format!("the field {:?}, which is an array, in Zarr v3", self.name));
        }
        match &self.kind {
            Kind::Plain(_, Endian::Big) => {
                Err(format!("the big-endian field {:?} in Zarr v3", self.name))
            }
            Kind::Plain(data_type, Endian::Little) => {
                Ok(json!([self.name, types_v3::write(*data_type)]))
            }
            Kind::Record(record) => Ok(json!([self.name, record.to_v3()?])),
        }
    }
}

fn parse_v2_kind(field: &Field, value: &Value, depth: usize) -> Result<Kind, FormatError> {
    if let Value::Array(list) = value {
        return Record::parse(field, list, ZarrVersion::V2, depth + 1).map(Kind::Record);
    }
    let (data_type, endian) = types_v2::parse(field, field.text(value)?)?;
    Ok(Kind::Plain(data_type, endian))
}

fn parse_v3_kind(field: &Field, value: &Value, depth: usize) -> Result<Kind, FormatError> {
    let (name, configuration) = parse_v3_extension(field, value)?;
    if is_record(name) {
        return Record::parse_configuration(field, &configuration, depth + 1).map(Kind::Record);
    }
    types_v3::parse(field, name, &configuration)?
        .map(|data_type| Kind::Plain(data_type, Endian::Little))
        .ok_or_else(|| field.unsupported(format!("data type {name:?} in a record"), ""))
}

/// NumPy's shape of a field: a list, or a number for one axis.
fn parse_shape(field: &Field, value: &Value) -> Result<Vec<u64>, FormatError> {
    match value.as_u64() {
        Some(extent) => Ok(vec![extent]),
        None => field.shape(value),
    }
}

/// True for the names of records in v3.
pub(crate) fn is_record(name: &str) -> bool {
    matches!(name, "structured" | "struct")
}

/// True if a v3 data type is `struct`, whose byte order the codec `bytes` has to say.
pub(crate) fn says_endian(value: &Value) -> bool {
    value["name"] == "struct"
}

/// Reads the record that a document of `version` describes; `None` if it is no record.
pub(crate) fn of(value: &Value, version: ZarrVersion) -> Option<Record> {
    let field = Field::new("data type", "");
    match version {
        ZarrVersion::V2 => value.is_array().then(|| Record::parse_v2(&field, value).ok())?,
        ZarrVersion::V3 => {
            let (name, configuration) = parse_v3_extension(&field, value).ok()?;
            is_record(name).then(|| Record::parse_v3(&field, &configuration).ok())?
        }
    }
}

#[cfg(test)]
mod tests;
