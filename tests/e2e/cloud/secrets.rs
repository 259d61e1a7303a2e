//! Secrets stay where they were given: in no output, no log, no file of a run.

use rechunk_testkit::{Filter, HttpServer, Moment, S3Server, ServerOptions};
use std::slice::from_ref;
use std::time::Duration;

use super::{Environment, S3, run, small};
use crate::harness::{Done, Run};

/// Secret that must never be seen again.
const CANARY: &str = "canary0d9c2f";

/// Runs it with all the logging there is; nothing of it has a secret.
#[track_caller]
fn is_discreet(run: Run, secrets: &[&str]) -> Done {
    let done = run.env("RUST_LOG", "trace").go();
    for secret in secrets {
        for (name, text) in [("stdout", &done.stdout), ("stderr", &done.stderr)] {
            let line = text.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{secret} in {name}: {line:?}");
        }
    }
    assert!(done.stderr.contains("TRACE"), "there is no log: {done:?}");
    done
}

/// Every object and file of a run that was killed, and of one that is kept, is free of secrets.
#[test]
fn what_a_run_leaves_has_no_secrets() {
    let s3 = S3::with(&small());
    let (id, secret) = (S3Server::ACCESS_KEY_ID, S3Server::SECRET_ACCESS_KEY);
    let environment: Environment = s3.server.environment();
    let environment = environment.into_iter().filter(|(name, _)| !name.contains("KEY"));
    let environment: Environment =
        environment.chain([("AWS_SESSION_TOKEN", CANARY.to_owned())]).collect();
    let key = [format!("access_key_id={id}"), format!("secret_access_key={secret}")];
    let (source, target) = (s3.server.url("source.zarr"), s3.server.url("t.zarr"));
    let stores = ["--store-option", &key[0], "--store-option", &key[1]];
    let push_pull = ["--chunks", "24,8,16", "--strategy", "push-pull"];
    let saved = s3.folder.at("plan.json");
    let with = |arguments: &[&str], more: &[&str]| {
        run(&[arguments, &stores, more].concat(), from_ref(&environment))
    };
    let plan = ["plan", &source, &target, "--out", &saved];
    is_discreet(with(&plan, &push_pull), &[CANARY, secret]).ok();
    // Stopped in the middle, so that everything is there that a run keeps.
    let writes = Filter::any().method("PUT").key("t.zarr/c/*");
    let hold = s3.server.hold_nth(writes, 6, Moment::Before);
    let copy = ["copy", &source, &target, "-vv", "--json"];
    let mut copying = with(&copy, &push_pull).start();
    hold.wait(Duration::from_mins(1)).expect("a chunk is written");
    copying.kill().unwrap();
    copying.wait().unwrap();
    hold.abandon();
    assert!(s3.objects().iter().any(|key| key == "t.zarr.rechunk/job.json"));
    assert_no_secret_in_files(&s3, secret);
    let resume = [&push_pull[..], &["--resume", "--keep-temp"]].concat();
    is_discreet(with(&copy, &resume), &[CANARY, secret]).ok();
    assert!(s3.objects().iter().any(|key| key.starts_with("t.zarr.rechunk/segments/")));
    assert_no_secret_in_files(&s3, secret);
    let token = s3.server.requests();
    assert!(!token.is_empty());
}

#[track_caller]
fn assert_no_secret_in_files(s3: &S3, secret: &str) {
    let mut files: Vec<_> = s3.objects().iter().map(|key| s3.disk(key)).collect();
    files.push(s3.folder.path().join("plan.json"));
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        for secret in [CANARY, secret] {
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{secret} in {}", path.display());
        }
    }
}

/// Errors say what was refused, and not what was shown.
#[test]
fn errors_have_no_secrets() {
    let s3 = S3::with(&small());
    let (source, target) = (s3.server.url("source.zarr"), s3.server.url("t.zarr"));
    let endpoint = ("AWS_ENDPOINT", s3.server.endpoint());
    let region = ("AWS_REGION", "us-east-1".to_owned());
    let wrong: Environment = vec![
        endpoint.clone(),
        region.clone(),
        ("AWS_ACCESS_KEY_ID", format!("id{CANARY}")),
        ("AWS_SECRET_ACCESS_KEY", format!("secret{CANARY}")),
        ("AWS_SESSION_TOKEN", format!("token{CANARY}")),
    ];
    let copy = ["copy", &source, &target, "-vv"];
    is_discreet(run(&copy, from_ref(&wrong)), &[CANARY]).fails().says(&["403"]);
    is_discreet(run(&["info", &source], from_ref(&wrong)), &[CANARY]).fails();
    // Said wrongly.
    for option in [
        format!("secret_acess_key={CANARY}"),
        CANARY.to_owned(),
        format!("endpoint=http://user:{CANARY}@127.0.0.1:1"),
        format!("skip_signature={CANARY}"),
        format!("allow_http={CANARY}"),
        format!("s3://rechunk-test,virtual_hosted_style_request={CANARY}"),
        format!("connect_timeout={CANARY}"),
        format!("{CANARY}="),
    ] {
        let arguments = ["info", &source, "--store-option", &option, "--max-retries", "0"];
        let done = run(&arguments, &[vec![region.clone()]]).env("RUST_LOG", "trace").go().fails();
        assert!(!done.stderr.contains(CANARY), "{}", done.stderr);
    }
    // Nobody is there.
    s3.server.stop();
    let copy = ["copy", &source, &target, "-vv", "--timeout", "1"];
    is_discreet(run(&copy, &[wrong]), &[CANARY]).fails();
}

/// A shared access signature is a part of every URL that is asked for.
#[test]
fn a_shared_access_signature_is_not_shown() {
    let server = HttpServer::start(&ServerOptions::default()).unwrap();
    let endpoint = format!("endpoint={}", server.endpoint());
    let sas = format!("sas_key=sv=2024-01-01&sp=rl&sig={CANARY}");
    let options = ["endpoint", "account"].map(|_| "--store-option");
    let account = "account_name=someone".to_owned();
    let arguments = [
        "info",
        "az://box/source.zarr",
        options[0],
        &endpoint,
        options[1],
        &account,
        "--store-option",
        &sas,
        "--timeout",
        "1",
    ];
    let environment: Environment = vec![("AZURE_STORAGE_CLIENT_ID", String::new())];
    is_discreet(run(&arguments, &[environment]), &[CANARY]).fails();
    let asked = server.requests();
    assert!(asked.iter().any(|request| request.query.contains(CANARY)), "{asked:?}");
    // The same when nobody is there.
    server.stop();
    is_discreet(run(&arguments, &[]), &[CANARY]).fails().says(&["source.zarr"]);
}
