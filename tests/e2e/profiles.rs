//! Costs of stores: profile files, the price of plans, and the command that measures.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Done, Folder, Run, ostia, rechunk, tree};
use crate::report::{assert_done, assert_planned, number, text};

/// A plan without data that needs an intermediate, all of it on s3.
const ON_S3: [&str; 17] = [
    "plan",
    "--shape",
    "640,1800,3600",
    "--dtype",
    "int16",
    "--source-chunks",
    "5,1800,3600",
    "--chunks",
    "640,100,100",
    "--max-mem",
    "1GB",
    "--source-profile",
    "s3",
    "--temp-profile",
    "s3",
    "--target-profile",
    "s3",
];

fn write(folder: &Folder, name: &str, profile: &Value) -> String {
    let path = folder.at(name);
    std::fs::write(&path, profile.to_string()).unwrap();
    path
}

fn float(report: &Value, path: &str) -> f64 {
    let pointer = format!("/{}", path.replace('.', "/"));
    let value = report.pointer(&pointer).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("{path} is no number: {report:#}"))
}

#[track_caller]
fn assert_near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()), "{a} is not {b}");
}

/// The price is that of the counted requests, at these dollars for a GET and a PUT.
#[track_caller]
fn assert_priced(estimate: &Value, get_usd: f64, put_usd: f64) {
    let count = |name: &str| -> f64 {
        let roles = ["source", "intermediate", "target"];
        let count = |role: &str| estimate[role][name].as_u64().unwrap();
        roles.iter().map(|role| count(role)).sum::<u64>() as f64
    };
    assert_near(float(estimate, "price.get_usd"), count("get_requests") * get_usd);
    assert_near(float(estimate, "price.put_usd"), count("put_requests") * put_usd);
    assert_near(float(estimate, "price.part_usd"), count("part_requests") * put_usd);
    let parts = ["get_usd", "put_usd", "part_usd", "egress_usd"];
    let sum = parts.iter().map(|part| float(estimate, &format!("price.{part}"))).sum();
    assert_near(float(estimate, "usd"), sum);
}

#[test]
fn a_profile_file_changes_the_price_and_is_named() {
    let folder = Folder::new();
    let built_in = rechunk(&[&ON_S3[..], &["--json"]].concat()).ok().json();
    assert_planned(&built_in);
    assert_priced(&built_in["estimate"], 0.4e-6, 5e-6);
    assert!(float(&built_in, "estimate.usd") > 0.0);
    assert_eq!(built_in["profile"], json!({"source": "s3", "intermediate": "s3", "target": "s3"}));

    let dear = json!({"put_usd": 1e-4, "egress_usd_per_gib": 0.09});
    let path =
        write(&folder, "dear.json", &json!({"version": 1, "name": "dear", "stores": {"s3": dear}}));
    let options = ["--profile", &path, "--json"];
    let report = rechunk(&[&ON_S3[..], &options].concat()).ok().json();
    assert_priced(&report["estimate"], 0.4e-6, 1e-4);
    let read = number(&report, "estimate.source.read_bytes")
        + number(&report, "estimate.intermediate.read_bytes");
    assert_near(float(&report, "estimate.price.egress_usd"), read as f64 / 1_073_741_824.0 * 0.09);
    assert!(float(&report, "estimate.usd") > float(&built_in, "estimate.usd"));
    assert_eq!(text(&report, "profile.file"), "dear");
    assert_near(float(&report, "estimated_hours") * 3600.0, float(&report, "estimate.seconds"));
    let priced = report["candidates"].as_array().unwrap().iter();
    let priced: Vec<&Value> = priced.filter(|one| one["outcome"]["estimate"].is_object()).collect();
    assert!(priced.len() > 1, "{report:#}");
    for candidate in priced {
        assert_priced(&candidate["outcome"]["estimate"], 0.4e-6, 1e-4);
    }
    let words = rechunk(&[&ON_S3[..], &["--profile", &path]].concat()).ok().stdout;
    assert!(words.contains("profile dear: s3"), "{words}");
    assert!(words.contains(" h: ") && words.contains("$ bytes out"), "{words}");
}

