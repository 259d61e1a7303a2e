//! Databases of tests, one of each kind.

use std::path::Path;

use rechunk_register::Database;
use rechunk_store::Store;
use rechunk_testkit::Postgres;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tempfile::TempDir;

/// A place of data sets, and its database.
pub(crate) struct Place {
    pub folder: TempDir,
    pub database: Database,
    postgres: Option<Postgres>,
}

impl Place {
    /// A place for each kind of database that there is.
    pub(crate) fn all(test: &str) -> Vec<Self> {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::in_root(folder.path());
        let mut places = vec![Self { folder, database, postgres: None }];
        if let Some(postgres) = Postgres::start(test).unwrap() {
            let database = Database::parse(&postgres.database("images").unwrap()).unwrap();
            let folder = tempfile::tempdir().unwrap();
            places.push(Self { folder, database, postgres: Some(postgres) });
        }
        places
    }

    pub(crate) fn root(&self) -> Store {
        Store::open(self.folder.path().to_str().unwrap()).unwrap()
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        self.postgres.is_none()
    }

    pub(crate) fn file(&self) -> std::path::PathBuf {
        self.folder.path().join(".datastore/datastore.sqlite")
    }

    /// Has the database do statements, behind the back of the register.
    pub(crate) async fn run(&self, sql: &str) {
        match &self.postgres {
            Some(postgres) => drop(postgres.ask("images", sql).unwrap()),
            None => run_sqlite(&self.file(), sql).await,
        }
    }
}

async fn run_sqlite(file: &Path, sql: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let options = SqliteConnectOptions::new().filename(file).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}
