//! Blocks, read and written.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use hyper::header::{CONTENT_LENGTH, HeaderValue};
use hyper::{HeaderMap, Request, Response, StatusCode};
use rechunk_datastore::{
    BlockAddress, BlockReader, Builder, DatastoreError, OpenLevel, StoredBlock, View, WireBlock,
};
use serde_json::json;

use super::body_in::{Incoming, check_type};
use super::failure::{Answer, Failure, text};
use super::register;
use super::route::{Build, Place};
use super::state::Face;
use crate::tokens::Role;
use crate::typed::typed;

/// Type of blocks on the wire.
pub(super) const BYTES: &str = "application/octet-stream";
/// Time that servers of levels live without requests; -1: for ever. No client takes null.
const NO_TIMEOUT: i64 = -1;

async fn open(face: &Face, id: &str, place: Place) -> Result<OpenLevel, Failure> {
    Ok(face.datastore.level(id, place.factors, place.version).await?)
}

/// The description of a level that is served.
pub(super) async fn level(face: &Face, id: &str, place: Place, headers: &HeaderMap) -> Answer {
    face.permit(headers, Role::Read, Some(id)).await?;
    let level = open(face, id, place).await?;
    let version = level.version().and_then(|number| i64::try_from(number).ok());
    Ok(described(face, id, version, &[level.level().resolutions]))
}

fn described(face: &Face, id: &str, version: Option<i64>, levels: &[[u64; 3]]) -> Response<Body> {
    let can_write = version.is_some() && face.datastore.is_writable();
    register::json(&json!({
        "uuid": id,
        "version": version.unwrap_or(-1),
        "mode": if can_write { "READ_WRITE" } else { "READ" },
        "resolutionLevels": levels,
        "serverTimeout": NO_TIMEOUT,
    }))
}

/// The type of an element.
pub(super) async fn data_type(
    face: &Face,
    id: &str,
    place: Place,
    view: View,
    headers: &HeaderMap,
) -> Answer {
    face.permit(headers, Role::Read, Some(id)).await?;
    let level = open(face, id, place).await?;
    let dataset = &level.known().dataset;
    dataset.check_view(view.time, view.channel, view.angle)?;
    Ok(text(StatusCode::OK, &dataset.voxel_type))
}

/// Nothing is stopped: no process serves this level alone.
pub(super) async fn stop(face: &Face, id: &str, place: Place, headers: &HeaderMap) -> Answer {
    face.permit(headers, Role::Read, Some(id)).await?;
    open(face, id, place).await?;
    Ok(text(StatusCode::OK, ""))
}

