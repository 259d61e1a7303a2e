//! Elements of another type.

use std::sync::Arc;

use rechunk_grid::DataType;

use super::store::BLOCK;
use crate::element::{Element, Key, Wide, for_elements, supported};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, check_run};
use crate::settings::{Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext, elements_mut};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "cast",
    "elements of another type; integers to integers exactly, whatever their size",
    "`to`; for bool, other numbers than 0 (also NaN) are true",
    &[
        Parameter::new("to", "a type of elements", "type of the result"),
        Parameter::new(
            "overflow",
            "saturate or wrap",
            "integers out of range: the nearest extreme, or modulo 2^bits (infinities saturate)",
        )
        .or("saturate"),
        Parameter::new("round", "even or zero", "fractions: to the nearest, ties to even; or cut")
            .or("even"),
        Parameter::new("nan", "a number", "integer that NaN becomes").or("0"),
    ],
);

/// Treatment of integers that are out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overflow {
    Saturate,
    Wrap,
}

#[derive(Debug)]
struct Cast {
    to: DataType,
    overflow: Overflow,
    is_cut: bool,
    nan: i128,
}

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    let to = settings.data_type("to")?;
    let to = to.map_or_else(|| settings.text("to").map(|_| DataType::Bool), Ok)?;
    let overflow = match settings.choice("overflow", &["saturate", "wrap"])? {
        0 => Overflow::Saturate,
        _ => Overflow::Wrap,
    };
    let is_cut = settings.choice("round", &["even", "zero"])? == 1;
    let constant = settings.constant("nan")?;
    let wanted = format!("it takes a number that {to} can be");
    let nan = if to.is_ieee_float() || to == DataType::Bool {
        constant.to_int().ok_or_else(|| settings.bad("nan", "it takes an integer"))?
    } else {
        for_elements!(INFO.name, to, T => constant.to_element::<T>().map(Element::to_wide))
            .and_then(|wide| if let Wide::Int(value) = wide { Some(value) } else { None })
            .ok_or_else(|| settings.bad("nan", wanted))?
    };
    Ok(Arc::new(Cast { to, overflow, is_cut, nan }))
}

/// A block of elements, widened exactly.
enum Block {
    Signed(Vec<i64>),
    Unsigned(Vec<u64>),
    Float(Vec<f64>),
}

impl Block {
    /// A block for elements of `data_type`.
    fn of(data_type: DataType) -> Self {
        match data_type {
            float if float.is_ieee_float() => Self::Float(vec![0.0; BLOCK]),
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                Self::Signed(vec![0; BLOCK])
            }
            _ => Self::Unsigned(vec![0; BLOCK]),
        }
    }

    /// Loads elements. Keys of integers are the unsigned values, or the signed ones with the sign
    /// bit flipped.
    fn load<T: Element>(&mut self, elements: &[T]) {
        match self {
            Self::Signed(values) => {
                let flip = 1_u64 << (8 * size_of::<T>() - 1);
                for (value, element) in values.iter_mut().zip(elements) {
                    let key = element.to_key().to_u64();
                    *value = key.wrapping_sub(flip).cast_signed();
                }
            }
            Self::Unsigned(values) => {
                for (value, element) in values.iter_mut().zip(elements) {
                    *value = element.to_key().to_u64();
                }
            }
            Self::Float(values) => {
                for (value, element) in values.iter_mut().zip(elements) {
                    *value = element.to_f64();
                }
            }
        }
    }
}

impl Operation for Cast {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        let overflow = match self.overflow {
            Overflow::Saturate => "saturate",
            Overflow::Wrap => "wrap",
        };
        let round = if self.is_cut { "zero" } else { "even" };
        let parameters = [
            ("to", self.to.name()),
            ("overflow", overflow.to_owned()),
            ("round", round.to_owned()),
            ("nan", self.nan.to_string()),
        ];
        identity(INFO.name, 1, &parameters)
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        supported(INFO.name, input).map(|_| self.to)
    }

    fn scratch_bytes(&self, _shape: &[u64], _input: DataType) -> u64 {
        8 * BLOCK as u64
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let input = check_run(self, inputs, out, context)?;
        for_elements!(INFO.name, input.data_type, T => self.run_as::<T>(&input, out))
    }
}

