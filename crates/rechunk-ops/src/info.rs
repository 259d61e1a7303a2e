//! Descriptions of operations, for help and documentation.

/// Description of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationInfo {
    /// The name that selects it.
    pub name: &'static str,
    /// Its deed, in a line.
    pub about: &'static str,
    /// Its settings.
    pub parameters: &'static [Parameter],
    /// Number of sources.
    pub inputs: usize,
    /// Type of the result for a type of the source, in a few words.
    pub result: &'static str,
}

/// Description of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Values that it takes.
    pub values: &'static str,
    /// Value if it is not given; `None` if it must be given, or may be left out (`about` says so).
    pub default: Option<&'static str>,
    /// Its meaning, in a line.
    pub about: &'static str,
}

impl Parameter {
    /// A setting without a default.
    pub(crate) const fn new(name: &'static str, values: &'static str, about: &'static str) -> Self {
        Self { name, values, default: None, about }
    }

    /// Returns the setting with a default.
    pub(crate) const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }
}

impl OperationInfo {
    /// An operation of one source.
    pub(crate) const fn new(
        name: &'static str,
        about: &'static str,
        result: &'static str,
        parameters: &'static [Parameter],
    ) -> Self {
        Self { name, about, parameters, inputs: 1, result }
    }

    /// Returns the operation with another number of sources.
    pub(crate) const fn of_inputs(self, inputs: usize) -> Self {
        Self { inputs, ..self }
    }
}
