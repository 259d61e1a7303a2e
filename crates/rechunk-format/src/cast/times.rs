//! Times that are counted in one unit from one moment, as times that are counted otherwise.

use rechunk_grid::{DataType, Endian};

use super::convert::{Convert, converter};
use super::layout::ElementMap;
use super::number::Wide;

/// Encoding of times in an array: each element is a number of units since a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The type of its elements.
    pub data_type: DataType,
    /// Length of the unit, nanoseconds; above 0.
    pub unit_nanoseconds: i128,
    /// The moment that 0 stands for, nanoseconds since a moment that both counts share.
    pub origin_nanoseconds: i128,
    /// The element that stands for no time, little-endian. NaN does in any case.
    pub missing: Option<Vec<u8>>,
}

/// Reason why a time cannot be counted otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncounted {
    /// It stands for no time, and the other count has no element that does.
    Missing,
    /// The element that it would be stands for no time in the other count.
    BecomesMissing,
    /// No element of the other count stands for exactly that moment.
    Inexact,
}

impl Count {
    /// A count in which every element but NaN is a time.
    pub fn new(data_type: DataType, unit_nanoseconds: i128, origin_nanoseconds: i128) -> Self {
        Self { data_type, unit_nanoseconds, origin_nanoseconds, missing: None }
    }

    /// The moment that an element, little-endian, stands for, to the nanosecond; `None` if it is no
    /// number, or beyond what is counted.
    pub fn moment_of(&self, element: &[u8]) -> Option<i128> {
        let numbers = converter(self.data_type, self.data_type)?;
        self.moment(numbers.read(element, Endian::Little))
    }

    /// The moment that an element stands for, to the nanosecond; `None` for one that is no number
    /// or beyond what is counted.
    fn moment(&self, value: Wide) -> Option<i128> {
        let since = match value {
            Wide::Signed(value) => i128::from(value).checked_mul(self.unit_nanoseconds)?,
            Wide::Unsigned(value) => i128::from(value).checked_mul(self.unit_nanoseconds)?,
            Wide::Float(value) => scaled(value, self.unit_nanoseconds)?,
        };
        since.checked_add(self.origin_nanoseconds)
    }

    fn is_missing(&self, value: Wide, element: &[u8], endian: Endian) -> bool {
        if matches!(value, Wide::Float(value) if value.is_nan()) {
            return true;
        }
        let Some(missing) = &self.missing else { return false };
        match endian {
            Endian::Little => element == missing,
            Endian::Big => element.iter().rev().eq(missing),
        }
    }
}

/// Returns `value * factor` in whole numbers, rounded to the nearest from the exact product. `None`
/// where it has no room, or the value is no number.
fn scaled(value: f64, factor: i128) -> Option<i128> {
    const MANTISSA_BITS: i32 = 52;
    if !value.is_finite() {
        return None;
    }
    let bits = value.to_bits();
    let stored = i32::try_from((bits >> MANTISSA_BITS) & 0x7ff).ok()?;
    let fraction = bits & ((1 << MANTISSA_BITS) - 1);
    // Numbers near 0 have no leading one.
    let mantissa = if stored == 0 { fraction } else { fraction | (1 << MANTISSA_BITS) };
    let exponent = stored.max(1) - 1023 - MANTISSA_BITS;
    let magnitude = i128::from(mantissa).checked_mul(factor)?;
    let magnitude = match u32::try_from(exponent) {
        Ok(up) => {
            let shifted = magnitude.checked_shl(up).filter(|shifted| shifted >> up == magnitude);
            shifted.filter(|shifted| *shifted >= 0)?
        }
        Err(_) if exponent < -126 => 0,
        Err(_) => {
            let down = exponent.unsigned_abs();
            magnitude.checked_add(1_i128 << (down - 1))? >> down
        }
    };
    Some(if value.is_sign_negative() { -magnitude } else { magnitude })
}

/// Counts times anew: each element becomes the one that stands for the same moment, to the
/// nanosecond, which is what readers tell apart. Where there is none, there is no counterpart.
#[derive(Debug, Clone)]
pub struct Recount {
    from: Count,
    to: Count,
    /// Reads what is counted, and writes what is counted anew.
    numbers: Convert,
    /// Reads what was written.
    written: Convert,
}

impl Recount {
    /// From one count to another; `None` if the elements of one of them are no numbers, or a unit
    /// is none.
    pub fn new(from: Count, to: Count) -> Option<Self> {
        let are_units = from.unit_nanoseconds > 0 && to.unit_nanoseconds > 0;
        let numbers = converter(from.data_type, to.data_type).filter(|_| are_units)?;
        let written = converter(to.data_type, to.data_type)?;
        Some(Self { from, to, numbers, written })
    }

