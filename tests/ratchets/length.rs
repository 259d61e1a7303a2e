//! Lengths: lines of a file, and columns of a comment, which rustfmt leaves as they are.

use crate::sources::sources;
use crate::table::{Rows, Table, blesses};

/// Longer files need a row in the table.
const LINES_MAX: usize = 450;
/// As `max_width` in `.rustfmt.toml`.
const COLUMNS_MAX: usize = 100;
const FILES: Table<1> = Table {
    name: "file_lines",
    about: "Files of more than 450 lines (tests/ratchets/length.rs).\n\
            RECHUNK_BLESS=1 has the row of a file that was moved follow it.",
    columns: ["lines"],
};
const COMMENTS: Table<1> = Table {
    name: "wide_comments",
    about: "Lines of comment over 100 columns, by crate (tests/ratchets/length.rs).",
    columns: ["lines"],
};

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Gives the row of a file that is gone to the file of the same name that has none.
fn follow_moves(ceilings: &mut Rows<1>, found: &Rows<1>) {
    let exists = |path: &str| sources().iter().any(|source| source.path == path);
    let gone: Vec<_> = ceilings.keys().filter(|path| !exists(path)).cloned().collect();
    for old in gone {
        let lines = ceilings[&old];
        let is_it = |path: &&String| {
            !ceilings.contains_key(*path)
                && file_name(path) == file_name(&old)
                && found[*path] <= lines
        };
        if let Some(new) = found.keys().find(is_it).cloned() {
            ceilings.remove(&old);
            ceilings.insert(new, lines);
        }
    }
}

#[test]
fn files_do_not_grow_beyond_two_screens() {
    let mut found = Rows::new();
    for source in sources() {
        let lines = source.text.lines().count();
        if lines > LINES_MAX {
            found.insert(source.path.clone(), [lines]);
        }
    }
    let Some(mut ceilings) = FILES.ceilings() else {
        return FILES.hold(&found, |_| String::new());
    };
    if blesses() {
        follow_moves(&mut ceilings, &found);
    }
    let beyond = |_: &str| format!(" (a file without a row: {LINES_MAX}); split it by subject");
    FILES.hold_against(&ceilings, &found, beyond);
}

#[test]
fn comments_are_as_wide_as_code() {
    let mut found = Rows::new();
    for source in sources() {
        let comments = source.text.lines().filter(|line| line.trim_start().starts_with("//"));
        let wide = comments.filter(|line| line.chars().count() > COLUMNS_MAX).count();
        found.entry(source.krate.clone()).or_insert([0])[0] += wide;
    }
    COMMENTS.hold(&found, |_| "; wrap them: rustfmt does not".to_owned());
}
