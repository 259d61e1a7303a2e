//! The data sets that there are, page by page.

use axum::body::Body;
use hyper::{HeaderMap, Response, StatusCode};
use rechunk_datastore::DatastoreError;
use serde_json::json;

use super::failure::Failure;
use super::query::setting;
use super::register;
use super::state::Face;

/// Most data sets in an answer.
const LISTED_MAX: usize = 500;

/// Descriptions of data sets that a token may see, in the order of their names: those behind
/// `after`, at most `limit`. `next` is the name to go on after, null at the end.
pub(super) async fn list(
    face: &Face,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Result<Response<Body>, Failure> {
    let sees = face.seen_datasets(headers).await?;
    let after = setting(query, "after")?;
    let limit = setting(query, "limit")?.map_or(Ok(LISTED_MAX), |limit| limit.parse());
    let limit = limit.ok().filter(|limit| *limit > 0).ok_or_else(|| {
        Failure::new(StatusCode::BAD_REQUEST, "limit is a number of data sets, at least 1")
    })?;
    let limit = limit.min(LISTED_MAX);
    let mut names = face.datastore.names().await?;
    names.retain(|name| after.as_deref().is_none_or(|after| name.as_str() > after));
    names.retain(|name| sees(name));
    let next = (names.len() > limit).then(|| names[limit - 1].clone());
    names.truncate(limit);
    let mut described = Vec::new();
    for name in &names {
        match face.datastore.get(name).await {
            Ok(known) => described.push(known.dataset.to_json(&known.versions)),
            // It was deleted meanwhile.
            Err(DatastoreError::Unknown(_)) => {}
            // One that is damaged hides no other.
            Err(error) => tracing::error!(%error, name, "a data set is not listed"),
        }
    }
    let is_writable = face.datastore.is_writable();
    Ok(register::json(&json!({"datasets": described, "next": next, "writable": is_writable})))
}
