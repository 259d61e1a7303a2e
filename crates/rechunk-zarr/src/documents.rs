//! Writing metadata documents.

use rechunk_grid::{DataType, Endian};
use serde_json::{Map, Value, json};

use crate::codec_json::{write_v2_codec, write_v3_codec};
use crate::codec_spec::CodecSpec;
use crate::dimension_names::V2_DIMENSIONS;
use crate::group::GroupMetadata;
use crate::json::write_pretty;
use crate::metadata::{ArrayMetadata, KeyStyle, ZarrVersion};
use crate::{chunk_lengths, record, sharding, types_v2, types_v3};

impl ArrayMetadata {
    /// The documents that describe this array, as (key relative to the array, bytes): `.zarray`
    /// and, unless it would be empty, `.zattrs`; or `zarr.json`.
    ///
    /// The array's own document comes last: whoever writes them in order commits with it.
    pub fn documents(&self) -> Vec<(String, Vec<u8>)> {
        let (attributes, array) = match self.version {
            ZarrVersion::V2 => (self.zattrs(), self.zarray()),
            ZarrVersion::V3 => (None, self.zarr_json()),
        };
        let attributes = attributes.map(|value| (".zattrs".to_owned(), write_pretty(&value)));
        let array = (self.version.document_key().to_owned(), write_pretty(&array));
        attributes.into_iter().chain([array]).collect()
    }

    /// Fields of its own document that say how long it is, with their values. They are the shape,
    /// and the chunk grid where that lists lengths.
    pub fn extent_fields(&self) -> Vec<(&'static str, Value)> {
        let shape = ("shape", Value::from(&self.spec.shape[..]));
        let edges = self.spec.edges.as_ref();
        let grid = edges.map(|edges| ("chunk_grid", chunk_lengths::write(&self.spec, edges)));
        [shape].into_iter().chain(grid).collect()
    }

    fn zarray(&self) -> Value {
        let spec = &self.spec;
        let is_c = self.order.axes.iter().copied().eq(0..spec.shape.len());
        let (filters, compressor) = self.v2_codecs();
        json!({
            "zarr_format": 2,
            "shape": spec.shape,
            "chunks": spec.chunk_shape,
            "dtype": self.v2_dtype(),
            "compressor": compressor,
            "fill_value": self.fill_value_json(),
            "order": if is_c { "C" } else { "F" },
            "filters": filters,
            "dimension_separator": self.key_encoding.separator,
        })
    }

    /// Filters and compressor.
    fn v2_codecs(&self) -> (Value, Value) {
        if let Some(codecs) = &self.verbatim.codecs {
            return (codecs["filters"].clone(), codecs["compressor"].clone());
        }
        // Readers look for a compressor at the end of the chain; what else is there is a filter.
        let (filters, compressor) = match self.codecs.split_last() {
            Some((last, filters)) if last.is_compressor() => (filters, Some(last)),
            _ => (&self.codecs[..], None),
        };
        let filters: Vec<Value> = filters.iter().map(write_v2_codec).collect();
        let filters = if filters.is_empty() { Value::Null } else { Value::Array(filters) };
        (filters, json!(compressor.map(write_v2_codec)))
    }

    fn zattrs(&self) -> Option<Value> {
        let mut attributes = self.attributes.clone();
        // A name that is not there cannot be said in v2: all or none.
        let names = self.spec.dimension_names.clone();
        if let Some(names) = names.and_then(|names| names.into_iter().collect::<Option<Vec<_>>>()) {
            attributes.insert(V2_DIMENSIONS.to_owned(), Value::from(names));
        }
        (!attributes.is_empty()).then_some(Value::Object(attributes))
    }

