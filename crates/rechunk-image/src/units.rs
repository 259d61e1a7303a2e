//! Units of length and time: names as OME-Zarr wants them, symbols as N5 viewers do.

/// Names and symbols; what else is read for the name stands behind.
const UNITS: [(&str, &str, &[&str]); 18] = [
    ("angstrom", "angstrom", &["\u{c5}", "\u{212b}", "A", "ang"]),
    ("picometer", "pm", &[]),
    ("nanometer", "nm", &[]),
    ("micrometer", "um", &["µm", "μm", "micron"]),
    ("millimeter", "mm", &[]),
    ("centimeter", "cm", &[]),
    ("decimeter", "dm", &[]),
    ("meter", "m", &[]),
    ("kilometer", "km", &[]),
    ("inch", "in", &[]),
    ("foot", "ft", &[]),
    ("nanosecond", "ns", &[]),
    ("microsecond", "us", &["µs", "μs"]),
    ("millisecond", "ms", &["msec"]),
    ("second", "s", &["sec"]),
    ("minute", "min", &[]),
    ("hour", "h", &["hr"]),
    ("day", "d", &[]),
];

/// Words of those who have no unit.
const NONE: [&str; 6] = ["pixel", "px", "voxel", "none", "a.u.", "arbitrary"];

/// The row of a unit, of its name, its symbol, a plural or the British spelling.
fn row(unit: &str) -> Option<(&'static str, &'static str)> {
    let lower = unit.to_lowercase();
    let american = lower.strip_suffix('s').unwrap_or(&lower).replace("metre", "meter");
    let is_meant = |(name, symbol, others): &&(&str, &str, &[&str])| {
        unit == *symbol
            || others.contains(&unit)
            || *name == american
            || others.contains(&&*american)
    };
    UNITS.iter().find(is_meant).map(|&(name, symbol, _)| (name, symbol))
}

fn is_none(unit: &str) -> bool {
    let lower = unit.trim().to_lowercase();
    let single = lower.strip_suffix('s').unwrap_or(&lower);
    lower.is_empty() || NONE.contains(&lower.as_str()) || NONE.contains(&single)
}

/// The unit as OME-Zarr names it: `um` becomes `micrometer`. `None` for no unit; others stay.
pub(crate) fn long_unit(unit: &str) -> Option<String> {
    let unit = unit.trim();
    (!is_none(unit)).then(|| row(unit).map_or(unit, |(name, _)| name).to_owned())
}

/// The unit as N5 viewers write it: `micrometer` becomes `um`. Others stay, no unit is `""`.
pub(crate) fn short_unit(unit: Option<&str>) -> String {
    let unit = unit.unwrap_or_default().trim();
    if is_none(unit) {
        return String::new();
    }
    row(unit).map_or(unit, |(_, symbol)| symbol).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_a_name_and_a_symbol() {
        for (said, name, symbol) in [
            ("um", "micrometer", "um"),
            ("µm", "micrometer", "um"),
            ("micrometer", "micrometer", "um"),
            ("Microns", "micrometer", "um"),
            ("nanometre", "nanometer", "nm"),
            ("ms", "millisecond", "ms"),
            ("s", "second", "s"),
            ("seconds", "second", "s"),
            ("inches", "inches", "inches"),
            ("degree_north", "degree_north", "degree_north"),
        ] {
            assert_eq!(long_unit(said).as_deref(), Some(name), "{said}");
            assert_eq!(short_unit(Some(said)), symbol, "{said}");
        }
        for said in ["", "pixel", "Pixels", "px", " "] {
            assert_eq!(long_unit(said), None, "{said}");
            assert_eq!(short_unit(Some(said)), "", "{said}");
        }
        assert_eq!(short_unit(None), "");
    }
}
