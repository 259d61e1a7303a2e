#[cfg(feature = "zfp")]
use super::settings::Scalar;
use super::*;

const SHAPES: [&[u64]; 7] =
    [&[1], &[4099], &[5, 9], &[16, 16], &[3, 4, 5], &[1, 1, 7], &[2, 5, 3, 6]];

const ELEMENTS: [ZfpElement; 10] = [
    ZfpElement::Int8,
    ZfpElement::Int16,
    ZfpElement::Int32,
    ZfpElement::Int64,
    ZfpElement::Uint8,
    ZfpElement::Uint16,
    ZfpElement::Uint32,
    ZfpElement::Uint64,
    ZfpElement::Float32,
    ZfpElement::Float64,
];

fn real(value: f64) -> Real {
    Real::new(value).unwrap()
}

fn modes() -> Vec<ZfpMode> {
    let expert = |min_bits, max_bits, max_planes, min_exponent| ZfpMode::Expert {
        min_bits,
        max_bits,
        max_planes,
        min_exponent,
    };
    vec![
        ZfpMode::Reversible,
        ZfpMode::FixedRate(real(0.5)),
        ZfpMode::FixedRate(real(7.3)),
        ZfpMode::FixedRate(real(40.0)),
        ZfpMode::FixedPrecision(0),
        ZfpMode::FixedPrecision(3),
        ZfpMode::FixedPrecision(64),
        ZfpMode::FixedAccuracy(real(0.0)),
        ZfpMode::FixedAccuracy(real(0.01)),
        ZfpMode::FixedAccuracy(real(1e300)),
        expert(1, 21, 64, -1075),
        expert(30, 90, 17, -5),
        expert(2000, 30_000, 64, -1074),
        expert(64, 64, 64, -16495),
    ]
}

/// Every mode of every type and shape, with and without header.
fn chunks() -> impl Iterator<Item = ZfpChunk> {
    let all = modes().into_iter().flat_map(|mode| {
        SHAPES.into_iter().flat_map(move |shape| {
            ELEMENTS.into_iter().flat_map(move |element| {
                [false, true]
                    .map(|has_header| ZfpChunk::new(ZfpSpec { mode, has_header }, element, shape))
            })
        })
    });
    all.filter_map(Result::ok)
}

#[test]
fn what_zfp_does_not_take_is_refused() {
    let header = ZfpSpec { mode: ZfpMode::Reversible, has_header: true };
    let bare = ZfpSpec { has_header: false, ..header };
    let refused = |spec, element, shape: &[u64]| ZfpChunk::new(spec, element, shape).unwrap_err();
    assert!(refused(bare, ZfpElement::Int32, &[]).contains("0 axes"));
    assert!(refused(bare, ZfpElement::Int32, &[1, 1, 1, 1, 9]).contains("5 axes"));
    assert!(refused(header, ZfpElement::Int32, &[2, 2, 2, 2, 2]).contains("5 axes"));
    assert!(refused(header, ZfpElement::Int16, &[2]).contains("int32"));
    assert!(refused(header, ZfpElement::Int32, &[5000, 1, 1, 1]).contains("has room for 4096"));
    // Axes of one element are left out where there are too many, and only there.
    let shape =
        |shape: &[u64]| ZfpChunk::new(header, ZfpElement::Int32, shape).unwrap().field.shape;
    assert_eq!(shape(&[1, 1, 16, 256, 256]), [16, 256, 256]);
    assert_eq!(shape(&[1, 1, 16, 256]), [1, 1, 16, 256]);
    assert_eq!(shape(&[1, 1, 1, 1, 1]), [1]);
    assert_eq!(shape(&[]), [1]);
}

