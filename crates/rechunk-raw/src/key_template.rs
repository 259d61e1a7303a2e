//! Names of the files of blocks: `{0}_{1}_{2}.bin`.

use std::fmt::{self, Write};

use rechunk_format::FormatError;
use rechunk_format::field::Field;

use crate::ARRAY_JSON;

/// Longest template, bytes: file systems take names of 255.
const LENGTH_MAX: usize = 200;

/// Template that makes the name of a block's file from its index. Different blocks have different
/// names, and none leads out of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyTemplate(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Axis(usize),
}

impl KeyTemplate {
    /// `{0}_{1}_{2}.bin`; `0.bin` for a scalar.
    pub fn usual(rank: usize) -> Self {
        if rank == 0 {
            return Self(vec![Part::Text("0.bin".to_owned())]);
        }
        let separator = |axis| Part::Text(if axis + 1 < rank { "_" } else { ".bin" }.to_owned());
        Self((0..rank).flat_map(|axis| [Part::Axis(axis), separator(axis)]).collect())
    }

    /// Reads a template for an array of `rank` axes.
    pub fn parse(field: &Field, text: &str, rank: usize) -> Result<Self, FormatError> {
        if text.len() > LENGTH_MAX {
            return Err(field.invalid(format!("more than {LENGTH_MAX} bytes")));
        }
        let parts = split(field, text)?;
        for axis in 0..rank {
            match parts.iter().filter(|part| **part == Part::Axis(axis)).count() {
                1 => {}
                0 => return Err(field.invalid(format!("{{{axis}}} does not stand in {text:?}"))),
                _ => return Err(field.invalid(format!("{{{axis}}} stands twice in {text:?}"))),
            }
        }
        if let Some(Part::Axis(axis)) =
            parts.iter().find(|part| matches!(part, Part::Axis(axis) if *axis >= rank))
        {
            return Err(field.invalid(format!("{text:?} names axis {axis} of {rank}")));
        }
        check_distinct(field, text, &parts)?;
        check_path(field, text)?;
        Ok(Self(parts))
    }

    /// The name of block `index`.
    pub fn key(&self, index: &[u64]) -> String {
        let mut key = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => key.push_str(text),
                Part::Axis(axis) => {
                    // Writing to a string does not fail.
                    let _ = write!(key, "{}", index.get(*axis).copied().unwrap_or(0));
                }
            }
        }
        key
    }

    /// The index that a name stands for in an array of `rank` axes; `None` if it is that of no
    /// block.
    pub fn index(&self, key: &str, rank: usize) -> Option<Vec<u64>> {
        let mut index = vec![0; rank];
        let mut rest = key;
        for (position, part) in self.0.iter().enumerate() {
            match part {
                Part::Text(text) => rest = rest.strip_prefix(text.as_str())?,
                Part::Axis(axis) => {
                    // The last of the digits may be those that the text behind begins with.
                    let of_text = match self.0.get(position + 1) {
                        Some(Part::Text(text)) => digits_of(text),
                        _ => "",
                    };
                    let number = digits_of(rest).strip_suffix(of_text)?;
                    *index.get_mut(*axis)? = number.parse().ok()?;
                    rest = &rest[number.len()..];
                }
            }
        }
        // Equal again from the index: `01` names no block.
        (self.key(&index) == key).then_some(index)
    }
}

impl fmt::Display for KeyTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Axis(axis) => write!(f, "{{{axis}}}"),
        })
    }
}

/// The digits that a text begins with.
fn digits_of(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())]
}

fn split(field: &Field, text: &str) -> Result<Vec<Part>, FormatError> {
    let wrong = || field.invalid(format!("{text:?} has a brace that is not of an axis like {{0}}"));
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, after) = rest.split_at(at);
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        let (axis, behind) =
            after.strip_prefix('{').and_then(|after| after.split_once('}')).ok_or_else(wrong)?;
        let is_number = !axis.is_empty() && axis.bytes().all(|byte| byte.is_ascii_digit());
        let axis: usize = axis.parse().ok().filter(|_| is_number).ok_or_else(wrong)?;
        parts.push(Part::Axis(axis));
        rest = behind;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

