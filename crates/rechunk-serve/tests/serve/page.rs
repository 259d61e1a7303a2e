//! Files of the page for people: `tests/e2e/serve/page.rs` looks at it in a browser.

use crate::harness::{Store, header};

#[tokio::test]
async fn the_page_and_its_files_run_and_fetch_nothing_of_others() {
    let store = Store::new().await;
    let page = store.served.get("/").send().await.unwrap();
    assert_eq!(header(&page, "content-type"), "text/html; charset=utf-8");
    let policy = header(&page, "content-security-policy").to_owned();
    for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    let text = page.text().await.unwrap();
    assert!(!text.contains("onclick") && !text.contains(" style=") && !text.contains("//"));
    let mut names: Vec<String> = Vec::new();
    let of_page = |text: &str, begin: &str| {
        let parts = text.split(begin).skip(1).filter_map(|rest| rest.split('"').next());
        parts.map(str::to_owned).collect::<Vec<_>>()
    };
    names.extend(of_page(&text, "\"page/"));
    let mut at = 0;
    while at < names.len() {
        let path = format!("/page/{}", names[at]);
        let answer = store.served.get(&path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
        let kind = header(&answer, "content-type").to_owned();
        let wanted = match path.rsplit('.').next().unwrap() {
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            _ => "image/svg+xml",
        };
        assert_eq!(kind, wanted, "{path}");
        let text = answer.text().await.unwrap();
        for imported in of_page(&text, "from \"./") {
            if !names.contains(&imported) {
                names.push(imported);
            }
        }
        at += 1;
    }
    assert_eq!(names.len(), 10, "{names:?}");
    assert_eq!(store.get("/page/mod.rs").await.0, 404);
    assert_eq!(store.get("/page/..%2Fopenapi.json").await.0, 404);
}
