//! Assignment: each voxel has one contribution.

use crate::form::{Combine, Encoding, ValueForm};
use crate::voxel_box::VoxelBox;

use super::parts::{BlockView, CombineError, Coverage, size};
use super::rounded::{round_row, widen_element};
use super::rows::rows;

/// Elements as they came, and the windows that were written.
pub(super) struct Moved {
    item: usize,
    buffer: Vec<u8>,
    windows: Vec<VoxelBox>,
}

impl Moved {
    pub(super) fn new(combine: &Combine, region: &VoxelBox) -> Result<Self, CombineError> {
        let item_bytes = combine.input.item_bytes();
        let item = usize::try_from(item_bytes).unwrap_or(usize::MAX);
        let buffer = vec![0; size(region, item_bytes)?];
        Ok(Self { item, buffer, windows: Vec::new() })
    }

    pub(super) fn add(&mut self, region: &VoxelBox, block: BlockView<'_>, window: VoxelBox) {
        let (item, buffer) = (self.item, &mut self.buffer);
        rows(&window, block.bounds, region, |row| {
            let from = row.one * item..(row.one + row.length) * item;
            let to = row.two * item..(row.two + row.length) * item;
            buffer[to].copy_from_slice(&block.bytes[from]);
        });
        if !window.is_empty() {
            self.windows.push(window);
        }
    }

    pub(super) fn finish(
        self,
        combine: &Combine,
        region: &VoxelBox,
        out: &mut [u8],
    ) -> Result<Coverage, CombineError> {
        let out_item = usize::try_from(combine.output.item_bytes()).unwrap_or(usize::MAX);
        let is_same = combine.input == combine.output;
        let covered = self.windows.iter().map(VoxelBox::elements).sum::<u128>();
        let whole = covered == region.elements();
        if whole && is_same {
            out.copy_from_slice(&self.buffer);
            return Ok(Coverage::Whole);
        }
        let mut problem = None;
        for window in &self.windows {
            rows(window, region, region, |row| {
                let from = &self.buffer[row.one * self.item..(row.one + row.length) * self.item];
                let to = &mut out[row.two * out_item..(row.two + row.length) * out_item];
                if is_same {
                    to.copy_from_slice(from);
                } else if let Err(error) = round_row(combine.input, from, combine.output, to) {
                    problem = Some(error);
                }
            });
        }
        problem.map_or(Ok(()), Err)?;
        Ok(Coverage::of(covered, region.elements()))
    }
}

/// Fills `out` with one plain element, in the form of `form`.
pub(crate) fn fill(form: ValueForm, element: &[u8], out: &mut [u8]) -> Result<(), CombineError> {
    if form.encoding == Encoding::Plain {
        if element.len() as u64 != form.item_bytes() {
            return Err(CombineError::Bytes {
                shape: Vec::new(),
                found: element.len(),
                expected: form.item_bytes().into(),
            });
        }
        for item in out.chunks_exact_mut(element.len().max(1)) {
            item.copy_from_slice(element);
        }
        return Ok(());
    }
    let item = usize::try_from(form.item_bytes()).unwrap_or(usize::MAX);
    let mut one = vec![0; item];
    widen_element(form, element, &mut one)?;
    for to in out.chunks_exact_mut(item) {
        to.copy_from_slice(&one);
    }
    Ok(())
}

/// Elements of `window`, which lies in the block.
pub(crate) fn cut(
    block: BlockView<'_>,
    window: &VoxelBox,
    item_bytes: u64,
) -> Result<Vec<u8>, CombineError> {
    let item = usize::try_from(item_bytes).unwrap_or(usize::MAX);
    let mut out = vec![0; size(window, item_bytes)?];
    rows(window, block.bounds, window, |row| {
        let from = row.one * item..(row.one + row.length) * item;
        out[row.two * item..(row.two + row.length) * item].copy_from_slice(&block.bytes[from]);
    });
    Ok(out)
}
