//! Options as Python gives them: taken one by one, so that what is left is no option.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple, PyType};
use rechunk::{Error, WordError, parse_byte_size, parse_duration};

use crate::errors::usage;

/// Value of an option.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Flag(bool),
    /// A text, a number, a slice: in the words of the command line.
    Word(String),
    /// A tuple or a list.
    List(Vec<Self>),
    /// A `dict`, in its order.
    Map(Vec<(String, Self)>),
}

impl Value {
    /// Takes over a Python value; `None` if it is `None`.
    fn of(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if value.is_none() {
            return Ok(None);
        }
        if let Ok(flag) = value.cast::<PyBool>() {
            return Ok(Some(Self::Flag(flag.is_true())));
        }
        if let Ok(map) = value.cast::<PyDict>() {
            let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
                let value = Self::of(name, &value)?.unwrap_or_else(|| Self::Word("keep".into()));
                Ok((key.str()?.to_string(), value))
            };
            return Ok(Some(Self::Map(map.iter().map(entry).collect::<PyResult<_>>()?)));
        }
        if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
            let entry = |value: PyResult<Bound<'_, PyAny>>| {
                Ok(Self::of(name, &value?)?.unwrap_or_else(|| Self::Word("keep".into())))
            };
            return Ok(Some(Self::List(value.try_iter()?.map(entry).collect::<PyResult<_>>()?)));
        }
        word(name, value).map(|word| Some(Self::Word(word)))
    }

    /// The value as words for one option: `1460,30,30`, `time=-1,lat=30`.
    fn words(&self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Word(word) => word.clone(),
            Self::List(values) => values.iter().map(Self::words).collect::<Vec<_>>().join(","),
            Self::Map(entries) => {
                let entry = |(name, value): &(String, Self)| format!("{name}={}", value.words());
                entries.iter().map(entry).collect::<Vec<_>>().join(",")
            }
        }
    }
}

/// A text, a number, a path, a slice or a time, in words.
fn word(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_string());
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(value.str()?.to_string());
    }
    if value.is_instance_of::<PySlice>() {
        let end = |name: &str| -> PyResult<String> {
            let end = value.getattr(name)?;
            if end.is_none() { Ok(String::new()) } else { Ok(end.str()?.to_string()) }
        };
        if !value.getattr("step")?.is_none() {
            let text = format!("{name}: a slice has no step here");
            return Err(usage(value.py(), text, None));
        }
        return Ok(format!("{}:{}", end("start")?, end("stop")?));
    }
    if let Ok(path) = value.call_method0("__fspath__") {
        return Ok(path.str()?.to_string());
    }
    if let Ok(seconds) = value.call_method0("total_seconds") {
        return Ok(seconds.str()?.to_string());
    }
    // Whole numbers of other libraries.
    if let Ok(number) = value.call_method0("__index__") {
        return Ok(number.str()?.to_string());
    }
    let kind = value.get_type().name()?;
    let text = format!("{name}: a value of the type {kind} is not understood");
    Err(usage(value.py(), text, Some("give a text, a number, a tuple or a dict")))
}

/// Options that were given and not taken yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    given: BTreeMap<String, Value>,
    /// Names that were asked for.
    asked: Vec<&'static str>,
}

impl Options {
    pub(crate) fn of(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut given = BTreeMap::new();
        for (name, value) in options {
            let name = name.str()?.to_string();
            // A codec may be the JSON of a format, or an object that has it.
            let value = if name == "codec" && !value.is_instance_of::<PyString>() {
                json(&name, &value)?
            } else {
                Value::of(&name, &value)?
            };
            if let Some(value) = value {
                given.insert(name, value);
            }
        }
        Ok(Self { given, asked: Vec::new() })
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.asked.push(name);
        self.given.remove(name)
    }

    /// The value in words.
    pub(crate) fn text(&mut self, name: &'static str) -> Option<String> {
        self.take(name).map(|value| value.words())
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> Result<bool, Error> {
        Ok(self.switch(name)?.unwrap_or(false))
    }

    pub(crate) fn switch(&mut self, name: &'static str) -> Result<Option<bool>, Error> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Flag(flag)) => Ok(Some(flag)),
            Some(other) => {
                Err(wrong(name, &format!("`{}` is not True or False", other.words()), None))
            }
        }
    }

    /// Reads the value by the type of its words.
    pub(crate) fn parsed<T: FromStr<Err = WordError>>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, Error> {
        let read = |text: String| text.parse().map_err(|error| given_to(error, name));
        self.text(name).map(read).transpose()
    }

    /// One of some names.
    pub(crate) fn choice<T>(
        &mut self,
        name: &'static str,
        read: impl Fn(&str) -> Option<T>,
        names: &str,
    ) -> Result<Option<T>, Error> {
        let choose = |text: String| {
            let chosen = read(&text);
            chosen.ok_or_else(|| wrong(name, &format!("`{text}` is none of {names}"), None))
        };
        self.text(name).map(choose).transpose()
    }

    pub(crate) fn bytes(&mut self, name: &'static str) -> Result<Option<u64>, Error> {
        let read = |text: String| {
            parse_byte_size(&text).ok_or_else(|| {
                let hint = "give a number of bytes, or a text like '512MiB' or '2GB'";
                wrong(name, &format!("`{text}` is not a size"), Some(hint))
            })
        };
        self.text(name).map(read).transpose()
    }