    fn zarr_json(&self) -> Value {
        let spec = &self.spec;
        let style = match self.key_encoding.style {
            KeyStyle::Default => "default",
            KeyStyle::V2 => "v2",
        };
        let mut document = json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": spec.shape,
            "data_type": self.v3_data_type(),
            "chunk_grid": match &spec.edges {
                Some(edges) => chunk_lengths::write(spec, edges),
                None => json!({
                    "name": "regular",
                    "configuration": {"chunk_shape": self.object_shape()},
                }),
            },
            "chunk_key_encoding": {
                "name": style,
                "configuration": {"separator": self.key_encoding.separator},
            },
            "fill_value": self.fill_value_json(),
            "codecs": match &self.sharding {
                Some(shards) => {
                    vec![sharding::write(shards, &spec.chunk_shape, &self.v3_codecs())]
                }
                None => self.v3_codecs(),
            },
            "attributes": self.attributes,
        });
        if let Some(map) = document.as_object_mut() {
            if let Some(names) = &spec.dimension_names {
                map.insert("dimension_names".to_owned(), json!(names));
            }
            map.extend(self.verbatim.fields.clone());
        }
        document
    }

    /// NumPy's type string, or the fields of a record. [`crate::target_metadata`] has refused what
    /// has none.
    fn v2_dtype(&self) -> Value {
        let kept = self.verbatim.data_type.clone();
        kept.unwrap_or_else(|| json!(types_v2::write(self.spec.data_type, self.order.endian)))
    }

    fn v3_data_type(&self) -> Value {
        let kept = self.verbatim.data_type.clone();
        kept.unwrap_or_else(|| types_v3::write(self.spec.data_type))
    }

    /// The configuration of the codec `bytes`: none where there is nothing to swap.
    fn v3_bytes_codec(&self) -> Value {
        let is_needed = match self.spec.data_type {
            // zarr-python's records have no byte order; those of zarr-extensions have to say it.
            DataType::Structured { .. } => {
                self.order.endian == Endian::Big
                    || self.verbatim.data_type.as_ref().is_some_and(record::says_endian)
            }
            data_type => data_type.swap_bytes() > 1,
        };
        if is_needed {
            json!({"name": "bytes", "configuration": {"endian": self.order.endian}})
        } else {
            json!({"name": "bytes"})
        }
    }

    fn v3_codecs(&self) -> Vec<Value> {
        if let Some(codecs) = self.verbatim.codecs.as_ref().and_then(Value::as_array) {
            return codecs.clone();
        }
        let mut codecs = Vec::with_capacity(self.codecs.len() + 2);
        let is_block = |codec: &CodecSpec| matches!(codec, CodecSpec::N5Block(_));
        let mut order = self.order.axes.clone();
        if self.codecs.iter().any(is_block) {
            order.reverse(); // a block says so itself
        }
        if !order.iter().copied().eq(0..self.spec.shape.len()) {
            codecs.push(json!({"name": "transpose", "configuration": {"order": order}}));
        }
        let is_filter = |codec: &&CodecSpec| codec.is_array_to_array();
        let filters = self.codecs.iter().take_while(is_filter).count();
        let (filters, rest) = self.codecs.split_at(filters);
        codecs.extend(filters.iter().map(write_v3_codec));
        let encoded = filters.iter().fold(self.element(), |element, codec| codec.output(element));
        match rest.first() {
            Some(codec) if codec.is_array_to_bytes() => {}
            _ if filters.is_empty() => codecs.push(self.v3_bytes_codec()),
            _ if encoded.item_bytes() == 1 => codecs.push(json!({"name": "bytes"})),
            _ => codecs.push(json!({"name": "bytes", "configuration": {"endian": encoded.endian}})),
        }
        codecs.extend(rest.iter().map(write_v3_codec));
        codecs
    }
}

/// The document of a group without attributes, as (key relative to the group, bytes).
pub fn group_documents(version: ZarrVersion) -> Vec<(String, Vec<u8>)> {
    group_documents_of(version, &GroupMetadata::default())
}

/// The documents of a group, as (key relative to the group, bytes): what makes it one comes last.
/// Without attributes v2 has one document only, and it has no place for extensions.
pub fn group_documents_of(version: ZarrVersion, group: &GroupMetadata) -> Vec<(String, Vec<u8>)> {
    let documents = group_members(version, group).into_iter();
    documents.map(|(key, value)| (key.to_owned(), write_pretty(&value))).collect()
}

/// The documents of a group as values, by their keys.
pub(crate) fn group_members(
    version: ZarrVersion,
    group: &GroupMetadata,
) -> Vec<(&'static str, Value)> {
    let attributes = &group.attributes;
    match version {
        ZarrVersion::V2 => {
            let zattrs = (!attributes.is_empty()).then(|| (".zattrs", json!(attributes)));
            zattrs.into_iter().chain([(".zgroup", json!({"zarr_format": 2}))]).collect()
        }
        ZarrVersion::V3 => {
            let document =
                json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
            let own = document.as_object().cloned().unwrap_or_default();
            let all: Map<_, _> = own.into_iter().chain(group.extensions.clone()).collect();
            vec![("zarr.json", Value::Object(all))]
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
