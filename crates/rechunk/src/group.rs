//! Members of a group: its arrays and groups, from its consolidated metadata or by walking down.

use std::collections::BTreeSet;

use rechunk_format::{FormatError, ShardFormat};
use rechunk_grid::ArraySpec;
use rechunk_store::{Role, Store, Stores};
use rechunk_zarr::{Consolidated, ConsolidatedKind, GroupMetadata};
use serde::Serialize;

use crate::Error;
use crate::access::{Access, AccessCost, access_cost};
use crate::consolidated;
use crate::dimension_names::GroupNames;
use crate::formats::two_documents;
use crate::formats::{Documents, Format, Metadata, Node, Wanted};
use crate::image_info::{ImageInfo, image_info};
use crate::info::no_such_access;
use crate::open::{OpenOptions, left_out};
use crate::others::{self, OthersInfo};
use crate::some_names::some_names;
use crate::walk::{Visited, walk};

/// Most directories that are looked at.
const DIRECTORIES_MAX: usize = 10_000;

/// Description of a group, as `rechunk info` shows it.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct GroupInfo {
    /// Location of the group.
    pub location: String,
    /// `zarr2` or `zarr3`.
    pub format: String,
    /// Its members are those that its consolidated metadata names.
    pub consolidated: bool,
    /// The comment of the ZIP file it is in.
    pub archive_comment: Option<String>,
    /// User attributes.
    pub attributes: serde_json::Value,
    /// The image in several resolutions that it describes; absent where it describes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageInfo>,
    /// Every array and group below it, by path.
    pub members: Vec<Member>,
    /// There are more than were looked at.
    pub truncated: bool,
    /// Advice about it, in sentences.
    pub hints: Vec<String>,
    /// Files beside arrays and metadata documents; absent where the store cannot be asked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<OthersInfo>,
}

/// An array or a group in a group.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Member {
    /// Path below the group.
    pub path: String,
    /// Kind of the member, with its description.
    #[serde(flatten)]
    pub kind: MemberKind,
}

/// Kind of a member, with its description.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "node", rename_all = "lowercase")]
pub enum MemberKind {
    /// A group.
    Group,
    /// An array.
    Array(MemberArray),
    /// An array (or what should be one) that this version cannot read.
    Unreadable {
        /// Why.
        reason: String,
    },
}

/// An array in a group, without a look at its chunks.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MemberArray {
    /// Extent of each axis, elements.
    pub shape: Vec<u64>,
    /// Dimension names.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// Data type.
    pub data_type: String,
    /// Shape of a chunk, elements.
    pub chunk_shape: Vec<u64>,
    /// Shape of a shard, elements, where chunks are kept in shards.
    pub shard_shape: Option<Vec<u64>>,
    /// Codecs in words.
    pub codecs: String,
    /// Bytes of the elements, without padding.
    pub decoded_bytes: Option<u64>,
    /// Costs of the ways of reading that were asked about, of which it has the axes.
    pub access: Vec<AccessCost>,
}

/// Describes the group at `location`.
pub(crate) async fn group_info(
    location: &str,
    store: &Store,
    documents: &Documents,
    format: Format,
    (options, stores): (&OpenOptions, &Stores),
    access: &[Access],
) -> Result<GroupInfo, Error> {
    let failed = |source| Error::source_metadata(location, source);
    let root = documents.group().map_err(failed)?;
    let attributes = documents.plain_attributes(format).map_err(failed)?;
    let wanted = OpenOptions { reached_as: Some(format), ..options.clone() }.wanted();
    let reads = Reads { location, wanted, access };
    let (Found { mut members, groups }, consolidated, truncated) =
        members(&reads, store, format).await?;
    reads.check(&members)?;
    name_axes(&mut members, std::iter::once(("", &root)).chain(groups.iter().map(by_path)));
    members.sort_by(|a, b| a.path.cmp(&b.path));
    let hints = two_documents::others(&store.with_role(Role::Control), format).await;
    let mut hints = hints.map_err(|source| Error::source_store(location, source))?;
    hints.extend(left_out(location, store).await?);
    if consolidated && !store.answers_late() {
        hints.extend(not_consolidated(&reads, store, &members).await?);
    }
    // Meshes beside the scales of a volume may be any number of files.
    let others = if format.describes_members() {
        None
    } else {
        other_files(&reads, store, &members).await?
    };
    // Elements are compared where nobody waits for them.
    let read_by = (!store.answers_late()).then_some(stores);
    let shape_of = |path: &str| {
        let member = members.iter().find(|member| member.path == path)?;
        if let MemberKind::Array(array) = &member.kind { Some(array.shape.clone()) } else { None }
    };
    let image = image_info(location, (format, &root), shape_of, (options, read_by)).await?;
    let (location, format) = (location.to_owned(), format.name().to_owned());
    let archive_comment = store.archive_comment().await;
    Ok(GroupInfo {
        location,
        format,
        consolidated,
        archive_comment,
        attributes,
        image,
        members,
        truncated,
        hints,
        others,
    })
}

