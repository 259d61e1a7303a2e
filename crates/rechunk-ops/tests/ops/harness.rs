//! Arrays of any type, and operations run on them.

use std::sync::Arc;

use bytemuck::Pod;
use proptest::prelude::*;
use rechunk_grid::{DataType, Region};
use rechunk_ops::{BoxView, OpError, Operation, TaskContext, operation, parse_settings};

/// Types that operations take.
pub(crate) const TYPES: [DataType; 12] = DataType::NUMBERS;

/// Bytes that are aligned for every type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Buffer {
    words: Vec<u64>,
    bytes: usize,
}

impl Buffer {
    pub(crate) fn zeros(bytes: usize) -> Self {
        Self { words: vec![0; bytes.div_ceil(8)], bytes }
    }

    pub(crate) fn of<T: Pod>(elements: &[T]) -> Self {
        let source: &[u8] = bytemuck::cast_slice(elements);
        let mut buffer = Self::zeros(source.len());
        buffer.bytes_mut().copy_from_slice(source);
        buffer
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.bytes]
    }

    pub(crate) fn elements<T: Pod>(&self) -> Vec<T> {
        bytemuck::cast_slice(self.bytes()).to_vec()
    }
}

/// An array in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Array {
    pub(crate) data_type: DataType,
    pub(crate) shape: Vec<u64>,
    pub(crate) buffer: Buffer,
}

impl Array {
    pub(crate) fn of<T: Pod>(data_type: DataType, shape: &[u64], elements: &[T]) -> Self {
        Self { data_type, shape: shape.to_vec(), buffer: Buffer::of(elements) }
    }

    pub(crate) fn zeros(data_type: DataType, shape: &[u64]) -> Self {
        let bytes = shape.iter().product::<u64>() * data_type.item_bytes();
        let buffer = Buffer::zeros(usize::try_from(bytes).unwrap());
        Self { data_type, shape: shape.to_vec(), buffer }
    }

    pub(crate) fn view(&self) -> BoxView<'_> {
        BoxView::new(self.data_type, &self.shape, self.buffer.bytes())
    }

    /// Copies the elements of a region, as another array.
    pub(crate) fn part(&self, region: &Region) -> Self {
        let mut part = Self::zeros(self.data_type, &region.shape);
        copy(self, &region.start, &mut part, &vec![0; region.rank()], &region.shape);
        part
    }
}

/// Copies a box from one array into another.
pub(crate) fn copy(from: &Array, start: &[u64], to: &mut Array, at: &[u64], shape: &[u64]) {
    let item = usize::try_from(from.data_type.item_bytes()).unwrap();
    let position = |array: &[u64], start: &[u64], index: &[u64]| {
        let axes = array.iter().zip(start).zip(index);
        let linear = axes.fold(0, |linear, ((extent, start), at)| linear * extent + start + at);
        usize::try_from(linear).unwrap() * item
    };
    for index in Region::whole(shape).positions() {
        let source = position(&from.shape, start, &index);
        let target = position(&to.shape, at, &index);
        let element = from.buffer.bytes()[source..source + item].to_vec();
        to.buffer.bytes_mut()[target..target + item].copy_from_slice(&element);
    }
}

/// The operation of a text.
pub(crate) fn parsed(text: &str) -> Arc<dyn Operation> {
    built(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The operation of a text, or why there is none.
pub(crate) fn built(text: &str) -> Result<Arc<dyn Operation>, OpError> {
    let (name, settings) = parse_settings(text)?;
    operation(&name, &settings)
}

/// Runs an operation on whole arrays.
pub(crate) fn run(text: &str, inputs: &[&Array]) -> Result<Array, OpError> {
    run_in(text, inputs, &TaskContext::whole(&inputs[0].shape))
}

/// Runs an operation in a context.
pub(crate) fn run_in(
    text: &str,
    inputs: &[&Array],
    context: &TaskContext,
) -> Result<Array, OpError> {
    let operation = built(text)?;
    let views: Vec<_> = inputs.iter().map(|input| input.view()).collect();
    let to = operation.output_type(inputs[0].data_type)?;
    let mut out = Array::zeros(to, &inputs[0].shape);
    operation.run(&views, out.buffer.bytes_mut(), context)?;
    Ok(out)
}

/// Runs an operation on some elements of a line.
pub(crate) fn line<T: Pod, U: Pod>(text: &str, data_type: DataType, elements: &[T]) -> Vec<U> {
    let array = Array::of(data_type, &[elements.len() as u64], elements);
    run(text, &[&array]).unwrap_or_else(|error| panic!("{text}: {error}")).buffer.elements()
}

/// Arrays of a type with random bits, and some values that are special.
pub(crate) fn arrays(data_type: DataType, shape: Vec<u64>) -> impl Strategy<Value = Array> {
    let elements = usize::try_from(shape.iter().product::<u64>()).unwrap();
    let item = usize::try_from(data_type.item_bytes()).unwrap();
    let bytes = prop::collection::vec(any::<u8>(), elements * item);
    bytes.prop_map(move |mut bytes| {
        if data_type == DataType::Bool {
            for byte in &mut bytes {
                *byte &= 1;
            }
        }
        Array::of(data_type, &shape, &bytes)
    })
}

/// Shapes of one to four axes.
pub(crate) fn shapes() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(1..9_u64, 1..5)
}
