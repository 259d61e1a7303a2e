//! Bearer tokens: who may do what. A file has their hashes; a token itself is seen once, when it is
//! made.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use rechunk_store::StoreError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use thiserror::Error;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::one_file::OneFile;

/// Random bytes of a token: nobody guesses them, so that a fast hash is enough.
const TOKEN_BYTES: usize = 32;
/// First letters of a token, by which people and scanners know it.
const PREFIX: &str = "rck_";
/// Largest file of tokens, bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// Time after which a file is read again: a token that is revoked is refused within it.
const FRESH_TIME: Duration = Duration::from_secs(1);
/// Longest name of a token, bytes.
const NAME_BYTES_MAX: usize = 200;

/// Rights of a token; each has those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads descriptions and blocks.
    Read,
    /// Writes blocks, makes and removes versions, adds channels.
    Write,
    /// Creates and deletes data sets.
    Admin,
}

impl Role {
    /// A role by its name: `read`, `write` or `admin`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "read" => Self::Read,
            "write" => Self::Write,
            "admin" => Self::Admin,
            _ => return None,
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// Why tokens cannot be read, made or revoked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file is none of tokens.
    #[error("{path} is no file of tokens: {reason}")]
    Damaged {
        /// The file.
        path: String,
        /// The fault.
        reason: String,
    },
    /// The file is not there.
    #[error("there is no file of tokens at {path}")]
    Missing {
        /// The file.
        path: String,
    },
    /// A name that cannot be taken, or that no token has.
    #[error("{0}")]
    Name(String),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
}

/// A token, without the token itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its name, for logs and to revoke it.
    pub name: String,
    /// Its rights.
    pub role: Role,
    /// Names of the data sets that it is for; `None`: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datasets: Option<Vec<String>>,
    /// SHA-256 of the token, in base64 for URLs.
    sha256: String,
}

impl Token {
    /// True if it allows `role` for a data set; for all of them, if none is named.
    pub(crate) fn may(&self, role: Role, dataset: Option<&str>) -> bool {
        let is_of = match (&self.datasets, dataset) {
            (None, _) => true,
            // Reading that concerns none in particular tells nothing of others.
            (Some(_), None) => role == Role::Read,
            (Some(own), Some(dataset)) => own.iter().any(|name| name == dataset),
        };
        is_of && self.role >= role
    }
}

/// All tokens of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// The tokens, in the order in which they were made.
    pub tokens: Vec<Token>,
}

impl Tokens {
    /// The token that was sent. All of them are compared, each in a time that tells nothing.
    pub(crate) fn find(&self, sent: &str) -> Option<&Token> {
        let sent = hashed(sent);
        let mut found = None;
        for token in &self.tokens {
            if bool::from(token.sha256.as_bytes().ct_eq(sent.as_bytes())) {
                found = Some(token);
            }
        }
        found
    }
}

/// Writes into the audit log which tokens have come and gone.
fn note_changes(before: &Tokens, after: &Tokens) {
    for (old, new, action) in [(before, after, "add token"), (after, before, "revoke token")] {
        for token in new.tokens.iter().filter(|token| !old.tokens.contains(token)) {
            let (name, role) = (token.name.as_str(), token.role.name());
            tracing::info!(target: "rechunk_serve::audit", action, name, role);
        }
    }
}

fn hashed(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token.as_bytes()))
}

#[derive(Debug)]
struct Seen {
    bytes: Option<Bytes>,
    tokens: Arc<Tokens>,
    read: Option<Instant>,
}

/// A file of tokens.
#[derive(Debug)]
pub struct TokenFile {
    file: OneFile,
    seen: Mutex<Seen>,
}

impl TokenFile {
    /// The file at a path, which need not be there.
    pub fn at(path: &str) -> Result<Self, TokenError> {
        let wrong = || TokenError::Name(format!("{path:?} is no path of a file"));
        let file = OneFile::at(path)?.ok_or_else(wrong)?;
        let seen = Mutex::new(Seen { bytes: None, tokens: Arc::default(), read: None });
        Ok(Self { file, seen })
    }

