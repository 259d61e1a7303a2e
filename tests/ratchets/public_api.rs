//! The public API of `rechunk` against the listing in `tests/ratchets/tables/public_api.txt`.
//!
//! The listing is made from the sources (rustdoc's JSON needs a nightly compiler): all that is
//! `pub` and can be reached from `lib.rs`, with re-exports followed into the crates of the
//! workspace. Types in signatures are written as the source writes them. `RECHUNK_BLESS=1` writes
//! it anew; the diff is what a reviewer looks at.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path as FilePath;
use std::rc::Rc;

use quote::ToTokens;
use syn::{Attribute, Item, UseTree, Visibility};

use crate::signatures::{impl_lines, lines, tight};
use crate::sources::root;
use crate::table::{blesses, path};

const CRATE: &str = "rechunk";
/// `pub use` may go around.
const HOPS_MAX: usize = 16;

/// A module: crate and segments.
type Module = (String, Vec<String>);

/// A thing that a name stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    Module(Module),
    /// An item by its module and name.
    Item(Module, String),
}

/// A name that a module imports; `*` for all.
#[derive(Debug)]
struct Import {
    name: String,
    path: Vec<String>,
    is_pub: bool,
}

/// Items of the crates that were needed so far.
#[derive(Default)]
struct Workspace {
    modules: BTreeMap<Module, Rc<Vec<Item>>>,
}

pub(crate) fn is_pub(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| tight(attribute.to_token_stream()) == "#[cfg(test)]")
}

impl Workspace {
    /// Reads a crate, if it is one of ours and was not read before.
    fn load(&mut self, name: &str) -> bool {
        let module = (name.to_owned(), Vec::new());
        if self.modules.contains_key(&module) {
            return true;
        }
        let file = root().join("crates").join(name.replace('_', "-")).join("src/lib.rs");
        if !file.is_file() {
            return false;
        }
        let directory = file.parent().expect("a file is in a directory").to_owned();
        self.load_file(module, &file, &directory);
        true
    }

    fn load_file(&mut self, module: Module, file: &FilePath, directory: &FilePath) {
        let text = std::fs::read_to_string(file)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text);
        let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.load_items(module, parsed.items, directory);
    }

    fn load_items(&mut self, module: Module, mut items: Vec<Item>, directory: &FilePath) {
        for item in &mut items {
            let Item::Mod(inner) = item else { continue };
            if is_for_tests(&inner.attrs) {
                continue;
            }
            let name = inner.ident.to_string();
            let below = directory.join(&name);
            let key = (module.0.clone(), [&module.1[..], &[name]].concat());
            match inner.content.take() {
                Some((_, items)) => self.load_items(key, items, &below),
                None if below.join("mod.rs").is_file() => {
                    self.load_file(key, &below.join("mod.rs"), &below);
                }
                None => self.load_file(key, &below.with_extension("rs"), &below),
            }
        }
        self.modules.insert(module, Rc::new(items));
    }

    /// Finds what `name` is in a module: its own, imported, or a crate.
    fn lookup(&mut self, module: &Module, name: &str, hops: usize) -> Option<Named> {
        let below = (module.0.clone(), [&module.1[..], &[name.to_owned()]].concat());
        if self.modules.contains_key(&below) {
            return Some(Named::Module(below));
        }
        let items = self.modules.get(module)?;
        if items.iter().any(|item| name_of(item).as_deref() == Some(name)) {
            return Some(Named::Item(module.clone(), name.to_owned()));
        }
        if hops == HOPS_MAX {
            return None;
        }
        let imports: Vec<_> = items.iter().flat_map(imports).collect();
        for import in imports.iter().filter(|import| import.name == name) {
            // `use zarrs;` would lead to itself.
            if import.path != [name] {
                return self.resolve(module, &import.path, hops + 1);
            }
        }
        for import in imports.iter().filter(|import| import.name == "*") {
            let all = self.resolve(module, &import.path, hops + 1);
            if let Some(Named::Module(all)) = all
                && let Some(found) = self.lookup(&all, name, hops + 1)
            {
                return Some(found);
            }
        }
        self.load(name).then(|| Named::Module((name.to_owned(), Vec::new())))
    }

    fn resolve(&mut self, module: &Module, path: &[String], hops: usize) -> Option<Named> {
        let mut at = Named::Module(module.clone());
        for (index, segment) in path.iter().enumerate() {
            let Named::Module((name, mut inside)) = at else { return None };
            at = match segment.as_str() {
                "crate" => Named::Module((name, Vec::new())),
                "self" => Named::Module((name, inside)),
                "super" => {
                    inside.pop();
                    Named::Module((name, inside))
                }
                segment if index == 0 => self.lookup(module, segment, hops)?,
                segment => self.lookup(&(name, inside), segment, hops)?,
            };
        }
        Some(at)
    }

    fn list_module(&mut self, module: &Module, shown: &str, listing: &mut BTreeSet<String>) {
        let items = Rc::clone(&self.modules[module]);
        for item in items.iter() {
            for import in imports(item).into_iter().filter(|import| import.is_pub) {
                let found = self.resolve(module, &import.path, 0);
                match (found, import.name.as_str()) {
                    (Some(Named::Module(all)), "*") => self.list_module(&all, shown, listing),
                    (Some(Named::Module(inner)), name) => {
                        self.list_module(&inner, &format!("{shown}::{name}"), listing);
                    }
                    (Some(Named::Item(home, original)), name) => {
                        self.list_item(&home, &original, &format!("{shown}::{name}"), listing);
                    }
                    (None, name) => {
                        listing.insert(format!("{shown}::{name} = {}", import.path.join("::")));
                    }
                }
            }
            if let Item::Mod(inner) = item {
                if is_pub(&inner.vis) && !is_for_tests(&inner.attrs) {
                    let name = inner.ident.to_string();
                    let key =
                        (module.0.clone(), [&module.1[..], std::slice::from_ref(&name)].concat());
                    self.list_module(&key, &format!("{shown}::{name}"), listing);
                }
            } else if let (true, Some(name)) = (visible(item), name_of(item)) {
                self.list_item(module, &name, &format!("{shown}::{name}"), listing);
            }
        }
    }

    fn list_item(
        &mut self,
        module: &Module,
        name: &str,
        shown: &str,
        listing: &mut BTreeSet<String>,
    ) {
        let items = Rc::clone(&self.modules[module]);
        let named = items.iter().filter(|item| name_of(item).as_deref() == Some(name));
        for item in named {
            if !matches!(item, Item::Fn(item) if is_for_tests(&item.attrs)) {
                listing.extend(lines(item, shown));
            }
        }
        let wanted = Named::Item(module.clone(), name.to_owned());
        let of_crate = self.modules.iter().filter(|((krate, _), _)| *krate == module.0);
        let of_crate: Vec<_> =
            of_crate.map(|(home, items)| (home.clone(), Rc::clone(items))).collect();
        let impls =
            of_crate.iter().flat_map(|(home, items)| items.iter().map(move |item| (home, item)));
        for (home, item) in impls {
            let Item::Impl(item) = item else { continue };
            let syn::Type::Path(of) = &*item.self_ty else { continue };
            let segments: Vec<_> =
                of.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            // Most impls are of other types: by name first, which is quick.
            if segments.last().is_none_or(|last| last != name && segments.len() == 1)
                || is_for_tests(&item.attrs)
                || self.resolve(home, &segments, 0).as_ref() != Some(&wanted)
            {
                continue;
            }
            listing.extend(impl_lines(item, shown));
        }
    }
}

