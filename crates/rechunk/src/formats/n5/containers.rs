//! Containers of N5, by their names.

use crate::formats::has_ending;

/// True if the place is below a container of N5, which says the version for all that is in it.
pub(crate) fn is_inside_n5(location: &str) -> bool {
    let above = location.trim_end_matches('/').rsplit('/').skip(1);
    above.into_iter().any(|name| has_ending(name, "n5"))
}
