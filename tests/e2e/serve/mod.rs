//! `rechunk serve`: a process that others read from, and that ends when it is told to.

mod builder;
mod client;
mod client_token;
mod database;
mod executor;
mod interrupted;
mod kill_points;
mod killed;
mod rebuild;
mod serving;
mod zarr3;

use std::io::{Read, Write};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::arrays::RawArray;
use crate::harness::{Folder, Run, copy_directory, rechunk};
use crate::oracle::{World, available, read_n5};
use serving::{BYTES, Serving, block};

#[test]
fn a_store_that_is_served_is_copied_and_verified_by_its_url() {
    let folder = Folder::new();
    let array = folder.at("data/a.zarr");
    RawArray::v2(&[40, 40], &[7, 7]).write(&array);
    let serving = Serving::start(&[&folder.at("data")]);
    let (url, target) = (serving.url("a.zarr"), folder.at("b.zarr"));
    rechunk(&["copy", &url, &target, "--chunks", "10,10", "--max-mem", "64MiB"]).ok();
    rechunk(&["verify", &array, &target]).ok();
}

#[test]
fn signals_end_requests_first_and_the_exit_code_is_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let folder = Folder::new();
        std::fs::create_dir(folder.at("data")).unwrap();
        std::fs::write(folder.at("data/large"), vec![7; 32 << 20]).unwrap();
        let mut serving = Serving::start(&[&folder.at("data")]);
        let _idle = serving.connect();
        let mut stream = serving.connect();
        stream.write_all(b"GET /large HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
        let mut begin = [0; 1000];
        stream.read_exact(&mut begin).unwrap();
        serving.signal(signal);
        std::thread::sleep(Duration::from_millis(200));
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert!(rest.len() + begin.len() > 32 << 20, "only {} bytes came", rest.len());
        let (code, said) = serving.ended();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("path=\"/large\" status=200 bytes=33554432"), "{said}");
    }
}

/// Creates a data set of one block of 32³ at its only place; its name.
fn create(serving: &Serving, compression: &str) -> String {
    let description = json!({
        "voxelType": "uint16", "dimensions": [32, 32, 32], "compression": compression,
        "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [32, 32, 32]}],
    });
    let body = description.to_string().into_bytes();
    let (status, id) = serving.ask("POST", "/datasets", "application/json", &body).unwrap();
    assert_eq!(status, 200, "{id:?}");
    String::from_utf8(id).unwrap()
}

#[test]
fn row_40_what_clients_write_others_read_as_n5() {
    let folder = Folder::new();
    let root = folder.at("root");
    let serving = Serving::start(&["datastore", &root, "--write"]);
    let sent = block([32, 32, 32], 1);
    // What is sent is big-endian, x fastest: reversed, the elements of z, y, x in C order.
    let little: Vec<u8> = sent[12..].chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
    let hex = |byte: &u8| format!("{byte:02x}");
    let digest: String = Sha256::digest(&little).iter().map(hex).collect();
    for compression in ["raw", "gzip", "bzip2", "xz", "lz4", "zstd", "blosc"] {
        let id = create(&serving, compression);
        let path = format!("/datasets/{id}/1/1/1/0/0/0/0/0/0/0");
        assert_eq!(serving.ask("POST", &path, BYTES, &sent).unwrap().0, 200);
        let array = format!("{root}/{id}/0/export.n5/setup0/timepoint0/s0");
        let target = folder.at(&format!("{compression}.npy"));
        rechunk(&["copy", &array, &target, "--max-mem", "64MiB"]).ok();
        let ours = std::fs::read(target).unwrap();
        assert_eq!(&ours[ours.len() - little.len()..], little, "{compression}");
        if compression == "lz4" || !available() {
            continue; // that of Java, which nobody else here reads
        }
        // z5py takes no group for a container but one that says so.
        let alone = folder.at(&format!("alone.n5/{compression}"));
        copy_directory(array.as_ref(), alone.as_ref());
        std::fs::write(folder.at("alone.n5/attributes.json"), "{\"n5\": \"2.0.0\"}").unwrap();
        for world in [World::Z3, World::Z2] {
            for answer in read_n5(world, &[&alone]) {
                for (reader, said) in answer.as_object().unwrap() {
                    // zstd has come late to some of them.
                    let may_refuse = compression == "zstd" && said.get("error").is_some();
                    assert!(
                        may_refuse || said["sha256"] == digest,
                        "{compression} {reader}: {said}"
                    );
                }
            }
        }
    }
}

