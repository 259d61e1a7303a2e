//! Contents of a group that is to be copied: all of it, or an error.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rechunk_format::{FormatError, Packed};
use rechunk_store::{Level, Role, Store, Stores, check_below};
use rechunk_zarr::{Consolidated, ConsolidatedKind, GroupMetadata, ZarrVersion};

use crate::Error;
use crate::consolidated;
use crate::formats::{Documents, Fact, Format, Node, Wanted};
use crate::member_location::paths_above;
use crate::open::{OpenArray, OpenOptions, open_array, open_found};
use crate::others::Others;
use crate::walk::{DIRECTORIES_MAX, Visited, walk};

/// Everything below a group, by path.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Paths of the arrays.
    pub arrays: Vec<String>,
    /// The groups, without the root.
    pub groups: BTreeMap<String, GroupMetadata>,
    /// Paths of places that should be an array or a group, and why they cannot be read.
    pub unreadable: Vec<(String, String)>,
    /// Groups that this version cannot read, and why. What grows has no need of what they say.
    pub unreadable_groups: Vec<(String, String)>,
    /// Paths of groups below the root that have consolidated metadata of their own.
    pub consolidated: BTreeSet<String>,
    /// The root has some.
    pub is_consolidated: bool,
    /// Files beside arrays and documents.
    pub others: Others,
    /// The documents of the arrays.
    pub documents: FoundDocuments,
    /// Warnings about the group.
    pub warnings: Vec<String>,
}

/// Documents of arrays that a walk has read, so that they need not be read again.
#[derive(Debug, Default)]
pub(crate) struct FoundDocuments {
    numbers: HashMap<Box<str>, u32>,
    records: Packed,
}

impl FoundDocuments {
    fn add(&mut self, path: &str, documents: &Documents) {
        if let Ok(number) = u32::try_from(self.records.push(&documents.to_record())) {
            self.numbers.insert(path.into(), number);
        }
    }

    /// Opens the array at `path`, which is at `location`.
    pub(crate) async fn open(
        &self,
        path: &str,
        location: &str,
        options: &OpenOptions,
        stores: &Stores,
    ) -> Result<OpenArray, Error> {
        match self.get(path) {
            Some(found) => open_found(location, options, found, stores).await,
            None => open_array(location, options, stores).await,
        }
    }

    /// Those of the array at `path`, if they are known.
    fn get(&self, path: &str) -> Option<Documents> {
        let number = usize::try_from(*self.numbers.get(path)?).ok()?;
        Documents::from_record(&self.records.get(number)?)
    }
}

