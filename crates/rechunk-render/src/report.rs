//! Shows the results of a run, in a few lines.

use rechunk::planner::Estimate;
use rechunk::{
    ArchiveReport, ArrayReport, Comparison, CopyReport, MemoryReport, Report, RoleTraffic,
    TaskReport, Traffic, TreeReport, format_byte_size, format_shape,
};

use super::harmless::harmless_line;
use super::numbers::{number, plural, seconds};
use super::phrases::Phrases;
use super::table::lay_out;

/// Shows the report of a run: requests and bytes predicted and counted, memory and time. Of a group
/// all arrays together.
///
/// ```
/// use rechunk::planner::{PlanRequest, Side, plan};
/// use rechunk::{CopyReport, Report};
/// use rechunk_render::{Phrases, report_text};
///
/// let sides = (Side::raw(&[5, 200], 4), Side::raw(&[100, 20], 4));
/// let planned = plan(&PlanRequest::local(&[100, 400], 4, sides, 16 << 20))?;
/// let report = CopyReport::Array(Box::new(Report::of_plan(&planned, &[])));
/// assert!(report_text(&report, &Phrases::default()).contains("allowed"));
/// # Ok::<(), rechunk::planner::PlanError>(())
/// ```
pub fn report_text(report: &CopyReport, phrases: &Phrases) -> String {
    match report {
        CopyReport::Array(report) => array_text(report),
        CopyReport::Tree(report) => group_text(report, phrases),
    }
}

fn array_text(report: &Report) -> String {
    if report.already_complete {
        return complete_line(report.verified);
    }
    let mut lines = vec![traffic_table(&report.estimate, report.traffic.as_ref())];
    lines.push(time_line(report.plan.array_bytes(), report.elapsed_seconds, report.tasks));
    lines.push(memory_line(&report.memory));
    lines.extend(report.version_made.as_ref().map(|made| format!("  the new version is {made}")));
    lines.extend(archive_line(report.archive.as_ref()));
    lines.extend(missing_line(report));
    if report.verified == Some(true) {
        lines.push(
            match report.apply {
                Some(_) => {
                    "  verified: the target was read back, and holds the results, made once more"
                }
                None => {
                    "  verified: the target was read back, and holds what was read from the source"
                }
            }
            .to_owned(),
        );
    }
    lines.join("\n")
}

fn group_text(report: &TreeReport, phrases: &Phrases) -> String {
    if report.already_complete {
        return complete_line(report.verified);
    }
    let mut lines = vec![traffic_table(&report.estimate, report.traffic.as_ref())];
    let totals = report.totals;
    lines.push(time_line(totals.copied_bytes, report.elapsed_seconds, report.tasks));
    if totals.complete_before > 0 {
        lines.push(format!("  {} complete before", plural(totals.complete_before, "array")));
    }
    let others = report.others.as_ref().filter(|others| others.files > 0);
    if let Some(others) = others {
        let before = match others.resumed {
            Some(resumed) if resumed > 0 => format!(", {} copied before", number(resumed)),
            _ => String::new(),
        };
        let (files, bytes) = (plural(others.files, "other file"), format_byte_size(others.bytes));
        lines.push(format!("  {files} ({bytes}) copied as they are{before}"));
    }
    lines.push(memory_line(&report.memory));
    lines.extend(archive_line(report.archive.as_ref()));
    lines.extend(missing_lines(report, phrases));
    if report.verified == Some(true) {
        lines.push(
            "  verified: the arrays were read back, and hold what was read from the source"
                .to_owned(),
        );
        if others.is_some() {
            lines.push("  verified: the other files are the same, byte by byte".to_owned());
        }
    }
    lines.join("\n")
}

/// Line on the ZIP file that the target was packed into.
fn archive_line(archive: Option<&ArchiveReport>) -> Option<String> {
    let bytes = archive?.bytes?;
    Some(format!("  packed into a ZIP file of {}", format_byte_size(bytes)))
}

/// Line on missing chunks of the source, and their fate.
fn missing_line(report: &Report) -> Option<String> {
    let missing = report.missing.as_ref().filter(|missing| missing.chunks > 0)?;
    let all = if missing.is_all { "no chunk of the source was found: " } else { "" };
    let became = if report.plan.kind == "passthrough" {
        "they stay missing"
    } else {
        "they were read as the fill value"
    };
    let became = if missing.chunks == 1 { singular(became) } else { became.to_owned() };
    Some(format!("  {all}{}{}; {became}", missing.sentence(), missing.examples()))
}

