//! Data sets as BigDataViewer opens them from a server. Below `/bdv/U` are the paths of a
//! BigDataServer, below `/datasets/U` documents for the DataStore's own viewer.

mod cell;
mod init;
mod path;
mod picture;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use percent_encoding::utf8_percent_encode;
use rechunk_datastore::{BdvServer, Known, OpenLevel, VersionWanted};
use serde_json::{Map, Value, json};

use super::failure::{Answer, Failure};
use super::query::setting;
use super::redirect::{IN_PATHS, base};
use super::state::Face;
use super::{answered, register};
use crate::tokens::Role;
use crate::typed::typed;

use path::Named;

pub(super) use path::Document;

const XML: &str = "application/xml";
/// Bytes of a document for each view of a level: more than any has.
const VIEW_BYTES: u64 = 512;

/// The viewer that a document is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Viewer {
    /// BigDataViewer, which takes this server for a BigDataServer.
    BigDataViewer,
    /// The DataStore's own plug-in for it.
    Datastore,
}

impl Viewer {
    fn format(self) -> &'static str {
        match self {
            Self::BigDataViewer => "bdv.remote",
            Self::Datastore => "bdv.hpc-datastore",
        }
    }

    /// The URL of a data set for the viewer.
    fn place(self, face: &Face, id: &str, headers: &HeaderMap) -> Result<String, Failure> {
        let folder = match self {
            Self::BigDataViewer => "bdv",
            Self::Datastore => "datasets",
        };
        let (base, id) = (base(face, headers)?, utf8_percent_encode(id, &IN_PATHS));
        Ok(format!("{base}/{folder}/{id}"))
    }
}

/// `/bdv/U/…`.
pub(super) async fn part(
    State(face): State<Arc<Face>>,
    Path((id, rest)): Path<(String, String)>,
    request: Request<Body>,
) -> Response<Body> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answered(Err(Failure::method("GET, HEAD")));
    }
    let query = request.uri().query();
    answered(remote(&face, &id, &rest, query, request.headers()).await)
}

async fn remote(
    face: &Face,
    id: &str,
    rest: &str,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Answer {
    face.permit(headers, Role::Read, Some(id)).await?;
    let names: Vec<&str> = rest.strip_suffix('/').unwrap_or(rest).split('/').collect();
    let document = Document::below_bdv(&names)?;
    let Document::Xml(named) = &document else {
        return answer(face, id, document, Viewer::BigDataViewer, headers).await;
    };
    let wanted = setting(query, "p")?;
    let known = face.datastore.get(id).await?;
    let level = open(face, &known, named.version, 0).await?;
    cell::check_type(&level)?;
    match wanted.as_deref() {
        None => xml(face, named, &level, Viewer::BigDataViewer, headers).await,
        Some("init") => init::init(face, &level).await,
        Some(cell) => cell::cell(face, &known, named.version, cell).await,
    }
}

/// A document of `/datasets/U/…`.
pub(super) async fn document(
    face: &Face,
    id: &str,
    document: Document,
    headers: &HeaderMap,
) -> Answer {
    face.permit(headers, Role::Read, Some(id)).await?;
    answer(face, id, document, Viewer::Datastore, headers).await
}

async fn answer(
    face: &Face,
    id: &str,
    document: Document,
    viewer: Viewer,
    headers: &HeaderMap,
) -> Answer {
    let known = face.datastore.get(id).await?;
    match document {
        Document::List => list(face, &known, viewer, headers),
        Document::Xml(named) => {
            let level = open(face, &known, named.version, 0).await?;
            xml(face, &named, &level, viewer, headers).await
        }
        Document::Settings(named) => {
            let level = open(face, &known, named.version, 0).await?;
            let settings = face.datastore.viewer_settings(&level).await?;
            let none = || Failure::new(StatusCode::NOT_FOUND, "no settings were saved with it");
            Ok(typed(StatusCode::OK, XML, settings.ok_or_else(none)?))
        }
        Document::Picture(named) => picture::picture(face, &known, named.version).await,
    }
}

/// A version as a document that a viewer opens.
async fn xml(
    face: &Face,
    named: &Named,
    level: &OpenLevel,
    viewer: Viewer,
    headers: &HeaderMap,
) -> Answer {
    let dataset = &level.known().dataset;
    let place = viewer.place(face, &dataset.uuid, headers)?;
    let base_url = format!("{place}/{}", named.name);
    let server = BdvServer { format: viewer.format().to_owned(), base_url };
    let _held = face.downloads.take(views(level).saturating_mul(VIEW_BYTES)).await;
    Ok(typed(StatusCode::OK, XML, dataset.remote_xml(server)))
}

/// The versions of a data set, as BigDataViewer lists what a server has.
fn list(face: &Face, known: &Known, viewer: Viewer, headers: &HeaderMap) -> Answer {
    let id = &known.dataset.uuid;
    let place = viewer.place(face, id, headers)?;
    let mut names: Vec<String> = match viewer {
        Viewer::BigDataViewer => known.versions.iter().map(u64::to_string).collect(),
        Viewer::Datastore => vec!["all".to_owned()],
    };
    names.push("mixedLatest".to_owned());
    let [x, y, z] = known.dataset.dimensions;
    let label = known.dataset.label.as_deref().map(|label| format!("{label}, "));
    let size = format!("{x} × {y} × {z} {}", known.dataset.voxel_type);
    let description = format!("{}{size}", label.unwrap_or_default());
    let mut all = Map::new();
    for name in names {
        let key = format!("dataset:{id}, version:{name}");
        let one = json!({
            "id": key,
            "description": description,
            "datasetUrl": format!("{place}/{name}/"),
            "thumbnailUrl": format!("{place}/{name}/png"),
        });
        all.insert(key, one);
    }
    Ok(register::json(&Value::Object(all)))
}

/// A level of a version by its number.
async fn open(
    face: &Face,
    known: &Known,
    version: VersionWanted,
    number: usize,
) -> Result<OpenLevel, Failure> {
    let level = known.dataset.resolution_levels.get(number).ok_or_else(|| {
        let reason = format!("the data set has no level {number}");
        Failure::new(StatusCode::NOT_FOUND, reason)
    })?;
    Ok(face.datastore.level(&known.dataset.uuid, level.resolutions, version).await?)
}

/// Count of the views of a data set: setups at timepoints.
fn views(level: &OpenLevel) -> u64 {
    let dataset = &level.known().dataset;
    let setups = dataset.setup(dataset.channels, 0);
    setups.saturating_mul(u64::try_from(dataset.timepoint_ids.len()).unwrap_or(u64::MAX))
}
