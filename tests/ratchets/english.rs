//! English of doc comments: they begin with a verb or the thing's name, and their first sentence is
//! short.

use std::collections::BTreeMap;

use crate::sources::sources;
use crate::table::{Rows, Table};

const TABLE: Table<2> = Table {
    name: "doc_english",
    about: "Doc comments by crate (tests/ratchets/english.rs): those that begin with What, The same, Who, How,\n\
            or with Where as a noun; and those whose first sentence has more than 25 words.",
    columns: ["odd beginnings", "long first sentences"],
};
const WORDS_MAX: usize = 25;
/// Samples that a failure shows, of each crate.
const SHOWN: usize = 10;

/// The first sentence: up to a full stop before a space, or the end of the paragraph.
fn first_sentence(doc: &str) -> String {
    let lines = doc.lines().map(str::trim).skip_while(|line| line.is_empty());
    let paragraph: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = [". ", "! ", "? "].iter().filter_map(|end| paragraph.find(end)).min();
    end.map_or(paragraph.clone(), |end| paragraph[..=end].to_owned())
}

/// True if a word of another sentence is needed to know what this one is about. `Where …, …` is a
/// condition.
fn begins_oddly(sentence: &str) -> bool {
    let word = |text: &str| text.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let mut words = sentence.split_whitespace();
    let first = words.next().map(word).unwrap_or_default();
    match first.as_str() {
        "What" | "Whatever" | "Who" | "Whoever" | "Whose" | "How" => true,
        "The" => words.next().map(word).as_deref() == Some("same"),
        "Where" => !sentence.contains(','),
        _ => false,
    }
}

#[test]
fn doc_comments_say_what_they_are_about() {
    let (mut found, mut samples) = (Rows::new(), BTreeMap::<&str, Vec<String>>::new());
    for source in sources() {
        let row = found.entry(source.krate.clone()).or_insert([0; 2]);
        for doc in &source.docs {
            let sentence = first_sentence(&doc.text);
            let odd = begins_oddly(&sentence);
            let long = sentence.split_whitespace().count() > WORDS_MAX;
            row[0] += usize::from(odd);
            row[1] += usize::from(long);
            if odd || long {
                let said = format!("\n  {}: {sentence}", source.path);
                samples.entry(&source.krate).or_default().push(said);
            }
        }
    }
    TABLE.hold(&found, |name| {
        let samples = samples.get(name).map(Vec::as_slice).unwrap_or_default();
        format!("; some of them:{}", samples[..samples.len().min(SHOWN)].concat())
    });
}

#[test]
fn beginnings_are_told_apart() {
    for odd in ["What it holds.", "The same of the run.", "How many there are.", "Where it begins."]
    {
        assert!(begins_oddly(odd), "{odd}");
    }
    for plain in
        ["The samples.", "Where a chunk is missing, reads nothing.", "Whole chunks.", "However"]
    {
        assert!(!begins_oddly(plain), "{plain}");
    }
    assert_eq!(first_sentence("\n A first\n one. And more.\n\n Rest."), "A first one.");
    assert_eq!(first_sentence(" In v0.1 all\n\n Rest."), "In v0.1 all");
}
