use std::fs;
use std::path::Path;

use rechunk_grid::{DataType, TimeUnit};
use serde_json::{Value, json};

use super::length::Length;
use super::spacing::{Number, Spacings};
use super::units::Units;
use super::*;
use crate::{Format, Prepared, Selection, prepare};

fn attributes(value: Value) -> serde_json::Map<String, Value> {
    let Value::Object(map) = value else { panic!("an object") };
    map
}

/// Elements of `span` where values of `units` in `calendar` are `step` apart.
fn values(units: &str, calendar: &str, span: &str) -> Result<f64, String> {
    let of = attributes(json!({"units": units, "calendar": calendar}));
    Units::of(DataType::Int64, &of)?.in_values(Length::of(TimeSpan::parse(span).unwrap()))
}

#[test]
fn units_are_those_of_cf() {
    for (units, calendar, span, expected) in [
        ("hours since 1900-01-01", "standard", "30D", 720.0),
        ("Hours since 1900-01-01 00:00:0.0", "gregorian", "2W", 336.0),
        ("days since 1850-1-1", "noleap", "6h", 0.25),
        ("seconds since 1970-01-01T00:00:00Z", "proleptic_gregorian", "15min", 900.0),
        ("ms since 1970-01-01", "standard", "1s", 1000.0),
        ("days since 0001-01-01", "360_day", "1M", 30.0),
        ("days since 0001-01-01", "365_day", "2Y", 730.0),
        ("hours since 0001-01-01", "all_leap", "1Y", 8784.0),
        ("months since 2000-01-01", "standard", "1Y", 12.0),
        ("years since 2000-01-01", "standard", "30Y", 30.0),
        ("hours", "standard", "1D", 24.0),
        ("common_years since 2000-01-01", "noleap", "365D", 1.0),
        ("common_year since 2000-01-01", "noleap", "2Y", 2.0),
        ("months since 2000-01-01", "360_day", "30D", 1.0),
        ("years since 2000-01-01", "360_day", "180D", 0.5),
    ] {
        let found = values(units, calendar, span).unwrap();
        assert!((found - expected).abs() < 1e-9, "{units} {calendar} {span}: {found}");
    }
    for (units, calendar, span, reason) in [
        (
            "days since 1900-01-01",
            "standard",
            "1M",
            "months of the calendar standard have 28 to 31",
        ),
        ("days since 1900-01-01", "noleap", "1M", "months of the calendar 365_day have 28 to 31"),
        ("days since 1900-01-01", "julian", "1Y", "years of the calendar julian have 365 or 366"),
        ("months since 1900-01-01", "standard", "30D", "counts months"),
        ("degrees_north", "standard", "30D", "\"degrees_north\" are no times"),
    ] {
        let found = values(units, calendar, span).unwrap_err();
        assert!(found.contains(reason), "{units} {calendar} {span}: {found}");
    }
    let none = Units::of(DataType::Int64, &serde_json::Map::new()).unwrap_err();
    assert!(none.contains("no attribute `units`"), "{none}");
    let time = DataType::DateTime64 { unit: TimeUnit::Minute, scale: 10 };
    let units = Units::of(time, &serde_json::Map::new()).unwrap();
    assert_eq!(units.in_values(Length::of(TimeSpan::parse("1D").unwrap())), Ok(144.0));
}

