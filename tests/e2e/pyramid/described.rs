//! Metadata of the images that are written.

use std::path::Path;

use serde_json::{Value, json};

use super::{assert_right, attributes, document, image, place, places, write_group, write_image};
use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, rechunk};
use crate::oracle::available;

const LEVELS: [&str; 2] = ["--factors", "1,1,1,2,2;1,1,2,4,4"];

/// Writes an image and makes a pyramid of it; where that is.
fn pyramid(folder: &Folder, target: &str, options: &[&str]) -> String {
    let (source, target) = (folder.at("image.zarr"), folder.at(target));
    write_image(&source);
    rechunk(&[&["pyramid", &source, &target, "--no-fsync", "-q"][..], options].concat()).ok();
    target
}

/// The levels of the factors above.
fn blocks() -> [(String, Vec<f64>, Vec<f64>); 3] {
    [
        place("s0", &[2.0, 1.0, 2.0, 0.5, 0.25], &[0.0, 0.0, 10.0, -4.0, 3.0]),
        place("s1", &[2.0, 1.0, 2.0, 1.0, 0.5], &[0.0, 0.0, 10.0, -3.75, 3.125]),
        place("s2", &[2.0, 1.0, 4.0, 2.0, 1.0], &[0.0, 0.0, 11.0, -3.25, 3.375]),
    ]
}

#[test]
fn images_of_every_version_say_where_their_levels_lie() {
    let folder = Folder::new();
    let five = pyramid(&folder, "five.zarr", &LEVELS);
    let source = attributes(&folder.at("image.zarr"));
    let said = attributes(&five);
    assert_eq!((&said["ome"]["version"], &said["operator"]), (&json!("0.5"), &json!("somebody")));
    assert_eq!(said["ome"]["omero"], source["ome"]["omero"]);
    let of_five = image(&five);
    assert_eq!(places(&of_five), blocks());
    for key in ["name", "axes"] {
        assert_eq!(of_five[key], source["ome"]["multiscales"][0][key], "{key}");
    }
    for level in ["s0", "s1", "s2"] {
        let names = document(&format!("{five}/{level}/zarr.json"))["dimension_names"].clone();
        assert_eq!(names, json!(["t", "c", "z", "y", "x"]));
    }

    let four = pyramid(&folder, "four.zarr", &[&LEVELS[..], &["--as", "ome-zarr-0.4"]].concat());
    let said = document(&format!("{four}/.zattrs"));
    assert_eq!(said["multiscales"][0]["version"], "0.4");
    assert_eq!(places(&said["multiscales"][0]), blocks());
    assert_eq!(said["omero"]["channels"], source["ome"]["omero"]["channels"]);
    assert_eq!(document(&format!("{four}/s1/.zarray"))["dimension_separator"], "/");

    let six = pyramid(&folder, "six.zarr", &[&LEVELS[..], &["--as", "ome-zarr-0.6"]].concat());
    let of_six = image(&six);
    let system = &of_six["coordinateSystems"][0];
    assert_eq!(system["axes"], of_five["axes"]);
    for (dataset, level) in of_six["datasets"].as_array().unwrap().iter().zip(blocks()) {
        let step = &dataset["coordinateTransformations"][0];
        assert_eq!(step["input"]["path"], level.0);
        assert_eq!(step["output"]["name"], system["name"]);
        assert_eq!(step["transformations"][0]["scale"], json!(level.1));
        assert_eq!(step["transformations"][1]["translation"], json!(level.2));
    }
}

/// Elements that are taken as they are lie where they lay.
#[test]
fn strides_do_not_move() {
    let folder = Folder::new();
    let options = [&LEVELS[..], &["--method", "stride"]].concat();
    let [first, second, third] = blocks();
    let stays = |level: (String, Vec<f64>, Vec<f64>)| (level.0, level.1, first.2.clone());
    let found = places(&image(&pyramid(&folder, "t.zarr", &options)));
    assert_eq!(found, [first.clone(), stays(second), stays(third)]);
}

#[test]
fn a_region_keeps_its_place_and_its_channels() {
    let folder = Folder::new();
    let region = ["--factors", "1,1,1,2,2", "--select", "t=1:2,c=1:3,z=3:8,y=4:30,x=8:40"];
    let target = pyramid(&folder, "t.zarr", &region);
    let [(_, scale, _), (_, coarse, _), _] = blocks();
    assert_eq!(
        places(&image(&target)),
        [
            place("s0", &scale, &[2.0, 1.0, 16.0, -2.0, 5.0]),
            place("s1", &coarse, &[2.0, 1.0, 16.0, -1.75, 5.125]),
        ]
    );
    let shape = |level: &str| document(&format!("{target}/{level}/zarr.json"))["shape"].clone();
    assert_eq!((shape("s0"), shape("s1")), (json!([1, 2, 5, 26, 32]), json!([1, 2, 5, 13, 16])));
    let channels = attributes(&target)["ome"]["omero"]["channels"].clone();
    let labels =
        channels.as_array().map(|list| list.iter().map(|one| &one["label"]).collect::<Vec<_>>());
    assert_eq!(labels, Some(vec![&json!("GFP"), &json!("RFP")]));
}

