//! Job files in TOML.

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::{Entries, JobEntry, JobFault, JobNode, JobValue, Limits, Lines};

pub(super) fn parse(text: &str) -> Result<JobNode, JobFault> {
    let lines = Lines::new(text);
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        JobFault::new(lines.at(at), error.message().lines().collect::<Vec<_>>().join(", "))
    })?;
    let mut walk = Walk { lines, limits: Limits::default() };
    let value = walk.table(document.get_ref(), 0)?;
    Ok(JobNode { at: walk.lines.at(0), value })
}

/// A walk over what the parser has found.
struct Walk<'a> {
    lines: Lines<'a>,
    limits: Limits,
}

impl Walk<'_> {
    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> Result<JobValue, JobFault> {
        let mut spans: Vec<_> = table.iter().collect();
        // In the order of the file: of several rules that set the same, the last counts.
        spans.sort_by_key(|(key, _)| key.span().start);
        let mut entries = Entries::default();
        for (key, value) in spans {
            let key_at = self.lines.at(key.span().start);
            self.limits.values(1, key_at)?;
            let node = self.node(value, depth + 1)?;
            entries.push(JobEntry { key: key.get_ref().to_string(), key_at, node })?;
        }
        Ok(JobValue::Table(entries.entries))
    }

    fn node(&mut self, spanned: &Spanned<DeValue<'_>>, depth: usize) -> Result<JobNode, JobFault> {
        let at = self.lines.at(spanned.span().start);
        self.limits.value(depth, at)?;
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
                let nodes = list.iter().map(|item| self.node(item, depth + 1));
                JobValue::List(nodes.collect::<Result<_, _>>()?)
            }
            DeValue::Table(inner) => self.table(inner, depth)?,
        };
        Ok(JobNode { at, value })
    }
}

/// The digits of an integer in decimal.
fn decimal(integer: &DeInteger<'_>) -> Option<String> {
    i128::from_str_radix(integer.as_str(), integer.radix()).ok().map(|value| value.to_string())
}
