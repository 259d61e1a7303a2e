//! Groups as another format says them.

use std::collections::BTreeSet;

use rechunk_image::Dialect;
use rechunk_zarr::GroupMetadata;

use super::ome;
use super::walk::{Found, in_words};
use crate::attributes::Way;
use crate::axes::Axes;
use crate::dimension_names::GroupNames;
use crate::formats::{Fact, Format, in_strict_json};

/// Outcome for all groups.
#[derive(Debug)]
pub(crate) struct InFormat {
    pub warnings: Vec<String>,
    /// Names that only groups have for the axes of arrays.
    pub names: GroupNames,
    /// Paths of levels whose images are said in a version with nested chunks.
    pub nested: BTreeSet<String>,
}

impl Found {
    /// Rewrites `root` and the groups below from the first of two formats to the second. Images
    /// become those of the version that is asked for, else of the usual one.
    pub(crate) fn say_in(
        &mut self,
        root: &mut GroupMetadata,
        formats: (Format, Format),
        (dialect, axes): (Option<Dialect>, Option<Axes>),
    ) -> InFormat {
        let carried = ome::carry(root, &mut self.groups, &self.arrays, (dialect, formats.1));
        let mut warnings = carried.warnings;
        let all = self.groups.iter().map(|(path, group)| (&**path, group));
        let names = GroupNames::of(std::iter::once(("", &*root)).chain(all));
        warnings.extend(fit_to(formats, axes, "", root));
        for (path, group) in &mut self.groups {
            warnings.extend(fit_to(formats, axes, path, group));
        }
        InFormat { warnings, names, nested: carried.nested }
    }
}

/// Has a group say what its format can; what it then does not say as before, for people.
fn fit_to(
    (from, to): (Format, Format),
    axes: Option<Axes>,
    path: &str,
    group: &mut GroupMetadata,
) -> Vec<String> {
    let place = in_words(path);
    let axes = axes.or_else(|| Axes::noted(&group.attributes)).unwrap_or_default();
    let carried = Way { from, to, axes }.carry_group(&mut group.attributes);
    let mut warnings: Vec<String> =
        carried.into_iter().map(|warning| format!("{place}: {warning}")).collect();
    if !group.extensions.is_empty() {
        let names: Vec<String> = group.extensions.keys().map(|name| format!("{name:?}")).collect();
        let names = names.join(", ");
        if to.has(Fact::GroupFields) {
            warnings.push(format!(
                "{place} has fields beyond the specification, which are carried: {names}. zarr-python up to 3.1 opens no such group"
            ));
        } else {
            group.extensions.clear();
            warnings.push(format!("{place} has fields that are dropped: {names}"));
        }
    }
    if to.has(Fact::StrictJson) && from != to {
        warnings.extend(in_strict_json(&place, &mut group.attributes));
    }
    warnings
}
