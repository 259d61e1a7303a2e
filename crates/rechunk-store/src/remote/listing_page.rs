//! Pages of a listing: a server that goes on for ever is noticed, and one that ends too early.
//!
//! A listing ends with a page that names no next one. The library below asks for the next one as
//! long as there is one to ask for, and says nothing before it has found an object. It takes any
//! document for a page, one without objects if it is something else; and does not look whether a
//! page says that it is cut off, as servers do that know only the first version of listings and do
//! not say where to go on
//! (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html>).

use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use url::form_urlencoded;

/// Most pages in a row without a name on them. A store may have to say that it found nothing yet
/// (Azure does at the ends of its partitions), but not that often.
const EMPTY_PAGES_MAX: u32 = 200;
/// Elements of a page for an object, or for several together: in S3 and GCS, and in Azure.
const NAMES: [&str; 4] = ["<Contents>", "<CommonPrefixes>", "<Blob>", "<BlobPrefix>"];
/// Where a page says what comes next, and what a request says for it: in S3 and GCS, and in Azure.
const OF_S3: (&str, &str) = ("NextContinuationToken", "continuation-token");
const OF_AZURE: (&str, &str) = ("NextMarker", "marker");

/// Token for the place where a listing that is cut off would go on.
const CUT_OFF: &str = "rechunk: the listing is cut off";
const PAGE_END: &str = "</ListBucketResult>";
const EMPTY_TOKENS: [&str; 2] =
    ["<NextContinuationToken></NextContinuationToken>", "<NextContinuationToken/>"];

/// The root of a page: in S3 and GCS, and in Azure.
const ROOTS: [&str; 2] = ["<ListBucketResult", "<EnumerationResults"];

/// Whether a request asks for a page of a listing.
pub(super) fn is_listing(query: &str) -> bool {
    query.split('&').any(|part| part.starts_with("list-type=") || part == "comp=list")
}

/// The pages that one client was given.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Empty ones, since there was another.
    empty: AtomicU32,
}

impl Pages {
    /// The answer to `query`; what is wrong with it, if that does not lead to the end of a listing.
    /// One that is cut off leads to a page that [`asks_for_more_than_there_is`]: who wants one
    /// name of it gets that.
    #[expect(clippy::needless_pass_by_value, reason = "it is handed on where nothing changes")]
    pub(super) fn read(&self, query: &str, body: Bytes) -> Result<Bytes, String> {
        let text = String::from_utf8_lossy(&body);
        if let Some(fault) = self.fault(query, &text) {
            return Err(fault);
        }
        let unmarked = without_markers(&text);
        let (body, text) = match unmarked {
            Some(unmarked) => (Bytes::from(unmarked.clone()), Cow::Owned(unmarked)),
            None => (body.clone(), text),
        };
        if text.contains("<IsTruncated>true<") && next_page(query, &text).is_none() {
            let whole =
                EMPTY_TOKENS.iter().fold(text.into_owned(), |text, empty| text.replace(empty, ""));
            let (page, end) =
                whole.split_once(PAGE_END).ok_or("its answer is no page of a listing")?;
            let (element, _) = OF_S3;
            return Ok(format!("{page}<{element}>{CUT_OFF}</{element}>{PAGE_END}{end}").into());
        }
        Ok(body)
    }

    fn fault(&self, query: &str, text: &str) -> Option<String> {
        if !ROOTS.iter().any(|root| text.contains(root)) {
            return Some("its answer is no page of a listing".to_owned());
        }
        let next = next_page(query, text);
        let is_empty = !NAMES.iter().any(|name| text.contains(name));
        let Some((parameter, token)) = next.filter(|_| is_empty) else {
            self.empty.store(0, Ordering::Relaxed);
            let (parameter, token) = next?;
            return goes_back(query, parameter, token);
        };
        if self.empty.fetch_add(1, Ordering::Relaxed) >= EMPTY_PAGES_MAX {
            return Some(format!(
                "its listing does not end: {EMPTY_PAGES_MAX} pages without an object, and more to come"
            ));
        }
        goes_back(query, parameter, token)
    }
}

/// Element of a page for an object, with its key and its size: in S3 and GCS, and in Azure.
const OBJECTS: [[&str; 3]; 2] = [["Contents", "Key", "Size"], ["Blob", "Name", "Content-Length"]];
/// Ends of the names of empty objects that stand for folders: those of consoles and file managers,
/// and of Hadoop.
const MARKER_ENDS: [&str; 2] = ["/", "_$folder$"];

