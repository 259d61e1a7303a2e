//! A document of references in JSON, of version 0 (`{KEY: VALUE}`) or 1 (`{"version": 1, "refs":
//! …}`).

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::fault::Fault;
use super::index::{Builder, Index};
use super::json::{Json, Kind, NO_NUMBER};
use super::limits::{INDEX_BYTES_MAX, KEY_BYTES_MAX, URL_BYTES_MAX};
use super::templates::Templates;

/// Most bytes of an object that is kept in the document, as it is written there.
const INLINE_BYTES_MAX: usize = 128 << 20;

/// Message about a list that is none of a file.
const NO_FILE: &str = "it is not [FILE] or [FILE, OFFSET, LENGTH]";

/// Keys of the documents of Zarr itself, which are taken for references by mistake.
const ZARR_NAMES: [&str; 2] = ["zarr_format", "zarr_consolidated_format"];

/// Reads a document. Blocks.
pub(super) fn read(input: impl Read) -> Result<Index, Fault> {
    Document::default().read(&mut Json::new(input))
}

/// State of reading a document.
#[derive(Debug)]
struct Document {
    builder: Builder,
    templates: Templates,
    /// True as long as members of the document itself may be references, until one says otherwise.
    is_flat: bool,
    /// Text that is used again.
    text: String,
}

impl Default for Document {
    fn default() -> Self {
        Self {
            builder: Builder::new(INDEX_BYTES_MAX),
            templates: Templates::default(),
            is_flat: true,
            text: String::new(),
        }
    }
}

impl Document {
    fn read<R: Read>(mut self, json: &mut Json<R>) -> Result<Index, Fault> {
        let (mut name, mut is_first) = (String::new(), true);
        json.begin(b'{')?;
        let mut seen = Vec::new();
        while json.more(b'}', is_first)? {
            is_first = false;
            json.name(&mut name, KEY_BYTES_MAX)?;
            let is_special = matches!(name.as_str(), "version" | "templates" | "gen" | "refs");
            if is_special && seen.contains(&name) {
                return Err(Fault::value(&name, "it is there twice"));
            }
            if is_special {
                seen.push(name.clone());
            }
            match name.as_str() {
                "version" => Self::version(json)?,
                "templates" => self.templates.read(json)?,
                "gen" => Self::generators(json)?,
                "refs" => {
                    self.builder = Builder::new(INDEX_BYTES_MAX);
                    self.is_flat = false;
                    self.references(json)?;
                }
                name if ZARR_NAMES.contains(&name) => return Err(Fault::IsZarr),
                // Of what else is beside `version` and `refs` the specification says nothing.
                _ if !seen.is_empty() => json.raw(&mut Vec::new(), INLINE_BYTES_MAX)?,
                _ => self.reference(json, &name)?,
            }
        }
        json.end()?;
        if let (true, Some(fault)) = (self.is_flat, self.builder.only_fault()) {
            return Err(Fault::Odd(fault.to_owned()));
        }
        if self.is_flat && (self.builder.is_empty() || seen.iter().any(|name| name == "version")) {
            return Err(Fault::NoReferences);
        }
        let Self { builder, templates, is_flat, .. } = self;
        builder.finish(if is_flat { Templates::default() } else { templates })
    }

    fn version<R: Read>(json: &mut Json<R>) -> Result<(), Fault> {
        if json.kind()? != Kind::Number {
            return Err(Fault::Version { version: "no number".to_owned() });
        }
        match json.unsigned("version")? {
            0 | 1 => Ok(()),
            version => Err(Fault::Version { version: version.to_string() }),
        }
    }

    /// Generators are not read, but an empty list of them is nothing.
    fn generators<R: Read>(json: &mut Json<R>) -> Result<(), Fault> {
        if json.kind()? != Kind::List {
            return Err(Fault::Generators);
        }
        json.begin(b'[')?;
        if json.more(b']', true)? { Err(Fault::Generators) } else { Ok(()) }
    }

    fn references<R: Read>(&mut self, json: &mut Json<R>) -> Result<(), Fault> {
        let (mut key, mut is_first) = (String::new(), true);
        json.begin(b'{')?;
        while json.more(b'}', is_first)? {
            is_first = false;
            json.name(&mut key, KEY_BYTES_MAX)?;
            self.reference(json, &key)?;
        }
        Ok(())
    }

    /// Reads the value of an entry. One that is no reference is kept as such, and the next one is
    /// read.
    fn reference<R: Read>(&mut self, json: &mut Json<R>, key: &str) -> Result<(), Fault> {
        match self.value(json, key) {
            Err(Fault::Value { what, .. }) => self.builder.add_odd(key, &what),
            done => done,
        }
    }

    /// [`Self::reference`]. Where it fails with [`Fault::Value`], all of the value was read.
    fn value<R: Read>(&mut self, json: &mut Json<R>, key: &str) -> Result<(), Fault> {
        match json.kind()? {
            Kind::String => {
                json.string(&mut self.text, INLINE_BYTES_MAX)?;
                let text = &self.text;
                self.builder.add_inline(key, |inline| decode(key, text.as_bytes(), inline))
            }
            Kind::Object => {
                self.builder.add_inline(key, |inline| json.raw(inline, INLINE_BYTES_MAX))
            }
            Kind::List => self.file(json, key),
            Kind::Number | Kind::Word => {
                json.raw(&mut Vec::new(), INLINE_BYTES_MAX)?;
                Err(Fault::value(
                    key,
                    "its value is neither a string nor an object nor a list of a file, an offset \
                     and a length",
                ))
            }
        }
    }

    /// `[URL]` or `[URL, OFFSET, LENGTH]`.
    fn file<R: Read>(&mut self, json: &mut Json<R>, key: &str) -> Result<(), Fault> {
        let (mut numbers, mut length, mut fault) = (Vec::with_capacity(2), 0_usize, None);
        json.begin(b'[')?;
        while json.more(b']', length == 0)? {
            match (length, json.kind()?) {
                (0, Kind::String) => json.string(&mut self.text, URL_BYTES_MAX)?,
                (1 | 2, Kind::Number | Kind::Word) => match json.unsigned(key) {
                    Ok(number) => numbers.push(number),
                    Err(wrong @ Fault::Value { .. }) => fault = fault.or(Some(wrong)),
                    Err(other) => return Err(other),
                },
                (position, _) => {
                    json.raw(&mut Vec::new(), INLINE_BYTES_MAX)?;
                    let wrong = if matches!(position, 1 | 2) { NO_NUMBER } else { NO_FILE };
                    fault = fault.or_else(|| Some(Fault::value(key, wrong)));
                }
            }
            length += 1;
        }
        let range = match numbers[..] {
            _ if fault.is_some() => None,
            [] if length == 1 => None,
            [offset, length] => Some((offset, length)),
            _ => return Err(Fault::value(key, NO_FILE)),
        };
        fault.map_or_else(|| self.builder.add_file(key, &self.text, range), Err)
    }
}

/// Puts what a text stands for behind `inline`: itself, or what it has in base64.
pub(super) fn decode(key: &str, text: &[u8], inline: &mut Vec<u8>) -> Result<(), Fault> {
    let Some(encoded) = text.strip_prefix(b"base64:") else {
        inline.extend_from_slice(text);
        return Ok(());
    };
    STANDARD.decode_vec(encoded, inline).map_err(|_| Fault::value(key, "it is not valid base64"))
}
