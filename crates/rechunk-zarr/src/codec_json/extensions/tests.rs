use rechunk_grid::{DataType, Endian};
use serde_json::{Value, json};

use crate::codec_json::{parse_v3_codec, parse_v3_extension, write_v3_codec};
use crate::codec_spec::CodecSpec;
use crate::element_type::ElementType;
use crate::field::Field;

fn parse(codec: &Value, data_type: DataType) -> Result<CodecSpec, String> {
    let field = Field::new("zarr.json", "codecs[0]");
    let (name, configuration) = parse_v3_extension(&field, codec).map_err(|e| e.to_string())?;
    let element = ElementType::new(data_type, Endian::Little);
    parse_v3_codec(&field, name, &configuration, element, Endian::Little)
        .map_err(|error| error.to_string())
}

fn scale_offset(configuration: &Value) -> Value {
    json!({"name": "scale_offset", "configuration": configuration})
}

fn cast_value(configuration: &Value) -> Value {
    json!({"name": "cast_value", "configuration": configuration})
}

#[test]
fn what_is_read_is_written_again_with_the_same_meaning() {
    let int4 = DataType::from_name("int4").unwrap();
    let nan = json!({"encode": [["NaN", 0], ["-Infinity", 1]], "decode": [[0, "NaN"]]});
    let integers = json!({"decode": [[255, -1]]});
    let cases = [
        (
            DataType::Float32,
            scale_offset(&json!({"offset": -0.1, "scale": 10000})),
            "scale_offset(offset -0.1, scale 10000",
        ),
        (
            DataType::Uint16,
            scale_offset(&json!({"offset": 1000})),
            "scale_offset(offset 1000, scale 1)",
        ),
        (DataType::Int64, json!("scale_offset"), "scale_offset(offset 0, scale 1)"),
        (
            DataType::Float64,
            scale_offset(&json!({"offset": "+Infinity", "scale": "2.5"})),
            "scale 2.5)",
        ),
        (
            DataType::Float32,
            cast_value(&json!({"data_type": "uint16"})),
            "cast_value(float32 as uint16)",
        ),
        (
            DataType::Float32,
            cast_value(&json!({"data_type": "uint16", "scalar_map": nan, "out_of_range": "clamp"})),
            "cast_value(float32 as uint16, clamp, 2 values mapped)",
        ),
        (
            DataType::Int32,
            cast_value(
                &json!({"data_type": "uint8", "out_of_range": "wrap", "rounding": "towards-zero", "scalar_map": integers}),
            ),
            "cast_value(int32 as uint8, towards-zero, wrap, 1 value mapped)",
        ),
        (
            DataType::Float64,
            cast_value(
                &json!({"data_type": {"name": "float16"}, "out_of_range": null, "scalar_map": null}),
            ),
            "cast_value(float64 as float16)",
        ),
        (int4, json!({"name": "packbits"}), "packbits(bits 0 to 3)"),
        (
            int4,
            json!({"name": "packbits", "configuration": {"first_bit": 1, "last_bit": null, "padding_encoding": "last_byte"}}),
            "packbits(bits 1 to 3)",
        ),
        (
            DataType::Bool,
            json!({"name": "packbits", "configuration": {"first_bit": 0, "last_bit": 0}}),
            "packbits",
        ),
        (
            DataType::Int8,
            json!({"name": "reshape", "configuration": {"shape": [[0, 1], -1, 3]}}),
            "reshape",
        ),
        (
            DataType::Int8,
            json!({"name": "zarrs.reshape", "configuration": {"shape": [12]}}),
            "reshape",
        ),
    ];
    for (data_type, codec, shown) in cases {
        let parsed = parse(&codec, data_type).unwrap_or_else(|error| panic!("{codec}: {error}"));
        assert!(parsed.to_string().contains(shown), "{parsed}");
        let written = write_v3_codec(&parsed);
        assert_eq!(parse(&written, data_type).unwrap(), parsed, "{written}");
    }
}

