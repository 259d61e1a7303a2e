//! Filters that are sums of separable weighted windows.

use rechunk_grid::DataType;

use super::blocks::{Chain, Filtered, filter, scratch_bytes};
use super::real::{Real, is_single};
use super::taps::Taps;
use crate::element::{Element, float_for, for_elements, supported};
use crate::error::OpError;
use crate::operation::{Operation, check_run};
use crate::view::{BoxView, Outcome, TaskContext, elements_mut, extents};

/// Weights of a window along an axis, from the middle outwards.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Weights {
    /// Weight of the middle, and those on both sides of it.
    Even(f64, Vec<f64>),
    /// Weights behind the middle; those before it are negated.
    Odd(Vec<f64>),
}

impl Weights {
    /// Elements on each side.
    fn reach(&self) -> usize {
        match self {
            Self::Even(_, sides) | Self::Odd(sides) => sides.len(),
        }
    }

    fn taps<C: Real>(&self) -> Taps<C> {
        match self {
            Self::Even(centre, sides) => Taps::even(*centre, sides),
            Self::Odd(sides) => Taps::odd(sides),
        }
    }
}

/// Ways to make one value from those of some chains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combine {
    /// The sum.
    Sum,
    /// The first without the second.
    Difference,
    /// The root of the sum of squares.
    Magnitude,
}

/// Chains of windows, each applied to the input, and their combination.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Linear {
    pub(super) chains: Vec<Chain<Weights>>,
    pub(super) combine: Combine,
    /// Results are divided by it.
    pub(super) divisor: f64,
}

impl Linear {
    /// A single chain.
    pub(super) fn single(chain: Chain<Weights>) -> Self {
        Self { chains: vec![chain], combine: Combine::Sum, divisor: 1.0 }
    }

    /// Elements on each side that a result depends on, for each axis.
    fn reaches(&self, rank: usize) -> Vec<usize> {
        let reach = |axis: usize| {
            let windows = self.chains.iter().filter_map(|chain| chain.get(axis)?.as_ref());
            windows.map(Weights::reach).max().unwrap_or(0)
        };
        (0..rank).map(reach).collect()
    }

    /// The halo of an operation.
    pub(super) fn halo(&self, rank: usize) -> Vec<[u64; 2]> {
        self.reaches(rank).into_iter().map(|reach| [reach as u64; 2]).collect()
    }

    /// Bytes that a run allocates if it computes in `Real` floats of `item_bytes`.
    pub(super) fn scratch_bytes(&self, shape: &[u64], item_bytes: usize) -> u64 {
        let shape = extents(shape);
        scratch_bytes(&shape, &self.reaches(shape.len()), item_bytes, self.chains.len())
    }

    /// Filters a box whose buffers are checked. The output has type `to`: the type of the input, or
    /// a float.
    pub(super) fn run(
        &self,
        operation: &str,
        input: &BoxView<'_>,
        to: DataType,
        is_single: bool,
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        for_elements!(operation, input.data_type, T => {
            let elements = input.elements::<T>(operation)?;
            let job = Job { shape: input.shape, context, linear: self };
            match (to, is_single) {
                (same, true) if same == input.data_type => {
                    job.run::<T, f32, T>(elements, elements_mut(operation, out)?);
                }
                (same, false) if same == input.data_type => {
                    job.run::<T, f64, T>(elements, elements_mut(operation, out)?);
                }
                (DataType::Float32, _) => {
                    job.run::<T, f32, f32>(elements, elements_mut(operation, out)?);
                }
                _ => job.run::<T, f64, f64>(elements, elements_mut(operation, out)?),
            }
        });
        Ok(Outcome::Done)
    }
}

/// An operation that is a sum of separable weighted windows.
pub(super) trait LinearFilter: Operation + Sized {
    /// The windows for boxes of `rank` axes.
    fn linear(&self, rank: usize) -> Result<Linear, OpError>;

