//! Settings of v3's codecs `packbits`, for numbers of any number of bits, and `reshape`.

use rechunk_grid::DataType;

use crate::codec_settings::BitPacking;

/// Some bits of each element, one after the other, from the lowest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PackedNumbers {
    /// The elements.
    pub data_type: DataType,
    /// The first bit that is kept, counted from the lowest.
    pub first_bit: u32,
    /// The last bit that is kept.
    pub last_bit: u32,
    /// Place where the padding is said.
    pub padding: BitPacking,
}

/// Parts of an element that `packbits` packs: numbers of so many bits, each in so many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Bits of a number.
    pub(crate) bits: u32,
    /// Bytes it has in memory.
    pub(crate) bytes: usize,
    /// Numbers of an element: two where it is complex.
    pub(crate) count: usize,
    /// The bits above those that are kept are like the highest of these.
    pub(crate) is_signed: bool,
}

impl Parts {
    /// Those of a type; `None` if the codec is not for it.
    pub(crate) fn of(data_type: DataType) -> Option<Self> {
        let one = |bits, bytes, is_signed| Some(Self { bits, bytes, count: 1, is_signed });
        match data_type {
            DataType::Bool => one(1, 1, false),
            DataType::Int2 => one(2, 1, true),
            DataType::Uint2 => one(2, 1, false),
            DataType::Int4 => one(4, 1, true),
            DataType::Uint4 => one(4, 1, false),
            DataType::Int8 => one(8, 1, true),
            DataType::Uint8 => one(8, 1, false),
            DataType::Int16 => one(16, 2, true),
            DataType::Uint16 | DataType::Bfloat16 => one(16, 2, false),
            DataType::Int32 => one(32, 4, true),
            DataType::Uint32 | DataType::Float32 => one(32, 4, false),
            DataType::Int64 => one(64, 8, true),
            DataType::Uint64 | DataType::Float64 => one(64, 8, false),
            DataType::SmallFloat(_) => match data_type.name().as_str() {
                "float4_e2m1fn" => one(4, 1, false),
                "float6_e2m3fn" | "float6_e3m2fn" => one(6, 1, false),
                _ => None,
            },
            DataType::Complex64 => Some(Self { bits: 32, bytes: 4, count: 2, is_signed: false }),
            DataType::Complex128 => Some(Self { bits: 64, bytes: 8, count: 2, is_signed: false }),
            _ => None,
        }
    }
}

impl PackedNumbers {
    /// Bits of a number that are kept.
    pub(crate) fn kept_bits(&self) -> u32 {
        self.last_bit - self.first_bit + 1
    }
}

/// The extent of an axis that `reshape` makes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NewAxis {
    /// So many elements.
    Extent(u64),
    /// As many as these axes have together.
    Axes(Vec<usize>),
    /// All that is left.
    Rest,
}

/// The shape that `reshape` makes of one. Elements stay in their order.
pub(crate) fn reshaped(axes: &[NewAxis], shape: &[u64]) -> Result<Vec<u64>, String> {
    let product = |shape: &[u64]| {
        let all = shape.iter().try_fold(1_u64, |all, &extent| all.checked_mul(extent));
        all.ok_or_else(|| "it has too many elements".to_owned())
    };
    let of = |axis: &usize| {
        shape.get(*axis).copied().ok_or_else(|| format!("there is no axis {axis} in {shape:?}"))
    };
    let wanted = product(shape)?;
    let mut made = Vec::with_capacity(axes.len());
    for axis in axes {
        made.push(match axis {
            NewAxis::Extent(extent) => *extent,
            NewAxis::Axes(axes) => product(&axes.iter().map(of).collect::<Result<Vec<_>, _>>()?)?,
            NewAxis::Rest => 1,
        });
    }
    if let Some(rest) = axes.iter().position(|axis| *axis == NewAxis::Rest) {
        let others = product(&made)?;
        made[rest] = wanted.checked_div(others).unwrap_or(0);
    }
    if product(&made)? != wanted {
        return Err(format!("{made:?} has not as many elements as {shape:?}"));
    }
    let mut next = 0;
    for (position, axis) in axes.iter().enumerate() {
        let NewAxis::Axes(named) = axis else { continue };
        if named.iter().any(|&axis| std::mem::replace(&mut next, axis + 1) > axis) {
            return Err("its axes are not named in rising order".to_owned());
        }
        let (Some(first), Some(last)) = (named.first(), named.last()) else { continue };
        let is_same = product(&made[..position])? == product(&shape[..*first])?
            && product(&made[position + 1..])? == product(&shape[last + 1..])?;
        if !is_same {
            return Err(format!(
                "axes {named:?} of {shape:?} are not where axis {position} would be"
            ));
        }
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_made_as_the_specification_says() {
        use NewAxis::{Axes, Extent, Rest};
        let shape = [100, 50, 64, 3];
        for (axes, made) in [
            (vec![Axes(vec![0, 1]), Axes(vec![2]), Extent(3)], Some(vec![5000, 64, 3])),
            (vec![Rest], Some(vec![960_000])),
            (vec![Extent(100), Rest, Axes(vec![3])], Some(vec![100, 3200, 3])),
            (vec![Axes(vec![0, 1, 2, 3])], Some(vec![960_000])),
            (vec![Extent(1), Axes(vec![0]), Axes(vec![1]), Rest], Some(vec![1, 100, 50, 192])),
            (vec![Axes(vec![]), Rest], Some(vec![1, 960_000])),
            (vec![Axes(vec![1]), Axes(vec![0]), Rest], None),
            (vec![Axes(vec![1, 0]), Rest], None),
            (vec![Axes(vec![2, 3]), Extent(10), Axes(vec![0, 1])], None),
            (vec![Extent(50), Axes(vec![0]), Rest], None),
            (vec![Extent(7), Rest], None),
            (vec![Extent(0), Rest], None),
            (vec![Axes(vec![4]), Rest], None),
            (vec![Extent(960_001)], None),
            (vec![Extent(u64::MAX), Extent(2), Rest], None),
            (vec![], None),
        ] {
            assert_eq!(reshaped(&axes, &shape).ok(), made, "{axes:?}");
        }
        assert_eq!(reshaped(&[], &[]), Ok(Vec::new()));
        assert_eq!(reshaped(&[Rest, Extent(1)], &[]), Ok(vec![1, 1]));
        assert_eq!(reshaped(&[Rest, Axes(vec![0])], &[0, 5]).ok(), None);
    }
}
