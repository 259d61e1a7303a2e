//! Days of the calendars of CF, as numbers and as dates.

/// Numbers that a Gregorian day has less since 1970 than since 0000-03-01.
const TO_1970: i64 = 719_468;
/// The first Gregorian day of the calendar that was Julian before: 1582-10-15, since 1970.
pub(super) const FIRST_GREGORIAN: i64 = -141_427;
/// Days that a Julian date is behind the Gregorian one with the same numbers, at 0000-03-01.
const JULIAN_BEHIND: i64 = 2;

/// Lengths of years and months.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DayCount {
    /// Julian up to 1582-10-04, then Gregorian (`standard`, `gregorian`).
    Mixed,
    /// Gregorian at all times.
    Gregorian,
    /// Julian at all times.
    Julian,
    /// Every year has 365 days.
    Days365,
    /// Every year has 366 days.
    Days366,
    /// Every month has 30 days.
    Days360,
}

/// A day by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    pub year: i64,
    pub month: i64,
    pub day: i64,
}

impl DayCount {
    /// The calendar of that name; `None` if CF has none of it.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "standard" | "gregorian" => Self::Mixed,
            "proleptic_gregorian" => Self::Gregorian,
            "julian" => Self::Julian,
            "365_day" | "noleap" => Self::Days365,
            "366_day" | "all_leap" => Self::Days366,
            "360_day" => Self::Days360,
            _ => return None,
        })
    }

    /// The number of a day, of the calendars of real days since 1970-01-01; `None` if there is no
    /// such day. Years before 1 are counted in more than one way, and so not here.
    pub(super) fn number(self, date: Date) -> Option<i64> {
        let Date { year, month, day } = date;
        if !(1..=999_999).contains(&year) || !(1..=12).contains(&month) || day < 1 {
            return None;
        }
        let gregorian = || {
            march_days(date) - year_of_march(date).div_euclid(100)
                + year_of_march(date).div_euclid(400)
                - TO_1970
        };
        let julian = || march_days(date) - JULIAN_BEHIND - TO_1970;
        let number = match self {
            Self::Gregorian => gregorian(),
            Self::Mixed if gregorian() >= FIRST_GREGORIAN => gregorian(),
            Self::Julian | Self::Mixed => julian(),
            Self::Days365 => year * 365 + day_of_year(month, false) + day - 1,
            Self::Days366 => year * 366 + day_of_year(month, true) + day - 1,
            Self::Days360 => year * 360 + (month - 1) * 30 + day - 1,
        };
        // A day that the month does not have is another one when it is counted back.
        (self.date(number) == date).then_some(number)
    }

    /// The day of that number.
    pub(super) fn date(self, number: i64) -> Date {
        match self {
            Self::Gregorian => gregorian_date(number),
            Self::Mixed if number >= FIRST_GREGORIAN => gregorian_date(number),
            Self::Julian | Self::Mixed => {
                let days = number + TO_1970 + JULIAN_BEHIND;
                // Four years from March on, the last day of which is 29 February.
                let (cycle, rest) = (days.div_euclid(1461), days.rem_euclid(1461));
                let year = (rest / 365).min(3);
                date_of_march(cycle * 4 + year, rest - year * 365)
            }
            Self::Days365 => date_of_year(number, false),
            Self::Days366 => date_of_year(number, true),
            Self::Days360 => Date {
                year: number.div_euclid(360),
                month: number.rem_euclid(360) / 30 + 1,
                day: number.rem_euclid(30) + 1,
            },
        }
    }
}

/// The year that begins in March and has the day in it.
fn year_of_march(date: Date) -> i64 {
    date.year - i64::from(date.month <= 2)
}

/// Days since 0000-03-01 where every fourth year has a day more.
fn march_days(date: Date) -> i64 {
    let year = year_of_march(date);
    let month = (date.month + 9) % 12;
    year * 365 + year.div_euclid(4) + (153 * month + 2) / 5 + date.day - 1
}

