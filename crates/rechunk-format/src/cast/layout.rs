//! An array whose elements are read as another type.

use std::fmt::Debug;
use std::sync::Arc;

use rechunk_grid::{ArraySpec, ChunkGrid, DataType, Endian, FillValue};

use super::{Convert, cast_fill_value, pair, value_fault};
use crate::view::View;
use crate::{CodecCost, ElementOrder, FormatError, Layout};

/// Makes elements of one type elements of another, one by one.
pub trait ElementMap: Debug + Send + Sync {
    /// Maps the elements of `stored`, in `endian`, from position `from` on, into as many of
    /// `mapped`, little-endian. The position of the first that has no counterpart, if there is one;
    /// those behind it are not touched.
    fn run(&self, stored: &[u8], endian: Endian, mapped: &mut [u8], from: usize) -> Option<usize>;

    /// Why an element has no counterpart.
    fn fault(&self, element: &[u8], endian: Endian) -> String;
}

/// A cast to a type.
#[derive(Debug)]
struct Cast {
    convert: Convert,
    to: DataType,
}

impl ElementMap for Cast {
    fn run(&self, stored: &[u8], endian: Endian, mapped: &mut [u8], from: usize) -> Option<usize> {
        self.convert.run(stored, endian, mapped, from)
    }

    fn fault(&self, element: &[u8], endian: Endian) -> String {
        value_fault(&self.convert.shown(element, endian), self.to)
    }
}

/// The layout of an array, to read its elements as those of another type. An element that does not
/// fit is an error; what a chunk has behind the end of the array is not looked at.
///
/// Nobody but this layout knows of it: to planner and executor the array is one of the new type,
/// and its encoded chunks are like no other's.
#[derive(Debug)]
pub struct CastLayout {
    inner: Arc<dyn Layout>,
    from: DataType,
    map: Arc<dyn ElementMap>,
    grid: ChunkGrid,
    spec: ArraySpec,
    order: ElementOrder,
    cost: CodecCost,
    identity: String,
    summary: String,
}

impl CastLayout {
    /// An array with `inner` layout, its elements as `to`. Refuses types that are no numbers, and a
    /// fill value that does not fit.
    pub fn new(inner: Arc<dyn Layout>, to: DataType) -> Result<Self, FormatError> {
        let from = inner.spec().data_type;
        let convert = pair(from, to)?;
        let fill_value = inner.spec().fill_value.as_ref();
        let fill_value = fill_value.map(|fill| cast_fill_value(fill, from, to)).transpose()?;
        let name = format!("cast to {to}");
        let summary = format!("{}, {from} as {to}", inner.codec_summary());
        let map = Arc::new(Cast { convert, to });
        Self::with_map(inner, (to, fill_value), map, &name, summary)
    }

    /// An array with `inner` layout, its elements mapped to those of type `to`. `name` tells the
    /// map from others, `summary` says it to people behind the codecs.
    pub fn with_map(
        inner: Arc<dyn Layout>,
        (to, fill_value): (DataType, Option<FillValue>),
        map: Arc<dyn ElementMap>,
        name: &str,
        summary: String,
    ) -> Result<Self, FormatError> {
        let from = inner.spec().data_type;
        let spec = ArraySpec { data_type: to, fill_value, ..inner.spec().clone() };
        let grid = spec.grid().map_err(|error| FormatError::Metadata {
            key: "--cast".to_owned(),
            reason: error.to_string(),
        })?;
        let mut cost = inner.codec_cost().clone();
        if !cost.is_raw {
            // The chunk as it is stored, while it is cast.
            let stored_bytes = grid.chunk_elements().saturating_mul(from.item_bytes());
            cost.decode_workspace_bytes = cost.decode_workspace_bytes.saturating_add(stored_bytes);
        }
        cost.is_raw = false;
        let order = ElementOrder { endian: Endian::Little, ..inner.element_order().clone() };
        let identity = format!("{name} of {}", inner.encoding_identity());
        Ok(Self { inner, from, map, grid, spec, order, cost, identity, summary })
    }

    /// The position in the array of the element at `at` of chunk `index`; `None` behind its end.
    fn position(&self, index: &[u64], at: usize) -> Option<Vec<u64>> {
        let chunk = self.grid.chunk(index);
        let mut rest = u64::try_from(at).ok()?;
        let mut position = chunk.start.clone();
        for &axis in self.order.axes.iter().rev() {
            let extent = chunk.shape[axis].max(1);
            position[axis] = position[axis].checked_add(rest % extent)?;
            rest /= extent;
        }
        let is_inside = position.iter().zip(&self.spec.shape).all(|(at, extent)| at < extent);
        is_inside.then_some(position)
    }

    /// Casts a decoded chunk.
    fn cast(&self, index: &[u64], stored: &[u8], cast: &mut Vec<u8>) -> Result<(), FormatError> {
        let bytes = |data_type: DataType| usize::try_from(data_type.item_bytes()).unwrap_or(1);
        let (from, to) = (bytes(self.from), bytes(self.spec.data_type));
        cast.clear();
        cast.resize((stored.len() / from).saturating_mul(to), 0);
        let endian = self.inner.element_order().endian;
        let mut next = 0;
        while let Some(at) = self.map.run(stored, endian, cast, next) {
            if let Some(position) = self.position(index, at) {
                let element = stored.get(at * from..(at + 1) * from).unwrap_or_default();
                let fault = self.map.fault(element, endian);
                return Err(FormatError::Cast { reason: format!("element {position:?}: {fault}") });
            }
            next = at + 1; // padding stays 0
        }
        Ok(())
    }
}

impl View for CastLayout {
    fn inner(&self) -> &dyn Layout {
        &*self.inner
    }

    fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    fn identity(&self) -> &str {
        &self.identity
    }

    fn order(&self) -> &ElementOrder {
        &self.order
    }

    fn cost(&self) -> &CodecCost {
        &self.cost
    }

    fn summary(&self) -> &str {
        &self.summary
    }

    fn decode<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        let mut own = Vec::new();
        let stored = self.inner.decode(index, encoded, &mut own)?;
        self.cast(index, stored, scratch)?;
        Ok(scratch)
    }

    fn encode(&self, _: &[u64], _: &[u8], _: &mut Vec<u8>) -> Result<(), FormatError> {
        let reason = "an array that is read as another type is not written".to_owned();
        Err(FormatError::Encode { codec: "cast", reason })
    }
}
