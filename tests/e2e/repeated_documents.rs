//! Attributes and documents that repeat what arrays say: they are so afterwards too.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, rechunk};
use crate::oracle::{World, ask, available};

fn document(root: &str, path: &str) -> Value {
    serde_json::from_slice(&fs::read(Path::new(root).join(path)).unwrap()).unwrap()
}

/// An array of Zarr v2 with names of its axes, and more attributes.
#[expect(clippy::needless_pass_by_value, reason = "made for the call")]
fn named(root: &str, path: &str, shape: &[u64], names: &[&str], more: Value) {
    let place = format!("{root}/{path}");
    RawArray::v2(shape, &vec![2; shape.len()]).of_uint16().write(&place);
    let mut attributes = json!({"_ARRAY_DIMENSIONS": names});
    attributes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    write_json(&Path::new(&place).join(".zattrs"), &attributes);
}

fn group(root: &str, path: &str, attributes: &Value) {
    let place = Path::new(root).join(path);
    fs::create_dir_all(&place).unwrap();
    write_json(&place.join(".zgroup"), &json!({"zarr_format": 2}));
    write_json(&place.join(".zattrs"), attributes);
}

/// As netCDF-C writes it.
fn nczarr(root: &str, days: u64) {
    let references = |names: &[&str]| json!({"_nczarr_array": {"dimension_references": names, "storage": "chunked"}});
    group(
        root,
        "",
        &json!({
            "_nczarr_group": {"dimensions": {"time": {"size": days, "unlimited": 1}, "lat": 4},
                              "arrays": ["time", "tas"], "groups": ["g"]},
            "_nczarr_superblock": {"version": "2.0.0"},
        }),
    );
    group(
        root,
        "g",
        &json!({"_nczarr_group": {"dimensions": {"x": 6}, "arrays": ["v"], "groups": []}}),
    );
    named(root, "time", &[days], &["time"], references(&["/time"]));
    named(root, "tas", &[days, 4], &["time", "lat"], references(&["/time", "/lat"]));
    named(root, "g/v", &[days, 6], &["time", "x"], references(&["/time", "/g/x"]));
}

fn consolidate(root: &str, groups: &[(&str, &[&str])]) {
    for (group, members) in groups {
        let place = Path::new(root).join(group);
        let mut metadata = serde_json::Map::new();
        for member in members.iter().chain(&[""]) {
            for key in [".zgroup", ".zarray", ".zattrs"] {
                let key =
                    if member.is_empty() { key.to_owned() } else { format!("{member}/{key}") };
                if let Ok(bytes) = fs::read(place.join(&key)) {
                    metadata.insert(key, serde_json::from_slice(&bytes).unwrap());
                }
            }
        }
        let document = json!({"zarr_consolidated_format": 1, "metadata": metadata});
        write_json(&place.join(".zmetadata"), &document);
    }
}