#[test]
fn spacings_are_even_within_what_the_type_can_tell() {
    let of = |epsilon: f64, values: &[Number]| {
        let mut seen = Spacings::new(epsilon);
        for (at, value) in values.iter().enumerate() {
            seen.see(at as u64, *value);
        }
        seen.spacing()
    };
    let floats = |count: u32, step: f64| -> Vec<Number> {
        (0..count).map(|at| Number::Float(60_000.0 + f64::from(at) * step)).collect()
    };
    // Hours as a fraction of a day, also as 32-bit floats, which tell 0.004 days apart there.
    let step = of(f64::EPSILON, &floats(1000, 1.0 / 24.0)).unwrap().unwrap().step;
    assert!((step * 24.0 - 1.0).abs() < 1e-9, "{step}");
    let rough: Vec<Number> = floats(1000, 0.25)
        .iter()
        .map(|value| match value {
            #[expect(clippy::cast_possible_truncation, reason = "that is the point")]
            Number::Float(value) => Number::Float(f64::from(*value as f32)),
            Number::Integer(_) => *value,
        })
        .collect();
    assert!(of(f64::from(f32::EPSILON), &rough).unwrap().is_ok());
    // Nanoseconds since 1970 have more digits than a float.
    let nanoseconds = |at: i128| Number::Integer(1_700_000_000_000_000_001 + at * 3);
    let even: Vec<Number> = (0..9).map(nanoseconds).collect();
    assert!((of(0.0, &even).unwrap().unwrap().step - 3.0).abs() < 1e-12);
    let mut uneven = even;
    uneven[5] = Number::Integer(1_700_000_000_000_000_017);
    let found = of(0.0, &uneven).unwrap().unwrap_err();
    assert_eq!((found.first, found.other, found.at), (3.0, 4.0, 4));
    assert_eq!(of(0.0, &[Number::Integer(5)]), None);
}

/// An array of Zarr v2 without codecs: one chunk, its elements given as bytes.
fn write(
    group: &Path,
    name: &str,
    shape: &[u64],
    chunk: u64,
    dtype: &str,
    bytes: &[u8],
    attributes: &Value,
) {
    let place = group.join(name);
    fs::create_dir_all(&place).unwrap();
    let mut chunks = shape.to_vec();
    chunks[0] = chunk;
    let document = json!({
        "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "compressor": null,
        "fill_value": 0, "order": "C", "filters": null
    });
    fs::write(place.join(".zarray"), document.to_string()).unwrap();
    fs::write(place.join(".zattrs"), attributes.to_string()).unwrap();
    if bytes.is_empty() {
        return;
    }
    let item: usize = dtype[2..].parse().unwrap();
    let chunk_bytes = usize::try_from(chunk).unwrap() * item;
    for (at, part) in bytes.chunks(chunk_bytes).enumerate() {
        let mut part = part.to_vec();
        part.resize(chunk_bytes, 0);
        fs::write(place.join(at.to_string()), part).unwrap();
    }
}

