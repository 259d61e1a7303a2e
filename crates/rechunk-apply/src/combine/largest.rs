//! The largest contribution, starting from the first.

use std::cmp::Ordering;

use half::f16;
use rechunk_grid::DataType;

use crate::form::{Combine, Encoding, Rule};
use crate::voxel_box::VoxelBox;

use super::element::{Element, Truth};
use super::parts::{BlockView, CombineError, Coverage, size};
use super::rounded::round_row;
use super::rows::rows;

/// The larger of two values, whichever came first.
trait Larger: Element {
    fn larger(self, other: Self) -> Self;
}

macro_rules! larger {
    ($($type:ty),*) => {$(
        impl Larger for $type {
            fn larger(self, other: Self) -> Self {
                self.max(other)
            }
        }
    )*};
}

larger!(u8, u16, u32, u64, i8, i16, i32, i64, i128);

impl Larger for Truth {
    fn larger(self, other: Self) -> Self {
        Self(self.0 || other.0)
    }
}

macro_rules! larger_float {
    ($($type:ty),*) => {$(
        impl Larger for $type {
            fn larger(self, other: Self) -> Self {
                match self.partial_cmp(&other) {
                    // The bits of a NaN may not depend on which came first.
                    None => Self::NAN,
                    Some(Ordering::Equal) if self.is_sign_negative() => other,
                    Some(Ordering::Equal | Ordering::Greater) => self,
                    Some(Ordering::Less) => other,
                }
            }
        }
    )*};
}

larger_float!(f16, f32, f64);

pub(super) struct Largest {
    item: usize,
    buffer: Vec<u8>,
    /// Voxels that have a contribution.
    seen: Vec<bool>,
}

fn compare<T: Larger>(from: &[u8], to: &mut [u8], seen: &mut [bool]) {
    let mut contributions = T::read(from).zip(&*seen);
    T::update(to, |old| match contributions.next() {
        Some((new, true)) => new.larger(old),
        // A lone NaN becomes the NaN of its type too.
        Some((new, false)) => new.larger(new),
        None => old,
    });
    seen.fill(true);
}

impl Largest {
    pub(super) fn new(combine: &Combine, region: &VoxelBox) -> Result<Self, CombineError> {
        let item_bytes = combine.input.item_bytes();
        let item = usize::try_from(item_bytes).unwrap_or(usize::MAX);
        let seen = vec![false; size(region, 1)?];
        Ok(Self { item, buffer: vec![0; size(region, item_bytes)?], seen })
    }

    pub(super) fn add(
        &mut self,
        combine: &Combine,
        region: &VoxelBox,
        block: BlockView<'_>,
        window: &VoxelBox,
    ) -> Result<(), CombineError> {
        let data_type = combine.input.data_type;
        let step = match (combine.input.encoding, data_type) {
            (Encoding::Fixed64, _) | (Encoding::Plain, DataType::Int64) => compare::<i64>,
            (Encoding::Fixed128, _) => compare::<i128>,
            (Encoding::Float64, _) | (_, DataType::Float64) => compare::<f64>,
            (_, DataType::Bool) => compare::<Truth>,
            (_, DataType::Uint8) => compare::<u8>,
            (_, DataType::Uint16) => compare::<u16>,
            (_, DataType::Uint32) => compare::<u32>,
            (_, DataType::Uint64) => compare::<u64>,
            (_, DataType::Int8) => compare::<i8>,
            (_, DataType::Int16) => compare::<i16>,
            (_, DataType::Int32) => compare::<i32>,
            (_, DataType::Float16) => compare::<f16>,
            (_, DataType::Float32) => compare::<f32>,
            (Encoding::Plain, data_type) => {
                return Err(CombineError::Type { data_type, rule: Rule::Max });
            }
        };
        let (item, buffer, seen) = (self.item, &mut self.buffer, &mut self.seen);
        rows(window, block.bounds, region, |row| {
            let from = &block.bytes[row.one * item..(row.one + row.length) * item];
            let to = row.two..row.two + row.length;
            step(from, &mut buffer[to.start * item..to.end * item], &mut seen[to]);
        });
        Ok(())
    }

    pub(super) fn finish(
        self,
        combine: &Combine,
        out: &mut [u8],
    ) -> Result<Coverage, CombineError> {
        let covered = self.seen.iter().filter(|&&seen| seen).count();
        let is_same = combine.input == combine.output;
        let coverage = Coverage::of(covered as u128, self.seen.len() as u128);
        if is_same && coverage == Coverage::Whole {
            out.copy_from_slice(&self.buffer);
            return Ok(coverage);
        }
        let out_item = usize::try_from(combine.output.item_bytes()).unwrap_or(usize::MAX);
        let elements = self.buffer.chunks_exact(self.item.max(1)).zip(&self.seen);
        for (to, (from, _)) in
            out.chunks_exact_mut(out_item.max(1)).zip(elements).filter(|(_, (_, seen))| **seen)
        {
            if is_same {
                to.copy_from_slice(from);
            } else {
                round_row(combine.input, from, combine.output, to)?;
            }
        }
        Ok(coverage)
    }
}
