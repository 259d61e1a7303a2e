//! Reading a profile file: errors say which field of which store is wrong.

use std::fmt::Display;
use std::io::Read;
use std::path::Path;

use rechunk_plan::{CodecSpeeds, StoreProfile};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{CodecEntry, ProfileFile, SpeedsEntry, StoreEntry, VERSION, choose};
use crate::{Error, format_byte_size};

/// Largest file that is read.
const BYTES_MAX: u64 = 1 << 20;
/// Most requests in flight that a profile may name.
const CONCURRENCY_MAX: u32 = 65_536;

/// Why a file is refused: the field, and what is wrong with it.
type Wrong = String;

impl ProfileFile {
    /// Reads the file at `path`.
    #[expect(clippy::disallowed_methods, reason = "a profile is a file of the user")]
    pub fn read(path: &str) -> Result<Self, Error> {
        let failed = |reason: String| Error::Usage {
            message: format!("cannot read the profile {path}: {reason}"),
            hint: None,
        };
        let file =
            std::fs::File::open(Path::new(path)).map_err(|error| failed(error.to_string()))?;
        let mut bytes = Vec::new();
        let read = file.take(BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| failed(error.to_string()))?;
        if bytes.len() as u64 > BYTES_MAX {
            return Err(failed(format!("it has more than {}", format_byte_size(BYTES_MAX))));
        }
        Self::parse(path, &bytes)
    }

    /// Reads the JSON form; `path` is for messages.
    pub fn parse(path: &str, bytes: &[u8]) -> Result<Self, Error> {
        let file = parse(bytes).map_err(|reason| refused(path, &reason))?;
        file.check_values().map_err(|reason| refused(path, &reason))?;
        Ok(file)
    }

    /// Refuses values that no store or codec has.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.check_values().map_err(|reason| refused(&self.name, &reason))
    }

    fn check_values(&self) -> Result<(), Wrong> {
        if self.version != VERSION {
            return Err(format!("version: {} is not known, only {VERSION}", self.version));
        }
        if self.name.trim().is_empty() || self.name.contains(char::is_control) {
            return Err("name: is empty, or has a control character".to_owned());
        }
        for (key, entry) in &self.stores {
            let path = store_path(key);
            if key.is_empty() || key.contains(char::is_control) {
                return Err(format!("{path}: the key is empty, or has a control character"));
            }
            check_base(key, entry).map_err(|reason| format!("{path}.{reason}"))?;
            check_store(entry).map_err(|reason| format!("{path}.{reason}"))?;
        }
        let Some(speeds) = &self.speeds else { return Ok(()) };
        positive("speeds.copy_bytes_per_second", speeds.copy_bytes_per_second)?;
        let known = CodecSpeeds::default().codecs;
        for (name, codec) in &speeds.codecs {
            let path = codec_path(name);
            if !known.iter().any(|speed| speed.name == *name) {
                let names: Vec<_> = known.iter().map(|speed| &speed.name[..]).collect();
                return Err(format!(
                    "{path}: no codec has this name; there are {}",
                    names.join(" ")
                ));
            }
            let field = |field: &str| format!("{path}.{field}");
            positive(field("decode_bytes_per_second"), Some(codec.decode_bytes_per_second))?;
            positive(field("encode_bytes_per_second"), Some(codec.encode_bytes_per_second))?;
        }
        Ok(())
    }
}

fn refused(path: &str, reason: &str) -> Error {
    Error::Usage {
        message: format!("the profile {path} cannot be used: {reason}"),
        hint: Some("`rechunk probe LOCATION --out FILE` writes one that can".into()),
    }
}

fn store_path(key: &str) -> String {
    format!("stores.{key:?}")
}

fn codec_path(name: &str) -> String {
    format!("speeds.codecs.{name:?}")
}