#[test]
fn what_the_specifications_do_not_have_is_refused() {
    let many: Vec<Value> = (0..70_000).map(|number| json!([number, 0])).collect();
    for (data_type, codec, words) in [
        (DataType::Float32, scale_offset(&json!({"scale": 0})), "is zero"),
        (DataType::Float32, scale_offset(&json!({"scale": -0.0})), "is zero"),
        (DataType::Float32, scale_offset(&json!({"scale": 1e-60})), "is zero"),
        (DataType::Int32, scale_offset(&json!({"offset": 5.5})), "5.5 is not a int32"),
        (DataType::Int32, scale_offset(&json!({"offset": null})), "not a int32"),
        (DataType::Uint8, scale_offset(&json!({"offset": 256})), "256 is not"),
        (DataType::Int32, scale_offset(&json!({"offset": 1, "dtype": "<i4"})), "dtype"),
        (DataType::Bool, scale_offset(&json!({})), "on bool"),
        (DataType::Int4, scale_offset(&json!({"offset": 8})), "8 is not"),
        (DataType::Complex64, cast_value(&json!({"data_type": "uint8"})), "on complex64"),
        (DataType::Float32, cast_value(&json!({})), "is missing"),
        (DataType::Float32, cast_value(&json!({"data_type": "bool"})), "on bool"),
        (DataType::Float32, cast_value(&json!({"data_type": "float8_e5m2"})), "on float8_e5m2"),
        (DataType::Float32, cast_value(&json!({"data_type": "int7"})), "int7"),
        (
            DataType::Float32,
            cast_value(&json!({"data_type": "uint8", "rounding": "up"})),
            "no way to round",
        ),
        (
            DataType::Float32,
            cast_value(&json!({"data_type": "uint8", "out_of_range": "saturate"})),
            "clamp",
        ),
        (
            DataType::Float64,
            cast_value(&json!({"data_type": "float32", "out_of_range": "wrap"})),
            "integers alone",
        ),
        (
            DataType::Float32,
            cast_value(&json!({"data_type": "uint8", "casting": "safe"})),
            "casting",
        ),
        (
            DataType::Float32,
            cast_value(&json!({"data_type": "uint8", "scalar_map": {"decode": [[300, 1]]}})),
            "300 is not",
        ),
        (
            DataType::Float32,
            cast_value(&json!({"data_type": "uint8", "scalar_map": {"encode": [["NaN"]]}})),
            "pair",
        ),
        (
            DataType::Float32,
            cast_value(&json!({"data_type": "uint8", "scalar_map": {"encode": {"NaN": 0}}})),
            "list",
        ),
        (
            DataType::Int32,
            cast_value(&json!({"data_type": "uint8", "scalar_map": {"encode": many}})),
            "70000 entries",
        ),
        (
            DataType::Uint8,
            json!({"name": "packbits", "configuration": {"first_bit": 3, "last_bit": 2}}),
            "last_bit",
        ),
        (
            DataType::Uint8,
            json!({"name": "packbits", "configuration": {"last_bit": 8}}),
            "last_bit",
        ),
        (DataType::Float16, json!({"name": "packbits"}), "on float16"),
        (
            DataType::Int8,
            json!({"name": "reshape", "configuration": {"shape": [-1, -1]}}),
            "more than once",
        ),
        (DataType::Int8, json!({"name": "reshape", "configuration": {"shape": [0]}}), "shape"),
        (DataType::Int8, json!({"name": "reshape"}), "is missing"),
        (
            DataType::Int8,
            json!({"name": "reshape", "configuration": {"shape": [1], "order": "F"}}),
            "order",
        ),
    ] {
        let error = parse(&codec, data_type).map(|codec| codec.to_string()).unwrap_err();
        assert!(error.contains(words), "{codec}: {error}");
    }
}