fn imports(item: &Item) -> Vec<Import> {
    let Item::Use(item) = item else { return Vec::new() };
    let mut found = Vec::new();
    if !is_for_tests(&item.attrs) {
        take_imports(&item.tree, &[], is_pub(&item.vis), &mut found);
    }
    found
}

fn take_imports(tree: &UseTree, before: &[String], is_pub: bool, found: &mut Vec<Import>) {
    let mut take = |last: &str, name: String| {
        let own = (last != "self").then(|| last.to_owned());
        let path = [before, own.as_slice()].concat();
        let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name };
        found.push(Import { name, path, is_pub });
    };
    match tree {
        UseTree::Path(tree) => {
            take_imports(&tree.tree, &[before, &[tree.ident.to_string()]].concat(), is_pub, found);
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                take_imports(tree, before, is_pub, found);
            }
        }
        UseTree::Name(tree) => take(&tree.ident.to_string(), tree.ident.to_string()),
        UseTree::Rename(tree) => take(&tree.ident.to_string(), tree.rename.to_string()),
        UseTree::Glob(_) => {
            found.push(Import { name: "*".to_owned(), path: before.to_vec(), is_pub });
        }
    }
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

fn visible(item: &Item) -> bool {
    match item {
        Item::Const(item) => is_pub(&item.vis),
        Item::Enum(item) => is_pub(&item.vis),
        Item::Fn(item) => is_pub(&item.vis),
        Item::Macro(item) => item.attrs.iter().any(|a| a.path().is_ident("macro_export")),
        Item::Static(item) => is_pub(&item.vis),
        Item::Struct(item) => is_pub(&item.vis),
        Item::Trait(item) => is_pub(&item.vis),
        Item::Type(item) => is_pub(&item.vis),
        _ => false,
    }
}

#[test]
fn the_listing_is_that_of_the_sources() {
    let mut workspace = Workspace::default();
    assert!(workspace.load(CRATE), "there is a crate {CRATE}");
    let mut listing = BTreeSet::new();
    workspace.list_module(&(CRATE.to_owned(), Vec::new()), CRATE, &mut listing);
    let text = listing.into_iter().map(|line| line + "\n").collect::<String>();
    let file = path("public_api");
    if blesses() {
        std::fs::write(&file, text).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    let (old, new): (BTreeSet<_>, BTreeSet<_>) = (stored.lines().collect(), text.lines().collect());
    let gone = old.difference(&new).map(|line| format!("- {line}"));
    let come = new.difference(&old).map(|line| format!("+ {line}"));
    let changes: Vec<_> = gone.chain(come).collect();
    assert!(
        stored == text,
        "the public API has changed; RECHUNK_BLESS=1 writes {} anew\n{}",
        file.display(),
        changes.join("\n")
    );
}