/// Sends blocks, in the order in which they are asked for. One is read after the other, as the
/// client takes them.
pub(super) async fn read(
    face: &Arc<Face>,
    id: &str,
    place: Place,
    blocks: Vec<BlockAddress>,
    headers: &HeaderMap,
) -> Answer {
    face.permit(headers, Role::Read, Some(id)).await?;
    let level = open(face, id, place).await?;
    for address in &blocks {
        level.check(address)?;
    }
    let is_one = blocks.len() == 1;
    let mut blocks = blocks.into_iter();
    let Some(first) = blocks.next() else { return Err(Failure::no_resource()) };
    // The first is read before the answer begins: most that fails does so here, with a status.
    let held = face.downloads.take(held_bytes(&level)).await;
    let pieces = level.read(&first).await?;
    let length: usize = pieces.iter().map(Bytes::len).sum();
    count(face, length);
    let start = (VecDeque::from(pieces), Some(held), blocks);
    let face = Arc::clone(face);
    let sent = stream::try_unfold(start, move |(mut pieces, mut held, mut blocks)| {
        let (face, level) = (Arc::clone(&face), level.clone());
        async move {
            while pieces.is_empty() {
                // What was sent before has been taken from us.
                drop(held.take());
                let Some(address) = blocks.next() else { return Ok(None) };
                held = Some(face.downloads.take(held_bytes(&level)).await);
                let read = level.read(&address).await.map_err(|error| {
                    tracing::error!(%error, "an answer broke off");
                    io::Error::other("a block cannot be read")
                })?;
                count(&face, read.iter().map(Bytes::len).sum());
                pieces = read.into();
            }
            Ok::<_, io::Error>(pieces.pop_front().map(|piece| (piece, (pieces, held, blocks))))
        }
    });
    let mut response = typed(StatusCode::OK, BYTES, Body::from_stream(sent));
    if is_one {
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    Ok(response)
}

/// Bytes of a block that are held while it is read: as it is stored, and decoded.
fn held_bytes(level: &OpenLevel) -> u64 {
    level.wire_bytes_max().saturating_mul(2)
}

fn count(face: &Face, bytes: usize) {
    face.metrics.blocks_read.inc();
    face.metrics.bytes_read.inc_by(u64::try_from(bytes).unwrap_or(u64::MAX));
}

/// A level that blocks of a request go to, with or without levels that follow.
#[derive(Clone)]
enum Target {
    Level(Arc<OpenLevel>),
    Builder(Arc<Builder>),
}

impl Target {
    fn level(&self) -> &OpenLevel {
        match self {
            Self::Level(level) => level,
            Self::Builder(builder) => builder.finest(),
        }
    }

    fn encode(&self, block: WireBlock) -> Result<StoredBlock, DatastoreError> {
        match self {
            Self::Level(level) => level.encode(&block),
            Self::Builder(builder) => builder.encode(block),
        }
    }
}

/// Stores blocks. All of the request is checked before any of it is stored.
pub(super) async fn write(
    face: &Face,
    id: &str,
    place: Place,
    blocks: Vec<BlockAddress>,
    request: Request<Body>,
) -> Answer {
    let target = async { Ok(Target::Level(Arc::new(open(face, id, place).await?))) };
    store(face, id, target, blocks, request).await
}

/// Stores blocks of the finest level, and has levels follow.
pub(super) async fn build(face: &Face, id: &str, build: Build, request: Request<Body>) -> Answer {
    let Build { levels, version, blocks } = build;
    let target = async {
        let builder = face.datastore.builder(id, version, &levels).await?;
        Ok(Target::Builder(Arc::new(builder)))
    };
    store(face, id, target, blocks, request).await
}

/// The description of a finest level that others follow.
pub(super) async fn build_level(
    face: &Face,
    id: &str,
    build: &Build,
    headers: &HeaderMap,
) -> Answer {
    face.permit(headers, Role::Read, Some(id)).await?;
    let builder = face.datastore.builder(id, build.version, &build.levels).await?;
    let version = builder.finest().version().and_then(|number| i64::try_from(number).ok());
    Ok(described(face, id, version, &builder.levels()))
}

async fn store(
    face: &Face,
    id: &str,
    target: impl Future<Output = Result<Target, Failure>>,
    blocks: Vec<BlockAddress>,
    request: Request<Body>,
) -> Answer {
    let (parts, body) = request.into_parts();
    let limit = face.options.body_bytes_max;
    let mut body = Incoming::new(body, &parts.headers, limit, &face.options)?;
    let taken = match prepare(face, id, target, &blocks, &parts.headers).await {
        Ok(target) => {
            let held = face.uploads.take(body.bytes_max()).await;
            let taken = take(&target, blocks.len(), &mut body).await;
            taken.map(|taken| (target, taken, held))
        }
        Err(failure) => Err(failure),
    };
    let (target, (stored, bytes), _held) = match taken {
        Ok(taken) => taken,
        Err(failure) => {
            body.drain().await;
            return Err(failure);
        }
    };
    let count = u64::try_from(stored.len()).unwrap_or(u64::MAX);
    let blocks = blocks.into_iter().zip(stored).collect();
    match &target {
        Target::Level(level) => level.write(blocks).await?,
        Target::Builder(builder) => builder.write(blocks).await?,
    }
    face.metrics.blocks_written.inc_by(count);
    face.metrics.bytes_written.inc_by(bytes);
    Ok(text(StatusCode::OK, ""))
}

/// Checks everything that needs no body.
async fn prepare(
    face: &Face,
    id: &str,
    target: impl Future<Output = Result<Target, Failure>>,
    blocks: &[BlockAddress],
    headers: &HeaderMap,
) -> Result<Target, Failure> {
    face.permit(headers, Role::Write, Some(id)).await?;
    check_type(headers, BYTES)?;
    let target = target.await?;
    for address in blocks {
        target.level().check_writable(address)?;
    }
    Ok(target)
}

/// The blocks of a body, encoded, and their bytes on the wire.
async fn take(
    target: &Target,
    count: usize,
    body: &mut Incoming,
) -> Result<(Vec<StoredBlock>, u64), Failure> {
    let level = target.level();
    let mut reader = BlockReader::new(count, level.level(), level.item_bytes());
    let (mut stored, mut bytes) = (Vec::new(), 0_u64);
    while let Some(piece) = body.next().await? {
        bytes = bytes.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        let whole = reader.push(&piece)?;
        if !whole.is_empty() {
            stored.extend(encode(target.clone(), whole).await?);
        }
    }
    reader.finish()?;
    Ok((stored, bytes))
}

/// Encodes blocks where it holds nobody else up.
async fn encode(target: Target, blocks: Vec<WireBlock>) -> Result<Vec<StoredBlock>, Failure> {
    let encoded = tokio::task::spawn_blocking(move || {
        blocks.into_iter().map(|block| target.encode(block)).collect::<Result<Vec<_>, _>>()
    });
    let encoded = encoded.await.map_err(|error| {
        tracing::error!(%error, "encoding broke off");
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "a block cannot be encoded")
    })?;
    Ok(encoded?)
}