/// A group of a series `v` and its coordinate, which has these values.
fn group(folder: &Path, dtype: &str, time: &[u8], of_time: &Value) {
    fs::write(folder.join(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let item: usize = dtype[2..].parse().unwrap();
    let count = (time.len() / item) as u64;
    let dimensions = json!({"_ARRAY_DIMENSIONS": ["time", "x"]});
    write(folder, "v", &[count, 4], 10, "<f4", &[], &dimensions);
    let mut of_time = of_time.clone();
    of_time["_ARRAY_DIMENSIONS"] = json!(["time"]);
    write(folder, "time", &[count], 7, dtype, time, &of_time);
}

async fn plan(
    folder: &Path,
    change: impl FnOnce(&mut CopyRequest),
) -> Result<(String, Vec<String>), String> {
    let source = folder.join("v").to_string_lossy().into_owned();
    let mut request = CopyRequest::new(&source, "");
    change(&mut request);
    let stores = Stores::default();
    match prepare(request, Selection::default(), &stores).await {
        Ok(Prepared::Array(job)) => Ok((job.request.chunks.to_string(), job.times.clone())),
        Ok(Prepared::Tree(_)) => Err("a tree".to_owned()),
        Err(error) => Err(format!(
            "{error} | {}",
            error.remedy().map(|remedy| remedy.to_string()).unwrap_or_default()
        )),
    }
}

#[tokio::test]
async fn chunks_as_long_as_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let hours: Vec<u8> = (0..100_i32).flat_map(|at| (1000 + 6 * at).to_be_bytes()).collect();
    group(folder.path(), ">i4", &hours, &json!({"units": "hours since 1900-01-01"}));
    let chunks = |text: &'static str| {
        plan(folder.path(), move |request| request.chunks = text.parse().unwrap())
    };
    let told = |times: &[&str]| times.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
    assert_eq!(chunks("time=2D").await.unwrap(), ("time=8".to_owned(), told(&["time=2D (8)"])));
    assert_eq!(chunks("1W, 2").await.unwrap(), ("28,2".to_owned(), told(&["time=1W (28)"])));
    let found = plan(folder.path(), |request| {
        request.chunks = "time=1D,x=2".parse().unwrap();
        request.shards = Some("time=4D".parse().unwrap());
        request.select = Some("time=10:30".parse().unwrap());
    });
    let expected = told(&["time=1D (4)", "shards time=4D (16)"]);
    assert_eq!(found.await.unwrap(), ("time=4,x=2".to_owned(), expected));
    // In February 1900 there are 70 values from the 11th on, 16 o'clock, and 30 in March: chunks of
    // one length, of which the last is shorter.
    let months = chunks("time=1M").await.unwrap();
    assert_eq!(months, ("time=70".to_owned(), told(&["time=1M (2 chunks of 30 to 70)"])));
    let of_v2 = plan(folder.path(), |request| {
        request.chunks = "time=1M".parse().unwrap();
        request.format = Some(Format::Zarr2);
    });
    let reason = "months of the calendar standard have 28 to 31 days | give a number of elements, e.g. time=122";
    let error = of_v2.await.unwrap_err();
    assert!(error.contains(reason), "{error}");
    for (text, reason) in [
        (
            "time=5h",
            "--chunks: time=5h: the values of `time` are 6 hours apart, and that is no whole number of them: 0 are shorter, 1 longer | give a number of elements, e.g. time=1",
        ),
        ("time=9h", "1 are shorter, 2 longer"),
        ("time=keep,x=1D", "x=1D: the coordinate"),
        ("lat=1D", "there is no dimension `lat`"),
    ] {
        let error = chunks(text).await.unwrap_err();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[tokio::test]
async fn uneven_coordinates_are_refused_with_both_spacings() {
    let folder = tempfile::tempdir().unwrap();
    let months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].iter().cycle().take(48);
    let days = months.scan(0_i64, |day, month| Some(std::mem::replace(day, *day + month)));
    let days: Vec<u8> = days.flat_map(i64::to_le_bytes).collect();
    group(folder.path(), "<i8", &days, &json!({"units": "days since 1900-01-01"}));
    let chunks = |text: &'static str| {
        plan(folder.path(), move |request| request.chunks = text.parse().unwrap())
    };
    let years = chunks("time=1Y").await.unwrap();
    assert_eq!(years, ("time=12".to_owned(), vec!["time=1Y (4 chunks of 12)".to_owned()]));
    let error = chunks("time=366D").await.unwrap_err();
    assert_eq!(
        error,
        "--chunks: time=366D: the values of `time` are not evenly spaced: the first two are 31 days \
         apart, those from 1 on 28 days | give a number of elements, e.g. time=12"
    );
    // A coordinate whose last chunk is missing and no fill value, and one that is not there.
    fs::remove_file(folder.path().join("time/6")).unwrap();
    let document = folder.path().join("time/.zarray");
    let text = fs::read_to_string(&document).unwrap();
    fs::write(&document, text.replace("\"fill_value\":0", "\"fill_value\":null")).unwrap();
    assert!(chunks("time=1Y").await.unwrap_err().contains("its chunk [6] is missing"));
    fs::remove_dir_all(folder.path().join("time")).unwrap();
    let error = chunks("time=1Y").await.unwrap_err();
    assert!(
        error.contains("is needed for that") && error.contains("number of elements"),
        "{error}"
    );
}

