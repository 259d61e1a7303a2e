//! Are two groups equal: every array element by element, and every other file byte by byte?

use std::collections::BTreeSet;
use std::sync::Arc;

use rechunk_exec::Observer;
use rechunk_store::{Meter, Role, Store, Stores};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{Comparison, verify};
use crate::Error;
use crate::member_location::member_location;
use crate::open::{OpenOptions, Opened, open_node, open_store};
use crate::others::{OtherFile, Others, first_difference};
use crate::request::Planning;
use crate::tree::Found;

/// The outcome of comparing two arrays, or two groups.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Compared {
    /// Two arrays.
    Arrays(Comparison),
    /// Two groups.
    Groups(GroupComparison),
}

/// The outcome of comparing two groups.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct GroupComparison {
    /// Nothing differs.
    pub equal: bool,
    /// Arrays that are in both.
    pub arrays: Vec<MemberComparison>,
    /// Paths of arrays and other files that only the first group has.
    pub only_in_first: Vec<String>,
    /// Paths of arrays and other files that only the second group has.
    pub only_in_second: Vec<String>,
    /// Other files that were compared.
    pub others: u64,
    /// Their bytes.
    pub others_bytes: u64,
    /// Those that differ, and the first byte in which they do; `None` where their sizes do.
    pub differing_others: Vec<(String, Option<u64>)>,
}

/// The outcome of comparing two arrays of two groups.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MemberComparison {
    /// Their path in the groups.
    pub path: String,
    /// Result of the comparison; absent where they cannot be equal, whatever they hold.
    #[serde(flatten)]
    pub comparison: Option<Comparison>,
    /// In what they differ, where they cannot be equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
}

impl MemberComparison {
    /// No element differs.
    pub fn equal(&self) -> bool {
        self.comparison.as_ref().is_some_and(|found| found.equal)
    }
}

/// Compares what is at two locations: arrays, or groups with everything below them.
pub async fn verify_any(
    (a, b): (&str, &str),
    options: &OpenOptions,
    planning: &Planning,
    observer: Arc<dyn Observer>,
    cancel: CancellationToken,
    stores: &Stores,
) -> Result<Compared, Error> {
    let stores = &stores.with_meter(&Meter::new());
    let groups = match Side::open(a, options, stores).await? {
        Some(a) => Side::open(b, options, stores).await?.map(|b| (a, b)),
        None => None,
    };
    let Some((of_a, of_b)) = groups else {
        // Of an array and a group is said that the one is none.
        let compared = verify(a, b, options, planning, observer, cancel, stores);
        return Box::pin(compared).await.map(Compared::Arrays);
    };
    let mut outcome = GroupComparison::default();
    let (both, first, second) = sorted(&of_a.arrays(), &of_b.arrays());
    (outcome.only_in_first, outcome.only_in_second) = (first, second);
    for path in both {
        let [a, b] = [a, b].map(|root| member_location(root, &path));
        let (observer, cancel) = (Arc::clone(&observer), cancel.clone());
        let compared = Box::pin(verify(&a, &b, options, planning, observer, cancel, stores)).await;
        let (comparison, difference) = match compared {
            Ok(comparison) => (Some(comparison), None),
            Err(Error::Unlike { difference, .. }) => (None, Some(difference)),
            Err(error) => return Err(error.of_member(&path)),
        };
        outcome.arrays.push(MemberComparison { path, comparison, difference });
    }
    outcome.compare_others(&of_a, &of_b).await?;
    let is_alone = outcome.only_in_first.is_empty() && outcome.only_in_second.is_empty();
    outcome.equal = is_alone
        && outcome.differing_others.is_empty()
        && outcome.arrays.iter().all(MemberComparison::equal);
    Ok(Compared::Groups(outcome))
}

/// One of the groups.
struct Side {
    store: Store,
    found: Found,
}

impl Side {
    /// The group at `location`; `None` if it is an array.
    async fn open(
        location: &str,
        options: &OpenOptions,
        stores: &Stores,
    ) -> Result<Option<Self>, Error> {
        let store = open_store(location, stores)?;
        if options.raw.is_some() {
            return Ok(None); // a file of elements
        }
        let Opened::Group(_, format) = open_node(location, options, &store).await? else {
            return Ok(None);
        };
        let options = OpenOptions { reached_as: Some(format), ..options.clone() };
        let found = Found::below(location, &store, format, options.wanted()).await?;
        let store = store.with_role(Role::Control);
        found.others.check(location)?;
        Ok(Some(Self { store, found }))
    }

    fn arrays(&self) -> BTreeSet<String> {
        let unreadable = self.found.unreadable.iter().map(|(path, _)| path);
        self.found.arrays.iter().chain(unreadable).cloned().collect()
    }

    fn others(&self) -> &Others {
        &self.found.others
    }
}

impl GroupComparison {
    async fn compare_others(&mut self, a: &Side, b: &Side) -> Result<(), Error> {
        if a.others().is_unknown || b.others().is_unknown {
            return Ok(());
        }
        let paths = |side: &Side| -> BTreeSet<String> {
            side.others().files.iter().map(|file| file.path.clone()).collect()
        };
        let (both, first, second) = sorted(&paths(a), &paths(b));
        self.only_in_first.extend(first);
        self.only_in_second.extend(second);
        let bytes = |side: &Side, path: &str| {
            let files = &side.others().files;
            let at = files.binary_search_by(|file: &OtherFile| file.path.as_str().cmp(path));
            at.map_or(0, |at| files[at].bytes)
        };
        for path in both {
            let [of_a, of_b] = [a, b].map(|side| bytes(side, &path));
            self.others += 1;
            self.others_bytes = self.others_bytes.saturating_add(of_a);
            if of_a != of_b {
                self.differing_others.push((path, None));
            } else if let Some(at) = first_difference(&a.store, &b.store, &path, of_a).await? {
                self.differing_others.push((path, Some(at)));
            }
        }
        Ok(())
    }
}

/// Paths that both have, that only the first has, and that only the second has.
fn sorted(
    first: &BTreeSet<String>,
    second: &BTreeSet<String>,
) -> (Vec<String>, Vec<String>, Vec<String>) {
    let both = first.intersection(second).cloned().collect();
    let of_first = first.difference(second).cloned().collect();
    let of_second = second.difference(first).cloned().collect();
    (both, of_first, of_second)
}
