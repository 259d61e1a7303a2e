//! Texts of job files.

use rechunk::{JobEntry, JobNode, JobSyntax, JobValue, parse_job_file};

/// Most values of an accepted file: as many as YAML may have with what its aliases repeat.
const VALUES_MAX: usize = 65_536;

/// Reads any text in each of the languages. Places lie in it, no key is there twice, and it is not
/// more than a text of this size can say.
pub(crate) fn target(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let mut is_accepted = false;
    for syntax in [JobSyntax::Toml, JobSyntax::Yaml, JobSyntax::Json] {
        match parse_job_file(syntax, text) {
            Ok(entries) => {
                let values = count(&entries, lines(text));
                assert!(values <= VALUES_MAX.max(data.len()), "{values} values");
                is_accepted = true;
            }
            Err(fault) => {
                assert!(!fault.reason.is_empty() && fault.at.line > 0 && fault.at.column > 0);
            }
        }
    }
    is_accepted
}

/// Most lines of a text. In YAML a carriage return alone ends one too, and a value that is not
/// there may have its place after the last.
fn lines(text: &str) -> usize {
    text.chars().filter(|c| matches!(c, '\n' | '\r')).count() + 2
}

fn count(entries: &[JobEntry], lines: usize) -> usize {
    let mut sum = 0;
    for (at, entry) in entries.iter().enumerate() {
        assert!((1..=lines).contains(&entry.key_at.line), "{:?}", entry.key_at);
        assert!(entries[..at].iter().all(|other| other.key != entry.key), "twice: {}", entry.key);
        sum += node(&entry.node, lines);
    }
    sum
}

fn node(of: &JobNode, lines: usize) -> usize {
    assert!((1..=lines).contains(&of.at.line), "{:?}", of.at);
    1 + match &of.value {
        JobValue::List(nodes) => nodes.iter().map(|inner| node(inner, lines)).sum(),
        JobValue::Table(entries) => count(entries, lines),
        _ => 0,
    }
}