#[test]
fn bigdataviewer_finds_every_view() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let target = pyramid(&folder, "scan.n5", &LEVELS);
    let job = |source: &str, xml: &str| {
        json!({"do": "bdv", "xml": xml, "source": format!("{source}/s0"),
            "factors": [[1, 1, 1], [1, 2, 2], [2, 4, 4]],
            "voxel": [0.25, 0.5, 2.0], "place": [3.0, -4.0, 10.0], "unit": "micrometer"})
    };
    assert_right(&[job(&folder.at("image.zarr"), &folder.at("scan.xml"))]);
    let timepoint = document(&format!("{target}/setup2/timepoint1/attributes.json"));
    assert_eq!(timepoint, json!({"multiScale": true, "resolution": [0.25, 0.5, 2.0]}));
}

#[test]
fn voxel_sizes_come_back_from_bigdataviewer() {
    let folder = Folder::new();
    let n5 = pyramid(&folder, "scan.n5", &LEVELS);
    for (number, source) in ["setup1", "setup1/timepoint0/s0"].into_iter().enumerate() {
        let target = folder.at(&format!("{number}.zarr"));
        let levels = ["--factors", "1,2,2", "-q"];
        rechunk(&[&["pyramid", &format!("{n5}/{source}"), &target][..], &levels].concat()).ok();
        let scales: Vec<_> = places(&image(&target)).into_iter().map(|level| level.1).collect();
        assert_eq!(scales, [[2.0, 0.5, 0.25], [2.0, 1.0, 0.5]], "{source}");
    }
}

/// Attributes of N5 have the fastest axis first, but for the `transform` of COSEM.
#[test]
fn n5_says_sizes_in_its_own_order() {
    let folder = Folder::new();
    let (zarr, n5) = (folder.at("s.zarr"), folder.at("s.n5"));
    RawArray::v3(&[8, 20, 24], &[4, 8, 8]).of_uint16().write(&zarr);
    rechunk(&["copy", &zarr, &n5, "--codec", "gzip:1", "-q"]).ok();
    let path = format!("{n5}/attributes.json");
    let mut said = document(&path);
    for (key, value) in [
        ("resolution", json!([4.0, 5.0, 40.0])),
        ("units", json!(["nm", "nm", "nm"])),
        ("offset", json!([100.0, 200.0, 300.0])),
    ] {
        said[key] = value;
    }
    write_json(path.as_ref(), &said);
    let levels = ["--factors", "1,2,2;2,4,4", "-q"];
    let target = folder.at("t.zarr");
    rechunk(&[&["pyramid", &n5, &target][..], &levels].concat()).ok();
    let found = image(&target);
    assert_eq!(
        places(&found),
        [
            place("s0", &[40.0, 5.0, 4.0], &[300.0, 200.0, 100.0]),
            place("s1", &[40.0, 10.0, 8.0], &[300.0, 202.5, 102.0]),
            place("s2", &[80.0, 20.0, 16.0], &[320.0, 207.5, 106.0]),
        ]
    );
    assert_eq!(found["axes"][0], json!({"name": "z", "type": "space", "unit": "nanometer"}));

    let viewer = folder.at("viewer.n5");
    let as_viewer = ["--as", "n5-viewer"];
    rechunk(&[&["pyramid", &n5, &viewer][..], &levels, &as_viewer].concat()).ok();
    let group = document(&format!("{viewer}/attributes.json"));
    assert_eq!(group["scales"], json!([[1, 1, 1], [2, 2, 1], [4, 4, 2]]));
    assert_eq!(
        (&group["resolution"], &group["axes"]),
        (&json!([4.0, 5.0, 40.0]), &json!(["x", "y", "z"]))
    );
    let level = document(&format!("{viewer}/s2/attributes.json"));
    assert_eq!(level["downsamplingFactors"], json!([4, 4, 2]));
    assert_eq!(level["pixelResolution"], json!({"dimensions": [4.0, 5.0, 40.0], "unit": "nm"}));
    let transform = &level["transform"];
    assert_eq!(
        (&transform["axes"], &transform["scale"]),
        (&json!(["z", "y", "x"]), &json!([80.0, 20.0, 16.0]))
    );
    assert_eq!(transform["translate"], json!([320.0, 207.5, 106.0]));
    // Level 0 is said by its image now; what it said of itself must not say otherwise.
    let first = document(&format!("{viewer}/s0/attributes.json"));
    assert_eq!(first["transform"]["scale"], json!([40.0, 5.0, 4.0]));
}

