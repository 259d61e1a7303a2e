use super::*;

const FILE: &str = r#"{
  "version": 1,
  "name": "ours",
  "stores": {
    "s3": {"get_usd": 1e-6, "egress_usd_per_gib": 0.09},
    "s3://bucket/data": {"get_seconds": 0.01},
    "s3://bucket/data/near/": {"get_seconds": 0.002, "concurrency": 64},
    "/data": {"like": "hdd", "multipart": {"threshold_bytes": 100, "part_bytes": 10}},
    "tape": {"like": "http", "read_bytes_per_second": 1000}
  },
  "speeds": {
    "copy_bytes_per_second": 5e9,
    "codecs": {"zstd": {"decode_bytes_per_second": 7e8, "encode_bytes_per_second": 6e7}}
  }
}"#;

fn file() -> ProfileFile {
    ProfileFile::parse("p.json", FILE.as_bytes()).unwrap()
}

fn at(location: &str) -> StoreProfile {
    choose(Some(&file()), &[None, None, None], [location, "", ""]).unwrap().source
}

fn named(name: &str) -> Result<StoreProfile, Error> {
    let names = [Some(name.to_owned()), None, None];
    choose(Some(&file()), &names, ["", "", ""]).map(|profile| profile.source)
}

#[test]
fn the_longest_location_counts_then_the_kind() {
    assert_eq!(at("s3://bucket/data/x.zarr").name, "s3://bucket/data");
    assert_eq!(at("s3://bucket/data/near/x.zarr").name, "s3://bucket/data/near/");
    assert_eq!(at("s3://bucket/data/near").concurrency, 64);
    assert_eq!(at("s3://bucket/database").name, "s3");
    assert_eq!(at("s3://bucket/database").get_usd, 1e-6);
    assert_eq!(at("gs://bucket/data").name, "gs");
    assert_eq!(at("s3a://elsewhere/data").name, "s3");
    for scheme in ["az", "azure", "adl", "abfs", "abfss"] {
        assert_eq!(at(&format!("{scheme}://box@account.dfs.core.windows.net/x")).name, "az");
    }
    assert_eq!(at("datastore+http://host/datasets/cells/1/1/1/latest").name, "datastore");
    assert_eq!(at("/data/x.zarr").name, "/data");
    assert_eq!(at("file:///data/x.zarr").name, "/data");
    assert_eq!(at("/data2/x.zarr").name, "local");
    assert_eq!(at("").name, "local");
    assert_eq!(at("memory:").name, "memory");
}

#[test]
fn what_an_entry_leaves_out_is_the_built_in() {
    let near = at("s3://bucket/data/near/x");
    let s3 = StoreProfile::built_in("s3").unwrap();
    assert_eq!(near.get_seconds, 0.002);
    assert_eq!(near.put_seconds, s3.put_seconds);
    assert_eq!(near.put_usd, s3.put_usd);
    assert_eq!(near.get_requests_per_second, s3.get_requests_per_second);
    assert_eq!(near.multipart, s3.multipart);
    let data = at("/data/x");
    assert_eq!(data.get_seconds, StoreProfile::built_in("hdd").unwrap().get_seconds);
    assert_eq!(data.multipart.map(|multipart| multipart.part_bytes), Some(10));
}

#[test]
fn names_are_the_files_before_the_built_in() {
    assert_eq!(named("s3").unwrap().get_usd, 1e-6);
    assert_eq!(named("tape").unwrap().read_bytes_per_second, 1000.0);
    assert_eq!(named("gs").unwrap(), StoreProfile::built_in("gs").unwrap());
    let error = named("nowhere").unwrap_err();
    assert!(error.remedy().unwrap().to_string().contains("tape"), "{error:?}");
}

#[test]
fn speeds_replace_the_built_in() {
    let speeds = file().speeds();
    assert_eq!(speeds.of("zstd"), (7e8, 6e7));
    assert_eq!(speeds.of("gzip"), CodecSpeeds::default().of("gzip"));
    assert_eq!(speeds.copy_bytes_per_second, 5e9);
}

