//! Means over a box window.

use std::ops::{Add, Sub};
use std::sync::Arc;

use bytemuck::Pod;
use rechunk_grid::DataType;

use super::blocks::{Filtered, filter, scratch_bytes};
use super::linear::{Linear, Weights, refuse_bool};
use super::window::{WindowSum, chain, halo, reaches};
use crate::element::{Element, Wide, for_elements, round_even};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, check_run};
use crate::settings::{PerAxis, Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext, elements_mut, extents};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "mean",
    "mean over a box window; integers exactly, rounded once, half to even; floats in 64 bits",
    "the source's type, not bool",
    &[Parameter::new("size", "odd sizes, one or one for each axis", "elements of the window")],
);

#[derive(Debug)]
struct Mean {
    size: PerAxis<u64>,
}

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    Ok(Arc::new(Mean { size: settings.window("size")? }))
}

/// Elements of a window.
fn count(reaches: &[usize]) -> u64 {
    reaches.iter().map(|&reach| 2 * reach as u64 + 1).product()
}

impl Mean {
    /// The sums of floats: not from one another, because their bits would depend on where a box
    /// begins.
    fn linear(reaches: &[usize]) -> Linear {
        let chain = chain(reaches, |reach| Weights::Even(1.0, vec![1.0; reach]));
        Linear { divisor: count(reaches) as f64, ..Linear::single(chain) }
    }

    fn run_integers<T: Element, C: Pod + Add<Output = C> + Sub<Output = C>>(
        input: &BoxView<'_>,
        out: &mut [u8],
        context: &TaskContext,
        reaches: &[usize],
        load: impl Fn(T) -> C,
        divide: impl Fn(C) -> T,
    ) -> Result<Outcome, OpError> {
        let (mut shape, mut keep) = (extents(input.shape), context.ranges());
        let mut chain = chain(reaches, |reach| WindowSum { reach });
        if shape.is_empty() {
            shape.push(1);
            keep.push(0..1);
            chain.push(None);
        }
        let elements = input.elements::<T>(INFO.name)?;
        let chains = [chain];
        let job = Filtered { input: elements, shape: &shape, keep: &keep, chains: &chains };
        let out = elements_mut::<T>(INFO.name, out)?;
        let store = |row: &[C], out: &mut [T]| {
            out.iter_mut().zip(row).for_each(|(out, &sum)| *out = divide(sum));
        };
        filter(&job, out, load, |_, _, _| {}, store);
        Ok(Outcome::Done)
    }
}

/// The integer nearest to `sum / count`, ties to even.
fn nearest_quotient(sum: i128, count: i128) -> i128 {
    let (quotient, rest) = (sum.div_euclid(count), sum.rem_euclid(count));
    let is_up = match (2 * rest).cmp(&count) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => quotient % 2 != 0,
        std::cmp::Ordering::Greater => true,
    };
    quotient + i128::from(is_up)
}

/// An integer element as a sum of 64 bits; those of 32 bits and less fit.
fn load_short<T: Element>(element: T) -> i64 {
    match element.to_wide() {
        Wide::Int(value) => i64::try_from(value).unwrap_or(0),
        Wide::Float(_) => 0,
    }
}

/// An integer element as a sum of 128 bits.
fn load_long<T: Element>(element: T) -> i128 {
    match element.to_wide() {
        Wide::Int(value) => value,
        Wide::Float(_) => 0,
    }
}

impl Operation for Mean {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        identity(INFO.name, 1, &[("size", self.size.canonical())])
    }

    fn halo(&self, rank: usize) -> Result<Vec<[u64; 2]>, OpError> {
        Ok(halo(&reaches(INFO.name, &self.size, rank)?))
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        refuse_bool(INFO.name, input)?;
        Ok(input)
    }

    fn scratch_bytes(&self, shape: &[u64], input: DataType) -> u64 {
        let item_bytes = if !input.is_ieee_float() && input.item_bytes() == 8 { 16 } else { 8 };
        let reaches = reaches(INFO.name, &self.size, shape.len());
        reaches.map_or(0, |reaches| scratch_bytes(&extents(shape), &reaches, item_bytes, 1))
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        /// A quotient of fewer bits is rounded rightly by way of a float: it differs from a half by
        /// more than the float from it.
        const EXACT_BITS: u64 = 52;
        let input = check_run(self, inputs, out, context)?;
        let (data_type, reaches) =
            (input.data_type, reaches(INFO.name, &self.size, input.shape.len())?);
        if data_type.is_ieee_float() {
            let linear = Self::linear(&reaches);
            return linear.run(INFO.name, &input, data_type, false, out, context);
        }
        let count = count(&reaches);
        let bits = u64::from(u64::BITS - count.leading_zeros());
        for_elements!(INFO.name, data_type, T => {
            let item_bits = 8 * data_type.item_bytes();
            if item_bits == 64 {
                let divide = |sum: i128| {
                    T::from_int(nearest_quotient(sum, count.into())).unwrap_or(T::ZERO)
                };
                Self::run_integers(&input, out, context, &reaches, load_long::<T>, divide)
            } else if bits + item_bits <= EXACT_BITS {
                let count = count as f64;
                let divide = |sum: i64| T::from_f64(round_even(sum as f64 / count));
                Self::run_integers(&input, out, context, &reaches, load_short::<T>, divide)
            } else {
                let divide = |sum: i64| {
                    T::from_int(nearest_quotient(sum.into(), count.into())).unwrap_or(T::ZERO)
                };
                Self::run_integers(&input, out, context, &reaches, load_short::<T>, divide)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::nearest_quotient;

    #[test]
    fn quotients_are_rounded_half_to_even() {
        for (sum, count, wanted) in [(5, 2, 2), (7, 2, 4), (-5, 2, -2), (-7, 2, -4), (8, 3, 3)] {
            assert_eq!(nearest_quotient(sum, count), wanted, "{sum} / {count}");
        }
    }
}