#[test]
fn sizes_are_those_of_the_format() {
    let plane = |mode, has_header| {
        ZfpChunk::new(ZfpSpec { mode, has_header }, ZfpElement::Float32, &[16, 9]).unwrap()
    };
    // 4 by 3 blocks of 64 values at 8 bits (zarrs counts three axes), and of 16.
    let rate = ZfpMode::FixedRate(real(8.0));
    assert_eq!(plane(rate, false).encoded_bytes_max(), 12 * 64);
    assert_eq!(plane(rate, false).params.stream_bits_fixed(&plane(rate, false).field), Some(6144));
    assert_eq!(plane(rate, true).params.stream_bits_fixed(&plane(rate, true).field), Some(1536));
    // A header may have any settings, and all elements along one axis: 12 blocks of 542 bits here,
    // and of 256 elements 64 of 146.
    let full = (12 * 542 + 148_u64).div_ceil(64) * 8;
    assert_eq!(plane(rate, true).encoded_bytes_max(), full);
    let spec = ZfpSpec { mode: rate, has_header: true };
    let square = ZfpChunk::new(spec, ZfpElement::Float32, &[16, 16]).unwrap();
    assert_eq!(square.encoded_bytes_max(), (64 * 146 + 148_u64).div_ceil(64) * 8);
    assert_eq!(plane(rate, true).decode_workspace_bytes(), 2 * full + 576 + 1024);
}

#[cfg(not(feature = "zfp"))]
#[test]
fn a_build_without_the_library_says_so() {
    for chunk in chunks().take(20) {
        let decoded = vec![0; usize::try_from(chunk.decoded_bytes()).unwrap()];
        let error = chunk.encode(&decoded, &mut Vec::new()).unwrap_err();
        assert_eq!(error, "this build has no zfp");
    }
}

#[cfg(feature = "zfp")]
mod with_library {
    use std::num::NonZeroU64;

    use zarrs::array::codec::api::{ArrayToBytesCodecTraits, CodecOptions};
    use zarrs::array::codec::{ZfpCodec, ZfpyCodec};
    use zarrs::array::{ArrayBytes, BytesRepresentation, FillValue, data_type};

    use super::*;