    /// Bytes that [`LinearFilter::filter`] takes beside its input and its output.
    fn filter_bytes(&self, shape: &[u64], input: DataType) -> u64 {
        let item_bytes = match self.output_type(input) {
            Ok(to) if is_single(to) => 4,
            _ => 8,
        };
        self.linear(shape.len()).map_or(0, |linear| linear.scratch_bytes(shape, item_bytes))
    }

    /// Computes a box: what [`Operation::run`] does.
    fn filter(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let input = check_run(self, inputs, out, context)?;
        let to = self.output_type(input.data_type)?;
        let linear = self.linear(input.shape.len())?;
        linear.run(self.name(), &input, to, is_single(to), out, context)
    }
}

/// A box to be filtered.
struct Job<'a> {
    shape: &'a [u64],
    context: &'a TaskContext,
    linear: &'a Linear,
}

impl Job<'_> {
    fn run<T: Element, C: Real, U: Element>(&self, input: &[T], out: &mut [U]) {
        let (mut shape, mut keep) = (extents(self.shape), self.context.ranges());
        let mut chains: Vec<Chain<Taps<C>>> = self
            .linear
            .chains
            .iter()
            .map(|chain| chain.iter().map(|axis| axis.as_ref().map(Weights::taps)).collect())
            .collect();
        if shape.is_empty() {
            // A scalar is a line of one element.
            shape.push(1);
            keep.push(0..1);
            for chain in &mut chains {
                chain.push(None);
            }
        }
        let job = Filtered { input, shape: &shape, keep: &keep, chains: &chains };
        let combine = self.linear.combine;
        let divisor = C::of(self.linear.divisor);
        let many = chains.len() > 1;
        filter(
            &job,
            out,
            |element: T| C::load(element),
            |at, first, later| combine_blocks(combine, at, first, later),
            |row, out| store_row(row, out, combine, many, divisor),
        );
    }
}

/// Merges the block of the chain `at`, from 1 on, into that of the first.
fn combine_blocks<C: Real>(combine: Combine, at: usize, first: &mut [C], later: &[C]) {
    let pairs = first.iter_mut().zip(later);
    match (combine, at) {
        (Combine::Sum, _) => pairs.for_each(|(sum, &value)| *sum += value),
        (Combine::Difference, _) => pairs.for_each(|(sum, &value)| *sum = *sum - value),
        (Combine::Magnitude, 1) => {
            pairs.for_each(|(sum, &value)| *sum = *sum * *sum + value * value);
        }
        (Combine::Magnitude, _) => pairs.for_each(|(sum, &value)| *sum += value * value),
    }
}

/// Stores a row of combined values.
fn store_row<C: Real, U: Element>(
    row: &[C],
    out: &mut [U],
    combine: Combine,
    many: bool,
    divisor: C,
) {
    let pairs = out.iter_mut().zip(row);
    match combine {
        Combine::Magnitude if many => {
            pairs.for_each(|(out, &value)| *out = value.root().store());
        }
        // One square: its root without overflow.
        Combine::Magnitude => {
            pairs.for_each(|(out, &value)| *out = value.magnitude().store());
        }
        _ if divisor == C::of(1.0) => pairs.for_each(|(out, &value)| *out = value.store()),
        _ => pairs.for_each(|(out, &value)| *out = (value / divisor).store()),
    }
}

/// Type of a result that may be negative or a fraction ([`float_for`]). Refuses bool.
pub(super) fn float_type(operation: &str, input: DataType) -> Result<DataType, OpError> {
    refuse_bool(operation, input)?;
    Ok(float_for(input))
}

/// Refuses bool, and types that no operation takes.
pub(super) fn refuse_bool(operation: &str, input: DataType) -> Result<(), OpError> {
    if input == DataType::Bool {
        return Err(OpError::DataType {
            operation: operation.to_owned(),
            data_type: input,
            reason: "a mean of truths is none; cast to uint8 or float32 first".to_owned(),
        });
    }
    supported(operation, input).map(|_| ())
}