fn parse(bytes: &[u8]) -> Result<ProfileFile, Wrong> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    // First, so that a newer form is not refused for a field that it has.
    match value.get("version") {
        Some(version) if version.as_u64() != Some(u64::from(VERSION)) => {
            return Err(format!("version: {version} is not known, only {VERSION}"));
        }
        _ => {}
    }
    for (key, entry) in members(&value, "stores")? {
        each_field::<StoreEntry>(&store_path(key), entry)?;
    }
    if let Some(speeds) = value.get("speeds") {
        for (name, codec) in members(speeds, "codecs")? {
            let path = codec_path(name);
            let read = serde_json::from_value::<CodecEntry>(codec.clone());
            read.map_err(|error| format!("{path}: {error}"))?;
        }
        each_field::<SpeedsEntry>("speeds", speeds)?;
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// The members of an object inside `value`, if it is there.
fn members<'a>(
    value: &'a Value,
    name: &str,
) -> Result<impl Iterator<Item = (&'a String, &'a Value)>, Wrong> {
    match value.get(name) {
        None => Ok(None.into_iter().flatten()),
        Some(Value::Object(members)) => Ok(Some(members).into_iter().flatten()),
        Some(_) => Err(format!("{name}: is not an object")),
    }
}

/// Reads the fields of `value` one by one, so that an error can name the one it is about.
fn each_field<T: DeserializeOwned>(path: &str, value: &Value) -> Result<(), Wrong> {
    let Some(fields) = value.as_object() else { return Err(format!("{path}: is not an object")) };
    for (name, value) in fields {
        let one = Map::from_iter([(name.clone(), value.clone())]);
        let read = serde_json::from_value::<T>(Value::Object(one));
        read.map_err(|error| format!("{path}.{name}: {error}"))?;
    }
    Ok(())
}

/// The built-in profile that says what the entry does not has to be known.
fn check_base(key: &str, entry: &StoreEntry) -> Result<(), Wrong> {
    let names = || StoreProfile::names().collect::<Vec<_>>().join(" ");
    match &entry.like {
        Some(like) if StoreProfile::built_in(like).is_none() => {
            Err(format!("like: there is no profile {like:?}; there are {}", names()))
        }
        None if choose::kind_of(key).is_none() => Err(format!(
            "like: is missing: this is neither a kind of store nor a location (a URL or an \
             absolute path), so say which it is like: {}",
            names()
        )),
        _ => Ok(()),
    }
}

fn check_store(entry: &StoreEntry) -> Result<(), Wrong> {
    positive("get_seconds", entry.get_seconds)?;
    positive("put_seconds", entry.put_seconds)?;
    positive("read_bytes_per_second", entry.read_bytes_per_second)?;
    positive("write_bytes_per_second", entry.write_bytes_per_second)?;
    positive("get_requests_per_second", entry.get_requests_per_second)?;
    positive("put_requests_per_second", entry.put_requests_per_second)?;
    price("get_usd", entry.get_usd)?;
    price("put_usd", entry.put_usd)?;
    price("egress_usd_per_gib", entry.egress_usd_per_gib)?;
    price("write_usd_per_gib", entry.write_usd_per_gib)?;
    price("retention_usd_per_gib", entry.retention_usd_per_gib)?;
    if let Some(concurrency) = entry.concurrency
        && !(1..=CONCURRENCY_MAX).contains(&concurrency)
    {
        return Err(format!("concurrency: {concurrency} is not within 1 to {CONCURRENCY_MAX}"));
    }
    match entry.multipart {
        Some(multipart) if multipart.part_bytes == 0 => {
            Err("multipart.part_bytes: 0 is not more than 0".to_owned())
        }
        _ => Ok(()),
    }
}

fn positive(field: impl Display, value: Option<f64>) -> Result<(), Wrong> {
    match value {
        Some(value) if !(value.is_finite() && value > 0.0) => {
            Err(format!("{field}: {value} is not more than 0"))
        }
        _ => Ok(()),
    }
}

fn price(field: &str, value: Option<f64>) -> Result<(), Wrong> {
    match value {
        Some(value) if !(value.is_finite() && value >= 0.0) => {
            Err(format!("{field}: {value} is no price"))
        }
        _ => Ok(()),
    }
}
