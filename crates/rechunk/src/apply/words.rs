//! Texts of an apply, as people type them.

use std::str::FromStr;

use rechunk_apply::Boundary;

use super::{ApplyRequest, LevelRequest, Pads};
use crate::Error;

fn usage(message: String, hint: Option<&str>) -> Error {
    Error::Usage { message, hint: hint.map(Into::into) }
}

impl FromStr for LevelRequest {
    type Err = Error;

    /// Reads `SPEC[;crop=SPEC][;blend=SPEC][;mode=MODE]`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parts = text.split(';').map(str::trim);
        let mut level = Self::new(parts.next().unwrap_or_default().parse()?);
        let pads = |text: &str| text.parse::<Pads>().map(Some);
        for part in parts {
            match part.split_once('=') {
                Some(("crop", value)) => level.crop = pads(value)?,
                Some(("blend", value)) => level.blend = pads(value)?,
                Some(("mode", value)) => level.mode = value.parse().map_err(Error::apply)?,
                _ => {
                    return Err(usage(
                        format!("`{part}` is no setting of a level"),
                        Some("there are crop=SPEC, blend=SPEC and mode=MODE"),
                    ));
                }
            }
        }
        Ok(level)
    }
}

impl ApplyRequest {
    /// Sets the rule for voxels beyond the sources, and its value: `nearest`, `constant=0`.
    ///
    /// ```
    /// use rechunk::{ApplyRequest, Boundary, OperationRequest};
    ///
    /// let identity = OperationRequest::parse("identity")?;
    /// let mut apply = ApplyRequest::new(identity, "64,64".parse()?);
    /// apply.set_boundary("constant=1.5")?;
    /// assert_eq!((apply.boundary, apply.constant.as_deref()), (Boundary::Constant, Some("1.5")));
    /// assert!(apply.set_boundary("nearest=1").is_err());
    /// # Ok::<(), rechunk::Error>(())
    /// ```
    pub fn set_boundary(&mut self, text: &str) -> Result<(), Error> {
        let (rule, value) = match text.split_once('=') {
            Some((rule, value)) => (rule, Some(value)),
            None => (text, None),
        };
        let boundary = rule.parse().map_err(|error| usage(format!("{error}"), None))?;
        if value.is_some() && boundary != Boundary::Constant {
            return Err(usage(format!("`{rule}` takes no value"), None));
        }
        (self.boundary, self.constant) = (boundary, value.map(str::to_owned));
        Ok(())
    }
}
