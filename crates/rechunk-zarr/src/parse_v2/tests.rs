use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::dimension_names::V2_DIMENSIONS;
use crate::{BloscName, Shuffle};

fn document() -> Value {
    json!({
        "zarr_format": 2, "shape": [10, 20], "chunks": [3, 7], "dtype": ">f4",
        "compressor": {"id": "zstd", "level": 3, "checksum": false}, "fill_value": "NaN",
        "order": "F", "filters": null, "dimension_separator": "/", "unknown": 1,
    })
}

fn with(name: &str, value: Value) -> Result<ArrayMetadata, FormatError> {
    let mut document = document();
    document[name] = value;
    parse_v2(document.to_string().as_bytes(), None)
}

fn refuse(name: &str, value: Value) -> String {
    with(name, value).unwrap_err().to_string()
}

#[test]
fn an_ordinary_array() {
    let zattrs = br#"{"b": NaN, "_ARRAY_DIMENSIONS": ["y", "x"], "a": 1}"#;
    let metadata = parse_v2(document().to_string().as_bytes(), Some(zattrs)).unwrap();
    assert_eq!(metadata.spec.shape, [10, 20]);
    assert_eq!(metadata.spec.chunk_shape, [3, 7]);
    assert_eq!(metadata.order, ElementOrder { axes: vec![1, 0], endian: Endian::Big });
    assert_eq!(metadata.codecs, [CodecSpec::Zstd { level: 3, checksum: false }]);
    assert_eq!(metadata.key_encoding.chunk_key(&[1, 2]), "1/2");
    let names = metadata.spec.dimension_names.unwrap();
    assert_eq!(names, [Some("y".to_owned()), Some("x".to_owned())]);
    assert_eq!(metadata.attributes.keys().collect::<Vec<_>>(), ["b", "a"]);
}

#[test]
fn defaults_and_absent_things() {
    let mut document = document();
    let map = document.as_object_mut().unwrap();
    map.remove("dimension_separator");
    map.remove("filters");
    map["compressor"] = Value::Null;
    map["fill_value"] = Value::Null;
    let metadata = parse_v2(document.to_string().as_bytes(), None).unwrap();
    assert_eq!(metadata.key_encoding.separator, '.');
    assert!(metadata.codecs.is_empty() && metadata.spec.fill_value.is_none());
}

#[test]
fn compressors() {
    let blosc = json!({"id": "blosc", "cname": "lz4hc", "clevel": 0, "shuffle": -1});
    assert_eq!(
        with("compressor", blosc).unwrap().codecs,
        [CodecSpec::Blosc {
            cname: BloscName::Lz4hc,
            clevel: 0,
            shuffle: Shuffle::Auto,
            typesize: 4,
            blocksize: 0,
        }]
    );
    let zlib = with("compressor", json!({"id": "zlib", "level": -1})).unwrap();
    assert_eq!(zlib.codecs, [CodecSpec::Zlib { level: -1 }]);
    let high = with("compressor", json!({"id": "zstd", "level": 99})).unwrap();
    assert_eq!(high.codecs, [CodecSpec::Zstd { level: 22, checksum: false }]);
}

#[test]
fn dimension_names_that_do_not_fit_stay_attributes() {
    for names in [r#"["y"]"#, r#"["y", null]"#, r#""yx""#] {
        let zattrs = format!("{{\"_ARRAY_DIMENSIONS\": {names}}}");
        let metadata =
            parse_v2(document().to_string().as_bytes(), Some(zattrs.as_bytes())).unwrap();
        assert_eq!(metadata.spec.dimension_names, None);
        assert!(metadata.attributes.contains_key(V2_DIMENSIONS));
    }
}

