//! Words of the command line in libraries: a library does not know who calls it.

use std::collections::BTreeMap;

use crate::sources::{Words, sources};
use crate::table::{Rows, Table};

const TABLE: Table<2> = Table {
    name: "option_words",
    about: "Mentions of `--option` in libraries, outside tests (tests/ratchets/options.rs).",
    columns: ["in strings", "in doc comments"],
};
/// Programs, and crates for tests: they may.
const NOT_LIBRARIES: [&str; 5] =
    ["cli", "rechunk-bench", "rechunk-fuzz", "rechunk-testkit", "tests"];

/// Options that a text names; `--blue:#00f` and `var(--blue)` of a style sheet are none.
fn options(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("--") {
        let before = text[..at].chars().next_back();
        let is_apart = before.is_none_or(|c| !c.is_alphanumeric() && !"-_<!".contains(c));
        let rest = &text[at + 2..];
        let length = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
        let after = rest[length..].strip_prefix(':').and_then(|after| after.chars().next());
        let is_style = text[..at].ends_with("var(") || after.is_some_and(|c| !c.is_whitespace());
        let is_word = rest.starts_with(|c: char| c.is_ascii_lowercase()) && length > 1;
        if is_apart && is_word && !is_style {
            found.push(format!("--{}", &rest[..length]));
        }
    }
    found
}

#[test]
fn libraries_do_not_speak_command_line() {
    let (mut found, mut samples) = (Rows::new(), BTreeMap::<&str, Vec<String>>::new());
    for source in sources() {
        if NOT_LIBRARIES.contains(&source.krate.as_str()) || source.module.is_none() {
            continue;
        }
        let row = found.entry(source.krate.clone()).or_insert([0; 2]);
        let counted = |words: &[Words]| {
            let code = words.iter().filter(|words| !words.is_test);
            code.flat_map(|words| options(&words.text)).collect::<Vec<_>>()
        };
        for (at, words) in [&source.strings, &source.docs].into_iter().enumerate() {
            let options = counted(words);
            row[at] += options.len();
            if !options.is_empty() {
                let said = format!("\n  {}: {}", source.path, options.join(" "));
                samples.entry(&source.krate).or_default().push(said);
            }
        }
    }
    TABLE.hold(&found, |name| samples.get(name).map(|said| said.concat()).unwrap_or_default());
}

#[test]
fn an_option_is_told_from_a_dash() {
    assert_eq!(options("give --max-mem, or `--overwrite`"), ["--max-mem", "--overwrite"]);
    assert_eq!(options("--bytes: it is none; (--json)"), ["--bytes", "--json"]);
    assert_eq!(options("--blue:#00f;color:var(--blue)"), Vec::<String>::new());
    assert_eq!(options("a -- b, a--b, <!--x-->, --1, ---"), Vec::<String>::new());
}
