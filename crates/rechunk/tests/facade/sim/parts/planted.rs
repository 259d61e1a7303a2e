//! Bugs that are planted are found: what finds none of these would find no other.

use rechunk_testkit::SimStore;

use super::bug::Bug;
use super::outcome;

/// Seeds within which a bug has to be found.
const SEEDS: u64 = 200;

/// The findings of the seeds that find a bug.
fn findings(bug: Bug) -> impl Iterator<Item = String> {
    (0..SEEDS).filter_map(move |seed| outcome(seed, Some(bug), &SimStore::new(seed)).err())
}

#[test]
#[ignore = "takes minutes: `just test-sim`; the model plants the same bug"]
fn a_mark_before_its_data_is_found() {
    assert!(findings(Bug::MarkBeforeData).next().is_some());
}

#[test]
fn a_mark_of_more_than_was_done_is_found() {
    let mut said = findings(Bug::MarkOfMore);
    assert!(said.any(|said| said.contains("which is not done")));
}

#[test]
#[ignore = "takes minutes: `just test-sim`; the model plants the same bug"]
fn a_part_that_does_not_look_whether_it_is_closed_is_found() {
    let mut said = findings(Bug::PartsSeemOpen);
    assert!(said.any(|said| said.contains("when the parts were closed")));
}
