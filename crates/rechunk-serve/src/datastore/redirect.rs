//! From what a client wants to do to where the blocks are: an absolute URL.

use hyper::header::{HOST, HeaderValue, LOCATION};
use hyper::{HeaderMap, StatusCode};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rechunk_datastore::{AccessMode, VersionWanted};

use super::failure::{Answer, Failure, text};
use super::route::BUILD;
use super::state::Face;
use crate::tokens::Role;

/// A level, and what is wanted of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub factors: [u64; 3],
    pub version: VersionWanted,
    pub mode: AccessMode,
}

/// Starts serving a level: the answer leads to its blocks. A version that is `new` is made by it,
/// after everything else has been checked.
pub(super) async fn start(
    face: &Face,
    id: &str,
    start: Start,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Answer {
    let Start { factors, version, mode } = start;
    let role =
        if mode.writes() || version == VersionWanted::New { Role::Write } else { Role::Read };
    face.permit(headers, role, Some(id)).await?;
    check_timeout(query)?;
    let base = base(face, headers)?;
    let known = face.datastore.get(id).await?;
    known.dataset.level_at(factors)?;
    let name = match version {
        VersionWanted::New => face.datastore.create_version(id).await?.to_string(),
        VersionWanted::MixedLatest => "mixedLatest".to_owned(),
        there => {
            let level = face.datastore.level(id, factors, there).await?;
            level.version().map_or_else(String::new, |number| number.to_string())
        }
    };
    let [x, y, z] = factors;
    let id = utf8_percent_encode(id, &IN_PATHS);
    lead_to(&format!("{base}/datasets/{id}/{x}/{y}/{z}/{name}/"))
}

/// Starts an upload to the latest version, which levels follow.
pub(super) async fn start_build(
    face: &Face,
    id: &str,
    levels: &[[u64; 3]],
    query: Option<&str>,
    headers: &HeaderMap,
) -> Answer {
    face.permit(headers, Role::Write, Some(id)).await?;
    check_timeout(query)?;
    let base = base(face, headers)?;
    let builder = face.datastore.builder(id, VersionWanted::Latest, levels).await?;
    let number = builder.finest().version().unwrap_or_default();
    let all: Vec<String> =
        builder.levels().iter().map(|[x, y, z]| format!("{x}/{y}/{z}")).collect();
    let id = utf8_percent_encode(id, &IN_PATHS);
    lead_to(&format!("{base}/datasets/{id}/{}/{BUILD}/{number}/", all.join("/")))
}

fn lead_to(location: &str) -> Answer {
    let location = HeaderValue::from_str(location)
        .map_err(|_| Failure::new(StatusCode::BAD_REQUEST, "the host is none"))?;
    let mut response = text(StatusCode::TEMPORARY_REDIRECT, "");
    response.headers_mut().insert(LOCATION, location);
    Ok(response)
}

/// Characters of a name that a path cannot have as they are.
pub(super) const IN_PATHS: percent_encoding::AsciiSet =
    NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Blocks are always served: the time after which upstream's servers end is only checked.
fn check_timeout(query: Option<&str>) -> Result<(), Failure> {
    let mut settings = query.unwrap_or_default().split('&');
    let time = settings.find_map(|setting| setting.strip_prefix("timeout="));
    match time.map(str::parse::<i64>) {
        None | Some(Ok(_)) => Ok(()),
        Some(Err(_)) => {
            let reason = "timeout is a number of milliseconds";
            Err(Failure::new(StatusCode::BAD_REQUEST, reason))
        }
    }
}

/// The URL that the client reaches this server by, without a slash at its end.
pub(super) fn base(face: &Face, headers: &HeaderMap) -> Result<String, Failure> {
    if let Some(base) = &face.options.base_url {
        return Ok(base.trim_end_matches('/').to_owned());
    }
    // Of several proxies the first is the one that the client talks to.
    let said = |name: &str| {
        let value = headers.get(name)?.to_str().ok()?;
        value.split(',').next().map(str::trim).filter(|first| !first.is_empty())
    };
    let own = if face.options.is_tls { "https" } else { "http" };
    let scheme = said("x-forwarded-proto").filter(|scheme| ["http", "https"].contains(scheme));
    let scheme = scheme.unwrap_or(own);
    let wrong = || Failure::new(StatusCode::BAD_REQUEST, "the request names no host");
    let host = said("x-forwarded-host").or_else(|| said(HOST.as_str())).ok_or_else(wrong)?;
    let is_host =
        host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte));
    let prefix = said("x-forwarded-prefix").unwrap_or_default().trim_end_matches('/');
    let is_prefix = prefix.is_empty()
        || (prefix.starts_with('/') && !prefix.starts_with("//"))
            && prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/.-_~%".contains(&byte));
    if !is_host || !is_prefix {
        return Err(wrong());
    }
    let port = said("x-forwarded-port").filter(|_| said("x-forwarded-host").is_some());
    let port = port.filter(|port| {
        let is_usual = matches!((scheme, *port), ("http", "80") | ("https", "443"));
        !host.contains(':') && !is_usual && port.parse::<u16>().is_ok()
    });
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    Ok(format!("{scheme}://{host}{port}{prefix}"))
}
