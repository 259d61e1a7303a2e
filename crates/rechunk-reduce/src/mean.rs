//! Means of cells, and their sums.

use std::marker::PhantomData;

use crate::cells::Block;
use crate::element::Element;
use crate::fold::fold_block;
use crate::item::Item;
use crate::kernel::Kernel;
use crate::method::Rounding;
use crate::quotient::{Quotient, Sum, SumOf};

/// Adds in `V`, and divides at once.
#[derive(Debug)]
pub(crate) struct Mean<V> {
    rounding: Rounding,
    sums: Vec<V>,
}

impl<V> Mean<V> {
    pub(crate) fn new(rounding: Rounding) -> Self {
        Self { rounding, sums: Vec::new() }
    }
}

impl<T: Element, V: Quotient<T>> Kernel<T> for Mean<V> {
    type Output = T;

    fn block(&mut self, input: &[T::Bytes], block: &Block<'_>, output: &mut [T::Bytes]) {
        self.sums.resize(block.cells, V::default());
        fold_block::<T, V, Sum>(input, block, &mut self.sums);
        V::divide(&self.sums, block.volume() as u64, self.rounding, output);
    }

    fn part(&mut self, items: &[T::Bytes]) -> T::Bytes {
        let sum = sum::<T, V>(items);
        let mut mean = [T::write(T::from_key(T::Key::default()))];
        V::divide(&[sum], items.len() as u64, self.rounding, &mut mean);
        mean[0]
    }
}

/// Adds in `V`, and hands on in `W`.
#[derive(Debug)]
pub(crate) struct Sums<V, W> {
    sums: Vec<V>,
    wide: PhantomData<W>,
}

impl<V, W> Sums<V, W> {
    pub(crate) fn new() -> Self {
        Self { sums: Vec::new(), wide: PhantomData }
    }
}

impl<T: Item, V: SumOf<T>, W: Item + From<V>> Kernel<T> for Sums<V, W> {
    type Output = W;

    fn block(&mut self, input: &[T::Bytes], block: &Block<'_>, output: &mut [W::Bytes]) {
        self.sums.resize(block.cells, V::default());
        fold_block::<T, V, Sum>(input, block, &mut self.sums);
        for (output, &sum) in output.iter_mut().zip(&self.sums) {
            *output = W::from(sum).write();
        }
    }

    fn part(&mut self, items: &[T::Bytes]) -> W::Bytes {
        W::from(sum::<T, V>(items)).write()
    }
}

/// Adds elements in order.
fn sum<T: Item, V: SumOf<T>>(items: &[T::Bytes]) -> V {
    items.iter().fold(V::NONE, |sum, &item| sum.plus(T::read(item).into()))
}