/// Nobody is asked for what a dimension is called.
#[tokio::test]
async fn a_coordinate_has_a_name_that_leads_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let days: Vec<u8> = (0..40_i64).flat_map(i64::to_le_bytes).collect();
    group(folder.path(), "<i8", &days, &json!({"units": "days since 1900-01-01"}));
    for name in ["http://127.0.0.1:9/x", "../time", "..", "a/b", ""] {
        let attributes = json!({"_ARRAY_DIMENSIONS": [name, "x"]});
        fs::write(folder.path().join("v/.zattrs"), attributes.to_string()).unwrap();
        let error = plan(folder.path(), |request| request.chunks = "30D,4".parse().unwrap()).await;
        let error = error.unwrap_err();
        assert!(error.contains("is no name that a coordinate could have"), "{name}: {error}");
    }
}

#[tokio::test]
async fn a_coordinate_that_takes_much_memory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let days: Vec<u8> = (0..40_i64).flat_map(i64::to_le_bytes).collect();
    group(folder.path(), "<i8", &days, &json!({"units": "days since 1900-01-01"}));
    let document = folder.path().join("time/.zarray");
    let mut map: Value = serde_json::from_str(&fs::read_to_string(&document).unwrap()).unwrap();
    let chunks = || plan(folder.path(), |request| request.chunks = "time=1W".parse().unwrap());
    for (field, value) in [
        // A dictionary of 4 GiB; a chunk of 256 MiB.
        (
            "compressor",
            json!({"id": "lzma", "format": 1, "check": -1, "preset": null,
            "filters": [{"id": 33, "preset": 6, "dict_size": 0xffff_0000_u32}]}),
        ),
        ("chunks", json!([32 << 20])),
    ] {
        map[field] = value;
        fs::write(&document, map.to_string()).unwrap();
        let error = chunks().await.unwrap_err();
        assert!(error.contains("reading a chunk of it takes"), "{field}: {error}");
        map["compressor"] = Value::Null;
    }
}

#[tokio::test]
async fn values_that_are_the_fill_value_need_no_chunk_and_equal_ones_have_no_spacing() {
    let folder = tempfile::tempdir().unwrap();
    let days = |step: i32| (0..40).flat_map(|at| (at * step).to_be_bytes()).collect::<Vec<u8>>();
    let attributes = json!({"units": "days since 1900-01-01"});
    group(folder.path(), ">i4", &days(1), &attributes);
    // A value a chunk: the first is 0.
    write(folder.path(), "time", &[40], 1, ">i4", &days(1), &attributes);
    fs::remove_file(folder.path().join("time/0")).unwrap();
    let found =
        plan(folder.path(), |request| request.chunks = "time=1W".parse().unwrap()).await.unwrap();
    assert_eq!(found.1, ["time=1W (7)"]);
    write(folder.path(), "time", &[40], 1, ">i4", &days(0), &attributes);
    let error = plan(folder.path(), |request| request.chunks = "time=1W".parse().unwrap())
        .await
        .unwrap_err();
    assert!(error.contains("the values of `time` are all the same"), "{error}");
}

#[test]
fn a_coordinate_is_beside_its_array_however_that_is_named() {
    for (location, expected) in [
        ("a.zarr/v", "a.zarr/time"),
        ("v/", "time"),
        (".", "./../time"),
        ("./", "./../time"),
        ("a/..", "a/../../time"),
        ("a/v/.", "a/v/./../time"),
    ] {
        assert_eq!(beside(location, "time"), expected, "{location}");
    }
}

#[tokio::test]
async fn dates_of_numpy_have_their_unit_in_their_type() {
    let folder = tempfile::tempdir().unwrap();
    let days: Vec<u8> = (0..60_i64).flat_map(|at| (18_000 + at).to_le_bytes()).collect();
    group(folder.path(), "<i8", &days, &json!({}));
    let document = folder.path().join("time/.zarray");
    let text = fs::read_to_string(&document).unwrap();
    fs::write(
        &document,
        text.replace("<i8", "<M8[D]").replace("\"fill_value\":0", "\"fill_value\":null"),
    )
    .unwrap();
    let found =
        plan(folder.path(), |request| request.chunks = "time=30D".parse().unwrap()).await.unwrap();
    assert_eq!(found.1, ["time=30D (30)"]);
}

