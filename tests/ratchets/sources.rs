//! Reads all sources of the workspace once, and takes out of them what the ratchets count.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// One source file.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path in the repository.
    pub path: String,
    /// Directory of the crate without `crates/`; `tests` for what belongs to the whole.
    pub krate: String,
    /// Path of the module in its crate; none outside `src`, and none for test files.
    pub module: Option<Vec<String>>,
    pub text: String,
    pub docs: Vec<Words>,
    pub strings: Vec<Words>,
    pub uses: Vec<Use>,
    /// Paths in the code that begin with `crate`, without that word.
    pub paths: Vec<Vec<String>>,
    /// `Type::Name` and `.method` in the code outside tests.
    pub mentions: Vec<String>,
}

/// Text in a source: a doc comment, or the value of a string.
#[derive(Debug)]
pub(crate) struct Words {
    pub text: String,
    /// In a test file or below `#[cfg(test)]`.
    pub is_test: bool,
}

/// One name of a `use` outside tests.
#[derive(Debug, Clone)]
pub(crate) struct Use {
    /// It has a visibility: the module hands the name on.
    pub hands_on: bool,
    /// Segments, with `self` at the end left out and `*` for everything.
    pub path: Vec<String>,
    /// The name that it gets here.
    pub name: String,
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("the crate is in crates/").to_owned()
}

/// All sources, in the order of their paths.
pub(crate) fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let mut found = Vec::new();
        for directory in ["cli", "crates", "tests"] {
            files(&root().join(directory), &mut found);
        }
        found.sort();
        found.iter().map(|path| read(path)).collect()
    })
}

/// Names of the crates, without `tests`.
pub(crate) fn crates() -> Vec<&'static str> {
    let mut names: Vec<_> = sources().iter().map(|source| source.krate.as_str()).collect();
    names.dedup();
    names.retain(|name| *name != "tests");
    names
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "node_modules"].contains(&name) {
                files(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> Source {
    let text = std::fs::read_to_string(path).unwrap();
    let path = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
    let mut parts: Vec<_> = path.split('/').collect();
    if parts[0] == "crates" {
        parts.remove(0);
    }
    let inside = &parts[1..];
    let is_test =
        inside[0] != "src" || inside.iter().any(|part| ["tests", "tests.rs"].contains(part));
    let module = (!is_test).then(|| {
        let mut module: Vec<_> = inside[1..].iter().map(|part| (*part).to_owned()).collect();
        let last = module.pop().unwrap();
        if !["lib.rs", "main.rs", "mod.rs"].contains(&last.as_str()) {
            module.push(last.trim_end_matches(".rs").to_owned());
        }
        module
    });
    let mut source = Source {
        krate: parts[0].to_owned(),
        module,
        docs: Vec::new(),
        strings: Vec::new(),
        uses: Vec::new(),
        paths: Vec::new(),
        mentions: Vec::new(),
        text,
        path,
    };
    let tokens: TokenStream =
        source.text.parse().unwrap_or_else(|error| panic!("{}: {error}", source.path));
    source.walk(tokens, is_test);
    source
}

impl Source {
    fn walk(&mut self, tokens: TokenStream, is_test: bool) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let (mut at, mut doc, mut hands_on) = (0, Vec::new(), false);
        // Until here everything is below a `#[cfg(test)]`.
        let mut test_until = 0;
        while at < tokens.len() {
            let is_test = is_test || at < test_until;
            if let Some((line, next)) = doc_line(&tokens, at) {
                doc.push(line);
                at = next;
                continue;
            }
            if !doc.is_empty() {
                self.docs.push(Words { text: std::mem::take(&mut doc).join("\n"), is_test });
            }
            if is_cfg_test(&tokens, at) {
                test_until = test_until.max(end_of_item(&tokens, at + 2));
            }
            if !is_test {
                self.mentions.extend(mention(&tokens[at..]));
            }
            match &tokens[at] {
                TokenTree::Ident(word) if word == "use" => {
                    let end = (at..tokens.len()).find(|at| is(&tokens[*at], ';'));
                    // `use<'a>` says which lifetimes a type keeps.
                    let is_bound = tokens.get(at + 1).is_some_and(|token| is(token, '<'));
                    if let Some(end) = end.filter(|_| !is_test && !is_bound) {
                        self.take_use(&tokens[at + 1..end], &[], hands_on);
                        at = end;
                    }
                }
                TokenTree::Ident(word) if word == "crate" => {
                    let path = path_after(&tokens, at + 1);
                    if !path.is_empty() && !is_test {
                        self.paths.push(path);
                    }
                }
                TokenTree::Group(group) => self.walk(group.stream(), is_test),
                TokenTree::Literal(literal) => {
                    if let syn::Lit::Str(string) = syn::Lit::new(literal.clone()) {
                        self.strings.push(Words { text: string.value(), is_test });
                    }
                }
                _ => {}
            }
            hands_on = match &tokens[at] {
                TokenTree::Ident(word) => word == "pub",
                TokenTree::Group(group) => hands_on && group.delimiter() == Delimiter::Parenthesis,
                _ => false,
            };
            at += 1;
        }
        if !doc.is_empty() {
            self.docs.push(Words { text: doc.join("\n"), is_test });
        }
    }

    /// Takes the names of `a::{b, c::d}`.
    fn take_use(&mut self, tokens: &[TokenTree], before: &[String], hands_on: bool) {
        let mut path = before.to_vec();
        let mut name = None;
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Ident(word) if word == "as" => {
                    name = tokens.get(at + 1).map(ToString::to_string);
                    at += 1;
                }
                TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(group) => {
                    let inside: Vec<_> = group.stream().into_iter().collect();
                    for part in inside.split(|token| is(token, ',')).filter(|part| !part.is_empty())
                    {
                        self.take_use(part, &path, hands_on);
                    }
                    return;
                }
                token if is(token, '*') => path.push("*".to_owned()),
                _ => {}
            }
            at += 1;
        }
        if let Some(last) = path.last().cloned() {
            self.uses.push(Use { hands_on, name: name.unwrap_or(last), path });
        }
    }
}

