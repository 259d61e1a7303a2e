//! A server that is a process of its own, and what clients send to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::Run;

/// The type of blocks on the wire.
pub(super) const BYTES: &str = "application/octet-stream";

/// A server, which is killed when a test fails.
pub(super) struct Serving {
    pub child: Child,
    base: String,
    pub address: String,
    said: Option<JoinHandle<String>>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended, as it should.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    pub(super) fn start(words: &[&str]) -> Self {
        Self::start_at(words, "127.0.0.1:0")
    }

    /// Starts one that listens there.
    pub(super) fn start_at(words: &[&str], listen: &str) -> Self {
        let run = Run::rechunk(&[&["serve"], words, &["--listen", listen]].concat());
        Self::of(run.without("RUST_LOG").start()).unwrap_or_else(|said| panic!("{said}"))
    }

    /// A server that was started; else all that it has said.
    pub(super) fn of(mut child: Child) -> Result<Self, String> {
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let base = line.trim_end().strip_prefix("listening on ");
        let Some(base) = base.map(ToOwned::to_owned) else {
            let output = child.wait_with_output().unwrap();
            return Err(format!("{line:?} {}", String::from_utf8_lossy(&output.stderr)));
        };
        let address = ["http://", "https://"].iter().find_map(|scheme| base.strip_prefix(scheme));
        let address = address.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        assert!(address.starts_with("127.0.0.1:") && !address.ends_with(":0"), "{address}");
        // A pipe that is full would hold the server up.
        let mut stderr = child.stderr.take().unwrap();
        let said = std::thread::spawn(move || {
            let mut said = String::new();
            stderr.read_to_string(&mut said).unwrap();
            said
        });
        Ok(Self { child, base, address, said: Some(said) })
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream
    }

    /// Status and body of an answer; `None` if the server is gone.
    pub(super) fn ask(
        &self,
        method: &str,
        path: &str,
        media: &str,
        body: &[u8],
    ) -> Option<(u16, Vec<u8>)> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_mins(1))).ok()?;
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: {media}\r\n\
             Content-Length: {length}\r\n\r\n",
            self.address
        );
        stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&answer[..end]).ok()?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, answer[end + 4..].to_vec()))
    }

    /// All blocks of a level of version 0, of a view (`t/c/a`).
    pub(super) fn blocks(&self, level: &str, counts: [u64; 3], view: &str) -> Vec<Vec<u8>> {
        let block = |[x, y, z]: [u64; 3]| {
            let path = format!("/datasets/{level}/0/{x}/{y}/{z}/{view}");
            let (status, block) = self.ask("GET", &path, BYTES, b"").unwrap();
            assert_eq!(status, 200, "{path}");
            block
        };
        positions(counts).map(block).collect()
    }

    pub(super) fn signal(&self, signal: Signal) {
        let number = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(number).unwrap(), signal).unwrap();
    }

    /// Its exit code and what is on stderr, once it has ended.
    pub(super) fn ended(&mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "the server does not end");
            std::thread::sleep(Duration::from_millis(20));
        };
        (status.code(), self.said.take().unwrap().join().unwrap())
    }
}

/// Positions of a grid of blocks, x fastest.
pub(super) fn positions([x, y, z]: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
    (0..x * y * z).map(move |number| [number % x, number / x % y, number / x / y])
}

/// A block on the wire.
pub(super) fn block(sizes: [u32; 3], seed: u32) -> Vec<u8> {
    let count = sizes.iter().product::<u32>() * 2;
    let elements = (0..count).map(|at| (at.wrapping_mul(2_654_435_761) >> 9).to_le_bytes()[0]);
    let header = sizes.map(u32::to_be_bytes).concat();
    header
        .into_iter()
        .chain(elements.map(|byte| byte.wrapping_add(seed.to_le_bytes()[0])))
        .collect()
}
