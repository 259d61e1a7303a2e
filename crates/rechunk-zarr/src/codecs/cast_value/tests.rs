use rechunk_grid::Endian;

use super::*;
use crate::codec_spec::TypePair;

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digits).collect()
}

fn little(name: &str) -> ElementType {
    ElementType::new(DataType::from_name(name).unwrap(), Endian::Little)
}

fn cast_of(from: &str, to: &str, rounding: &str, rule: &str) -> CastValue {
    CastValue {
        types: TypePair { decoded: little(from), encoded: little(to) },
        rounding: Rounding::from_name(rounding).unwrap(),
        out_of_range: OutOfRange::from_name(rule),
        encode: ScalarMap::default(),
        decode: ScalarMap::default(),
    }
}

fn is_nan(bytes: &[u8], element: ElementType) -> bool {
    Value::load(bytes, element).to_double().is_nan()
}

#[test]
fn numbers_become_what_zarr_python_makes_of_them() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/cast_value.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let mut checked = 0;
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [from, to, rounding, rule, pairs @ ..] = &words[..] else { panic!("{line}") };
        let cast = cast_of(from, to, rounding, rule);
        // Decoding is the same in the other direction.
        let mut back = cast.clone();
        back.types = TypePair { decoded: cast.types.encoded, encoded: cast.types.decoded };
        for pair in pairs {
            let (number, wanted) = pair.split_once('=').unwrap();
            let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
            let done = encode_cast(&bytes(number), &mut encoded, &cast);
            let undone = decode_cast(&bytes(number), &mut decoded, &back);
            assert_eq!(done, undone, "{line}: {pair}");
            match wanted {
                "error" => {
                    assert!(done.is_err(), "{from} {to} {rounding} {rule} {pair}: {encoded:?}");
                }
                "nan" => assert!(is_nan(&encoded, cast.types.encoded), "{line}: {pair}"),
                wanted => {
                    done.unwrap_or_else(|reason| panic!("{from} {to} {rounding} {pair}: {reason}"));
                    assert_eq!(encoded, bytes(wanted), "{from} {to} {rounding} {rule} {pair}");
                    assert_eq!(decoded, encoded);
                }
            }
            checked += 1;
        }
    }
    assert!(checked > 5000, "{checked}");
}

fn all(element: ElementType, values: &[f64]) -> Vec<u8> {
    let mut bytes = vec![0; values.len() * element.item_bytes()];
    for (slot, value) in bytes.chunks_exact_mut(element.item_bytes()).zip(values) {
        Value::Double(*value).store(slot, element);
    }
    bytes
}

#[test]
fn a_map_comes_before_all_rules_and_knows_one_zero_and_one_nan() {
    let (float, byte) = (little("float32"), little("uint8"));
    let word = |value: f64, element: ElementType| {
        let mut word = [0; 8];
        Value::Double(value).store(&mut word[..element.item_bytes()], element);
        Word(u64::from_le_bytes(word))
    };
    let mut cast = cast_of("float32", "uint8", "nearest-even", "none");
    let encode = [(f64::NAN, 7.0), (0.0, 9.0), (0.1, 3.0), (f64::INFINITY, 255.0), (1.0, 2.0)];
    let entry = |(from, to): (f64, f64)| (key_of(word(from, float), float), word(to, byte));
    cast.encode = ScalarMap::new(encode.into_iter().map(entry).collect());
    let mut encoded = Vec::new();
    let values = [f64::NAN, -f64::NAN, 0.0, -0.0, 0.1, f64::INFINITY, 1.0, 4.4];
    encode_cast(&all(float, &values), &mut encoded, &cast).unwrap();
    assert_eq!(encoded, [7, 7, 9, 9, 3, 255, 2, 4]);
    for value in [f64::NEG_INFINITY, 256.0, -1.0] {
        encode_cast(&all(float, &[value]), &mut encoded, &cast).unwrap_err();
    }
    cast.decode = ScalarMap::new(vec![(key_of(Word(7), byte), word(f64::NAN, float))]);
    let mut decoded = Vec::new();
    decode_cast(&[7, 8], &mut decoded, &cast).unwrap();
    assert!(is_nan(&decoded[..4], float));
    assert_eq!(decoded[4..], all(float, &[8.0]));
    // Negative integers are their own keys, in any width.
    for name in ["int8", "int16", "int32", "int64"] {
        let element = little(name);
        let minus_one =
            Word::of(&rechunk_grid::FillValue { bytes: vec![0xff; element.item_bytes()] });
        let key = key_of(minus_one, element);
        assert_eq!(unkeyed(key, element).fill_value(element), minus_one.fill_value(element));
        let mut cast = cast_of(name, "uint8", "nearest-even", "none");
        cast.encode = ScalarMap::new(vec![(key, Word(42))]);
        encode_cast(&all(element, &[-1.0, 5.0]), &mut encoded, &cast).unwrap();
        assert_eq!(encoded, [42, 5], "{name}");
    }
}

