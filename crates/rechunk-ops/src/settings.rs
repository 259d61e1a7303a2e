//! Settings of an operation, read from text.

use std::collections::BTreeMap;
use std::fmt::Display;

use rechunk_grid::DataType;

use crate::constant::Constant;
use crate::error::OpError;
use crate::info::OperationInfo;

/// Settings that were given for an operation, all of them known to it.
#[derive(Debug)]
pub(crate) struct Settings<'a> {
    info: &'static OperationInfo,
    given: &'a BTreeMap<String, String>,
}

impl<'a> Settings<'a> {
    /// Takes settings; refuses those that the operation does not have.
    pub(crate) fn new(
        info: &'static OperationInfo,
        given: &'a BTreeMap<String, String>,
    ) -> Result<Self, OpError> {
        let names: Vec<_> = info.parameters.iter().map(|parameter| parameter.name).collect();
        match given.keys().find(|key| !names.contains(&key.as_str())) {
            None => Ok(Self { info, given }),
            Some(key) => Err(OpError::UnknownSetting {
                operation: info.name.to_owned(),
                key: key.clone(),
                nearest: nearest(key, &names),
                known: names.join(", "),
            }),
        }
    }

    /// Returns the refusal of the value of a setting.
    pub(crate) fn bad(&self, key: &str, wanted: impl Into<String>) -> OpError {
        let value = self.optional(key).unwrap_or_default().to_owned();
        bad_setting(self.info.name, key, &value, wanted)
    }

    /// The text of a setting, or its default.
    pub(crate) fn optional(&self, key: &str) -> Option<&'a str> {
        let default = || {
            let named = self.info.parameters.iter().find(|parameter| parameter.name == key);
            named.and_then(|parameter| parameter.default)
        };
        self.given.get(key).map(|value| value.trim()).or_else(default)
    }

    /// Returns the text of a setting, or its default; refuses a setting without either.
    pub(crate) fn text(&self, key: &str) -> Result<&'a str, OpError> {
        self.optional(key).ok_or_else(|| {
            let named = self.info.parameters.iter().find(|parameter| parameter.name == key);
            OpError::MissingSetting {
                operation: self.info.name.to_owned(),
                key: key.to_owned(),
                wanted: named.map(|parameter| parameter.values.to_owned()).unwrap_or_default(),
            }
        })
    }

    /// Reads a number.
    pub(crate) fn constant(&self, key: &str) -> Result<Constant, OpError> {
        let text = self.text(key)?;
        Constant::parse(text).ok_or_else(|| self.bad(key, "it takes a number"))
    }

    /// Reads a number that may be left out.
    pub(crate) fn optional_constant(&self, key: &str) -> Result<Option<Constant>, OpError> {
        self.optional(key).map(|_| self.constant(key)).transpose()
    }

    /// Reads a finite number.
    pub(crate) fn finite(&self, key: &str) -> Result<f64, OpError> {
        let value = self.constant(key)?.to_f64();
        if value.is_finite() { Ok(value) } else { Err(self.bad(key, "it takes a finite number")) }
    }

    /// Reads one of some words; its position among them.
    pub(crate) fn choice(&self, key: &str, words: &[&str]) -> Result<usize, OpError> {
        let text = self.text(key)?;
        let position = words.iter().position(|word| *word == text);
        position.ok_or_else(|| self.bad(key, format!("it takes {}", words.join(", "))))
    }

    /// Reads the type of elements; `None` if the setting is left out.
    pub(crate) fn data_type(&self, key: &str) -> Result<Option<DataType>, OpError> {
        let Some(text) = self.optional(key) else { return Ok(None) };
        let named =
            DataType::from_name(text).filter(|data_type| DataType::NUMBERS.contains(data_type));
        let names =
            || DataType::NUMBERS.iter().map(|data_type| data_type.name()).collect::<Vec<_>>();
        named.map(Some).ok_or_else(|| self.bad(key, format!("it takes {}", names().join(", "))))
    }

    /// Reads a list with one value for all axes, or one for each.
    pub(crate) fn per_axis<T>(
        &self,
        key: &str,
        wanted: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<PerAxis<T>, OpError> {
        let values = self.text(key)?.split(',').map(|text| parse(text.trim()));
        let values: Option<Vec<T>> = values.collect();
        let values = values.ok_or_else(|| self.bad(key, wanted))?;
        Ok(PerAxis { operation: self.info.name, key: key.to_owned(), values })
    }

    /// Reads odd sizes of windows, in elements.
    pub(crate) fn window(&self, key: &str) -> Result<PerAxis<u64>, OpError> {
        let wanted = format!("it takes odd sizes from 1 to {WINDOW_MAX}, one or one for each axis");
        self.per_axis(key, &wanted, |text| {
            let size = text.parse().ok()?;
            (size % 2 == 1 && size <= WINDOW_MAX).then_some(size)
        })
    }

    /// Reads a list of axes; `None` means all.
    pub(crate) fn axes(&self, key: &str) -> Result<Option<Vec<usize>>, OpError> {
        if self.text(key)? == "all" {
            return Ok(None);
        }
        let axes = self.text(key)?.split(',').map(|text| text.trim().parse().ok());
        let axes: Option<Vec<usize>> = axes.collect();
        let wanted = "it takes `all`, or positions of axes from 0, slowest first";
        let mut axes = axes.ok_or_else(|| self.bad(key, wanted))?;
        axes.sort_unstable();
        axes.dedup();
        Ok(Some(axes))
    }
}

