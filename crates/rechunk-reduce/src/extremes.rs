//! Least and largest elements of cells.

use std::marker::PhantomData;

use crate::cells::Block;
use crate::element::Element;
use crate::fold::{Fold, fold_block};
use crate::kernel::Kernel;

/// Takes the lesser of two elements.
#[derive(Debug)]
pub(crate) struct Least;

impl<T: Element> Fold<T, T> for Least {
    #[inline]
    fn start(item: T) -> T {
        item
    }

    #[inline]
    fn step(value: T, item: T) -> T {
        value.least(item)
    }

    #[inline]
    fn start_pair(pair: [T::Bytes; 2]) -> T {
        T::least_of_pair(pair)
    }

    #[inline]
    fn step_pair(value: T, pair: [T::Bytes; 2]) -> T {
        value.least(T::least_of_pair(pair))
    }
}

/// Takes the larger of two elements.
#[derive(Debug)]
pub(crate) struct Largest;

impl<T: Element> Fold<T, T> for Largest {
    #[inline]
    fn start(item: T) -> T {
        item
    }

    #[inline]
    fn step(value: T, item: T) -> T {
        value.largest(item)
    }

    #[inline]
    fn start_pair(pair: [T::Bytes; 2]) -> T {
        T::largest_of_pair(pair)
    }

    #[inline]
    fn step_pair(value: T, pair: [T::Bytes; 2]) -> T {
        value.largest(T::largest_of_pair(pair))
    }
}

/// Folds elements to one of them.
#[derive(Debug)]
pub(crate) struct Extremes<T, F> {
    values: Vec<T>,
    fold: PhantomData<F>,
}

impl<T, F> Extremes<T, F> {
    pub(crate) fn new() -> Self {
        Self { values: Vec::new(), fold: PhantomData }
    }
}

impl<T: Element, F: Fold<T, T>> Kernel<T> for Extremes<T, F> {
    type Output = T;

    fn block(&mut self, input: &[T::Bytes], block: &Block<'_>, output: &mut [T::Bytes]) {
        self.values.resize(block.cells, T::from_key(T::Key::default()));
        fold_block::<T, T, F>(input, block, &mut self.values);
        for (output, value) in output.iter_mut().zip(&self.values) {
            *output = value.write();
        }
    }

    fn part(&mut self, items: &[T::Bytes]) -> T::Bytes {
        let values = items.iter().map(|&item| T::read(item));
        values.reduce(F::step).unwrap_or(T::from_key(T::Key::default())).write()
    }
}
