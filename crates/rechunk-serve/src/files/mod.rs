//! A directory over HTTP, read only: files with ranges and validators, directories as HTML.

mod answer;
mod body;
mod found;
mod listing;
mod media_type;
mod plain;
mod range;
mod target;

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use hyper::header::{ALLOW, HeaderValue, LOCATION, X_CONTENT_TYPE_OPTIONS};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use crate::{CorsOrigin, ServeError};
use found::Found;
use plain::plain;
use target::Target;

/// A directory that no path leads out of.
type View = Arc<Dir>;

/// A router that answers with the files below `directory`, and writes nothing.
///
/// No path leads out of it: no `..`, no symbolic link. Pages of `cors` may read what is there; of
/// other origins none.
pub fn file_view(directory: &Path, cors: Option<&CorsOrigin>) -> Result<Router, ServeError> {
    let opened = Dir::open_ambient_dir(directory, ambient_authority());
    let view: View = Arc::new(opened.map_err(|source| ServeError::Directory {
        path: directory.display().to_string(),
        source,
    })?);
    let router = Router::new().fallback(answer).with_state(view);
    Ok(match cors {
        Some(origin) => router.layer(origin.layer(&[Method::GET, Method::HEAD])),
        None => router,
    })
}

async fn answer(State(view): State<View>, request: Request<Body>) -> Response<Body> {
    let (Parts { method: asked, uri, headers, .. }, _) = request.into_parts();
    let mut response = if matches!(asked, Method::GET | Method::HEAD) {
        match Target::of(&uri) {
            Some(target) => read(view, &target, &asked, &headers).await,
            None => plain(StatusCode::NOT_FOUND, "there is no such file"),
        }
    } else {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "files are read here, no more");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        refused
    };
    // Data are no pages, whatever is in them.
    let nosniff = HeaderValue::from_static("nosniff");
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

async fn read(view: View, target: &Target, method: &Method, headers: &HeaderMap) -> Response<Body> {
    let path = target.path().to_owned();
    let found = tokio::task::spawn_blocking(move || Found::at(&view, &path)).await;
    match found {
        Ok(Ok(Found::File(file))) if !target.names_directory() => {
            answer::file(file, target.path(), method, headers).await
        }
        Ok(Ok(Found::Directory(names))) if target.names_directory() => {
            answer::directory(names, target, method)
        }
        Ok(Ok(Found::Directory(_))) => moved(target),
        Ok(Ok(Found::File(_) | Found::Nothing)) => {
            plain(StatusCode::NOT_FOUND, "there is no such file")
        }
        Ok(Ok(Found::Refused)) => plain(StatusCode::FORBIDDEN, "this cannot be read from here"),
        Ok(Err(error)) => {
            tracing::warn!(%error, path = target.path(), "a file could not be read");
            plain(StatusCode::INTERNAL_SERVER_ERROR, "this could not be read")
        }
        Err(error) => {
            tracing::error!(%error, path = target.path(), "the task of a request broke off");
            plain(StatusCode::INTERNAL_SERVER_ERROR, "this could not be read")
        }
    }
}

/// Directories have a slash at their end: links in their listing are relative to it.
fn moved(target: &Target) -> Response<Body> {
    let mut response = plain(StatusCode::MOVED_PERMANENTLY, "a directory ends with a slash");
    match HeaderValue::from_str(&target.as_directory()) {
        Ok(location) => response.headers_mut().insert(LOCATION, location),
        Err(_) => return plain(StatusCode::NOT_FOUND, "there is no such file"),
    };
    response
}