#[test]
fn nczarr_groups_follow_what_grows_and_what_is_cut() {
    let folder = Folder::new();
    let [archive, more] = [folder.at("archive.zarr"), folder.at("more.zarr")];
    nczarr(&archive, 3);
    nczarr(&more, 2);
    consolidate(&archive, &[("", &["time", "tas", "g", "g/v"]), ("g", &["v"])]);
    let cut = folder.at("cut.zarr");
    let select = ["copy", &archive, &cut, "--format", "zarr2", "--select", "time=1:3,lat=0:2,x=4"];
    let done = rechunk(&select).ok();
    assert!(!done.stderr.contains("warning"), "{}", done.stderr);
    let dimensions =
        |root: &str, path: &str| document(root, path)["_nczarr_group"]["dimensions"].clone();
    let root_of_cut = json!({"time": {"size": 2, "unlimited": 1}, "lat": 2});
    assert_eq!(dimensions(&cut, ".zattrs"), root_of_cut);
    assert_eq!(dimensions(&cut, "g/.zattrs"), json!({"x": 1}));
    let consolidated = |root: &str, place: &str, path: &str| {
        document(root, &format!("{place}.zmetadata"))["metadata"][path].clone()
    };
    assert_eq!(consolidated(&cut, "", ".zattrs")["_nczarr_group"]["dimensions"], root_of_cut);
    // A group in a group had consolidated metadata of its own, and has it again.
    assert_eq!(consolidated(&cut, "g/", "v/.zarray")["shape"], json!([2, 1]));
    assert_eq!(consolidated(&cut, "g/", ".zattrs")["_nczarr_group"]["dimensions"], json!({"x": 1}));

    rechunk(&["copy", &more, &archive, "--append", "time", "--trust", "time"]).ok();
    let grown = json!({"time": {"size": 5, "unlimited": 1}, "lat": 4});
    assert_eq!(dimensions(&archive, ".zattrs"), grown);
    assert_eq!(consolidated(&archive, "", ".zattrs")["_nczarr_group"]["dimensions"], grown);
    assert_eq!(consolidated(&archive, "", "tas/.zarray")["shape"], json!([5, 4]));
    assert_eq!(consolidated(&archive, "g/", "v/.zarray")["shape"], json!([5, 6]));
    assert_eq!(document(&archive, ".zattrs")["_nczarr_superblock"]["version"], json!("2.0.0"));

    // One array alone: the group says what the longest array has.
    rechunk(&[
        "copy",
        &format!("{more}/tas"),
        &format!("{archive}/tas"),
        "--append",
        "time",
        "--trust",
        "time",
    ])
    .ok();
    assert_eq!(dimensions(&archive, ".zattrs")["time"]["size"], json!(7));
    assert_eq!(
        consolidated(&archive, "", ".zattrs")["_nczarr_group"]["dimensions"]["time"]["size"],
        json!(7)
    );

    // Members that are left out are not named.
    let part = folder.at("part.zarr");
    rechunk(&["copy", &archive, &part, "--format", "zarr2", "--exclude", "tas", "--exclude", "g"])
        .ok()
        .says(&["_nczarr_group.arrays", "tas", "_nczarr_group.groups"]);
    let found = document(&part, ".zattrs");
    assert_eq!(found["_nczarr_group"]["arrays"], json!(["time"]));
    assert_eq!(found["_nczarr_group"]["groups"], json!([]));
}

/// NetCDF-C up to 4.9 has its sizes in the documents that make groups.
#[test]
fn older_nczarr_groups_grow_too() {
    let folder = Folder::new();
    let [archive, more] = [folder.at("archive.zarr"), folder.at("more.zarr")];
    for (root, days) in [(&archive, 3), (&more, 2)] {
        group(root, "", &json!({}));
        named(root, "tas", &[days, 4], &["time", "lat"], json!({}));
        write_json(
            &Path::new(root).join(".zgroup"),
            &json!({
                "zarr_format": 2,
                "_NCZARR_GROUP": {"dims": {"time": days, "lat": 4}, "vars": ["tas"], "groups": []},
            }),
        );
        let place = Path::new(root).join("tas/.zarray");
        let mut array = document(root, "tas/.zarray");
        array["_NCZARR_ARRAY"] = json!({"dimrefs": ["/time", "/lat"], "storage": "chunked"});
        write_json(&place, &array);
    }
    for (source, target, days) in
        [(more.clone(), archive.clone(), 5), (format!("{more}/tas"), format!("{archive}/tas"), 7)]
    {
        rechunk(&["copy", &source, &target, "--append", "time"]).ok();
        let found = document(&archive, ".zgroup");
        assert_eq!(found["_NCZARR_GROUP"]["dims"], json!({"time": days, "lat": 4}));
        assert_eq!(found["zarr_format"], json!(2));
    }
}

/// netCDF-C opens arrays that have grown, and those that were cut.
#[test]
fn netcdf_c_opens_what_has_grown_and_what_was_cut() {
    if !available() {
        return;
    }
    if !World::New.is_installed() {
        println!("SKIPPED: no netCDF-C opens this; tests/oracle/setup.sh new installs it");
        return;
    }
    let folder = Folder::new();
    let ask = |arguments: &[&str]| ask(World::New, "tests/oracle/nczarr.py", arguments);
    let [archive, more, cut] =
        ["archive.zarr", "more.zarr", "cut.zarr"].map(|name| folder.at(name));
    ask(&["make", &archive, "0", "3"]);
    ask(&["make", &more, "3", "2"]);
    rechunk(&["copy", &archive, &cut, "--format", "zarr2", "--select", "time=1:3,lat=0:2"]).ok();
    assert_eq!(ask(&["read", &cut]), json!({"time": [1.0, 2.0], "tas": [[5.0, 6.0], [9.0, 10.0]]}));
    rechunk(&["copy", &more, &archive, "--append", "time", "--trust", "time"]).ok();
    let found = ask(&["read", &archive]);
    assert_eq!(found["time"], json!([0.0, 1.0, 2.0, 3.0, 4.0]));
    assert_eq!(found["tas"].as_array().unwrap().len(), 5);
}

