//! Circles between the modules of a crate: modules of which each, in the end, needs each other.
//!
//! A module needs another if it imports from it or names a path in it; a name that `lib.rs`,
//! `mod.rs` or any other module only hands on (`pub use`) is followed to where it is defined.
//! Method calls are not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::sources::{Use, crates, sources};
use crate::table::{Rows, Table};

const TABLE: Table<2> = Table {
    name: "circles",
    about: "Circles between the modules of each crate (tests/ratchets/circles.rs).",
    columns: ["largest circle", "modules in circles"],
};
/// Names handed on are followed so many times at most: `pub use` may go around.
const HANDS_MAX: usize = 8;

/// Segments of a module's path; none for the root.
type Path = Vec<String>;

/// Modules of a crate, and the names that each hands on.
#[derive(Default)]
struct Modules {
    uses: BTreeMap<Path, Vec<Use>>,
    paths: BTreeMap<Path, Vec<Path>>,
    handed_on: BTreeMap<(Path, String), Path>,
}

impl Modules {
    fn of_crate(name: &str) -> Self {
        let mut modules = Self::default();
        for source in sources().iter().filter(|source| source.krate == name) {
            let Some(module) = &source.module else { continue };
            // A crate with `lib.rs` and `main.rs` has one root here.
            modules.uses.entry(module.clone()).or_default().extend(source.uses.iter().cloned());
            modules.paths.entry(module.clone()).or_default().extend(source.paths.iter().cloned());
        }
        let mut handed_on = BTreeMap::new();
        for (module, uses) in &modules.uses {
            for used in uses.iter().filter(|used| used.hands_on) {
                if let Some(path) = modules.absolute(module, &used.path) {
                    handed_on.insert((module.clone(), used.name.clone()), path);
                }
            }
        }
        modules.handed_on = handed_on;
        modules
    }

    /// The path from the root of this crate; none if it leads into another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Path> {
        let supers = path.iter().take_while(|segment| *segment == "super").count();
        let joined = |base: &[String], rest: &[String]| Some([base, rest].concat());
        match path.first()?.as_str() {
            "crate" => joined(&[], &path[1..]),
            "self" => joined(module, &path[1..]),
            "super" => joined(&module[..module.len().saturating_sub(supers)], &path[supers..]),
            _ => {
                let whole = [module, path].concat();
                self.uses.contains_key(&whole[..=module.len()]).then_some(whole)
            }
        }
    }

    /// The module in which the thing at `path` is defined.
    fn defines(&self, path: &[String], hands: usize) -> Option<Path> {
        for length in (0..=path.len()).rev() {
            let (module, rest) = path.split_at(length);
            if !self.uses.contains_key(module) {
                continue;
            }
            let name = rest.first().map(|name| (module.to_vec(), name.clone()));
            return match name.and_then(|key| self.handed_on.get(&key)) {
                Some(to) if to != path && hands < HANDS_MAX => {
                    self.defines(&[to, &rest[1..]].concat(), hands + 1)
                }
                _ => Some(module.to_vec()),
            };
        }
        None
    }

    /// For each module the others that it needs.
    fn arrows(&self) -> BTreeMap<Path, BTreeSet<Path>> {
        let arrows_of = |module: &Path| {
            let imports = self.uses[module].iter().filter(|used| !used.hands_on);
            let imports = imports.filter_map(|used| self.absolute(module, &used.path));
            let all = imports.chain(self.paths[module].iter().cloned());
            let ends = all.filter_map(|path| self.defines(&path, 0));
            (module.clone(), ends.filter(|end| end != module).collect())
        };
        self.uses.keys().map(arrows_of).collect()
    }
}

/// Sets of modules that reach each other, the largest first.
fn circles(arrows: &BTreeMap<Path, BTreeSet<Path>>) -> Vec<BTreeSet<&Path>> {
    let reach = |from| {
        let (mut reached, mut todo) = (BTreeSet::new(), vec![from]);
        while let Some(module) = todo.pop() {
            todo.extend(arrows[module].iter().filter(|next| reached.insert(*next)));
        }
        reached
    };
    let reached: BTreeMap<&Path, BTreeSet<&Path>> =
        arrows.keys().map(|module| (module, reach(module))).collect();
    let circle_of = |module: &&Path| {
        let back = |other: &&&Path| reached[**other].contains(module);
        reached[module].iter().filter(back).copied().collect::<BTreeSet<_>>()
    };
    let circles: BTreeSet<_> = reached.keys().map(circle_of).filter(|set| set.len() > 1).collect();
    let mut circles: Vec<_> = circles.into_iter().collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

#[test]
fn circles_do_not_grow() {
    let (mut found, mut said) = (Rows::new(), BTreeMap::new());
    for name in crates() {
        let arrows = Modules::of_crate(name).arrows();
        let circles = circles(&arrows);
        let lengths: Vec<_> = circles.iter().map(BTreeSet::len).collect();
        let largest = lengths.first().copied().unwrap_or(0);
        found.insert(name.to_owned(), [largest, lengths.iter().sum()]);
        let mut text = String::new();
        for circle in &circles {
            let modules: Vec<_> = circle.iter().map(|module| module.join("::")).collect();
            write!(text, "\n  {} modules: {}", circle.len(), modules.join(" ")).unwrap();
        }
        said.insert(name, text);
    }
    TABLE.hold(&found, |name| said.get(name).cloned().unwrap_or_default());
}

#[test]
fn a_name_that_is_handed_on_leads_to_its_module() {
    let path = |text: &str| text.split("::").map(str::to_owned).collect::<Path>();
    let used = |hands_on, text: &str| Use {
        hands_on,
        path: path(text),
        name: path(text).pop().unwrap_or_default(),
    };
    let mut modules = Modules::default();
    for (module, uses) in [
        (vec![], vec![used(true, "a::A"), used(true, "b::B")]),
        (path("a"), vec![used(false, "crate::B")]),
        (path("b"), vec![used(false, "super::A")]),
        (path("c"), vec![used(false, "crate::A"), used(false, "std::fmt")]),
    ] {
        modules.uses.insert(module.clone(), uses);
        modules.paths.insert(module, vec![]);
    }
    for (name, to) in [("A", "a::A"), ("B", "b::B")] {
        modules.handed_on.insert((vec![], name.to_owned()), path(to));
    }
    let arrows = modules.arrows();
    assert_eq!(arrows[&path("a")], BTreeSet::from([path("b")]));
    assert_eq!(arrows[&path("c")], BTreeSet::from([path("a")]));
    let found = circles(&arrows);
    assert_eq!(found, [BTreeSet::from([&path("a"), &path("b")])]);
}
