//! Documents of all nodes, each with what is there already: nothing has been written.

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt};
use rechunk_format::{FormatError, Packed};
use rechunk_store::{Store, StoreError, Stores};
use rechunk_zarr::{Consolidated, GroupMetadata};

use super::found::{Place, Root, axes_over};
use crate::chunk_keys::settled;
use crate::consolidated::{self, at_once};
use crate::formats::{Documents, Format, Metadata, NewGroup, Wish, specified};
use crate::member_location::member_location;
use crate::open::{OpenArray, OpenOptions, open_array};
use crate::request::CopyRequest;
use crate::some_names::some_names;
use crate::tree::{Found, InFormat, Said};
use crate::{CodecSpec, Error};

/// An array or group, and the documents of the new format for it.
#[derive(Debug)]
pub(super) struct NodePlan {
    pub path: String,
    pub is_array: bool,
    /// The old format that it has documents of.
    pub old: Option<Format>,
    /// It has documents of the new format, which say what the old ones say.
    pub is_said: bool,
    /// Keys of the documents, the last of which makes it a node.
    pub keys: Vec<String>,
    /// Numbers of the documents among all.
    first: usize,
    /// Consolidated metadata to be written with them.
    pub consolidated: Option<Consolidated>,
}

/// All nodes, in the order in which they are made: the root last.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub all: Vec<NodePlan>,
    documents: Packed,
    pub warnings: Vec<String>,
    /// Paths of those that have documents of the new format which say something else.
    clashes: Vec<String>,
    refused: Vec<(String, String)>,
    /// Everything in one document, where a group needs that.
    described: Option<Consolidated>,
}

impl NodePlan {
    /// Nothing is to be written for it.
    pub(super) fn is_there(&self) -> bool {
        self.is_said && self.consolidated.is_none()
    }
}

impl Nodes {
    /// Specifies the documents of everything at a place, and looks which of them are there.
    pub(super) async fn of(place: Place, stores: &Stores) -> Result<(Place, Self), Error> {
        let mut place = place;
        let mut nodes = Self::default();
        match std::mem::replace(&mut place.root, Root::Done) {
            Root::Done => {}
            Root::Array => {
                let options = place.open_options(false);
                let array = open_array(&place.location, &options, stores).await?;
                let (array, other_keys) = settled(array).await?;
                match said_in(&array, place.to, false) {
                    Ok((metadata, warnings)) => {
                        nodes.warnings = other_keys.into_iter().chain(warnings).collect();
                        let old = Some(place.from);
                        nodes.add_array(&place, String::new(), &metadata, old).await?;
                    }
                    Err(error) => nodes.refused.push((".".to_owned(), last_cause(&error))),
                }
            }
            Root::Group(group, found) => {
                Box::pin(nodes.add_all(&place, *group, *found, stores)).await?;
            }
        }
        nodes.check(&place)?;
        Ok((place, nodes))
    }

    /// The documents of a node, by key.
    pub(super) fn documents(&self, node: &NodePlan) -> Vec<(String, Vec<u8>)> {
        let bytes = |number| self.documents.get(node.first + number).unwrap_or_default();
        node.keys.iter().enumerate().map(|(number, key)| (key.clone(), bytes(number))).collect()
    }

    /// The keys of the documents that are written for a node, and their sizes, bytes.
    pub(super) fn sizes(&self, node: &NodePlan) -> Vec<(String, u64)> {
        let documents = self.documents(node).into_iter();
        let mut sizes: Vec<_> = documents.map(|(key, bytes)| (key, bytes.len() as u64)).collect();
        if let Some(document) = &node.consolidated {
            let key = Consolidated::key(document.version());
            let bytes = document.pieces().map(|piece| piece.len() as u64).sum();
            sizes.retain(|(own, _)| own != key);
            sizes.insert(sizes.len().saturating_sub(1), (key.to_owned(), bytes));
        }
        sizes
    }

    async fn add_all(
        &mut self,
        place: &Place,
        mut root: GroupMetadata,
        mut found: Found,
        stores: &Stores,
    ) -> Result<(), Error> {
        self.refused.append(&mut found.unreadable);
        self.warnings.append(&mut found.warnings);
        let from = if place.has_old { place.from } else { place.to };
        let said = found.say_in(&mut root, (from, place.to), (None, axes_over(from)));
        self.warnings.extend(said.warnings.iter().cloned());
        let version = place.to.zarr_version();
        self.described = version.map(|version| Consolidated::new(version, &root));
        self.add_arrays(place, &mut found, &said, stores).await?;
        let groups = std::mem::take(&mut found.groups);
        if let Some(described) = &mut self.described {
            for (path, group) in &groups {
                described.set_group(path, group);
            }
        }
        // In the order of paths a group stands before what is in it.
        for (path, group) in groups.iter().rev() {
            let is_consolidated = found.consolidated.contains(path);
            self.add_group(place, path, group, is_consolidated).await?;
        }
        self.add_group(place, "", &root, found.is_consolidated).await
    }

