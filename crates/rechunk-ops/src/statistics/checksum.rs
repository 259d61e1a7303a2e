//! A checksum of elements and their places.

use std::sync::Arc;

use rechunk_grid::DataType;
use serde_json::{Value, json};

use super::values::{check_input, same_type, stranger};
use crate::element::{Element, Key, for_elements, supported};
use crate::error::OpError;
use crate::info::OperationInfo;
use crate::operation::{Operation, Output};
use crate::settings::{Settings, identity};
use crate::statistic::{Partial, Statistic};
use crate::view::{BoxView, TaskContext, for_kept_rows};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "checksum",
    "sum of a hash of each element and its index, for any division; it finds damage, not deceit",
    "a statistic: count, checksum (32 hexadecimal digits)",
    &[],
);

#[derive(Debug)]
struct Checksum;

#[expect(clippy::unnecessary_wraps, reason = "as all builders")]
pub(crate) fn build(_settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    Ok(Arc::new(Checksum))
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014): each bit of the result depends on each of `bits`.
#[inline]
fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The increment of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of an element at a place.
#[inline]
fn hash(place: u64, bits: u64) -> u128 {
    let low = mixed(mixed(place).wrapping_add(bits));
    let high = mixed(low ^ place.rotate_left(32) ^ STEP);
    u128::from(high) << 64 | u128::from(low)
}

/// The hash of a row: of its index over the axes before the last.
fn row_place(origin: &[i64], index: &[usize]) -> u64 {
    origin.iter().zip(index).fold(STEP, |place, (origin, at)| {
        let coordinate = origin.cast_unsigned().wrapping_add(*at as u64);
        mixed(place.wrapping_add(STEP) ^ coordinate)
    })
}

impl Operation for Checksum {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        identity(INFO.name, 1, &[])
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        supported(INFO.name, input)
    }

    fn output(&self) -> Output<'_> {
        Output::Statistic(self)
    }
}

impl Statistic for Checksum {
    fn measure(&self, input: &BoxView<'_>, context: &TaskContext) -> Result<Partial, OpError> {
        check_input(INFO.name, input, context)?;
        let (mut sum, mut count) = (0_u128, 0_u64);
        let first = context.origin.last().map_or(0, |origin| origin.cast_unsigned());
        let extent = input.shape.last().copied().unwrap_or(1);
        for_elements!(INFO.name, input.data_type, T => {
            let elements = input.cast::<T>(INFO.name)?;
            for_kept_rows(input.shape, context, |index, row| {
                let place = row_place(&context.origin, index);
                let at = first.wrapping_add(row.start as u64 % extent.max(1));
                count += row.len() as u64;
                for (element, step) in elements[row].iter().zip(0_u64..) {
                    let place = place.wrapping_add(at.wrapping_add(step).wrapping_mul(STEP));
                    let bits: <T as Element>::Key = bytemuck::cast(*element);
                    sum = sum.wrapping_add(hash(place, bits.to_u64()));
                }
                Ok(())
            })?;
        });
        Ok(Partial::Checksum { data_type: input.data_type, sum: format!("{sum:032x}"), count })
    }

    fn empty(&self, input: DataType) -> Result<Partial, OpError> {
        let data_type = self.output_type(input)?;
        Ok(Partial::Checksum { data_type, sum: format!("{:032x}", 0), count: 0 })
    }

    fn merge(&self, into: &mut Partial, other: &Partial) -> Result<(), OpError> {
        let (
            Partial::Checksum { data_type, sum, count },
            Partial::Checksum { data_type: type_of_more, sum: more, count: counted },
        ) = (into, other)
        else {
            return Err(stranger(INFO.name, "one is of another statistic"));
        };
        same_type(INFO.name, *data_type, *type_of_more)?;
        *sum = format!("{:032x}", parse(sum)?.wrapping_add(parse(more)?));
        *count = count.saturating_add(*counted);
        Ok(())
    }

    fn finish(&self, part: &Partial) -> Result<Value, OpError> {
        let Partial::Checksum { sum, count, .. } = part else {
            return Err(stranger(INFO.name, "it is of another statistic"));
        };
        parse(sum)?;
        Ok(json!({ "count": count, "checksum": sum }))
    }
}

/// Reads a sum.
fn parse(sum: &str) -> Result<u128, OpError> {
    u128::from_str_radix(sum, 16).map_err(|_| stranger(INFO.name, "its sum is no number"))
}