    /// The tokens that are valid now. Fails where the file is gone: nobody gets in by that.
    pub(crate) async fn current(&self) -> Result<Arc<Tokens>, TokenError> {
        let mut seen = self.seen.lock().await;
        if seen.read.is_some_and(|read| read.elapsed() < FRESH_TIME) {
            return Ok(Arc::clone(&seen.tokens));
        }
        let bytes = self.file.read(FILE_BYTES_MAX).await?;
        let bytes = bytes.ok_or_else(|| self.missing())?;
        if seen.bytes.as_ref() != Some(&bytes) {
            let tokens = Arc::new(self.parse(&bytes)?);
            if seen.bytes.is_some() {
                note_changes(&seen.tokens, &tokens);
            }
            seen.tokens = tokens;
            seen.bytes = Some(bytes);
        }
        seen.read = Some(Instant::now());
        Ok(Arc::clone(&seen.tokens))
    }

    /// All tokens; an error if there is no file.
    pub async fn list(&self) -> Result<Tokens, TokenError> {
        self.stored().await?.ok_or_else(|| self.missing())
    }

    /// Tokens of the file; `None` if there is no file.
    async fn stored(&self) -> Result<Option<Tokens>, TokenError> {
        let bytes = self.file.read(FILE_BYTES_MAX).await?;
        bytes.map(|bytes| self.parse(&bytes)).transpose()
    }

    /// Checks that the file can be read, before anybody asks.
    pub async fn check(&self) -> Result<(), TokenError> {
        self.current().await.map(drop)
    }

    /// Makes a token of a name that no other has, and returns it: it is nowhere else.
    pub async fn add(
        &self,
        name: &str,
        role: Role,
        datasets: Option<Vec<String>>,
    ) -> Result<String, TokenError> {
        let _lock = self.file.lock().await;
        let mut tokens = self.stored().await?.unwrap_or_default();
        let is_odd = name.is_empty() || name.len() > NAME_BYTES_MAX;
        if is_odd || name.contains(char::is_control) {
            return Err(TokenError::Name(format!("{name:?} is no name of a token")));
        }
        if tokens.tokens.iter().any(|token| token.name == name) {
            return Err(TokenError::Name(format!("there is a token {name:?} already")));
        }
        let mut random = [0; TOKEN_BYTES];
        getrandom::fill(&mut random).map_err(|error| TokenError::Random(error.to_string()))?;
        let token = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random));
        let (name, sha256) = (name.to_owned(), hashed(&token));
        tokens.tokens.push(Token { name, role, datasets, sha256 });
        self.write(&tokens).await?;
        Ok(token)
    }

    /// Removes the token of a name; a server that has the file refuses it within a second.
    pub async fn revoke(&self, name: &str) -> Result<(), TokenError> {
        let _lock = self.file.lock().await;
        let mut tokens = self.list().await?;
        let count = tokens.tokens.len();
        tokens.tokens.retain(|token| token.name != name);
        if tokens.tokens.len() == count {
            return Err(TokenError::Name(format!("there is no token {name:?}")));
        }
        self.write(&tokens).await
    }

    async fn write(&self, tokens: &Tokens) -> Result<(), TokenError> {
        let bytes = serde_json::to_vec_pretty(tokens).map_err(|error| self.damaged(&error))?;
        Ok(self.file.write(bytes).await?)
    }

    fn parse(&self, bytes: &[u8]) -> Result<Tokens, TokenError> {
        serde_json::from_slice(bytes).map_err(|error| self.damaged(&error))
    }

    fn missing(&self) -> TokenError {
        TokenError::Missing { path: self.file.path().to_owned() }
    }

    fn damaged(&self, error: &serde_json::Error) -> TokenError {
        TokenError::Damaged { path: self.file.path().to_owned(), reason: error.to_string() }
    }
}
