//! Makes the client of a data set's server.

use std::sync::Arc;

use super::client::DatasetClient;
use super::location::LevelLocation;
use super::server::Server;
use crate::remote::{Address, Remote};
use crate::{StoreError, StoreOptions};

/// Variable with the token that servers of data sets are shown.
const TOKEN: &str = "RECHUNK_DATASTORE_TOKEN";

/// Makes the client for the level that `address` names. Nothing is sent.
pub(crate) fn connect(address: &Address, options: &StoreOptions) -> Result<Remote, StoreError> {
    let location = LevelLocation::parse(&address.root)?;
    let (http, remote) = Remote::http(address, options)?;
    let client = Arc::new(DatasetClient::new(location, Server::new(http, token(&address.root)?)));
    Ok(remote(Arc::clone(&client) as _, Some(client)))
}

/// The token, if there is one: like the credentials of other stores it comes from the environment.
#[expect(clippy::disallowed_methods, reason = "credentials are read where clients are made")]
fn token(location: &str) -> Result<Option<String>, StoreError> {
    let refused =
        || StoreError::refused_location(location, &format!("the variable {TOKEN} holds no token"));
    let Some(token) = std::env::var_os(TOKEN) else { return Ok(None) };
    let token = token.into_string().map_err(|_| refused())?;
    let token = token.trim();
    if token.is_empty() {
        return Ok(None);
    }
    let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
    if is_plain { Ok(Some(token.to_owned())) } else { Err(refused()) }
}