/// Names arrays and groups that the consolidated metadata of a group lacks. Readers of it do not
/// see them.
async fn not_consolidated(
    reads: &Reads<'_>,
    store: &Store,
    members: &[Member],
) -> Result<Option<String>, Error> {
    let named: BTreeSet<&str> = members.iter().map(|member| member.path.as_str()).collect();
    let (found, _) = walked(reads, &store.with_role(Role::Control)).await?;
    let paths = found.members.into_iter().map(|member| member.path);
    let mut unnamed: Vec<String> = paths.filter(|path| !named.contains(path.as_str())).collect();
    unnamed.sort_unstable();
    Ok((!unnamed.is_empty()).then(|| {
        let names = some_names(&unnamed);
        format!("the consolidated metadata does not name {names}: consolidate again")
    }))
}

/// The files of a group beside what is known to be in it.
async fn other_files(
    reads: &Reads<'_>,
    store: &Store,
    members: &[Member],
) -> Result<Option<OthersInfo>, Error> {
    if !store.can_list() {
        return Ok(None);
    }
    let is_array = |member: &&Member| !matches!(member.kind, MemberKind::Group);
    let (arrays, groups): (Vec<&Member>, Vec<&Member>) = members.iter().partition(is_array);
    let paths =
        |members: Vec<&Member>| members.into_iter().map(|member| member.path.clone()).collect();
    let (arrays, groups): (BTreeSet<String>, BTreeSet<String>) = (paths(arrays), paths(groups));
    let store = store.with_role(Role::Control);
    let found = others::beside((&store, reads.wanted), &arrays, &groups, DIRECTORIES_MAX).await;
    let found = found.map_err(|source| Error::source_store(reads.location, source))?;
    Ok(Some(found))
}

/// The ways to read arrays that were asked about.
#[derive(Clone, Copy)]
struct Reads<'a> {
    /// Of the group.
    location: &'a str,
    /// The documents that count below it.
    wanted: Wanted,
    access: &'a [Access],
}

impl Reads<'_> {
    fn of(&self, spec: &ArraySpec, shards: Option<&ShardFormat>) -> Vec<AccessCost> {
        let cost = |access| access_cost(access, self.location, spec, shards);
        self.access.iter().filter_map(cost).collect()
    }

    /// Each way has to be one of some array.
    fn check(&self, members: &[Member]) -> Result<(), Error> {
        let is_of = |member: &Member, access: &Access| match &member.kind {
            MemberKind::Array(array) => {
                array.access.iter().any(|cost| cost.access == access.name())
            }
            _ => false,
        };
        let unknown = |access: &&Access| !members.iter().any(|member| is_of(member, access));
        match self.access.iter().find(unknown) {
            Some(access) => Err(no_such_access(access, self.location)),
            None => Ok(()),
        }
    }
}

/// Nodes below a group: its members, and the metadata of the groups among them.
#[derive(Default)]
struct Found {
    members: Vec<Member>,
    groups: Vec<(String, GroupMetadata)>,
}

impl Found {
    fn add(&mut self, path: &str, kind: Option<MemberKind>, documents: &Documents) {
        if let Some(MemberKind::Group) = kind
            && let Ok(group) = documents.group()
        {
            self.groups.push((path.to_owned(), group));
        }
        self.members.extend(kind.map(|kind| Member { path: path.to_owned(), kind }));
    }
}

fn by_path((path, group): &(String, GroupMetadata)) -> (&str, &GroupMetadata) {
    (path, group)
}

/// Gives arrays without names for their axes those that a group above has for them.
fn name_axes<'a>(
    members: &mut [Member],
    groups: impl IntoIterator<Item = (&'a str, &'a GroupMetadata)>,
) {
    let names = GroupNames::of(groups);
    for Member { path, kind } in members {
        let MemberKind::Array(array) = kind else { continue };
        let is_named = array.dimension_names.iter().flatten().any(Option::is_some);
        let found = names.get(path).filter(|names| names.len() == array.shape.len() && !is_named);
        if let Some(names) = found {
            array.dimension_names = Some(names.iter().cloned().map(Some).collect());
        }
    }
}

