//! Units of a coordinate, by the conventions of CF (`units`, `calendar`) or by its data type.

use rechunk_grid::{DataType, TimeUnit};
use serde_json::{Map, Value};

use super::length::Length;

/// Meaning of the values of a coordinate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Units {
    /// Length from a value to the next number.
    pub one: Length,
    pub calendar: Calendar,
    /// As it is written, for people.
    pub text: String,
}

/// Lengths of months and years.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Calendar {
    /// Every year has so many days.
    Years(u32),
    /// Every month has 30 days.
    Days360,
    /// They differ; its name.
    Differing(String),
}

impl Units {
    /// Of a coordinate of `data_type` with these attributes; why it has none otherwise.
    pub(super) fn of(data_type: DataType, attributes: &Map<String, Value>) -> Result<Self, String> {
        let calendar = calendar(attributes);
        if let DataType::DateTime64 { unit, scale } | DataType::TimeDelta64 { unit, scale } =
            data_type
        {
            let one = of_numpy(unit).ok_or("its data type does not say what it counts")?;
            return Ok(Self { one: one.times(f64::from(scale)), calendar, text: data_type.name() });
        }
        let text = attributes.get("units").and_then(Value::as_str);
        let text = text.ok_or("it has no attribute `units` that says what it counts")?;
        let word = text.split_whitespace().next().unwrap_or_default();
        let one = of_word(word).ok_or_else(|| format!("its units {text:?} are no times"))?;
        let factor = match attributes.get("scale_factor") {
            None => 1.0,
            Some(factor) => factor.as_f64().ok_or("its scale_factor is no number")?,
        };
        Ok(Self { one: one.times(factor), calendar, text: text.to_owned() })
    }

    /// `length` in the unit of the coordinate; why there is no such number otherwise.
    pub(super) fn in_values(&self, length: Length) -> Result<f64, String> {
        match (length, self.one) {
            (Length::Seconds(length), Length::Seconds(one))
            | (Length::Months(length), Length::Months(one)) => Ok(length / one),
            (Length::Months(months), Length::Seconds(one)) => {
                let years = months / 12.0;
                let days = match &self.calendar {
                    Calendar::Days360 => Some(months * 30.0),
                    Calendar::Years(days) if years.fract() == 0.0 => Some(years * f64::from(*days)),
                    Calendar::Years(_) | Calendar::Differing(_) => None,
                };
                days.map(|days| days * 86_400.0 / one).ok_or_else(|| self.differing(years))
            }
            (Length::Seconds(length), Length::Months(one))
                if self.calendar == Calendar::Days360 =>
            {
                Ok(length / (one * 30.0 * 86_400.0))
            }
            (Length::Seconds(_), Length::Months(_)) => {
                Err(format!("{:?} counts months, which are not all of one length", self.text))
            }
        }
    }

    /// About as many, where there is no such number.
    pub(super) fn about(&self, length: Length) -> f64 {
        const MONTH_SECONDS: f64 = 365.2425 / 12.0 * 86_400.0;
        let seconds = |length| match length {
            Length::Seconds(seconds) => seconds,
            Length::Months(months) => months * MONTH_SECONDS,
        };
        seconds(length) / seconds(self.one)
    }

    fn differing(&self, years: f64) -> String {
        let name = match &self.calendar {
            Calendar::Differing(name) => name.clone(),
            Calendar::Years(days) => format!("{days}_day"),
            Calendar::Days360 => "360_day".to_owned(),
        };
        let what = if years.fract() == 0.0 {
            "years of the calendar {name} have 365 or 366 days"
        } else {
            "months of the calendar {name} have 28 to 31 days"
        };
        what.replace("{name}", &name)
    }
}

fn calendar(attributes: &Map<String, Value>) -> Calendar {
    let name = attributes.get("calendar").and_then(Value::as_str).unwrap_or("standard");
    match name.to_ascii_lowercase().as_str() {
        "360_day" => Calendar::Days360,
        "365_day" | "noleap" => Calendar::Years(365),
        "366_day" | "all_leap" => Calendar::Years(366),
        _ => Calendar::Differing(name.to_owned()),
    }
}

/// The units of time that UDUNITS knows and CF uses.
pub(super) fn of_word(word: &str) -> Option<Length> {
    let word = word.to_ascii_lowercase();
    let seconds = match word.as_str() {
        "nanosecond" | "nanoseconds" | "nanosec" | "nanosecs" | "nsec" | "nsecs" | "ns" => 1e-9,
        "microsecond" | "microseconds" | "microsec" | "microsecs" | "usec" | "usecs" | "us" => 1e-6,
        "millisecond" | "milliseconds" | "millisec" | "millisecs" | "msec" | "msecs" | "ms" => 1e-3,
        "second" | "seconds" | "sec" | "secs" | "s" => 1.0,
        "minute" | "minutes" | "min" | "mins" => 60.0,
        "hour" | "hours" | "hr" | "hrs" | "h" => 3600.0,
        "day" | "days" | "d" => 86_400.0,
        "week" | "weeks" => 604_800.0,
        // Of UDUNITS a month is a twelfth of a mean year; who writes them counts months.
        "month" | "months" => return Some(Length::Months(1.0)),
        "year" | "years" | "yr" | "yrs" => return Some(Length::Months(12.0)),
        // As cftime too has them.
        "common_year" | "common_years" => 365.0 * 86_400.0,
        _ => return None,
    };
    Some(Length::Seconds(seconds))
}

pub(super) fn of_numpy(unit: TimeUnit) -> Option<Length> {
    Some(Length::Seconds(match unit {
        TimeUnit::Generic => return None,
        TimeUnit::Year => return Some(Length::Months(12.0)),
        TimeUnit::Month => return Some(Length::Months(1.0)),
        TimeUnit::Week => 604_800.0,
        TimeUnit::Day => 86_400.0,
        TimeUnit::Hour => 3600.0,
        TimeUnit::Minute => 60.0,
        TimeUnit::Second => 1.0,
        TimeUnit::Millisecond => 1e-3,
        TimeUnit::Microsecond => 1e-6,
        TimeUnit::Nanosecond => 1e-9,
        TimeUnit::Picosecond => 1e-12,
        TimeUnit::Femtosecond => 1e-15,
        TimeUnit::Attosecond => 1e-18,
    }))
}
