//! Paths below a data set.

use hyper::{Method, StatusCode};
use rechunk_datastore::{AccessMode, BlockAddress, VersionWanted, View};

use super::bdv::Document;
use super::failure::Failure;
use super::rebuilds::Wanted;

/// A level of a version, as a path names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub factors: [u64; 3],
    pub version: VersionWanted,
}

/// Blocks of the finest level of a version, which levels of some factors follow.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Build {
    pub levels: Vec<[u64; 3]>,
    pub version: VersionWanted,
    pub blocks: Vec<BlockAddress>,
}

/// A request to `/datasets/U/…`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Route {
    Delete,
    DeleteVersions(Vec<u64>),
    CommonMetadata,
    SetCommonMetadata,
    Channels,
    AddChannels,
    Viewer(Document),
    Start { factors: [u64; 3], version: VersionWanted, mode: AccessMode },
    StartBuild(Vec<[u64; 3]>),
    Build(Build),
    DescribeBuild(Build),
    Level(Place),
    Rebuild(Wanted),
    DataType { place: Place, view: View },
    Stop(Place),
    Read { place: Place, blocks: Vec<BlockAddress> },
    Write { place: Place, blocks: Vec<BlockAddress> },
}

impl Route {
    /// Finds the route of a path, which is what follows `/datasets/U/`.
    pub(super) fn of(method: &Method, path: &str) -> Result<Self, Failure> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let names: Vec<&str> = path.split('/').collect();
        let reads = matches!(*method, Method::GET | Method::HEAD);
        match (names.as_slice(), method) {
            (["common-metadata"], _) if reads => Ok(Self::CommonMetadata),
            (["common-metadata"], &Method::POST) => Ok(Self::SetCommonMetadata),
            (["channels"], _) if reads => Ok(Self::Channels),
            (["channels"], &Method::POST) => Ok(Self::AddChannels),
            (["common-metadata" | "channels"], _) => Err(Failure::method("GET, HEAD, POST")),
            // Whoever only asks what GET would say changes nothing.
            ([.., "delete"], &Method::HEAD) => Err(Failure::method("GET")),
            (["delete"], &Method::GET) => Ok(Self::Delete),
            ([versions @ .., "delete"], &Method::GET) | (versions, &Method::DELETE) => {
                delete_versions(versions)
            }
            (&[time, channel, angle, version, "rebuild"], &Method::PATCH) => {
                let [time, channel, angle] = whole([time, channel, angle])?;
                let view = View { time, channel, angle };
                let version = version.parse()?;
                Ok(Self::Rebuild(Wanted { version, view: Some(view), levels: None }))
            }
            // The form of the design document.
            ([levels @ .., "rebuild"], &Method::GET) if is_list(levels) => {
                let (version, levels) = (VersionWanted::Latest, Some(followers(levels)?));
                Ok(Self::Rebuild(Wanted { version, view: None, levels }))
            }
            ([levels @ .., "rebuild"], _) if is_list(levels) => Err(Failure::method("GET")),
            ([.., "rebuild"], _) => Err(Failure::method("PATCH")),
            ([levels @ .., "write"], _) if reads && is_list(levels) => {
                Ok(Self::StartBuild(followers(levels)?))
            }
            (all, &(Method::GET | Method::HEAD | Method::POST)) if all.contains(&BUILD) => {
                build(all, method)
            }
            ([x, y, z, version, rest @ ..], &(Method::GET | Method::HEAD | Method::POST)) => {
                Self::of_level([x, y, z], version, rest, method)
            }
            (names, &(Method::GET | Method::HEAD)) => {
                Document::below_datasets(names).map(Self::Viewer).ok_or_else(Failure::no_resource)
            }
            _ => Err(Failure::no_resource()),
        }
    }

    /// The change that it asks for, in a word or two; `None` if it only reads.
    pub(super) fn change(&self) -> Option<&'static str> {
        match self {
            Self::Delete => Some("delete"),
            Self::DeleteVersions(_) => Some("delete versions"),
            Self::SetCommonMetadata => Some("set common metadata"),
            Self::AddChannels => Some("add channels"),
            Self::Start { version: VersionWanted::New, .. } => Some("new version"),
            Self::Rebuild(_) => Some("rebuild"),
            Self::Write { .. } | Self::Build(_) => Some("write"),
            Self::CommonMetadata
            | Self::Channels
            | Self::Viewer(_)
            | Self::Start { .. }
            | Self::StartBuild(_)
            | Self::DescribeBuild(_)
            | Self::Level(_)
            | Self::DataType { .. }
            | Self::Stop(_)
            | Self::Read { .. } => None,
        }
    }

    fn of_level(
        factors: [&str; 3],
        version: &str,
        rest: &[&str],
        method: &Method,
    ) -> Result<Self, Failure> {
        let factors = whole(factors)?;
        let reads = method != Method::POST;
        if let ([mode], true) = (rest, reads) {
            return start(factors, version, mode, method);
        }
        let version = version.parse()?;
        if matches!(version, VersionWanted::Latest | VersionWanted::New) {
            let reason = "blocks are of a number or `mixedLatest`: follow the redirect";
            return Err(Failure::new(StatusCode::BAD_REQUEST, reason));
        }
        let place = Place { factors, version };
        Ok(match rest {
            [] if reads => Self::Level(place),
            [] => return Err(Failure::no_resource()),
            ["stop"] => Self::Stop(place),
            ["datatype", time, channel, angle] if reads => {
                let [time, channel, angle] = whole([time, channel, angle])?;
                Self::DataType { place, view: View { time, channel, angle } }
            }
            numbers => {
                let blocks = BlockAddress::list(numbers)?;
                if reads { Self::Read { place, blocks } } else { Self::Write { place, blocks } }
            }
        })
    }
}

