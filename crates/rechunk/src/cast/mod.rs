//! `--cast`: an array whose elements are read as another type.

use std::sync::Arc;

use rechunk_array::Array;
use rechunk_format::Layout;
use rechunk_format::cast::{CastLayout, CastTo, cast_fill_value, is_number, rounds};
use rechunk_grid::{DataType, Endian, FillValue};
use rechunk_zarr::{ArrayMetadata as ZarrMetadata, recast_missing_value};
use serde_json::{Map, Value};

use crate::Error;
use crate::open::OpenArray;
use rechunk_words::Cast;

/// The attribute whose value is of the type of the elements and is cast with them, in Zarr.
const FILL_VALUE: &str = "_FillValue";
/// Others of that type.
const OF_ELEMENTS: [&str; 4] = ["missing_value", "valid_min", "valid_max", "valid_range"];
/// Attributes that readers compute other elements with.
const OF_PACKING: [&str; 2] = ["scale_factor", "add_offset"];

impl OpenArray {
    /// The array with its elements read as another type, if one is asked for.
    pub(crate) fn cast(self, asked: Option<&Cast>) -> Result<Self, Error> {
        let Some(asked) = asked else { return Ok(self) };
        let to = asked.to();
        let from = self.spec().data_type;
        if !is_number(from) {
            return Err(Error::Usage {
                message: format!(
                    "--cast {asked}: the elements of {} are {from}, and only numbers are cast",
                    self.location
                ),
                hint: Some("leave it out, or name the arrays with --var".into()),
            });
        }
        // What other formats say of the order of bytes, no target follows.
        let endian = self.metadata.zarr().map_or(Endian::Little, |zarr| zarr.order.endian);
        if from == to.data_type && (endian == to.endian || from.swap_bytes() == 1) {
            return Ok(self);
        }
        let mut cast = Self {
            // Another type of the same array is another array.
            identity: format!("{} as {} {:?}", self.identity, to.data_type, to.endian),
            cast: Some(to),
            ..self
        };
        rechunk_raw::cast_nifti(cast.metadata.attributes_mut(), to.data_type);
        let layout = cast.cast_layout(Arc::clone(cast.array.layout()))?;
        Ok(Self { array: Array::new(layout, cast.array.store().clone()), ..cast })
    }

    /// A layout of its elements as they are stored, as one of the type that they are read as.
    pub(crate) fn cast_layout(&self, stored: Arc<dyn Layout>) -> Result<Arc<dyn Layout>, Error> {
        match self.cast {
            Some(to) if stored.spec().data_type != to.data_type => {
                let cast = CastLayout::new(stored, to.data_type);
                Ok(Arc::new(cast.map_err(|error| Error::Cast {
                    location: self.location.clone(),
                    source: Box::new(error),
                })?))
            }
            _ => Ok(stored),
        }
    }

    /// The type that its elements have where they are stored.
    pub(crate) fn stored_type(&self) -> DataType {
        self.metadata.spec().data_type
    }
}

/// Warnings of a cast of an array with these attributes, into Zarr or another format.
pub(crate) fn warnings(
    from: DataType,
    to: DataType,
    attributes: &Map<String, Value>,
    is_zarr: bool,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if from == to {
        return warnings;
    }
    if rounds(from, to) {
        warnings.push(format!(
            "{from} tells more numbers apart than {to}: elements are rounded to the nearest"
        ));
    }
    let named = |names: &[&str]| {
        let found: Vec<&str> =
            names.iter().copied().filter(|name| attributes.contains_key(*name)).collect();
        (!found.is_empty()).then(|| found.join(", "))
    };
    if let Some(names) = named(&OF_PACKING) {
        warnings.push(format!(
            "{names}: elements are cast as they are stored, readers go on to unpack them with these \
             attributes, which are not changed"
        ));
    }
    let kept = [FILL_VALUE].into_iter().filter(|_| !is_zarr).chain(OF_ELEMENTS);
    if let Some(names) = named(&kept.collect::<Vec<_>>()) {
        warnings.push(format!(
            "{names}: these attributes are values of {from} and are not changed, readers may compare \
             them with elements of {to}"
        ));
    }
    warnings
}

/// Metadata from which a target of elements of another type follows.
pub(crate) struct Recast {
    pub metadata: ZarrMetadata,
    /// Losses of its codecs, in sentences.
    pub left_out: Vec<String>,
    /// That it no longer says which elements are missing.
    pub dropped: Option<String>,
}

/// `fill` is the fill value of the elements as they are cast.
pub(crate) fn recast(metadata: &ZarrMetadata, to: CastTo, fill: Option<&FillValue>) -> Recast {
    let from = metadata.spec.data_type;
    let convert = |fill: &FillValue| cast_fill_value(fill, from, to.data_type);
    let fill = metadata.spec.fill_value.as_ref().and(fill.cloned());
    let (mut cast, left_out) = metadata.with_elements(to.data_type, to.endian, fill);
    let said = |codec: String| format!("{codec} is left out: it is made for elements of {from}");
    let dropped = if from == to.data_type {
        None
    } else {
        recast_missing_value(metadata, &mut cast, |value| convert(value).ok())
    };
    Recast { metadata: cast, left_out: left_out.into_iter().map(said).collect(), dropped }
}

#[cfg(test)]
mod tests;
