//! A target in files of raw elements.

use rechunk_format::ElementOrder;
use rechunk_grid::{ArraySpec, DataType};
use rechunk_raw::{RawMetadata, has_nifti_header};
use serde_json::{Map, Value};

use crate::Error;
use crate::attributes::Way;
use crate::axes::NOTE;
use crate::formats::{Fact, Format, Metadata, Wish, has_ending};
use crate::gzip_file::unpacked_name;
use rechunk_words::ChunkSpec;

/// Attribute that has the header of NIfTI.
const NIFTI: &str = "nifti";

/// Endings of files that hold elements alone.
const HEADERLESS: [&str; 4] = ["raw", "bin", "dat", "img"];

/// True if a target of `format` at `location` is one file, which has no chunks.
pub(crate) fn is_one_file(format: Format, location: &str) -> bool {
    name_is_of_file(format, file_name(format, location))
}

fn name_is_of_file(format: Format, name: &str) -> bool {
    match format {
        Format::Nii | Format::Npy => true,
        Format::Raw => HEADERLESS.iter().any(|end| has_ending(name, end)),
        _ => false,
    }
}

/// The last part of `location`, without `.gz` where the file is compressed as a whole afterwards.
fn file_name(format: Format, location: &str) -> &str {
    let location = location.trim_end_matches('/');
    let name = location.rsplit('/').next().unwrap_or(location);
    unpacked_name(name).filter(|_| format == Format::Nii).unwrap_or(name)
}

/// The metadata of a target in files of raw elements.
pub(crate) fn target(wish: &Wish<'_>) -> Result<(Metadata, Vec<String>), Error> {
    let format = wish.format;
    if let Some(codec) = wish.request.codec.as_ref().filter(|codec| !codec.is_none()) {
        return Err(Error::Usage {
            message: format!("--codec {codec}: --format {} has no codecs", format.name()),
            hint: Some("leave it out, or give --format zarr3".into()),
        });
    }
    let name = file_name(format, &wish.request.target);
    let is_file = name_is_of_file(format, name);
    let whole = wish.chunk_shape.iter().zip(&wish.source.spec().shape).all(|(c, n)| c >= n);
    if is_file && wish.request.chunks != ChunkSpec::Keep && !whole {
        return Err(Error::Usage {
            message: format!("--chunks {}: {name} is one file", wish.request.chunks),
            hint: Some(
                "leave --chunks out, or name a directory with --format raw for a file per block"
                    .into(),
            ),
        });
    }
    // A file sets the shape of its slabs itself.
    let chunk_shape = wish.chunk_shape.to_vec();
    let spec = ArraySpec { chunk_shape, edges: None, ..wish.source.spec().clone() };
    let rank = spec.shape.len();
    let order = ElementOrder::c_little(rank);
    let record = record(wish, spec.data_type)?;
    let mut attributes = wish.source.metadata.attributes().clone();
    let axes = wish.axes();
    let source = &wish.source.metadata;
    let way = Way { from: source.format(), to: format, axes };
    let mut warnings = way.carry(&spec, source.attributes(), &mut attributes);
    let metadata = match format {
        Format::Nii => {
            lost(&attributes, &[NIFTI], "NIfTI", &mut warnings);
            if attributes.contains_key(NIFTI)
                && !has_nifti_header(&spec, &attributes, axes.of_nifti())
            {
                warnings.push(format!(
                    "the header in the attribute {NIFTI:?} is not of an array of this shape and type: \
                     the file has one without its sizes of voxels, place, slope and intercept"
                ));
            }
            RawMetadata::nifti(spec, attributes, name, axes.of_nifti())
        }
        Format::Npy => {
            lost(&attributes, &[], "NumPy", &mut warnings);
            RawMetadata::npy(spec, order, record, name)
        }
        _ if is_file => {
            let text = format!(
                "{name} has no header: read it with --raw-shape {} --raw-dtype {}",
                spec.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
                spec.data_type.name(),
            );
            warnings.push(text);
            lost(&attributes, &[], "a file of elements alone", &mut warnings);
            RawMetadata::headerless(spec, order, record, 0, name)
        }
        _ => RawMetadata::blocks(spec, order, record)
            .map(|metadata| RawMetadata { attributes, ..metadata }),
    };
    let metadata = metadata.map_err(Error::target_metadata)?;
    Ok((Metadata::Raw(Box::new(metadata)), warnings))
}

/// Says which attributes of the user's a format has no place for.
fn lost(attributes: &Map<String, Value>, kept: &[&str], what: &str, warnings: &mut Vec<String>) {
    let names: Vec<String> = attributes
        .keys()
        .filter(|name| !kept.contains(&name.as_str()) && *name != NOTE)
        .map(|name| format!("{name:?}"))
        .collect();
    if !names.is_empty() {
        warnings.push(format!("{what} has no place for the attributes {}", names.join(", ")));
    }
}

/// The fields of a record, as Zarr v2 and NumPy spell them.
fn record(wish: &Wish<'_>, data_type: DataType) -> Result<Option<Value>, Error> {
    if !matches!(data_type, DataType::Structured { .. }) {
        return Ok(None);
    }
    let source = wish.source.metadata.format();
    if source.has(Fact::NumpyRecords) {
        return Ok(wish.source.metadata.record());
    }
    Err(Error::Usage {
        message: format!("records of {} are not written to files of raw elements", source.name()),
        hint: Some("copy the array to --format zarr2 first".into()),
    })
}
