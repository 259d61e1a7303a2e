//! Byte shuffle: first all first bytes of the elements, then all second bytes, and so on. Buffers are whole numbers of
//! elements, of at least one byte. Loops over a few elements at a time, which the compiler makes vectors of.

/// Elements that are rearranged at a time: what they go through stays in the first-level cache.
pub(crate) const LANES: usize = 256;

/// Puts the first bytes of all `elements` of `typesize` bytes into `planes`, which is as long, then the second ones, and so on.
pub fn shuffle(typesize: usize, elements: &[u8], planes: &mut [u8]) {
    match typesize {
        1 => planes.copy_from_slice(elements),
        2 => shuffle_words(elements.as_chunks().0, planes, |word, shift| {
            (u16::from_le_bytes(word) >> shift).to_le_bytes()[0]
        }),
        4 => shuffle_words(elements.as_chunks().0, planes, |word, shift| {
            (u32::from_le_bytes(word) >> shift).to_le_bytes()[0]
        }),
        8 => shuffle_words(elements.as_chunks().0, planes, |word, shift| {
            (u64::from_le_bytes(word) >> shift).to_le_bytes()[0]
        }),
        _ => {
            let count = elements.len() / typesize;
            for (byte, plane) in planes.chunks_exact_mut(count.max(1)).enumerate() {
                for (value, element) in plane.iter_mut().zip(elements.chunks_exact(typesize)) {
                    *value = element[byte];
                }
            }
        }
    }
}

/// [`shuffle`] with shifts, a few elements at a time: loops that the compiler makes vectors of.
fn shuffle_words<const N: usize>(
    words: &[[u8; N]],
    planes: &mut [u8],
    byte_of: impl Fn([u8; N], u32) -> u8,
) {
    let count = words.len();
    for (some, words) in words.chunks(LANES).enumerate() {
        for (plane, shift) in planes.chunks_exact_mut(count).zip((0..).step_by(8)) {
            let plane = &mut plane[some * LANES..][..words.len()];
            for (value, word) in plane.iter_mut().zip(words) {
                *value = byte_of(*word, shift);
            }
        }
    }
}

/// Undoes [`shuffle`].
pub fn unshuffle(typesize: usize, planes: &[u8], elements: &mut [u8]) {
    let count = elements.len() / typesize;
    unshuffle_planes(typesize, |byte| &planes[byte * count..][..count], elements);
}

/// Puts elements of `typesize` bytes together, of whose bytes each has a plane.
pub(crate) fn unshuffle_planes<'a>(
    typesize: usize,
    plane: impl Fn(usize) -> &'a [u8],
    elements: &mut [u8],
) {
    let byte_plane = |byte: usize| plane(byte).as_chunks::<1>().0;
    match typesize {
        1 => elements.copy_from_slice(plane(0)),
        2 => interleave(byte_plane(0), byte_plane(1), elements.as_chunks_mut::<2>().0),
        4 => unshuffle_4(byte_plane, elements.as_chunks_mut().0),
        8 => unshuffle_8(byte_plane, elements.as_chunks_mut().0),
        _ => {
            for byte in 0..typesize {
                for (element, value) in elements.chunks_exact_mut(typesize).zip(plane(byte)) {
                    element[byte] = *value;
                }
            }
        }
    }
}

fn unshuffle_4<'a>(plane: impl Fn(usize) -> &'a [[u8; 1]], elements: &mut [[u8; 4]]) {
    let mut halves = [[[0; 2]; LANES]; 2];
    for (some, elements) in elements.chunks_mut(LANES).enumerate() {
        let at = some * LANES..some * LANES + elements.len();
        for (number, half) in halves.iter_mut().enumerate() {
            interleave(&plane(2 * number)[at.clone()], &plane(2 * number + 1)[at.clone()], half);
        }
        interleave(&halves[0], &halves[1], elements);
    }
}

/// [`unshuffle_planes`] of 8 bytes each.
pub(crate) fn unshuffle_8<'a>(plane: impl Fn(usize) -> &'a [[u8; 1]], elements: &mut [[u8; 8]]) {
    let (mut quarters, mut halves) = ([[[0; 2]; LANES]; 4], [[[0; 4]; LANES]; 2]);
    for (some, elements) in elements.chunks_mut(LANES).enumerate() {
        let at = some * LANES..some * LANES + elements.len();
        for (number, quarter) in quarters.iter_mut().enumerate() {
            interleave(&plane(2 * number)[at.clone()], &plane(2 * number + 1)[at.clone()], quarter);
        }
        for (half, quarters) in halves.iter_mut().zip(quarters.chunks_exact(2)) {
            interleave(&quarters[0], &quarters[1], half);
        }
        interleave(&halves[0], &halves[1], elements);
    }
}

/// Puts the two halves of elements together: a loop that the compiler makes vectors of, at 10 to
/// 35 GB/s; byte by byte, elements of 4 bytes take four times as long.
#[inline]
fn interleave<const H: usize, const N: usize>(
    low: &[[u8; H]],
    high: &[[u8; H]],
    elements: &mut [[u8; N]],
) {
    for ((element, low), high) in elements.iter_mut().zip(low).zip(high) {
        element[..H].copy_from_slice(low);
        element[H..].copy_from_slice(high);
    }
}