    /// Numbers without a pattern (splitmix64).
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }

        /// Elements of a chunk: a slope with noise on it, or any bits, or mostly zeros.
        fn elements(&mut self, chunk: &ZfpChunk) -> Vec<u8> {
            let (kind, shift) = (self.next() % 4, self.next() % 50);
            let mut bytes = Vec::new();
            for at in 0..chunk.field.elements() {
                let noise = self.next() >> shift;
                let value = match kind {
                    0 => noise,
                    1 => at * 1000 + noise % 100,
                    2 if !noise.is_multiple_of(97) => 0,
                    _ => noise % 1000,
                };
                #[expect(clippy::cast_precision_loss, reason = "any number does")]
                let float = value as f64 * 0.37 - 100.0;
                match chunk.element {
                    ZfpElement::Float64 if kind > 0 => bytes.extend(float.to_le_bytes()),
                    ZfpElement::Float32 if kind > 0 => {
                        #[expect(clippy::cast_possible_truncation, reason = "any number does")]
                        bytes.extend((float as f32).to_le_bytes());
                    }
                    element => {
                        // The unsigned types have room for half of their numbers.
                        let value = if element.is_halved() { value >> 33 } else { value };
                        let size = usize::try_from(element.item_bytes()).unwrap();
                        bytes.extend(&value.to_le_bytes()[..size]);
                    }
                }
            }
            bytes
        }
    }

    #[test]
    fn streams_are_as_long_as_their_bits_say() {
        let mut numbers = Numbers(1);
        let mut count = 0;
        for chunk in chunks() {
            let decoded = numbers.elements(&chunk);
            let (mut encoded, mut again) = (Vec::new(), Vec::new());
            chunk.encode(&decoded, &mut encoded).unwrap();
            assert!(encoded.len() as u64 <= chunk.encoded_bytes_max(), "{chunk:?}");
            let start =
                if chunk.spec.has_header { header::read(&encoded).unwrap().bits } else { 0 };
            let bits = extent::stream_bits(&encoded, start, &chunk.field, &chunk.params).unwrap();
            assert_eq!(whole_words(start + bits), encoded.len() as u64, "{chunk:?}");
            chunk.decode(&encoded, &mut again).unwrap();
            assert_eq!(again.len(), decoded.len());
            if chunk.params.is_reversible() && chunk.params.max_bits == 16658 {
                assert!(again == decoded, "{chunk:?}");
            }
            // Without its last word it is too short, whatever stands behind it in memory.
            let error = chunk.decode(&encoded[..encoded.len() - 8], &mut again).unwrap_err();
            assert!(error.contains("the stream ends after") || start > 0, "{error}");
            count += 1;
        }
        assert!(count > 1000, "{count}");
    }

    /// Damaged streams take no bits but those that were walked over: what lies behind them changes
    /// nothing. And they stay within the buffer, which has the largest size.
    #[test]
    fn the_decoder_reads_what_was_walked_over() {
        let mut numbers = Numbers(2);
        for chunk in chunks() {
            let length = whole_words(chunk.params.stream_bits_max(&chunk.field));
            let mut stream: Vec<u8> =
                (0..length / 8).flat_map(|_| numbers.next().to_le_bytes()).collect();
            // Ones make blocks long, zeros short.
            match numbers.next() % 4 {
                0 => stream.iter_mut().for_each(|byte| *byte |= 0x5f),
                1 => stream.fill(0xff),
                _ => {}
            }
            let bits = extent::stream_bits(&stream, 0, &chunk.field, &chunk.params).unwrap();
            assert!(bits <= 8 * length, "{chunk:?}");
            let decoded = [0x00, 0xff].map(|behind| {
                let mut stream = stream.clone();
                let end = usize::try_from(bits.div_ceil(8)).unwrap();
                if !bits.is_multiple_of(8) {
                    let keep = (1 << (bits % 8)) - 1;
                    stream[end - 1] = stream[end - 1] & keep | behind & !keep;
                }
                stream[end..].fill(behind);
                library::decode(stream, chunk.element, &chunk.field.shape, &chunk.params).unwrap()
            });
            assert!(decoded[0] == decoded[1], "{chunk:?}");
        }
    }

    #[test]
    fn the_largest_size_is_that_of_zfp() {
        for chunk in chunks() {
            let &Params { min_bits, max_bits, max_planes, min_exponent } = &chunk.params;
            let codec = ZfpCodec::new_expert(min_bits, max_bits, max_planes, min_exponent);
            let shape: Vec<_> =
                chunk.field.shape.iter().map(|&extent| NonZeroU64::new(extent).unwrap()).collect();
            let of = match chunk.field.scalar {
                Scalar::Int32 => data_type::int32(),
                Scalar::Int64 => data_type::int64(),
                Scalar::Float32 => data_type::float32(),
                Scalar::Float64 => data_type::float64(),
            };
            let fill = FillValue::new(vec![0; 8]);
            let bytes = match codec.encoded_representation(&shape, &of, &fill).unwrap() {
                BytesRepresentation::BoundedSize(bytes) => bytes,
                other => panic!("{other:?}"),
            };
            let own = chunk.params.stream_bits_max(&chunk.field) + header::BITS_MAX;
            assert_eq!(whole_words(own), bytes, "{chunk:?}");
        }
    }

    /// zfp's own header and stream, which are numcodecs', byte for byte.
    #[test]
    fn chunks_with_a_header_are_those_of_the_library() {
        let mut numbers = Numbers(3);
        for chunk in chunks().filter(|chunk| chunk.spec.has_header) {
            let axes = i32::try_from(chunk.field.shape.len()).unwrap();
            let codec = match chunk.spec.mode {
                // zarrs takes any field for one of three axes here.
                ZfpMode::FixedRate(rate) => {
                    let bits = (4_f64.powi(axes) * rate.get()).round();
                    ZfpyCodec::new_fixed_rate(bits / 64.0)
                }
                ZfpMode::FixedPrecision(planes) => ZfpyCodec::new_fixed_precision(planes),
                ZfpMode::FixedAccuracy(tolerance) if chunk.field.scalar.exponent().is_some() => {
                    ZfpyCodec::new_fixed_accuracy(tolerance.get())
                }
                ZfpMode::Reversible => ZfpyCodec::new_reversible(),
                _ => continue,
            };
            let shape: Vec<_> =
                chunk.field.shape.iter().map(|&extent| NonZeroU64::new(extent).unwrap()).collect();
            let of = match chunk.field.scalar {
                Scalar::Int32 => data_type::int32(),
                Scalar::Int64 => data_type::int64(),
                Scalar::Float32 => data_type::float32(),
                Scalar::Float64 => data_type::float64(),
            };
            let decoded = numbers.elements(&chunk);
            let (fill, options) = (FillValue::new(vec![0; 8]), CodecOptions::default());
            let bytes = ArrayBytes::new_flen(decoded.as_slice());
            let wanted = codec.encode(bytes, &shape, &of, &fill, &options).unwrap();
            let mut encoded = Vec::new();
            chunk.encode(&decoded, &mut encoded).unwrap();
            assert!(encoded == *wanted, "{chunk:?}");
        }
    }

    #[test]
    fn losses_are_within_the_tolerance() {
        let spec = ZfpSpec { mode: ZfpMode::FixedAccuracy(real(0.01)), has_header: true };
        let chunk = ZfpChunk::new(spec, ZfpElement::Float64, &[20, 30]).unwrap();
        let values: Vec<f64> = (0..600_u32).map(|at| (f64::from(at) * 0.1).sin() * 100.0).collect();
        let decoded: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let (mut encoded, mut again) = (Vec::new(), Vec::new());
        chunk.encode(&decoded, &mut encoded).unwrap();
        chunk.decode(&encoded, &mut again).unwrap();
        assert!(encoded.len() < decoded.len() / 2, "{}", encoded.len());
        let again = again.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        assert!(values.iter().zip(again).all(|(value, again)| (value - again).abs() <= 0.01));
    }

    #[test]
    fn numbers_that_zfp_would_cut_are_refused() {
        let spec = ZfpSpec { mode: ZfpMode::Reversible, has_header: false };
        let chunk = ZfpChunk::new(spec, ZfpElement::Uint32, &[2]).unwrap();
        let mut encoded = Vec::new();
        chunk.encode(&[9, 0, 0, 0, 255, 255, 255, 127], &mut encoded).unwrap();
        let error = chunk.encode(&[9, 0, 0, 0, 0, 0, 0, 128], &mut encoded).unwrap_err();
        assert!(error.contains("2^31 or more"), "{error}");
    }

    #[test]
    fn headers_are_claims() {
        let spec = ZfpSpec { mode: ZfpMode::FixedRate(real(8.0)), has_header: true };
        let chunk = |element, shape: &[u64]| ZfpChunk::new(spec, element, shape).unwrap();
        let own = chunk(ZfpElement::Float32, &[8, 8]);
        let refused = |other: &ZfpChunk| {
            let mut encoded = Vec::new();
            let size = usize::try_from(other.decoded_bytes()).unwrap();
            other.encode(&vec![1; size], &mut encoded).unwrap();
            own.decode(&encoded, &mut Vec::new()).map_err(|error| error.clone())
        };
        // Other axes of as many elements are what a reshaped array leaves.
        assert_eq!(refused(&chunk(ZfpElement::Float32, &[64])), Ok(()));
        assert_eq!(refused(&chunk(ZfpElement::Float32, &[4, 2, 8])), Ok(()));
        let error = refused(&chunk(ZfpElement::Int32, &[8, 8])).unwrap_err();
        assert_eq!(error, "the header says Int32, but the elements are Float32");
        let error = refused(&chunk(ZfpElement::Float32, &[8, 9])).unwrap_err();
        assert!(error.contains("[8, 9], but a chunk has 64 elements"), "{error}");
        let error = refused(&chunk(ZfpElement::Float32, &[1, 1, 1, 64])).unwrap_err();
        assert!(error.contains("more than the"), "{error}");
        // A shape of 2^32 elements, of which nothing is allocated.
        let mut encoded = Vec::new();
        let field = Field { scalar: Scalar::Float32, shape: vec![1 << 32] };
        header::write(&field, &own.params, &mut encoded);
        encoded.resize(64, 0);
        let error = own.decode(&encoded, &mut Vec::new()).unwrap_err();
        assert!(error.contains("[4294967296]"), "{error}");
    }
}
