//! A datastore that is opened with its database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rechunk_datastore::{Datastore, HeldPlace, Imported, Register, new_dataset_id};
use rechunk_store::Store;
use sqlx::any::{AnyConnectOptions, install_default_drivers};
use sqlx::{AnyConnection, ConnectOptions, Connection, Row};
use tokio::time::timeout;

use crate::failures::opening;
use crate::file_lock;
use crate::register::{Settings, SqlRegister};
use crate::schema::{State, Unseen, migrate, state};
use crate::{Database, RegisterError};

/// Time to reach a database when a server starts.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// Time that a statement has when a server starts.
const STATEMENT_TIME: Duration = Duration::from_secs(30);

const IDENTITY: &str = "SELECT identity FROM register_identity WHERE number = 1";
const NEW_IDENTITY: &str = "INSERT INTO register_identity (number, identity) VALUES (1, $1) \
    ON CONFLICT (number) DO NOTHING";
/// Changes nothing, and fails where nothing can be changed.
const TOUCH: &str = "UPDATE register_identity SET identity = identity WHERE number = 1";

/// Opens data sets to be read and written. Nothing is written anywhere before the database was seen
/// to be one that can be used.
pub async fn open_writable(root: Store, database: &Database) -> Result<Datastore, RegisterError> {
    let (place, register) = begin(root, database, Place::OfThis).await?;
    Ok(Datastore::writable(place, register).await?)
}

/// Makes the database anew of the folders that are below `root`. From now on `root` is of this
/// database.
pub async fn import(root: Store, database: &Database) -> Result<Imported, RegisterError> {
    let (place, register) = begin(root, database, Place::OfAny).await?;
    Ok(Datastore::import(place, register).await?)
}

/// Opens data sets to be read; nothing is written, also not to the database.
pub async fn open_read_only(root: Store, database: &Database) -> Result<Datastore, RegisterError> {
    let file = database.file().map(PathBuf::from);
    let options = options(database, "ro")?;
    let mut identity = String::new();
    if is_there(database).await {
        let mut connection = connect(database, &options).await?;
        let is_sqlite = file.is_some();
        let found = state(&mut connection, is_sqlite).await;
        match found.map_err(|unseen| database.refused(unseen.reason()))? {
            State::Current => identity = read_identity(&mut connection, database).await?,
            // A file that somebody else is about to fill.
            State::Fresh if is_sqlite => {}
            State::Fresh => {
                let reason = "it has no tables yet: a server that writes, or an import, makes them";
                return Err(database.refused(reason));
            }
            State::Older => {
                let reason = "its tables are of an older version: a server that writes, or an import, \
                              makes them those of this one";
                return Err(database.refused(reason));
            }
        }
        close(connection).await;
    }
    let settings = Settings {
        options,
        identity,
        is_sqlite: file.is_some(),
        is_shared: true,
        file,
        lock: None,
    };
    let register: Arc<dyn Register> = Arc::new(SqlRegister::new(settings));
    Ok(Datastore::read_only(root, register).await?)
}

/// The database that a place is of before it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    OfThis,
    OfAny,
}

async fn begin(
    root: Store,
    database: &Database,
    before: Place,
) -> Result<(HeldPlace, Arc<dyn Register>), RegisterError> {
    let is_sqlite = database.file().is_some();
    let mut is_new = true;
    if is_there(database).await {
        let mut connection = connect(database, &options(database, "ro")?).await?;
        match state(&mut connection, is_sqlite).await {
            Ok(found) => is_new = found == State::Fresh,
            Err(Unseen::Interrupted(_)) => is_new = false,
            Err(unseen) => return Err(database.refused(unseen.reason())),
        }
        close(connection).await;
    }
    let lock = match database.file() {
        Some(file) if root.local_root().is_none() => Some(file_lock::take(database, file).await?),
        _ => None,
    };
    let place = HeldPlace::take(root, database.is_shared()).await?;
    if is_new && before == Place::OfThis {
        place.check_new_register()?;
    }
    let options = options(database, "rwc")?;
    let mut connection = connect(database, &options).await?;
    let found = state(&mut connection, is_sqlite).await;
    found.map_err(|unseen| database.refused(unseen.reason()))?;
    migrate(&mut connection).await.map_err(|reason| database.refused(reason))?;
    let id = new_dataset_id()?;
    for query in [sqlx::query(NEW_IDENTITY).bind(id), sqlx::query(TOUCH)] {
        let done = timeout(STATEMENT_TIME, query.execute(&mut connection)).await;
        let done = done.map_err(|_| database.refused("it does not answer in time"))?;
        done.map_err(|error| database.refused(opening(&error)))?;
    }
    let identity = read_identity(&mut connection, database).await?;
    close(connection).await;
    let is_shared = database.is_shared();
    let settings = Settings { options, identity, is_sqlite, is_shared, file: None, lock };
    Ok((place, Arc::new(SqlRegister::new(settings))))
}

/// False of a file that is not there yet.
async fn is_there(database: &Database) -> bool {
    match database.file() {
        Some(file) => tokio::fs::try_exists(file).await.unwrap_or(true),
        None => true,
    }
}

fn options(database: &Database, mode: &str) -> Result<AnyConnectOptions, RegisterError> {
    install_default_drivers();
    let options = AnyConnectOptions::from_url(&database.url(mode)?);
    // Texts of such errors have parts of the URL.
    let options = options.map_err(|_| database.refused("its URL cannot be understood"))?;
    Ok(options.disable_statement_logging())
}

async fn connect(
    database: &Database,
    options: &AnyConnectOptions,
) -> Result<AnyConnection, RegisterError> {
    match timeout(CONNECT_TIME, AnyConnection::connect_with(options)).await {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(error)) => Err(database.refused(opening(&error))),
        Err(_) => {
            let seconds = CONNECT_TIME.as_secs();
            Err(database.refused(format!("it does not answer within {seconds} s")))
        }
    }
}

async fn read_identity(
    connection: &mut AnyConnection,
    database: &Database,
) -> Result<String, RegisterError> {
    let row = sqlx::query(IDENTITY).fetch_one(connection).await;
    let identity = row.and_then(|row| row.try_get::<String, _>("identity"));
    identity.map_err(|error| database.refused(opening(&error)))
}

async fn close(connection: AnyConnection) {
    if let Err(error) = connection.close().await {
        tracing::debug!(%error, "a connection was not closed well");
    }
}
