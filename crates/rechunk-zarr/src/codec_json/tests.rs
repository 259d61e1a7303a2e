//! Codecs as writers spell them that numcodecs does not follow.

use serde_json::{Value, json};

use crate::codec_spec::CodecSpec;
use crate::{parse_v2, parse_v3};

fn v2(dtype: &str, filters: &Value, compressor: &Value) -> Result<Vec<CodecSpec>, String> {
    let document = json!({
        "zarr_format": 2, "shape": [6], "chunks": [4], "dtype": dtype, "fill_value": null,
        "order": "C", "filters": filters, "compressor": compressor,
    });
    let read = parse_v2(document.to_string().as_bytes(), None);
    read.map(|metadata| metadata.codecs).map_err(|error| error.to_string())
}

fn v3(data_type: &str, codec: &Value) -> Result<Vec<CodecSpec>, String> {
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [6], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": [bytes, codec],
    });
    let read = parse_v3(document.to_string().as_bytes());
    read.map(|metadata| metadata.codecs).map_err(|error| error.to_string())
}

#[test]
fn a_shuffle_of_size_0_goes_by_the_type() {
    let zlib = json!({"id": "zlib", "level": 4});
    for (dtype, item_bytes) in
        [("|u1", 1), ("<i2", 2), (">i2", 2), ("<f4", 4), ("<f8", 8), ("<c16", 16)]
    {
        for (told, element_bytes) in [
            (json!(0), item_bytes),
            (json!("0"), item_bytes), // netCDF-C 4.9 puts numbers in quotes
            (json!(1), 1),
            (json!(4), 4),
            (Value::Null, 4), // what numcodecs takes where nothing is said
        ] {
            let filters = json!([{"id": "shuffle", "elementsize": told}]);
            let codecs = v2(dtype, &filters, &zlib).unwrap();
            assert_eq!(codecs[0], CodecSpec::Shuffle { element_bytes }, "{dtype} {told}");
        }
    }
    let shuffle = json!({"name": "numcodecs.shuffle", "configuration": {"elementsize": 0}});
    // Behind the codec `bytes` an element is a byte.
    assert_eq!(v3("int32", &shuffle).unwrap(), [CodecSpec::Shuffle { element_bytes: 1 }]);
}

#[test]
fn words_of_gdal_for_the_checksum_of_zstd() {
    for (told, checksum) in [
        (json!("NO"), Some(false)),
        (json!("YES"), Some(true)),
        (json!(false), Some(false)),
        (json!(true), Some(true)),
        (Value::Null, Some(false)),
        (json!("no"), None),
        (json!("MAYBE"), None),
        (json!(1), None),
    ] {
        let zstd = json!({"id": "zstd", "level": 13, "checksum": told});
        let read = v2("<u2", &Value::Null, &zstd);
        match checksum {
            Some(checksum) => {
                assert_eq!(read.unwrap(), [CodecSpec::Zstd { level: 13, checksum }], "{told}");
            }
            None => assert!(read.unwrap_err().contains("expected true or false"), "{told}"),
        }
        // v3 has its own words.
        let zstd = json!({"name": "zstd", "configuration": {"level": 13, "checksum": told}});
        assert_eq!(v3("uint16", &zstd).is_ok(), !told.is_string() && !told.is_number(), "{told}");
    }
}