/// A page without the empty objects that stand for folders: where nothing else is, there is
/// nothing. The library below takes `a/` for an object `a`. `None` if there are none.
fn without_markers(text: &str) -> Option<String> {
    let may_have_some = OBJECTS
        .iter()
        .flat_map(|[_, key, _]| MARKER_ENDS.map(|end| format!("{end}</{key}>")))
        .any(|end| text.contains(&end));
    if !may_have_some {
        return None;
    }
    let left = OBJECTS.iter().fold(text.to_owned(), |text, [object, key, size]| {
        let (open, close) = (format!("<{object}>"), format!("</{object}>"));
        let mut left = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((start, end)) = element(rest, &open, &close) {
            let is_marker = |object: &str| {
                let name = inside(object, key).unwrap_or_default();
                let is_empty = inside(object, size).is_some_and(|bytes| bytes.trim() == "0");
                is_empty && MARKER_ENDS.iter().any(|end| name.ends_with(end))
            };
            let keeps_to = if is_marker(&rest[start..end]) { start } else { end };
            left.push_str(&rest[..keeps_to]);
            rest = &rest[end..];
        }
        left + rest
    });
    (left.len() < text.len()).then_some(left)
}

/// Where the first element between these two tags is, tags included.
fn element(text: &str, open: &str, close: &str) -> Option<(usize, usize)> {
    let start = text.find(open)?;
    let end = start + text[start..].find(close)? + close.len();
    Some((start, end))
}

/// The text of the first element of this name.
fn inside<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}

/// Where a page says that the next one begins, and what a request calls that.
fn next_page<'a>(query: &str, text: &'a str) -> Option<(&'static str, &'a str)> {
    let (element, parameter) = if query.contains("comp=list") { OF_AZURE } else { OF_S3 };
    let (_, rest) = text.split_once(&format!("<{element}>"))?;
    let (token, _) = rest.split_once("</")?;
    (!token.is_empty()).then_some((parameter, token))
}

/// Fault of a `query` for the page behind one that was cut off.
pub(super) fn asks_for_more_than_there_is(query: &str) -> Option<String> {
    let (_, parameter) = OF_S3;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs
        .any(|(name, token)| name == parameter && token == CUT_OFF)
        .then(|| "its listing is cut off: a page says that there is more, and not where".to_owned())
}

