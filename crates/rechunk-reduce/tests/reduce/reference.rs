//! Reductions written plainly: lists of the elements of each cell, 128-bit integers, 64-bit floats.

use half::f16;
use rechunk_grid::DataType;
use rechunk_reduce::{Method, Rounding};

/// Types that all methods take.
pub const TYPES: [DataType; 12] = DataType::NUMBERS;

/// Methods that look at cells only.
pub const METHODS: [Method; 6] =
    [Method::Mean, Method::Mode, Method::Median, Method::Min, Method::Max, Method::Stride];

#[derive(Debug, Clone, Copy)]
pub enum Value {
    Int(i128),
    Float(f64),
}

impl Value {
    pub fn real(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    fn is_nan(self) -> bool {
        self.real().is_nan()
    }

    /// Order of numbers: -0 is 0, NaN last.
    fn order(self, other: Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Int(one), Self::Int(other)) => one.cmp(&other),
            (one, other) => {
                let (one, other) = (one.real(), other.real());
                one.partial_cmp(&other).unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()))
            }
        }
    }
}

pub fn item_bytes(data_type: DataType) -> usize {
    usize::try_from(data_type.item_bytes()).unwrap()
}

pub fn read(data_type: DataType, item: &[u8]) -> Value {
    macro_rules! int {
        ($int:ty) => {
            Value::Int(i128::from(<$int>::from_ne_bytes(item.try_into().unwrap())))
        };
    }
    match data_type {
        DataType::Bool | DataType::Uint8 => int!(u8),
        DataType::Uint16 => int!(u16),
        DataType::Uint32 => int!(u32),
        DataType::Uint64 => int!(u64),
        DataType::Int8 => int!(i8),
        DataType::Int16 => int!(i16),
        DataType::Int32 => int!(i32),
        DataType::Int64 => int!(i64),
        DataType::Float16 => {
            Value::Float(f16::from_ne_bytes(item.try_into().unwrap()).to_f64_const())
        }
        DataType::Float32 => Value::Float(f32::from_ne_bytes(item.try_into().unwrap()).into()),
        DataType::Float64 => Value::Float(f64::from_ne_bytes(item.try_into().unwrap())),
        _ => unreachable!(),
    }
}

pub fn write(data_type: DataType, value: Value) -> Vec<u8> {
    macro_rules! int {
        ($int:ty) => {
            match value {
                Value::Int(value) => <$int>::try_from(value).unwrap().to_ne_bytes().to_vec(),
                Value::Float(_) => unreachable!(),
            }
        };
    }
    match data_type {
        DataType::Bool | DataType::Uint8 => int!(u8),
        DataType::Uint16 => int!(u16),
        DataType::Uint32 => int!(u32),
        DataType::Uint64 => int!(u64),
        DataType::Int8 => int!(i8),
        DataType::Int16 => int!(i16),
        DataType::Int32 => int!(i32),
        DataType::Int64 => int!(i64),
        DataType::Float16 => nearest_half(value.real()).to_ne_bytes().to_vec(),
        DataType::Float32 => (value.real() as f32).to_ne_bytes().to_vec(),
        DataType::Float64 => value.real().to_ne_bytes().to_vec(),
        _ => unreachable!(),
    }
}

/// The nearest half, by trial of the neighbours of a guess.
fn nearest_half(value: f64) -> f16 {
    let guess = f16::from_f64_const(value);
    if !guess.is_finite() || guess.to_f64_const() == value {
        return guess;
    }
    let near = [-1, 0, 1].map(|step| f16::from_bits(guess.to_bits().saturating_add_signed(step)));
    let distance = |half: &f16| (half.to_f64_const() - value).abs();
    let rank = |half: &f16| (distance(half), half.to_bits() & 1);
    let finite = near.into_iter().filter(|half| half.is_finite());
    finite.min_by(|one, other| rank(one).partial_cmp(&rank(other)).unwrap()).unwrap()
}

