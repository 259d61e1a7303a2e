//! Result of the comparison of two groups.

use rechunk::{GroupComparison, MemberComparison, format_byte_size};

use super::first_lines::first_lines;
use super::harmless::harmless_line;
use super::numbers::{number, plural};

/// Most paths that are named of each kind.
const NAMED_MAX: usize = 20;

/// Shows the comparison of two groups, which the locations `a` and `b` name.
///
/// ```
/// fn show(a: &str, b: &str, comparison: &rechunk::GroupComparison) {
///     println!("{}", rechunk_render::group_comparison_text(a, b, comparison));
/// }
/// ```
pub fn group_comparison_text(a: &str, b: &str, found: &GroupComparison) -> String {
    let arrays = plural(found.arrays.len() as u64, "array");
    let mut compared = arrays;
    if found.others > 0 {
        let (files, bytes) =
            (plural(found.others, "other file"), format_byte_size(found.others_bytes));
        compared = format!("{compared} and {files} ({bytes})");
    }
    if found.equal {
        return format!("equal: {compared} of {a} and {b}");
    }
    let mut lines = vec![format!("{a} and {b} differ; {compared} were compared")];
    let differing: Vec<&MemberComparison> =
        found.arrays.iter().filter(|array| !array.equal()).collect();
    lines.extend(first_lines(&differing, NAMED_MAX, |array| {
        format!("  the array {} differs {}", harmless_line(&array.path), in_what(array))
    }));
    lines.extend(first_lines(&found.differing_others, NAMED_MAX, |(path, at)| {
        let in_what = match at {
            Some(at) => format!("first at byte {}", number(*at)),
            None => "in size".to_owned(),
        };
        format!("  the file {} differs {in_what}", harmless_line(path))
    }));
    for (paths, side) in [(&found.only_in_first, a), (&found.only_in_second, b)] {
        lines.extend(first_lines(paths, NAMED_MAX, |path| {
            format!("  only in {side}: {}", harmless_line(path))
        }));
    }
    lines.join("\n")
}

fn in_what(array: &MemberComparison) -> String {
    match (&array.difference, &array.comparison) {
        (Some(difference), _) => format!("({difference})"),
        (None, Some(found)) => {
            let first = found.first_difference.as_deref().unwrap_or_default();
            format!("in {} elements, first at {first:?}", number(found.differing_elements))
        }
        (None, None) => String::new(),
    }
}
