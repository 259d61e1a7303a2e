//! `rechunk serve`: a process that others read from, and that ends when it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::arrays::RawArray;
use crate::harness::{Folder, Run, rechunk};

/// A server, which is killed when a test fails.
struct Serving {
    child: Child,
    address: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended, as it should.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    fn start(words: &[&str]) -> Self {
        let run = Run::rechunk(&[&["serve"], words, &["--listen", "127.0.0.1:0"]].concat());
        let mut child = run.without("RUST_LOG").start();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        assert!(address.starts_with("127.0.0.1:") && !address.ends_with(":0"), "{address}");
        Self { child, address }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream
    }

    fn signal(&self, signal: Signal) {
        let number = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(number).unwrap(), signal).unwrap();
    }

    /// Its exit code and what is on stderr, once it has ended.
    fn ended(&mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "the server does not end");
            std::thread::sleep(Duration::from_millis(20));
        };
        let mut said = String::new();
        self.child.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
        (status.code(), said)
    }
}

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
