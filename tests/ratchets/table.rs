//! Reads, compares and lowers the tables of ceilings.
//!
//! A table is text: lines with `#` say what it is, every other line is a name and its numbers.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use crate::sources::root;

/// Numbers by the name of a crate or a file.
pub(crate) type Rows<const N: usize> = BTreeMap<String, [usize; N]>;

/// A table in `tests/ratchets/tables`.
pub(crate) struct Table<const N: usize> {
    /// File name without `.txt`.
    pub name: &'static str,
    /// The heading that goes into the file: one or more sentences.
    pub about: &'static str,
    /// Names of the columns.
    pub columns: [&'static str; N],
}

/// True if ceilings are to be lowered, and listings written anew.
pub(crate) fn blesses() -> bool {
    std::env::var("RECHUNK_BLESS").is_ok_and(|value| value == "1")
}

/// The path of a file beside the tables.
pub(crate) fn path(name: &str) -> PathBuf {
    root().join("tests/ratchets/tables").join(format!("{name}.txt"))
}

impl<const N: usize> Table<N> {
    /// The ceilings; none if there is no such file yet.
    pub(crate) fn ceilings(&self) -> Option<Rows<N>> {
        let text = std::fs::read_to_string(path(self.name)).ok()?;
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let row = |line: &str| {
            let mut words = line.split_whitespace();
            let name = words.next().expect("a line that is not empty has a word").to_owned();
            let numbers: Vec<_> = words.map(|word| word.parse().expect(line)).collect();
            (name, numbers.try_into().unwrap_or_else(|_| panic!("{line}: {N} numbers")))
        };
        Some(lines.map(row).collect())
    }

    /// Compares what was found with the ceilings. Rows of zeros are left out of the file, and a
    /// name without a row has zeros as ceilings. `detail` says more about a name that is above its
    /// ceiling.
    pub(crate) fn hold(&self, found: &Rows<N>, detail: impl Fn(&str) -> String) {
        let Some(ceilings) = self.ceilings() else {
            assert!(blesses(), "there is no {}", path(self.name).display());
            return self.write(found);
        };
        self.hold_against(&ceilings, found, detail);
    }

    /// Does what [`Table::hold`] does with ceilings that the caller has read.
    pub(crate) fn hold_against(
        &self,
        ceilings: &Rows<N>,
        found: &Rows<N>,
        detail: impl Fn(&str) -> String,
    ) {
        let zeros = [0; N];
        let (mut higher, mut lower, mut lowered) = (Vec::new(), Vec::new(), Rows::new());
        let names: std::collections::BTreeSet<_> = ceilings.keys().chain(found.keys()).collect();
        for name in names {
            let ceiling = ceilings.get(name).unwrap_or(&zeros);
            let number = found.get(name).unwrap_or(&zeros);
            lowered.insert(name.clone(), std::array::from_fn(|at| number[at].min(ceiling[at])));
            for (at, column) in self.columns.iter().enumerate() {
                let said = format!("{name}: {column} {}, ceiling {}", number[at], ceiling[at]);
                if number[at] > ceiling[at] {
                    higher.push(format!("{said}{}", detail(name)));
                } else if number[at] < ceiling[at] {
                    lower.push(said);
                }
            }
        }
        let file = path(self.name);
        if blesses() {
            self.write(&lowered);
        }
        assert!(
            higher.is_empty(),
            "above the ceiling; {} is raised by hand only, with a reason\n{}",
            file.display(),
            higher.join("\n")
        );
        assert!(
            lower.is_empty() || blesses(),
            "lower the ceiling: RECHUNK_BLESS=1 does it in {}\n{}",
            file.display(),
            lower.join("\n")
        );
    }

    fn write(&self, rows: &Rows<N>) {
        let mut text = String::new();
        for line in self.about.lines() {
            writeln!(text, "# {line}").unwrap();
        }
        writeln!(text, "# Columns: {}", self.columns.join(", ")).unwrap();
        for (name, numbers) in rows.iter().filter(|(_, numbers)| **numbers != [0; N]) {
            let numbers: Vec<_> = numbers.iter().map(usize::to_string).collect();
            writeln!(text, "{name} {}", numbers.join(" ")).unwrap();
        }
        std::fs::write(path(self.name), text).unwrap();
    }
}
