//! Locations of levels: `datastore+http://host/datasets/NAME/RX/RY/RZ/VERSION?channel=1`.

use crate::StoreError;

/// Beginning of the schemes, before that of the server.
const PREFIX: &str = "datastore+";
/// Form of a location, for whoever has written another.
const FORM: &str = "it is datastore+http://HOST/datasets/NAME/RX/RY/RZ/VERSION, with the factors of a level \
                    (1/1/1) and a number, latest, new or mixedLatest as version";
/// Axes that a query may fix.
const FIXED: [&str; 3] = ["time", "channel", "angle"];

/// Version that a location names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VersionAsked {
    Number(u64),
    /// The one with the highest number.
    Latest,
    /// Of each block the newest version that has it.
    MixedLatest,
    /// One that is to be made.
    New,
}

/// A level of a data set at a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LevelLocation {
    /// URL of the server, and of its path if it has one: without a slash at its end.
    pub(super) base: String,
    /// Name of the data set, as URLs write it.
    pub(super) name: String,
    pub(super) factors: [u64; 3],
    pub(super) version: VersionAsked,
    /// Number of the time, channel and angle, where one is chosen.
    pub(super) fixed: [Option<u64>; 3],
}

impl LevelLocation {
    /// Reads a location whose scheme is one of ours. Touches nothing.
    pub(crate) fn parse(location: &str) -> Result<Self, StoreError> {
        let shown = location.split_once('?').map_or(location, |(path, _)| path);
        let refuse = |reason: &str| StoreError::refused_location(shown, reason);
        let url = location.strip_prefix(PREFIX).ok_or_else(|| refuse(FORM))?;
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let names: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        // `http:`, nothing, the host; then the path of the server.
        let Some(at) = names.len().checked_sub(6).filter(|at| *at >= 3) else {
            return Err(refuse(FORM));
        };
        let (base, level) = names.split_at(at);
        let &["datasets", name, x, y, z, version] = level else { return Err(refuse(FORM)) };
        if !base.iter().skip(3).chain([&name]).all(|name| is_name(name)) {
            return Err(refuse("a name in it is not as URLs write it"));
        }
        let mut factors = [0; 3];
        for (factor, text) in factors.iter_mut().zip([x, y, z]) {
            *factor = number(text).filter(|factor| *factor > 0).ok_or_else(|| refuse(FORM))?;
        }
        let version = match version {
            "latest" => VersionAsked::Latest,
            "mixedLatest" => VersionAsked::MixedLatest,
            "new" => VersionAsked::New,
            text => VersionAsked::Number(number(text).ok_or_else(|| refuse(FORM))?),
        };
        let fixed = fixed(query).ok_or_else(|| {
            refuse("behind the ? there may be time=N, channel=N and angle=N, with & between them")
        })?;
        let (base, name) = (base.join("/"), name.to_owned());
        Ok(Self { base, name, factors, version, fixed })
    }

    /// URL of the data set.
    pub(super) fn dataset_url(&self) -> String {
        format!("{}/datasets/{}", self.base, self.name)
    }

    /// URL of the level, of a version in words.
    pub(super) fn level_url(&self, version: &str) -> String {
        let [x, y, z] = self.factors;
        format!("{}/{x}/{y}/{z}/{version}", self.dataset_url())
    }

    /// Its location, of the version `number`.
    pub(super) fn with_version(&self, number: u64) -> String {
        let chosen: Vec<String> = FIXED
            .iter()
            .zip(self.fixed)
            .filter_map(|(axis, number)| number.map(|number| format!("{axis}={number}")))
            .collect();
        let query =
            if chosen.is_empty() { String::new() } else { format!("?{}", chosen.join("&")) };
        format!("{PREFIX}{}{query}", self.level_url(&number.to_string()))
    }
}

fn number(text: &str) -> Option<u64> {
    // `+1` and `01` are other names.
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

/// True for a name that leads nowhere else, and may stand in a URL as it is.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%!$'()*+,;=:@".contains(&byte);
    !matches!(name, "" | "." | "..") && name.bytes().all(is_plain)
}

fn fixed(query: &str) -> Option<[Option<u64>; 3]> {
    let mut fixed = [None; 3];
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=')?;
        let axis = FIXED.iter().position(|name| *name == key)?;
        if fixed[axis].replace(number(value)?).is_some() {
            return None;
        }
    }
    Some(fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_server_a_level_and_a_version() {
        let parse = |text: &str| LevelLocation::parse(text).unwrap();
        let found = parse("datastore+http://host:9080/datasets/a%20b/2/2/1/latest/");
        assert_eq!(found.base, "http://host:9080");
        assert_eq!(found.level_url("3"), "http://host:9080/datasets/a%20b/2/2/1/3");
        assert_eq!((found.version, found.fixed), (VersionAsked::Latest, [None; 3]));
        let found = parse("datastore+https://h/lab/x/datasets/U/1/1/1/new?angle=0&time=7");
        assert_eq!(found.base, "https://h/lab/x");
        assert_eq!((found.version, found.fixed), (VersionAsked::New, [Some(7), None, Some(0)]));
        let numbered = "datastore+https://h/lab/x/datasets/U/1/1/1/12?time=7&angle=0";
        assert_eq!(found.with_version(12), numbered);
        assert_eq!(parse(numbered).version, VersionAsked::Number(12));
    }

    #[test]
    fn other_locations_are_refused_and_queries_not_repeated() {
        for text in [
            "datastore+http://h",
            "datastore+http://h/datasets/U",
            "datastore+http://h/datasets/U/1/1/1",
            "datastore+http://h/data/U/1/1/1/0",
            "datastore+http://h/datasets/U/1/1/0/0",
            "datastore+http://h/datasets/U/1/1/1/01",
            "datastore+http://h/datasets/U/1/1/1/newest",
            "datastore+http://h/datasets/../1/1/1/0",
            "datastore+http://h/datasets/a b/1/1/1/0",
            "datastore+http://datasets/U/1/1/1/0",
            "datastore+http://h/datasets/U/1/1/1/0?canary=1",
            "datastore+http://h/datasets/U/1/1/1/0?time=canary",
            "datastore+http://h/datasets/U/1/1/1/0?time=1&time=1",
        ] {
            let error = LevelLocation::parse(text).unwrap_err().to_string();
            assert!(!error.contains("canary"), "{error}");
        }
    }
}
