//! Times that count from another moment or in another unit than the target's, read as the target
//! counts them.

use std::sync::Arc;

use rechunk_array::Array;
use rechunk_format::Layout;
use rechunk_format::cast::{CastLayout, Count, ElementMap, Recount, Uncounted, is_number};
use rechunk_grid::{Endian, FillValue, Region};
use rechunk_zarr::missing_value;
use serde_json::{Map, Value};

use crate::calendar::Since;
use crate::elements::read_region;
use crate::open::OpenArray;
use crate::{Error, format_shape};

/// Most bytes of times that are looked at before anything is written; of more, one that cannot be
/// counted stops the run.
const LOOKED_AT_BYTES_MAX: u64 = 64 << 20;

/// Ways in which two arrays count times, otherwise than each other.
#[derive(Debug)]
pub(crate) struct Counts {
    own: Since,
    theirs: Since,
    recount: Recount,
}

/// Attributes that say how times are counted, of the source and of the target.
pub(crate) type Said<'a> = (&'a Map<String, Value>, &'a Map<String, Value>);

impl Counts {
    /// Compares how `source` and `target` count times by these attributes. `None` where they count
    /// alike, or one of them counts no times, or times of a calendar that has no counterpart in the
    /// other.
    pub(crate) fn of(source: &OpenArray, target: &OpenArray, said: Said<'_>) -> Option<Self> {
        let is_packed = |attributes: &Map<String, Value>| {
            ["scale_factor", "add_offset"].iter().any(|name| attributes.contains_key(*name))
        };
        let (own, theirs) = (Since::of_attributes(said.0)?, Since::of_attributes(said.1)?);
        let types = (source.spec().data_type, target.spec().data_type);
        let is_alike = own == theirs || !own.agrees_with(&theirs);
        if is_alike || is_packed(said.0) || is_packed(said.1) || !is_number(types.0) {
            return None;
        }
        let missing = |array: &OpenArray| missing_value(array.metadata.zarr()?);
        let from = Count {
            // Of numbers that are cast, the type is no longer that of the attribute.
            missing: missing(source).filter(|_| source.cast.is_none()).map(|value| value.bytes),
            ..own.count(types.0)
        };
        let to =
            Count { missing: missing(target).map(|value| value.bytes), ..theirs.count(types.1) };
        Some(Self { own, theirs, recount: Recount::new(from, to)? })
    }

    /// The source, its times counted as the target counts them. Refuses times that the target
    /// cannot count exactly, by their place; `units` are those of source and target.
    pub(crate) async fn apply(
        self,
        source: OpenArray,
        location: &str,
        units: (&str, &str),
    ) -> Result<OpenArray, Error> {
        let spec = source.spec();
        if spec.decoded_bytes().is_some_and(|bytes| bytes <= LOOKED_AT_BYTES_MAX) {
            let whole = Region::whole(&spec.shape);
            let elements = read_region(&source, &whole).await?;
            if let Some((at, element)) = self.first_fault(&elements, spec.item_bytes()) {
                let position = whole.position(at);
                return Err(self.refusal(location, &position, element, units));
            }
        }
        let recount = Some(Arc::new(self.recount));
        let identity = counted_identity(source.identity.clone(), recount.as_deref());
        let counted = OpenArray { identity, recount, ..source };
        let layout = counted.recount_layout(Arc::clone(counted.array.layout()))?;
        Ok(OpenArray { array: Array::new(layout, counted.array.store().clone()), ..counted })
    }

