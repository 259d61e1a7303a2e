//! Least and largest value, of which one may be left out.

use crate::constant::Constant;
use crate::error::OpError;
use crate::settings::Settings;

/// A least and a largest value, at least one of them.
#[derive(Debug)]
pub(super) struct Bounds {
    pub(super) min: Option<Constant>,
    pub(super) max: Option<Constant>,
}

impl Bounds {
    /// Reads `min` and `max`.
    pub(super) fn read(settings: &Settings<'_>) -> Result<Self, OpError> {
        let read = |key: &str| -> Result<Option<Constant>, OpError> {
            let constant = settings.optional_constant(key)?;
            match constant {
                Some(bound) if bound.is_nan() => Err(settings.bad(key, "NaN is no bound")),
                constant => Ok(constant),
            }
        };
        let (min, max) = (read("min")?, read("max")?);
        if let (None, None) = (&min, &max) {
            // Says that one is missing.
            settings.text("min")?;
        }
        if let (Some(least), Some(largest)) = (&min, &max)
            && least.is_above(largest)
        {
            let wanted = format!("`min` is {}, which is larger", least.canonical());
            return Err(settings.bad("max", wanted));
        }
        Ok(Self { min, max })
    }

    /// Canonical texts.
    pub(super) fn parameters(&self) -> Vec<(&'static str, String)> {
        let named = [("min", &self.min), ("max", &self.max)].into_iter();
        named.filter_map(|(key, bound)| Some((key, bound.as_ref()?.canonical()))).collect()
    }
}