/// N5 takes `units` for something else: a copy keeps them aside.
#[tokio::test]
async fn a_coordinate_of_n5_says_its_units_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let days: Vec<u8> = (0..40_i32).flat_map(i32::to_be_bytes).collect();
    group(folder.path(), ">i4", &days, &json!({}));
    fs::remove_dir_all(folder.path().join("time")).unwrap();
    fs::create_dir(folder.path().join("time")).unwrap();
    let document = json!({
        "dimensions": [40], "blockSize": [40], "dataType": "int32", "compression": {"type": "raw"},
        "axes": ["time"], "rechunk_attributes": {"units": "days since 1900-01-01"},
    });
    fs::write(folder.path().join("time/attributes.json"), document.to_string()).unwrap();
    // A header: mode 0, one axis of 40.
    let block = [&[0, 0, 0, 1, 0, 0, 0, 40][..], &days].concat();
    fs::write(folder.path().join("time/0"), block).unwrap();
    let found =
        plan(folder.path(), |request| request.chunks = "time=1W".parse().unwrap()).await.unwrap();
    assert_eq!(found.1, ["time=1W (7)"]);
}

/// A coordinate of Zarr v3 whose chunks lie in shards; of some there are none.
#[tokio::test]
async fn a_coordinate_in_shards_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let days: Vec<u8> = (0..50_i32).flat_map(i32::to_be_bytes).collect();
    group(folder.path(), ">i4", &days, &json!({"units": "days since 1900-01-01"}));
    let place = folder.path().join("time");
    let bytes = |endian: &str| json!({"name": "bytes", "configuration": {"endian": endian}});
    let document = |extent: u64| {
        json!({
            "zarr_format": 3, "node_type": "array", "shape": [extent], "data_type": "int32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [20]}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
            "dimension_names": ["time"], "attributes": {"units": "days since 1900-01-01"},
            "codecs": [{"name": "sharding_indexed", "configuration": {
                "chunk_shape": [5], "codecs": [bytes("big")], "index_codecs": [bytes("little")],
            }}],
        })
    };
    // Shards of 20 elements in chunks of 5, first those that are there, then where each is.
    let shard = |first: i32, is_there: [bool; 4]| {
        let (mut chunks, mut index) = (Vec::new(), Vec::new());
        for (start, is_there) in (first..).step_by(5).zip(is_there) {
            let at = if is_there { [chunks.len() as u64, 20] } else { [u64::MAX; 2] };
            index.extend(at.map(u64::to_le_bytes).concat());
            if is_there {
                chunks.extend((start..start + 5).flat_map(i32::to_be_bytes));
            }
        }
        [chunks, index].concat()
    };
    fs::remove_dir_all(&place).unwrap();
    fs::create_dir_all(place.join("c")).unwrap();
    fs::write(place.join("zarr.json"), document(50).to_string()).unwrap();
    for (number, is_there) in [[true; 4], [true; 4], [true, true, false, false]].iter().enumerate()
    {
        let first = i32::try_from(number * 20).unwrap();
        fs::write(place.join(format!("c/{number}")), shard(first, *is_there)).unwrap();
    }
    let chunks = || plan(folder.path(), |request| request.chunks = "time=1W".parse().unwrap());
    assert_eq!(chunks().await.unwrap().1, ["time=1W (7)"]);
    let shards = plan(folder.path(), |request| {
        request.chunks = "time=1W".parse().unwrap();
        request.shards = Some("time=2W".parse().unwrap());
    });
    assert_eq!(shards.await.unwrap().1, ["time=1W (7)", "shards time=2W (14)"]);
    fs::write(place.join("c/1"), shard(20, [true, false, true, true])).unwrap();
    let error = chunks().await.unwrap_err();
    assert!(error.contains("the first two are 1 day apart, those from 24 on"), "{error}");
    fs::write(place.join("c/1"), [1; 30]).unwrap();
    assert!(chunks().await.unwrap_err().contains("c/1"), "it is named");
}
