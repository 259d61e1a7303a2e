//! Data sets: created, described, changed, deleted.

use axum::body::Body;
use hyper::header::CONTENT_TYPE;
use hyper::{HeaderMap, Request, Response, StatusCode};
use rechunk_datastore::NewDataset;
use serde_json::Value;

use super::body_in::{Incoming, check_type};
use super::failure::{Answer, Failure, plain, text};
use super::state::Face;
use crate::tokens::Role;
use crate::typed::typed;

/// Most bytes of a description.
const DESCRIPTION_BYTES_MAX: u64 = 4 << 20;
/// Most bytes of a number.
const NUMBER_BYTES_MAX: u64 = 64;

/// Answer of upstream's servers when something is done.
pub(super) const DONE: &str = "Done.";

/// An answer in JSON.
pub(super) fn json(value: &Value) -> Response<Body> {
    typed(StatusCode::OK, "application/json", value.to_string())
}

/// Creates a data set; returns its name.
pub(super) async fn create(face: &Face, request: Request<Body>) -> Result<String, Failure> {
    let (parts, body) = request.into_parts();
    face.permit(&parts.headers, Role::Admin, None).await?;
    if !parts.headers.contains_key(CONTENT_TYPE) {
        let reason = "the body has no type, this takes application/json";
        return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
    }
    check_type(&parts.headers, "application/json")?;
    let body = Incoming::new(body, &parts.headers, DESCRIPTION_BYTES_MAX, &face.options)?;
    let value: Value = serde_json::from_slice(&body.whole().await?).map_err(|error| {
        Failure::new(StatusCode::BAD_REQUEST, format!("the body is no JSON: {error}"))
    })?;
    Ok(face.datastore.create(NewDataset::from_json(&value)?).await?)
}

pub(super) async fn register(face: &Face, id: &str, headers: &HeaderMap) -> Answer {
    face.permit(headers, Role::Admin, Some(id)).await?;
    face.datastore.register(id).await?;
    Ok(text(StatusCode::OK, DONE))
}

pub(super) async fn describe(face: &Face, id: &str, headers: &HeaderMap) -> Answer {
    face.permit(headers, Role::Read, Some(id)).await?;
    let known = face.datastore.get(id).await?;
    Ok(json(&known.dataset.to_json(&known.versions)))
}

pub(super) async fn delete(face: &Face, id: &str, headers: &HeaderMap) -> Answer {
    face.permit(headers, Role::Admin, Some(id)).await?;
    face.datastore.delete(id).await?;
    Ok(text(StatusCode::OK, DONE))
}

pub(super) async fn delete_versions(
    face: &Face,
    id: &str,
    versions: &[u64],
    headers: &HeaderMap,
) -> Answer {
    face.permit(headers, Role::Write, Some(id)).await?;
    face.datastore.delete_versions(id, versions).await?;
    Ok(text(StatusCode::OK, DONE))
}

pub(super) async fn common_metadata(face: &Face, id: &str, headers: &HeaderMap) -> Answer {
    face.permit(headers, Role::Read, Some(id)).await?;
    let text = face.datastore.common_metadata(id).await?;
    Ok(plain(StatusCode::OK, Body::from(text)))
}

pub(super) async fn set_common_metadata(face: &Face, id: &str, request: Request<Body>) -> Answer {
    let (parts, body) = request.into_parts();
    face.permit(&parts.headers, Role::Write, Some(id)).await?;
    check_type(&parts.headers, "text/plain")?;
    let body = Incoming::new(body, &parts.headers, face.options.body_bytes_max, &face.options)?;
    let _held = face.uploads.take(face.options.body_bytes_max).await;
    let said = String::from_utf8(body.whole().await?)
        .map_err(|_| Failure::new(StatusCode::BAD_REQUEST, "the text is no UTF-8"))?;
    face.datastore.set_common_metadata(id, said).await?;
    Ok(text(StatusCode::OK, DONE))
}

pub(super) async fn channels(face: &Face, id: &str, headers: &HeaderMap) -> Answer {
    face.permit(headers, Role::Read, Some(id)).await?;
    let known = face.datastore.get(id).await?;
    Ok(text(StatusCode::OK, &known.dataset.channels.to_string()))
}

pub(super) async fn add_channels(face: &Face, id: &str, request: Request<Body>) -> Answer {
    let (parts, body) = request.into_parts();
    face.permit(&parts.headers, Role::Write, Some(id)).await?;
    let body = Incoming::new(body, &parts.headers, NUMBER_BYTES_MAX, &face.options)?;
    let said = String::from_utf8_lossy(&body.whole().await?).trim().to_owned();
    let count = if said.is_empty() { Ok(1) } else { said.parse::<u64>() };
    let count = count.map_err(|_| {
        let reason = format!("{said:?} is no number of channels that are added");
        Failure::new(StatusCode::BAD_REQUEST, reason)
    })?;
    face.datastore.add_channels(id, count).await?;
    Ok(text(StatusCode::OK, DONE))
}
