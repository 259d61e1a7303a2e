//! Values of a file in the words of the command line.

use rechunk::{JobEntry, JobFault, JobNode, JobValue, Position, RULE_SETTINGS};
use serde_json::{Map, Value};

use super::options::{Kind, unknown};

/// Key of a rule that says which arrays it is about.
pub(super) const RULE_ARRAY: &str = "array";

/// A word, and where it stands.
type Said = (Position, String);

/// Words of an entry: one for each time that the option would be typed.
pub(super) fn of(kind: Kind, entry: &JobEntry) -> Result<Vec<Said>, JobFault> {
    let (node, at) = (&entry.node, entry.node.at);
    let one = |word: Result<String, JobFault>| Ok(vec![(at, word?)]);
    match kind {
        Kind::Flag => match node.value {
            JobValue::Bool(true) => Ok(vec![(at, String::new())]),
            JobValue::Bool(false) => Ok(Vec::new()),
            _ => Err(other(node, "true or false")),
        },
        Kind::Count => count(node),
        Kind::Text => one(text(node, "a text or a number")),
        Kind::Extents => one(extents(node)),
        Kind::Slices => one(slices(node)),
        Kind::Shape => one(match &node.value {
            JobValue::List(_) => list(node, "a number"),
            _ => text(node, "a text or a list of numbers"),
        }),
        Kind::Codec => one(codec(node)),
        Kind::Texts => texts(node),
        Kind::StoreOptions => store_options(node),
        Kind::Rules => rules(node),
    }
}

fn other(node: &JobNode, wanted: &str) -> JobFault {
    JobFault::new(node.at, format!("expected {wanted}, found {}", node.value.kind()))
}

fn text(node: &JobNode, wanted: &str) -> Result<String, JobFault> {
    match &node.value {
        JobValue::Text(text) | JobValue::Number(text) => Ok(text.clone()),
        _ => Err(other(node, wanted)),
    }
}

fn count(node: &JobNode) -> Result<Vec<Said>, JobFault> {
    let times = match &node.value {
        JobValue::Bool(is_there) => Some(usize::from(*is_there)),
        JobValue::Number(digits) => digits.parse().ok().filter(|times| *times <= 9),
        _ => None,
    };
    let times = times.ok_or_else(|| other(node, "a number from 0 to 9"))?;
    Ok(vec![(node.at, String::new()); times])
}

/// The entries of a list, in one word.
fn list(node: &JobNode, wanted: &str) -> Result<String, JobFault> {
    let JobValue::List(nodes) = &node.value else { return Err(other(node, "a list")) };
    let words = nodes.iter().map(|inner| bare(inner, text(inner, wanted)?));
    Ok(words.collect::<Result<Vec<_>, _>>()?.join(","))
}

/// The entries of a table, in one word.
fn named(entries: &[JobEntry], wanted: &str) -> Result<String, JobFault> {
    let words = entries.iter().map(|JobEntry { key, key_at, node }| {
        if key.trim() != key || key.is_empty() || key.contains([',', '=', ';']) {
            let reason =
                format!("a dimension {key:?} cannot be named: give an extent for each axis");
            return Err(JobFault::new(*key_at, reason));
        }
        Ok(format!("{key}={}", bare(node, text(node, wanted)?)?))
    });
    Ok(words.collect::<Result<Vec<_>, _>>()?.join(","))
}

/// A word that stands among others.
fn bare(node: &JobNode, word: String) -> Result<String, JobFault> {
    if word.trim().is_empty() || word.contains([',', '=', ';']) {
        return Err(JobFault::new(node.at, format!("{word:?} is not one entry")));
    }
    Ok(word)
}

fn extents(node: &JobNode) -> Result<String, JobFault> {
    let extent = "a number, \"keep\" or \"auto\"";
    match &node.value {
        JobValue::List(_) => list(node, extent),
        JobValue::Table(entries) => named(entries, extent),
        _ => text(node, "a text, a list, or a table by dimension"),
    }
}

fn slices(node: &JobNode) -> Result<String, JobFault> {
    let slice = "a text like \"0:1000\"";
    match &node.value {
        JobValue::List(_) => list(node, slice),
        JobValue::Table(entries) => named(entries, slice),
        _ => text(node, "a text, a list, or a table by dimension"),
    }
}

fn codec(node: &JobNode) -> Result<String, JobFault> {
    match &node.value {
        JobValue::Text(text) => Ok(text.clone()),
        JobValue::List(_) | JobValue::Table(_) => Ok(json(node)?.to_string()),
        _ => Err(other(node, "a text, or the format's own JSON")),
    }
}