impl Found {
    /// Looks through the group at `location`, which is read in `format`, for the documents that are
    /// `wanted`.
    pub(crate) async fn below(
        location: &str,
        store: &Store,
        format: Format,
        wanted: Wanted,
    ) -> Result<Self, Error> {
        let store = store.with_role(Role::Control);
        if format.describes_members() {
            return Self::described(location, &store, format).await;
        }
        let document = match format.zarr_version() {
            Some(version) => consolidated::fetch(&store, version)
                .await
                .map_err(|fault| fault.of_source(location))?,
            None => None,
        };
        if document.is_none() && !store.can_list() {
            return Err(Error::NotATree {
                location: location.to_owned(),
                reason: "it has no consolidated metadata, and what is below a URL cannot be asked \
                         for"
                .to_owned(),
                hint: Some("name one of its arrays".into()),
            });
        }
        let is_described_array =
            |path: &str| document.as_ref().is_some_and(|document| document.array(path).is_some());
        let mut found = Self::default();
        found.others.is_unknown = !store.can_list();
        let mut walked = BTreeSet::new();
        // Directories of N5 without a document.
        let mut plain = Vec::new();
        let cut = walk(&store, DIRECTORIES_MAX, wanted, |path, visited| {
            let documents = match visited {
                Visited::Documents(documents) => documents,
                Visited::Level(level) => {
                    found.others.add(path, level);
                    if format.has(Fact::ConsolidatedBeside)
                        && is_consolidated(level)
                        && !path.is_empty()
                    {
                        found.consolidated.insert(path.to_owned());
                    }
                    return false;
                }
                Visited::State => return false,
            };
            match documents.node() {
                // An array that only the consolidated metadata describes: chunks are below it.
                Ok(None) if is_described_array(path) => return false,
                Ok(None) if format.has(Fact::BareGroups) => {
                    found.groups.insert(path.to_owned(), GroupMetadata::default());
                    plain.push(path.to_owned());
                    return true;
                }
                Ok(None) => return true,
                Ok(Some(Node::Array(_))) => {
                    found.documents.add(path, documents);
                    found.arrays.push(path.to_owned());
                }
                Ok(Some(Node::Group(_))) => {
                    found.add_group(path, documents.group());
                    if documents.is_consolidated() {
                        found.consolidated.insert(path.to_owned());
                    }
                }
                Err(error) => found.unreadable.push((path.to_owned(), error.to_string())),
            }
            walked.insert(path.to_owned());
            matches!(documents.node(), Ok(Some(Node::Group(_))))
        });
        if let Some(left_out) = cut.await.map_err(|source| Error::source_store(location, source))? {
            return Err(Error::NotATree {
                location: location.to_owned(),
                reason: format!(
                    "there is more in it than a job takes, or a link leads round in a circle: {left_out} is \
                     not looked at"
                ),
                hint: Some("copy the groups in it one by one".into()),
            });
        }
        if let Some(document) = &document {
            found.is_consolidated = true;
            found.add_described(document, &walked);
        }
        found.arrays.sort_unstable();
        found.unreadable.sort_unstable();
        found.others.sort();
        found.drop_folders(plain, store.local_root().is_none());
        Ok(found)
    }

    /// Takes the members of the group at `location` from its document, which describes all of them.
    async fn described(location: &str, store: &Store, format: Format) -> Result<Self, Error> {
        let failed = |source| Error::source_store(location, source);
        let documents = Documents::fetch_of(store, format).await.map_err(failed)?;
        let members = documents.members(format);
        let members = members.map_err(|source| Error::source_metadata(location, source))?;
        let members = members.unwrap_or_default();
        let mut found = Self { unreadable: members.unreachable, ..Self::default() };
        for (path, document) in members.arrays {
            if let Err(reason) = check_below(&path) {
                found.unreadable.push((path, reason.to_owned()));
                continue;
            }
            found.documents.add(&path, &Documents::of_described(format, document));
            found.arrays.push(path);
        }
        found.arrays.sort_unstable();
        found.arrays.dedup();
        if !members.others.is_empty() {
            found.warnings.push(format!(
                "{location} also has {}, which are no arrays: they are not copied",
                members.others.join(", ")
            ));
        }
        Ok(found)
    }

    /// Takes directories without a document, in which there is nothing but other files, for no
    /// groups. In a bucket empty ones are none either: only a marker of a folder shows them.
    fn drop_folders(&mut self, plain: Vec<String>, is_bucket: bool) {
        let mut plain: BTreeSet<String> = plain.into_iter().collect();
        // Those below others come first.
        while let Some(path) = plain.pop_last() {
            let below = |other: &String| {
                other.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'))
            };
            let unreadable = self.unreadable.iter().chain(&self.unreadable_groups);
            let mut nodes = self
                .arrays
                .iter()
                .chain(self.groups.keys())
                .chain(unreadable.map(|(path, _)| path));
            if (is_bucket || self.others.is_below(&path)) && !nodes.any(below) {
                self.groups.remove(&path);
            }
        }
    }

    /// Paths of all arrays and groups, those that cannot be read included.
    pub(super) fn paths(&self) -> BTreeSet<String> {
        let unreadable = self.unreadable.iter().chain(&self.unreadable_groups);
        let unreadable = unreadable.map(|(path, _)| path);
        self.arrays.iter().chain(self.groups.keys()).chain(unreadable).cloned().collect()
    }

