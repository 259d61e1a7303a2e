//! Boxes of random elements.

use proptest::prelude::*;
use rechunk_grid::DataType;

use crate::reference::{TYPES, item_bytes};

/// A box and its cells.
#[derive(Debug, Clone)]
pub struct Sample {
    pub data_type: DataType,
    pub shape: Vec<u64>,
    pub factors: Vec<u64>,
    pub input: Vec<u8>,
    /// One byte for each element, of 0 and 1.
    pub mask: Vec<u8>,
}

/// Boxes of 1 to 5 axes; a few have rows of many cells.
pub fn samples() -> impl Strategy<Value = Sample> {
    let axis = || (1_u64..8, prop_oneof![3 => Just(2_u64), 1 => Just(1), 2 => 3_u64..9]);
    let short = prop::collection::vec(axis(), 1..=5);
    let long = (1_u64..4, 700_u64..3000, 1_u64..4, 1_u64..6, 1_u64..20);
    let long = long.prop_map(|(rows, extent, factor, last, lanes)| {
        // Perhaps with lanes, as the colours of pixels.
        let axes = [(rows, factor), (extent, last), (lanes, 1)];
        axes[..if lanes > 10 { 2 } else { 3 }].to_vec()
    });
    let geometry = prop_oneof![20 => short, 1 => long];
    (geometry, prop::sample::select(&TYPES), 0_u8..4, any::<u64>()).prop_map(
        |(axes, data_type, spread, seed)| {
            let (shape, factors): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
            let elements = usize::try_from(shape.iter().product::<u64>()).unwrap();
            let mut random = Random(seed | 1);
            let input = (0..elements).flat_map(|_| item(data_type, spread, &mut random)).collect();
            let mask_kind = random.next() % 4;
            let mask = (0..elements).map(|at| match mask_kind {
                0 => 1,
                1 => u8::from(random.next().is_multiple_of(8)),
                2 => u8::from(at > elements / 2),
                _ => u8::from(!random.next().is_multiple_of(8)),
            });
            let mask = mask.collect();
            Sample { data_type, shape, factors, input, mask }
        },
    )
}

/// Numbers by xorshift (Marsaglia, "Xorshift RNGs", 2003).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }
}

/// An element: of a few values, of the ends of the range, or of random bits.
fn item(data_type: DataType, spread: u8, random: &mut Random) -> Vec<u8> {
    let bytes = item_bytes(data_type);
    let bits = random.next() ^ random.next() << 40;
    let few = bits % 3;
    let item = match (data_type, spread) {
        (DataType::Bool, _) => few % 2,
        (DataType::Float16, 0) => [0x0000, 0x8000, 0x3c00][usize::try_from(few).unwrap()],
        (DataType::Float16, 1) => [0x7e00, 0xbc00, 0x7bff][usize::try_from(few).unwrap()],
        (DataType::Float32, 0) => {
            [0.0, -0.0, 1.5_f32][usize::try_from(few).unwrap()].to_bits().into()
        }
        (DataType::Float32, 1) => {
            [f32::NAN, f32::MAX, -1.0][usize::try_from(few).unwrap()].to_bits().into()
        }
        (DataType::Float32, 2) => (bits as f32 / 1e15).to_bits().into(),
        (DataType::Float64, 0) => [0.0, -0.0, 1.5_f64][usize::try_from(few).unwrap()].to_bits(),
        (DataType::Float64, 1) => {
            [f64::NAN, f64::INFINITY, -1.0][usize::try_from(few).unwrap()].to_bits()
        }
        (DataType::Float64, 2) => (bits as f64 / 1e15 - 7.0).to_bits(),
        (_, 0) => few,
        (_, 1) => [0, u64::MAX, 1 << (8 * bytes - 1)][usize::try_from(few).unwrap()],
        _ => bits,
    };
    // The low bytes, in native order.
    let all = item.to_le_bytes();
    let mut low = all[..bytes].to_vec();
    if cfg!(target_endian = "big") {
        low.reverse();
    }
    low
}
