//! Factors of the levels of a pyramid, as people type them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::WordError;

/// Factors of one level.
#[derive(Debug, Clone, PartialEq, Eq)]
enum OfLevel {
    /// One for each axis, slowest first.
    Positional(Vec<u64>),
    /// By the name of the axis; others keep all elements.
    Named(Vec<(String, u64)>),
}

/// Factors of the levels of a pyramid against its first one, which is not said: `1,2,2;1,4,4`, or
/// `y=2,x=2;y=4,x=4`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LevelFactors(Vec<OfLevel>);

impl LevelFactors {
    /// Parses factors, level by level; says what is wrong with them otherwise.
    pub fn parse(text: &str) -> Result<Self, WordError> {
        let text = text.trim().trim_end_matches(';');
        text.split(';').map(OfLevel::parse).collect::<Result<_, _>>().map(Self)
    }

    /// Factors of each level for axes of these names, slowest first. Refuses lists of another
    /// length and names that no axis has.
    pub fn resolve(&self, names: &[String]) -> Result<Vec<Vec<u64>>, WordError> {
        self.0.iter().map(|level| level.resolve(names)).collect()
    }
}

text_form!(LevelFactors);

/// Writes what [`LevelFactors::parse`] reads.
impl fmt::Display for LevelFactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&levels.join(";"))
    }
}

impl OfLevel {
    fn parse(text: &str) -> Result<Self, WordError> {
        let entries: Vec<&str> = text.split(',').map(str::trim).collect();
        if !text.contains('=') {
            let factors = entries.into_iter().map(number).collect::<Result<_, _>>();
            return factors.map(Self::Positional);
        }
        let mut named: Vec<(String, u64)> = Vec::with_capacity(entries.len());
        for entry in entries {
            let (name, factor) = entry.split_once('=').ok_or_else(|| {
                let hint = "name all axes of the level or none";
                WordError::new(format!("`{entry}` has no name"), Some(hint))
            })?;
            let (name, factor) = (name.trim(), number(factor.trim())?);
            if named.iter().any(|(other, _)| other == name) {
                let hint = "give each axis of a level one factor";
                return Err(WordError::new(format!("axis `{name}` is named twice"), Some(hint)));
            }
            named.push((name.to_owned(), factor));
        }
        Ok(Self::Named(named))
    }

    fn resolve(&self, names: &[String]) -> Result<Vec<u64>, WordError> {
        let rank = names.len();
        match self {
            Self::Positional(factors) if factors.len() == rank => Ok(factors.clone()),
            Self::Positional(factors) => {
                let last = names.last().map_or("x", String::as_str);
                let names = names.join(", ");
                let hint = format!("give one for each of {names}, or name them: {last}=2");
                let count = factors.len();
                let message = format!("`{self}` has {count} factors, the image {rank} axes");
                Err(WordError::new(message, Some(&hint)))
            }
            Self::Named(named) => {
                let mut factors = vec![1; rank];
                for (name, factor) in named {
                    let Some(axis) = names.iter().position(|known| known == name) else {
                        let message = format!("no axis is named `{name}`");
                        let hint = format!("its axes are {}", names.join(", "));
                        return Err(WordError::new(message, Some(&hint)));
                    };
                    factors[axis] = *factor;
                }
                Ok(factors)
            }
        }
    }
}

impl fmt::Display for OfLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> = match self {
            Self::Positional(factors) => factors.iter().map(ToString::to_string).collect(),
            Self::Named(named) => {
                named.iter().map(|(name, factor)| format!("{name}={factor}")).collect()
            }
        };
        f.write_str(&entries.join(","))
    }
}

fn number(text: &str) -> Result<u64, WordError> {
    let factor = text.parse::<u64>().ok().filter(|&factor| factor > 0);
    factor.ok_or_else(|| {
        let hint = "one level is 1,2,2 and two are 1,2,2;1,4,4: factors are against level 0";
        WordError::new(format!("`{text}` is no factor, which is a number from 1 on"), Some(hint))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["z", "y", "x"].map(str::to_owned).to_vec()
    }

    #[test]
    fn levels_are_said_by_position_or_by_name() {
        let factors: LevelFactors = "1,2,2;1,4,4".parse().unwrap();
        assert_eq!(factors.resolve(&names()).unwrap(), [[1, 2, 2], [1, 4, 4]]);
        let named: LevelFactors = "y=2, x=3; x=6,y=4".parse().unwrap();
        assert_eq!(named.resolve(&names()).unwrap(), [[1, 2, 3], [1, 4, 6]]);
        assert_eq!(named.to_string(), "y=2,x=3;x=6,y=4");
        let json = serde_json::to_string(&factors).unwrap();
        assert_eq!(serde_json::from_str::<LevelFactors>(&json).unwrap(), factors);
    }

    #[test]
    fn what_is_no_factor_is_refused_by_name() {
        for (text, says) in [
            ("", "`` is no factor"),
            ("2,0", "`0`"),
            ("2,-1", "`-1`"),
            ("1.5", "`1.5`"),
            ("x=2,3", "`3` has no name"),
            ("y=2,y=4", "axis `y` is named twice"),
            ("x=2; x=4,y=2, x =4", "axis `x` is named twice"),
            ("18446744073709551616", "no factor"),
        ] {
            let error = text.parse::<LevelFactors>().unwrap_err();
            assert!(error.message.contains(says), "{text}: {}", error.message);
        }
        let factors: LevelFactors = "2,2".parse().unwrap();
        assert!(factors.resolve(&names()).unwrap_err().message.contains("2 factors"));
        let factors: LevelFactors = "c=2".parse().unwrap();
        assert!(factors.resolve(&names()).unwrap_err().message.contains("`c`"));
    }
}
