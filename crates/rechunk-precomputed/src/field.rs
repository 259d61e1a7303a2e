//! Fields of an `info`.

use rechunk_format::FormatError;
use rechunk_format::field::Field;
use serde_json::Value;

use crate::names::INFO_KEY;

/// The field `name` of the document.
pub(crate) fn field(name: &str) -> Field {
    Field::new(INFO_KEY, name)
}

/// Reads a list of three items: x, y, z.
pub(crate) fn triple<T: Copy + Default>(
    field: &Field,
    value: &Value,
    read: impl Fn(&Value) -> Option<T>,
    wanted: &str,
) -> Result<[T; 3], FormatError> {
    let wrong =
        || field.invalid(format!("{} is not {wanted}", rechunk_format::field::shown(value)));
    let list = field.list(value)?;
    if list.len() != 3 {
        return Err(wrong());
    }
    let mut items = [T::default(); 3];
    for (item, value) in items.iter_mut().zip(list) {
        *item = read(value).ok_or_else(wrong)?;
    }
    Ok(items)
}

/// An integer, also one that is written with a point (`64.0`), as some libraries do.
pub(crate) fn integer(value: &Value) -> Option<i64> {
    /// Integers up to this are exact in a float64.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let of_float = || {
        let number = value.as_f64()?;
        let is_integer = number.fract() == 0.0 && number.abs() <= EXACT_MAX;
        is_integer.then(|| format!("{number:.0}").parse().ok())?
    };
    value.as_i64().or_else(of_float)
}
