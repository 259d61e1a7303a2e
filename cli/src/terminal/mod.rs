//! Everything people and scripts read: data on stdout, talk on stderr.

pub(crate) mod logging;
pub(crate) mod progress;
pub(crate) mod remedy;

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use rechunk::{Error, format_byte_size, lies_in};
use rechunk_render::{error_json, error_text, harmless};

use crate::args::OutputArgs;
use crate::phrases::phrases;
use serde::Serialize;

/// Talk: a line on stderr.
pub(crate) fn say(text: &str) {
    // Nobody is left to tell if stderr is gone.
    let _ = writeln!(std::io::stderr().lock(), "{}", harmless(text));
}

/// Data: text on stdout. A closed pipe is no error: whoever reads has seen enough.
pub(crate) fn print(text: &str) {
    print_bytes(text.as_bytes());
    print_bytes(b"\n");
}

/// Data: bytes on stdout. Any error but a closed pipe is said, and ends the command with a failure.
pub(crate) fn print_bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            say(&format!("error: cannot write to stdout: {error}"));
            OUTPUT_FAILED.store(true, Ordering::Relaxed);
        }
        Ok(()) | Err(_) => {}
    }
}

static OUTPUT_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether some output is lost.
pub(crate) fn output_failed() -> bool {
    OUTPUT_FAILED.load(Ordering::Relaxed)
}

/// Data: one JSON object on stdout.
pub(crate) fn print_json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => {
            JSON_PRINTED.store(true, Ordering::Relaxed);
            print(&text);
        }
        Err(error) => say(&format!("error: cannot print JSON: {error}")),
    }
}

/// The result of a command that talks on stderr: the object with `--json`, else `text`.
pub(crate) fn show_done(
    output: &OutputArgs,
    value: &impl Serialize,
    text: impl FnOnce() -> String,
) {
    if output.json {
        print_json(value);
    } else if !output.quiet {
        say(&text());
    }
}

static JSON_PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether the one JSON object is on stdout.
pub(crate) fn has_printed_json() -> bool {
    JSON_PRINTED.load(Ordering::Relaxed)
}

/// Prints an error, its causes and its hint on stderr.
pub(crate) fn print_error(error: &Error) {
    say(&error_text(error, &phrases()));
}

/// Prints an error as the JSON object of a command that has been asked for one.
pub(crate) fn print_error_json(error: &Error) {
    print_json(&error_json(error, &phrases()));
}

/// Prints warnings on stderr.
pub(crate) fn warnings(warnings: &[String]) {
    for warning in warnings {
        say(&format!("warning: {warning}"));
    }
}

/// Writes a file the user named.
pub(crate) fn write_file(path: &str, text: &str) -> Result<(), Error> {
    std::fs::write(path, text)
        .map_err(|error| Error::State { path: path.to_owned(), reason: error.to_string() })
}

/// Refuses a file to be written that lies in the source or the target: it would be a chunk, or take
/// the place of one.
pub(crate) fn check_apart(file: Option<&str>, locations: &[&str]) -> Result<(), Error> {
    let Some(file) = file else { return Ok(()) };
    match locations.iter().find(|location| lies_in(file, location)) {
        Some(location) => Err(Error::Usage {
            message: format!("{file} would be written into {location}"),
            hint: Some("write it elsewhere".into()),
        }),
        None => Ok(()),
    }
}

/// Reads a file the user named, of at most [`READ_BYTES_MAX`].
pub(crate) fn read_file(path: &str) -> Result<Vec<u8>, Error> {
    let cannot = |reason: String| Error::Usage {
        message: format!("cannot read {path}: {reason}"),
        hint: None,
    };
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(READ_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| cannot(error.to_string()))?;
    if bytes.len() as u64 > READ_BYTES_MAX {
        return Err(cannot(format!("it has more than {}", format_byte_size(READ_BYTES_MAX))));
    }
    Ok(bytes)
}

/// Largest file that is read as a whole: a saved plan, with its metadata.
const READ_BYTES_MAX: u64 = 64 << 20;
