//! Shows the price of a plan and its profiles, in a few lines.

use rechunk::format_byte_size;
use rechunk::planner::{Estimate, ProfileNames};

use super::numbers::{dollars, seconds};

/// Bytes and time; money, if any is asked for; the profiles.
pub(crate) fn lines<'a>(
    estimate: &Estimate,
    profiles: impl Iterator<Item = &'a ProfileNames>,
) -> Vec<String> {
    let read = estimate.source.read_bytes.saturating_add(estimate.intermediate.read_bytes);
    let written = estimate.target.written_bytes.saturating_add(estimate.intermediate.written_bytes);
    let mut lines = vec![format!(
        "  cost    about {} read, {} written, {} by the profile",
        format_byte_size(read),
        format_byte_size(written),
        seconds(estimate.seconds),
    )];
    lines.extend(price_line(estimate));
    let has_intermediate = estimate.intermediate.put_requests > 0;
    let names = profiles_in_words(profiles, has_intermediate);
    lines.extend(names.into_iter().map(|names| format!("  profile {names}")));
    lines
}

/// The profiles that plans were priced by, each once in a row.
pub(crate) fn profiles_in_words<'a>(
    profiles: impl Iterator<Item = &'a ProfileNames>,
    has_intermediate: bool,
) -> Vec<String> {
    let mut names: Vec<String> = profiles.map(|names| in_words(names, has_intermediate)).collect();
    names.dedup();
    names
}

/// Money and hours, if the profiles have prices.
fn price_line(estimate: &Estimate) -> Option<String> {
    if estimate.usd <= 0.0 {
        return None;
    }
    let price = &estimate.price;
    let parts = [
        (price.get_usd, "GET"),
        (price.put_usd, "PUT"),
        (price.part_usd, "parts of large objects"),
        (price.copy_usd, "copies inside the store"),
        (price.egress_usd, "bytes out"),
        (price.write_usd, "bytes in"),
        (price.retention_usd, "bytes kept after they are deleted"),
    ];
    let parts = parts.iter().filter(|(usd, _)| *usd > 0.0);
    let parts: Vec<String> = parts.map(|(usd, what)| format!("{} {what}", dollars(*usd))).collect();
    Some(format!(
        "  price   {} and {:.2} h: {}",
        dollars(estimate.usd),
        estimate.seconds / 3600.0,
        parts.join(", ")
    ))
}

/// `s3`, or `ours: source s3://bucket/a, target local`.
fn in_words(names: &ProfileNames, has_intermediate: bool) -> String {
    let file = names.file.as_ref().map_or(String::new(), |file| format!("{file}: "));
    let intermediate = if has_intermediate { &names.intermediate } else { &names.source };
    if names.source == names.target && names.source == *intermediate {
        return format!("{file}{}", names.source);
    }
    let between = if has_intermediate {
        format!(", intermediate {}", names.intermediate)
    } else {
        String::new()
    };
    format!("{file}source {}{between}, target {}", names.source, names.target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_profiles_are_named_once() {
        let mut names = ProfileNames {
            file: None,
            source: "s3".to_owned(),
            intermediate: "local".to_owned(),
            target: "s3".to_owned(),
        };
        assert_eq!(in_words(&names, false), "s3");
        assert_eq!(in_words(&names, true), "source s3, intermediate local, target s3");
        names.file = Some("ours".to_owned());
        names.target = "gs".to_owned();
        assert_eq!(in_words(&names, false), "ours: source s3, target gs");
    }
}
