//! Paths below a data set.

use hyper::{Method, StatusCode};
use rechunk_datastore::{AccessMode, BlockAddress, VersionWanted, View};

use super::failure::Failure;

/// A level of a version, as a path names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub factors: [u64; 3],
    pub version: VersionWanted,
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
    Start { factors: [u64; 3], version: VersionWanted, mode: AccessMode },
    Level(Place),
    Rebuild { view: View, version: VersionWanted },
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
                Ok(Self::Rebuild { view, version: version.parse()? })
            }
            ([.., "rebuild"], _) => Err(Failure::method("PATCH")),
            ([x, y, z, version, rest @ ..], &(Method::GET | Method::HEAD | Method::POST)) => {
                Self::of_level([x, y, z], version, rest, method)
            }
            _ => Err(Failure::no_resource()),
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
