//! Job files in TOML.

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::{JobEntry, JobFault, JobNode, JobValue, Lines, check_depth, push};

pub(super) fn parse(text: &str) -> Result<JobNode, JobFault> {
    let lines = Lines::new(text);
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        JobFault::new(lines.at(at), error.message().lines().collect::<Vec<_>>().join(", "))
    })?;
    let value = table(document.get_ref(), &lines, 0)?;
    Ok(JobNode { at: lines.at(0), value })
}

fn table(table: &DeTable<'_>, lines: &Lines<'_>, depth: usize) -> Result<JobValue, JobFault> {
    let mut spans: Vec<_> = table.iter().collect();
    // In the order of the file: of several rules that set the same, the last counts.
    spans.sort_by_key(|(key, _)| key.span().start);
    let mut entries = Vec::with_capacity(spans.len());
    for (key, value) in spans {
        let key_at = lines.at(key.span().start);
        let node = node(value, lines, depth + 1)?;
        push(&mut entries, JobEntry { key: key.get_ref().to_string(), key_at, node })?;
    }
    Ok(JobValue::Table(entries))
}

fn node(
    spanned: &Spanned<DeValue<'_>>,
    lines: &Lines<'_>,
    depth: usize,
) -> Result<JobNode, JobFault> {
    let at = lines.at(spanned.span().start);
    check_depth(depth, at)?;
    let value = match spanned.get_ref() {
        DeValue::String(text) => JobValue::Text(text.to_string()),
        DeValue::Integer(integer) => JobValue::Number(decimal(integer).ok_or_else(|| {
            JobFault::new(at, format!("the number {} is too large", integer.as_str()))
        })?),
        DeValue::Float(float) => JobValue::Number(float.as_str().to_owned()),
        DeValue::Boolean(boolean) => JobValue::Bool(*boolean),
        DeValue::Datetime(_) => {
            return Err(JobFault::new(at, "no option takes a date: write a text, in quotes"));
        }
        DeValue::Array(list) => {
            let nodes = list.iter().map(|item| node(item, lines, depth + 1));
            JobValue::List(nodes.collect::<Result<_, _>>()?)
        }
        DeValue::Table(inner) => table(inner, lines, depth)?,
    };
    Ok(JobNode { at, value })
}

/// The digits of an integer in decimal.
fn decimal(integer: &DeInteger<'_>) -> Option<String> {
    i128::from_str_radix(integer.as_str(), integer.radix()).ok().map(|value| value.to_string())
}