    /// The type of the elements it makes.
    pub fn data_type(&self) -> DataType {
        self.to.data_type
    }

    /// The moment that an element stands for, nanoseconds since the moment that both counts share.
    pub fn moment(&self, element: &[u8], endian: Endian) -> Option<i128> {
        self.from.moment(self.numbers.read(element, endian))
    }

    /// Why an element cannot be counted anew; `None` if it can.
    pub fn uncounted(&self, element: &[u8], endian: Endian) -> Option<Uncounted> {
        let mut counted = [0; 16];
        let bytes = usize::try_from(self.to.data_type.item_bytes()).ok()?;
        self.recount(element, endian, counted.get_mut(..bytes)?).err()
    }

    /// Counts one element anew.
    fn recount(&self, element: &[u8], endian: Endian, counted: &mut [u8]) -> Result<(), Uncounted> {
        let value = self.numbers.read(element, endian);
        if self.from.is_missing(value, element, endian) {
            return self.write_missing(counted).ok_or(Uncounted::Missing);
        }
        self.write_time(value, counted).ok_or(Uncounted::Inexact)?;
        // Another element may stand for no time.
        let found = self.written.read(counted, Endian::Little);
        if self.to.is_missing(found, counted, Endian::Little) {
            return Err(Uncounted::BecomesMissing);
        }
        Ok(())
    }

    /// Writes the time that `value` stands for, if it can be counted exactly.
    fn write_time(&self, value: Wide, counted: &mut [u8]) -> Option<()> {
        let moment = self.from.moment(value)?;
        let since = moment.checked_sub(self.to.origin_nanoseconds)?;
        let unit = self.to.unit_nanoseconds;
        let (whole, rest) = (since.div_euclid(unit), since.rem_euclid(unit));
        let number = match i64::try_from(whole) {
            Ok(whole) if rest == 0 => Wide::Signed(whole),
            _ if rest == 0 => Wide::Unsigned(u64::try_from(whole).ok()?),
            _ => Wide::Float(whole as f64 + rest as f64 / unit as f64),
        };
        self.numbers.write(number, counted)?;
        // It may have been rounded.
        let found = self.written.read(counted, Endian::Little);
        (self.to.moment(found) == Some(moment)).then_some(())
    }

    fn write_missing(&self, counted: &mut [u8]) -> Option<()> {
        if let Some(missing) = &self.to.missing {
            counted.copy_from_slice(missing.get(..counted.len())?);
            return Some(());
        }
        self.numbers.write(Wide::Float(f64::NAN), counted)
    }
}

impl ElementMap for Recount {
    fn run(&self, stored: &[u8], endian: Endian, mapped: &mut [u8], from: usize) -> Option<usize> {
        let bytes = |data_type: DataType| usize::try_from(data_type.item_bytes()).unwrap_or(1);
        let (own, new) = (bytes(self.from.data_type), bytes(self.to.data_type));
        let pairs = stored.chunks_exact(own).zip(mapped.chunks_exact_mut(new));
        let mut pairs = pairs.enumerate().skip(from);
        pairs.find_map(|(at, (element, counted))| {
            self.recount(element, endian, counted).is_err().then_some(at)
        })
    }

