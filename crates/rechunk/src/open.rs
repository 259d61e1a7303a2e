//! Opening an array: which format is it, and what does its metadata say?

use std::path::PathBuf;
use std::sync::Arc;

use crate::is_made::check_is_made;
use rechunk_array::{Array, RegionOptions};
use rechunk_format::cast::{CastTo, Recount};
use rechunk_format::{FormatError, Layout};
use rechunk_grid::{ArraySpec, ChunkGrid, Region};
use rechunk_store::{Meter, Role, Store, Stores};
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

use crate::Error;
use crate::axes::Axes;
use crate::consolidated;
use crate::described_members::described_member;
use crate::dimension_names::{self, AxisNames};
use crate::formats::raw::check_blocks;
use crate::formats::raw::{RawFile, SingleFile, open_file};
use crate::formats::two_documents::decide;
use crate::formats::{Documents, Format, Metadata, Node, Wanted, has_names, hex};
use crate::no_array::{group_error, nothing_error};
use crate::not_ours;
use rechunk_words::Cast;
use rechunk_words::{RegionSpec, VoxelAxis};

/// A sentence for people on what cannot be read of references, if the source is some.
pub(crate) async fn left_out(location: &str, store: &Store) -> Result<Option<String>, Error> {
    let store = store.with_role(Role::Control);
    store.references_warning().await.map_err(|error| Error::source_store(location, error))
}

/// An array that was opened for reading.
#[derive(Debug, Clone)]
pub struct OpenArray {
    /// Where it is, as it was given.
    pub location: String,
    /// Layout and store.
    pub array: Array,
    /// The parsed metadata.
    pub metadata: Metadata,
    /// SHA-256 of its metadata documents, hex: the same array as another time?
    pub identity: String,
    /// The compressed file it is in: it is read when that is unpacked.
    pub(crate) packed: Option<PathBuf>,
    /// The type that its elements are read as, if that was asked for.
    pub(crate) cast: Option<CastTo>,
    /// The voxels along each axis, where the target has to say them and they are known.
    pub(crate) voxels: Option<Vec<VoxelAxis>>,
    /// It is read as the numbers that its filters store: both sides of a copy have the same
    /// filters.
    pub(crate) is_carried: bool,
    /// Way to count its times anew, if they are read as another array counts them.
    pub(crate) recount: Option<Arc<Recount>>,
    /// The group whose consolidated metadata describes it, where it has no document of its own.
    pub described_by: Option<String>,
    /// Way to find the documents that describe it again.
    pub(crate) wanted: Wanted,
    /// The names of its axes are those that a group above it has for it.
    pub(crate) is_named_by_group: bool,
    /// The region that was selected, if one was, of an array of that shape.
    pub(crate) region: Option<(Vec<u64>, Region)>,
    /// Axes of the stored array, of length 1, that it is read without.
    pub(crate) left_out: Vec<usize>,
    /// Limits of reading and writing regions of it.
    pub(crate) region_options: RegionOptions,
    /// The array with the keys that its chunks have, once that has been looked for; none if these
    /// are those of its metadata.
    pub(crate) settled: Box<OnceCell<Option<Array>>>,
}

impl OpenArray {
    /// Applies the region and the type of the options.
    fn read_as_asked(self, options: &OpenOptions) -> Result<Self, Error> {
        let selected = self.selected(options.select.as_ref())?;
        let squeezed = match options.squeezed_for {
            // Of members, the region is selected later.
            Some(format) if !options.is_member => selected.squeezed_for(format)?,
            _ => selected,
        };
        squeezed.cast(options.cast.as_ref())
    }

    /// A region of it, as an array.
    pub(crate) fn part(self, region: &Region) -> Result<Self, Error> {
        let error = |source| Error::source_metadata(&self.location, source);
        let region = self.in_stored(region);
        let layout = self.metadata.layout_of(&region).map_err(error)?;
        Ok(Self {
            array: Array::new(self.squeezed_layout(layout)?, self.array.store().clone()),
            metadata: self.metadata.with_shape(&region.shape),
            // Another region of the same array is another array.
            identity: format!("{} {:?}", self.identity, region.start),
            region: Some((self.metadata.spec().shape, region)),
            ..self
        })
    }

    /// The array with its requests counted in another meter.
    pub(crate) fn with_meter(&self, meter: &Arc<Meter>) -> Self {
        let store = self.array.store().with_meter(meter);
        Self { array: self.array.with_store(store), settled: Box::default(), ..self.clone() }
    }

    /// Its layout, where chunks lie in shards with each of those taken for one chunk.
    pub(crate) fn without_shards(&self) -> Result<Arc<dyn Layout>, Error> {
        if self.array.layout().shards().is_none() {
            return Ok(Arc::clone(self.array.layout()));
        }
        let layout = match &self.region {
            Some((shape, region)) => {
                self.metadata.with_shape(shape).layout_without_shards(Some(region))
            }
            None => self.metadata.layout_without_shards(None),
        };
        let layout = layout.map_err(|source| Error::source_metadata(&self.location, source))?;
        self.recount_layout(self.cast_layout(self.squeezed_layout(layout)?)?)
    }