fn json(node: &JobNode) -> Result<Value, JobFault> {
    Ok(match &node.value {
        JobValue::Null => Value::Null,
        JobValue::Bool(value) => Value::Bool(*value),
        JobValue::Number(digits) => serde_json::from_str(digits).map_err(|_| {
            JobFault::new(node.at, format!("{digits} is not a number as JSON writes it"))
        })?,
        JobValue::Text(text) => Value::String(text.clone()),
        JobValue::List(nodes) => Value::Array(nodes.iter().map(json).collect::<Result<_, _>>()?),
        JobValue::Table(entries) => {
            let pairs = entries.iter().map(|entry| Ok((entry.key.clone(), json(&entry.node)?)));
            Value::Object(pairs.collect::<Result<Map<_, _>, JobFault>>()?)
        }
    })
}

fn texts(node: &JobNode) -> Result<Vec<Said>, JobFault> {
    match &node.value {
        JobValue::List(nodes) => {
            nodes.iter().map(|inner| Ok((inner.at, text(inner, "a text")?))).collect()
        }
        _ => Ok(vec![(node.at, text(node, "a text or a list of texts")?)]),
    }
}

/// No value of a store's options is ever repeated in what is said.
fn store_options(node: &JobNode) -> Result<Vec<Said>, JobFault> {
    let JobValue::Table(entries) = &node.value else { return texts(node) };
    let mut said = Vec::new();
    for entry in entries {
        if let JobValue::Table(inner) = &entry.node.value {
            for of_location in inner {
                let (at, pair) = pair(of_location)?;
                said.push((at, format!("{},{pair}", entry.key)));
            }
        } else {
            said.push(pair(entry)?);
        }
    }
    Ok(said)
}

fn pair(entry: &JobEntry) -> Result<Said, JobFault> {
    if entry.key.contains(['=', ',']) {
        let reason = format!("no store has an option {:?}", entry.key);
        return Err(JobFault::new(entry.key_at, reason));
    }
    let value = match &entry.node.value {
        JobValue::Bool(value) => value.to_string(),
        _ => text(&entry.node, "a text, a number, true or false")?,
    };
    Ok((entry.key_at, format!("{}={value}", entry.key)))
}

fn rules(node: &JobNode) -> Result<Vec<Said>, JobFault> {
    let mut said = Vec::new();
    match &node.value {
        JobValue::Table(rules) => {
            for JobEntry { key, key_at, node } in rules {
                if let JobValue::Table(settings) = &node.value {
                    said.extend(rule((*key_at, key), settings)?);
                } else {
                    let settings = text(node, "a table of settings")?;
                    said.push((node.at, format!("{}: {settings}", array(*key_at, key)?)));
                }
            }
        }
        JobValue::List(nodes) => {
            for node in nodes {
                match &node.value {
                    JobValue::Table(entries) => said.extend(rule_of_list(node.at, entries)?),
                    _ => said.push((node.at, text(node, "a table or a text")?)),
                }
            }
        }
        _ => said.push((node.at, text(node, "a table by array, or a list of rules")?)),
    }
    Ok(said)
}

/// A rule that names its arrays itself.
fn rule_of_list(at: Position, entries: &[JobEntry]) -> Result<Vec<Said>, JobFault> {
    let (arrays, settings): (Vec<_>, Vec<_>) =
        entries.iter().cloned().partition(|entry| entry.key == RULE_ARRAY);
    let named = arrays.first().ok_or_else(|| {
        JobFault::new(at, format!("the rule does not say {RULE_ARRAY:?}: the arrays it is about"))
    })?;
    rule((named.node.at, &text(&named.node, "a text")?), &settings)
}

/// A rule for each setting, so that each has its place.
fn rule((at, arrays): (Position, &str), settings: &[JobEntry]) -> Result<Vec<Said>, JobFault> {
    let arrays = array(at, arrays)?;
    if settings.is_empty() {
        return Err(JobFault::new(at, "the rule sets nothing"));
    }
    let mut said = Vec::with_capacity(settings.len());
    for entry in settings {
        let node = &entry.node;
        let value = match entry.key.as_str() {
            "chunks" | "shards" => extents(node)?,
            "codec" => codec(node)?,
            key if RULE_SETTINGS.contains(&key) => text(node, "a text")?,
            _ => return Err(unknown(entry, &RULE_SETTINGS.map(str::to_owned))),
        };
        if matches!(node.value, JobValue::Text(_))
            && value.contains(';')
            && !value.trim().starts_with(['{', '['])
        {
            return Err(JobFault::new(node.at, "there is a `;` in it: a setting is one value"));
        }
        said.push((node.at, format!("{arrays}: {} {value}", entry.key)));
    }
    Ok(said)
}

fn array(at: Position, arrays: &str) -> Result<&str, JobFault> {
    if arrays.contains(':') {
        let reason = format!("{arrays:?}: there cannot be a `:` in it; ? stands for any letter");
        return Err(JobFault::new(at, reason));
    }
    Ok(arrays)
}
