//! The path of a request, decoded, with nothing in it that could lead elsewhere.

use hyper::Uri;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// Characters of a name that a link cannot have as they are.
const IN_LINKS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'&')
    .add(b'\'')
    .add(b'/')
    .add(b':')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// A name as it stands in a link.
pub(super) fn linked(name: &str) -> String {
    utf8_percent_encode(name, IN_LINKS).to_string()
}

/// A place below the directory that is served.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Names with `/` between them; `.` for the directory itself.
    path: String,
    names_directory: bool,
}

impl Target {
    /// The place that a request is about; `None` where its path names none. `..` in any spelling,
    /// empty names, NUL, and slashes that are encoded name nothing.
    pub(super) fn of(uri: &Uri) -> Option<Self> {
        let path = uri.path().strip_prefix('/')?;
        if path.is_empty() {
            return Some(Self { path: ".".to_owned(), names_directory: true });
        }
        let names_directory = path.ends_with('/');
        let path = path.strip_suffix('/').unwrap_or(path);
        let names = path.split('/').map(|name| {
            let name = percent_decode_str(name).decode_utf8().ok()?;
            let is_name = !["", ".", ".."].contains(&&*name) && !name.contains(['/', '\\', '\0']);
            is_name.then(|| name.into_owned())
        });
        let path = names.collect::<Option<Vec<_>>>()?.join("/");
        Some(Self { path, names_directory })
    }

    /// The path, relative to the directory that is served.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The request ends with a slash.
    pub(super) fn names_directory(&self) -> bool {
        self.names_directory
    }

    /// The place as a directory, relative to what named it: behind a proxy that adds a path, the
    /// browser knows which.
    pub(super) fn as_directory(&self) -> String {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        format!("./{}/", linked(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str) -> Option<(String, bool)> {
        let target = Target::of(&path.parse().unwrap())?;
        Some((target.path, target.names_directory))
    }

    #[test]
    fn paths_stay_below() {
        let named = |path: &str, is_directory| Some((path.to_owned(), is_directory));
        assert_eq!(target("/"), named(".", true));
        assert_eq!(target("/a/b%20c"), named("a/b c", false));
        assert_eq!(target("/a/"), named("a", true));
        assert_eq!(target("/%C3%A9?x=1"), named("é", false));
        for path in [
            "/..",
            "/a/../b",
            "/%2e%2e/b",
            "/%2E%2e",
            "/a/.%2e",
            "/.",
            "/a//b",
            "//",
            "/a%2fb",
            "/a%00",
            "/%ff",
            "/a%5cb",
        ] {
            assert_eq!(target(path), None, "{path}");
        }
    }

    #[test]
    fn links_lead_back() {
        let name = "a b%?#&\"<>'é";
        let target = Target::of(&format!("/{}", linked(name)).parse().unwrap()).unwrap();
        assert_eq!(target.path(), name);
    }
}