    async fn add_arrays(
        &mut self,
        place: &Place,
        found: &mut Found,
        said: &InFormat,
        stores: &Stores,
    ) -> Result<(), Error> {
        let mut texts = Said::default();
        let paths = std::mem::take(&mut found.arrays);
        let documents = &found.documents;
        let opened = paths.into_iter().map(|path| async move {
            let options =
                OpenOptions { names: said.names.get(&path).cloned(), ..place.open_options(true) };
            let location = member_location(&place.location, &path);
            let opened = match documents.open(&path, &location, &options, stores).await {
                Ok(array) if array.metadata.format() != place.to => settled(array).await,
                opened => opened.map(|array| (array, None)),
            };
            (path, opened)
        });
        let mut opened = Box::pin(stream::iter(opened).buffered(at_once(&place.store)));
        while let Some((path, array)) = opened.next().await {
            let specified = array.and_then(|(array, other_keys)| {
                let old = Some(array.metadata.format()).filter(|format| *format != place.to);
                let new = match old {
                    Some(_) => said_in(&array, place.to, true),
                    None => Ok((array.metadata, Vec::new())),
                };
                new.map(|(metadata, warnings)| {
                    (metadata, other_keys.into_iter().chain(warnings).collect::<Vec<_>>(), old)
                })
            });
            match specified {
                Ok((metadata, warnings, old)) => {
                    for text in &warnings {
                        texts.add(&path, text);
                    }
                    self.add_array(place, path, &metadata, old).await?;
                }
                Err(error @ (Error::SourceStore { .. } | Error::Store { .. })) => {
                    return Err(error.of_member(&path));
                }
                Err(error) => self.refused.push((path, last_cause(&error))),
            }
        }
        self.warnings.extend(texts.lines());
        Ok(())
    }

    async fn add_array(
        &mut self,
        place: &Place,
        path: String,
        metadata: &Metadata,
        old: Option<Format>,
    ) -> Result<(), Error> {
        if let (Some(described), Some(array)) = (&mut self.described, metadata.zarr()) {
            described.set_array(&path, array).map_err(Error::target_metadata)?;
        }
        let documents = metadata.documents();
        let is_said = old.is_none() || self.is_said(place, &path, &documents).await?;
        self.add(
            NodePlan {
                path,
                is_array: true,
                old,
                is_said,
                keys: Vec::new(),
                first: 0,
                consolidated: None,
            },
            documents,
        );
        Ok(())
    }

    async fn add_group(
        &mut self,
        place: &Place,
        path: &str,
        group: &GroupMetadata,
        is_consolidated: bool,
    ) -> Result<(), Error> {
        let new = NewGroup { group, n5_version: None, needs_document: true, arrays: &[] };
        let documents = (place.to.schema().group_documents)(&new);
        let node = at(place, path)?;
        let consolidated = self.consolidated(&node, path, group, is_consolidated).await?;
        let has_old = match path {
            "" => place.has_old,
            _ => has_documents(&node, place.from)
                .await
                .map_err(|error| Error::source_store(node.label(), error))?,
        };
        let is_said = self.is_said(place, path, &documents).await?;
        self.add(
            NodePlan {
                path: path.to_owned(),
                is_array: false,
                old: Some(place.from).filter(|_| has_old),
                is_said,
                keys: Vec::new(),
                first: 0,
                consolidated,
            },
            documents,
        );
        Ok(())
    }

    fn add(&mut self, node: NodePlan, documents: Vec<(String, Vec<u8>)>) {
        let first = self.documents.len();
        let keys = documents.iter().map(|(key, _)| key.clone()).collect();
        for (_, bytes) in documents {
            self.documents.push(&bytes);
        }
        self.all.push(NodePlan { keys, first, ..node });
    }

