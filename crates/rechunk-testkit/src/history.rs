//! Earlier states of a bucket.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::listing::{Listed, Listing};
use crate::log::lock;

/// Objects that each write found, in order.
#[derive(Debug, Default)]
pub(crate) struct History {
    changes: Mutex<Vec<Change>>,
}

#[derive(Debug)]
struct Change {
    at: Instant,
    key: String,
    before: Option<Listed>,
}

impl History {
    /// Notes that the key, which was like that, is about to be changed.
    pub(crate) fn record(&self, key: &str, before: Option<Listed>) {
        lock(&self.changes).push(Change { at: Instant::now(), key: key.to_owned(), before });
    }

    /// Takes back what was changed in the last time of that length.
    pub(crate) fn as_of(&self, mut listing: Listing, age: Duration) -> Listing {
        let changes = lock(&self.changes);
        let now = Instant::now();
        let is_recent = |change: &&Change| now.saturating_duration_since(change.at) < age;
        for change in changes.iter().rev().take_while(is_recent) {
            match &change.before {
                Some(listed) => listing.insert(change.key.clone(), listed.clone()),
                None => listing.remove(&change.key),
            };
        }
        listing
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn recent_changes_are_taken_back_and_older_ones_stay() {
        let listed = |size_bytes| Listed { size_bytes, modified: SystemTime::UNIX_EPOCH };
        let history = History::default();
        history.record("old", None);
        std::thread::sleep(Duration::from_millis(1200));
        history.record("new", None);
        history.record("overwritten", Some(listed(1)));
        history.record("overwritten", Some(listed(2)));
        history.record("deleted", Some(listed(3)));
        let now =
            Listing::from(["old", "new", "overwritten"].map(|key| (key.to_owned(), listed(9))));
        let then = Listing::from(
            [("deleted", 3), ("old", 9), ("overwritten", 1)]
                .map(|(key, size_bytes)| (key.to_owned(), listed(size_bytes))),
        );
        assert_eq!(history.as_of(now.clone(), Duration::from_secs(1)), then);
        assert_eq!(history.as_of(now.clone(), Duration::ZERO), now);
    }
}
