//! Tables of integers and their values, as text.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::constant::Constant;
use crate::settings::shortened;

/// Entries of a table at most.
const ENTRIES_MAX: usize = 1 << 26;
/// Entries from which on the canonical text is a digest.
const LISTED_MAX: usize = 16;

/// Reads a table. Its text is `from>to` with `,`, `;` or lines between them, or lines of two
/// columns that are separated by a comma, a tab or spaces. Returns its pairs by ascending key, or
/// the mistake in it.
pub(super) fn parse_table(text: &str) -> Result<Vec<(i128, Constant)>, String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let mut pairs = Vec::new();
    for line in lines {
        if line.contains('>') {
            for entry in line.split([',', ';']).filter(|entry| !entry.trim().is_empty()) {
                pairs.push(parse_pair(entry, entry.split_once('>'))?);
            }
        } else {
            for entry in line.split(';').map(str::trim).filter(|entry| !entry.is_empty()) {
                let halves = entry.split_once(|c: char| c == ',' || c.is_whitespace());
                pairs.push(parse_pair(entry, halves)?);
            }
        }
        if pairs.len() > ENTRIES_MAX {
            return Err(format!("it has more than {ENTRIES_MAX} entries"));
        }
    }
    if pairs.is_empty() {
        return Err("it has no entry; write `from>to`".to_owned());
    }
    pairs.sort_by_key(|(from, _)| *from);
    let twice = pairs.windows(2).find(|pair| pair[0].0 == pair[1].0);
    match twice {
        Some(pair) => Err(format!("{} is in it twice", pair[0].0)),
        None => Ok(pairs),
    }
}

/// Reads an entry from its halves.
fn parse_pair(entry: &str, halves: Option<(&str, &str)>) -> Result<(i128, Constant), String> {
    let wrong = |reason: &str| format!("`{}` {reason}", shortened(entry.trim()));
    let (from, to) = halves.ok_or_else(|| wrong("is no pair `from>to`"))?;
    let from = Constant::parse(from).and_then(|from| from.to_int());
    let from = from.ok_or_else(|| wrong("does not begin with an integer"))?;
    let to = Constant::parse(to).ok_or_else(|| wrong("does not end with a number"))?;
    Ok((from, to))
}

/// Canonical text of a table: its pairs, or their SHA-256 and number if they are many.
pub(super) fn canonical(pairs: &[(i128, Constant)]) -> String {
    let listed: Vec<_> =
        pairs.iter().map(|(from, to)| format!("{from}>{}", to.canonical())).collect();
    let listed = listed.join(";");
    if pairs.len() <= LISTED_MAX {
        return listed;
    }
    let mut text = format!("{} entries sha256 ", pairs.len());
    for byte in Sha256::digest(listed.as_bytes()) {
        // A string takes all.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_are_one_table() {
        let wanted = canonical(&parse_table("1>10;2>20").unwrap());
        assert_eq!(wanted, "1>10;2>20");
        for text in [
            "2>20,1>10",
            "1>10\n2>20\n",
            "1,10\n2,20",
            "# from to\n1\t10\n\n2   20 # two",
            " 1 > 10 ; 2 > 20; ",
        ] {
            assert_eq!(canonical(&parse_table(text).unwrap()), wanted, "{text:?}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, mistake) in [
            ("", "it has no entry"),
            ("1>2;1>3", "1 is in it twice"),
            ("1>", "`1>` does not end with a number"),
            ("a>1", "`a>1` does not begin with an integer"),
            ("1.5>1", "`1.5>1` does not begin with an integer"),
            ("7", "`7` is no pair"),
        ] {
            let found = parse_table(text).unwrap_err();
            assert!(found.starts_with(mistake), "{text:?}: {found}");
        }
    }

    #[test]
    fn a_long_table_is_named_by_its_digest() {
        let table = |last: u32| {
            let lines: Vec<_> = (0..100).map(|at| format!("{at}>{}", at + 1)).collect();
            parse_table(&format!("{}\n100>{last}", lines.join("\n"))).unwrap()
        };
        let text = canonical(&table(7));
        assert!(text.starts_with("101 entries sha256 ") && text.len() == 83, "{text}");
        assert_ne!(text, canonical(&table(8)));
    }
}