fn scaled(name: &str, offset: f64, scale: f64, endian: Endian) -> ScaleOffset {
    let element = ElementType::new(DataType::from_name(name).unwrap(), endian);
    let word = |value: f64| {
        let little = element.little_endian();
        let mut word = [0; 8];
        Value::Double(value).store(&mut word[..element.item_bytes()], little);
        Word(u64::from_le_bytes(word))
    };
    ScaleOffset { element, offset: word(offset), scale: word(scale) }
}

#[test]
fn integers_are_scaled_exactly_or_not_at_all() {
    // Type, offset, scale, element, what it is encoded as.
    for (name, offset, scale, element, wanted) in [
        ("int32", 5.0, 2.0, 8.0, Some(6.0)),
        ("uint16", 1000.0, 1.0, 1255.0, Some(255.0)),
        ("uint8", 10.0, 1.0, 5.0, None),
        ("int8", 0.0, 2.0, 64.0, None),
        ("int8", -100.0, 1.0, 100.0, None),
        ("int8", -28.0, -1.0, 100.0, Some(-128.0)),
        ("int64", 0.0, 4.0, 3.0, Some(12.0)),
        ("int64", -9_223_372_036_854_775_808.0, 1.0, 0.0, None),
        ("uint64", 0.0, 18_446_744_073_709_549_568.0, 18_446_744_073_709_549_568.0, None),
    ] {
        for endian in [Endian::Little, Endian::Big] {
            let codec = scaled(name, offset, scale, endian);
            let elements = all(codec.element, &[element]);
            let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
            let done = encode_scaled(&elements, &mut encoded, &codec);
            let Some(wanted) = wanted else {
                assert!(done.unwrap_err().contains("beyond the range"), "{name} {element}");
                continue;
            };
            done.unwrap();
            assert_eq!(encoded, all(codec.element, &[wanted]), "{name} {element}");
            decode_scaled(&encoded, &mut decoded, &codec).unwrap();
            assert_eq!(decoded, elements, "{name} {element}");
        }
    }
    let mut decoded = Vec::new();
    let four = scaled("int32", 0.0, 4.0, Endian::Little);
    let error = decode_scaled(&all(four.element, &[6.0]), &mut decoded, &four).unwrap_err();
    assert!(error.contains("6 is no multiple of the scale 4"), "{error}");
    let negative = scaled("int32", 0.0, -4.0, Endian::Little);
    decode_scaled(&all(negative.element, &[8.0]), &mut decoded, &negative).unwrap();
    assert_eq!(decoded, all(negative.element, &[-2.0]));
    let low = scaled("uint8", 250.0, 1.0, Endian::Little);
    decode_scaled(&[6], &mut decoded, &low).unwrap_err();
}

