//! Tables of a database, and how those of an older version become those of this one.

use std::borrow::Cow;
use std::time::Duration;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, Row, SqlSafeStr};

use crate::failures::{is_interrupted, opening};

/// Table of the migrations that a database has had.
const TABLE: &str = "register_schema";
/// A table of ours that is there since the first version.
const FIRST_TABLE: &str = "dataset_info";
/// Time that a migration may take.
const MIGRATION_TIME: Duration = Duration::from_mins(10);

/// All migrations, oldest first. One that was released is never changed.
const MIGRATIONS: [(&str, &str); 2] = [
    ("tables", include_str!("../migrations/0001_tables.sql")),
    ("storage", include_str!("../migrations/0002_storage.sql")),
];

/// State of the tables of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It has no tables.
    Fresh,
    /// It has tables of an older version.
    Older,
    /// It has those of this version.
    Current,
}

/// Why a database cannot be used, or not be looked at.
#[derive(Debug)]
pub(crate) enum Unseen {
    /// Its last writer was killed: the next one puts it right.
    Interrupted(String),
    /// It is damaged, of another program, or of a newer version.
    Refused(String),
}

impl Unseen {
    /// The reason, for people.
    pub(crate) fn reason(self) -> String {
        match self {
            Self::Interrupted(reason) | Self::Refused(reason) => reason,
        }
    }

    fn of(error: &sqlx::Error) -> Self {
        if is_interrupted(error) {
            let reason = "a process that wrote to it was killed: start one that writes once, which \
                          puts it right";
            return Self::Interrupted(reason.to_owned());
        }
        Self::Refused(opening(error))
    }
}

fn migrator() -> Migrator {
    let migrations = (1..).zip(MIGRATIONS).map(|(version, (name, sql))| {
        let (name, sql) = (Cow::Borrowed(name), sql.into_sql_str());
        Migration::new(version, name, MigrationType::Simple, sql, false)
    });
    let mut migrator = Migrator::with_migrations(migrations.collect());
    migrator.dangerous_set_table_name(TABLE);
    migrator
}

/// Looks at a database, which is not changed.
pub(crate) async fn state(
    connection: &mut AnyConnection,
    is_sqlite: bool,
) -> Result<State, Unseen> {
    let failed = |error: sqlx::Error| Unseen::of(&error);
    let sql = if is_sqlite {
        "SELECT name FROM sqlite_master WHERE type = 'table'"
    } else {
        "SELECT CAST(tablename AS TEXT) AS name FROM pg_tables WHERE schemaname = current_schema()"
    };
    let rows = sqlx::query(sql).fetch_all(&mut *connection).await.map_err(failed)?;
    let names = rows.iter().map(|row| row.try_get::<String, _>("name"));
    let names = names.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let has = |table: &str| names.iter().any(|name| name == table);
    if !has(TABLE) {
        // Others may have tables in a database of PostgreSQL, but none of these names.
        if has(FIRST_TABLE) || (is_sqlite && !names.is_empty()) {
            return Err(foreign());
        }
        return Ok(State::Fresh);
    }
    let sql = "SELECT version, checksum FROM register_schema ORDER BY version";
    let rows = sqlx::query(sql).fetch_all(connection).await.map_err(failed)?;
    let known = migrator();
    let mut newest = 0;
    for row in rows {
        let version: i64 = row.try_get("version").map_err(failed)?;
        newest = newest.max(version);
        let Some(own) = known.iter().find(|migration| migration.version == version) else {
            continue;
        };
        let checksum: Vec<u8> = row.try_get("checksum").map_err(failed)?;
        if own.checksum[..] != checksum[..] {
            return Err(foreign());
        }
    }
    let latest = known.iter().map(|migration| migration.version).max().unwrap_or(0);
    if newest > latest {
        return Err(Unseen::Refused(format!(
            "it was written by a newer version of rechunk (its schema is {newest}, this program \
             knows up to {latest}): use that version"
        )));
    }
    Ok(if newest == latest { State::Current } else { State::Older })
}

fn foreign() -> Unseen {
    let reason = "it has tables of another program: name a database, or schema, that is empty";
    Unseen::Refused(reason.to_owned())
}

/// Makes the tables those of this version. Several processes may call this at once.
pub(crate) async fn migrate(connection: &mut AnyConnection) -> Result<(), String> {
    let migrator = migrator();
    let run = migrator.run(connection);
    match tokio::time::timeout(MIGRATION_TIME, run).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("its tables cannot be made: {error}")),
        Err(_) => Err("its tables cannot be made in time: does somebody lock them?".to_owned()),
    }
}
