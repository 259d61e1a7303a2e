//! Lists of keys, as `list-type=2` of S3 and of Google's XML API writes them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use crate::times::rfc3339;
use crate::uri::parameter;
use crate::xml_api::escape;

/// Entry of a list, for an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) size_bytes: u64,
    pub(crate) modified: SystemTime,
}

/// The objects of a bucket by key.
pub(crate) type Listing = BTreeMap<String, Listed>;

/// The file at `path`, if it is one.
pub(crate) fn stat(path: &Path) -> Option<Listed> {
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some(Listed { size_bytes: metadata.len(), modified: metadata.modified().ok()? })
}

/// Name of a file that stands for an empty object whose key is that of its directory and a `/`.
/// Consoles and file managers make such an object for a folder.
pub const FOLDER_MARKER: &str = ".folder-marker";

/// All files below the directory of a bucket.
pub(crate) fn scan(bucket: &Path) -> io::Result<Listing> {
    let mut listing = Listing::new();
    let mut directories = vec![bucket.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory)? {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
            } else if let (Ok(key), Some(listed)) = (path.strip_prefix(bucket), stat(&path)) {
                let key = key.to_string_lossy();
                let key = key.strip_suffix(FOLDER_MARKER).unwrap_or(&key);
                listing.insert(key.to_owned(), listed);
            }
        }
    }
    Ok(listing)
}

/// Parameters of the request for a list.
#[derive(Debug, Default)]
pub(crate) struct ListQuery {
    prefix: String,
    delimiter: String,
    /// Only what comes after it; a common prefix covers all below it.
    after: String,
    max_keys: usize,
}

const MAX_KEYS: usize = 1000;

impl ListQuery {
    pub(crate) fn parse(query: &str) -> Self {
        let text = |name| parameter(query, name).unwrap_or_default();
        let max_keys = text("max-keys").parse().unwrap_or(MAX_KEYS);
        Self {
            prefix: text("prefix"),
            delimiter: text("delimiter"),
            after: text("continuation-token").max(text("start-after")),
            max_keys: max_keys.min(MAX_KEYS),
        }
    }

    /// The common prefix that stands for the key in the list, if one does.
    fn common_prefix<'a>(&self, key: &'a str) -> Option<&'a str> {
        let rest = key.strip_prefix(&self.prefix)?;
        let at = rest.find(&self.delimiter).filter(|_| !self.delimiter.is_empty())?;
        Some(&key[..self.prefix.len() + at + self.delimiter.len()])
    }

    /// The answer: at most `max_keys` keys and common prefixes, and where to go on.
    pub(crate) fn document(&self, bucket: &str, listing: &Listing) -> String {
        let (mut entries, mut count, mut last, mut is_truncated) = (String::new(), 0, "", false);
        for (key, listed) in listing.range(self.prefix.clone()..) {
            if !key.starts_with(&self.prefix) {
                break;
            }
            let common = self.common_prefix(key);
            let name = common.unwrap_or(key);
            // Keys stand in order, so those of one common prefix follow each other.
            if name <= self.after.as_str() || name == last {
                continue;
            }
            if count == self.max_keys {
                is_truncated = true;
                break;
            }
            (last, count) = (name, count + 1);
            entries += &match common {
                Some(prefix) => common_prefix_element(prefix),
                None => contents_element(key, listed),
            };
        }
        let mut document = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult><Name>{}</Name>\
             <Prefix>{}</Prefix><KeyCount>{count}</KeyCount><MaxKeys>{}</MaxKeys>\
             <IsTruncated>{is_truncated}</IsTruncated>",
            escape(bucket),
            escape(&self.prefix),
            self.max_keys
        );
        if is_truncated {
            let token = escape(last);
            // Writing to a String cannot fail.
            let _ = write!(document, "<NextContinuationToken>{token}</NextContinuationToken>");
        }
        document + &entries + "</ListBucketResult>"
    }
}

fn common_prefix_element(prefix: &str) -> String {
    format!("<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", escape(prefix))
}

fn contents_element(key: &str, listed: &Listed) -> String {
    format!(
        "<Contents><Key>{}</Key><LastModified>{}</LastModified><Size>{}</Size></Contents>",
        escape(key),
        rfc3339(listed.modified),
        listed.size_bytes
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml_api::values;

    fn pages(query: &str) -> Vec<(Vec<String>, Vec<String>)> {
        let listed = Listed { size_bytes: 1, modified: SystemTime::UNIX_EPOCH };
        let keys = ["a", "b/1", "b/2", "b0", "c/d/1", "c/d/2", "c/e", "d&"];
        let listing: Listing = keys.iter().map(|&key| (key.to_owned(), listed.clone())).collect();
        let (mut pages, mut token) = (Vec::new(), String::new());
        loop {
            let query = format!("{query}&continuation-token={token}");
            let document = ListQuery::parse(&query).document("bucket", &listing);
            let next = values(&document, "NextContinuationToken");
            let prefixes = values(&document, "Prefix").split_off(1);
            pages.push((values(&document, "Key"), prefixes));
            match next.first() {
                Some(next) => token.clone_from(next),
                None => return pages,
            }
        }
    }

    fn page(keys: &[&str], prefixes: &[&str]) -> (Vec<String>, Vec<String>) {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        (owned(keys), owned(prefixes))
    }

    #[test]
    fn keys_below_a_delimiter_are_one_common_prefix() {
        assert_eq!(pages("delimiter=/"), [page(&["a", "b0", "d&"], &["b/", "c/"])]);
        assert_eq!(pages("prefix=c/&delimiter=/"), [page(&["c/e"], &["c/d/"])]);
        assert_eq!(pages("prefix=b"), [page(&["b/1", "b/2", "b0"], &[])]);
        assert_eq!(pages("start-after=c/d/2"), [page(&["c/e", "d&"], &[])]);
    }

    #[test]
    fn pages_go_on_where_the_last_one_ended() {
        let two = pages("delimiter=/&max-keys=2");
        let expected = [page(&["a"], &["b/"]), page(&["b0"], &["c/"]), page(&["d&"], &[])];
        assert_eq!(two, expected);
    }
}