    /// The first element that has no counterpart, and its number.
    fn first_fault<'a>(&self, elements: &'a [u8], item_bytes: u64) -> Option<(u64, &'a [u8])> {
        let item = usize::try_from(item_bytes).unwrap_or(1).max(1);
        let new = usize::try_from(self.recount.data_type().item_bytes()).unwrap_or(1);
        let mut counted = vec![0; elements.len() / item * new];
        let fault = self.recount.run(elements, Endian::Little, &mut counted, 0);
        let moment = |element: &[u8]| self.recount.moment(element, Endian::Little);
        // Before the reform the numbers of these calendars are of other days.
        let is_old = |element: &[u8]| moment(element).is_some_and(|at| !Since::is_modern(at));
        let old = if self.own.has_calendar_of(&self.theirs) {
            None
        } else {
            elements.chunks_exact(item).position(is_old)
        };
        let first = [fault, old].into_iter().flatten().min()?;
        Some((u64::try_from(first).ok()?, elements.chunks_exact(item).nth(first)?))
    }

    fn refusal(
        &self,
        location: &str,
        position: &[u64],
        element: &[u8],
        (own, theirs): (&str, &str),
    ) -> Error {
        let moment = self.recount.moment(element, Endian::Little);
        let words = moment.and_then(|moment| self.own.in_words(moment));
        let words = words.map_or(String::new(), |words| format!(", {words},"));
        let data_type = self.recount.data_type();
        let (fault, hint) = match self.recount.uncounted(element, Endian::Little) {
            Some(Uncounted::Missing) => (
                "is the value that the source has for missing elements, and the target has none"
                    .to_owned(),
                "where it is a time, write the source without that fill value (in xarray: \
                 ds.time.encoding[\"_FillValue\"] = None), or with the units of the target",
            ),
            Some(Uncounted::BecomesMissing) => (
                "would be the value that the target has for missing elements".to_owned(),
                "copy the archive to one with another fill value, or with other units",
            ),
            Some(Uncounted::Inexact) | None => (
                format!("has no exact counterpart in {data_type}"),
                "write the source with the units of the target (in xarray: \
                 ds.time.encoding[\"units\"] = …), or copy the archive to one with a finer unit",
            ),
        };
        Error::Conflict {
            location: location.to_owned(),
            reason: format!(
                "counts times in {theirs:?}, and the source in {own:?}: its element \
                 {position:?}{words} {fault}"
            ),
            hint: Some(hint.into()),
        }
    }
}

/// The identity of an array whose times are counted anew, if they are: read so, it is another
/// array.
pub(crate) fn counted_identity(identity: String, recount: Option<&Recount>) -> String {
    match recount {
        Some(recount) => format!("{identity} counted {recount:?}"),
        None => identity,
    }
}

impl OpenArray {
    /// A layout of its elements as they are stored or cast, as one that counts times as the target
    /// does, if it is read so.
    pub(crate) fn recount_layout(&self, layout: Arc<dyn Layout>) -> Result<Arc<dyn Layout>, Error> {
        let Some(recount) = &self.recount else { return Ok(layout) };
        let spec = layout.spec();
        // Null is read as zero, which is another number in other units.
        let zero = FillValue::zero(spec.item_bytes());
        let fill = self.recounted_fill(recount, spec.fill_value.as_ref().unwrap_or(&zero))?;
        let to = (recount.data_type(), fill);
        let (name, summary) =
            (format!("{recount:?}"), format!("{}, times counted anew", layout.codec_summary()));
        let map = Arc::clone(recount) as Arc<dyn ElementMap>;
        let counted = CastLayout::with_map(layout, to, map, &name, summary);
        let counted = counted.map_err(|source| Error::source_metadata(&self.location, source))?;
        Ok(Arc::new(counted))
    }

    /// The fill value as the target counts it. Where it has no counterpart, no chunk may be
    /// missing: that was looked at, unless there are too many.
    fn recounted_fill(
        &self,
        recount: &Recount,
        fill: &FillValue,
    ) -> Result<Option<FillValue>, Error> {
        let mut bytes = vec![0; usize::try_from(recount.data_type().item_bytes()).unwrap_or(1)];
        if recount.run(&fill.bytes, Endian::Little, &mut bytes, 0).is_none() {
            return Ok(Some(FillValue { bytes }));
        }
        let spec = self.metadata.spec();
        if spec.decoded_bytes().is_some_and(|bytes| bytes <= LOOKED_AT_BYTES_MAX) {
            return Ok(None);
        }
        Err(Error::NotAnArray {
            location: self.location.clone(),
            reason: format!(
                "its fill value is a time that the target does not count exactly, and it is too long ({}) to \
                 see whether chunks are missing",
                format_shape(&spec.shape)
            ),
            hint: Some("write it with the units of the target".into()),
        })
    }
}
