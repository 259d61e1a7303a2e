//! Values of a JSON description, with the path of each for errors. Numbers may be strings: the
//! design document of the DataStore writes them so.

use serde_json::{Map, Value};

use crate::DatastoreError;

/// A value, and where it is.
pub(crate) struct JsonField<'a> {
    path: String,
    value: &'a Value,
}

impl<'a> JsonField<'a> {
    /// The field `name` of `map`; `None` if it is missing or null.
    pub(crate) fn of(map: &'a Map<String, Value>, name: &str) -> Option<Self> {
        let value = map.get(name).filter(|value| !value.is_null())?;
        Some(Self { path: name.to_owned(), value })
    }

    /// The field `name` of `map`, which has to be there.
    pub(crate) fn needed(map: &'a Map<String, Value>, name: &str) -> Result<Self, DatastoreError> {
        Self::of(map, name).ok_or_else(|| missing(name))
    }

    /// A field of this object, which has to be there.
    pub(crate) fn child(&self, name: &str) -> Result<JsonField<'a>, DatastoreError> {
        self.optional(name)?.ok_or_else(|| missing(&format!("{}.{name}", self.path)))
    }

    /// A field of this object; `None` if it is missing or null.
    pub(crate) fn optional(&self, name: &str) -> Result<Option<JsonField<'a>>, DatastoreError> {
        let Value::Object(map) = self.value else { return Err(self.wrong("is no object")) };
        let value = map.get(name).filter(|value| !value.is_null());
        Ok(value.map(|value| JsonField { path: format!("{}.{name}", self.path), value }))
    }

    /// An error about this field.
    pub(crate) fn wrong(&self, reason: impl Into<String>) -> DatastoreError {
        DatastoreError::Field { field: self.path.clone(), reason: reason.into() }
    }

    /// The items of a list.
    pub(crate) fn items(&self) -> Result<Vec<JsonField<'a>>, DatastoreError> {
        let Value::Array(items) = self.value else { return Err(self.wrong("is no list")) };
        let item = |(at, value)| JsonField { path: format!("{}[{at}]", self.path), value };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// The items of a list of `N`, each read by `read`.
    pub(crate) fn array<T, const N: usize>(
        &self,
        read: impl Fn(&JsonField<'a>) -> Result<T, DatastoreError>,
    ) -> Result<[T; N], DatastoreError> {
        let items = self.items()?;
        let count = items.len();
        let read = items.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        read.try_into().map_err(|_| self.wrong(format!("has {count} items, not {N}")))
    }

    /// A text.
    pub(crate) fn text(&self) -> Result<&'a str, DatastoreError> {
        self.value.as_str().ok_or_else(|| self.wrong("is no text"))
    }

    /// A whole number from `low` to `high`.
    pub(crate) fn integer(&self, low: u64, high: u64) -> Result<u64, DatastoreError> {
        let number = match self.value {
            Value::String(text) => text.trim().parse().ok(),
            // Java's clients may write whole numbers as 2.0.
            Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            _ => None,
        };
        let number = number.filter(|number| (low..=high).contains(number));
        number.ok_or_else(|| {
            self.wrong(format!("{} is no whole number from {low} to {high}", self.value))
        })
    }

    /// A finite number.
    pub(crate) fn float(&self) -> Result<f64, DatastoreError> {
        let number = match self.value {
            Value::String(text) => text.trim().parse().ok(),
            value => value.as_f64(),
        };
        let number = number.filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| self.wrong(format!("{} is no number", self.value)))
    }
}

fn missing(path: &str) -> DatastoreError {
    DatastoreError::Field { field: path.to_owned(), reason: "is missing".to_owned() }
}

/// Largest whole number up to which a double has all of them.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

fn whole(number: f64) -> Option<u64> {
    let is_whole = number.fract() == 0.0 && (0.0..=EXACT_MAX).contains(&number);
    is_whole.then(|| format!("{number:.0}").parse().ok()).flatten()
}
