//! Cells: boxes of elements as BigDataViewer takes them from a server, 16 bits each.

use axum::body::Body;
use hyper::StatusCode;
use hyper::header::{CONTENT_LENGTH, HeaderValue};
use rechunk_datastore::{Known, OpenLevel, VersionWanted};

use super::open;
use crate::datastore::block_io::BYTES;
use crate::datastore::failure::{Answer, Failure};
use crate::datastore::state::Face;
use crate::typed::typed;

/// Type of an element as it is stored: BigDataViewer takes one kind from servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Uint8,
    Uint16,
}

/// Refuses data sets whose elements do not fit into 16 bits without a sign.
pub(super) fn check_type(level: &OpenLevel) -> Result<(), Failure> {
    element(level).map(drop)
}

fn element(level: &OpenLevel) -> Result<Element, Failure> {
    match level.known().dataset.voxel_type.as_str() {
        "uint8" => Ok(Element::Uint8),
        "uint16" => Ok(Element::Uint16),
        other => {
            let reason = format!(
                "BigDataViewer takes uint8 and uint16 from a server, and the elements are {other}: \
                 open export.xml of the version"
            );
            Err(Failure::new(StatusCode::NOT_ACCEPTABLE, reason))
        }
    }
}

/// A cell by `cell/index/t/setup/level/dx/dy/dz/mx/my/mz`: its size and its first element. The
/// index says no more than these. The answer is empty where nothing is stored.
pub(super) async fn cell(face: &Face, known: &Known, version: VersionWanted, name: &str) -> Answer {
    let [_index, time, setup, number, dx, dy, dz, mx, my, mz] = ten(name)?;
    let level = open(face, known, version, usize::try_from(number).unwrap_or(usize::MAX)).await?;
    let element = element(&level)?;
    let (size, start) = ([dx, dy, dz], [mx, my, mz]);
    let full = level.level().block_dimensions;
    if size.iter().zip(&full).any(|(size, full)| size > full) {
        let reason = format!("a cell has at most {full:?} elements, {size:?} are more");
        return Err(Failure::new(StatusCode::BAD_REQUEST, reason));
    }
    let view = level.known().dataset.view_of(setup, time);
    // The cell, a block that it is cut from, and the cell again as it is sent.
    let _held = face.downloads.take(level.wire_bytes_max().saturating_mul(4)).await;
    let stored = level.read_box(view, start, size).await?;
    face.metrics.blocks_read.inc();
    let sent = match (stored, element) {
        (None, _) => Vec::new(),
        (Some(elements), Element::Uint16) => elements,
        (Some(elements), Element::Uint8) => {
            elements.into_iter().flat_map(|element| [0, element]).collect()
        }
    };
    let length = sent.len();
    face.metrics.bytes_read.inc_by(u64::try_from(length).unwrap_or(u64::MAX));
    let mut response = typed(StatusCode::OK, BYTES, Body::from(sent));
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    Ok(response)
}

fn ten(text: &str) -> Result<[u64; 10], Failure> {
    let wrong = || {
        let reason = format!(
            "{text:?} is neither `init` nor cell/index/time/setup/level/dx/dy/dz/mx/my/mz, a size and \
             the first element"
        );
        Failure::new(StatusCode::BAD_REQUEST, reason)
    };
    let number = |name: &str| {
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        name.parse::<u64>().ok().filter(|_| is_number)
    };
    let numbers = text.strip_prefix("cell/").ok_or_else(wrong)?;
    let numbers = numbers.split('/').map(number).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    numbers.try_into().map_err(|_| wrong())
}