    /// Refuses an array of whose chunks it cannot be told which are stored: those of shards that
    /// are read as a whole.
    pub(crate) fn check_tells_missing_chunks(&self) -> Result<(), Error> {
        if !self.metadata.has_shards() || self.array.layout().shards().is_some() {
            return Ok(());
        }
        let (what, hint) = match &self.region {
            Some(_) => ("a selection that begins inside a shard", "select from where one begins"),
            None => ("what has shards of different lengths", "copy it to shards of one length"),
        };
        let location = &self.location;
        Err(Error::Usage {
            message: format!(
                "{location}: {what} is read by the shard, without the chunks that are missing in it"
            ),
            hint: Some(format!("{hint}, or let missing chunks count as the fill value").into()),
        })
    }

    /// Specification of the array.
    pub fn spec(&self) -> &ArraySpec {
        self.array.layout().spec()
    }

    /// The grid of its objects: shards, else chunks.
    pub fn object_grid(&self) -> Result<ChunkGrid, Error> {
        if self.spec().edges.is_some() {
            return self.grid(); // there are no such shards
        }
        ChunkGrid::new(&self.spec().shape, &self.of_kept(&self.metadata.object_shape()))
            .map_err(|error| Error::source_grid(&self.location, &error))
    }

    /// Its chunk grid; the metadata parser has checked that there is one.
    pub fn grid(&self) -> Result<ChunkGrid, Error> {
        self.spec().grid().map_err(|error| Error::source_grid(&self.location, &error))
    }
}

/// Options for an array that is opened.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Order of the axes of N5 or NIfTI.
    pub axes: Option<Axes>,
    /// Description of a file that has no header.
    pub raw: Option<RawFile>,
    /// A region of it, which is then taken for the array.
    pub select: Option<RegionSpec>,
    /// Another type to read its elements as.
    pub cast: Option<Cast>,
    /// The format that it is read for: axes of length 1 that this has no place for are left out.
    pub squeezed_for: Option<Format>,
    /// The format whose documents count, where there are those of several.
    pub source_format: Option<Format>,
    /// The format of the group that it is reached through.
    pub reached_as: Option<Format>,
    /// It is one of many that are opened, so requests count more than answers that are waited for.
    pub is_member: bool,
    /// Names for its axes that a group above it has, if it has none itself.
    pub names: Option<Vec<String>>,
    /// Its axes are named in an option: where it has no names, groups above it are looked at.
    pub wants_names: bool,
}

/// Opens the array at `location`; requests count as control.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let location = folder.path().display().to_string();
/// # std::fs::write(folder.path().join(".zarray"), r#"{"zarr_format": 2, "shape": [4, 6],
/// #     "chunks": [2, 3], "dtype": "<f4", "compressor": null, "filters": null,
/// #     "fill_value": 0, "order": "C"}"#)?;
/// use rechunk::{DataType, OpenOptions, Stores, open_array};
///
/// let array = open_array(&location, &OpenOptions::default(), &Stores::default()).await?;
/// assert_eq!((&array.spec().shape[..], array.spec().data_type), (&[4, 6][..], DataType::Float32));
/// # Ok(())
/// # }
/// ```
pub async fn open_array(
    location: &str,
    options: &OpenOptions,
    stores: &Stores,
) -> Result<OpenArray, Error> {
    let store = open_store(location, stores)?;
    match open_node(location, options, &store).await? {
        Opened::Array(array) => Ok(*array),
        Opened::Group(_, format) => Err(group_error(location, format, &store).await),
    }
}

/// Array or group at a location.
#[derive(Debug)]
pub(crate) enum Opened {
    Array(Box<OpenArray>),
    Group(Documents, Format),
}

