//! Places that hold something else: the error names it and says what to do, whatever command was
//! asked.

use std::fs;
use std::path::Path;

use crate::arrays::write_json;
use crate::harness::{Folder, rechunk};

/// A file of these first bytes, behind which others follow.
fn file(folder: &Folder, name: &str, offset: usize, bytes: &[u8]) -> String {
    let path = folder.at(name);
    fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
    fs::write(&path, [&vec![0; offset][..], bytes, &[0, 1, 2, 255].repeat(100)].concat()).unwrap();
    path
}

/// Every command names it with exit code 3.
#[track_caller]
fn is_named(place: &str, name: &str, hint: &str) {
    let folder = Folder::new();
    let target = folder.at("t.zarr");
    let commands: [&[&str]; 4] = [
        &["info", place],
        &["copy", place, &target],
        &["plan", place, &target],
        &["verify", place, place],
    ];
    for command in commands {
        let done = rechunk(command).ends_with(3).says(&[place, name, hint]);
        assert!(!done.stderr.contains("none of zarr.json"), "{}", done.stderr);
        assert!(!Path::new(&target).exists());
    }
}

#[test]
fn files_of_other_formats_are_named() {
    let folder = Folder::new();
    let table: [(&str, usize, &[u8], &str, &str); 16] = [
        ("a.h5", 0, b"\x89HDF\r\n\x1a\n", "HDF5 or NetCDF-4", "VirtualiZarr"),
        ("user_block.h5", 512, b"\x89HDF\r\n\x1a\n", "HDF5 or NetCDF-4", "kerchunk"),
        ("no_ending", 0, b"\x89HDF\r\n\x1a\n", "HDF5 or NetCDF-4", "kerchunk"),
        ("classic.nc", 0, b"CDF\x01\0\0\0\0", "NetCDF-3", "kerchunk"),
        ("offset.nc", 0, b"CDF\x02\0\0\0\0", "NetCDF-3", "kerchunk"),
        ("f.grib2", 0, b"GRIB\0\0\0\x02", "GRIB", "kerchunk"),
        ("i.tif", 0, b"II*\0\x08\0\0\0", "TIFF", "VirtualiZarr"),
        ("i.btf", 0, b"MM\0+\0\x08", "BigTIFF", "VirtualiZarr"),
        ("x0.wkw", 0, b"WKW\x01\x55", "WKW", "webknossos"),
        ("t.parquet", 0, b"PAR1\x15", "Parquet", "tables"),
        ("z.npz", 0, b"PK\x03\x04", "ZIP", ".zip"),
        ("packed.gz", 0, b"\x1f\x8b\x08", "gzip", "unpack"),
        ("i.nii.other", 344, b"n+1\0", "NIfTI", ".nii"),
        ("page.html", 0, b"<!DOCTYPE html><html></html>\n", "HTML", "page"),
        ("snapshot", 0, "ICE🧊CHUNKic-2.1".as_bytes(), "Icechunk", "repository"),
        ("f.fits", 0, b"SIMPLE  =                    T", "FITS", "VirtualiZarr"),
    ];
    for (name, offset, bytes, named, hint) in table {
        let path = match name {
            // Nothing but text.
            "page.html" => {
                let path = folder.at(name);
                fs::write(&path, bytes).unwrap();
                path
            }
            _ => file(&folder, name, offset, bytes),
        };
        is_named(&path, named, hint);
    }
    for (name, text, named) in [
        ("t.csv", "time,value\n1,2\n3,4\n", "CSV"),
        ("a.txt", "nothing to see here\n", "text"),
        ("a.xml", "<?xml version=\"1.0\"?><OME/>\n", "XML"),
        ("a.geo", "{\"type\": \"FeatureCollection\"}\n", "JSON"),
        ("a.tsv", "a\tb\n1\t2\n", "CSV"),
    ] {
        fs::write(folder.at(name), text).unwrap();
        is_named(&folder.at(name), named, "");
    }
    // A path into a file, as if it were a directory.
    let inside = format!("{}/group/temperature", folder.at("a.h5"));
    is_named(&inside, "HDF5", "kerchunk");
    // A file of elements alone is none of them.
    let elements = file(&folder, "e.raw", 0, &[7, 200, 3, 4]);
    rechunk(&["info", &elements]).ends_with(3).says(&["--raw-shape"]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn directories_of_other_formats_are_named() {
    type Fill = fn(&Folder, &str);
    let table: [(&str, Fill, &str, &str); 13] = [
        (
            "icechunk of version 2",
            |folder, place| {
                drop(file(folder, &format!("{place}/repo"), 0, "ICE🧊CHUNK".as_bytes()));
            },
            "Icechunk repository",
            "versions 1 and 2 are read",
        ),
        (
            "icechunk of version 1",
            |folder, place| {
                let path = folder.at(&format!("{place}/refs/branch.main/ref.json"));
                write_json(Path::new(&path), &serde_json::json!({"snapshot": "ABC"}));
            },
            "Icechunk repository",
            "does not name a snapshot",
        ),
        (
            "icechunk without a main branch",
            |folder, place| {
                for name in ["snapshots/A", "manifests/B", "chunks/C"] {
                    file(folder, &format!("{place}/{name}"), 0, b"x");
                }
            },
            "Icechunk repository",
            "#branch=main",
        ),
        (
            "mesh",
            |folder, place| {
                let info = serde_json::json!({
                    "@type": "neuroglancer_multilod_draco"
                });
                write_json(Path::new(&folder.at(&format!("{place}/info"))), &info);
            },
            "meshes, skeletons or properties of Neuroglancer",
            "in the directory above",
        ),
        (
            "annotations",
            |folder, place| {
                let info = serde_json::json!({"@type": "neuroglancer_annotations_v1"});
                write_json(Path::new(&folder.at(&format!("{place}/info"))), &info);
            },
            "annotations of Neuroglancer",
            "convert",
        ),
        (
            "wkw",
            |folder, place| {
                file(folder, &format!("{place}/header.wkw"), 0, b"WKW\x01\x55");
                file(folder, &format!("{place}/z0/y0/x0.wkw"), 0, b"WKW\x01\x55");
            },
            "WKW",
            "webknossos",
        ),
        (
            "a webknossos dataset",
            |folder, place| {
                let path = folder.at(&format!("{place}/datasource-properties.json"));
                write_json(Path::new(&path), &serde_json::json!({"dataLayers": []}));
                file(folder, &format!("{place}/color/1/header.wkw"), 0, b"WKW\x01\x55");
            },
            "webknossos",
            "convert",
        ),
        (
            "zarr 1",
            |folder, place| {
                let meta = serde_json::json!({"zarr_format": 1, "shape": [4], "chunks": [2]});
                write_json(Path::new(&folder.at(&format!("{place}/meta"))), &meta);
                write_json(
                    Path::new(&folder.at(&format!("{place}/attrs"))),
                    &serde_json::json!({}),
                );
                file(folder, &format!("{place}/0"), 0, b"x");
            },
            "Zarr version 1",
            "migrate_1to2",
        ),
        (
            "a draft of zarr 3",
            |folder, place| {
                let entry = serde_json::json!({
                    "zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
                    "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0",
                    "metadata_key_suffix": ".json", "extensions": []
                });
                write_json(Path::new(&folder.at(&format!("{place}/zarr.json"))), &entry);
                file(folder, &format!("{place}/meta/root/a.array.json"), 0, b"{}");
            },
            "draft of Zarr version 3",
            "zarr-python",
        ),
        (
            "tiledb",
            |folder, place| {
                for name in ["__schema/__1_1_a", "__fragments/__1_1_b/d0.tdb"] {
                    file(folder, &format!("{place}/{name}"), 0, b"x");
                }
            },
            "TileDB",
            "convert",
        ),
        (
            "netcdf files",
            |folder, place| {
                for name in ["1.nc", "2.nc", "3.nc", "4.nc"] {
                    file(folder, &format!("{place}/{name}"), 0, b"\x89HDF\r\n\x1a\n");
                }
            },
            "a directory of HDF5 or NetCDF-4 files",
            "kerchunk",
        ),
        (
            "slices",
            |folder, place| {
                for name in ["z0.tif", "z1.tif"] {
                    file(folder, &format!("{place}/{name}"), 0, b"II*\0\x08\0\0\0");
                }
            },
            "a directory of TIFF files",
            "VirtualiZarr",
        ),
        (
            "wkw without a header",
            |folder, place| drop(file(folder, &format!("{place}/z0/y0/x0.wkw"), 0, b"WKW\x01\x55")),
            "WKW",
            "webknossos",
        ),
    ];
    let folder = Folder::new();
    for (place, fill, named, hint) in table {
        fill(&folder, place);
        is_named(&folder.at(place), named, hint);
    }
    // Nothing that is known.
    file(&folder, "other/readme", 0, &[200, 1]);
    rechunk(&["info", &folder.at("other")]).ends_with(3).says(&["none of zarr.json"]);
    rechunk(&["info", &folder.at("nothing")]).ends_with(3).says(&["nothing at this location"]);
}