#[test]
fn row_58_a_kill_leaves_the_old_block_or_the_new_one_and_what_was_acknowledged() {
    let folder = Folder::new();
    let root = folder.at("root");
    let all: Vec<Vec<u8>> = (0..8).map(|seed| block([32, 32, 32], seed)).collect();
    let serving = Serving::start(&["datastore", &root, "--write"]);
    let id = create(&serving, "gzip");
    let path = format!("/datasets/{id}/1/1/1/0/0/0/0/0/0/0");
    assert_eq!(serving.ask("POST", &path, BYTES, &all[0]).unwrap().0, 200);
    drop(serving);
    let mut last = 0;
    for round in 0..12_u64 {
        let mut serving = Serving::start(&["datastore", &root, "--write"]);
        let (status, found) = serving.ask("GET", &path, BYTES, b"").unwrap();
        assert_eq!(status, 200);
        assert_eq!(found, all[last], "round {round}: an acknowledged block is lost");
        let killer = {
            let number = i32::try_from(serving.child.id()).unwrap();
            let wait = Duration::from_micros(1500 * (round * 7 % 12) + 300);
            std::thread::spawn(move || {
                std::thread::sleep(wait);
                kill_process(Pid::from_raw(number).unwrap(), Signal::KILL).unwrap();
            })
        };
        let mut under_way = last;
        for next in (0..all.len()).cycle().skip(last + 1) {
            under_way = next;
            match serving.ask("POST", &path, BYTES, &all[next]) {
                Some((200, _)) => last = next,
                _ => break,
            }
        }
        killer.join().unwrap();
        serving.child.wait().unwrap();
        let again = Serving::start(&["datastore", &root]);
        let (status, found) = again.ask("GET", &path, BYTES, b"").unwrap();
        assert_eq!(status, 200);
        assert!(found == all[last] || found == all[under_way], "round {round}: neither block");
        if found == all[under_way] {
            last = under_way;
        }
    }
}

#[test]
fn row_62_datasets_are_served_on_this_machine_and_read_only_unless_told() {
    let folder = Folder::new();
    let root = folder.at("root");
    rechunk(&["serve", "datastore", &root]).ends_with(3).says(&["is not there"]);
    std::fs::create_dir(&root).unwrap();
    let run = Run::rechunk(&["serve", "datastore", "--help"]).go();
    let said: Vec<&str> = run.stdout.split_whitespace().collect();
    assert!(said.join(" ").contains("[default: 127.0.0.1:9080]"), "{said:?}");
    let mut serving = Serving::start(&["datastore", &root]);
    let (status, _) = serving.ask("POST", "/datasets", "application/json", b"{}").unwrap();
    assert_eq!(status, 403);
    serving.signal(Signal::TERM);
    let (code, said) = serving.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("method=POST path=\"/datasets\" status=403"), "{said}");
}

#[test]
fn tokens_are_made_listed_and_revoked_on_the_command_line() {
    let folder = Folder::new();
    let (file, root) = (folder.at("tokens.json"), folder.at("root"));
    let token = rechunk(&["serve", "token", "add", &file, "ada", "--role", "admin"]).ok().stdout;
    assert!(token.starts_with("rck_") && token.trim_end().len() == 47, "{token}");
    rechunk(&["serve", "token", "add", &file, "ada"]).ends_with(2).says(&["already"]);
    let add = ["serve", "token", "add", &file, "bo", "--role", "write", "--dataset", "x"];
    rechunk(&add).ok();
    let listed = rechunk(&["serve", "token", "list", &file]).ok().stdout;
    assert_eq!(listed, "ada\tadmin\tall\nbo\twrite\tx\n");
    let listed = rechunk(&["serve", "token", "list", &file, "--json"]).ok().json();
    assert_eq!(listed["tokens"][1]["datasets"], json!(["x"]));
    let serving = Serving::start(&["datastore", &root, "--write", "--tokens", &file]);
    assert_eq!(serving.ask("GET", "/datasets/x", BYTES, b"").unwrap().0, 401);
    let with_token =
        format!("/datasets/x HTTP/1.1\r\nAuthorization: Bearer {}\r\nX:", token.trim());
    assert_eq!(serving.ask("GET", &with_token, BYTES, b"").unwrap().0, 404);
    rechunk(&["serve", "token", "revoke", &file, "ada"]).ok();
    rechunk(&["serve", "token", "revoke", &file, "ada"]).ends_with(2).says(&["no token"]);
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(serving.ask("GET", &with_token, BYTES, b"").unwrap().0, 403);
    let nowhere = folder.at("nowhere.json");
    let words = ["serve", "datastore", &root, "--tokens", &nowhere];
    rechunk(&words).ends_with(3).says(&["no file of tokens"]);
}
