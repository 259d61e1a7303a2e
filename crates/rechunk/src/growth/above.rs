//! Groups above one array of NCZarr that has grown: they say the sizes of its dimensions.

use rechunk_store::{Role, Store};
use rechunk_zarr::ZarrVersion;

use super::commit::update_one;
use super::{Change, Growth};
use crate::Error;
use crate::error::store_error;
use crate::formats::{METADATA_BYTES_MAX, Metadata};
use crate::repeats::{Changes, GrownGroups};

/// Most groups above an array that are looked at.
const LEVELS_MAX: usize = 32;

/// Says the new sizes of dimensions in the groups above the array at `target`. Nothing is asked for
/// where the array is none of NCZarr.
pub(crate) async fn describe_in_groups(
    location: &str,
    target: &Store,
    metadata: &Metadata,
    (growth, change): (&Growth, Option<&Change>),
) -> Result<(), Error> {
    let of = |path: &str| {
        let mut changes = Changes::default();
        let lengths = (&growth.before[..], &growth.after[..]);
        changes.add_grown(path, &metadata.spec(), metadata.attributes(), lengths);
        if let Some(change) = change {
            changes.add_shape_document(change.before());
        }
        changes
    };
    let changes = of("");
    if !changes.is_any() || !changes.is_of_nczarr() {
        return Ok(());
    }
    let failed = |source| store_error("look above", location, source);
    let (mut above, mut place, mut path) =
        (Vec::new(), target.with_role(Role::Control), String::new());
    for _ in 0..LEVELS_MAX {
        let Some((group, name)) = place.parent().map_err(failed)? else { break };
        if group.get(".zgroup", METADATA_BYTES_MAX).await.map_err(failed)?.is_none() {
            break;
        }
        path = if path.is_empty() { name } else { format!("{name}/{path}") };
        above.push((group.clone(), path.clone()));
        place = group;
    }
    let Some((root, path)) = above.last() else { return Ok(()) };
    let version = ZarrVersion::V2;
    let grown = GrownGroups::of_all(of(path), version);
    grown.commit(location, root).await?;
    for (group, below) in &above {
        // Its path in the root.
        let own = path.strip_suffix(below).unwrap_or_default().trim_end_matches('/').to_owned();
        update_one(location, group, version, |document| {
            grown.describe_in(document, |other| match other.strip_prefix(own.as_str()) {
                Some("") => Some(String::new()),
                Some(rest) if own.is_empty() => Some(rest.to_owned()),
                Some(rest) => rest.strip_prefix('/').map(str::to_owned),
                None => None,
            });
            Ok(())
        })
        .await?;
    }
    Ok(())
}