/// A raster of GeoZarr in levels, with a grid mapping as rioxarray writes it.
#[test]
fn rasters_are_where_they_are() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    let level = |shape: [u64; 2], step: f64| {
        json!({"spatial:dimensions": ["y", "x"], "spatial:shape": shape,
               "spatial:transform": [step, 0.0, 500_000.0, 0.0, -step, 9000.0]})
    };
    let mut fine = level([40, 60], 10.0);
    fine["spatial:bbox"] = json!([500_000.0, 8600.0, 500_600.0, 9000.0]);
    fine["proj:code"] = json!("EPSG:32632");
    group(
        &source,
        "",
        &json!({"multiscales": {"layout": [
            {"asset": "r10", "spatial:shape": [40, 60]},
            {"asset": "r20", "spatial:shape": [20, 30]},
        ]}}),
    );
    group(&source, "r10", &fine);
    group(&source, "r20", &level([20, 30], 20.0));
    named(&source, "r10/red", &[40, 60], &["y", "x"], json!({"grid_mapping": "spatial_ref"}));
    named(&source, "r20/red", &[20, 30], &["y", "x"], json!({}));
    let mapping = Path::new(&source).join("r10/spatial_ref");
    fs::create_dir_all(&mapping).unwrap();
    write_json(
        &mapping.join(".zarray"),
        &json!({"zarr_format": 2, "shape": [], "chunks": [], "dtype": "<i4", "compressor": null,
                "fill_value": 0, "order": "C", "filters": null}),
    );
    fs::write(mapping.join("0"), [0; 4]).unwrap();
    let transform = "500000.0 10.0 0.0 9000.0 0.0 -10.0";
    let attributes = json!({"_ARRAY_DIMENSIONS": [], "GeoTransform": transform});
    write_json(&mapping.join(".zattrs"), &attributes);
    let cut = folder.at("cut.zarr");
    let select = ["--format", "zarr2", "--select", "y=10:20,x=6:9"];
    let done = rechunk(&[&["copy", &source, &cut][..], &select].concat()).ok();
    assert!(!done.stderr.contains("not changed"), "{}", done.stderr);
    let found = document(&cut, "r10/.zattrs");
    assert_eq!(found["spatial:shape"], json!([10, 3]));
    assert_eq!(found["spatial:transform"], json!([10.0, 0.0, 500_060.0, 0.0, -10.0, 8900.0]));
    assert_eq!(found["spatial:bbox"], json!([500_060.0, 8800.0, 500_090.0, 8900.0]));
    assert_eq!(found["proj:code"], json!("EPSG:32632"));
    let found = document(&cut, "r20/.zattrs");
    assert_eq!(found["spatial:transform"], json!([20.0, 0.0, 500_120.0, 0.0, -20.0, 8800.0]));
    let found = document(&cut, "r10/spatial_ref/.zattrs");
    assert_eq!(found["GeoTransform"], json!("500060.0 10.0 0.0 8900.0 0.0 -10.0"));
    let layout = &document(&cut, ".zattrs")["multiscales"]["layout"];
    assert_eq!(layout[1], json!({"asset": "r20", "spatial:shape": [10, 3]}));

    let part = folder.at("part.zarr");
    let done = rechunk(&["copy", &source, &part, "--format", "zarr2", "--exclude", "r20"]).ok();
    done.says(&["multiscales.layout", "r20"]);
    let layout = document(&part, ".zattrs")["multiscales"]["layout"].clone();
    assert_eq!(layout, json!([{"asset": "r10", "spatial:shape": [40, 60]}]));
    let found = document(&part, "r10/.zattrs");
    assert_eq!(found["spatial:shape"], json!([40, 60]));
    // One array alone, with its own transform.
    let alone = folder.at("alone.zarr");
    let array = format!("{source}/r10/red");
    let mut attributes = level([40, 60], 10.0);
    attributes["_ARRAY_DIMENSIONS"] = json!(["y", "x"]);
    attributes["proj:bbox"] = json!([7.0, 48.0, 8.0, 49.0]);
    attributes["proj:transform"] = json!([10, 0, 500_000, 0, -10, 9000]);
    write_json(&Path::new(&array).join(".zattrs"), &attributes);
    rechunk(&["copy", &array, &alone, "--format", "zarr3", "--select", "y=1:3"])
        .ok()
        .says(&["the attributes: proj:bbox no longer say where the raster is"]);
    let found = &document(&alone, "zarr.json")["attributes"];
    assert_eq!(found["spatial:shape"], json!([2, 60]));
    assert_eq!(found["proj:transform"], json!([10, 0, 500_000, 0, -10, 8990]));
}