/// The day of a year that begins in March.
fn date_of_march(year: i64, day: i64) -> Date {
    let month = (5 * day + 2) / 153;
    let of_year = (month + 2) % 12 + 1;
    Date {
        year: year + i64::from(of_year <= 2),
        month: of_year,
        day: day - (153 * month + 2) / 5 + 1,
    }
}

fn gregorian_date(number: i64) -> Date {
    let days = number + TO_1970;
    let (era, rest) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (rest - rest / 1460 + rest / 36_524 - rest / 146_096) / 365;
    date_of_march(era * 400 + year, rest - (365 * year + year / 4 - year / 100))
}

const MONTHS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

fn month_days(month: usize, is_leap: bool) -> i64 {
    MONTHS.get(month).copied().unwrap_or(0) + i64::from(is_leap && month == 1)
}

/// Days of the year before a month.
fn day_of_year(month: i64, is_leap: bool) -> i64 {
    let before = usize::try_from(month - 1).unwrap_or(0);
    (0..before).map(|month| month_days(month, is_leap)).sum()
}

fn date_of_year(number: i64, is_leap: bool) -> Date {
    let year_days = 365 + i64::from(is_leap);
    let (year, mut rest) = (number.div_euclid(year_days), number.rem_euclid(year_days));
    let mut month = 0;
    while rest >= month_days(month, is_leap) && month < 11 {
        rest -= month_days(month, is_leap);
        month += 1;
    }
    Date { year, month: i64::try_from(month).unwrap_or(0) + 1, day: rest + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [DayCount; 6] = [
        DayCount::Mixed,
        DayCount::Gregorian,
        DayCount::Julian,
        DayCount::Days365,
        DayCount::Days366,
        DayCount::Days360,
    ];

    fn date(year: i64, month: i64, day: i64) -> Date {
        Date { year, month, day }
    }

    /// The numbers are those of `cftime.date2num` and Python's `datetime`.
    #[test]
    fn days_have_the_numbers_of_their_calendars() {
        for (calendar, day, number) in [
            (DayCount::Gregorian, date(1970, 1, 1), 0),
            (DayCount::Gregorian, date(2000, 2, 29), 11_016),
            (DayCount::Gregorian, date(1, 1, 1), -719_162),
            (DayCount::Gregorian, date(1582, 10, 14), -141_428),
            (DayCount::Mixed, date(1582, 10, 15), -141_427),
            (DayCount::Mixed, date(1582, 10, 4), -141_428),
            (DayCount::Mixed, date(1, 1, 1), -719_164),
            (DayCount::Julian, date(1, 1, 1), -719_164),
            (DayCount::Julian, date(1900, 2, 29), -25_496),
            (DayCount::Days365, date(1, 1, 1), 365),
            (DayCount::Days366, date(1, 3, 1), 366 + 60),
            (DayCount::Days360, date(2, 2, 30), 720 + 59),
        ] {
            assert_eq!(calendar.number(day), Some(number), "{calendar:?} {day:?}");
        }
        for (calendar, day) in [
            (DayCount::Mixed, date(1582, 10, 10)),
            (DayCount::Gregorian, date(1900, 2, 29)),
            (DayCount::Days365, date(2000, 2, 29)),
            (DayCount::Days360, date(2000, 1, 31)),
            (DayCount::Julian, date(0, 1, 1)),
            (DayCount::Gregorian, date(2000, 13, 1)),
            (DayCount::Gregorian, date(2000, 1, 0)),
        ] {
            assert_eq!(calendar.number(day), None, "{calendar:?} {day:?}");
        }
    }

    #[test]
    fn every_day_is_counted_back_to_itself_and_follows_the_one_before() {
        for calendar in ALL {
            let first = calendar.number(date(1560, 1, 1)).unwrap();
            for number in first..first + 60_000 {
                let day = calendar.date(number);
                assert_eq!(calendar.number(day), Some(number), "{calendar:?} {day:?}");
            }
        }
    }
}
