//! Attributes between formats that give some of their names a meaning of their own.
//!
//! What belongs to the axes is listed in their order. What would mean something else in the target,
//! or would keep its readers from opening it, is kept aside in [`KEPT`], and is put back by a copy
//! into a format in which it means what it meant.

use std::borrow::Cow;

use rechunk_format::json::{make_strict, read_object, write_pretty};
use rechunk_grid::ArraySpec;
use rechunk_n5::{Turned, keeps_from_opening, reserved_names, suits_dataset, turned};
use rechunk_words::LengthUnit;
use rechunk_zarr::{MissingValue, missing_value_in_v3};
use serde_json::{Map, Value, json};

use crate::axes::Axes;
use crate::formats::{Fact, Format};

/// Attribute with those that are kept aside, by name.
const KEPT: &str = "rechunk_attributes";
/// The one member of an object that stands for a value that is no JSON, such as NaN: its text.
const TEXT: &str = "json";

/// Attribute that says to xarray which elements are missing.
const FILL_VALUE: &str = "_FillValue";
/// Attribute that xarray keeps the names of axes in, where a format has no place for them.
const XARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";
/// Attribute that N5 has the names of axes in.
const N5_AXES: &str = "axes";
/// Attribute of N5 that lists its axes itself, slowest first in whatever format.
const TRANSFORM: &str = "transform";

/// Attributes by which volumes are known that say size and place of voxels in fields of their own.
const VOXELS: [&str; 3] = ["resolution", "offset", UNITS];
const UNITS: &str = "units";

/// A way between two formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    pub from: Format,
    pub to: Format,
    /// Order of the axes on that way.
    pub axes: Axes,
}

/// Attributes of one array or group, and those of them that are kept aside.
struct Aside<'a> {
    attributes: &'a mut Map<String, Value>,
    kept: Map<String, Value>,
}

/// Attributes as they are meant: those that are kept aside in their places, unless something else
/// is there now.
pub(crate) fn meant(attributes: &Map<String, Value>) -> Cow<'_, Map<String, Value>> {
    let Some(Value::Object(kept)) = attributes.get(KEPT) else { return Cow::Borrowed(attributes) };
    let mut meant = attributes.clone();
    meant.shift_remove(KEPT);
    for (name, wrapped) in kept {
        meant.entry(name.clone()).or_insert_with(|| unwrapped(wrapped));
    }
    Cow::Owned(meant)
}

impl Way {
    /// Makes the attributes of the source those of the target, an array of `spec`; sentences for
    /// people. `source` has them all, also what the target has another place for.
    pub(crate) fn carry(
        self,
        spec: &ArraySpec,
        source: &Map<String, Value>,
        attributes: &mut Map<String, Value>,
    ) -> Vec<String> {
        let is_noted = Axes::noted(attributes).is_some();
        self.axes.note(self.from, self.to, attributes);
        if !self.changes_meaning() {
            return Vec::new();
        }
        let rank = spec.shape.len();
        let (mut aside, before) = Aside::of(attributes);
        let mut warnings = Vec::new();
        if self.to.has(Fact::ReservedNames) {
            warnings.extend(aside.for_n5(spec, is_noted));
        }
        if self.to.has(Fact::VoxelFields) {
            warnings.extend(aside.for_volume(rank));
        }
        if self.turns() && rank > 1 {
            warnings.extend(turn_all(aside.attributes, Some(rank)));
        }
        aside.put_back(before, |name, value, now| match now {
            // There for a field that every volume has.
            Some(_) if self.from.has(Fact::VoxelFields) && VOXELS.contains(&name) => true,
            None => {
                !self.to.has(Fact::ReservedNames)
                    || (suits_dataset(name, value, rank) && is_strict(value))
            }
            // The same, or what is missing as the other format spells it.
            Some(now) => {
                let spelled = || missing_value_in_v3(value, spec.data_type);
                now == value
                    || (name == FILL_VALUE && spelled() == MissingValue::Spelled(now.clone()))
            }
        });
        if self.to.zarr_version().is_some() {
            warnings.extend(aside.for_zarr(self.to, spec, source));
        }
        aside.close();
        warnings
    }

    /// [`Way::carry`] for the attributes of a group, in which arrays have any number of axes.
    pub(crate) fn carry_group(self, attributes: &mut Map<String, Value>) -> Vec<String> {
        if !self.changes_meaning() {
            return Vec::new();
        }
        let mut warnings = Vec::new();
        let says_axes =
            attributes.iter().any(|(name, value)| turned(name, value, None) != Turned::Free);
        let (mut aside, before) = Aside::of(attributes);
        if self.turns() {
            warnings.extend(turn_all(aside.attributes, None));
        } else if says_axes {
            self.axes.note(self.from, self.to, aside.attributes);
        }
        aside.put_back(before, |_, _, now| now.is_none());
        if self.to.has(Fact::ReservedNames) {
            let reserved = reserved_names(aside.attributes).into_iter().map(str::to_owned);
            warnings.extend(aside.put(reserved.collect(), MEANS_ELSE));
            warnings.extend(aside.put(not_strict(aside.attributes), NO_JSON));
        }
        aside.close();
        warnings
    }