/// Writes a block as elements of one type.
type Store = fn(&Cast, &Block, &mut [u8]) -> Result<(), OpError>;

impl Cast {
    fn run_as<T: Element>(&self, input: &BoxView<'_>, out: &mut [u8]) -> Result<Outcome, OpError> {
        let store: Store = match self.to {
            DataType::Bool => Self::store_bool,
            to => for_elements!(INFO.name, to, U => Self::store::<U>),
        };
        let elements = input.elements::<T>(INFO.name)?;
        let item_bytes = out.len() / elements.len().max(1);
        let mut block = Block::of(input.data_type);
        let outs = out.chunks_mut(BLOCK * item_bytes.max(1));
        for (elements, out) in elements.chunks(BLOCK).zip(outs) {
            block.load(elements);
            store(self, &block, out)?;
        }
        Ok(Outcome::Done)
    }

    fn store<U: Element>(&self, block: &Block, out: &mut [u8]) -> Result<(), OpError> {
        let out = elements_mut::<U>(INFO.name, out)?.iter_mut();
        match block {
            Block::Signed(values) => {
                out.zip(values).for_each(|(out, &value)| *out = self.integer(value.into()));
            }
            Block::Unsigned(values) => {
                out.zip(values).for_each(|(out, &value)| *out = self.integer(value.into()));
            }
            Block::Float(values) if U::IS_FLOAT => {
                out.zip(values).for_each(|(out, &value)| *out = U::from_f64(value));
            }
            Block::Float(values) => {
                out.zip(values).for_each(|(out, &value)| *out = self.fraction(value));
            }
        }
        Ok(())
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as other types")]
    fn store_bool(&self, block: &Block, out: &mut [u8]) -> Result<(), OpError> {
        let out = out.iter_mut();
        match block {
            Block::Signed(values) => {
                out.zip(values).for_each(|(out, &value)| *out = u8::from(value != 0));
            }
            Block::Unsigned(values) => {
                out.zip(values).for_each(|(out, &value)| *out = u8::from(value != 0));
            }
            Block::Float(values) => {
                out.zip(values).for_each(|(out, &value)| *out = u8::from(value != 0.0));
            }
        }
        Ok(())
    }

    /// Converts an integer.
    fn integer<U: Element>(&self, value: i128) -> U {
        if let Some(element) = U::from_int(value) {
            return element;
        }
        if U::IS_FLOAT {
            // Beyond the largest half: the infinity of the sign.
            return U::from_f64(if value < 0 { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        match self.overflow {
            Overflow::Saturate => {
                let is_negative = value < 0;
                U::from_f64(if is_negative { f64::NEG_INFINITY } else { f64::INFINITY })
            }
            Overflow::Wrap => wrapped(value),
        }
    }

    /// Converts a float to an integer.
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    fn fraction<U: Element>(&self, value: f64) -> U {
        /// 2^126: what is beyond is a multiple of 2^74, and 0 modulo 2^bits.
        const WRAPS_BELOW: f64 = 8.507_059_173_023_462e37;
        if value.is_nan() {
            return U::from_int(self.nan).unwrap_or(U::ZERO);
        }
        let value = if self.is_cut { value.trunc() } else { value };
        if self.overflow == Overflow::Saturate || value.is_infinite() {
            return U::from_f64(value);
        }
        let whole = value.round_ties_even();
        if whole.abs() < WRAPS_BELOW { self.integer(whole as i128) } else { U::ZERO }
    }
}

/// The element that is equal modulo 2^bits.
fn wrapped<U: Element>(value: i128) -> U {
    let bits = 8 * size_of::<U>();
    let low = value.rem_euclid(1_i128 << bits);
    // The key of 0 is the flipped bit of a signed type, or 0.
    let key = u64::try_from(low).unwrap_or(0) ^ U::ZERO.to_key().to_u64();
    U::from_key(U::Key::from_u64(key))
}
