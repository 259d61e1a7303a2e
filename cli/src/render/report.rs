//! What a run did, in a few lines.

use rechunk::{Comparison, Report, format_byte_size, format_shape};

use super::table::{lay_out, number, seconds};

/// Predicted against counted, memory and time.
pub(crate) fn summary(report: &Report) -> String {
    let mut rows = vec![["", "GET", "PUT", "read", "written"].map(str::to_owned).to_vec()];
    if let Some(traffic) = &report.traffic {
        let estimate = &report.estimate;
        for (name, predicted, counted) in [
            ("source", &estimate.source, &traffic.source),
            ("intermediate", &estimate.intermediate, &traffic.intermediate),
            ("target", &estimate.target, &traffic.target),
        ] {
            let (gets, puts) = (
                counted.get_requests + counted.get_missing,
                counted.put_requests + counted.put_skipped,
            );
            if gets + puts + predicted.get_requests + predicted.put_requests == 0 {
                continue;
            }
            rows.push(vec![
                name.to_owned(),
                against(gets, predicted.get_requests),
                against(puts, predicted.put_requests),
                moved(counted.read_bytes),
                moved(counted.written_bytes),
            ]);
        }
    }
    let mut lines = vec![lay_out(&rows, &[1, 2, 3, 4])];
    let elapsed = report.elapsed_seconds.unwrap_or(0.0);
    let bytes: u64 =
        report.plan.shape.iter().product::<u64>().saturating_mul(report.plan.item_bytes);
    let speed = if elapsed > 0.0 { bytes as f64 / elapsed / 1e6 } else { 0.0 };
    let resumed = match report.tasks {
        Some(tasks) if tasks.resumed > 0 => {
            format!(
                " ({} of {} tasks were done before)",
                number(tasks.resumed),
                number(tasks.total)
            )
        }
        _ => String::new(),
    };
    lines.push(format!("  done in {}, {speed:.0} MB/s{resumed}", seconds(elapsed)));
    let peak = report.memory.peak_rss_bytes.unwrap_or(0);
    lines.push(format!(
        "  memory: {} allowed, {} planned, {} resident at the peak, the program itself included",
        format_byte_size(report.memory.budget_bytes),
        format_byte_size(report.memory.planned_peak_bytes),
        format_byte_size(peak),
    ));
    if report.verified == Some(true) {
        lines.push("  verified: every element of the target equals the source".to_owned());
    }
    lines.join("\n")
}

/// Bytes, nothing for none.
fn moved(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { format_byte_size(bytes) }
}

/// A count and, where it is not what was predicted, the prediction.
fn against(counted: u64, predicted: u64) -> String {
    if counted == 0 && predicted == 0 {
        String::new()
    } else if counted == predicted {
        format!("{} as planned", number(counted))
    } else {
        format!("{} of {}", number(counted), number(predicted))
    }
}

/// The outcome of `verify`.
pub(crate) fn comparison(a: &str, b: &str, comparison: &Comparison) -> String {
    if comparison.equal {
        return format!("equal: {} elements of {a} and {b}", number(comparison.elements));
    }
    let first = comparison.first_difference.clone().unwrap_or_default();
    let region = comparison.first_region.as_ref().map_or(String::new(), |region| {
        format!(" (in the region from {:?}, {})", region.start, format_shape(&region.shape))
    });
    format!(
        "different: {} of {} elements of {a} and {b}; first at {first:?}{region}",
        number(comparison.differing_elements),
        number(comparison.elements),
    )
}
