//! Blocks, read and written.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use futures::stream;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Request, Response, StatusCode};
use rechunk_datastore::{BlockAddress, BlockReader, OpenLevel, StoredBlock, View, WireBlock};
use serde_json::json;

use super::body_in::{Incoming, check_type};
use super::failure::{Answer, Failure, text};
use super::register;
use super::route::Place;
use super::state::Face;
use crate::tokens::Role;

/// Type of blocks on the wire.
const BYTES: &str = "application/octet-stream";
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
    let can_write = version.is_some() && face.datastore.is_writable();
    Ok(register::json(&json!({
        "uuid": id,
        "version": version.unwrap_or(-1),
        "mode": if can_write { "READ_WRITE" } else { "READ" },
        "resolutionLevels": [level.level().resolutions],
        "serverTimeout": NO_TIMEOUT,
    })))
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
    let bytes = level.read(&first).await?;
    let length = bytes.len();
    count(face, length);
    let (face, start) = (Arc::clone(face), Some((bytes, held)));
    let sent = stream::try_unfold((start, None, blocks), move |(ready, before, mut blocks)| {
        let (face, level) = (Arc::clone(&face), level.clone());
        async move {
            // What was sent before has been taken from us.
            drop(before);
            if let Some((bytes, held)) = ready {
                return Ok::<_, io::Error>(Some((bytes, (None, Some(held), blocks))));
            }
            let Some(address) = blocks.next() else { return Ok(None) };
            let held = face.downloads.take(held_bytes(&level)).await;
            let bytes = level.read(&address).await.map_err(|error| {
                tracing::error!(%error, "an answer broke off");
                io::Error::other("a block cannot be read")
            })?;
            count(&face, bytes.len());
            Ok(Some((bytes, (None, Some(held), blocks))))
        }
    });
    let mut response = Response::new(Body::from_stream(sent));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(BYTES));
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

/// Stores blocks. All of the request is checked before any of it is stored.
pub(super) async fn write(
    face: &Face,
    id: &str,
    place: Place,
    blocks: Vec<BlockAddress>,
    request: Request<Body>,
) -> Answer {
    let (parts, body) = request.into_parts();
    let limit = face.options.body_bytes_max;
    let mut body = Incoming::new(body, &parts.headers, limit, &face.options)?;
    let taken = match prepare(face, id, place, &blocks, &parts.headers).await {
        Ok(level) => {
            let said = parts.headers.get(CONTENT_LENGTH).and_then(|said| said.to_str().ok());
            let said = said.and_then(|said| said.parse().ok()).unwrap_or(limit);
            let held = face.uploads.take(said.min(limit)).await;
            take(&level, blocks.len(), &mut body).await.map(|taken| (level, taken, held))
        }
        Err(failure) => Err(failure),
    };
    let (level, taken, _held) = match taken {
        Ok(taken) => taken,
        Err(failure) => {
            body.drain().await;
            return Err(failure);
        }
    };
    let (stored, bytes) = taken;
    let count = u64::try_from(stored.len()).unwrap_or(u64::MAX);
    level.write(blocks.into_iter().zip(stored).collect()).await?;
    face.metrics.blocks_written.inc_by(count);
    face.metrics.bytes_written.inc_by(bytes);
    Ok(text(StatusCode::OK, ""))
}

/// Checks everything that needs no body.
async fn prepare(
    face: &Face,
    id: &str,
    place: Place,
    blocks: &[BlockAddress],
    headers: &HeaderMap,
) -> Result<OpenLevel, Failure> {
    face.permit(headers, Role::Write, Some(id)).await?;
    check_type(headers, BYTES)?;
    let level = open(face, id, place).await?;
    for address in blocks {
        level.check_writable(address)?;
    }
    Ok(level)
}

/// The blocks of a body, encoded, and their bytes on the wire.
async fn take(
    level: &OpenLevel,
    count: usize,
    body: &mut Incoming,
) -> Result<(Vec<StoredBlock>, u64), Failure> {
    let mut reader = BlockReader::new(count, level.level(), level.item_bytes());
    let (mut stored, mut bytes) = (Vec::new(), 0_u64);
    while let Some(piece) = body.next().await? {
        bytes = bytes.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        let whole = reader.push(&piece)?;
        if !whole.is_empty() {
            stored.extend(encode(level.clone(), whole).await?);
        }
    }
    reader.finish()?;
    Ok((stored, bytes))
}

/// Encodes blocks where it holds nobody else up.
async fn encode(level: OpenLevel, blocks: Vec<WireBlock>) -> Result<Vec<StoredBlock>, Failure> {
    let encoded = tokio::task::spawn_blocking(move || {
        blocks.iter().map(|block| level.encode(block)).collect::<Result<Vec<_>, _>>()
    });
    let encoded = encoded.await.map_err(|error| {
        tracing::error!(%error, "encoding broke off");
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "a block cannot be encoded")
    })?;
    Ok(encoded?)
}
