//! Keys of OME-Zarr, and names of the Zarr conventions.

use serde_json::{Map, Value, json};

/// Keys that stand under `ome` from 0.5 on, and at the top before.
pub(crate) const OME_KEYS: [&str; 8] = [
    "multiscales",
    "omero",
    "labels",
    "image-label",
    "plate",
    "well",
    "bioformats2raw.layout",
    "series",
];

/// Keys of which the value says its version up to 0.4.
pub(crate) const VERSIONED_KEYS: [&str; 4] = ["omero", "image-label", "plate", "well"];

/// A Zarr convention that attributes are registered under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Convention {
    Multiscales,
    Spatial,
    Proj,
}

impl Convention {
    fn uuid(self) -> &'static str {
        match self {
            Self::Multiscales => "d35379db-88df-4056-af3a-620245f8e347",
            Self::Spatial => "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4",
            Self::Proj => "f17cb550-5864-4468-aeb7-f3180cfb622f",
        }
    }

    fn entry(self) -> Value {
        let (repository, name, description) = match self {
            Self::Multiscales => {
                ("multiscales", "multiscales", "Multiscale layout of zarr datasets")
            }
            Self::Spatial => ("spatial", "spatial", "Spatial coordinate information"),
            Self::Proj => {
                ("proj", "proj", "Coordinate reference system information for geospatial data")
            }
        };
        let raw = "https://raw.githubusercontent.com/zarr-conventions";
        json!({
            "schema_url": format!("{raw}/{repository}/refs/tags/v0.1/schema.json"),
            "spec_url": format!(
                "https://github.com/zarr-conventions/{repository}/blob/v0.1/README.md"
            ),
            "uuid": self.uuid(),
            "name": name,
            "description": description,
        })
    }
}

/// Registers conventions in `zarr_conventions`, unless they are there.
pub(crate) fn register(attributes: &mut Map<String, Value>, conventions: &[Convention]) {
    let mut list = match attributes.get("zarr_conventions") {
        Some(Value::Array(list)) => list.clone(),
        _ => Vec::new(),
    };
    for convention in conventions {
        let is_it =
            |entry: &Value| entry.get("uuid").and_then(Value::as_str) == Some(convention.uuid());
        if !list.iter().any(is_it) {
            list.push(convention.entry());
        }
    }
    attributes.insert("zarr_conventions".to_owned(), Value::Array(list));
}
