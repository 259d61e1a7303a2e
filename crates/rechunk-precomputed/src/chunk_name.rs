//! Names of chunks: `x0-x1_y0-y1_z0-z1`, where numbers may be negative.

use std::fmt::Write;

/// The name of the chunk from `begin` to `end`, voxels along x, y and z.
pub(crate) fn write(begin: [i64; 3], end: [i64; 3]) -> String {
    let mut name = String::new();
    for (axis, (begin, end)) in begin.into_iter().zip(end).enumerate() {
        let separator = if axis == 0 { "" } else { "_" };
        let _ = write!(name, "{separator}{begin}-{end}"); // writing to a String cannot fail
    }
    name
}

/// Begin and end of the chunk of this name; `None` if it is none.
pub(crate) fn read(name: &str) -> Option<([i64; 3], [i64; 3])> {
    let mut parts = name.split('_').map(range);
    let [x, y, z] = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(([x.0, y.0, z.0], [x.1, y.1, z.1]))
}

fn range(part: &str) -> Option<(i64, i64)> {
    // The first minus may be a sign.
    let middle = part.get(1..)?.find('-')? + 1;
    Some((part[..middle].parse().ok()?, part[middle + 1..].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for (begin, end, name) in [
            ([0, 0, 0], [64, 64, 64], "0-64_0-64_0-64"),
            ([-10, 5, 0], [-2, 6, 1], "-10--2_5-6_0-1"),
            ([-64, 0, 7], [0, 1, 8], "-64-0_0-1_7-8"),
        ] {
            assert_eq!(write(begin, end), name);
            assert_eq!(read(name), Some((begin, end)));
        }
        for name in
            ["", "-", "0-64_0-64", "0-1_0-1_0-1_0-1", "a-b_0-1_0-1", "0_1-2_3-4", "é-1_0-1_0-1"]
        {
            assert_eq!(read(name), None, "{name}");
        }
    }
}
