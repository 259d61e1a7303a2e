//! Lines of the listing of the public API: items and signatures as text.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Fields, ImplItem, Item, TraitItem};

use crate::public_api::{is_for_tests, is_pub};

/// Lines of an item that is shown at a path, without its impls.
pub(crate) fn lines(item: &Item, shown: &str) -> Vec<String> {
    match item {
        Item::Const(item) => vec![format!("{shown}: const {}", tight(&item.ty))],
        Item::Static(item) => vec![format!("{shown}: static {}", tight(&item.ty))],
        Item::Fn(item) => vec![function(&item.sig, shown)],
        Item::Type(item) => vec![format!("{shown}: type = {}", tight(&item.ty))],
        Item::Macro(_) => vec![format!("{shown}: macro")],
        Item::Struct(item) => {
            let (fields, hidden) = fields(&item.fields, shown, false);
            let hidden = if hidden { ", private fields" } else { "" };
            let head = type_head("struct", &item.generics, &item.attrs);
            let mut lines = vec![format!("{shown}: {head}{hidden}")];
            lines.extend(fields);
            lines.extend(derived(&item.attrs, shown));
            lines
        }
        Item::Enum(item) => {
            let mut lines =
                vec![format!("{shown}: {}", type_head("enum", &item.generics, &item.attrs))];
            for variant in &item.variants {
                let shown = format!("{shown}::{}", variant.ident);
                lines.push(format!(
                    "{shown}: {}",
                    type_head("variant", &syn::Generics::default(), &variant.attrs)
                ));
                lines.extend(fields(&variant.fields, &shown, true).0);
            }
            lines.extend(derived(&item.attrs, shown));
            lines
        }
        Item::Trait(item) => {
            let above = &item.supertraits;
            let head = type_head("trait", &item.generics, &item.attrs);
            let mut lines = vec![format!("{shown}: {head}: {}", tight(above))];
            for item in &item.items {
                lines.extend(match item {
                    TraitItem::Fn(item) => {
                        let given = if item.default.is_some() { ", provided" } else { "" };
                        Some(function(&item.sig, &format!("{shown}::{}", item.sig.ident)) + given)
                    }
                    TraitItem::Const(item) => {
                        Some(format!("{shown}::{}: const {}", item.ident, tight(&item.ty)))
                    }
                    TraitItem::Type(item) => {
                        Some(format!("{shown}::{}: type {}", item.ident, tight(&item.bounds)))
                    }
                    _ => None,
                });
            }
            lines
        }
        _ => Vec::new(),
    }
}

fn type_head(kind: &str, generics: &syn::Generics, attributes: &[Attribute]) -> String {
    let open = attributes.iter().any(|attribute| attribute.path().is_ident("non_exhaustive"));
    let bounds = &generics.where_clause;
    let text = tight(quote!(#generics #bounds));
    format!("{}{kind}{text}", if open { "non_exhaustive " } else { "" })
}

/// Lines of the fields that can be seen, and whether there are others.
fn fields(fields: &Fields, shown: &str, all: bool) -> (Vec<String>, bool) {
    let (seen, hidden): (Vec<_>, Vec<_>) =
        fields.iter().enumerate().partition(|(_, field)| all || is_pub(&field.vis));
    let line = |(at, field): (usize, &syn::Field)| {
        let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
        format!("{shown}.{name}: {}", tight(&field.ty))
    };
    (seen.into_iter().map(line).collect(), !hidden.is_empty())
}

fn derived(attributes: &[Attribute], shown: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        let parser = syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated;
        let paths = attribute.parse_args_with(parser).expect("a derive names traits");
        lines.extend(paths.iter().map(|path| format!("{shown} impl {} (derived)", tight(path))));
    }
    lines
}

fn function(signature: &syn::Signature, shown: &str) -> String {
    format!("{shown}: {}", tight(signature))
}

pub(crate) fn impl_lines(item: &syn::ItemImpl, shown: &str) -> Vec<String> {
    if let Some((of, _)) = &item.trait_ {
        return vec![format!("{shown} impl{} {}", tight(&item.generics), tight(of))];
    }
    let lines = item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(item) if is_pub(&item.vis) && !is_for_tests(&item.attrs) => {
            Some(function(&item.sig, &format!("{shown}::{}", item.sig.ident)))
        }
        ImplItem::Const(item) if is_pub(&item.vis) => {
            Some(format!("{shown}::{}: const {}", item.ident, tight(&item.ty)))
        }
        _ => None,
    });
    lines.collect()
}

/// Tokens as text, spaced as rustfmt would.
pub(crate) fn tight(tokens: impl ToTokens) -> String {
    let mut words = Vec::new();
    flatten(tokens.to_token_stream(), &mut words);
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 && is_spaced(&words[at - 1], word) {
            text.push(' ');
        }
        text.push_str(word);
    }
    text.replace(",)", ")").replace(",>", ">")
}

fn flatten(tokens: TokenStream, words: &mut Vec<String>) {
    let mut joined = String::new();
    for token in tokens {
        match token {
            TokenTree::Punct(punct) => {
                if punct.as_char() == '\'' && !joined.is_empty() {
                    words.push(std::mem::take(&mut joined));
                }
                joined.push(punct.as_char());
                let is_whole = ["->", "::", "=>"].contains(&joined.as_str());
                if is_whole || punct.spacing() == proc_macro2::Spacing::Alone || joined == ">" {
                    words.push(std::mem::take(&mut joined));
                }
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                words.push(open.to_owned());
                flatten(group.stream(), words);
                words.push(close.to_owned());
            }
            // With the `'` of a lifetime before it.
            token => words.push(std::mem::take(&mut joined) + &token.to_string()),
        }
    }
    words.extend((!joined.is_empty()).then_some(joined));
}

fn is_spaced(before: &str, after: &str) -> bool {
    let is_word = |text: &str| {
        text.ends_with(|c: char| c.is_alphanumeric() || c == '_')
            && !text.starts_with('\'')
            && !["mut", "const", "dyn", "impl"].contains(&text)
    };
    let sticks_on = ["(", "[", "<", "&", "::", ".", "!", "#", "*", "?", ""].contains(&before);
    let is_closing = [",", ";", ":", ".", ">", ")", "]", "::", "!", ""].contains(&after);
    if sticks_on || is_closing || (before, after) == ("impl", "<") {
        return false;
    }
    match (before, after) {
        (_, "(" | "<" | "[") => !is_word(before) && before != ">",
        (_, "?") => before != ")",
        _ => true,
    }
}

#[test]
fn signatures_are_spaced_as_in_the_source() {
    for text in [
        "pub fn a<'a, T: ?Sized>(&'a mut self, b: &[u8], c: [u8; 2]) -> Result<Vec<Vec<T>>, E>",
        "async fn b(self: Box<Self>, f: impl Fn(&str) -> bool + Send)",
        "fn c(x: *const u8, y: &dyn Trait<Item = (u8, u8)>) where T: A::B",
    ] {
        assert_eq!(tight(text.parse::<TokenStream>().unwrap()), text);
    }
}
