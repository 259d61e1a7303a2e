//! Times that count from a moment: `hours since 2021-01-01 06:00`.

use rechunk_format::cast::Count;
use rechunk_grid::{DataType, Endian};
use serde_json::{Map, Value};

use super::coordinate::number;
use super::dates::{Date, DayCount, FIRST_GREGORIAN};
use super::length::Length;
use super::spacing::Number;
use super::units::{of_numpy, of_word};

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;

/// Way in which an array counts times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Since {
    /// Length of the unit, nanoseconds.
    unit_nanoseconds: i128,
    /// The moment that 0 stands for, nanoseconds since the day 0 of the calendar.
    origin_nanoseconds: i128,
    calendar: DayCount,
}

impl Since {
    /// By the attributes `units` and `calendar`; `None` if they do not say it, or say it in months
    /// or years, which differ in length.
    pub(crate) fn of_attributes(attributes: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| attributes.get(name).and_then(Value::as_str);
        let calendar = DayCount::from_name(text("calendar").unwrap_or("standard").trim())?;
        let words = text("units")?.trim();
        let (unit, rest) = words.split_once(char::is_whitespace)?;
        let rest = rest.trim_start();
        let (since, moment) = rest.split_once(char::is_whitespace)?;
        if !since.eq_ignore_ascii_case("since") {
            return None;
        }
        let Length::Seconds(seconds) = of_word(unit)? else { return None };
        Some(Self {
            unit_nanoseconds: nanoseconds(seconds)?,
            origin_nanoseconds: moment_of(moment, calendar)?,
            calendar,
        })
    }

    /// By its data type, where that counts time from a moment of its own.
    pub(crate) fn of_type(data_type: DataType) -> Option<Self> {
        let DataType::DateTime64 { unit, scale } = data_type else { return None };
        let Length::Seconds(seconds) = of_numpy(unit)? else { return None };
        let unit_nanoseconds = nanoseconds(seconds)?.checked_mul(scale.into())?;
        Some(Self { unit_nanoseconds, origin_nanoseconds: 0, calendar: DayCount::Gregorian })
    }

    /// Whether moments of both have the same numbers, but for those before the Gregorian reform
    /// ([`Since::is_modern`]).
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        let mixes =
            |one: DayCount, two: DayCount| (one, two) == (DayCount::Mixed, DayCount::Gregorian);
        self.calendar == other.calendar
            || (mixes(self.calendar, other.calendar) || mixes(other.calendar, self.calendar))
                && Self::is_modern(self.origin_nanoseconds)
                && Self::is_modern(other.origin_nanoseconds)
    }

    /// Whether the calendars of both are one, so that all moments have the same numbers.
    pub(crate) fn has_calendar_of(&self, other: &Self) -> bool {
        self.calendar == other.calendar
    }

    /// A moment since the Gregorian reform.
    pub(crate) fn is_modern(moment_nanoseconds: i128) -> bool {
        moment_nanoseconds >= i128::from(FIRST_GREGORIAN) * DAY
    }

    /// The moment that a number of units stands for, nanoseconds; `None` if it is beyond what is
    /// counted.
    pub(crate) fn moment(&self, units: i128) -> Option<i128> {
        units.checked_mul(self.unit_nanoseconds)?.checked_add(self.origin_nanoseconds)
    }

    /// The moment that an element of `data_type`, little-endian, stands for.
    pub(crate) fn moment_of(&self, element: &[u8], data_type: DataType) -> Option<i128> {
        if let Some(Number::Integer(units)) = number(element, 0, data_type, Endian::Little) {
            return self.moment(units);
        }
        self.count(data_type).moment_of(element)
    }

    /// Count of such times in elements of `data_type`.
    pub(crate) fn count(&self, data_type: DataType) -> Count {
        Count::new(data_type, self.unit_nanoseconds, self.origin_nanoseconds)
    }

    /// The month of the calendar that a moment lies in, counted from January of the year 0.
    pub(crate) fn month(&self, moment_nanoseconds: i128) -> Option<i64> {
        let number = i64::try_from(moment_nanoseconds.div_euclid(DAY)).ok()?;
        if number.unsigned_abs() > 1 << 40 {
            return None;
        }
        let Date { year, month, .. } = self.calendar.date(number);
        year.checked_mul(12)?.checked_add(month - 1)
    }

    /// A moment in words: `2021-01-03 06:00:00`.
    pub(crate) fn in_words(&self, moment_nanoseconds: i128) -> Option<String> {
        let number = i64::try_from(moment_nanoseconds.div_euclid(DAY)).ok()?;
        if number.unsigned_abs() > 1 << 40 {
            return None;
        }
        let Date { year, month, day } = self.calendar.date(number);
        let of_day = moment_nanoseconds.rem_euclid(DAY);
        let (seconds, rest) = (of_day / SECOND, of_day % SECOND);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let fraction = format!("{rest:09}");
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        Some(format!(
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{point}{fraction}"
        ))
    }
}

/// Whole nanoseconds, at least one.
#[expect(clippy::cast_possible_truncation, reason = "units of time are at most weeks")]
fn nanoseconds(seconds: f64) -> Option<i128> {
    let nanoseconds = (seconds * 1e9).round();
    (1.0..1e30).contains(&nanoseconds).then_some(nanoseconds as i128)
}

