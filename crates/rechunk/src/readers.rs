//! Other programs that read an array, by the table that the tests make (`docs/support.md`). Each
//! library there has read what this program wrote in that codec and type.

use std::collections::BTreeSet;

use rechunk_grid::{ArraySpec, DataType};

use crate::formats::Metadata;

/// The table. It is checked to be what the tests find.
const TABLE: &str = include_str!("../../../docs/support.md");

/// The libraries: as the table has them, and in words.
const LIBRARIES: [(&str, &str); 4] =
    [("z3", "zarr-python 3"), ("z2", "zarr-python 2"), ("ts", "tensorstore"), ("z5", "z5py")];
/// Behind the name of who only writes.
const WRITES: char = 'ʷ';
/// Behind the name of who only reads.
const READS: char = 'ʳ';

/// The libraries that read an array of this metadata; `None` if that was not tried.
pub(crate) fn readers(metadata: &Metadata) -> Option<Vec<&'static str>> {
    let tried = metadata.tried()?;
    let column = tried.column.unwrap_or_else(|| group(&metadata.spec()));
    let cells = tried.rows.iter().map(|row| cell(tried.section, row, column));
    let all: Vec<_> = cells.collect::<Option<_>>()?;
    let mut found = all.into_iter().reduce(|some, others| &some & &others)?;
    if let Some(library) = tried.kept_out {
        found.remove(library);
    }
    let named = LIBRARIES.into_iter().filter(|(short, _)| found.contains(short));
    Some(named.map(|(_, name)| name).collect())
}

/// The column of elements of this type.
fn group(spec: &ArraySpec) -> &'static str {
    match spec.data_type {
        DataType::Bool => "bool",
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Uint8
        | DataType::Uint16
        | DataType::Uint32
        | DataType::Uint64 => "int, uint",
        DataType::Float16 | DataType::Float32 | DataType::Float64 => "float",
        DataType::Complex64 | DataType::Complex128 => "complex",
        DataType::Bfloat16 => "bfloat16",
        DataType::Int2
        | DataType::Int4
        | DataType::Uint2
        | DataType::Uint4
        | DataType::SmallFloat(_) => "small",
        DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. } => "date",
        DataType::FixedBytes { .. } => "bytes",
        DataType::FixedUtf32 { .. } => "text",
        DataType::RawBits { .. } => "raw",
        DataType::Structured { .. } => "record",
        DataType::Variable => "variable",
    }
}

/// Libraries that read all that a cell stands for; `None` if there is no such cell.
fn cell(section: &str, row: &str, column: &str) -> Option<BTreeSet<&'static str>> {
    let lines = TABLE.lines().skip_while(|line| *line != section).skip(1);
    let mut lines = lines.take_while(|line| !line.starts_with("## "));
    let head = lines.find(|line| line.starts_with('|'))?;
    let at = cells(head).position(|name| name == column)?;
    let text = lines.find_map(|line| {
        let mut found = cells(line);
        (found.next()? == row).then(|| found.nth(at.checked_sub(1)?)).flatten()
    })?;
    // In brackets: those that have some of it.
    let all = text.split('(').next().unwrap_or_default();
    let names = all.split_whitespace().filter(|name| !name.ends_with(WRITES));
    let names: BTreeSet<&str> = names.map(|name| name.trim_end_matches(READS)).collect();
    let known = LIBRARIES.into_iter().map(|(short, _)| short);
    Some(known.filter(|short| names.contains(short)).collect())
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.trim_matches('|').split('|').map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found() {
        for (section, row, column, expected) in [
            ("## Zarr v2", "blosc", "float", Some(&["ts", "z2", "z3"][..])),
            ("## Zarr v2", "lz4", "int, uint", Some(&["z2", "z3"])),
            ("## Zarr v3", "none", "variable", Some(&["z3"])),
            ("## Zarr v3", "zstd", "bfloat16", Some(&["ts"])),
            ("## Zarr v3", "numcodecs.bz2", "float", Some(&["z3"])),
            ("## Zarr v3", "numcodecs.lz4", "small", Some(&[])),
            ("## Zarr v3", "n5_default", "float", None),
            ("## N5", "`uint16`", "gzip", Some(&["ts", "z2", "z5"])),
            ("## N5", "`uint16`", "lz4", Some(&[])),
            ("## N5", "`bool`", "gzip", None),
        ] {
            let found = cell(section, row, column);
            let expected = expected.map(|names| names.iter().copied().collect());
            assert_eq!(found, expected, "{section} {row} {column}");
        }
    }
}