/// The members of a group; whether they are those of its consolidated metadata; and whether there
/// are more.
async fn members(
    reads: &Reads<'_>,
    store: &Store,
    format: Format,
) -> Result<(Found, bool, bool), Error> {
    let store = store.with_role(Role::Control);
    if let Some(version) = format.zarr_version() {
        let found = consolidated::fetch(&store, version).await;
        if let Some(document) = found.map_err(|fault| fault.of_source(reads.location))? {
            return Ok((of_document(&document, reads), true, false));
        }
    }
    if format.describes_members() {
        return Ok((described(reads, &store, format).await?, false, false));
    }
    if !store.can_list() {
        return Ok((Found::default(), false, true)); // there may be any
    }
    let (found, truncated) = walked(reads, &store).await?;
    Ok((found, false, truncated))
}

/// The members that the document of the group describes.
async fn described(reads: &Reads<'_>, store: &Store, format: Format) -> Result<Found, Error> {
    let documents = Documents::fetch_of(store, format).await;
    let documents = documents.map_err(|source| Error::source_store(reads.location, source))?;
    let members = documents.members(format);
    let members = members.map_err(|source| Error::source_metadata(reads.location, source))?;
    let members = members.unwrap_or_default();
    let mut found = Found::default();
    for (path, document) in members.arrays {
        let documents = Documents::of_described(format, document);
        found.add(&path, member_kind(&documents, reads), &documents);
    }
    for (path, reason) in members.unreachable {
        found.members.push(Member { path, kind: MemberKind::Unreadable { reason } });
    }
    Ok(found)
}

fn of_document(document: &Consolidated, reads: &Reads<'_>) -> Found {
    let mut found = Found::default();
    for (path, kind) in document.nodes() {
        let (version, is_array) = (document.version(), kind == ConsolidatedKind::Array);
        let array = is_array.then(|| document.array(path)).flatten();
        let documents = match (array, document.group(path)) {
            (Some(array), _) => Documents::of_array(version, array),
            (None, Some(group)) => Documents::of_group(version, group),
            (None, None) => Documents::default(),
        };
        let kind = if is_array { member_kind(&documents, reads) } else { None };
        found.add(path, kind.or(Some(MemberKind::Group)), &documents);
    }
    found
}

/// Describes the node of these documents; `None` where there are none.
fn member_kind(documents: &Documents, reads: &Reads<'_>) -> Option<MemberKind> {
    let unreadable =
        |error: &dyn std::error::Error| Some(MemberKind::Unreadable { reason: error.to_string() });
    match documents.node() {
        Ok(None) => None,
        Ok(Some(Node::Group(_))) => Some(MemberKind::Group),
        Ok(Some(Node::Array(_))) => {
            match documents.array(None).map(|array| array.map(|array| array_of(&array, reads))) {
                Ok(Some(Ok(array))) => Some(MemberKind::Array(array)),
                Ok(None) => None,
                Ok(Some(Err(error))) | Err(error) => unreadable(&error),
            }
        }
        Err(error) => unreadable(&error),
    }
}

fn array_of(metadata: &Metadata, reads: &Reads<'_>) -> Result<MemberArray, FormatError> {
    let layout = metadata.layout()?;
    let spec = layout.spec();
    Ok(MemberArray {
        decoded_bytes: spec.decoded_bytes(),
        shape: spec.shape.clone(),
        dimension_names: spec.dimension_names.clone(),
        data_type: spec.data_type.name(),
        chunk_shape: spec.chunk_shape.clone(),
        shard_shape: layout
            .shards()
            .filter(|shards| !shards.is_scattered())
            .map(|shards| shards.shard_shape().to_vec()),
        codecs: layout.codec_summary().to_owned(),
        access: match metadata.file_name() {
            Some(_) => Vec::new(),
            None => reads.of(spec, layout.shards()),
        },
    })
}

/// The members below a place, from at most [`DIRECTORIES_MAX`] directories; whether there are more.
async fn walked(reads: &Reads<'_>, store: &Store) -> Result<(Found, bool), Error> {
    let mut found = Found::default();
    let cut = walk(store, DIRECTORIES_MAX, reads.wanted, |path, visited| {
        let Visited::Documents(documents) = visited else { return false };
        let kind = member_kind(documents, reads);
        let is_below = matches!(kind, None | Some(MemberKind::Group));
        found.add(path, kind, documents);
        is_below
    });
    let left_out = cut.await.map_err(|source| Error::source_store(reads.location, source))?;
    Ok((found, left_out.is_some()))
}