/// `2021-01-01`, with a time of the day and a time zone behind it, as UDUNITS and ISO 8601 write
/// them.
fn moment_of(text: &str, calendar: DayCount) -> Option<i128> {
    let text = text.trim();
    let text = ["Z", "UTC", "GMT"].iter().find_map(|zone| text.strip_suffix(zone)).unwrap_or(text);
    let text = text.trim_end();
    let end = text.find(|c: char| c == 'T' || c == 't' || c.is_whitespace()).unwrap_or(text.len());
    let (date, rest) = text.split_at(end);
    let mut parts = date.split('-');
    let mut part = || digits(parts.next()?);
    let date = Date { year: part()?, month: part()?, day: part()? };
    if parts.next().is_some() {
        return None;
    }
    let day = i128::from(calendar.number(date)?) * DAY;
    let rest = rest.trim_start_matches(['T', 't']).trim();
    let (time, zone) = match rest.find(['+', '-']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    Some(day + time_of(time.trim())? - zone_of(zone.trim())?)
}

/// `6`, `06:00`, `06:00:00.5`; nothing is midnight.
fn time_of(text: &str) -> Option<i128> {
    if text.is_empty() {
        return Some(0);
    }
    let mut parts = text.split(':');
    let hour = digits(parts.next()?)?;
    let minute = parts.next().map_or(Some(0), digits)?;
    let seconds = parts.next().unwrap_or("0");
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let second = digits(whole)?;
    let is_time = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    let is_fraction = fraction.len() <= 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !is_time || !is_fraction || parts.next().is_some() {
        return None;
    }
    let fraction: i128 = format!("{fraction:0<9}").parse().ok()?;
    Some(i128::from(hour * 3600 + minute * 60 + second) * SECOND + fraction)
}

/// `+01:00`, `-0530`, `+1`; nothing is UTC.
fn zone_of(text: &str) -> Option<i128> {
    let Some(sign) = text.chars().next() else { return Some(0) };
    let text = text.get(1..)?;
    let (hours, minutes) = match text.split_once(':') {
        Some(parts) => parts,
        None if text.len() > 2 => text.split_at_checked(text.len() - 2)?,
        None => (text, "0"),
    };
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    let is_zone = (0..24).contains(&hours) && (0..60).contains(&minutes);
    let ahead = i128::from(hours * 60 + minutes) * 60 * SECOND;
    is_zone.then_some(if sign == '-' { -ahead } else { ahead })
}

/// A number of digits alone.
fn digits(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn since(units: &str, calendar: Option<&str>) -> Option<Since> {
        let mut attributes = Map::new();
        attributes.insert("units".to_owned(), json!(units));
        if let Some(calendar) = calendar {
            attributes.insert("calendar".to_owned(), json!(calendar));
        }
        Since::of_attributes(&attributes)
    }

    #[test]
    fn moments_are_read_as_they_are_written() {
        let day =
            i128::from(DayCount::Gregorian.number(Date { year: 2021, month: 1, day: 2 }).unwrap());
        for (text, seconds) in [
            ("days since 2021-01-02", 0),
            ("days since 2021-1-2", 0),
            ("days  Since  2021-01-02 00:00:00", 0),
            ("days since 2021-01-02T00:00:00Z", 0),
            ("days since 2021-01-02 00:00:00.0 UTC", 0),
            ("days since 2021-01-02 6", 21_600),
            ("days since 2021-01-02 06:30", 23_400),
            ("days since 2021-01-02T06:30:15", 23_415),
            ("days since 2021-01-02 06:30:15 +01:00", 19_815),
            ("days since 2021-01-02 06:30:15-0530", 43_215),
            ("days since 2021-01-02 00:00:00 +1", -3600),
        ] {
            let found = since(text, None).map(|since| since.origin_nanoseconds);
            assert_eq!(found, Some(day * DAY + seconds * SECOND), "{text}");
        }
        let fine = since("seconds since 2021-01-02 00:00:00.25", None).unwrap();
        assert_eq!(fine.origin_nanoseconds, day * DAY + SECOND / 4);
        for wrong in [
            "days",
            "K",
            "days since",
            "days before 2021-01-02",
            "months since 2021-01-02",
            "years since 2021-01-02",
            "days since 2021-02-30",
            "days since 0000-01-01",
            "days since 2021-01",
            "days since 2021-01-02 25:00",
            "days since 2021-01-02 00:00:00.1234567890",
            "days since 2021-01-02 noon",
            "days since 2021-01-02-03",
        ] {
            assert_eq!(since(wrong, None), None, "{wrong}");
        }
        assert_eq!(since("days since 2021-01-02", Some("lunar")), None);
        assert!(since("days since 2021-02-30", Some("360_day")).is_some());
    }

    #[test]
    fn calendars_agree_where_their_days_have_the_same_numbers() {
        let of = |calendar| since("days since 2000-01-01", calendar).unwrap();
        assert!(of(None).agrees_with(&of(Some("gregorian"))));
        assert!(of(None).agrees_with(&of(Some("proleptic_gregorian"))));
        assert!(!of(None).has_calendar_of(&of(Some("proleptic_gregorian"))));
        assert!(of(Some("365_day")).agrees_with(&of(Some("noleap"))));
        assert!(!of(Some("365_day")).agrees_with(&of(None)));
        let old = since("days since 0001-01-01", None).unwrap();
        assert!(!old.agrees_with(&of(Some("proleptic_gregorian"))));
        assert!(old.agrees_with(&of(None)));
    }

    #[test]
    fn moments_are_said_in_words() {
        let hours = since("hours since 2021-01-02 06:00", Some("noleap")).unwrap();
        let words = |units| hours.in_words(hours.moment(units).unwrap()).unwrap();
        assert_eq!(words(0), "2021-01-02 06:00:00");
        assert_eq!(words(18 + 58 * 24), "2021-03-02 00:00:00");
        let fine = since("ms since 1969-12-31", None).unwrap();
        assert_eq!(fine.in_words(fine.moment(-1).unwrap()).unwrap(), "1969-12-30 23:59:59.999");
    }
}