#[test]
fn a_file_is_written_as_it_was_read() {
    let file = file();
    let json = file.to_json().unwrap();
    assert_eq!(ProfileFile::parse("p.json", json.as_bytes()).unwrap(), file);
}

#[test]
fn errors_name_the_field() {
    let with = |from: &str, to: &str| {
        assert!(FILE.contains(from), "{from}");
        let text = FILE.replacen(from, to, 1);
        ProfileFile::parse("p.json", text.as_bytes()).unwrap_err()
    };
    for (from, to, said) in [
        ("\"version\": 1", "\"version\": 2", "version: 2"),
        ("\"version\": 1,", "", "version"),
        ("\"name\": \"ours\"", "\"name\": \"\"", "name"),
        ("\"name\": \"ours\"", "\"nam\": \"ours\"", "nam"),
        ("\"get_usd\": 1e-6", "\"get_usd\": -1", "stores.\"s3\".get_usd: -1"),
        ("\"get_usd\": 1e-6", "\"get_usd\": \"dear\"", "stores.\"s3\".get_usd: "),
        ("\"get_usd\": 1e-6", "\"get_eur\": 1", "stores.\"s3\".get_eur: unknown field"),
        ("\"get_seconds\": 0.01", "\"get_seconds\": 0", "\"s3://bucket/data\".get_seconds: 0"),
        ("\"get_seconds\": 0.01", "\"get_seconds\": 1e999", "number out of range"),
        ("\"concurrency\": 64", "\"concurrency\": 0", "concurrency: 0"),
        ("\"concurrency\": 64", "\"concurrency\": 1.5", "concurrency: "),
        ("\"part_bytes\": 10", "\"part_bytes\": 0", "\"/data\".multipart.part_bytes"),
        ("\"like\": \"hdd\"", "\"like\": \"ssd\"", "\"/data\".like: there is no profile \"ssd\""),
        ("\"like\": \"http\", ", "", "stores.\"tape\".like: is missing"),
        ("\"tape\":", "\"ta\\npe\":", "stores.\"ta\\npe\": the key"),
        ("5e9", "0", "speeds.copy_bytes_per_second: 0"),
        ("{\"zstd\":", "{\"zst\":", "speeds.codecs.\"zst\": no codec"),
        ("\"decode_bytes_per_second\": 7e8", "\"decode\": 7e8", "speeds.codecs.\"zstd\": "),
        ("7e8", "-7e8", "speeds.codecs.\"zstd\".decode_bytes_per_second: -700000000"),
        ("\"speeds\"", "\"speed\"", "speed"),
    ] {
        let error = with(from, to);
        assert_eq!(error.class(), crate::Class::Usage);
        let text = error.to_string();
        assert!(text.contains(said) && text.contains("p.json"), "{said}: {text}");
    }
    assert!(ProfileFile::parse("p.json", b"[1]").is_err());
    let mut nan = file();
    nan.stores.get_mut("s3").unwrap().put_usd = Some(f64::NAN);
    let error = choose(Some(&nan), &[None, None, None], ["", "", ""]).unwrap_err();
    assert!(error.to_string().contains("put_usd: NaN"), "{error}");
}

#[test]
fn a_job_keeps_the_file_and_older_jobs_have_none() {
    let planning = crate::Planning { profile: Some(file()), ..crate::Planning::default() };
    let json = serde_json::to_string(&planning).unwrap();
    let read: crate::Planning = serde_json::from_str(&json).unwrap();
    assert_eq!(read, planning);
    let locations = ["s3://bucket/data/x", "", "/data/y"];
    let names = read.profile(locations).unwrap().names();
    assert_eq!(names.file.as_deref(), Some("ours"));
    assert_eq!(
        [&names.source[..], &names.intermediate, &names.target],
        ["s3://bucket/data", "local", "/data"]
    );

    let mut older = serde_json::to_value(&planning).unwrap();
    older.as_object_mut().unwrap().remove("profile");
    let read: crate::Planning = serde_json::from_value(older).unwrap();
    assert_eq!(read.profile, None);
    assert_eq!(read.profile(locations).unwrap().source, StoreProfile::built_in("s3").unwrap());
}