#[test]
fn floats_are_scaled_in_their_own_type() {
    // As zarr-python: each step is rounded to the type.
    let half = scaled("float16", 0.1, 3.0, Endian::Little);
    let tenths: Vec<f64> = (0..8).map(|number| f64::from(number) / 10.0).collect();
    let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
    encode_scaled(&all(half.element, &tenths), &mut encoded, &half).unwrap();
    assert_eq!(encoded[..8], bytes("ccb40000cc34cd38"));
    decode_scaled(&encoded, &mut decoded, &half).unwrap();
    let found: Vec<f64> =
        decoded.chunks(2).map(|bytes| Value::load(bytes, half.element).to_double()).collect();
    assert!(
        (found[1] - 0.099_975_6).abs() < 1e-7 && (found[7] - 0.700_195).abs() < 1e-6,
        "{found:?}"
    );
    let single = scaled("float32", -0.1, 10_000.0, Endian::Big);
    decode_scaled(&all(single.element, &[3000.0, 6999.0]), &mut decoded, &single).unwrap();
    let expected = [3000.0_f32 / 10_000.0 + -0.1_f32, 6999.0_f32 / 10_000.0 + -0.1_f32];
    assert_eq!(decoded, expected.map(f32::to_be_bytes).concat());
    // Nothing is an error: overflow is infinite, and not a number stays so.
    let huge = scaled("float32", 0.0, 1e-30, Endian::Little);
    decode_scaled(&all(huge.element, &[1e30, f64::NAN]), &mut decoded, &huge).unwrap();
    assert_eq!(decoded[..4], f32::INFINITY.to_le_bytes());
    assert!(is_nan(&decoded[4..], huge.element));
}

#[test]
fn small_integers_and_brain_floats_are_counted_with_too() {
    // Type, rule, number, what it is stored as, what that is read as.
    for (to, rule, number, stored, back) in [
        ("int2", "none", -2.0, &[0xfe][..], Some(-2.0)),
        ("int2", "none", 1.4, &[1], Some(1.0)),
        ("int2", "none", 2.0, &[], None),
        ("int2", "clamp", 2.0, &[1], Some(1.0)),
        ("int2", "wrap", 2.0, &[0xfe], Some(-2.0)),
        ("int4", "none", -8.0, &[0xf8], Some(-8.0)),
        ("int4", "none", 8.0, &[], None),
        ("int4", "wrap", 25.0, &[0xf9], Some(-7.0)),
        ("uint2", "none", 3.0, &[3], Some(3.0)),
        ("uint2", "none", 4.0, &[], None),
        ("uint4", "clamp", 99.0, &[15], Some(15.0)),
        ("uint4", "wrap", 18.0, &[2], Some(2.0)),
        ("bfloat16", "none", 1.0, &[0x80, 0x3f], Some(1.0)),
        // Halves go to the even of two neighbours: 257 lies between 256 and 258.
        ("bfloat16", "none", 257.0, &[0x80, 0x43], Some(256.0)),
        ("bfloat16", "none", 259.0, &[0x82, 0x43], Some(260.0)),
        ("bfloat16", "none", 3.4e38, &[], None),
        ("bfloat16", "clamp", 3.4e38, &[0x80, 0x7f], Some(f64::INFINITY)),
    ] {
        let cast = cast_of("float32", to, "nearest-even", rule);
        let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
        let done = encode_cast(&all(little("float32"), &[number]), &mut encoded, &cast);
        let Some(back) = back else {
            done.unwrap_err();
            continue;
        };
        done.unwrap();
        assert_eq!(encoded, stored, "{to} {rule} {number}");
        decode_cast(&encoded, &mut decoded, &cast).unwrap();
        assert_eq!(decoded, all(little("float32"), &[back]), "{to} {rule} {number}");
    }
    // What the bits above are does not matter.
    let mut decoded = Vec::new();
    decode_cast(&[0x1f, 0x21], &mut decoded, &cast_of("int8", "int4", "nearest-even", "none"))
        .unwrap();
    assert_eq!(decoded, [0xff, 1]);
    for (name, element, wanted) in [("int4", 3.0, 6.0), ("bfloat16", 260.0, 512.0)] {
        let codec = scaled(
            name,
            if name == "int4" { 1.0 } else { 4.0 },
            if name == "int4" { 3.0 } else { 2.0 },
            Endian::Little,
        );
        let (mut encoded, elements) = (Vec::new(), all(codec.element, &[element]));
        encode_scaled(&elements, &mut encoded, &codec).unwrap();
        assert_eq!(encoded, all(codec.element, &[wanted]), "{name}");
        decode_scaled(&encoded, &mut decoded, &codec).unwrap();
        assert_eq!(decoded, elements, "{name}");
    }
    encode_scaled(&[7], &mut decoded, &scaled("int4", 0.0, 2.0, Endian::Little)).unwrap_err();
}