/// Divides and rounds.
pub fn quotient(sum: i128, count: i128, rounding: Rounding) -> i128 {
    let (floor, rest) = (sum.div_euclid(count), sum.rem_euclid(count));
    let up = match rounding {
        Rounding::Down => sum < 0 && rest > 0,
        Rounding::HalfAway => 2 * rest > count || (2 * rest == count && sum > 0),
        Rounding::HalfEven => 2 * rest > count || (2 * rest == count && floor % 2 != 0),
    };
    floor + i128::from(up)
}

/// Shape of the cells of a box.
pub fn cells_shape(shape: &[u64], factors: &[u64]) -> Vec<u64> {
    shape.iter().zip(factors).map(|(extent, factor)| extent.div_ceil(*factor)).collect()
}

/// Indices of the elements of each cell, in C order.
pub fn cells(shape: &[u64], factors: &[u64]) -> Vec<Vec<usize>> {
    let out = cells_shape(shape, factors);
    let mut cells = vec![Vec::new(); usize::try_from(out.iter().product::<u64>()).unwrap()];
    let elements = usize::try_from(shape.iter().product::<u64>()).unwrap();
    for element in 0..elements {
        let (mut rest, mut cell, mut stride) = (element as u64, 0, 1);
        for axis in (0..shape.len()).rev() {
            cell += rest % shape[axis] / factors[axis] * stride;
            stride *= out[axis];
            rest /= shape[axis];
        }
        cells[usize::try_from(cell).unwrap()].push(element);
    }
    cells
}

/// Reduces the elements of a cell, at least one. None stands for any NaN.
pub fn reduce_cell(
    method: Method,
    rounding: Rounding,
    data_type: DataType,
    items: &[&[u8]],
) -> Option<Vec<u8>> {
    let values: Vec<_> = items.iter().map(|item| read(data_type, item)).collect();
    let has_nan = values.iter().any(|value| value.is_nan());
    let mut sorted: Vec<_> = (0..items.len()).collect();
    sorted.sort_by(|&one, &other| values[one].order(values[other]));
    let at = match method {
        Method::Stride => 0,
        Method::Mode => {
            let count =
                |at: usize| values.iter().filter(|value| value.order(values[at]).is_eq()).count();
            let most = (0..items.len()).map(count).max().unwrap();
            sorted.into_iter().find(|&at| count(at) == most).unwrap()
        }
        Method::Mean if data_type.is_ieee_float() => {
            let mut reals = values.iter().map(|value| value.real());
            let first = reals.next().unwrap();
            let mean = reals.fold(first, |sum, real| sum + real) / items.len() as f64;
            return (!mean.is_nan()).then(|| write(data_type, Value::Float(mean)));
        }
        Method::Mean => {
            let int = |value: &Value| match value {
                Value::Int(value) => *value,
                Value::Float(_) => unreachable!(),
            };
            let mean = quotient(values.iter().map(int).sum(), items.len() as i128, rounding);
            return Some(write(data_type, Value::Int(mean)));
        }
        _ if has_nan => return None,
        Method::Median | Method::Min | Method::Max => {
            let at = match method {
                Method::Median => (items.len() - 1) / 2,
                Method::Max => items.len() - 1,
                _ => 0,
            };
            return Some(without_sign_of_zero(data_type, write(data_type, values[sorted[at]])));
        }
        Method::Gaussian => unreachable!(),
    };
    Some(items[at].to_vec())
}

/// The element, or 0 for -0: which zero is taken is tested elsewhere.
fn without_sign_of_zero(data_type: DataType, item: Vec<u8>) -> Vec<u8> {
    match read(data_type, &item) {
        Value::Float(0.0) => vec![0; item.len()],
        _ => item,
    }
}

/// Compares outputs with [`reduce_cell`]'s: NaN with any NaN.
pub fn assert_item(method: Method, data_type: DataType, found: &[u8], wanted: Option<Vec<u8>>) {
    let Some(wanted) = wanted else {
        return assert!(read(data_type, found).is_nan(), "{method:?} {data_type} {found:?}");
    };
    let found = match method {
        Method::Median | Method::Min | Method::Max => {
            without_sign_of_zero(data_type, found.to_vec())
        }
        _ => found.to_vec(),
    };
    assert_eq!(found, wanted, "{method:?} {data_type}");
}