    /// Adds groups for all paths above `paths` and above the groups that are left. Without a
    /// document of their own they would not be found.
    pub(crate) fn add_groups_between<'a>(&mut self, paths: impl Iterator<Item = &'a String>) {
        let mut below: Vec<String> = paths.cloned().collect();
        below.extend(self.groups.keys().cloned());
        for path in &below {
            for above in paths_above(path) {
                self.groups.entry(above.to_owned()).or_default();
            }
        }
    }

    fn add_group(&mut self, path: &str, group: Result<GroupMetadata, FormatError>) {
        match group {
            Ok(group) => {
                self.groups.insert(path.to_owned(), group);
            }
            Err(error) => self.unreadable_groups.push((path.to_owned(), error.to_string())),
        }
    }

    /// Adds what only the consolidated metadata knows, and says what it does not know.
    fn add_described(&mut self, document: &Consolidated, walked: &BTreeSet<String>) {
        let mut described = BTreeSet::new();
        for (path, kind) in document.nodes() {
            described.insert(path);
            if path.is_empty() || walked.contains(path) {
                continue;
            }
            if let Err(reason) = check_below(path) {
                let reason = format!("the consolidated metadata names it, and {reason}");
                self.unreadable.push((path.to_owned(), reason));
                continue;
            }
            match kind {
                ConsolidatedKind::Array => self.arrays.push(path.to_owned()),
                ConsolidatedKind::Group => {
                    if let Some(group) = document.group(path) {
                        let documents = Documents::of_group(document.version(), group);
                        self.add_group(path, documents.group());
                    }
                }
            }
        }
        let unknown: Vec<&String> =
            self.arrays.iter().filter(|path| !described.contains(path.as_str())).collect();
        if let Some(first) = unknown.first() {
            self.warnings.push(format!(
                "{} arrays that are there are missing in the consolidated metadata of the source, \
                 e.g. {first}: they are copied too",
                unknown.len()
            ));
        }
    }
}

/// Whether a directory has consolidated metadata of Zarr v2.
fn is_consolidated(level: &Level) -> bool {
    let key = Consolidated::key(ZarrVersion::V2);
    level.files.iter().any(|file| file.name == key)
}

/// A group by its path, in a message.
pub(super) fn in_words(path: &str) -> String {
    if path.is_empty() { "the group".to_owned() } else { format!("the group {path}") }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rechunk_store::Stores;
    use serde_json::{Map, Value, json};

    use crate::{CopyRequest, Selection, prepare};

    /// A copy would read what is beside the source, and write beside the target.
    #[tokio::test]
    async fn what_consolidated_metadata_names_is_in_the_group() {
        let folder = tempfile::tempdir().unwrap();
        let array = json!({
            "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "compressor": null,
            "fill_value": 0, "order": "C", "filters": null
        });
        let source = folder.path().join("a.zarr");
        for place in ["a.zarr/v", "evil"] {
            let place = folder.path().join(place);
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join(".zarray"), array.to_string()).unwrap();
            fs::write(place.join("0"), [0; 8]).unwrap();
        }
        fs::write(source.join(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
        for path in ["../evil", "v/../../evil", "%2e%2E/evil", "/etc", "a//b", ".", "a\u{1b}c"] {
            let mut members = Map::new();
            members.insert(".zgroup".to_owned(), json!({"zarr_format": 2}));
            members.insert("v/.zarray".to_owned(), array.clone());
            members.insert(format!("{path}/.zarray"), array.clone());
            let document =
                json!({"zarr_consolidated_format": 1, "metadata": Value::Object(members)});
            fs::write(source.join(".zmetadata"), document.to_string()).unwrap();
            let target = folder.path().join("b.zarr");
            let [from, to] = [&source, &target].map(|path| path.to_str().unwrap());
            let request = CopyRequest::new(from, to);
            let error = prepare(request, Selection::default(), &Stores::default()).await;
            let error = error.unwrap_err().to_string();
            assert!(error.contains(path) && error.contains("consolidated"), "{error}");
            assert!(!target.exists());
        }
    }
}