/// Writes a raster in UTM, and its attributes on the array or on the group above.
fn write_raster(path: &str, is_grouped: bool) -> String {
    let georeference = json!({
        "spatial:dimensions": ["y", "x"],
        "spatial:transform": [10.0, 0.0, 500_000.0, 0.0, -10.0, 4_500_000.0],
        "spatial:shape": [40, 60],
        "proj:code": "EPSG:32633",
    });
    let array = if is_grouped { format!("{path}/0") } else { path.to_owned() };
    let raw = RawArray::v3(&[40, 60], &[16, 32]);
    raw.write(&array);
    let (name, mut said) = raw.metadata();
    said["dimension_names"] = json!(["y", "x"]);
    if is_grouped {
        let mut group = georeference;
        group["multiscales"] =
            json!({"layout": [{"asset": "0", "transform": {"scale": [1.0, 1.0]}}]});
        write_group(path, &group);
    } else {
        said["attributes"] = georeference;
    }
    write_json(&Path::new(&array).join(name), &said);
    path.to_owned()
}

#[test]
fn a_georeference_is_that_of_the_source() {
    let folder = Folder::new();
    let corner = |region: &[&str], is_grouped: bool| -> Vec<Value> {
        let target = folder.at("t.zarr");
        let _ = std::fs::remove_dir_all(&target);
        let source =
            write_raster(&folder.at(if is_grouped { "group" } else { "array" }), is_grouped);
        let levels = ["--as", "geozarr", "--factors", "2,2;4,4", "-q"];
        rechunk(&[&["pyramid", &source, &target][..], &levels, region].concat()).ok();
        let group = attributes(&target);
        assert_eq!(group["proj:code"], "EPSG:32633", "{region:?} {is_grouped}");
        let layout = group["multiscales"]["layout"].as_array().unwrap();
        let transforms: Vec<_> =
            layout.iter().map(|level| level["spatial:transform"].clone()).collect();
        for (level, transform) in ["s0", "s1", "s2"].iter().zip(&transforms) {
            let own = &attributes(&format!("{target}/{level}"))["spatial:transform"];
            assert!(own.is_null() || own == transform, "{level}: {own}, not {transform}");
        }
        transforms
    };
    let affine = |size: f64, east: f64, north: f64| json!([size, 0.0, east, 0.0, -size, north]);
    for is_grouped in [false, true] {
        let whole = [10.0, 20.0, 40.0].map(|size| affine(size, 500_000.0, 4_500_000.0));
        assert_eq!(corner(&[], is_grouped), whole, "{is_grouped}");
        let cut = [10.0, 20.0, 40.0].map(|size| affine(size, 500_160.0, 4_499_920.0));
        assert_eq!(corner(&["--select", "y=8:40,x=16:60"], is_grouped), cut, "{is_grouped}");
    }
}

/// Bands and times are no axes of the description: each level has them whole.
#[test]
fn a_map_with_times_is_looked_at() {
    let folder = Folder::new();
    let (source, target) = (folder.at("a.zarr"), folder.at("t.zarr"));
    let raw = RawArray::v3(&[3, 64, 64], &[1, 16, 16]);
    raw.write(&source);
    let (name, mut said) = raw.metadata();
    said["dimension_names"] = json!(["time", "y", "x"]);
    write_json(&Path::new(&source).join(name), &said);
    rechunk(&["pyramid", &source, &target, "--as", "geozarr", "--levels", "1", "-q"]).ok();
    let image = &rechunk(&["info", &target, "--json"]).ok().json()["image"];
    assert_eq!(image["levels"][1]["factors"], json!([1.0, 2.0, 2.0]), "{image}");
    assert_eq!(image["problems"], json!([]), "{image}");
}

/// Offsets of coarser scales are those of corners, rounded down.
#[test]
fn volumes_have_the_offset_of_level_0_by_the_factors() {
    let folder = Folder::new();
    let (source, target) = (folder.at("s.zarr"), folder.at("volume"));
    RawArray::v3(&[16, 16, 16], &[8, 8, 8]).of_uint16().write(&source);
    let array = format!("{source}/zarr.json");
    let mut said = document(&array);
    said["attributes"] =
        json!({"resolution": [1, 1, 1], "offset": [3, 8, -3], "units": ["nm", "nm", "nm"]});
    write_json(array.as_ref(), &said);
    let levels = ["--as", "precomputed", "--factors", "2,2,2;4,4,4"];
    rechunk(&[&["pyramid", &source, &target][..], &levels].concat()).ok();
    let scales = document(&format!("{target}/info"))["scales"].clone();
    let offsets = [0, 1, 2].map(|scale| scales[scale]["voxel_offset"].clone());
    assert_eq!(offsets, [json!([-3, 8, 3]), json!([-2, 4, 1]), json!([-1, 2, 0])]);
}
