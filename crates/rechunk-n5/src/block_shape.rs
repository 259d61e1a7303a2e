//! Blocks that hold less than a full one: those at the edge, as Java writes them.

/// Positions of the rows of a smaller box in a full one. Axes in N5's order: the first is fastest.
#[derive(Debug)]
pub(crate) struct Rows {
    /// Bytes of a row, which lies in one piece in both.
    row_bytes: usize,
    /// Rows of the smaller box along each axis beyond a row, slowest last, and the bytes from one
    /// to the next in the full one.
    outer: Vec<(usize, usize)>,
    count: usize,
}

impl Rows {
    /// The rows of a box of `sizes` at the origin of one of `full`, which is no smaller; elements
    /// of `item_bytes`.
    pub(crate) fn new(sizes: &[usize], full: &[usize], item_bytes: usize) -> Self {
        // Axes that are whole are one with the next.
        let whole = sizes.iter().zip(full).take_while(|(size, full)| size == full).count();
        let inner = (whole + 1).min(sizes.len());
        let row_bytes = sizes[..inner].iter().product::<usize>() * item_bytes;
        let mut stride = full[..inner].iter().product::<usize>() * item_bytes;
        let mut outer = Vec::with_capacity(sizes.len() - inner);
        for (&size, &extent) in sizes[inner..].iter().zip(&full[inner..]) {
            outer.push((size, stride));
            stride *= extent;
        }
        let rows = outer.iter().map(|(size, _)| size).product();
        Self { row_bytes, outer, count: if row_bytes == 0 { 0 } else { rows } }
    }

    /// Bytes of all rows.
    pub(crate) fn bytes(&self) -> usize {
        self.count * self.row_bytes
    }

    /// Where row `number` begins in the full box, bytes.
    fn start(&self, number: usize) -> usize {
        let mut rest = number;
        let mut start = 0;
        for &(size, stride) in &self.outer {
            start += rest % size * stride;
            rest /= size;
        }
        start
    }

    /// The rows of the full box `elements`, behind what is in `packed`.
    pub(crate) fn gather(&self, elements: &[u8], packed: &mut Vec<u8>) {
        for number in 0..self.count {
            let start = self.start(number);
            packed.extend_from_slice(&elements[start..start + self.row_bytes]);
        }
    }

    /// Spreads rows that lie at the start of `buffer`, without gaps, over the full box that it is;
    /// what is not in them becomes 0.
    pub(crate) fn spread(&self, buffer: &mut [u8]) {
        let mut end = buffer.len();
        // Backwards: no row goes to where an earlier one still lies, because none moves forward.
        for number in (0..self.count).rev() {
            let (from, to) = (number * self.row_bytes, self.start(number));
            buffer.copy_within(from..from + self.row_bytes, to);
            buffer[to + self.row_bytes..end].fill(0);
            end = to;
        }
        buffer[..end].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against one element at a time.
        #[test]
        fn rows_are_where_elements_are(
            axes in prop::collection::vec((0_usize..4, 0_usize..3), 1..5),
            item_bytes in 1_usize..4,
        ) {
            let sizes: Vec<usize> = axes.iter().map(|(size, _)| *size).collect();
            let full: Vec<usize> = axes.iter().map(|(size, more)| size + more).collect();
            let bytes: usize = full.iter().product::<usize>() * item_bytes;
            let elements: Vec<u8> = (0..bytes).map(|i| (i % 251 + 1).try_into().unwrap()).collect();
            let (mut packed, mut zeroed) = (Vec::new(), vec![0; bytes]);
            for number in 0..full.iter().product() {
                let mut rest = number;
                let is_inside = sizes.iter().zip(&full).all(|(size, full)| {
                    let position = rest % full;
                    rest /= full;
                    position < *size
                });
                let place = number * item_bytes..(number + 1) * item_bytes;
                if is_inside {
                    packed.extend_from_slice(&elements[place.clone()]);
                    zeroed[place.clone()].copy_from_slice(&elements[place]);
                }
            }
            let rows = Rows::new(&sizes, &full, item_bytes);
            prop_assert_eq!(rows.bytes(), packed.len());
            let mut gathered = Vec::new();
            rows.gather(&elements, &mut gathered);
            prop_assert_eq!(&gathered, &packed);
            gathered.resize(bytes, 9);
            rows.spread(&mut gathered);
            prop_assert_eq!(gathered, zeroed);
        }
    }
}