    pub(crate) fn duration(&mut self, name: &'static str) -> Result<Option<Duration>, Error> {
        let read = |text: String| {
            parse_duration(&text).ok_or_else(|| {
                let hint = "give seconds, or a text like '90s' or '5m'";
                wrong(name, &format!("`{text}` is not a time"), Some(hint))
            })
        };
        self.text(name).map(read).transpose()
    }

    pub(crate) fn number<T: FromStr + PartialOrd>(
        &mut self,
        name: &'static str,
        least: &T,
    ) -> Result<Option<T>, Error> {
        let read = |text: String| {
            let number = text.trim().parse().ok().filter(|number| number >= least);
            number.ok_or_else(|| wrong(name, &format!("`{text}` is not such a number"), None))
        };
        self.text(name).map(read).transpose()
    }

    /// Several texts: a text, or a list of them; of a `dict`, a text for each entry by `entry`.
    pub(crate) fn texts(
        &mut self,
        name: &'static str,
        entry: impl Fn(&str, &str) -> String,
    ) -> Vec<String> {
        match self.take(name) {
            None => Vec::new(),
            Some(Value::List(values)) => values.iter().map(Value::words).collect(),
            Some(Value::Map(entries)) => {
                entries.iter().flat_map(|(key, value)| entries_of(key, value, &entry)).collect()
            }
            Some(value) => vec![value.words()],
        }
    }

    /// Several lists, each in words: a list of them; a text or a `dict` is one entry.
    pub(crate) fn lists(&mut self, name: &'static str) -> Option<Vec<String>> {
        Some(match self.take(name)? {
            Value::List(values) => values.iter().map(Value::words).collect(),
            value @ (Value::Flag(_) | Value::Word(_) | Value::Map(_)) => vec![value.words()],
        })
    }

    /// Several texts with settings, `VALUE;key=VALUE`: a text, a `dict` with `main` for the first
    /// value, or a list of such.
    pub(crate) fn settings(&mut self, name: &'static str, main: &str) -> Vec<String> {
        let text = |value: &Value| {
            let Value::Map(entries) = value else { return value.words() };
            let is_main = |entry: &&(String, Value)| entry.0 == main;
            let first = entries.iter().find(is_main).map(|(_, value)| value.words());
            let others = entries.iter().filter(|entry| !is_main(entry));
            let others = others.map(|(key, value)| format!("{key}={}", value.words()));
            let parts = std::iter::once(first.unwrap_or_default()).chain(others);
            parts.collect::<Vec<_>>().join(";")
        };
        match self.take(name) {
            None => Vec::new(),
            Some(Value::List(values)) => values.iter().map(text).collect(),
            Some(value) => vec![text(&value)],
        }
    }

    /// Refuses what is left.
    pub(crate) fn end(&self) -> Result<(), Error> {
        let Some(name) = self.given.keys().next() else { return Ok(()) };
        let like = self
            .asked
            .iter()
            .map(|known| (strsim::damerau_levenshtein(known, name), known))
            .min()
            .filter(|(distance, _)| *distance <= 3);
        let hint = like.map(|(_, known)| format!("is it {known}?"));
        Err(Error::Usage {
            message: format!("there is no option {name}"),
            hint: hint.map(Into::into),
        })
    }
}

/// Texts of one entry of a `dict`: one, or one for each setting below it.
fn entries_of(key: &str, value: &Value, entry: &impl Fn(&str, &str) -> String) -> Vec<String> {
    let Value::Map(settings) = value else { return vec![entry(key, &value.words())] };
    settings.iter().map(|(name, value)| entry(key, &format!("{name}={}", value.words()))).collect()
}

/// The error of an option that was given something else than it takes.
pub(crate) fn wrong(name: &str, what: &str, hint: Option<&str>) -> Error {
    Error::Usage { message: format!("{name}: {what}"), hint: hint.map(Into::into) }
}

/// The error of a word, which names its option if it does not yet.
pub(crate) fn given_to(error: WordError, name: &str) -> Error {
    let names = error.asked.is_some();
    let error = Error::from(error);
    if names { error } else { error.given_to(name) }
}

fn json(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    if value.is_none() {
        return Ok(None);
    }
    let py = value.py();
    let dumps = py.import("json")?.getattr("dumps")?;
    let settings = PyDict::new(py);
    settings.set_item("default", wrap_pyfunction!(settings_of, py)?)?;
    match dumps.call((value,), Some(&settings)) {
        Ok(text) => Ok(Some(Value::Word(text.extract()?))),
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            let text = format!("{name}: {}", error.value(py));
            let hint = "give a text like 'zstd:5', the format's own JSON as a dict, or a codec of numcodecs or zarr";
            Err(usage(py, text, Some(hint)))
        }
        Err(error) => Err(error),
    }
}

/// The settings of a codec of numcodecs or zarr-python, as JSON has them.
#[pyfunction]
fn settings_of<'py>(codec: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    for method in ["get_config", "to_dict"] {
        if codec.hasattr(method)? && !codec.is_instance_of::<PyType>() {
            return codec.call_method0(method);
        }
    }
    let kind = codec.get_type().name()?;
    Err(PyTypeError::new_err(format!("a value of the type {kind} is not understood")))
}