    fn fault(&self, element: &[u8], endian: Endian) -> String {
        let value = self.numbers.shown(element, endian);
        match self.uncounted(element, endian) {
            Some(Uncounted::Missing) => {
                format!("{value} stands for a missing time, and the target has none to say so")
            }
            Some(Uncounted::BecomesMissing) => {
                format!("the time {value} would be what the target has for a missing one")
            }
            Some(Uncounted::Inexact) | None => {
                format!("the time {value} cannot be counted exactly as the target counts times")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i128 = 1_000_000_000;
    const DAY: i128 = 86_400 * SECOND;

    fn count(data_type: DataType, unit: i128, origin: i128) -> Count {
        Count::new(data_type, unit, origin)
    }

    fn map(recount: &Recount, element: &[u8]) -> Option<Vec<u8>> {
        let mut counted = vec![0; usize::try_from(recount.data_type().item_bytes()).unwrap()];
        let fault = recount.run(element, Endian::Little, &mut counted, 0);
        fault.is_none().then_some(counted)
    }

    #[test]
    fn integers_are_counted_anew_exactly_or_not_at_all() {
        let hours = |to| {
            let from = count(DataType::Int32, 3600 * SECOND, 2 * DAY);
            Recount::new(from, to).unwrap()
        };
        let days = hours(count(DataType::Int64, DAY, 0));
        let of = |recount: &Recount, hours: i32| map(recount, &hours.to_le_bytes());
        assert_eq!(of(&days, 24), Some(3_i64.to_le_bytes().to_vec()));
        assert_eq!(of(&days, -72), Some((-1_i64).to_le_bytes().to_vec()));
        assert_eq!(of(&days, 6), None);
        let floats = hours(count(DataType::Float64, DAY, 0));
        assert_eq!(of(&floats, 6), Some(2.25_f64.to_le_bytes().to_vec()));
        assert_eq!(of(&floats, 1), Some((2.0 + 1.0 / 24.0_f64).to_le_bytes().to_vec()));
        // A 32-bit float has no room for an hour after so many days.
        let far = hours(count(DataType::Float32, DAY, -40_000 * DAY));
        assert_eq!(of(&far, 1), None);
        assert_eq!(of(&far, 12), Some(40_002.5_f32.to_le_bytes().to_vec()));
        let small = hours(count(DataType::Int8, 60 * SECOND, 2 * DAY));
        assert_eq!(of(&small, 2), Some(vec![120]));
        assert_eq!(of(&small, 3), None, "it does not fit the type");
        let unsigned = hours(count(DataType::Uint16, 3600 * SECOND, 2 * DAY));
        assert_eq!(of(&unsigned, -1), None);
    }

    #[test]
    fn floats_mean_a_moment_to_the_nanosecond() {
        let from = count(DataType::Float64, DAY, DAY);
        let hours = Recount::new(from.clone(), count(DataType::Int64, 3600 * SECOND, 0)).unwrap();
        let of = |recount: &Recount, days: f64| map(recount, &days.to_le_bytes());
        for hour in 0..24_i64 {
            let found = of(&hours, hour as f64 / 24.0);
            assert_eq!(found, Some((24 + hour).to_le_bytes().to_vec()), "{hour}");
        }
        for wrong in [0.1, f64::INFINITY, 1e300, -1e300, f64::NAN] {
            assert_eq!(of(&hours, wrong), None, "{wrong}");
        }
        for nothing in [0.0, -0.0, 1e-300, 5e-324, -5e-324] {
            assert_eq!(of(&hours, nothing), Some(24_i64.to_le_bytes().to_vec()), "{nothing}");
        }
        let floats = Recount::new(from, count(DataType::Float64, 3600 * SECOND, 0)).unwrap();
        assert_eq!(of(&floats, 0.25), Some(30.0_f64.to_le_bytes().to_vec()));
        assert_eq!(of(&floats, f64::NAN).map(|nan| nan[7]), Some(0x7f));
    }

    #[test]
    fn what_is_missing_stays_so() {
        let nat = i64::MIN.to_le_bytes();
        let missing = |count: Count, bytes: &[u8]| Count { missing: Some(bytes.to_vec()), ..count };
        let days = missing(count(DataType::Int64, DAY, DAY), &nat);
        let hours = count(DataType::Int64, 3600 * SECOND, 0);
        let unsaid = Recount::new(days.clone(), hours.clone()).unwrap();
        assert_eq!(map(&unsaid, &nat), None);
        assert_eq!(unsaid.uncounted(&nat, Endian::Little), Some(Uncounted::Missing));
        assert!(unsaid.fault(&nat, Endian::Little).contains("stands for a missing time"));
        let other = missing(hours, &7_i64.to_le_bytes());
        let said = Recount::new(days.clone(), other).unwrap();
        assert_eq!(map(&said, &nat), Some(7_i64.to_le_bytes().to_vec()));
        // What the target takes for missing is no time.
        let taken = count(DataType::Int64, 3600 * SECOND, DAY - 7 * 3600 * SECOND);
        let taken = Recount::new(days.clone(), missing(taken, &7_i64.to_le_bytes())).unwrap();
        let zero = 0_i64.to_le_bytes();
        assert_eq!(map(&taken, &zero), None);
        assert_eq!(taken.uncounted(&zero, Endian::Little), Some(Uncounted::BecomesMissing));
        assert!(taken.fault(&zero, Endian::Little).contains("has for a missing one"));
        assert_eq!(taken.uncounted(&1_i64.to_le_bytes(), Endian::Little), None);
        let beyond = i64::MAX.to_le_bytes();
        assert_eq!(taken.uncounted(&beyond, Endian::Little), Some(Uncounted::Inexact));
        let floats = Recount::new(days, count(DataType::Float32, DAY, 0)).unwrap();
        let found = map(&floats, &nat).unwrap();
        assert!(f32::from_le_bytes(found.try_into().unwrap()).is_nan());
        let big = count(DataType::Int16, DAY, 0);
        let big = Recount::new(big.clone(), Count { data_type: DataType::Int32, ..big }).unwrap();
        let mut counted = [0; 4];
        assert_eq!(big.run(&[1, 2], Endian::Big, &mut counted, 0), None);
        assert_eq!(counted, 258_i32.to_le_bytes());
    }
}
