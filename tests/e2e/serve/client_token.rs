//! The token that servers of data sets are shown.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::client::{Lab, SHAPE, write_array};
use super::serving::Serving;
use crate::harness::{Folder, Run, rechunk};

/// Starts a server that gives each request its answer: status, header lines and body. Where it is,
/// and the heads of the requests.
fn answering(
    answer: impl Fn(&str) -> (u16, String, String) + Send + 'static,
) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heads = Arc::clone(&asked);
    // It ends with the test.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut head, mut length) = (String::new(), 0);
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
            for line in head.to_lowercase().lines() {
                if let Some(number) = line.strip_prefix("content-length: ") {
                    length = number.parse().unwrap();
                }
            }
            std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink()).unwrap();
            let (status, lines, body) = answer(&head);
            heads.lock().unwrap().push(head);
            let text = format!(
                "HTTP/1.1 {status} X\r\nConnection: close\r\n{lines}Content-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let _ = reader.get_mut().write_all(text.as_bytes());
        }
    });
    (address, asked)
}

#[test]
fn a_token_is_shown_to_its_server_and_to_nobody_else() {
    let folder = Folder::new();
    let (file, root) = (folder.at("tokens.json"), folder.at("root"));
    let add = |name: &str, role: &str| {
        let words = ["serve", "token", "add", &file, name, "--role", role];
        rechunk(&words).ok().stdout.trim_end().to_owned()
    };
    let (admin, reader) = (add("ada", "admin"), add("bo", "read"));
    let open = Serving::start(&["datastore", &root, "--write"]);
    let lab = Lab { folder, serving: open };
    let id = lab.create(&json!({}));
    let Lab { folder, serving } = lab;
    drop(serving);
    let serving = Serving::start(&["datastore", &root, "--write", "--tokens", &file]);
    let lab = Lab { folder, serving };
    let source = lab.at("a.zarr");
    write_array(&source, "<u2", &SHAPE, 1);
    let target = lab.level(&id, "new");
    let run = |token: &str| {
        let run = Run::rechunk(&["copy", &source, &target, "-v"]).in_directory(lab.folder.path());
        let run = run.env("RECHUNK_DATASTORE_TOKEN", token).env("RUST_LOG", "trace").go();
        assert!(token.is_empty() || !run.stderr.contains(token), "the token is printed");
        assert!(token.is_empty() || !run.stdout.contains(token), "the token is printed");
        run
    };
    run("").fails().says(&["401", "set RECHUNK_DATASTORE_TOKEN"]);
    run(&reader).fails().says(&["403", "a token that allows it"]);
    run("two words").fails().says(&["RECHUNK_DATASTORE_TOKEN holds no token"]);
    run(&admin).ok();
    // Where that server leads, it is not shown.
    let (elsewhere, there) = answering(|_| (200, String::new(), json!({"version": 7}).to_string()));
    let location = format!("Location: http://{elsewhere}/datasets/x/1/1/1/7/\r\n");
    let description = json!({
        "voxelType": "uint16", "dimensions": [71, 53, 19], "versions": [0, 7],
        "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [16, 16, 8]}],
    });
    let (leading, here) = answering(move |request| match request.split(' ').nth(1).unwrap() {
        "/datasets/x" => (200, String::new(), description.to_string()),
        "/datasets/x/1/1/1/new/write" => (307, location.clone(), String::new()),
        _ => (200, String::new(), String::new()),
    });
    let target = format!("datastore+http://{leading}/datasets/x/1/1/1/new");
    let run = Run::rechunk(&["copy", &source, &target]).in_directory(lab.folder.path());
    run.env("RECHUNK_DATASTORE_TOKEN", &admin).go().ok().says(&[]);
    let (here, there) = (here.lock().unwrap(), there.lock().unwrap());
    let shows = |request: &String| request.contains(&admin);
    assert!(here.len() > 2 && here.iter().all(shows), "{here:?}");
    assert!(there.len() == 1 && !there.iter().any(shows), "{there:?}");
    assert!(here.iter().any(|request| request.starts_with("POST /datasets/x/1/1/1/7/0/0/0/0/0/0")));
    let versions = lab.folder.at(&format!("root/{id}/1"));
    assert!(Path::new(&versions).exists() && !Path::new(&versions.replace("/1", "/2")).exists());
}
