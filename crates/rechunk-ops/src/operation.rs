//! Contract of an operation.

use std::fmt;

use rechunk_grid::{DataType, RANK_MAX, format_shape};

use crate::error::OpError;
use crate::statistic::Statistic;
use crate::view::{BoxView, Outcome, TaskContext, check_bytes};

/// Meaning of the numbers that an operation yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Amounts: their weighted means have a meaning.
    Intensity,
    /// Names: a mean of two of them is a third name, and wrong.
    Label,
}

/// Result of an operation.
#[derive(Debug, Clone, Copy)]
pub enum Output<'a> {
    /// A box of elements: [`Operation::run`].
    Array,
    /// A value of the whole domain, without a target array.
    Statistic(&'a dyn Statistic),
}

/// An operation on boxes of elements. A pure function of its inputs: it gives the same bits on any
/// thread and for any division into boxes, as long as each box has the halo around it.
///
/// An element that is nearer to the border of the padded box than the halo sees elements of the
/// border again and again, as `scipy.ndimage` with `mode="nearest"`.
pub trait Operation: fmt::Debug + Send + Sync {
    /// The name, as in [`crate::operations`].
    fn name(&self) -> &'static str;

    /// The name, the version of the algorithm and every parameter, in one canonical text. Two
    /// operations of one identity yield the same bits.
    fn identity(&self) -> String;

    /// Elements before and after a position that its result depends on, for each of `rank` axes.
    /// Refuses settings for another number of axes.
    fn halo(&self, rank: usize) -> Result<Vec<[u64; 2]>, OpError> {
        Ok(vec![[0; 2]; rank])
    }

    /// Input elements for each output element, along each axis.
    fn scale(&self, rank: usize) -> Vec<u64> {
        vec![1; rank]
    }

    /// Type of the output for a first source of type `input`. Refuses types that the operation does
    /// not take, and settings that such elements cannot have. For a statistic, returns `input`.
    fn output_type(&self, input: DataType) -> Result<DataType, OpError>;

    /// Whether outputs are amounts or names.
    fn value_kind(&self) -> ValueKind {
        ValueKind::Intensity
    }

    /// Bytes that a run takes beside its inputs and its output, at most.
    fn scratch_bytes(&self, shape: &[u64], input: DataType) -> u64 {
        let _ = (shape, input);
        0
    }

    /// Number of sources, all of one box.
    fn inputs(&self) -> usize {
        1
    }

    /// Refuses types of sources that do not go together, or that the operation does not take.
    fn check_types(&self, inputs: &[DataType]) -> Result<(), OpError> {
        check_count(self.name(), self.inputs(), inputs.len())?;
        inputs.first().map_or(Ok(()), |&first| self.output_type(first).map(|_| ()))
    }

    /// Result of the operation.
    fn output(&self) -> Output<'_> {
        Output::Array
    }

    /// Computes a box. `out` has the shape of the inputs and the elements of
    /// [`Operation::output_type`], native byte order, C order, aligned; the caller crops it. Parts
    /// of it outside of [`TaskContext::keep`] are unspecified afterwards. A statistic refuses.
    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let _ = (inputs, out, context);
        let yields = "a statistic, no array".to_owned();
        Err(OpError::Output { operation: self.name().to_owned(), yields })
    }
}

/// Refuses another number of sources than the operation takes.
pub(crate) fn check_count(operation: &str, expected: usize, given: usize) -> Result<(), OpError> {
    if given == expected {
        return Ok(());
    }
    Err(OpError::Inputs { operation: operation.to_owned(), expected, given })
}

/// Refuses inputs, an output or a context that do not fit the operation. Returns the first input.
pub(crate) fn check_run<'a>(
    operation: &dyn Operation,
    inputs: &[BoxView<'a>],
    out: &[u8],
    context: &TaskContext,
) -> Result<BoxView<'a>, OpError> {
    let name = operation.name();
    let types: Vec<_> = inputs.iter().map(|input| input.data_type).collect();
    operation.check_types(&types)?;
    let Some(&first) = inputs.first() else {
        return Err(OpError::Inputs { operation: name.to_owned(), expected: 1, given: 0 });
    };
    if let Some(other) = inputs.iter().find(|input| input.shape != first.shape) {
        let [first, other] = [first.shape, other.shape].map(format_shape);
        let reason = format!("one has {first} elements, another {other}");
        return Err(OpError::Disagree { operation: name.to_owned(), reason });
    }
    check_rank(name, first.shape.len())?;
    context.check(name, first.shape)?;
    check_bytes(name, "output", out.len(), first.shape, operation.output_type(first.data_type)?)?;
    Ok(first)
}

/// Refuses more axes than an array may have.
pub(crate) fn check_rank(operation: &str, rank: usize) -> Result<(), OpError> {
    if rank <= RANK_MAX {
        return Ok(());
    }
    let reason = format!("the box has {rank} axes, at most {RANK_MAX} are taken");
    Err(OpError::Buffer { operation: operation.to_owned(), reason })
}
