use rechunk_format::ElementOrder;
use rechunk_grid::{ArraySpec, DataType, Endian, FillValue};

use super::*;
use crate::metadata::{KeyEncoding, Verbatim};
use crate::{BloscName, CodecSpec, Shuffle, parse_v2, parse_v3};

/// Writes metadata and reads it again.
pub(crate) fn reread(metadata: &ArrayMetadata) -> ArrayMetadata {
    let documents = metadata.documents();
    let find = |key: &str| documents.iter().find(|(k, _)| k == key).map(|(_, bytes)| &bytes[..]);
    match metadata.version {
        ZarrVersion::V2 => parse_v2(find(".zarray").unwrap(), find(".zattrs")).unwrap(),
        ZarrVersion::V3 => parse_v3(find("zarr.json").unwrap()).unwrap(),
    }
}

fn metadata(version: ZarrVersion) -> ArrayMetadata {
    let mut attributes = Map::new();
    attributes.insert("units".to_owned(), json!("K"));
    attributes.insert("valid_range".to_owned(), json!([-2.5, "\0token:NaN"]));
    let style = if version == ZarrVersion::V2 { KeyStyle::V2 } else { KeyStyle::Default };
    ArrayMetadata {
        spec: ArraySpec {
            shape: vec![12, 180, 360],
            data_type: DataType::Float32,
            chunk_shape: vec![1, 90, 90],
            edges: None,
            fill_value: Some(FillValue { bytes: 0x7fc0_0000_u32.to_le_bytes().to_vec() }),
            dimension_names: Some(["time", "lat", "lon"].map(|n| Some(n.to_owned())).to_vec()),
        },
        version,
        order: ElementOrder { axes: vec![2, 1, 0], endian: Endian::Little },
        codecs: vec![CodecSpec::Blosc {
            cname: BloscName::Lz4,
            clevel: 5,
            shuffle: Shuffle::Byte,
            typesize: 4,
            blocksize: 0,
        }],
        sharding: None,
        key_encoding: KeyEncoding { style, separator: '/' },
        attributes,
        verbatim: Verbatim::default(),
    }
}

fn text(metadata: &ArrayMetadata, key: &str) -> Option<String> {
    let mut documents = metadata.documents().into_iter();
    let (_, bytes) = documents.find(|(found, _)| found == key)?;
    Some(String::from_utf8(bytes).unwrap())
}

#[test]
fn v2_documents() {
    let metadata = metadata(ZarrVersion::V2);
    let zarray = r#"{
  "zarr_format": 2,
  "shape": [12, 180, 360],
  "chunks": [1, 90, 90],
  "dtype": "<f4",
  "compressor": {
    "id": "blosc",
    "cname": "lz4",
    "clevel": 5,
    "shuffle": 1,
    "blocksize": 0
  },
  "fill_value": "NaN",
  "order": "F",
  "filters": null,
  "dimension_separator": "/"
}
"#;
    let zattrs = r#"{
  "units": "K",
  "valid_range": [-2.5, NaN],
  "_ARRAY_DIMENSIONS": ["time", "lat", "lon"]
}
"#;
    assert_eq!(text(&metadata, ".zarray").unwrap(), zarray);
    assert_eq!(text(&metadata, ".zattrs").unwrap(), zattrs);
    assert_eq!(metadata.documents().last().unwrap().0, ".zarray");
    assert_eq!(reread(&metadata), metadata);
}

#[test]
fn v3_document() {
    let metadata = metadata(ZarrVersion::V3);
    let zarr_json = r#"{
  "zarr_format": 3,
  "node_type": "array",
  "shape": [12, 180, 360],
  "data_type": "float32",
  "chunk_grid": {
    "name": "regular",
    "configuration": {
      "chunk_shape": [1, 90, 90]
    }
  },
  "chunk_key_encoding": {
    "name": "default",
    "configuration": {
      "separator": "/"
    }
  },
  "fill_value": "NaN",
  "codecs": [
    {
      "name": "transpose",
      "configuration": {
        "order": [2, 1, 0]
      }
    },
    {
      "name": "bytes",
      "configuration": {
        "endian": "little"
      }
    },
    {
      "name": "blosc",
      "configuration": {
        "cname": "lz4",
        "clevel": 5,
        "shuffle": "shuffle",
        "typesize": 4,
        "blocksize": 0
      }
    }
  ],
  "attributes": {
    "units": "K",
    "valid_range": [-2.5, NaN]
  },
  "dimension_names": ["time", "lat", "lon"]
}
"#;
    assert_eq!(text(&metadata, "zarr.json").unwrap(), zarr_json);
    assert_eq!(reread(&metadata), metadata);
}

#[test]
fn small_and_plain_arrays() {
    let mut metadata = metadata(ZarrVersion::V2);
    metadata.spec = ArraySpec {
        shape: vec![],
        data_type: DataType::Bool,
        chunk_shape: vec![],
        edges: None,
        fill_value: None,
        dimension_names: None,
    };
    metadata.order.axes = vec![];
    metadata.codecs = vec![CodecSpec::Zstd { level: 0, checksum: false }];
    metadata.attributes = Map::new();
    let zarray = text(&metadata, ".zarray").unwrap();
    assert!(zarray.contains(r#""dtype": "|b1""#) && zarray.contains(r#""fill_value": null"#));
    assert!(zarray.contains(r#""order": "C""#) && !zarray.contains("checksum"));
    assert_eq!(metadata.documents().len(), 1);
    assert_eq!(reread(&metadata), metadata);
}

#[test]
fn groups() {
    let documents = |version| {
        let (key, bytes) = group_documents(version).remove(0);
        (key, String::from_utf8(bytes).unwrap())
    };
    let (key, text) = documents(ZarrVersion::V2);
    assert_eq!((key.as_str(), text.as_str()), (".zgroup", "{\n  \"zarr_format\": 2\n}\n"));
    let (key, text) = documents(ZarrVersion::V3);
    assert_eq!(key, "zarr.json");
    assert_eq!(crate::node_kind(text.as_bytes()).unwrap(), crate::NodeKind::Group);
}
