//! Zarr v2 and v3 as a format: metadata and codecs. Pure.