/// Opens what is at `location`; an error if that is neither an array nor a group.
pub(crate) async fn open_node(
    location: &str,
    options: &OpenOptions,
    store: &Store,
) -> Result<Opened, Error> {
    if let Some(file) = open_file(location, options, store).await? {
        let open = opened_file(location, file)?;
        return open.read_as_asked(options).map(Box::new).map(Opened::Array);
    }
    if options.raw.is_some() {
        if !store.with_role(Role::Control).exists_anything().await.unwrap_or(true) {
            return Err(nothing_error(location, store).await);
        }
        return Err(Error::Usage {
            message: format!("--raw-shape is of a file, and {location} is none"),
            hint: None,
        });
    }
    let control = store.with_role(Role::Control);
    let metadata_error = |source: FormatError| Error::source_metadata(location, source);
    let wanted = options.wanted();
    let fetched = if wanted == Wanted::Newest && !options.is_member {
        Documents::fetch_at_once(&control).await
    } else {
        Documents::fetch_wanted(&control, wanted).await
    };
    let store_error = |source| Error::source_store(location, source);
    let decided = decide(fetched.map_err(store_error)?, location, &control, wanted).await;
    let (mut documents, wanted) = decided.map_err(store_error)?;
    let mut described_by = None;
    if documents.node().map_err(metadata_error)?.is_none()
        && let Some((found, group)) = described_member(&control).await.map_err(store_error)?
    {
        documents = found;
        described_by = Some(group);
    }
    if documents.node().map_err(metadata_error)?.is_none()
        && let Some((found, group)) =
            consolidated::find(&control).await.map_err(|fault| fault.of_source(location))?
    {
        documents = found;
        described_by = Some(group);
    }
    if let Some(Node::Group(format)) = documents.node().map_err(metadata_error)? {
        return Ok(Opened::Group(documents, format));
    }
    let Some(metadata) = documents.array(options.axes).map_err(metadata_error)? else {
        if let Some(format) = Format::of_bare_container(location)
            && control.exists_anything().await.unwrap_or(false)
        {
            // Some writers give the root of a container no document.
            return Ok(Opened::Group(documents, format));
        }
        return Err(nothing_error(location, &control).await);
    };
    let found = DocumentedArray { documents, metadata, wanted, described_by };
    found.open(location, options, store).await.map(Box::new).map(Opened::Array)
}

/// Opens an array whose documents were read before. Those that cannot be used are looked for again.
pub(crate) async fn open_found(
    location: &str,
    options: &OpenOptions,
    documents: Documents,
    stores: &Stores,
) -> Result<OpenArray, Error> {
    let store = open_store(location, stores)?;
    let metadata = match documents.array(options.axes) {
        Ok(Some(metadata)) if metadata.layout().is_ok() => metadata,
        _ => return open_array(location, options, stores).await,
    };
    let wanted = options.wanted();
    let found = DocumentedArray { documents, metadata, wanted, described_by: None };
    found.open(location, options, &store).await
}

/// An array that documents describe.
struct DocumentedArray {
    documents: Documents,
    metadata: Metadata,
    wanted: Wanted,
    described_by: Option<String>,
}

impl DocumentedArray {
    async fn open(
        self,
        location: &str,
        options: &OpenOptions,
        store: &Store,
    ) -> Result<OpenArray, Error> {
        let Self { documents, mut metadata, wanted, described_by } = self;
        let metadata_error = |source: FormatError| Error::source_metadata(location, source);
        let names = names_above(location, options, &metadata, store).await?;
        let is_named_by_group = names.is_some_and(|names| metadata.take_names(&names));
        if store.local_root().is_none() {
            metadata = metadata.into_remote();
        }
        let layout = metadata.layout().map_err(metadata_error)?;
        if let Some(files) = metadata.files() {
            check_blocks(location, files, store).await?;
        }
        let open = OpenArray {
            location: location.to_owned(),
            array: Array::new(layout, store.with_role(Role::Source)),
            metadata,
            identity: documents.identity(),
            packed: None,
            cast: None,
            voxels: None,
            is_carried: false,
            recount: None,
            described_by,
            wanted,
            is_named_by_group,
            region: None,
            left_out: Vec::new(),
            region_options: RegionOptions::default(),
            settled: Box::default(),
        };
        open.read_as_asked(options)
    }
}

/// Names that a group above has for the axes of an array without names of its own. `None` where
/// they are not known, or of no use.
async fn names_above(
    location: &str,
    options: &OpenOptions,
    metadata: &Metadata,
    store: &Store,
) -> Result<Option<AxisNames>, Error> {
    let has_none = metadata.zarr().is_some_and(|array| !has_names(&array.spec));
    if options.names.is_some() || !options.wants_names || !has_none {
        return Ok(options.names.clone());
    }
    dimension_names::names_above(location, store).await
}

/// An array that is one file.
fn opened_file(location: &str, file: SingleFile) -> Result<OpenArray, Error> {
    let layout = file.metadata.layout();
    let layout = layout.map_err(|source| Error::source_metadata(location, source))?;
    Ok(OpenArray {
        location: location.to_owned(),
        array: Array::new(layout, file.folder.with_role(Role::Source)),
        metadata: file.metadata,
        identity: hex(&Sha256::digest(&file.header)),
        packed: file.packed,
        cast: None,
        voxels: None,
        is_carried: false,
        recount: None,
        described_by: None,
        wanted: Wanted::Newest,
        is_named_by_group: false,
        region: None,
        left_out: Vec::new(),
        region_options: RegionOptions::default(),
        settled: Box::default(),
    })
}

/// Opens a store to read from.
pub(crate) fn open_store(location: &str, stores: &Stores) -> Result<Store, Error> {
    let store = stores.open(location).map_err(|source| {
        not_ours::leads_through(location).unwrap_or_else(|| Error::source_store(location, source))
    })?;
    check_is_made(location, &store)?;
    Ok(store)
}
