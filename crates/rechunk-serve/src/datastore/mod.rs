//! Data sets over HTTP, in the dialect that clients of the DataStore speak.
//!
//! `docs/reference.md` has the table of requests.

mod admission;
mod bdv;
mod block_io;
mod body_in;
mod budget;
mod failure;
mod list;
mod metrics;
mod options;
mod page;
mod permission;
mod query;
mod rate;
mod rebuild;
mod rebuilds;
mod redirect;
mod register;
mod route;
mod state;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get};
use hyper::{Method, Request, Response, StatusCode};
use rechunk_datastore::Datastore;

pub use options::DatastoreOptions;

use crate::tokens::Role;
use admission::Change;
use failure::{Answer, Failure, text};
use route::Route;
use state::Face;

/// A router that answers for `datastore`, in the dialect of the DataStore's clients, and with
/// `/healthz` and `/metrics` for those who watch it.
pub fn datastore_view(datastore: impl Into<Arc<Datastore>>, options: DatastoreOptions) -> Router {
    let face = Arc::new(Face::new(datastore.into(), options));
    Router::new()
        .route("/hello", get(hello))
        .route("/metrics", get(measured))
        .route("/openapi.json", get(openapi))
        .route("/datasets", any(all))
        .route("/datasets/", any(all))
        .route("/datasets/{id}", any(one))
        .route("/datasets/{id}/", any(one))
        .route("/datasets/{id}/{*rest}", any(part))
        .route("/bdv/{id}/{*rest}", any(bdv::part))
        .route("/rebuilds", get(rebuilds))
        // As the design document has it; a data set called as something here needs `/datasets`.
        .route("/{id}/{*rest}", any(part))
        .fallback(|| async { text(StatusCode::NOT_FOUND, "there is no such resource") })
        .layer(from_fn_with_state(Arc::clone(&face), admission::admitted))
        .merge(page::routes())
        // Whoever watches the server asks as often as it likes.
        .route("/healthz", get(|| async { "ok\n" }))
        .layer(from_fn_with_state(Arc::clone(&face.metrics), metrics::counted))
        .with_state(face)
}

async fn hello() -> Response<Body> {
    let mut response = Response::new(Body::from("<!DOCTYPE html><title>rechunk</title>Hello.\n"));
    let html = hyper::header::HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, html);
    response
}

/// The requests, as programs read them (OpenAPI 3.1).
const OPENAPI: &str = include_str!("openapi.json");

async fn openapi() -> Response<Body> {
    let mut response = Response::new(Body::from(OPENAPI));
    let json = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, json);
    response
}

async fn measured(State(face): State<Arc<Face>>, request: Request<Body>) -> Response<Body> {
    // Names of data sets are in none of the numbers; who may read anything may read them.
    match face.permit(request.headers(), Role::Read, None).await {
        Ok(_) => face.metrics.answer(),
        Err(failure) => failure.answer(),
    }
}

fn answered(answer: Answer) -> Response<Body> {
    answer.unwrap_or_else(Failure::answer)
}

async fn rebuilds(State(face): State<Arc<Face>>, request: Request<Body>) -> Response<Body> {
    answered(rebuild::list(&face, request.headers()).await)
}

/// `/datasets`.
async fn all(State(face): State<Arc<Face>>, request: Request<Body>) -> Response<Body> {
    match *request.method() {
        Method::POST => {}
        Method::GET | Method::HEAD => {
            let query = request.uri().query();
            return answered(list::list(&face, query, request.headers()).await);
        }
        _ => return answered(Err(Failure::method("GET, HEAD, POST"))),
    }
    let created = register::create(&face, request).await;
    let change = Change { action: "create", dataset: created.as_ref().ok().cloned() };
    change.noted(answered(created.map(|id| text(StatusCode::OK, &id))))
}

/// `/datasets/U`.
async fn one(
    State(face): State<Arc<Face>>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    let action = match *request.method() {
        Method::POST => Some("register"),
        Method::DELETE => Some("delete"),
        _ => None,
    };
    let response = answered(match *request.method() {
        Method::GET | Method::HEAD => register::describe(&face, &id, request.headers()).await,
        Method::POST => register::register(&face, &id, request.headers()).await,
        Method::DELETE => register::delete(&face, &id, request.headers()).await,
        _ => Err(Failure::method("GET, HEAD, POST, DELETE")),
    });
    noted(action, id, response)
}

/// `/datasets/U/…`.
async fn part(
    State(face): State<Arc<Face>>,
    Path((id, rest)): Path<(String, String)>,
    request: Request<Body>,
) -> Response<Body> {
    let route = match Route::of(request.method(), &rest) {
        Ok(route) => route,
        Err(failure) => return failure.answer(),
    };
    let action = route.change();
    let response = answered(match route {
        Route::Delete => register::delete(&face, &id, request.headers()).await,
        Route::DeleteVersions(versions) => {
            register::delete_versions(&face, &id, &versions, request.headers()).await
        }
        Route::CommonMetadata => register::common_metadata(&face, &id, request.headers()).await,
        Route::SetCommonMetadata => register::set_common_metadata(&face, &id, request).await,
        Route::Channels => register::channels(&face, &id, request.headers()).await,
        Route::AddChannels => register::add_channels(&face, &id, request).await,
        Route::Viewer(document) => bdv::document(&face, &id, document, request.headers()).await,
        Route::Start { factors, version, mode } => {
            let start = redirect::Start { factors, version, mode };
            redirect::start(&face, &id, start, request.uri().query(), request.headers()).await
        }
        Route::StartBuild(levels) => {
            redirect::start_build(&face, &id, &levels, request.uri().query(), request.headers())
                .await
        }
        Route::DescribeBuild(build) => {
            block_io::build_level(&face, &id, &build, request.headers()).await
        }
        Route::Build(build) => block_io::build(&face, &id, build, request).await,
        Route::Level(place) => block_io::level(&face, &id, place, request.headers()).await,
        Route::DataType { place, view } => {
            block_io::data_type(&face, &id, place, view, request.headers()).await
        }
        Route::Stop(place) => block_io::stop(&face, &id, place, request.headers()).await,
        Route::Rebuild(wanted) => rebuild::rebuild(&face, &id, wanted, request.headers()).await,
        Route::Read { place, blocks } => {
            block_io::read(&face, &id, place, blocks, request.headers()).await
        }
        Route::Write { place, blocks } => block_io::write(&face, &id, place, blocks, request).await,
    });
    noted(action, id, response)
}

/// An answer with the change of a data set, if it is one, for the audit log.
fn noted(action: Option<&'static str>, id: String, response: Response<Body>) -> Response<Body> {
    match action {
        Some(action) => Change { action, dataset: Some(id) }.noted(response),
        None => response,
    }
}
