//! The source of an array that grows, its times counted as the target counts them.

use rechunk_store::Stores;
use serde_json::{Map, Value};

use super::neighbours::open_beside;
use crate::formats::Fact;
use crate::open::OpenArray;
use crate::recount::Counts;
use crate::request::CopyRequest;
use crate::{Axes, Error};

/// Attributes that name the array with the limits of cells, which count as the array itself does
/// (CF conventions, sections 7.1, 7.4).
pub(super) const BOUNDS: [&str; 2] = ["bounds", "climatology"];

/// `source`, its times counted as `target` counts times, where both count them and otherwise; and
/// what is to be said of that.
pub(crate) async fn counted(
    source: OpenArray,
    target: &OpenArray,
    request: &CopyRequest,
    stores: &Stores,
) -> Result<(OpenArray, Option<String>), Error> {
    if !source.metadata.format().has(Fact::Meaning) {
        return Ok((source, None)); // it says nothing of its elements
    }
    let own = counting(&source, request.axes, stores).await?;
    let theirs = counting(target, request.axes, stores).await?;
    let Some(counts) = Counts::of(&source, target, (&own, &theirs)) else {
        return Ok((source, None));
    };
    let units = |said: &Map<String, Value>| {
        said.get("units").and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let (own, theirs) = (units(&own), units(&theirs));
    let source = counts.apply(source, &target.location, (&own, &theirs)).await?;
    let note = format!("times in {own:?} are counted anew, in {theirs:?}");
    Ok((source, Some(note)))
}

/// Attributes that say how an array counts. They are its own, or where it has no units and holds
/// the limits of cells, those of the coordinate that these are of.
async fn counting(
    array: &OpenArray,
    axes: Option<Axes>,
    stores: &Stores,
) -> Result<Map<String, Value>, Error> {
    let own = array.metadata.meaning();
    let spec = array.metadata.spec();
    let name = array.location.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if own.contains_key("units") || !matches!(spec.shape[..], [_, 2]) {
        return Ok(own.into_owned());
    }
    let place = (&*array.location, array.metadata.format());
    if let Some(dimension) = spec.dimension_name(0)
        && let Some(coordinate) = open_beside(place, dimension, axes, stores).await?
    {
        let said = coordinate.metadata.meaning();
        if BOUNDS.iter().any(|key| said.get(*key).and_then(Value::as_str) == Some(name)) {
            return Ok(said.into_owned());
        }
    }
    Ok(own.into_owned())
}