#[test]
fn errors_name_document_and_field() {
    for (name, value, message) in [
        ("zarr_format", json!(3), r#".zarray: "zarr_format": expected an integer from 2 to 2"#),
        (
            "shape",
            json!([10, -20]),
            r#".zarray: "shape": expected a list of non-negative integers"#,
        ),
        ("chunks", json!([3.5, 7]), r#".zarray: "chunks": expected a list of non-negative"#),
        ("chunks", json!([3]), r#".zarray: "chunks": the array has 2 axes but the chunk shape"#),
        ("chunks", json!([0, 7]), r#".zarray: "chunks": the chunk extent of axis 0 is 0"#),
        ("shape", json!([1_u64 << 40, 1_u64 << 40]), r#".zarray: "chunks": the element count"#),
        ("chunks", json!([1 << 20, 1 << 20]), "a chunk of 4398046511104 bytes is not supported"),
        ("dtype", json!("<f16"), r#".zarray: "dtype": data type "<f16" is not supported"#),
        ("dtype", json!("|f4"), "does not say its byte order"),
        ("dtype", json!([["a", "<f16"]]), r#".zarray: "dtype.a": data type "<f16" is not"#),
        ("dtype", json!("|O"), "no filter says how elements"),
        ("order", json!("K"), r#".zarray: "order": expected "C" or "F", found "K""#),
        ("filters", json!([{"id": "json2"}]), r#".zarray: "filters[0]": codec "json2" is not"#),
        ("filters", json!([{"id": "delta"}]), r#".zarray: "filters[0].dtype": is missing"#),
        ("filters", json!(vec![json!({"id": "crc32"}); 65]), "a chain of 65 filters is not"),
        ("compressor", json!({"id": "lzo"}), r#".zarray: "compressor": codec "lzo" is not"#),
        (
            "compressor",
            json!({"id": "zfpy", "mode": 9}),
            if rechunk_codec::zfp::IS_BUILT_IN {
                r#".zarray: "compressor.mode": mode 9 is not supported"#
            } else {
                r#"codec "zfpy" is not supported; this program was built without zfp"#
            },
        ),
        ("compressor", json!({"level": 1}), r#".zarray: "compressor.id": is missing"#),
        ("compressor", json!("zstd"), r#".zarray: "compressor": expected an object"#),
        (
            "compressor",
            json!({"id": "blosc", "cname": "lz5"}),
            r#".zarray: "compressor.cname": blosc compressor "lz5" is not supported"#,
        ),
        ("compressor", json!({"id": "gzip", "level": 10}), "expected an integer from -1 to 9"),
        ("dimension_separator", json!(":"), r#"expected "." or "/", found ":""#),
        ("fill_value", json!("x"), r#".zarray: "fill_value": "x" is not a float32"#),
    ] {
        let error = refuse(name, value);
        assert!(error.contains(message), "{error}\nshould contain\n{message}");
    }
}

#[test]
fn blosc_takes_elements_larger_than_its_typesize() {
    let mut document = document();
    document["dtype"] = json!("|S300");
    document["fill_value"] = json!("");
    for codec in [json!({"id": "blosc"}), json!({"id": "blosc", "typesize": 300})] {
        document["compressor"] = codec;
        let metadata = parse_v2(document.to_string().as_bytes(), None).unwrap();
        assert!(matches!(metadata.codecs[..], [CodecSpec::Blosc { typesize: 1, .. }]));
    }
}

#[test]
fn blosc_chunks_have_a_limit_of_their_own() {
    let mut document = document();
    document["chunks"] = json!([1, 536_870_908]);
    document["compressor"] = json!({"id": "blosc"});
    let error = parse_v2(document.to_string().as_bytes(), None).unwrap_err().to_string();
    assert!(error.contains("2147483632 bytes with codec \"blosc\" is not supported"), "{error}");
    document["chunks"] = json!([1, 536_870_907]);
    assert!(parse_v2(document.to_string().as_bytes(), None).is_ok());
}

/// Documents that programs really write, each in its way. Beside each are its type, the fill value
/// as we would write it, the key of chunk (1, 2), codecs and attributes that are left.
#[test]
fn what_writers_write() {
    let writers = [
        (
            "zarr-python 2.4, which named no separator",
            r#"{"chunks": [5, 4], "compressor": {"blocksize": 0, "clevel": 5, "cname": "lz4",
                "id": "blosc", "shuffle": 1}, "dtype": "<f8", "fill_value": NaN, "filters": null,
                "order": "C", "shape": [10, 20], "zarr_format": 2}"#,
            r#"{"_ARRAY_DIMENSIONS": ["y", "x"], "scale": NaN}"#,
            "float64 NaN 1.2 1 codecs [scale]",
        ),
        (
            "zarr.js, with a list of no filters",
            r#"{"zarr_format": 2, "shape": [10, 20], "chunks": [5, 4], "dtype": "<i4",
                "fill_value": null, "order": "C", "filters": [], "dimension_separator": ".",
                "compressor": {"id": "zlib", "level": 1}}"#,
            "{}",
            "int32 null 1.2 1 codecs []",
        ),
        (
            "xarray: a packed variable",
            r#"{"chunks": [10, 20], "compressor": null, "dtype": "<i2", "fill_value": -32767,
                "filters": null, "order": "C", "shape": [10, 20], "zarr_format": 2}"#,
            r#"{"_ARRAY_DIMENSIONS": ["y", "x"], "add_offset": 273.15, "_FillValue": NaN,
                "coordinates": "lat lon"}"#,
            "int16 -32767 1.2 0 codecs [add_offset _FillValue coordinates]",
        ),
        (
            "GDAL",
            r#"{"zarr_format": 2, "shape": [10, 20], "chunks": [5, 4], "dtype": "<f4",
                "compressor": {"id": "gzip", "level": 6}, "fill_value": "NaN", "order": "C",
                "filters": null, "dimension_separator": "."}"#,
            r#"{"_ARRAY_DIMENSIONS": ["Y", "X"], "_CRS": {"wkt": "PROJCRS[]"}}"#,
            "float32 NaN 1.2 1 codecs [_CRS]",
        ),
        (
            "netCDF-C 4.8: its own member in .zarray, and a level in quotes",
            r#"{"zarr_format": 2, "shape": [10, 20], "dtype": "<f4", "chunks": [5, 4],
                "fill_value": 9.96921e+36, "order": "C", "compressor": {"id": "zlib", "level": "9"},
                "filters": null, "_NCZARR_ARRAY": {"dimrefs": ["/y", "/x"], "storage": "chunked"}}"#,
            r#"{"_NCZARR_ATTR": {"types": {"a": "<f4"}}, "a": 1}"#,
            "float32 9.96921e+36 1.2 1 codecs [_NCZARR_ATTR a]",
        ),
        (
            "netCDF-C 4.9: its own attributes",
            r#"{"zarr_format": 2, "shape": [10, 20], "dtype": "|i1", "chunks": [10, 20],
                "fill_value": -127, "order": "C", "compressor": null, "filters": []}"#,
            r#"{"_ARRAY_DIMENSIONS": ["y", "x"], "_nczarr_array": {"dimension_references": ["/y"]}}"#,
            "int8 -127 1.2 0 codecs [_nczarr_array]",
        ),
        (
            "n5-zarr: a fill value in quotes, threads for blosc",
            r#"{"shape": [10, 20], "chunks": [5, 4], "fill_value": "0", "dtype": ">u2",
                "filters": [], "dimension_separator": "/", "zarr_format": 2, "compressor":
                {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0,
                "nthreads": 1}, "order": "C"}"#,
            "{}",
            "uint16 0 1/2 1 codecs []",
        ),
        (
            "n5-zarr, of floats",
            r#"{"zarr_format": 2, "shape": [10, 20], "chunks": [5, 4], "dtype": "<f4",
                "compressor": {"id": "zstd", "level": 3, "nbWorkers": 0}, "fill_value": "0.0",
                "order": "F", "filters": null, "dimension_separator": "/"}"#,
            "{}",
            "float32 0.0 1/2 1 codecs []",
        ),
        (
            "tensorstore",
            r#"{"chunks": [5, 4], "compressor": {"id": "zstd", "level": 1}, "dimension_separator":
                ".", "dtype": "<u8", "fill_value": null, "filters": null, "order": "C", "shape":
                [10, 20], "zarr_format": 2}"#,
            "{}",
            "uint64 null 1.2 1 codecs []",
        ),
        (
            "zarrs: what is v3 in a v2 document",
            r#"{"zarr_format": 2, "node_type": "array", "shape": [10, 20], "chunks": [5, 4],
                "dtype": "|b1", "compressor": null, "fill_value": false, "order": "C",
                "filters": null, "dimension_separator": "/"}"#,
            r#"{"_zarrs": {"description": "zarrs", "version": "0.23"}}"#,
            "bool false 1/2 0 codecs [_zarrs]",
        ),
        (
            "kerchunk, of a netCDF-4 file without filters",
            r#"{"chunks":[10,20],"compressor":null,"dtype":"<f4","fill_value":-9999.0,"filters":null,"order":"C","shape":[10,20],"zarr_format":2}"#,
            r#"{"_ARRAY_DIMENSIONS":["y","x"],"missing_value":-9999.0,"valid_range":[-Infinity,1.0]}"#,
            "float32 -9999.0 1.2 0 codecs [missing_value valid_range]",
        ),
    ];
    for (writer, zarray, zattrs, expected) in writers {
        let metadata = parse_v2(zarray.as_bytes(), Some(zattrs.as_bytes()))
            .unwrap_or_else(|error| panic!("{writer}: {error}"));
        assert_eq!(words(&metadata, &[1, 2]), expected, "{writer}");
        assert_eq!(crate::documents::tests::reread(&metadata), metadata, "{writer}");
    }
}

/// The parts of metadata that writers spell in their own way.
pub(crate) fn words(metadata: &ArrayMetadata, index: &[u64]) -> String {
    let names: Vec<&str> = metadata.attributes.keys().map(String::as_str).collect();
    format!(
        "{} {} {} {} codecs [{}]",
        metadata.spec.data_type.name(),
        metadata.fill_value_text(),
        metadata.key_encoding.chunk_key(index),
        metadata.codecs.len(),
        names.join(" ")
    )
}

proptest! {
    /// No document makes the parser panic, and what it accepts can be written and read again.
    #[test]
    fn mutated_documents(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = document().to_string().into_bytes();
        for (position, byte) in edits {
            let position = position.index(bytes.len());
            bytes[position] = byte;
        }
        if let Ok(metadata) = parse_v2(&bytes, Some(&bytes)) {
            prop_assert_eq!(crate::documents::tests::reread(&metadata), metadata);
        }
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(parse_v2(&bytes, None).is_err());
    }
}
