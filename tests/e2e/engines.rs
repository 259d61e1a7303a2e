//! The files of `docs/engines`, where the engine is on this machine. Slurm's is run by
//! `just test-engines`.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::arrays::RawArray;
use crate::harness::{Folder, rechunk, root};

#[test]
fn gnu_parallel_does_a_plan() {
    let is_gnu = Command::new("parallel").arg("--version").stderr(Stdio::null()).output();
    if !is_gnu.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).contains("GNU parallel")) {
        println!("SKIPPED: there is no GNU parallel");
        return;
    }
    let folder = Folder::new();
    let (source, target, plan) = (folder.at("s.zarr"), folder.at("t.zarr"), folder.at("plan.json"));
    RawArray::v3(&[24, 32, 48], &[4, 32, 48]).write(&source);
    let options = ["--chunks", "24,4,4", "--strategy", "push-pull", "--max-mem", "24MiB"];
    rechunk(&[&["plan", &source, &target, "--out", &plan, "-q"][..], &options].concat()).ok();
    let program = Path::new(env!("CARGO_BIN_EXE_rechunk")).parent().unwrap().display();
    let path = std::env::var("PATH").unwrap_or_default();
    let done = Command::new("bash")
        .arg(root().join("docs/engines/parallel.sh"))
        .args([&plan, "5"])
        .env("PATH", format!("{program}:{path}"))
        .env("HOME", folder.path())
        .output()
        .unwrap();
    let said = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(done.status.success(), "{said:?}");
    rechunk(&["verify", &source, &target]).ok();
    assert!(!folder.path().join("t.zarr.rechunk").exists());
}
