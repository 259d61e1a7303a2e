//! The header of a block: mode, number of axes, size along each. Big-endian.

/// Most bytes of a header of `rank` axes: mode, rank, sizes, and the count of mode 1.
pub(crate) const fn header_bytes_max(rank: u64) -> u64 {
    4 + 4 * rank + 4
}

/// Elements of one length.
const MODE_DEFAULT: u16 = 0;

/// Elements of variable length, and serialised objects.
const MODE_VARIABLE: u16 = 1;
const MODE_OBJECT: u16 = 2;

/// Why a block is not decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HeaderError {
    /// It is damaged.
    Damaged(String),
    /// Its elements differ in length: its mode.
    Variable(u16),
}

/// Reads the header of a block of `rank` axes: its size along each, in N5's order, and what
/// follows.
pub(crate) fn read(block: &[u8], rank: usize) -> Result<(Vec<u32>, &[u8]), HeaderError> {
    let short = || HeaderError::Damaged(format!("{} bytes are too few for a header", block.len()));
    let word = |at: usize| Some(u16::from_be_bytes([*block.get(at)?, *block.get(at + 1)?]));
    match word(0).ok_or_else(short)? {
        MODE_DEFAULT => {}
        mode @ (MODE_VARIABLE | MODE_OBJECT) => return Err(HeaderError::Variable(mode)),
        mode => return Err(HeaderError::Damaged(format!("mode {mode} is not known"))),
    }
    let axes = word(2).ok_or_else(short)?;
    if usize::from(axes) != rank {
        let reason = format!("the header says {axes} dimensions, but the dataset has {rank}");
        return Err(HeaderError::Damaged(reason));
    }
    let (sizes, payload) = block[4..].split_at_checked(4 * rank).ok_or_else(short)?;
    let size = |bytes: &[u8]| bytes.iter().fold(0, |size, &byte| size << 8 | u32::from(byte));
    Ok((sizes.chunks(4).map(size).collect(), payload))
}

/// The header of a block of `sizes`, in N5's order.
pub(crate) fn write(sizes: &[u32]) -> Vec<u8> {
    let rank = u16::try_from(sizes.len()).unwrap_or(u16::MAX);
    let mut header = [MODE_DEFAULT.to_be_bytes(), rank.to_be_bytes()].concat();
    header.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        let header = write(&[5, 1 << 20]);
        assert_eq!(header, [0, 0, 0, 2, 0, 0, 0, 5, 0, 16, 0, 0]);
        let block = [&header[..], b"rest"].concat();
        assert_eq!(read(&block, 2), Ok((vec![5, 1 << 20], &b"rest"[..])));
        for length in 0..header.len() {
            let Err(HeaderError::Damaged(reason)) = read(&header[..length], 2) else { panic!() };
            assert!(reason.contains("too few"), "{reason}");
        }
        let damaged = |block: &[u8]| match read(block, 2) {
            Err(HeaderError::Damaged(reason)) => reason,
            other => panic!("{other:?}"),
        };
        assert!(damaged(&[0, 3, 0, 2]).contains("mode 3"));
        assert!(damaged(&[0, 0, 0xff, 0xff]).contains("65535 dimensions"));
        assert_eq!(read(&[0, 1, 0, 2], 2), Err(HeaderError::Variable(1)));
        assert_eq!(read(&[0, 2, 0, 0, 0, 9], 2), Err(HeaderError::Variable(2)));
    }
}
