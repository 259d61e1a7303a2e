//! Versions on another disk, by symbolic links.

use std::fs;

use rustix::process::Signal;
use serde_json::json;

use super::bucket::{ask, blocks, create, upload, versions, write};
use super::serving::{BYTES, Serving, block};
use crate::harness::{Folder, rechunk};

const FOLLOWED: &str = "1/1/1/2/2/1";

#[test]
fn old_versions_are_kept_on_another_disk_by_links() {
    let (folder, slow) = (Folder::new(), Folder::new());
    let root = folder.at("root");
    let serving = Serving::start(&["datastore", &root, "--write"]);
    let id = create(&serving, "n5", None);
    upload(&serving, &id);
    let kept = blocks(&serving, &id);
    for _ in 0..2 {
        assert_eq!(ask(&serving, "GET", &format!("{id}/1/1/1/new/write")).0, 307);
    }
    write(&serving, &format!("{id}/1/1/1/2/0/0/0/0/1/0"), &block([16; 3], 99));
    drop(serving);
    for number in ["0", "1"] {
        let (here, there) = (format!("{root}/{id}/{number}"), slow.at(number));
        fs::rename(&here, &there).unwrap();
        std::os::unix::fs::symlink(&there, &here).unwrap();
    }
    let mut serving = Serving::start(&["datastore", &root, "--write"]);
    assert!(blocks(&serving, &id) == kept);
    let mixed = |serving: &Serving, place: &str| {
        ask(serving, "GET", &format!("{id}/1/1/1/mixedLatest/{place}/0/1/0"))
    };
    assert_eq!(mixed(&serving, "0/0/0"), (200, block([16; 3], 99)));
    assert_eq!(mixed(&serving, "1/0/0"), (200, kept[1].clone()));
    // They may be written to, and get channels; levels follow.
    write(&serving, &format!("{id}/{FOLLOWED}/build/0/3/1/1/0/1/0"), &block([16; 3], 5));
    let followed = blocks(&serving, &id);
    assert_eq!(ask(&serving, "PATCH", &format!("{id}/0/1/0/0/rebuild")).0, 200);
    assert!(blocks(&serving, &id) == followed && followed != kept);
    let grown = serving.ask("POST", &format!("/datasets/{id}/channels"), "text/plain", b"1");
    assert_eq!(grown.unwrap().0, 200);
    assert!(fs::exists(slow.at("0/export.n5/setup2/attributes.json")).unwrap());
    // A disk that is not mounted: its blocks are not said to be absent.
    fs::rename(slow.at("0"), slow.at("away")).unwrap();
    for place in ["0/0/0", "3/1/0"] {
        let (status, said) = ask(&serving, "GET", &format!("{id}/1/1/1/0/{place}/0/1/0"));
        assert_eq!(status, 503, "{}", String::from_utf8_lossy(&said));
    }
    assert_eq!(mixed(&serving, "0/0/0").0, 200);
    assert_eq!(mixed(&serving, "1/0/0").0, 503);
    let path = format!("/datasets/{id}/1/1/1/0/0/0/0/0/1/0");
    assert!(serving.ask("POST", &path, BYTES, &block([16; 3], 1)).unwrap().0 >= 500);
    fs::rename(slow.at("away"), slow.at("0")).unwrap();
    assert!(blocks(&serving, &id) == followed);
    // A version that is deleted is a link that is removed; the next is behind all others.
    assert_eq!(ask(&serving, "DELETE", &format!("{id}/1")).0, 200);
    assert!(!fs::exists(format!("{root}/{id}/1")).unwrap());
    assert!(fs::exists(slow.at("1/export.xml")).unwrap());
    assert_eq!(ask(&serving, "GET", &format!("{id}/1/1/1/new/write")).0, 307);
    assert_eq!(versions(&serving, &id), json!([0, 2, 3]));
    rechunk(&["info", &format!("{root}/{id}/0/export.n5/setup1/timepoint0/s0")]).ok();
    // An import finds them.
    serving.signal(Signal::TERM);
    let (_, said) = serving.ended();
    assert!(said.contains("a link is removed") && said.contains(&slow.at("1")), "{said}");
    rechunk(&["serve", "import", &root]).ok();
    let mut serving = Serving::start(&["datastore", &root, "--write"]);
    assert_eq!(versions(&serving, &id), json!([0, 2, 3]));
    assert_eq!(ask(&serving, "DELETE", &id).0, 200);
    assert!(!fs::exists(format!("{root}/{id}")).unwrap());
    assert!(fs::exists(slow.at("0/export.xml")).unwrap());
    assert_eq!(fs::read_dir(format!("{root}/.datastore/under-way")).unwrap().count(), 0);
    serving.signal(Signal::TERM);
    let (_, said) = serving.ended();
    assert!(said.contains("a link is removed") && said.contains(&slow.at("0")), "{said}");
}
