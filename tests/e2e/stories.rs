//! The stories of the guide run as they are printed.

use std::path::{Path, PathBuf};

use crate::harness::{BINARY, Done, Folder, Run, root};
use crate::oracle::{World, available};

/// Runs `docs/stories/NAME.sh` in `folder` with our binary on the path.
fn tell(name: &str, folder: &Folder, arguments: &[&str]) -> Done {
    let ours = Path::new(BINARY).parent().unwrap().display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let script = root().join("docs/stories").join(format!("{name}.sh")).display().to_string();
    let run = Run::program("sh".as_ref(), &[&[&*script][..], arguments].concat());
    let python = World::Z3.python().display().to_string();
    run.env("PATH", &format!("{ours}:{path}"))
        .env("PYTHON", &python)
        .env("TMPDIR", &folder.at(""))
        .in_directory(folder.path())
        .go()
        .ok()
}

#[test]
fn satellite_maps_become_series() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let said = tell("satellite", &folder, &[&folder.at("work")]).stdout;
    assert!(said.contains("60 series of 54 months, the same"), "{said}");
    let requests = |line: &str| line.split_whitespace().nth(6).map(str::to_owned);
    let series = said.lines().filter(|line| line.starts_with("  time    54 × 1 × 1"));
    let counts: Vec<_> = series.filter_map(requests).collect();
    assert_eq!(counts, ["8", "1"], "{said}");
}

#[test]
fn an_n5_volume_becomes_sharded_zarr() {
    let folder = Folder::new();
    let said = tell("n5", &folder, &[]).stdout;
    assert!(said.contains("zarr3") && said.contains("54 × 18 × 432"), "{said}");
    let report = std::fs::read_to_string(folder.at("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["tasks"]["done"], report["tasks"]["total"]);
}

#[test]
fn a_volume_is_filtered_by_a_program_labelled_and_measured() {
    let Some(data) = std::env::var_os("RECHUNK_TEST_DATA").map(PathBuf::from) else {
        println!("SKIPPED: RECHUNK_TEST_DATA is not set, the volume is not filtered");
        return;
    };
    if !available() {
        return;
    }
    let (folder, volume) = (Folder::new(), data.join("built/mni152.n5/t1"));
    let work = folder.at("work");
    let said = tell("volume", &folder, &[volume.to_str().unwrap(), &work]).stdout;
    assert!(said.contains("equal: 8,675,289 elements"), "{said}");
    assert!(said.contains("exit code 2") && said.contains("would average labels"), "{said}");
    // Labels stay labels: a majority adds and takes some voxels, and no others.
    let sums = said.lines().filter_map(|line| line.trim().strip_prefix("\"sum\": "));
    let sums: Vec<u64> = sums.map(|text| text.trim_end_matches(',').parse().unwrap()).collect();
    let [labels, smooth] = sums[..] else { panic!("{said}") };
    assert!(labels < 8_675_289 / 2 && labels != smooth, "{said}");
    assert!(labels.abs_diff(smooth) < labels / 20, "{said}");
}

#[test]
fn a_terabyte_is_planned() {
    if !available() {
        return;
    }
    let said = tell("cloud", &Folder::new(), &[]).stdout;
    let budgets: Vec<&str> = said.lines().filter(|line| line.contains(" GET ")).collect();
    assert!(budgets.len() >= 6, "{said}");
    assert!(said.contains("87600 × 1440 × 2160") && said.contains('$'), "{said}");
}