    /// The consolidated metadata that a group is to get: where it had some, or has some that does
    /// not know of all nodes yet.
    async fn consolidated(
        &self,
        node: &Store,
        path: &str,
        group: &GroupMetadata,
        is_wanted: bool,
    ) -> Result<Option<Consolidated>, Error> {
        let Some(all) = &self.described else { return Ok(None) };
        let found = consolidated::fetch(node, all.version()).await;
        // What cannot be understood is told when it is compared.
        let found = found.unwrap_or_default();
        let is_there = found.is_some();
        if !is_there && !is_wanted {
            return Ok(None);
        }
        let mut document = match found {
            Some(found) => found,
            None if path.is_empty() => return Ok(Some(all.clone())),
            None => Consolidated::new(all.version(), group),
        };
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        document.set_members_of(all, &prefix, "");
        Ok(Some(document).filter(|document| !is_there || document.is_changed()))
    }

    /// True if the documents of a node are there; notes those that say something else.
    async fn is_said(
        &mut self,
        place: &Place,
        path: &str,
        documents: &[(String, Vec<u8>)],
    ) -> Result<bool, Error> {
        let found = Documents::fetch_of(&at(place, path)?, place.to).await;
        let found = found.map_err(|error| Error::source_store(&place.location, error))?;
        if found.main_key().is_none() {
            return Ok(false);
        }
        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        let new = documents.iter().map(|(key, bytes)| (key.clone(), text(bytes)));
        let new = Documents::of_saved(&new.collect::<BTreeMap<_, _>>());
        let is_same = match (found.array(None), new.array(None)) {
            (Ok(Some(found)), Ok(Some(new))) => found == new,
            (Ok(None), Ok(None)) => {
                matches!((found.group(), new.group()), (Ok(found), Ok(new)) if found == new)
            }
            _ => false,
        };
        if !is_same {
            self.clashes.push(path.to_owned());
        }
        Ok(is_same)
    }

    /// Refuses everything that cannot be said in the new format, and documents of it that say
    /// something else.
    fn check(&mut self, place: &Place) -> Result<(), Error> {
        let Place { location, to, .. } = place;
        if !self.refused.is_empty() {
            self.refused.sort_unstable();
            let named = self.refused.iter().map(|(path, reason)| format!("{path} ({reason})"));
            let reason = format!(
                "cannot be written over the chunks that are there for {}; nothing was written: a \
                 copy writes them anew",
                some_names(&named.collect::<Vec<_>>())
            );
            let key = format!("{} metadata", to.name());
            return Err(Error::source_metadata(location, FormatError::Metadata { key, reason }));
        }
        if self.clashes.is_empty() {
            return Ok(());
        }
        let old = place.from.name();
        let places = self.clashes.iter();
        let places = places.map(|path| if path.is_empty() { ".".to_owned() } else { path.clone() });
        Err(Error::Conflict {
            location: location.clone(),
            reason: format!(
                "has documents of {} that say something else than those of {old} beside them: {}",
                to.name(),
                some_names(&places.collect::<Vec<_>>())
            ),
            hint: Some(
                "nothing was written; which of the two is right is not known: remove the other yourself".into(),
            ),
        })
    }

    /// Paths of nodes that only documents of the new format describe.
    pub(super) fn only_new(&self) -> Vec<String> {
        let only = self.all.iter().filter(|node| node.is_array && node.old.is_none());
        only.map(|node| node.path.clone()).collect()
    }
}

/// The place of a node.
pub(super) fn at(place: &Place, path: &str) -> Result<Store, Error> {
    if path.is_empty() {
        return Ok(place.store.clone());
    }
    place.store.child(path).map_err(|error| Error::source_store(&place.location, error))
}

/// Whether a place is a node of a format.
pub(super) async fn has_documents(node: &Store, format: Format) -> Result<bool, StoreError> {
    Ok(Documents::fetch_of(node, format).await?.main_key().is_some())
}

/// The array as `to` says it over the chunks that it has, and a sentence for whatever it says
/// otherwise.
fn said_in(
    array: &OpenArray,
    to: Format,
    is_member: bool,
) -> Result<(Metadata, Vec<String>), Error> {
    let mut request = CopyRequest::new(&array.location, &array.location);
    request.codec = Some(CodecSpec::keep());
    request.format = Some(to);
    request.axes = axes_over(array.metadata.format());
    request.is_member = is_member;
    let wish = Wish {
        request: &request,
        source: array,
        format: to,
        chunk_shape: &array.metadata.spec().chunk_shape,
        shard_shape: None,
        edges: None,
        over_stored: true,
    };
    specified(&wish)
}

/// The innermost reason of an error.
fn last_cause(error: &Error) -> String {
    error.chain().pop().unwrap_or_default()
}
