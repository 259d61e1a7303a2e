//! An error as people and programs read it: what, why, what next.

use rechunk::Error;
use serde_json::{Value, json};

use super::harmless::harmless_message;
use super::phrases::Phrases;

/// Shows an error with its causes and its hint, in the words of `phrases`.
///
/// ```
/// # use rechunk_render::Phrases;
/// let error = rechunk::Error::Usage {
///     message: "there is nothing to copy".to_owned(),
///     hint: Some("name a source".into()),
/// };
/// let text = rechunk_render::error_text(&error, &Phrases::default());
/// assert_eq!(text, "error: there is nothing to copy\n\nhint: name a source");
/// ```
pub fn error_text(error: &Error, phrases: &Phrases) -> String {
    let chain: Vec<String> = error.chain().iter().map(|text| harmless_message(text)).collect();
    let mut text = format!("error: {}", chain[0]);
    for cause in &chain[1..] {
        text.push_str("\n  caused by: ");
        text.push_str(cause);
    }
    if let Some(hint) = error.remedy().as_ref().map(phrases.remedy) {
        text.push_str("\n\nhint: ");
        text.push_str(&harmless_message(&hint));
    }
    text
}

/// Makes a JSON object of an error, its causes, its hint and the number of its class.
///
/// ```
/// # use rechunk_render::Phrases;
/// let error = rechunk::Error::Usage { message: "no source".to_owned(), hint: None };
/// assert_eq!(rechunk_render::error_json(&error, &Phrases::default())["error"]["exit_code"], 2);
/// ```
pub fn error_json(error: &Error, phrases: &Phrases) -> Value {
    let chain: Vec<String> = error.chain();
    let mut value = json!({
        "error": {
            "exit_code": error.class() as u8,
            "message": chain[0],
            "causes": &chain[1..],
            "hint": error.remedy().as_ref().map(phrases.remedy),
        }
    });
    if let Error::Apply { code, proposal, .. } = error {
        value["error"]["code"] = json!(code);
        if let Some(proposal) = proposal {
            value["error"]["proposal"] = json!(proposal);
        }
    }
    value
}
