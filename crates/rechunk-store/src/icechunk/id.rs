//! Numbers of snapshots, manifests and chunks, and how they are written in names: in base 32 of
//! Crockford (<https://www.crockford.com/base32.html>).

use std::fmt;

/// Letters of the base; I, L, O and U are none.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Bytes of an id.
pub(super) const ID_BYTES: usize = 12;
/// Letters of one: 96 bits, five each.
const ID_LETTERS: usize = 20;

/// Id of a snapshot, a manifest or a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id(pub(super) [u8; ID_BYTES]);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut bits, mut held) = (0_u32, 0);
        let mut write = |bits: u32| {
            let letter = usize::try_from(bits & 31).unwrap_or(0);
            f.write_str(char::from(LETTERS[letter]).encode_utf8(&mut [0; 4]))
        };
        for byte in self.0 {
            bits = bits << 8 | u32::from(byte);
            held += 8;
            while held >= 5 {
                held -= 5;
                write(bits >> held)?;
            }
        }
        // What is left of the last letter is 0.
        write(bits << (5 - held))
    }
}

impl Id {
    /// Reads one as it is in names, in letters of any case; `None` if it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() != ID_LETTERS {
            return None;
        }
        let (mut bits, mut held) = (0_u32, 0);
        let mut id = Vec::with_capacity(ID_BYTES);
        for letter in text.bytes() {
            let letter = letter.to_ascii_uppercase();
            let value = LETTERS.iter().position(|&known| known == letter)?;
            bits = (bits << 5 | u32::try_from(value).ok()?) & 0xfff;
            held += 5;
            if held >= 8 {
                held -= 8;
                id.push(u8::try_from(bits >> held & 0xff).ok()?);
            }
        }
        // Bits that are left over are 0.
        let is_whole = bits & ((1 << held) - 1) == 0;
        id.try_into().ok().filter(|_| is_whole).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_snapshot_has_the_id_of_the_specification() {
        let first = [0x0b, 0x1c, 0xc8, 0xd6, 0x78, 0x75, 0x80, 0xf0, 0xe3, 0x3a, 0x65, 0x34];
        assert_eq!(Id(first).to_string(), "1CECHNKREP0F1RSTCMT0");
        assert_eq!(Id::parse("1cechnkrep0f1rstcmt0"), Some(Id(first)));
        for none in ["", "1CECHNKREP0F1RSTCMT", "1CECHNKREP0F1RSTCMT1", "UCECHNKREP0F1RSTCMT0"] {
            assert_eq!(Id::parse(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn an_id_is_what_its_name_says(bytes: [u8; ID_BYTES]) {
            prop_assert_eq!(Id::parse(&Id(bytes).to_string()), Some(Id(bytes)));
        }
    }
}
