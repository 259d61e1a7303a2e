//! The register as a datastore asks it.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use rechunk_datastore::{Change, DatastoreError, Known, Register};
use rechunk_store::AppendFile;
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{AnyConnection, AnyPool, ConnectOptions};
use tokio::time::{Instant, sleep, timeout};

use crate::change::SqlChange;
use crate::failures::{away, failed, passes};
use crate::rows;

/// Time that a database has to answer.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(5);
/// Wait before a question is asked again.
const AGAIN_WAIT: Duration = Duration::from_millis(50);
/// Time that others may hold a lock that is waited for.
const LOCK_TIME: Duration = Duration::from_secs(30);
/// Connections for questions.
const READS_MAX: u32 = 8;
/// Connections of changes, of which all but a few wait for their turn.
const CHANGES_MAX: u32 = 8;

/// A question about a data set.
type Question<T> =
    for<'c> fn(&'c mut AnyConnection, &'c str) -> BoxFuture<'c, Result<T, sqlx::Error>>;

/// A register in a database.
#[derive(Debug)]
pub(crate) struct SqlRegister {
    reads: AnyPool,
    changes: AnyPool,
    identity: String,
    is_shared: bool,
    is_sqlite: bool,
    /// A file that is only read: it may not be there yet.
    file: Option<PathBuf>,
    /// Held as long as this may be written, where the store has no lock.
    _lock: Option<AppendFile>,
}

/// A register that is to be made.
#[derive(Debug)]
pub(crate) struct Settings {
    pub options: AnyConnectOptions,
    pub identity: String,
    pub is_sqlite: bool,
    pub is_shared: bool,
    pub file: Option<PathBuf>,
    pub lock: Option<AppendFile>,
}

fn pool(options: &AnyConnectOptions, connections: u32) -> AnyPool {
    let settings = AnyPoolOptions::new().max_connections(connections).acquire_timeout(ANSWER_TIME);
    settings.connect_lazy_with(options.clone().disable_statement_logging())
}

impl SqlRegister {
    pub(crate) fn new(settings: Settings) -> Self {
        let Settings { options, identity, is_sqlite, is_shared, file, lock } = settings;
        let (reads, changes) = (pool(&options, READS_MAX), pool(&options, CHANGES_MAX));
        Self { reads, changes, identity, is_shared, is_sqlite, file, _lock: lock }
    }

    /// Asks until there is an answer, or time is over: connections that have died meanwhile are
    /// replaced by new ones.
    async fn ask<T>(&self, id: &str, question: Question<T>) -> Result<Option<T>, DatastoreError> {
        if let Some(file) = &self.file
            && !tokio::fs::try_exists(file).await.unwrap_or(true)
        {
            return Ok(None);
        }
        let end = Instant::now() + ANSWER_TIME;
        loop {
            let asked = async {
                let mut connection = self.reads.acquire().await?;
                question(&mut connection, id).await
            };
            match timeout(end.saturating_duration_since(Instant::now()), asked).await {
                Ok(Ok(answer)) => return Ok(Some(answer)),
                Ok(Err(error)) if passes(&error) && Instant::now() + AGAIN_WAIT < end => {
                    tracing::debug!(%error, "the database is asked again");
                    sleep(AGAIN_WAIT).await;
                }
                Ok(Err(error)) => return Err(failed(&error)),
                Err(elapsed) => return Err(away(elapsed)),
            }
        }
    }

    /// A connection that holds a lock.
    async fn locked(&self, lock: &str) -> Result<SqlChange, DatastoreError> {
        let end = Instant::now() + LOCK_TIME;
        let connection = loop {
            match self.changes.acquire().await {
                Ok(connection) => break connection,
                // All of them wait for their turn.
                Err(sqlx::Error::PoolTimedOut)
                    if self.changes.size() >= CHANGES_MAX
                        && self.changes.num_idle() == 0
                        && Instant::now() < end => {}
                Err(error) => return Err(failed(&error)),
            }
        };
        if self.is_sqlite {
            return Ok(SqlChange::new(connection, None));
        }
        let mut change = SqlChange::new(connection, Some(format!("{} {lock}", self.identity)));
        match timeout(end.saturating_duration_since(Instant::now()), change.lock()).await {
            Ok(locked) => locked.map_err(|error| failed(&error))?,
            Err(_) => return Err(away(format!("another server holds the lock of {lock}"))),
        }
        Ok(change)
    }
}

#[async_trait]
impl Register for SqlRegister {
    fn is_shared(&self) -> bool {
        self.is_shared
    }

    fn identity(&self) -> &str {
        &self.identity
    }

    async fn find(&self, id: &str) -> Result<Option<Known>, DatastoreError> {
        let found = self.ask(id, |connection, id| Box::pin(rows::find(connection, id))).await?;
        Ok(found.flatten())
    }

    async fn names(&self) -> Result<Vec<String>, DatastoreError> {
        let names = self.ask("", |connection, _| Box::pin(rows::names(connection)));
        Ok(names.await?.unwrap_or_default())
    }

    async fn common_metadata(&self, id: &str) -> Result<Option<String>, DatastoreError> {
        let text = self.ask(id, |connection, id| Box::pin(rows::common_metadata(connection, id)));
        let text = text.await?;
        Ok(text.flatten())
    }

    async fn change(&self, lock: &str) -> Result<Box<dyn Change>, DatastoreError> {
        let end = Instant::now() + ANSWER_TIME;
        loop {
            match self.locked(lock).await {
                Ok(change) => return Ok(Box::new(change)),
                // A connection that has died meanwhile.
                Err(DatastoreError::Unavailable(_)) if Instant::now() < end => {
                    sleep(AGAIN_WAIT).await;
                }
                Err(error) => return Err(error),
            }
        }
    }
}
