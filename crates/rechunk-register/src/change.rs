//! A change on a connection of its own, which holds a lock.

use std::time::Duration;

use async_trait::async_trait;
use rechunk_datastore::{Change, DatastoreError, Edit, Known};
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection};
use tokio::time::timeout;

use crate::failures::{away, failed};
use crate::rows::{self, column};

/// Time that an edit may take.
const EDIT_TIME: Duration = Duration::from_secs(10);

/// Locks are of the session: what is done in the store after a commit is done under them too.
const LOCK: &str = "SELECT CAST(pg_advisory_lock(hashtextextended($1, 0)) AS TEXT) AS held";
const UNLOCK: &str = "SELECT CAST(pg_advisory_unlock(hashtextextended($1, 0)) AS TEXT) AS held";

const REMOVE: &str = "DELETE FROM dataset_info WHERE uuid = $1";
const ADD_VERSION: &str = "INSERT INTO dataset_versions (dataset_uuid, number) VALUES ($1, $2)";
const REMOVE_VERSION: &str = "DELETE FROM dataset_versions WHERE dataset_uuid = $1 AND number = $2";
const SET_TEXT: &str = "UPDATE dataset_info SET common_metadata = $2 WHERE uuid = $1";

/// A change under way.
#[derive(Debug)]
pub(crate) struct SqlChange {
    connection: Option<PoolConnection<Any>>,
    /// The lock that it holds in PostgreSQL. A file of SQLite has one process that writes.
    lock: Option<String>,
    /// True between begin and commit.
    is_open: bool,
}

impl SqlChange {
    pub(crate) fn new(connection: PoolConnection<Any>, lock: Option<String>) -> Self {
        Self { connection: Some(connection), lock, is_open: false }
    }

    /// Waits for the lock.
    pub(crate) async fn lock(&mut self) -> Result<(), sqlx::Error> {
        let lock = self.lock.clone().unwrap_or_default();
        let Some(connection) = &mut self.connection else { return Err(sqlx::Error::PoolClosed) };
        sqlx::query(LOCK).bind(lock).execute(&mut **connection).await.map(drop)
    }

    fn connection(&mut self) -> Result<&mut AnyConnection, DatastoreError> {
        let connection = self.connection.as_deref_mut();
        connection.ok_or_else(|| away("the connection of a change was given up"))
    }

    async fn statement(&mut self, sql: &'static str) -> Result<(), DatastoreError> {
        let done = sqlx::query(sql).execute(self.connection()?).await;
        done.map(drop).map_err(|error| failed(&error))
    }

    async fn begun(&mut self) -> Result<&mut AnyConnection, DatastoreError> {
        if !self.is_open {
            let begin = if self.lock.is_none() { "BEGIN IMMEDIATE" } else { "BEGIN" };
            self.is_open = true;
            self.statement(begin).await?;
        }
        self.connection()
    }

    async fn do_edit(&mut self, edit: Edit) -> Result<(), DatastoreError> {
        let connection = self.begun().await?;
        let query = match &edit {
            Edit::Describe(dataset) => return rows::update(connection, dataset).await,
            Edit::Enter { dataset, .. } => sqlx::query(REMOVE).bind(dataset.uuid.clone()),
            Edit::Remove { id } => sqlx::query(REMOVE).bind(id.clone()),
            Edit::AddVersion { id, number } => {
                sqlx::query(ADD_VERSION).bind(id.clone()).bind(column(*number)?)
            }
            Edit::RemoveVersion { id, number } => {
                sqlx::query(REMOVE_VERSION).bind(id.clone()).bind(column(*number)?)
            }
            Edit::SetCommonMetadata { id, text } => {
                sqlx::query(SET_TEXT).bind(id.clone()).bind(text.clone().into_bytes())
            }
        };
        query.execute(&mut *connection).await.map_err(|error| failed(&error))?;
        let Edit::Enter { dataset, versions, common_metadata } = edit else { return Ok(()) };
        rows::insert(connection, &dataset, common_metadata).await?;
        for number in versions {
            let version = sqlx::query(ADD_VERSION).bind(dataset.uuid.clone()).bind(column(number)?);
            version.execute(&mut *connection).await.map_err(|error| failed(&error))?;
        }
        Ok(())
    }
}

impl Drop for SqlChange {
    fn drop(&mut self) {
        // Whoever gets a connection from the pool wants one without a lock or a transaction.
        if let Some(connection) = &mut self.connection {
            connection.close_on_drop();
        }
    }
}

/// Bounds an answer in time.
async fn in_time<T>(
    answer: impl Future<Output = Result<T, DatastoreError>>,
) -> Result<T, DatastoreError> {
    timeout(EDIT_TIME, answer).await.unwrap_or_else(|elapsed| Err(away(elapsed)))
}

#[async_trait]
impl Change for SqlChange {
    async fn find(&mut self, id: &str) -> Result<Option<Known>, DatastoreError> {
        let connection = self.connection()?;
        in_time(async { rows::find(connection, id).await.map_err(|error| failed(&error)) }).await
    }

    async fn common_metadata(&mut self, id: &str) -> Result<Option<String>, DatastoreError> {
        let connection = self.connection()?;
        let text = rows::common_metadata(connection, id);
        in_time(async { text.await.map_err(|error| failed(&error)) }).await
    }

    async fn edit(&mut self, edit: Edit) -> Result<(), DatastoreError> {
        in_time(self.do_edit(edit)).await
    }

    async fn commit(&mut self) -> Result<(), DatastoreError> {
        if self.is_open {
            in_time(self.statement("COMMIT")).await?;
            self.is_open = false;
        }
        Ok(())
    }

    async fn release(mut self: Box<Self>) {
        let is_open = self.is_open;
        let Some(mut connection) = self.connection.take() else { return };
        let lock = self.lock.clone();
        let let_go = async {
            if is_open {
                sqlx::query("ROLLBACK").execute(&mut *connection).await?;
            }
            if let Some(lock) = lock {
                sqlx::query(UNLOCK).bind(lock).execute(&mut *connection).await?;
            }
            Ok::<_, sqlx::Error>(())
        };
        if !matches!(timeout(EDIT_TIME, let_go).await, Ok(Ok(()))) {
            connection.close_on_drop();
        }
    }
}
