//! A directory as HTML, in the form of Python's `http.server`, which the readers of N5 in Java and
//! others take names from.

use std::fmt::Write;
use std::io;

use axum::body::Body;
use bytes::Bytes;
use cap_std::fs::{DirEntry, ReadDir};
use futures::stream;

use super::body::blocking;
use super::target::{Target, linked};

/// Names that are put in order. Of a directory with more, the rest comes as the system lists it:
/// memory is bounded, however large the directory is.
const SORTED_MAX: usize = 20_000;
/// Names that are listed at once behind those.
const NAMES_AT_ONCE: usize = 1000;

/// Text as HTML has it.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

/// The line of a name; none for one that no request can ask for.
fn line(entry: &DirEntry) -> Option<String> {
    let name = entry.file_name().into_string().ok()?;
    if name.contains(['\\', '\0']) {
        return None;
    }
    // Links are followed: behind one may be a directory.
    let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir())
        || entry.open_dir().is_ok_and(|_| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let slash = if is_directory { "/" } else { "" };
    Some(format!("<li><a href=\"{}{slash}\">{}{slash}</a></li>\n", linked(&name), escaped(&name)))
}

/// Lines of at most `most` names, and whether the directory has ended.
fn lines(names: &mut ReadDir, most: usize) -> io::Result<(Vec<String>, bool)> {
    let mut lines = Vec::new();
    for _ in 0..most {
        match names.next() {
            Some(entry) => lines.extend(line(&entry?)),
            None => return Ok((lines, true)),
        }
    }
    Ok((lines, false))
}

enum State {
    Begin(ReadDir),
    Rest(ReadDir),
    End,
    Done,
}

/// The listing of the directory `names`, which is at `target`.
pub(super) fn listing(names: ReadDir, target: &Target) -> Body {
    let path = if target.path() == "." { String::new() } else { escaped(target.path()) + "/" };
    let mut head = String::new();
    // Writing to a text does not fail.
    let _ = write!(
        head,
        "<!DOCTYPE HTML>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>Directory listing for /{path}</title>\n</head>\n<body>\n\
         <h1>Directory listing for /{path}</h1>\n<hr>\n<ul>\n"
    );
    let pieces =
        stream::try_unfold((Some(head), State::Begin(names)), |(head, state)| async move {
            let mut text = head.unwrap_or_default();
            let next = match state {
                State::Begin(names) => {
                    let (mut lines, names, is_end) = some_lines(names, SORTED_MAX).await?;
                    lines.sort();
                    text.extend(lines);
                    if is_end { State::End } else { State::Rest(names) }
                }
                State::Rest(names) => {
                    let (lines, names, is_end) = some_lines(names, NAMES_AT_ONCE).await?;
                    text.extend(lines);
                    if is_end { State::End } else { State::Rest(names) }
                }
                State::End => {
                    text.push_str("</ul>\n<hr>\n</body>\n</html>\n");
                    State::Done
                }
                State::Done => return Ok(None),
            };
            Ok::<_, io::Error>(Some((Bytes::from(text), (None, next))))
        });
    Body::from_stream(pieces)
}

async fn some_lines(mut names: ReadDir, most: usize) -> io::Result<(Vec<String>, ReadDir, bool)> {
    blocking(move || {
        let (lines, is_end) = lines(&mut names, most)?;
        Ok((lines, names, is_end))
    })
    .await
}
