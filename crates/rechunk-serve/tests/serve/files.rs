//! The view of a directory.

use std::fs;

use rechunk_serve::file_view;
use reqwest::StatusCode;
use tempfile::TempDir;

use crate::harness::{Served, header};

/// Larger than what is read at once, and no multiple of it.
const LARGE: usize = (1 << 20) + 17;

fn large() -> Vec<u8> {
    (0..LARGE).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect()
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("served/store.zarr");
    fs::create_dir_all(store.join("c/0")).unwrap();
    fs::write(store.join("zarr.json"), r#"{"zarr_format": 3}"#).unwrap();
    fs::write(store.join("c/0/0"), b"0123456789").unwrap();
    fs::write(store.join("large"), large()).unwrap();
    fs::write(store.join("empty"), b"").unwrap();
    fs::write(store.join("page.html"), b"<script>alert(1)</script>").unwrap();
    fs::write(store.join("a b%<&>\"'é"), b"odd").unwrap();
    fs::write(folder.path().join("secret"), b"secret").unwrap();
    folder
}

async fn served(folder: &TempDir) -> Served {
    Served::with(file_view(&folder.path().join("served"), None).unwrap()).await
}

#[tokio::test]
async fn a_file_is_sent_whole_with_its_validators() {
    let folder = folder();
    let served = served(&folder).await;
    let answer = served.get("/store.zarr/large").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(header(&answer, "content-length"), LARGE.to_string());
    assert_eq!(header(&answer, "accept-ranges"), "bytes");
    assert_eq!(header(&answer, "content-type"), "application/octet-stream");
    assert_eq!(header(&answer, "access-control-allow-origin"), "");
    assert!(header(&answer, "last-modified").ends_with("GMT"));
    let etag = header(&answer, "etag").to_owned();
    assert!(etag.starts_with('"') && etag.len() > 8, "{etag}");
    assert_eq!(answer.bytes().await.unwrap(), large());

    let answer = served.get("/store.zarr/zarr.json").send().await.unwrap();
    assert_eq!(header(&answer, "content-type"), "application/json");
    let answer = served.get("/store.zarr/empty").send().await.unwrap();
    assert_eq!((answer.status(), header(&answer, "content-length")), (StatusCode::OK, "0"));
    // A page among data does not run.
    let answer = served.get("/store.zarr/page.html").send().await.unwrap();
    assert_eq!(header(&answer, "content-type"), "application/octet-stream");
    assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
}

#[tokio::test]
async fn ranges_and_suffixes_are_sent_as_parts() {
    let folder = folder();
    let served = served(&folder).await;
    let whole = large();
    for (range, from, to) in [
        ("bytes=0-0", 0, 1),
        ("bytes=5-300000", 5, 300_001),
        ("bytes=1048576-", 1 << 20, LARGE),
        ("bytes=-17", 1 << 20, LARGE),
        ("bytes=-99999999", 0, LARGE),
        ("bytes=1-99999999", 1, LARGE),
    ] {
        let answer = served.get("/store.zarr/large").header("range", range).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::PARTIAL_CONTENT, "{range}");
        let of = format!("bytes {from}-{}/{LARGE}", to - 1);
        assert_eq!(header(&answer, "content-range"), of, "{range}");
        assert_eq!(header(&answer, "content-length"), (to - from).to_string());
        assert_eq!(answer.bytes().await.unwrap(), whole[from..to], "{range}");
    }
    for range in ["bytes=1048593-", "bytes=-0", "bytes=99999999999999999999-"] {
        let answer = served.get("/store.zarr/large").header("range", range).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::RANGE_NOT_SATISFIABLE, "{range}");
        assert_eq!(header(&answer, "content-range"), format!("bytes */{LARGE}"));
    }
    for range in ["bytes=0-1,5-6", "bytes=9-1", "items=1-2", "bytes=x"] {
        let answer = served.get("/store.zarr/c/0/0").header("range", range).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{range}");
        assert_eq!(answer.bytes().await.unwrap(), &b"0123456789"[..]);
    }
}

