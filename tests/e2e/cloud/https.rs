//! Servers with certificates, and ways through proxies.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use super::run;
use crate::harness::{fixture, root};
use crate::oracle::{World, available};

/// Serves `fixtures` with a certificate that our own authority has signed.
struct Https {
    server: Child,
    port: u16,
}

impl Https {
    fn start() -> Self {
        let mut server = Command::new(World::Z3.python())
            .arg(root().join("tests/tools/https_server.py"))
            .args([fixture(""), fixture("tls")])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().parse().unwrap();
        Self { server, port }
    }

    fn url(&self) -> String {
        format!("https://localhost:{}/ostia_monthly.zarr/surface_temperature", self.port)
    }
}

impl Drop for Https {
    fn drop(&mut self) {
        let _gone = self.server.kill();
        let _gone = self.server.wait();
    }
}

#[test]
fn an_authority_can_be_named_and_nobody_else_is_trusted() {
    if !available() {
        return;
    }
    let https = Https::start();
    let url = https.url();
    let ours = vec![("SSL_CERT_FILE", fixture("tls/authority.pem"))];
    let found = run(&["info", &url], &[ours]).go().ok();
    assert!(found.stdout.contains("time 54 × latitude 18"), "{}", found.stdout);
    let refused = run(&["info", &url], &[]).go().ends_with(3);
    let refused = refused.says(&["invalid peer certificate", "SSL_CERT_FILE"]);
    assert!(!refused.stderr.contains("retries"), "it is asked once:\n{}", refused.stderr);
    assert!(!refused.stderr.contains("ERROR"), "it is said once:\n{}", refused.stderr);
}

/// Refuses everything, and hands on what it was asked: the first line of each request.
fn proxy() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (asked, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
            let answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
            if asked.send(line).is_err() {
                return;
            }
        }
    });
    (address, requests)
}

#[test]
fn proxies_of_the_environment_and_of_options_are_used() {
    // A name of nobody: it is the proxy that would have to find it.
    let (plain, secure) = ("http://data.invalid/a.zarr", "https://data.invalid/a.zarr");
    let (address, requests) = proxy();
    let by_name = |name: &'static str, url: &str| {
        run(&["info", url, "--max-retries", "0"], &[vec![(name, address.clone())]]).go()
    };
    by_name("HTTP_PROXY", plain).ends_with(3);
    let first = requests.recv().unwrap();
    assert_eq!(first.trim(), "GET http://data.invalid/a.zarr/zarr.json HTTP/1.1");
    by_name("HTTPS_PROXY", secure).ends_with(3);
    assert!(requests.iter().any(|line| line.starts_with("CONNECT data.invalid:443 ")));
    let (address, requests) = proxy();
    let option = format!("proxy_url={address}");
    let run = run(&["info", plain, "--max-retries", "0", "--store-option", &option], &[]);
    run.go().ends_with(3);
    assert!(requests.recv().unwrap().starts_with("GET http://data.invalid/a.zarr/zarr.json"));
}
