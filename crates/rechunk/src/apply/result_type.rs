//! A source seen as an array of the results: what its target is specified by.

use std::sync::Arc;

use rechunk_array::Array;
use rechunk_format::cast::{CastLayout, CastTo, ElementMap, cast_fill_value};
use rechunk_grid::{DataType, Endian, FillValue};

use crate::Error;
use crate::open::OpenArray;

/// A map of elements that nobody asks: only the layout is.
#[derive(Debug)]
struct Unread;

impl ElementMap for Unread {
    fn run(&self, _: &[u8], _: Endian, _: &mut [u8], from: usize) -> Option<usize> {
        Some(from)
    }

    fn fault(&self, _: &[u8], _: Endian) -> String {
        "results are computed, not read".to_owned()
    }
}

/// The source as an array of results of type `to`. Where its fill value is none of that type, it
/// has 0.
pub(super) fn as_results(source: &OpenArray, to: DataType) -> Result<OpenArray, Error> {
    let from = source.spec().data_type;
    if from == to {
        return Ok(source.clone());
    }
    let inner = Arc::clone(source.array.layout());
    let fill = inner.spec().fill_value.as_ref().map(|fill| {
        cast_fill_value(fill, from, to).unwrap_or_else(|_| FillValue::zero(to.item_bytes()))
    });
    let summary = format!("{}, results as {to}", inner.codec_summary());
    let layout = CastLayout::with_map(inner, (to, fill), Arc::new(Unread), "results", summary);
    let layout = layout.map_err(Error::target_metadata)?;
    Ok(OpenArray {
        array: Array::new(Arc::new(layout), source.array.store().clone()),
        cast: Some(CastTo { data_type: to, endian: Endian::Little }),
        ..source.clone()
    })
}