/// The next page is the one that was asked for.
fn goes_back(query: &str, parameter: &str, token: &str) -> Option<String> {
    let unescaped = token
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&");
    let asked = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == parameter);
    asked.is_some_and(|(_, asked)| asked == unescaped).then(|| {
        "its listing does not end: a page says that the next one is that page again".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_objects_that_stand_for_folders_are_left_out() {
        let object = |key: &str, size: u64| {
            format!("<Contents><Key>{key}</Key><ETag>e</ETag><Size>{size}</Size></Contents>")
        };
        let blob = |name: &str, size: u64| {
            format!(
                "<Blob><Name>{name}</Name><Properties><Content-Length>{size}</Content-Length>\
                 </Properties></Blob>"
            )
        };
        let prefix = "<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>\
                      <BlobPrefix><Name>a/</Name></BlobPrefix>";
        for (object, kept) in [
            (object("a/", 0), false),
            (object("a/b c/", 0), false),
            (object("a_$folder$", 0), false),
            (object("a/", 7), true),
            (object("a", 0), true),
            (object("a/0", 0), true),
            (blob("a/", 0), false),
            (blob("a/b_$folder$", 0), false),
            (blob("a/", 1), true),
            (blob("a", 0), true),
        ] {
            let others = [object_of(1), prefix.to_owned(), object_of(2)];
            let page =
                |object: &str| format!("<R>{}{}{object}{}</R>", others[0], others[1], others[2]);
            let found = without_markers(&page(&object)).unwrap_or_else(|| page(&object));
            let expected = if kept { page(&object) } else { page("") };
            assert_eq!(found, expected, "{object}");
        }
    }

    fn object_of(number: u64) -> String {
        format!("<Contents><Key>c/{number}</Key><Size>0</Size></Contents>")
    }

    fn page(names: &str, next: &str) -> String {
        format!("<ListBucketResult>{names}{next}</ListBucketResult>")
    }

    /// Fault of a page, or of the request for the one that it leads to.
    fn fault(pages: &Pages, query: &str, body: &[u8]) -> Option<String> {
        match pages.read(query, Bytes::copy_from_slice(body)) {
            Err(fault) => Some(fault),
            Ok(page) => {
                let text = String::from_utf8(page.to_vec()).unwrap();
                let next = next_page(query, &text);
                let query = next.map(|(name, token)| {
                    form_urlencoded::Serializer::new(String::new())
                        .append_pair(name, token)
                        .finish()
                });
                assert!(page == body || next.is_some());
                query.and_then(|query| asks_for_more_than_there_is(&query))
            }
        }
    }

    #[test]
    fn a_page_that_leads_to_itself_is_a_fault() {
        let pages = Pages::default();
        let next = "<NextContinuationToken>a&amp;b c=</NextContinuationToken>";
        let s3 = page("<Contents><Key>a</Key></Contents>", next);
        assert_eq!(fault(&pages, "list-type=2", s3.as_bytes()), None);
        let before = "continuation-token=a%26b&list-type=2";
        assert_eq!(fault(&pages, before, s3.as_bytes()), None);
        for query in
            ["continuation-token=a%26b+c%3D&list-type=2", "continuation-token=a%26b%20c%3D"]
        {
            let fault = fault(&pages, query, s3.as_bytes()).unwrap();
            assert!(fault.contains("that page again"), "{fault}");
        }
        let page = |names: &str, next: &str| {
            format!("<EnumerationResults><Blobs>{names}</Blobs>{next}</EnumerationResults>")
        };
        let azure = page("<Blob><Name>a</Name></Blob>", "<NextMarker>2!x</NextMarker>");
        assert_eq!(fault(&pages, "comp=list&marker=1%21x", azure.as_bytes()), None);
        assert!(fault(&pages, "comp=list&marker=2%21x", azure.as_bytes()).is_some());
        let last = page("<Blob><Name>a</Name></Blob>", "<NextMarker></NextMarker>");
        assert_eq!(fault(&pages, "comp=list&marker=", last.as_bytes()), None);
    }

    #[test]
    fn what_is_not_a_whole_page_is_a_fault() {
        let pages = Pages::default();
        let more = "<IsTruncated>true</IsTruncated>";
        let name = "<Contents><Key>a</Key></Contents>";
        for (body, word) in [
            (page(name, more), "cut off"),
            (page(name, &format!("{more}<NextMarker></NextMarker>")), "cut off"),
            (page("", &format!("{more}<NextContinuationToken/>")), "cut off"),
            ("<Error><Code>InternalError</Code></Error>".to_owned(), "no page"),
            ("<html><body>public bucket</body></html>".to_owned(), "no page"),
            ("<ListAllMyBucketsResult/>".to_owned(), "no page"),
            (String::new(), "no page"),
        ] {
            let fault = fault(&pages, "list-type=2", body.as_bytes()).unwrap();
            assert!(fault.contains(word), "{fault}");
        }
        for last in ["<IsTruncated>false</IsTruncated>", ""] {
            assert_eq!(fault(&pages, "list-type=2", page(name, last).as_bytes()), None);
        }
        assert_eq!(fault(&pages, "list-type=2", b"<?xml?><ListBucketResult xmlns=\"a\"/>"), None);
        // The first version's word for where to go on is none that is asked with here.
        let first = page(name, &format!("{more}<NextMarker>a</NextMarker>"));
        assert!(fault(&pages, "list-type=2", first.as_bytes()).unwrap().contains("cut off"));
    }

    #[test]
    fn empty_pages_come_to_an_end() {
        let pages = Pages::default();
        let empty = |number: u32| {
            let next = format!("<NextContinuationToken>{number}</NextContinuationToken>");
            fault(&pages, "list-type=2", page("", &next).as_bytes())
        };
        let full = page("<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>", "");
        for number in 0..EMPTY_PAGES_MAX {
            assert_eq!(empty(number), None);
        }
        assert_eq!(fault(&pages, "list-type=2", full.as_bytes()), None, "they count in a row");
        for number in 0..EMPTY_PAGES_MAX {
            assert_eq!(empty(number), None);
        }
        assert!(empty(0).unwrap().contains("without an object"));
    }

    #[test]
    fn listings_are_known_by_their_query() {
        assert!(is_listing("list-type=2&prefix=a") && is_listing("restype=container&comp=list"));
        assert!(!is_listing("versionId=1") && !is_listing("prefix=list-type=2"));
    }
}
