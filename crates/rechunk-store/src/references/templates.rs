//! Templates: short names for parts of the names of files, `{{u}}/a.nc`.
//!
//! Only text is put for a name. What Jinja can do beyond that (templates with arguments,
//! expressions, generators of references) is a program to be run, and is refused.

use std::collections::BTreeMap;
use std::io::Read;

use super::fault::Fault;
use super::json::{Json, Kind};
use super::limits::URL_BYTES_MAX;

/// Most templates of a document.
const TEMPLATES_MAX: usize = 1 << 16;
/// Longest name of a template, bytes.
const NAME_BYTES_MAX: usize = 256;

/// Templates by name.
#[derive(Debug, Default)]
pub(super) struct Templates(BTreeMap<String, String>);

impl Templates {
    /// Reads the member `templates` of a document.
    pub(super) fn read<R: Read>(&mut self, json: &mut Json<R>) -> Result<(), Fault> {
        let (mut name, mut is_first) = (String::new(), true);
        json.begin(b'{')?;
        while json.more(b'}', is_first)? {
            is_first = false;
            json.name(&mut name, NAME_BYTES_MAX)?;
            let mut text = String::new();
            if json.kind()? != Kind::String {
                return Err(Fault::Template { name, what: "is no string" });
            }
            json.string(&mut text, URL_BYTES_MAX)?;
            if self.0.len() == TEMPLATES_MAX {
                return Err(Fault::Template { name, what: "is one of too many" });
            }
            if self.0.insert(name.clone(), text).is_some() {
                return Err(Fault::Template { name, what: "is there twice" });
            }
        }
        Ok(())
    }

    /// Memory they take, about.
    pub(super) fn held_bytes(&self) -> usize {
        self.0.iter().map(|(name, text)| name.len() + text.len() + 128).sum()
    }

    /// Whether `url` names templates. As with fsspec, in a document without templates no braces do.
    pub(super) fn are_in(&self, url: &str) -> bool {
        !self.0.is_empty() && url.contains("{{")
    }

    /// That [`Self::expand`] makes a name of a file of `url`.
    pub(super) fn check(&self, url: &str) -> Result<(), Fault> {
        self.put(url, |_| {})
    }

    /// `url` with the text of a template for each `{{name}}`. What is put there is not looked
    /// through again.
    pub(super) fn expand(&self, url: &str) -> Result<String, Fault> {
        let mut expanded = String::new();
        self.put(url, |text| expanded.push_str(text)).map(|()| expanded)
    }

    fn put<'a>(&'a self, url: &'a str, mut put: impl FnMut(&'a str)) -> Result<(), Fault> {
        let (mut bytes, mut rest) = (0, url);
        while let Some((before, behind)) = rest.split_once("{{") {
            let unknown = |name: &str, what| Fault::Template { name: name.to_owned(), what };
            let Some((inside, behind)) = behind.split_once("}}") else {
                return Err(unknown(url, "is not closed by }}"));
            };
            let name = inside.trim();
            let Some(text) = self.0.get(name) else {
                let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
                let what = if is_name { "is not among the templates" } else { EXPRESSION };
                return Err(unknown(name, what));
            };
            if text.contains("{{") {
                return Err(unknown(name, EXPRESSION));
            }
            bytes += before.len() + text.len();
            if bytes > URL_BYTES_MAX {
                return Err(unknown(name, "makes a name of a file that is too long"));
            }
            put(before);
            put(text);
            rest = behind;
        }
        put(rest);
        Ok(())
    }
}

/// Message about an expression that only Jinja can evaluate.
const EXPRESSION: &str = "is an expression, of which only plain names are read; write the references \
                          out, e.g. json.dump(fsspec.filesystem(\"reference\", fo=…, \
                          simple_templates=False).references, …) in Python";
