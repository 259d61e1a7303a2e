//! Errors of a location that has no array: they say what is there, and what to name.

use rechunk_store::Store;

use crate::arrays_below::arrays_below;
use crate::formats::{Format, NO_DOCUMENT};
use crate::not_ours;
use crate::some_names::some_names;
use crate::{Error, Remedy};

/// The location is a group: name the arrays in it.
pub(crate) async fn group_error(location: &str, format: Format, store: &Store) -> Error {
    let arrays = arrays_below(store).await;
    let reason = match named(&arrays) {
        None => format!("it is {} group", format.row().with_article),
        Some(names) => format!("it is {} group with {names}", format.row().with_article),
    };
    let hint = one_of(location, &arrays).unwrap_or_else(|| "name the array inside it".to_owned());
    Error::NotAnArray { location: location.to_owned(), reason, hint: Some(hint.into()) }
}

/// `the arrays a, b`, as many as a message takes.
fn named(arrays: &[String]) -> Option<String> {
    let names = some_names(arrays);
    match arrays.len() {
        0 => None,
        1 => Some(format!("the array {names}")),
        _ => Some(format!("the arrays {names}")),
    }
}

fn one_of(location: &str, arrays: &[String]) -> Option<String> {
    let root = location.trim_end_matches('/');
    arrays.first().map(|first| format!("name one of its arrays, e.g. {root}/{first}"))
}

/// No metadata of ours: say what is there.
pub(crate) async fn nothing_error(location: &str, store: &Store) -> Error {
    if let Some(error) = not_ours::recognise(location, store).await {
        return error;
    }
    let error = |reason: &str, hint: Option<String>| Error::NotAnArray {
        location: location.to_owned(),
        reason: reason.to_owned(),
        hint: hint.map(Remedy::from),
    };
    if !store.can_list() {
        let hint = "name the array itself: what is below a URL cannot be asked for".to_owned();
        return error(&format!("this URL has {NO_DOCUMENT}"), Some(hint));
    }
    match store.exists_anything().await {
        Ok(false) => {
            return error("there is nothing at this location", Some("check the path".to_owned()));
        }
        Ok(true) => {}
        // A place that cannot be looked at is not empty.
        Err(source) => return Error::source_store(location, source),
    }
    let arrays = arrays_below(store).await;
    if let Some(names) = named(&arrays) {
        return error(&format!("it only holds {names}"), one_of(location, &arrays));
    }
    if let Some(error) = not_ours::recognise_contents(location, store).await {
        return error;
    }
    let hint = "name the array inside the container".to_owned();
    let what = if store.archive().is_some() { "the ZIP file" } else { "it" };
    error(&format!("{what} has {NO_DOCUMENT}"), Some(hint))
}