    /// True where names mean something else on the other side: between Zarr, N5 and raw files.
    fn changes_meaning(self) -> bool {
        self.from.row().family != self.to.row().family
    }

    /// True if attributes list axes in the opposite order behind it. NIfTI has no such attributes.
    fn turns(self) -> bool {
        self.axes == Axes::Reverse
            && (self.from.has(Fact::AxisAttributes) || self.to.has(Fact::AxisAttributes))
            && self.from.has(Fact::FastestFirst) != self.to.has(Fact::FastestFirst)
    }
}

/// Why attributes are kept aside, in a message.
const MEANS_ELSE: &str = "not what readers of the target take such a name for";
const NO_JSON: &str = "no JSON (NaN, an infinity or a number beyond float64)";

impl<'a> Aside<'a> {
    /// The attributes, and those that are kept aside among them.
    fn of(attributes: &'a mut Map<String, Value>) -> (Self, Map<String, Value>) {
        let kept = match attributes.get_mut(KEPT) {
            Some(Value::Object(kept)) => std::mem::take(kept),
            _ => return (Self { attributes, kept: Map::new() }, Map::new()),
        };
        attributes.shift_remove(KEPT);
        (Self { attributes, kept: Map::new() }, kept)
    }

    /// Writes what is still kept.
    fn close(self) {
        let Self { attributes, mut kept } = self;
        if kept.is_empty() {
            return;
        }
        if let Some(own) = attributes.shift_remove(KEPT) {
            kept.insert(KEPT.to_owned(), own);
        }
        attributes.insert(KEPT.to_owned(), Value::Object(kept));
    }

    /// Puts those of `kept` in their places that are `right` there, where something may be now; the
    /// others stay aside.
    fn put_back(
        &mut self,
        kept: Map<String, Value>,
        right: impl Fn(&str, &Value, Option<&Value>) -> bool,
    ) {
        for (name, wrapped) in kept {
            let value = unwrapped(&wrapped);
            if right(&name, &value, self.attributes.get(&name)) {
                self.attributes.insert(name, value);
            } else {
                self.kept.entry(name).or_insert(wrapped);
            }
        }
    }

    /// Takes attributes out of their places; a sentence for people.
    fn put(&mut self, names: Vec<String>, why: &str) -> Option<String> {
        let mut shown = Vec::with_capacity(names.len());
        for name in names {
            if let Some(value) = self.attributes.shift_remove(&name) {
                shown.push(format!("{name:?}"));
                self.kept.insert(name, wrapped(value));
            }
        }
        (!shown.is_empty()).then(|| {
            let names = shown.join(", ");
            let (noun, is) = if shown.len() == 1 { ("attribute", "is") } else { ("attributes", "are") };
            format!(
                "the {noun} {names} {is} {why}: kept in the attribute {KEPT:?}, and put back by a copy back"
            )
        })
    }

    /// Keeps what N5's readers take for something else. `is_back` is true for an array that came
    /// from N5.
    fn for_n5(&mut self, spec: &ArraySpec, is_back: bool) -> Vec<String> {
        let rank = spec.shape.len();
        let is_taken = self.make_room_for_names(spec, is_back);
        let is_odd = |name: &str, value: &Value| {
            let suits = suits_dataset(name, value, rank);
            // What was in N5 so goes back so, if that keeps nobody from opening it.
            (name == N5_AXES && is_taken) || !(suits || is_back && !keeps_from_opening(name))
        };
        let odd = self.attributes.iter().filter(|(name, value)| is_odd(name, value));
        let odd = odd.map(|(name, _)| name.clone()).collect();
        let odd = self.put(odd, MEANS_ELSE);
        let no_json = self.put(not_strict(self.attributes), NO_JSON);
        odd.into_iter().chain(no_json).collect()
    }

    /// Keeps what says neither size nor place nor units of voxels, under the names by which volumes
    /// say these in fields of their own.
    fn for_volume(&mut self, rank: usize) -> Option<String> {
        let is_unit = |value: &Value| {
            value.as_str().is_some_and(|unit| unit.is_empty() || LengthUnit::parse(unit).is_ok())
        };
        let is_of_voxels = |name: &str, value: &Value| match value {
            Value::Array(list) if name == UNITS => list.len() == rank && list.iter().all(is_unit),
            Value::Array(list) => list.len() == rank && list.iter().all(Value::is_number),
            value => name == UNITS && is_unit(value),
        };
        let odd = self.attributes.iter();
        let odd =
            odd.filter(|(name, value)| VOXELS.contains(&&***name) && !is_of_voxels(name, value));
        let odd = odd.map(|(name, _)| name.clone()).collect();
        self.put(odd, MEANS_ELSE)
    }

