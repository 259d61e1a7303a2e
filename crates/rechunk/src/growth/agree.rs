//! Do source and target mean the same? Asked before anything is written.

use rechunk_grid::ArraySpec;

use super::{conflict, usage};
use crate::open::OpenArray;
use crate::placement::Placement;
use crate::variable::can_be_cut;
use crate::{Error, Remedy, format_shape};
use rechunk_words::axis_in_words;

/// The axis that is meant: a dimension's name, else a number.
pub(super) fn axis(placement: &Placement, text: &str, spec: &ArraySpec) -> Result<usize, Error> {
    let text = text.trim();
    let number = || text.parse::<usize>().ok().filter(|axis| *axis < spec.shape.len());
    let axis = spec.axis_named(text).or_else(number);
    if let Some(name) = axis.and_then(|axis| spec.dimension_name(axis))
        && spec.axes_named(name).count() > 1
    {
        return Err(Error::Usage {
            message: format!(
                "{}: {} axes of the target are named `{name}`, and growing one of them would leave \
                 two lengths of one name",
                placement.option(),
                spec.axes_named(name).count()
            ),
            hint: Some("copy the array anew; --region writes into what is there".into()),
        });
    }
    axis.ok_or_else(|| {
        let names: Vec<String> =
            (0..spec.shape.len()).map(|axis| axis_in_words(spec, axis)).collect();
        usage(placement, &format!("the target has no `{text}`, but {}", names.join(", ")))
    })
}

/// Hint about arrays that stay and differ.
pub(super) const ALIKE: Remedy = Remedy::AlikeOrTrust;

/// Refuses a source that is not of the kind of the target.
pub(super) fn check(location: &str, source: &OpenArray, target: &OpenArray) -> Result<(), Error> {
    let is_read_as_other = source.cast.is_some() || source.recount.is_some();
    let (own, theirs) = (source.spec(), target.spec());
    let cast = source.cast.map(|to| to.data_type.to_string());
    let name = cast.unwrap_or_else(|| source.metadata.data_type_name());
    let theirs_name = target.metadata.data_type_name();
    // Versions have names of their own for what differs in length.
    let is_text = own.data_type.is_variable()
        && can_be_cut(source.array.layout().as_ref(), target.array.layout().as_ref());
    // Of numbers that are cast or counted anew, the type is all.
    let by_name = !is_read_as_other && !is_text;
    if own.data_type != theirs.data_type || (by_name && name != theirs_name) {
        let reason = format!("holds {theirs_name}, and the source {name}");
        return Err(conflict(location, reason, Remedy::CastToTarget));
    }
    if source.packed.is_some() {
        let reason = "cannot take a source that is compressed as one file".to_owned();
        return Err(conflict(location, reason, "unpack it first"));
    }
    check_axes(location, own, theirs)
}

/// Refuses other axes, as far as both have names.
pub(super) fn check_axes(location: &str, own: &ArraySpec, theirs: &ArraySpec) -> Result<(), Error> {
    let hint = "the source has to have the axes of the target, in their order";
    if own.shape.len() != theirs.shape.len() {
        let reason = format!("has {} axes, and the source {}", theirs.shape.len(), own.shape.len());
        return Err(conflict(location, reason, hint));
    }
    for axis in 0..own.shape.len() {
        if let (Some(mine), Some(name)) = (own.dimension_name(axis), theirs.dimension_name(axis))
            && mine != name
        {
            let reason = format!("has the axis {axis} `{name}`, and the source `{mine}`");
            return Err(conflict(location, reason, hint));
        }
    }
    Ok(())
}

/// Refuses other extents, `but` that of one axis.
pub(super) fn check_extents(
    location: &str,
    own: &ArraySpec,
    theirs: &ArraySpec,
    but: usize,
) -> Result<(), Error> {
    let differs = |&axis: &usize| axis != but && own.shape[axis] != theirs.shape[axis];
    let Some(axis) = (0..own.shape.len()).find(differs) else { return Ok(()) };
    let (mine, name) = (own.shape[axis], axis_in_words(theirs, axis));
    let reason = format!("has {} elements along {name}, and the source {mine}", theirs.shape[axis]);
    Err(conflict(location, reason, "only the axis that is appended along may differ"))
}

/// Refuses an array that the target has in another shape, or along other axes.
pub(super) fn check_alike(
    location: &str,
    source: &OpenArray,
    target: &OpenArray,
) -> Result<(), Error> {
    let (own, theirs) = (source.spec(), target.spec());
    if own.shape != theirs.shape {
        let (own, theirs) = (format_shape(&own.shape), format_shape(&theirs.shape));
        let reason = format!("has the shape {theirs}, and the source {own}");
        return Err(conflict(location, reason, ALIKE));
    }
    check_axes(location, own, theirs)
}

/// Refuses an array that the target has in another type.
pub(super) fn check_type(
    location: &str,
    source: &OpenArray,
    target: &OpenArray,
) -> Result<(), Error> {
    let (own, theirs) = (source.spec().data_type, target.spec().data_type);
    let names = (source.metadata.data_type_name(), target.metadata.data_type_name());
    // Versions have names of their own for what differs in length.
    if own == theirs && (names.0 == names.1 || own.is_variable()) {
        return Ok(());
    }
    let reason = format!("holds {}, and the source {}", names.1, names.0);
    Err(conflict(location, reason, ALIKE))
}
