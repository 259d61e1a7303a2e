//! Levels that are made anew, one request behind the other, and how far they are.

use std::sync::Arc;

use axum::body::Body;
use hyper::{HeaderMap, Response, StatusCode};
use rechunk_datastore::DatastoreError;
use serde_json::{Value, json};

use super::failure::{Answer, Failure, text};
use super::rebuilds::{UnderWay, Wanted};
use super::register::{self, DONE};
use super::state::Face;
use crate::tokens::Role;

/// Makes levels anew. It goes on if the client does not wait for it.
pub(super) async fn rebuild(
    face: &Arc<Face>,
    id: &str,
    wanted: Wanted,
    headers: &HeaderMap,
) -> Answer {
    face.permit(headers, Role::Write, Some(id)).await?;
    let levels = wanted.levels.as_deref();
    let rebuild = face.datastore.to_rebuild(id, wanted.version, wanted.view, levels).await?;
    let one = Arc::new(UnderWay { id: id.to_owned(), wanted, rebuild });
    face.rebuilds.enter(&one)?;
    let face = Arc::clone(face);
    let worked = tokio::spawn(async move {
        // Nobody closes it.
        let turn = face.rebuilds.turn.acquire().await;
        let outcome = one.rebuild.run().await;
        drop(turn);
        face.rebuilds.leave(&one);
        if let Err(error) = &outcome {
            tracing::error!(%error, dataset = one.id, "a rebuild failed");
        }
        outcome
    });
    worked.await.map_err(DatastoreError::from)??;
    Ok(text(StatusCode::OK, DONE))
}

/// The rebuilds that a token may see.
pub(super) async fn list(face: &Face, headers: &HeaderMap) -> Result<Response<Body>, Failure> {
    let sees = face.seen_datasets(headers).await?;
    let all = face.rebuilds.all();
    let described = |one: &Arc<UnderWay>| {
        let view = one.wanted.view;
        json!({
            "dataset": one.id,
            "version": one.rebuild.version(),
            "timepoint": view.map(|view| view.time),
            "channel": view.map(|view| view.channel),
            "angle": view.map(|view| view.angle),
            "blocks": one.rebuild.blocks(),
            "blocksBegun": one.rebuild.begun(),
        })
    };
    let seen: Vec<Value> = all.iter().filter(|one| sees(&one.id)).map(described).collect();
    Ok(register::json(&json!({"rebuilds": seen})))
}