#[tokio::test]
async fn a_file_that_is_known_is_not_sent_again() {
    let folder = folder();
    let served = served(&folder).await;
    let path = "/store.zarr/c/0/0";
    let answer = served.get(path).send().await.unwrap();
    let etag = header(&answer, "etag").to_owned();
    let modified = header(&answer, "last-modified").to_owned();
    for (name, value, wanted) in [
        ("if-none-match", etag.as_str(), 304),
        ("if-none-match", "\"other\", W/\"more\"", 200),
        ("if-none-match", "*", 304),
        ("if-modified-since", modified.as_str(), 304),
        ("if-modified-since", "Mon, 01 Jan 1990 00:00:00 GMT", 200),
        ("if-match", etag.as_str(), 200),
        ("if-match", "\"other\"", 412),
        ("if-unmodified-since", "Mon, 01 Jan 1990 00:00:00 GMT", 412),
    ] {
        let answer = served.get(path).header(name, value).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), wanted, "{name}: {value}");
        if wanted == 304 {
            assert_eq!(header(&answer, "etag"), etag);
            assert_eq!(answer.bytes().await.unwrap(), "");
        }
    }
    // A range of another state is the whole of this one.
    let part =
        |state: &str| served.get(path).header("range", "bytes=2-3").header("if-range", state);
    assert_eq!(part(&etag).send().await.unwrap().status(), StatusCode::PARTIAL_CONTENT);
    assert_eq!(part("\"other\"").send().await.unwrap().status(), StatusCode::OK);

    // Replaced by a file as large and as old.
    let file = folder.path().join("served").join(&path[1..]);
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(file.with_extension("new"), b"abcdefghij").unwrap();
    let new = fs::File::options().write(true).open(file.with_extension("new")).unwrap();
    new.set_modified(time).unwrap();
    fs::rename(file.with_extension("new"), &file).unwrap();
    let answer = served.get(path).header("if-none-match", &etag).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.bytes().await.unwrap(), &b"abcdefghij"[..]);
}

#[tokio::test]
async fn head_says_what_get_would_send() {
    let folder = folder();
    let served = served(&folder).await;
    let answer = served.head("/store.zarr/large").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(header(&answer, "content-length"), LARGE.to_string());
    assert_eq!(answer.bytes().await.unwrap(), "");
    assert_eq!(served.head("/store.zarr/nothing").send().await.unwrap().status(), 404);
    assert_eq!(served.head("/store.zarr/").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_directory_is_a_page_of_links() {
    let folder = folder();
    let served = served(&folder).await;
    let answer = served.get("/store.zarr/").send().await.unwrap();
    assert_eq!(header(&answer, "content-type"), "text/html; charset=utf-8");
    let page = answer.text().await.unwrap();
    assert!(page.contains("<title>Directory listing for /store.zarr/</title>"), "{page}");
    assert!(page.contains("<li><a href=\"c/\">c/</a></li>"), "{page}");
    assert!(page.contains("<li><a href=\"zarr.json\">zarr.json</a></li>"), "{page}");
    // Names are text, and their links lead to them.
    let odd = page.lines().find(|line| line.contains("a b%")).unwrap();
    assert!(odd.contains("a b%&lt;&amp;&gt;&quot;&#39;é</a>"), "{odd}");
    let link = odd.split('"').nth(1).unwrap();
    let answer = served.get(&format!("/store.zarr/{link}")).send().await.unwrap();
    assert_eq!(answer.text().await.unwrap(), "odd");

    let answer = served.get("/store.zarr").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::MOVED_PERMANENTLY);
    assert_eq!(header(&answer, "location"), "./store.zarr/");
    assert_eq!(served.get("/store.zarr/zarr.json/").send().await.unwrap().status(), 404);
    let page = served.get("/").send().await.unwrap().text().await.unwrap();
    assert!(page.contains("<a href=\"store.zarr/\">") && !page.contains("secret"), "{page}");
}

#[tokio::test]
async fn a_large_directory_is_listed_in_full() {
    let folder = folder();
    let many = folder.path().join("served/many");
    fs::create_dir(&many).unwrap();
    for name in 0..21_500 {
        fs::write(many.join(name.to_string()), "").unwrap();
    }
    let served = served(&folder).await;
    let page = served.get("/many/").send().await.unwrap().text().await.unwrap();
    let mut names: Vec<u32> = page
        .lines()
        .filter_map(|line| line.strip_prefix("<li><a href=\"")?.split('"').next()?.parse().ok())
        .collect();
    names.sort_unstable();
    assert_eq!(names, (0..21_500).collect::<Vec<_>>());
    assert!(page.ends_with("</html>\n"));
}

#[tokio::test]
async fn no_path_leads_out_of_the_directory() {
    let folder = folder();
    let served = served(&folder).await;
    for target in [
        "/../secret",
        "/store.zarr/../../secret",
        "/%2e%2e/secret",
        "/.%2E/secret",
        "/%2e%2e%2fsecret",
        "/store.zarr/%00",
        "/store.zarr/c%00/0",
        "//etc/passwd",
        "/..%5csecret",
    ] {
        let answer = served.raw("GET", target).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{target}: {answer}");
        assert!(!answer.ends_with("secret"), "{target}: {answer}");
    }
    let long = format!("/{}", "x".repeat(5000));
    assert_eq!(served.get(&long).send().await.unwrap().status(), 404);
    assert_eq!(served.get(&"/x".repeat(3000)).send().await.unwrap().status(), 404);
}

#[cfg(unix)]
#[tokio::test]
async fn links_that_lead_out_are_refused_and_others_followed() {
    use std::os::unix::fs::symlink;

    let folder = folder();
    let place = folder.path().join("served");
    symlink("../secret", place.join("out")).unwrap();
    symlink(folder.path(), place.join("up")).unwrap();
    symlink("out", place.join("chain")).unwrap();
    symlink("round", place.join("round")).unwrap();
    symlink("nowhere", place.join("dangling")).unwrap();
    symlink("store.zarr", place.join("inside")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let served = served(&folder).await;
    for (path, wanted) in [
        ("/out", 403),
        ("/up/secret", 403),
        ("/up/", 403),
        ("/chain", 403),
        ("/round", 404),
        ("/dangling", 404),
        ("/pipe", 404),
        ("/inside/c/0/0", 200),
    ] {
        let answer = served.get(path).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), wanted, "{path}");
    }
    let page = served.get("/").send().await.unwrap().text().await.unwrap();
    assert!(page.contains("<a href=\"inside/\">"), "{page}");
}