/// Lists in the attributes of an OME-Zarr plate, its wells, images and labels.
#[test]
fn lists_of_members_follow_what_is_left_out() {
    let folder = Folder::new();
    let source = folder.at("plate.zarr");
    group(
        &source,
        "",
        &json!({"plate": {"version": "0.4", "wells": [
        {"path": "A/1", "rowIndex": 0}, {"path": "A/2", "rowIndex": 0}]}}),
    );
    group(&source, "A", &json!({}));
    for well in ["A/1", "A/2"] {
        group(&source, well, &json!({"well": {"images": [{"path": "0"}, {"path": "1"}]}}));
        for image in ["0", "1"] {
            let image = format!("{well}/{image}");
            let levels = json!([{"path": "0"}, {"path": "1"}]);
            group(
                &source,
                &image,
                &json!({"multiscales": [{"version": "0.3", "datasets": levels}]}),
            );
            group(&source, &format!("{image}/labels"), &json!({"labels": ["cells", "nuclei"]}));
            for array in ["0", "1", "labels/cells", "labels/nuclei"] {
                named(&source, &format!("{image}/{array}"), &[4, 4], &["y", "x"], json!({}));
            }
        }
    }
    fs::create_dir_all(format!("{source}/OME")).unwrap();
    fs::write(format!("{source}/OME/METADATA.ome.xml"), "<OME/>").unwrap();
    let target = folder.at("part.zarr");
    let options = [
        "--exclude",
        "A/2",
        "--exclude",
        "A/1/1",
        "--exclude",
        "**/nuclei",
        "--exclude",
        "A/1/0/1",
    ];
    let done =
        rechunk(&[&["copy", &source, &target, "--format", "zarr3"][..], &options].concat()).ok();
    done.says(&[
        "`plate.wells`",
        "`well.images`",
        "`labels`",
        "`multiscales`",
        "version 0.3 or before says no scales",
        "OME/METADATA.ome.xml describes all images",
    ]);
    let attributes =
        |path: &str| document(&target, &format!("{path}zarr.json"))["attributes"].clone();
    assert_eq!(attributes("")["ome"]["plate"]["wells"], json!([{"path": "A/1", "rowIndex": 0}]));
    assert_eq!(attributes("A/1/")["ome"]["well"]["images"], json!([{"path": "0"}]));
    assert_eq!(attributes("A/1/0/labels/")["ome"]["labels"], json!(["cells"]));
    assert_eq!(attributes("A/1/0/")["ome"]["multiscales"][0]["datasets"], json!([{"path": "0"}]));
    assert_eq!(fs::read_to_string(format!("{target}/OME/METADATA.ome.xml")).unwrap(), "<OME/>");
}

/// The version of N5 stands at the root of a container, whatever that is called, and nowhere below.
#[test]
fn a_container_of_n5_says_its_version_once() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    group(&source, "", &json!({}));
    group(&source, "g", &json!({"a": 1}));
    named(&source, "x", &[4, 4], &["y", "x"], json!({}));
    named(&source, "g/y", &[4, 4], &["y", "x"], json!({}));
    for name in ["plain", "named.n5", "of.zarr", "deep/er"] {
        let target = folder.at(name);
        rechunk(&["copy", &source, &target, "--format", "n5", "-q"]).ok();
        let says =
            |path: &str| document(&target, &format!("{path}attributes.json")).get("n5").is_some();
        assert!(says(""), "{name}");
        for path in ["x/", "g/", "g/y/"] {
            assert!(!says(path), "{name}: {path}");
        }
        // Back to N5, from what has it.
        let again = folder.at(&format!("{name}-again"));
        rechunk(&["copy", &target, &again, "--format", "n5", "-q"]).ok();
        assert!(document(&again, "x/attributes.json").get("n5").is_none());
    }
}