#[test]
fn large_objects_are_priced_by_their_parts() {
    let folder = Folder::new();
    let plan = [
        "plan",
        "--shape",
        "1024,1024,1024",
        "--dtype",
        "uint8",
        "--source-chunks",
        "1024,1024,1024",
        "--chunks",
        "1024,1024,512",
        "--max-mem",
        "8GB",
        "--target-profile",
        "s3",
        "--json",
    ];
    let report = rechunk(&plan).ok().json();
    // Two objects of 512 MiB: 8 parts of 64 MiB, and the request that begins them.
    assert_eq!(number(&report, "estimate.target.put_requests"), 2);
    assert_eq!(number(&report, "estimate.target.part_requests"), 18);
    let multipart = json!({"threshold_bytes": 1 << 20, "part_bytes": 16 << 20});
    let stores = json!({"s3": {"multipart": multipart}});
    let path = write(&folder, "p.json", &json!({"version": 1, "name": "p", "stores": stores}));
    let report = rechunk(&[&plan[..], &["--profile", &path]].concat()).ok().json();
    assert_eq!(number(&report, "estimate.target.part_requests"), 66);
}

#[test]
fn the_profile_of_a_location_is_saved_with_the_job() {
    let folder = Folder::new();
    let (target, plan) = (folder.at("target.zarr"), folder.at("plan.json"));
    let key = folder.path().display().to_string();
    let stores = json!({ &key: {"put_usd": 0.25}, "gs": {"get_usd": 3}});
    let profile = json!({"version": 1, "name": "here", "stores": stores});
    let path = write(&folder, "here.json", &profile);
    let options = ["--chunks", "54,6,36", "--profile", &path, "--max-mem", "64MiB"];
    let arguments = ["plan", &ostia(), &target, "--out", &plan, "--json"];
    let planned = rechunk(&[&arguments[..], &options].concat()).ok().json();
    assert_eq!(text(&planned, "profile.source"), "local");
    assert_eq!(text(&planned, "profile.target"), key);
    let puts = number(&planned, "estimate.target.put_requests");
    assert_near(float(&planned, "estimate.usd"), puts as f64 * 0.25);

    let saved: Value = serde_json::from_slice(&std::fs::read(&plan).unwrap()).unwrap();
    assert_eq!(text(&saved, "request.planning.profile.name"), "here");
    std::fs::remove_file(&path).unwrap();
    let done = rechunk(&["run", &plan, "--json"]).ok().json();
    assert_done(&done);
    assert_eq!(done["profile"], planned["profile"]);
    assert_eq!(done["estimate"], planned["estimate"]);
}

#[test]
fn a_profile_that_is_wrong_is_refused_by_its_field() {
    let folder = Folder::new();
    for (profile, said) in [
        (json!({"version": 2, "name": "x", "stores": {}}), "version: 2"),
        (json!({"version": 1, "name": "x", "stores": {"s3": {"get_secs": 1}}}), "get_secs"),
        (json!({"version": 1, "name": "x", "stores": {"s3": {"put_usd": -1}}}), "put_usd: -1"),
        (
            json!({"version": 1, "name": "x", "stores": {"s3": {"get_seconds": 0}}}),
            "get_seconds: 0",
        ),
        (json!({"version": 1, "name": "x", "stores": {"tape": {}}}), "\"tape\".like"),
        (json!("s3"), "name"),
    ] {
        let path = write(&folder, "wrong.json", &profile);
        let refused = rechunk(&[&ON_S3[..], &["--profile", &path]].concat()).ends_with(2);
        let said = if said == "name" { "cannot be used" } else { said };
        refused.says(&["wrong.json", said]);
    }
    let nowhere = folder.at("nowhere.json");
    rechunk(&[&ON_S3[..], &["--profile", &nowhere]].concat()).ends_with(2).says(&["nowhere.json"]);
    let mut unknown = ON_S3;
    unknown[12] = "s4";
    rechunk(&unknown).ends_with(2).says(&["`s4`", "s3"]);
}

/// A file.
fn ostia_chunk() -> String {
    format!("{}/.zarray", ostia())
}

/// Everything that is neither kept nor measured takes little.
fn probe(arguments: &[&str]) -> Done {
    rechunk(&[&["probe"], arguments, &["--seconds", "1", "--bytes", "8MiB"]].concat())
}

