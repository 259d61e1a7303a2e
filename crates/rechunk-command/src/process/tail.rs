//! End of what a program says, in bounded memory.

/// Bytes that are kept.
const TAIL_BYTES: usize = 4 << 10;

/// End of a stream of bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Tail {
    /// Appends; forgets what is before the last 4 KiB.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if let Some(beyond) = self.bytes.len().checked_sub(TAIL_BYTES).filter(|&beyond| beyond > 0)
        {
            self.bytes.drain(..beyond);
            self.is_cut = true;
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the end as text, without what could control a terminal.
    pub(crate) fn text(&self) -> String {
        let mut bytes = &self.bytes[..];
        if self.is_cut {
            // Half a character at the beginning.
            let half = bytes.iter().take(3).take_while(|&&byte| byte & 0xc0 == 0x80).count();
            bytes = &bytes[half..];
        }
        let text = printable(bytes);
        let text = text.trim_end();
        if self.is_cut { format!("…{text}") } else { text.to_owned() }
    }
}

/// Returns bytes as text; control characters but tabs and ends of lines are replaced.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    String::from_utf8_lossy(bytes).replace('\r', "\n").replace(is_odd, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept() {
        let mut tail = Tail::default();
        assert_eq!(tail.text(), "");
        tail.push(b"a\x1b[31mb\n");
        assert_eq!(tail.text(), "a\u{fffd}[31mb");
        for _ in 0..10_000 {
            tail.push("ä€".as_bytes());
        }
        assert_eq!(tail.bytes.len(), TAIL_BYTES);
        let text = tail.text();
        assert!(text.starts_with("…ä€") || text.starts_with("…€ä"), "{}", &text[..10]);
        assert!(text.ends_with("ä€"));
        tail.push(&[b'x'; 3 * TAIL_BYTES]);
        assert_eq!(tail.bytes.len(), TAIL_BYTES);
        tail.clear();
        assert_eq!(tail.text(), "");
    }
}
