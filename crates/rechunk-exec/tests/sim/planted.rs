//! Bugs that are planted are found: what finds none of these would find no other.

use crate::drive::Bug;
use crate::many::outcome;

/// Seeds within which a bug has to be found.
const SEEDS: u64 = 2000;

/// The first seed that finds a bug, and what it says.
fn found(bug: Bug) -> (u64, String) {
    let mut failures = (0..SEEDS).filter_map(|seed| Some((seed, outcome(seed, Some(bug)).err()?)));
    failures.next().unwrap_or_else(|| panic!("{bug:?} is not found"))
}

#[test]
fn a_mark_before_its_data_are_durable_is_found() {
    let (_, said) = found(Bug::NoSyncBeforeMark);
    assert!(said.contains("durable"), "{said}");
}

#[test]
fn a_write_in_place_is_found() {
    let (_, said) = found(Bug::TornWrite);
    assert!(said.contains("wrong bytes") || said.contains("shard"), "{said}");
}

#[test]
fn a_journal_before_its_data_is_found() {
    let (_, said) = found(Bug::JournalBeforeData);
    assert!(said.contains("missing"), "{said}");
}

#[test]
fn a_marker_before_its_data_is_found() {
    let (_, said) = found(Bug::MarkerBeforeData);
    assert!(said.contains("complete"), "{said}");
}