/// `Type::Name` or `.method`, if tokens begin so.
fn mention(tokens: &[TokenTree]) -> Option<String> {
    match tokens {
        [TokenTree::Ident(of), first, second, TokenTree::Ident(name), ..]
            if is(first, ':') && is(second, ':') =>
        {
            Some(format!("{of}::{name}"))
        }
        [dot, TokenTree::Ident(name), TokenTree::Group(_), ..] if is(dot, '.') => {
            Some(format!(".{name}"))
        }
        _ => None,
    }
}

fn is(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// The text of a doc comment's line at `at`, and where the next token is.
fn doc_line(tokens: &[TokenTree], at: usize) -> Option<(String, usize)> {
    let at = if is(tokens.get(at)?, '#') { at + 1 } else { return None };
    let at = if is(tokens.get(at)?, '!') { at + 1 } else { at };
    let TokenTree::Group(group) = tokens.get(at)? else { return None };
    let inside: Vec<_> = group.stream().into_iter().collect();
    let [TokenTree::Ident(word), equals, TokenTree::Literal(literal)] = inside.as_slice() else {
        return None;
    };
    if word != "doc" || !is(equals, '=') {
        return None;
    }
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Str(text) => Some((text.value(), at + 1)),
        _ => None,
    }
}

fn is_cfg_test(tokens: &[TokenTree], at: usize) -> bool {
    let inside = |token: &TokenTree| token.to_string().replace(' ', "") == "[cfg(test)]";
    is(&tokens[at], '#') && tokens.get(at + 1).is_some_and(inside)
}

/// Behind the item that begins at `at`: after its `;` or its block.
fn end_of_item(tokens: &[TokenTree], at: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => is(token, ';') || is(token, ','),
    };
    (at..tokens.len()).find(|at| ends(&tokens[*at])).map_or(tokens.len(), |at| at + 1)
}

/// The segments after `crate` of a path that goes on at `at` with `::`.
fn path_after(tokens: &[TokenTree], mut at: usize) -> Vec<String> {
    let mut path = Vec::new();
    while let [first, second, TokenTree::Ident(word), ..] = &tokens[at.min(tokens.len())..] {
        if !is(first, ':') || !is(second, ':') {
            break;
        }
        path.push(word.to_string());
        at += 3;
    }
    path
}
