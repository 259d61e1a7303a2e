//! Which database it is.

use std::fmt;
use std::path::{Path, PathBuf};

use url::Url;

use crate::RegisterError;

/// The database of a root, unless another is named.
const FILE: &str = ".datastore/datastore.sqlite";
/// Settings that a URL of PostgreSQL may have after `?`.
const SETTINGS: [&str; 14] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "ssl-ca",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

#[derive(Clone)]
enum Kind {
    Sqlite(PathBuf),
    Postgres(Url),
}

/// A database, by a URL. Shown, it has no password.
#[derive(Clone)]
pub struct Database(Kind);

impl Database {
    /// The file of SQLite in the folder of the data sets.
    pub fn in_root(root: &Path) -> Self {
        Self(Kind::Sqlite(root.join(FILE)))
    }

    /// The database of a URL: `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST:PORT/NAME`. Where it
    /// has no user or password, those of PostgreSQL's own programs count (`PGUSER`, `PGPASSWORD`,
    /// `~/.pgpass`).
    ///
    /// ```
    /// use rechunk_register::Database;
    /// let database = Database::parse("postgres://ada:secret@db/images").unwrap();
    /// assert_eq!(database.to_string(), "postgres://ada@db/images");
    /// assert!(Database::parse("mysql://db/images").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, RegisterError> {
        let known = "sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME";
        let (scheme, rest) = text.split_once(':').ok_or_else(|| {
            RegisterError::Url(format!("a URL of a database has a scheme: {known}"))
        })?;
        match scheme {
            "sqlite" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                if path.is_empty() || path.starts_with(":memory:") || path.contains(['?', '\0']) {
                    let reason = format!("sqlite:{path} names no file: sqlite:PATH");
                    return Err(RegisterError::Url(reason));
                }
                Ok(Self(Kind::Sqlite(PathBuf::from(path))))
            }
            "postgres" | "postgresql" => postgres(text).map(|url| Self(Kind::Postgres(url))),
            other => {
                let reason = format!("{other:?} is no kind of database that is known: {known}");
                Err(RegisterError::Url(reason))
            }
        }
    }

    /// True if several servers may have it at once.
    pub fn is_shared(&self) -> bool {
        matches!(self.0, Kind::Postgres(_))
    }

    /// The file, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Sqlite(path) => Some(path),
            Kind::Postgres(_) => None,
        }
    }

    /// The URL as drivers take it; a file is opened with `mode`: `ro`, `rw` or `rwc`.
    pub(crate) fn url(&self, mode: &str) -> Result<Url, RegisterError> {
        match &self.0 {
            Kind::Postgres(url) => Ok(url.clone()),
            Kind::Sqlite(path) => {
                let whole = std::path::absolute(path).ok();
                let url = whole.as_deref().and_then(|path| Url::from_file_path(path).ok());
                let text = url.map(|url| format!("sqlite://{}?mode={mode}", url.path()));
                let url = text.and_then(|text| Url::parse(&text).ok());
                url.ok_or_else(|| RegisterError::Url(format!("{} is no path", path.display())))
            }
        }
    }

    /// That this database cannot be used, for a reason.
    pub(crate) fn refused(&self, reason: impl Into<String>) -> RegisterError {
        RegisterError::Database { database: self.to_string(), reason: reason.into() }
    }
}

fn postgres(text: &str) -> Result<Url, RegisterError> {
    // The text may have a password: no error repeats it.
    let wrong = |reason: String| RegisterError::Url(format!("the URL of PostgreSQL: {reason}"));
    let url = Url::parse(text).map_err(|error| wrong(error.to_string()))?;
    let unknown = url.query_pairs().map(|(key, _)| key.into_owned()).find(|key| {
        let is_option = key.starts_with("options[") && key.ends_with(']');
        !is_option && !SETTINGS.contains(&key.as_str())
    });
    if let Some(key) = unknown {
        return Err(wrong(format!("{key:?} is no setting of it")));
    }
    let names_one = url.query_pairs().any(|(key, _)| key == "dbname");
    if url.path().trim_matches('/').is_empty() && !names_one {
        return Err(wrong("it names no database: postgres://…/NAME".to_owned()));
    }
    Ok(url)
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Kind::Postgres(url) => {
                write!(f, "postgres://")?;
                if !url.username().is_empty() {
                    write!(f, "{}@", url.username())?;
                }
                write!(f, "{}", url.host_str().unwrap_or_default())?;
                if let Some(port) = url.port() {
                    write!(f, ":{port}")?;
                }
                write!(f, "{}", url.path())
            }
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_ever_shown() {
        for text in [
            "postgres://ada:s3cret@db:5433/images",
            "postgresql://db/images?user=ada&password=s3cret",
            "postgres://ada:s3cret@db/images?sslmode=require",
        ] {
            let database = Database::parse(text).unwrap();
            assert!(database.is_shared());
            for shown in [format!("{database}"), format!("{database:?}")] {
                assert!(shown.contains("images") && !shown.contains("s3cret"), "{shown}");
            }
        }
        for text in [
            "mysql://ada:s3cret@db/images",
            "postgres://ada:s3cret@db:port/images",
            "postgres://ada:s3cret@db",
            "postgres://ada:s3cret@db/images?pasword=s3cret",
            "ada.s3cret",
        ] {
            let error = Database::parse(text).unwrap_err();
            assert!(
                matches!(error, RegisterError::Url(_)) && !format!("{error:?}").contains("s3cret")
            );
        }
    }

    #[test]
    fn files_have_any_name() {
        for path in ["a.sqlite", "/x/ä b%20#c.sqlite", "dir/a:b"] {
            let database = Database::parse(&format!("sqlite:{path}")).unwrap();
            assert_eq!(database.file(), Some(Path::new(path)));
            assert_eq!(database.to_string(), format!("sqlite:{path}"));
            let url = database.url("ro").unwrap();
            assert!(url.as_str().starts_with("sqlite:///") && url.as_str().ends_with("?mode=ro"));
            assert!(url.fragment().is_none());
        }
        for text in ["sqlite:", "sqlite::memory:", "sqlite:a?mode=memory"] {
            Database::parse(text).unwrap_err();
        }
    }
}