/// Largest size of a window along an axis, elements.
pub(crate) const WINDOW_MAX: u64 = 4095;

/// Values of a setting: one for all axes, or one for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PerAxis<T> {
    operation: &'static str,
    key: String,
    values: Vec<T>,
}

impl<T: Copy + Display> PerAxis<T> {
    /// Returns the value of each of `rank` axes.
    pub(crate) fn of_rank(&self, rank: usize) -> Result<Vec<T>, OpError> {
        match self.values.as_slice() {
            &[value] => Ok(vec![value; rank]),
            values if values.len() == rank => Ok(values.to_vec()),
            values => Err(OpError::Rank {
                operation: self.operation.to_owned(),
                key: self.key.clone(),
                entries: values.len(),
                rank,
            }),
        }
    }

    /// Canonical text.
    pub(crate) fn canonical(&self) -> String {
        let values: Vec<_> = self.values.iter().map(T::to_string).collect();
        values.join(",")
    }

    /// The values as they were given.
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }
}

/// Refusal of the value of a setting.
pub(crate) fn bad_setting(
    operation: &str,
    key: &str,
    value: &str,
    wanted: impl Into<String>,
) -> OpError {
    OpError::BadSetting {
        operation: operation.to_owned(),
        key: key.to_owned(),
        value: shortened(value),
        wanted: wanted.into(),
    }
}

/// The beginning of a text, for a message.
pub(crate) fn shortened(text: &str) -> String {
    const CHARACTERS_MAX: usize = 60;
    if text.chars().count() <= CHARACTERS_MAX {
        return text.to_owned();
    }
    text.chars().take(CHARACTERS_MAX).chain(['…']).collect()
}

/// The known name that is spelled most like `name`, if one is near.
pub(crate) fn nearest(name: &str, known: &[&str]) -> Option<String> {
    const LIKENESS_MIN: f64 = 0.7;
    let likenesses = known.iter().map(|known| (strsim::jaro_winkler(name, known), *known));
    let best = likenesses.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(likeness, _)| *likeness >= LIKENESS_MIN).map(|(_, known)| known.to_owned())
}

/// Name, version and parameters in one text.
pub(crate) fn identity(name: &str, version: u32, parameters: &[(&str, String)]) -> String {
    let parameters: Vec<_> =
        parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let colon = if parameters.is_empty() { "" } else { ":" };
    format!("{name}/{version}{colon}{}", parameters.join(","))
}
