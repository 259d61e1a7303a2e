//! The program: what it prints leads a client to it, and it ends when it is told to.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{ObjectStoreExt, RetryConfig};

/// Ends with its test, however that ends.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(arguments: &[&str]) -> (Program, Vec<(String, String)>) {
    let child = Command::new(env!("CARGO_BIN_EXE_rechunk-testkit"))
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut child, mut variables) = (Program(child), Vec::new());
    for line in BufReader::new(child.0.stdout.as_mut().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(export) = line.strip_prefix("export ") {
            let (name, value) = export.split_once('=').unwrap();
            variables.push((name.to_owned(), value.trim_matches('\'').to_owned()));
        }
        if line.starts_with("export AWS_DEFAULT_REGION") {
            break;
        }
    }
    (child, variables)
}

#[tokio::test]
async fn what_it_prints_leads_to_it_until_it_is_stopped() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().to_str().unwrap();
    let (mut child, variables) = start(&["serve", "s3", "--root", directory]);
    let once = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let mut builder = AmazonS3Builder::new().with_bucket_name("rechunk-test").with_retry(once);
    for (name, value) in variables {
        let key: AmazonS3ConfigKey = name.to_ascii_lowercase().parse().unwrap();
        builder = builder.with_config(key, value);
    }
    let store = builder.build().unwrap();
    store.put(&Path::from("a/b"), "x".into()).await.unwrap();
    assert_eq!(std::fs::read(root.path().join("rechunk-test/a/b")).unwrap(), b"x");
    let pid = child.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(child.0.wait().unwrap().success(), "it ends in order");
    assert!(store.head(&Path::from("a/b")).await.is_err());
}

#[test]
fn what_it_does_not_understand_is_an_error_with_the_usage() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rechunk-testkit"))
        .args(["serve", "ftp"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(message.contains("`ftp`") && message.contains("--latency-ms"), "{message}");
}