#[tokio::test]
async fn nothing_is_written() {
    let folder = folder();
    let served = served(&folder).await;
    for method in ["PUT", "POST", "DELETE", "PATCH", "OPTIONS"] {
        let answer = served.raw(method, "/store.zarr/c/0/0").await;
        assert!(answer.starts_with("HTTP/1.1 405"), "{method}: {answer}");
        assert!(answer.contains("allow: GET, HEAD"), "{method}: {answer}");
    }
    let file = folder.path().join("served/store.zarr/c/0/0");
    assert_eq!(fs::read(file).unwrap(), b"0123456789");
}

#[tokio::test]
async fn row_63_pages_of_the_origin_that_is_named_may_read_parts() {
    let folder = folder();
    let origin = "https://neuroglancer-demo.appspot.com".parse().unwrap();
    let view = file_view(&folder.path().join("served"), Some(&origin)).unwrap();
    let served = Served::with(view).await;
    let answer = served
        .get("/store.zarr/c/0/0")
        .header("origin", "https://neuroglancer-demo.appspot.com")
        .header("range", "bytes=-2")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::PARTIAL_CONTENT);
    assert_eq!(
        header(&answer, "access-control-allow-origin"),
        "https://neuroglancer-demo.appspot.com"
    );
    let exposed = header(&answer, "access-control-expose-headers");
    for name in ["content-range", "content-length", "accept-ranges", "etag"] {
        assert!(exposed.contains(name), "{exposed}");
    }
    // What a browser asks first.
    let asked = served
        .client
        .request(reqwest::Method::OPTIONS, format!("{}/store.zarr/c/0/0", served.base))
        .header("origin", "https://neuroglancer-demo.appspot.com")
        .header("access-control-request-method", "GET")
        .header("access-control-request-headers", "range")
        .send()
        .await
        .unwrap();
    assert_eq!(asked.status(), StatusCode::OK);
    assert!(header(&asked, "access-control-allow-headers").contains("range"));
    assert!(header(&asked, "access-control-allow-methods").contains("GET"));
}

#[tokio::test]
async fn a_file_that_becomes_shorter_breaks_off_and_is_never_filled_up() {
    let folder = folder();
    let path = folder.path().join("served/shrinks");
    fs::write(&path, vec![1; 64 << 20]).unwrap();
    let served = served(&folder).await;
    let mut answer = served.get("/shrinks").send().await.unwrap();
    assert!(!answer.chunk().await.unwrap().unwrap().is_empty());
    fs::File::options().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
    let mut outcome = Ok(());
    while outcome.is_ok() {
        match answer.chunk().await {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => outcome = Err(error),
        }
    }
    outcome.expect_err("all bytes came, though the file has lost them");
}

#[test]
fn what_is_no_directory_is_not_served() {
    let folder = folder();
    let error = file_view(&folder.path().join("secret"), None).unwrap_err().to_string();
    assert!(error.starts_with("cannot serve ") && error.contains("secret"), "{error}");
}
