//! Facts about a format, which the facade asks for in place of its name.

use rechunk_format::FormatError;
use rechunk_zarr::ZarrVersion;

/// Facts about one format. Functions that need the metadata are in its
/// [`Schema`](super::schema::Schema) and in [`specified`](super::specified).
#[derive(Debug)]
pub(crate) struct Row {
    /// The name people use for it.
    pub name: &'static str,
    /// Name for people, without the version: `a Zarr`.
    pub with_article: &'static str,
    /// Formats of one family take an attribute of a name for the same.
    pub family: &'static str,
    /// Documents that it is recognised by.
    pub keys: Keys,
    /// Ending of the names of containers of arrays; `None` if there are no containers, and no
    /// groups.
    pub container_ending: Option<&'static str>,
    /// Ending of the names of files that are one array.
    pub file_ending: Option<&'static str>,
    /// The version, if it is Zarr: that of its consolidated metadata.
    pub zarr_version: Option<ZarrVersion>,
    /// Refuses the text of a codec that it does not have.
    pub check_codec: fn(&str) -> Result<(), FormatError>,
    /// All that is true of it.
    pub facts: &'static [Fact],
}

/// Keys of the documents of an array or a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys {
    /// The document that makes a place an array, and a group too where there is no other.
    pub node: &'static str,
    /// The document that makes a place a group, where that is another one.
    pub group: Option<&'static str>,
    /// The document with the attributes, where that is another one.
    pub attributes: Option<&'static str>,
}

impl Keys {
    /// All of them.
    pub(crate) fn all(self) -> impl Iterator<Item = &'static str> {
        [Some(self.node), self.group, self.attributes].into_iter().flatten()
    }
}

/// A property that formats differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fact {
    /// It counts axes fastest first.
    FastestFirst,
    /// Some attributes belong to axes, and list them in its order.
    AxisAttributes,
    /// Its readers take some names of attributes for something of their own.
    ReservedNames,
    /// Its metadata has a field for the names of dimensions.
    DimensionNames,
    /// Not all its readers take `NaN` and infinities in attributes.
    StrictJson,
    /// Groups may have fields beyond the specification.
    GroupFields,
    /// A directory without a document is a group.
    BareGroups,
    /// Consolidated metadata is a document beside that of the group.
    ConsolidatedBeside,
    /// Chunks lie in shards where that is asked for.
    Shards,
    /// Chunks, or shards, may differ in length along an axis.
    ChunkLengths,
    /// Results can go into an array that is there, which keeps its shape.
    InPlace,
    /// A group of it is one image: its arrays are levels, which its document lists.
    Levels,
    /// Attributes say what elements mean: units, missing values.
    Meaning,
    /// An array that is there can become longer.
    Growth,
    /// Programs are known that put the blocks of its directories into one (`0.1`).
    FlatBlocks,
    /// A file of it may be compressed as a whole.
    PackedFiles,
    /// Size and place of voxels are fields of its own, which every array has.
    VoxelFields,
    /// It may lie in ZIP files.
    InZipFiles,
    /// An image of it may be one file, by RFC-9 of OME-Zarr.
    OneFileImages,
    /// Fields of a record are spelled as NumPy spells them.
    NumpyRecords,
}