fn singular(became: &str) -> String {
    became.replace("they stay", "it stays").replace("they were", "it was")
}

/// Lines on missing chunks of a group: a line for each array, of the first few.
fn missing_lines(report: &TreeReport, phrases: &Phrases) -> Vec<String> {
    const ARRAYS_MAX: usize = 10;
    let of_array = |array: &ArrayReport| {
        let line = missing_line(&array.report)?;
        Some(format!("  {}: {}", harmless_line(&array.path), line.trim_start()))
    };
    let mut lines: Vec<String> = report.arrays.iter().filter_map(of_array).collect();
    if lines.len() > ARRAYS_MAX {
        let more = lines.len() - ARRAYS_MAX;
        lines.truncate(ARRAYS_MAX);
        let arrays = plural(more as u64, "more array");
        let whole = phrases.full_report;
        lines.push(format!("  chunks are missing in {arrays}: {whole} has all of them"));
    }
    lines
}

/// An earlier run had ended: there was nothing to go on with.
fn complete_line(verified: Option<bool>) -> String {
    let how = if verified == Some(true) { ", and holds what the source holds" } else { "" };
    format!("  already complete: an earlier run has written the target{how}; nothing was copied")
}

fn traffic_table(estimate: &Estimate, traffic: Option<&Traffic>) -> String {
    let mut rows = vec![["", "GET", "PUT", "read", "written"].map(str::to_owned).to_vec()];
    let has_copies = estimate.target.copy_requests > 0;
    if has_copies {
        rows[0].push("COPY".to_owned());
    }
    if let Some(traffic) = traffic {
        for (name, predicted, counted) in [
            ("source", &estimate.source, &traffic.source),
            ("intermediate", &estimate.intermediate, &traffic.intermediate),
            ("target", &estimate.target, &traffic.target),
        ] {
            let [gets, puts, copies] = requests_counted(has_copies, counted);
            let planned = predicted.get_requests + predicted.put_requests + predicted.copy_requests;
            if gets + puts + copies + planned == 0 {
                continue;
            }
            rows.push(vec![
                name.to_owned(),
                against(gets, predicted.get_requests),
                against(puts, predicted.put_requests),
                moved(counted.read_bytes),
                moved(counted.written_bytes),
            ]);
            if let Some(row) = rows.last_mut().filter(|_| has_copies) {
                row.push(against(copies, predicted.copy_requests));
            }
        }
    }
    lay_out(&rows, &[1, 2, 3, 4, 5])
}

/// Reads, writes, and copies by the store itself, those that found nothing or had nothing to write
/// included: as estimates count them.
pub(crate) fn requests_counted(has_copies: bool, counted: &RoleTraffic) -> [u64; 3] {
    if has_copies && counted.get_requests + counted.put_requests == 0 {
        return [0, 0, counted.copy_requests + counted.put_skipped];
    }
    let puts = counted.put_requests + counted.put_skipped;
    [counted.get_requests + counted.get_missing, puts, counted.copy_requests]
}

fn time_line(bytes: u64, elapsed_seconds: Option<f64>, tasks: Option<TaskReport>) -> String {
    let elapsed = elapsed_seconds.unwrap_or(0.0);
    let speed = if elapsed > 0.0 { bytes as f64 / elapsed / 1e6 } else { 0.0 };
    let resumed = match tasks {
        Some(tasks) if tasks.resumed > 0 => {
            format!(
                " ({} of {} tasks were done before)",
                number(tasks.resumed),
                number(tasks.total)
            )
        }
        _ => String::new(),
    };
    format!("  done in {}, {speed:.0} MB/s{resumed}", seconds(elapsed))
}

fn memory_line(memory: &MemoryReport) -> String {
    format!(
        "  memory: {} allowed, {} planned, {} resident at the peak, the program itself included",
        format_byte_size(memory.budget_bytes),
        format_byte_size(memory.planned_peak_bytes),
        format_byte_size(memory.peak_rss_bytes.unwrap_or(0)),
    )
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

/// Shows the comparison of two arrays, which the locations `a` and `b` name.
///
/// ```
/// fn show(a: &str, b: &str, comparison: &rechunk::Comparison) {
///     println!("{}", rechunk_render::comparison_text(a, b, comparison));
/// }
/// ```
pub fn comparison_text(a: &str, b: &str, comparison: &Comparison) -> String {
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
