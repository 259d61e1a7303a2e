//! The range of bytes that a request asks for.

use std::ops::Range;

/// The part of a file that is to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it: no range was asked for, or one that nobody understands, or several.
    Whole,
    /// Some bytes, at least one.
    Bytes(Range<u64>),
    /// Bytes that the file does not have.
    Beyond,
}

/// The part of `length` bytes that the header `Range` asks for, of RFC 9110, section 14.
///
/// Several ranges at once may be answered with the whole, and are.
pub(super) fn part(header: Option<&str>, length: u64) -> Part {
    let Some(set) = header.and_then(|header| header.trim().strip_prefix("bytes=")) else {
        return Part::Whole;
    };
    let Some((first, last)) = set.trim().split_once('-') else { return Part::Whole };
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // Numbers that are too large for us are beyond every file.
        is_number.then(|| text.parse().unwrap_or(u64::MAX))
    };
    let (first, last) = (first.trim(), last.trim());
    match (number(first), number(last)) {
        (None, Some(0)) if first.is_empty() => Part::Beyond,
        (None, Some(_)) if first.is_empty() && length == 0 => Part::Beyond,
        (None, Some(suffix)) if first.is_empty() => {
            Part::Bytes(length.saturating_sub(suffix)..length)
        }
        (Some(start), None) if last.is_empty() => from(start, length, length),
        (Some(start), Some(end)) if start <= end => from(start, end.saturating_add(1), length),
        _ => Part::Whole,
    }
}

fn from(start: u64, end: u64, length: u64) -> Part {
    if start < length { Part::Bytes(start..end.min(length)) } else { Part::Beyond }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (header, wanted) in [
            ("bytes=0-3", Part::Bytes(0..4)),
            ("bytes=4-", Part::Bytes(4..10)),
            ("bytes=4-99", Part::Bytes(4..10)),
            ("bytes=-3", Part::Bytes(7..10)),
            ("bytes=-99", Part::Bytes(0..10)),
            ("bytes=10-", Part::Beyond),
            ("bytes=99999999999999999999999-", Part::Beyond),
            ("bytes=-0", Part::Beyond),
            ("bytes=0-99999999999999999999999", Part::Bytes(0..10)),
            ("bytes=3-1", Part::Whole),
            ("bytes=+1-2", Part::Whole),
            ("bytes=a-b", Part::Whole),
            ("bytes=--1", Part::Whole),
            ("bytes=-", Part::Whole),
            ("bytes=0-1,4-5", Part::Whole),
            ("lines=0-1", Part::Whole),
        ] {
            assert_eq!(part(Some(header), 10), wanted, "{header}");
        }
        assert_eq!(part(None, 10), Part::Whole);
        assert_eq!(part(Some("bytes=0-"), 0), Part::Beyond);
        assert_eq!(part(Some("bytes=-5"), 0), Part::Beyond);
    }
}
