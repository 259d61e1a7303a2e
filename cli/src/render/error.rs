//! An error as people read it: what, why, what next.

use rechunk::Error;
use serde_json::json;

use super::harmless::harmless_message;
use super::remedy::hint;

/// Prints an error, its causes and its hint on stderr.
pub(crate) fn print_error(error: &Error) {
    let chain: Vec<String> = error.chain().iter().map(|text| harmless_message(text)).collect();
    let mut text = format!("error: {}", chain[0]);
    for cause in &chain[1..] {
        text.push_str("\n  caused by: ");
        text.push_str(cause);
    }
    if let Some(hint) = error.remedy().as_ref().map(hint) {
        text.push_str("\n\nhint: ");
        text.push_str(&harmless_message(&hint));
    }
    super::say(&text);
}

/// Prints an error as the JSON object of a command that has been asked for one.
pub(crate) fn print_error_json(error: &Error) {
    let chain: Vec<String> = error.chain();
    super::print_json(&json!({
        "error": {
            "exit_code": error.class() as u8,
            "message": chain[0],
            "causes": &chain[1..],
            "hint": error.remedy().as_ref().map(hint),
        }
    }));
}