/// Marks paths of blocks that levels follow.
pub(super) const BUILD: &str = "build";

/// True for several triples. (With one, the path has a version.)
fn is_list(names: &[&str]) -> bool {
    names.len() > 3 && names.len().is_multiple_of(3)
}

/// Levels that follow the finest, which comes first.
fn followers(names: &[&str]) -> Result<Vec<[u64; 3]>, Failure> {
    let (triples, _) = names.as_chunks::<3>();
    let levels = triples.iter().map(|names| whole(*names)).collect::<Result<Vec<_>, _>>()?;
    match levels.split_first() {
        Some((&[1, 1, 1], rest)) if !rest.is_empty() => Ok(rest.to_vec()),
        _ => {
            let reason = "what is uploaded is 1/1/1, and other levels follow it";
            Err(Failure::new(StatusCode::BAD_REQUEST, reason))
        }
    }
}

/// The route of `RX/RY/RZ/…/build/V/x/y/z/t/c/a…`.
fn build(names: &[&str], method: &Method) -> Result<Route, Failure> {
    let at = names.iter().position(|name| *name == BUILD).ok_or_else(Failure::no_resource)?;
    let (levels, rest) = (&names[..at], &names[at + 1..]);
    let Some((version, numbers)) = rest.split_first().filter(|_| is_list(levels)) else {
        return Err(Failure::no_resource());
    };
    let (levels, version) = (followers(levels)?, version.parse()?);
    if !matches!(version, VersionWanted::Number(_)) {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "a version here is a number"));
    }
    let reads = method != Method::POST;
    if numbers.is_empty() && reads {
        return Ok(Route::DescribeBuild(Build { levels, version, blocks: Vec::new() }));
    }
    let place = Place { factors: [1; 3], version };
    if numbers == ["stop"] {
        return Ok(Route::Stop(place));
    }
    let blocks = BlockAddress::list(numbers)?;
    Ok(if reads {
        Route::Read { place, blocks }
    } else {
        Route::Build(Build { levels, version, blocks })
    })
}

fn start(factors: [u64; 3], version: &str, mode: &str, method: &Method) -> Result<Route, Failure> {
    let (mode, version): (AccessMode, VersionWanted) = (mode.parse()?, version.parse()?);
    mode.check(version)?;
    if version == VersionWanted::New && method == Method::HEAD {
        return Err(Failure::method("GET"));
    }
    Ok(Route::Start { factors, version, mode })
}

fn delete_versions(names: &[&str]) -> Result<Route, Failure> {
    let version = |name: &&str| {
        if let Ok(VersionWanted::Number(number)) = name.parse() {
            return Ok(number);
        }
        let reason = format!("{name:?} is no number of a version");
        Err(Failure::new(StatusCode::BAD_REQUEST, reason))
    };
    Ok(Route::DeleteVersions(names.iter().map(version).collect::<Result<_, _>>()?))
}

/// Numbers of a path; a path with anything else there names nothing.
fn whole(names: [&str; 3]) -> Result<[u64; 3], Failure> {
    let mut numbers = [0; 3];
    for (number, name) in numbers.iter_mut().zip(names) {
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let parsed = name.parse().ok().filter(|_| is_number);
        *number = parsed.ok_or_else(Failure::no_resource)?;
    }
    Ok(numbers)
}
