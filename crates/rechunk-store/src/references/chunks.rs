//! The chunks of an array in a directory of references: their names, and their numbers in its
//! files.

use super::fault::Fault;
use super::json::{Json, Kind};
use super::limits::{DOCUMENT_BYTES_MAX, KEY_BYTES_MAX};

/// Most axes of an array.
const AXES_MAX: usize = 64;

/// Message about arrays of Zarr v3.
pub(super) const NOT_V2: &str = "it is an array of Zarr v3: references in Parquet are read to arrays of Zarr v2 \
                                 alone; write these as JSON";

/// The chunks of an array.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    /// Number of chunks along each axis.
    counts: Vec<u64>,
    /// Separator of the indices in a name.
    separator: Separator,
}

#[derive(Debug, Clone, Copy, Default)]
enum Separator {
    #[default]
    Dot,
    Slash,
}

impl Separator {
    fn text(self) -> &'static str {
        match self {
            Self::Dot => ".",
            Self::Slash => "/",
        }
    }
}

impl Chunks {
    /// Those of the array that a `.zarray` describes.
    pub(super) fn read(key: &str, document: &[u8]) -> Result<Self, Fault> {
        let wrong =
            || Fault::value(key, "its shape and its chunks are no lists of sizes, equally long");
        let mut json = Json::new(document);
        let (mut name, mut is_first) = (String::new(), true);
        let (mut shape, mut chunks, mut separator) = (None, None, Separator::Dot);
        if json.kind()? != Kind::Object {
            return Err(Fault::value(key, "it is no object of JSON"));
        }
        json.begin(b'{')?;
        while json.more(b'}', is_first)? {
            is_first = false;
            json.name(&mut name, KEY_BYTES_MAX)?;
            match (name.as_str(), json.kind()?) {
                ("shape", Kind::List) => shape = Some(sizes(&mut json, key)?),
                ("chunks", Kind::List) => chunks = Some(sizes(&mut json, key)?),
                ("shape" | "chunks", _) => return Err(wrong()),
                ("dimension_separator", Kind::String) => {
                    json.string(&mut name, KEY_BYTES_MAX)?;
                    separator = match name.as_str() {
                        "." => Separator::Dot,
                        "/" => Separator::Slash,
                        _ => {
                            return Err(Fault::value(key, "its dimension_separator is not . or /"));
                        }
                    };
                }
                _ => json.raw(&mut Vec::new(), DOCUMENT_BYTES_MAX)?,
            }
        }
        let (shape, chunks) = shape.zip(chunks).ok_or_else(wrong)?;
        if shape.len() != chunks.len() || chunks.contains(&0) {
            return Err(wrong());
        }
        let counts = shape.iter().zip(&chunks).map(|(extent, chunk)| extent.div_ceil(*chunk));
        Ok(Self { counts: counts.collect(), separator })
    }

    /// Number of all chunks.
    pub(super) fn count(&self) -> u64 {
        self.counts.iter().fold(1_u64, |all, &count| all.saturating_mul(count))
    }

    /// The number of the chunk `1.0.2`, in C order; `None` if there is no such chunk.
    pub(super) fn ravel(&self, chunk: &str) -> Option<u64> {
        if self.counts.is_empty() {
            return (chunk == "0").then_some(0);
        }
        let mut number = 0_u64;
        let mut indices = chunk.split(self.separator.text());
        for &count in &self.counts {
            let text = indices.next()?;
            // A chunk has one name.
            let is_plain = text == "0" || !text.starts_with(['0', '+']);
            let index: u64 = text.parse().ok().filter(|&index| is_plain && index < count)?;
            number = number.checked_mul(count)?.checked_add(index)?;
        }
        indices.next().is_none().then_some(number)
    }

    /// The name of a chunk by its number.
    pub(super) fn unravel(&self, number: u64) -> String {
        let mut rest = number;
        let mut indices: Vec<String> = Vec::new();
        for &count in self.counts.iter().rev() {
            indices.push((rest % count.max(1)).to_string());
            rest /= count.max(1);
        }
        indices.reverse();
        if indices.is_empty() { "0".to_owned() } else { indices.join(self.separator.text()) }
    }
}

fn sizes(json: &mut Json<&[u8]>, key: &str) -> Result<Vec<u64>, Fault> {
    let mut sizes = Vec::new();
    json.begin(b'[')?;
    while json.more(b']', sizes.is_empty())? {
        if sizes.len() == AXES_MAX {
            return Err(Fault::value(key, "it has too many axes"));
        }
        sizes.push(json.unsigned(key)?);
    }
    Ok(sizes)
}

/// Whether a `zarr.json` is of an array, and not of a group.
pub(super) fn is_array_v3(document: &[u8]) -> bool {
    let mut json = Json::new(document);
    let (mut name, mut is_first) = (String::new(), true);
    let mut find = || {
        json.begin(b'{')?;
        while json.more(b'}', is_first)? {
            is_first = false;
            json.name(&mut name, KEY_BYTES_MAX)?;
            if name == "node_type" && json.kind()? == Kind::String {
                json.string(&mut name, KEY_BYTES_MAX)?;
                return Ok(name == "array");
            }
            json.raw(&mut Vec::new(), DOCUMENT_BYTES_MAX)?;
        }
        Ok::<_, Fault>(false)
    };
    find().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_numbered_in_c_order() {
        for separator in [Separator::Dot, Separator::Slash] {
            let of = |counts: &[u64]| Chunks { counts: counts.to_vec(), separator };
            let named = |name: &str| name.replace('.', separator.text());
            let chunks = of(&[2, 3, 4]);
            for number in 0..24 {
                assert_eq!(chunks.ravel(&chunks.unravel(number)), Some(number));
            }
            assert_eq!(chunks.ravel(&named("1.2.3")), Some(23));
            for chunk in ["2.0.0", "0.0", "0.0.0.0", "00.0.0", "+1.0.0", "a.0.0", "", "0-0-0"] {
                assert_eq!(chunks.ravel(&named(chunk)), None, "{chunk}");
            }
            let many = of(&[u64::MAX, u64::MAX]);
            assert_eq!(many.ravel(&named("1.18446744073709551614")), None, "beyond counting");
            assert_eq!((of(&[]).ravel("0"), of(&[]).ravel("1")), (Some(0), None));
        }
        let dots = Chunks { counts: vec![1, 1], separator: Separator::Dot };
        assert_eq!(dots.ravel("0/0"), None);
    }
}