/// Between two numbers must stand what is no digit, or `1` and `11` are `11` and `1`.
fn check_distinct(field: &Field, text: &str, parts: &[Part]) -> Result<(), FormatError> {
    let mut is_apart = true;
    for part in parts {
        match part {
            Part::Axis(_) if !is_apart => {
                let reason = format!("{text:?} can give two blocks the same name");
                return Err(field.invalid(reason));
            }
            Part::Axis(_) => is_apart = false,
            Part::Text(text) => is_apart |= !text.bytes().all(|byte| byte.is_ascii_digit()),
        }
    }
    Ok(())
}

/// Refuses what leads elsewhere, is hidden, or is a name of ours.
fn check_path(field: &Field, text: &str) -> Result<(), FormatError> {
    let mut names = text.split('/');
    let is_ours = text.split('/').next() == Some(ARRAY_JSON);
    let wrong = |name: &str| name.is_empty() || name.starts_with('.');
    if is_ours || names.any(wrong) || text.contains(['\\', '#', ':']) {
        return Err(field.invalid(format!("{text:?} is no name for a file of blocks")));
    }
    if text.chars().any(char::is_control) {
        return Err(field.invalid(format!("{text:?} has a control character")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, rank: usize) -> Result<KeyTemplate, String> {
        let field = Field::new(ARRAY_JSON, "key");
        KeyTemplate::parse(&field, text, rank).map_err(|error| error.to_string())
    }

    #[test]
    fn names_are_made_from_an_index() {
        let name = |text: &str, index: &[u64]| parse(text, index.len()).unwrap().key(index);
        assert_eq!(name("{0}_{1}_{2}.bin", &[0, 10, 7]), "0_10_7.bin");
        assert_eq!(name("z{1}/y{0}", &[3, 4]), "z4/y3");
        assert_eq!(name("5{0}", &[7]), "57");
        assert_eq!(name("all.bin", &[]), "all.bin");
        for rank in 0..4 {
            let usual = KeyTemplate::usual(rank);
            assert_eq!(parse(&usual.to_string(), rank).as_ref(), Ok(&usual));
        }
        assert_eq!(KeyTemplate::usual(3).to_string(), "{0}_{1}_{2}.bin");
    }

    #[test]
    fn a_name_says_its_index() {
        let indices: [&[u64]; 4] = [&[0, 0], &[6, 66], &[16, 7], &[u64::MAX, 1]];
        for text in ["{0}_{1}", "{0}6_{1}.bin", "6{1}66z6{0}", "{0}x{1}6", "z{1}/16{0}0"] {
            let template = parse(text, 2).unwrap();
            for index in indices {
                let key = template.key(index);
                assert_eq!(template.index(&key, 2).as_deref(), Some(index), "{key} of {text}");
            }
        }
        let template = parse("{0}6_{1}.bin", 2).unwrap();
        for name in ["6_1.bin", "1_1.bin", "016_1.bin", "17_1.bin", "16_01.bin", "16_1.bin.part"] {
            assert_eq!(template.index(name, 2), None, "{name}");
        }
    }

    #[test]
    fn what_is_refused() {
        for (text, rank, why) in [
            ("{0}", 2, "{1} does not stand"),
            ("{0}_{0}", 1, "stands twice"),
            ("{0}_{1}", 1, "names axis 1 of 1"),
            ("{0}{1}", 2, "same name"),
            ("{0}1{1}", 2, "same name"),
            ("{0:05}", 1, "brace"),
            ("{}", 1, "brace"),
            ("{+0}", 1, "brace"),
            ("{0", 1, "brace"),
            ("0}", 1, "brace"),
            ("{99999999999999999999}", 1, "brace"),
            ("../{0}", 1, "no name"),
            ("/{0}", 1, "no name"),
            ("a//{0}", 1, "no name"),
            ("a/../{0}", 1, "no name"),
            ("{0}/", 1, "no name"),
            (".rechunk/{0}", 1, "no name"),
            ("", 0, "no name"),
            ("array.json", 0, "no name"),
            ("array.json/{0}", 1, "no name"),
            ("a#{0}", 1, "no name"),
            ("c:{0}", 1, "no name"),
            ("a\\{0}", 1, "no name"),
            ("a\n{0}", 1, "control character"),
        ] {
            let error = parse(text, rank).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(parse(&"a".repeat(201), 0).unwrap_err().contains("more than 200"));
    }
}
