//! Writes findings as Markdown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::codecs::codecs;
use super::types::{GROUPS, samples};

/// Findings on a codec with a data type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// The format does not have it.
    Absent,
    /// Refused, and why.
    Refused(String),
    /// Written and read by us, and by these.
    Works(BTreeSet<String>),
}

/// By version, codec and group: a type and what was found.
pub(super) type Cells = BTreeMap<(u8, &'static str, &'static str), Vec<(&'static str, Found)>>;

const HEAD: &str = "\
# What is read and written

Made by the test `support::` from what it found; `just support-table` makes it anew.

A cell with names says that rechunk writes this codec with the types of the column and reads it
again, and who else does: `z3` zarr-python 3, `z2` zarr-python 2, `ts` tensorstore. Each reads what
rechunk has written, and rechunk reads what it has written.

- `ʳ`: it reads, but was not asked to write, or cannot write all types of the group.
- In brackets: it has some types of the group only.
- `own`: rechunk reads what it writes; none of the three reads it.
- `—`: the format does not have it.
- `no`: refused, for the reason of that number.

Elements of variable length are decoded behind `vlen-utf8`, `vlen-bytes` and `vlen-array`, with compressors and checksums; elsewhere their chunks are copied as they are.

The chunk grid of Zarr v3 may be `regular` or `rectilinear` (chunks of different lengths), both read, written, appended to and written into by region.

";

/// Behind the name of who only reads.
pub(super) const READS: char = 'ʳ';

/// The whole document.
pub(super) fn render(cells: &Cells) -> String {
    let mut text = HEAD.to_owned();
    let mut notes = Vec::new();
    for version in [2, 3] {
        write!(text, "## Zarr v{version}\n\n| codec | {} |\n", GROUPS.join(" | ")).unwrap();
        writeln!(text, "|---|{}", "---|".repeat(GROUPS.len())).unwrap();
        for codec in codecs(version) {
            write!(text, "| {} |", codec.name).unwrap();
            for group in GROUPS {
                let found = &cells[&(version, codec.name, group)];
                write!(text, " {} |", cell(found, &mut notes)).unwrap();
            }
            text.push('\n');
        }
        text.push('\n');
    }
    text.push_str("Refused:\n\n");
    for (at, note) in notes.iter().enumerate() {
        writeln!(text, "{}. {note}", at + 1).unwrap();
    }
    text.push_str("\nThe types that stand for each group:\n\n");
    for group in GROUPS {
        let names = samples().into_iter().filter(|sample| sample.group == group);
        let names: Vec<String> = names.map(|sample| said(sample.name, sample.numpy)).collect();
        writeln!(text, "- {group}: {}", names.join(", ")).unwrap();
    }
    text
}

fn said(name: &str, numpy: &str) -> String {
    let is_big = numpy.starts_with('>');
    if is_big { format!("`{name}` (big-endian)") } else { format!("`{name}`") }
}

/// A cell; reasons go to the notes, each once.
fn cell(found: &[(&'static str, Found)], notes: &mut Vec<String>) -> String {
    let works: Vec<&BTreeSet<String>> = found
        .iter()
        .filter_map(|(_, found)| match found {
            Found::Works(others) => Some(others),
            _ => None,
        })
        .collect();
    let mut marks = BTreeSet::new();
    for (_, found) in found {
        if let Found::Refused(reason) = found {
            marks.insert(note(reason, notes));
        }
    }
    let marks: Vec<String> = marks.iter().map(|at| format!("[{at}]")).collect();
    let marks = marks.join("");
    match (works.is_empty(), marks.is_empty()) {
        (true, true) => "—".to_owned(),
        (true, false) => format!("no {marks}"),
        (false, true) => others(&works),
        (false, false) => format!("{}, some no {marks}", others(&works)),
    }
}

/// Number of a note.
fn note(reason: &str, notes: &mut Vec<String>) -> usize {
    let known = notes.iter().position(|note| note == reason);
    known.map_or_else(
        || {
            notes.push(reason.to_owned());
            notes.len()
        },
        |at| at + 1,
    )
}

/// Libraries that have all of them, and in brackets those that have some. Writers of some only are
/// said to read.
fn others(works: &[&BTreeSet<String>]) -> String {
    let plain = |name: &String| name.trim_end_matches(READS).to_owned();
    let names: BTreeSet<String> = works.iter().copied().flatten().map(plain).collect();
    let (mut all, mut some) = (Vec::new(), Vec::new());
    for name in names.into_iter().rev() {
        let reads = format!("{name}{READS}");
        let has = |others: &&&BTreeSet<String>| others.contains(&name) || others.contains(&reads);
        let is_all = works.iter().filter(has).count() == works.len();
        let writes = works.iter().filter(has).all(|others| others.contains(&name));
        let list = if is_all { &mut all } else { &mut some };
        list.push(if writes { name } else { reads });
    }
    match (all.join(" "), some.join(" ")) {
        (all, some) if all.is_empty() && some.is_empty() => "own".to_owned(),
        (all, some) if some.is_empty() => all,
        (all, some) if all.is_empty() => format!("({some})"),
        (all, some) => format!("{all} ({some})"),
    }
}
