//! Warnings about many arrays alike are said once, with the number of arrays.

use std::collections::BTreeMap;

/// Arrays that are named one by one for the same text.
const NAMED_MAX: usize = 3;
/// Different texts that are kept. What comes after more is only counted.
const TEXTS_MAX: usize = 200;

/// Warnings of the arrays of a group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    /// Each text, with the first arrays that it is said of and how many these are.
    texts: Vec<(String, Vec<String>, u64)>,
    positions: BTreeMap<String, usize>,
    left_out: u64,
}

impl Said {
    /// Adds what is said of the array at `path`.
    pub(crate) fn add(&mut self, path: &str, text: &str) {
        self.add_many(text, &[path.to_owned()], 1);
    }

    /// Adds what is said of other arrays.
    pub(super) fn extend(&mut self, others: &Self) {
        for (text, paths, count) in &others.texts {
            self.add_many(text, paths, *count);
        }
        self.left_out += others.left_out;
    }

    /// Adds a text that is said of `count` arrays, the first of which are at `paths`.
    fn add_many(&mut self, text: &str, paths: &[String], count: u64) {
        let position = match self.positions.get(text) {
            Some(&position) => position,
            None if self.texts.len() >= TEXTS_MAX => {
                self.left_out += count;
                return;
            }
            None => {
                self.positions.insert(text.to_owned(), self.texts.len());
                self.texts.push((text.to_owned(), Vec::new(), 0));
                self.texts.len() - 1
            }
        };
        let (_, named, all) = &mut self.texts[position];
        named.extend(paths.iter().take(NAMED_MAX.saturating_sub(named.len())).cloned());
        *all += count;
    }

    /// The warnings, each after the path of its array.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (text, paths, count) in &self.texts {
            match &paths[..] {
                [first, ..] if *count > NAMED_MAX as u64 => {
                    lines.push(format!("{first}: {text} (and {} more arrays)", count - 1));
                }
                paths => lines.extend(paths.iter().map(|path| format!("{path}: {text}"))),
            }
        }
        if self.left_out > 0 {
            lines.push(format!("{} more warnings of other arrays", self.left_out));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(said: impl Iterator<Item = (u64, String)>) -> Vec<String> {
        let mut all = Said::default();
        said.for_each(|(number, text)| all.add(&format!("a{number}"), &text));
        all.lines()
    }

    #[test]
    fn what_many_arrays_have_is_said_once() {
        let same = |count| lines((0..count).map(|number| (number, "is odd".to_owned())));
        assert_eq!(same(0), [""; 0]);
        assert_eq!(same(2), ["a0: is odd", "a1: is odd"]);
        assert_eq!(same(3).len(), 3);
        assert_eq!(same(4), ["a0: is odd (and 3 more arrays)"]);
        assert_eq!(same(5000), ["a0: is odd (and 4999 more arrays)"]);
        let mixed = lines((0..9).map(|number| (number, format!("has {}", number % 2))));
        assert_eq!(mixed, ["a0: has 0 (and 4 more arrays)", "a1: has 1 (and 3 more arrays)"]);
    }

    #[test]
    fn however_many_differ_they_are_bounded() {
        let many = lines((0..10_000).map(|number| (number, format!("has {number}"))));
        assert_eq!(many.len(), TEXTS_MAX + 1);
        assert_eq!(many.last().unwrap(), "9800 more warnings of other arrays");
    }
}