#[test]
fn a_probe_measures_leaves_nothing_and_writes_what_plans_take() {
    let folder = Folder::new();
    let (place, out) = (Folder::new(), folder.at("mine.json"));
    std::fs::write(place.at("data"), vec![1; 100_000]).unwrap();
    let before = tree(place.path());
    let at = place.path().display().to_string();
    let words = probe(&[&at, "--out", &out]).ok().says(&["mine.json"]).stdout;
    for word in ["GET latency", "large write", "blosc-lz4", "not measured", "put_usd"] {
        assert!(words.contains(word), "{word}: {words}");
    }
    assert_eq!(tree(place.path()), before);

    let profile: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!(profile["name"], "mine");
    let entry = &profile["stores"][&at];
    for field in ["get_seconds", "put_seconds", "read_bytes_per_second", "write_bytes_per_second"] {
        assert!(entry[field].as_f64().unwrap() > 0.0, "{profile:#}");
        assert!(entry["measured"].as_array().unwrap().contains(&json!(field)), "{profile:#}");
    }
    let target = place.at("target.zarr");
    let plan = ["plan", &ostia(), &target, "--chunks", "54,6,36", "--profile", &out, "--json"];
    let planned = rechunk(&plan).ok().json();
    assert_eq!(planned["profile"]["target"], json!(at));
    assert_eq!(text(&planned, "profile.file"), "mine");

    // Another store goes into the same file; of an object that is only read no writes are known.
    let report = probe(&["memory:", "--out", &out, "--json"]).ok().json();
    assert_eq!(report["profile"]["stores"].as_object().unwrap().len(), 2);
    let report = probe(&[&at, "--read", "data", "--json"]).ok().json();
    assert_eq!(report["probe"]["store"]["put_seconds"], Value::Null);
    assert!(float(&report, "probe.store.get_seconds") > 0.0);
    assert_eq!(tree(place.path()), before);
}

#[test]
fn a_probe_refuses_what_it_cannot_measure() {
    let folder = Folder::new();
    probe(&[&folder.at("nowhere")]).ends_with(2).says(&["does not exist"]);
    probe(&[&ostia_chunk()]).ends_with(2).says(&["not a directory"]);
    let at = folder.path().display().to_string();
    probe(&[&at, "--read", "nothing"]).ends_with(3).says(&["nothing"]);
    std::fs::write(folder.at("text"), "not a profile").unwrap();
    probe(&[&at, "--out", &folder.at("text")]).ends_with(2).says(&["text"]);
    assert_eq!(std::fs::read_to_string(folder.at("text")).unwrap(), "not a profile");
    rechunk(&["probe", &at, "--bytes", "1kB"]).ends_with(2).says(&["--bytes"]);
    assert_eq!(tree(folder.path()).len(), 1);
}

#[test]
fn an_interrupted_probe_removes_what_it_has_written() {
    let folder = Folder::new();
    let at = folder.path().display().to_string();
    let child = Run::rechunk(&["probe", &at, "--seconds", "60"]).start();
    let started = Instant::now();
    while !has_objects(folder.path()) {
        assert!(started.elapsed() < Duration::from_secs(30), "nothing is written");
        thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted"), "{said}");
    assert_eq!(tree(folder.path()).len(), 0);
}

/// The probe has written objects, not only directories.
fn has_objects(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        path.is_file() || has_objects(&path)
    })
}

#[test]
fn an_export_that_changes_objects_in_place_has_its_price() {
    let folder = Folder::new();
    let store = json!({"write_usd_per_gib": 0.02, "retention_usd_per_gib": 0.005});
    let profile = json!({"version": 1, "name": "two regions", "stores": {"s3": store}});
    let path = write(&folder, "profile.json", &profile);
    let options = ["--profile", &path, "--shards", "640,1000,1000", "--json"];
    let ours = rechunk(&[&ON_S3[..], &options].concat()).ok().json();
    let theirs = ["--baseline", "read-modify-write"];
    let theirs = rechunk(&[&ON_S3[..], &options, &theirs].concat()).ok().json();
    let objects = number(&theirs, "estimate.target.objects");
    assert_eq!(objects, 8);
    let gib = |bytes: u64| bytes as f64 / 1_073_741_824.0;
    // 128 images, of which each lies in each of 2 × 4 shards.
    assert_eq!(number(&theirs, "estimate.target.put_requests"), 128 * 8);
    assert_eq!(number(&theirs, "estimate.target.get_requests"), 128 * 8);
    let written = number(&theirs, "estimate.target.written_bytes");
    assert_near(float(&theirs, "price.write_usd"), gib(written) * 0.02);
    assert_near(float(&theirs, "price.retention_usd"), gib(written / 128 * 127) * 0.005);
    // Ours writes each shard once, those at the end smaller, and pays for what it deletes.
    let ours_written = number(&ours, "estimate.target.written_bytes");
    let between = number(&ours, "estimate.intermediate.written_bytes");
    assert!(ours_written * 128 <= written && ours_written * 200 > written);
    assert_near(float(&ours, "estimate.price.write_usd"), gib(ours_written + between) * 0.02);
    assert_eq!(between > 0, ours["estimate"]["price"].get("retention_usd").is_some());
    assert!(float(&theirs, "usd") > 10.0 * float(&ours, "estimate.usd"));
    let options = ["--profile", &path, "--shards", "640,1000,1000"];
    let words = ["--baseline", "read-modify-write"];
    let words = rechunk(&[&ON_S3[..], &options, &words].concat()).ok().stdout;
    assert!(words.contains("write_usd") && words.contains("1,024"), "{words}");
}