    /// N5 has the names of axes in an attribute. One of that name comes back as it is, also where
    /// it says the names; but not in an array that has it from N5. True if it says something else
    /// than the names.
    fn make_room_for_names(&mut self, spec: &ArraySpec, is_back: bool) -> bool {
        let Some(axes) = self.attributes.get(N5_AXES).cloned() else { return false };
        let names = spec.dimension_names.as_ref();
        let names = names.filter(|names| names.iter().any(Option::is_some));
        if let Some(names) = names {
            let said = axes.as_array().into_iter().flatten().map(Value::as_str);
            if !said.eq(names.iter().map(|name| Some(name.as_deref().unwrap_or_default()))) {
                return true;
            }
            self.attributes.shift_remove(N5_AXES);
        } else if !suits_dataset(N5_AXES, &axes, spec.shape.len()) {
            return false;
        }
        if !is_back {
            self.kept.insert(N5_AXES.to_owned(), wrapped(axes));
        }
        false
    }

    /// Keeps what xarray would not read in Zarr, and spells what it does as it does.
    fn for_zarr(
        &mut self,
        to: Format,
        spec: &ArraySpec,
        source: &Map<String, Value>,
    ) -> Option<String> {
        let is_names = |value: &Value| {
            let list = value.as_array().filter(|list| list.len() == spec.shape.len());
            list.is_some_and(|list| list.iter().all(Value::is_string))
        };
        let mut odd = Vec::new();
        if let Some(names) = source.get(XARRAY_DIMENSIONS).filter(|value| !is_names(value)) {
            self.attributes.insert(XARRAY_DIMENSIONS.to_owned(), names.clone());
            odd.push(XARRAY_DIMENSIONS.to_owned());
        }
        let is_for_xarray = to.has(Fact::DimensionNames) && spec.dimension_names.is_some();
        let said = self.attributes.get(FILL_VALUE).filter(|_| is_for_xarray);
        match said.map(|said| missing_value_in_v3(said, spec.data_type)) {
            Some(MissingValue::Spelled(spelled)) => {
                let said = self.attributes.insert(FILL_VALUE.to_owned(), spelled);
                self.kept.extend(said.map(|said| (FILL_VALUE.to_owned(), wrapped(said))));
            }
            Some(MissingValue::Wrong) => odd.push(FILL_VALUE.to_owned()),
            Some(MissingValue::Right) | None => {}
        }
        self.put(odd, MEANS_ELSE)
    }
}

/// Has the attributes that belong to axes follow their order; sentences for people about those that
/// do not.
fn turn_all(attributes: &mut Map<String, Value>, rank: Option<usize>) -> Vec<String> {
    let mut stuck = Vec::new();
    for (name, value) in attributes.iter_mut() {
        match turned(name, value, rank) {
            Turned::Turned(turned) => *value = turned,
            Turned::Stuck => stuck.push(format!("{name:?}")),
            Turned::Free => {}
        }
    }
    let mut warnings = Vec::new();
    if !stuck.is_empty() {
        warnings.push(format!(
            "{} cannot follow the order of axes, which is reversed: kept as in the source",
            stuck.join(", ")
        ));
    }
    if attributes.get(TRANSFORM).is_some_and(Value::is_object) {
        warnings.push(format!(
            "{TRANSFORM:?} lists its axes itself and does not follow their order, which is reversed: kept \
             as in the source"
        ));
    }
    warnings
}

/// Names of attributes that JSON has no words for.
fn not_strict(attributes: &Map<String, Value>) -> Vec<String> {
    let odd = attributes.iter().filter(|(_, value)| !is_strict(value));
    odd.map(|(name, _)| name.clone()).collect()
}

fn is_strict(value: &Value) -> bool {
    make_strict(&mut Map::from_iter([(TEXT.to_owned(), value.clone())])).is_empty()
}

/// The value as it is kept: JSON.
fn wrapped(value: Value) -> Value {
    if is_strict(&value) {
        return value;
    }
    let text = String::from_utf8(write_pretty(&value)).unwrap_or_default();
    json!({ TEXT: text.trim() })
}

/// The value that is kept so.
fn unwrapped(kept: &Value) -> Value {
    let text =
        kept.as_object().filter(|map| map.len() == 1).and_then(|map| map.get(TEXT)?.as_str());
    let parsed = text.and_then(|text| {
        let document = format!("{{\"{TEXT}\": {text}}}");
        read_object(KEPT, document.as_bytes()).ok()?.shift_remove(TEXT)
    });
    // An attribute that only looks so is JSON itself.
    parsed.filter(|value| !is_strict(value)).unwrap_or_else(|| kept.clone())
}

#[cfg(test)]
mod tests;
