//! Text that a terminal only shows: names come from documents and directories that others made.

use std::borrow::Cow;

/// Most characters of one message.
const MESSAGE_CHARS_MAX: usize = 1000;

/// Spells out all characters of `text` that a terminal would obey, except newlines: control
/// characters, and those that turn the direction of writing.
///
/// ```
/// assert_eq!(rechunk_render::harmless("a\u{1b}[31m"), "a\\u{1b}[31m");
/// ```
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c != '\n' && is_obeyed(c)) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if c == '\n' { c.to_string() } else { spelled(c) }).collect()
}

/// Makes `text` harmless like [`harmless`], newlines too: it stays on one line.
pub(crate) fn harmless_line(text: &str) -> String {
    text.chars().map(spelled).collect()
}

/// Makes `text` harmless on one line like [`harmless_line`], and cuts it where it is long.
pub(crate) fn harmless_message(text: &str) -> String {
    let mut rest = text.chars();
    let mut message: String = rest.by_ref().take(MESSAGE_CHARS_MAX).map(spelled).collect();
    message.extend(rest.next().map(|_| '…'));
    message
}

fn spelled(c: char) -> String {
    if is_obeyed(c) { c.escape_default().collect() } else { c.to_string() }
}

fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_spelled_out() {
        assert_eq!(harmless("a\nb é → ×"), "a\nb é → ×");
        assert_eq!(harmless("\u{1b}[31m\n\u{9b}\u{202e}"), "\\u{1b}[31m\n\\u{9b}\\u{202e}");
        assert_eq!(harmless_line("a\nb"), "a\\nb");
        assert_eq!(harmless_message(&"x".repeat(5000)).chars().count(), MESSAGE_CHARS_MAX + 1);
    }
}
