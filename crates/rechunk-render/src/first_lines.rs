//! Lists of which a person reads the beginning.

use super::numbers::number;

/// A line for each of the first `most`, and how many more there are.
pub(crate) fn first_lines<T>(all: &[T], most: usize, line: impl Fn(&T) -> String) -> Vec<String> {
    let mut lines: Vec<String> = all.iter().take(most).map(line).collect();
    let more = all.len().saturating_sub(most);
    if more > 0 {
        lines.push(format!("  and {} more", number(more as u64)));
    }
    lines
}
