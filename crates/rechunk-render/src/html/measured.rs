//! Figures of a run beside those that were predicted.

use rechunk::planner::RoleEstimate;
use rechunk::{Traffic, format_byte_size};

use super::figures::Figures;
use super::markup::{Cell, Html};
use crate::numbers::{number, seconds};
use crate::report;

/// Counted traffic of one role.
type Counted = rechunk::RoleTraffic;

/// The section; nothing for a plan that was not run.
pub(super) fn section(html: &mut Html, figures: &Figures) {
    let Some(traffic) = &figures.traffic else { return };
    html.section("Measured against predicted", |html| {
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for (name, predicted, counted) in roles(figures, traffic) {
            rows.extend(count_rows(name, predicted, counted, has_copies(figures)));
            rows.extend(size_rows(name, predicted, counted));
        }
        let memory = &figures.memory;
        if let Some(peak) = memory.peak_rss_bytes {
            rows.push(vec![
                "peak memory, with the program itself".into(),
                format_byte_size(memory.planned_peak_bytes).into(),
                format_byte_size(peak).into(),
                against_budget(memory.planned_peak_bytes, peak).into(),
            ]);
        }
        if let Some(elapsed) = figures.elapsed_seconds {
            rows.push(vec![
                "time".into(),
                seconds(figures.estimate.seconds).into(),
                seconds(elapsed).into(),
                factor(elapsed, figures.estimate.seconds).into(),
            ]);
        }
        let head = ["", "predicted", "measured", "difference"];
        html.table("Measured against predicted", &head, &[1, 2, 3], &rows);
        html.leaf("p", "muted small", &notes(traffic));
        attempts(html, figures, traffic);
    });
}

fn roles<'a>(
    figures: &'a Figures,
    traffic: &'a Traffic,
) -> [(&'static str, &'a RoleEstimate, &'a Counted); 3] {
    let estimate = &figures.estimate;
    [
        ("source", &estimate.source, &traffic.source),
        ("intermediate", &estimate.intermediate, &traffic.intermediate),
        ("target", &estimate.target, &traffic.target),
    ]
}

/// The store copies objects itself.
fn has_copies(figures: &Figures) -> bool {
    figures.estimate.target.copy_requests > 0
}

fn count_rows(
    name: &str,
    predicted: &RoleEstimate,
    counted: &Counted,
    has_copies: bool,
) -> Vec<Vec<Cell>> {
    let [gets, puts, copies] = report::requests_counted(has_copies, counted);
    let counts = [
        ("GET requests", predicted.get_requests, gets),
        ("PUT requests", predicted.put_requests, puts),
        ("copies inside the store", predicted.copy_requests, copies),
        ("parts of large objects", predicted.part_requests, counted.part_requests),
    ];
    rows(name, &counts, number)
}

fn size_rows(name: &str, predicted: &RoleEstimate, counted: &Counted) -> Vec<Vec<Cell>> {
    let sizes = [
        ("read, encoded", predicted.read_bytes, counted.read_bytes),
        ("read, decoded", predicted.decoded_read_bytes, counted.decoded_read_bytes),
        ("written, encoded", predicted.written_bytes, counted.written_bytes),
        ("written, decoded", predicted.decoded_written_bytes, counted.decoded_written_bytes),
    ];
    rows(name, &sizes, format_byte_size)
}

/// A row for each that is not nothing: what, predicted, counted.
fn rows(name: &str, all: &[(&str, u64, u64)], words: fn(u64) -> String) -> Vec<Vec<Cell>> {
    let some = all.iter().filter(|(_, predicted, counted)| predicted + counted > 0);
    some.map(|&(what, predicted, counted)| {
        vec![
            format!("{name}: {what}").into(),
            words(predicted).into(),
            words(counted).into(),
            difference(counted, predicted).into(),
        ]
    })
    .collect()
}

/// `as planned`, `−12 %`, `3.1 ×`.
fn difference(counted: u64, predicted: u64) -> String {
    if counted == predicted {
        return "as planned".to_owned();
    }
    if predicted == 0 {
        return "not expected".to_owned();
    }
    let part = (counted as f64 - predicted as f64) / predicted as f64;
    if part >= 1.0 {
        return factor(counted as f64, predicted as f64);
    }
    let sign = if part < 0.0 { "−" } else { "+" };
    let percent = part.abs() * 100.0;
    if percent < 0.1 { format!("{sign}< 0.1 %") } else { format!("{sign}{percent:.1} %") }
}

fn factor(measured: f64, predicted: f64) -> String {
    if predicted > 0.0 { format!("{:.2} ×", measured / predicted) } else { String::new() }
}

/// Difference between peak and plan: memory of the program itself comes on top of the plan.
fn against_budget(planned: u64, peak: u64) -> String {
    if peak > planned {
        format!("+{}", format_byte_size(peak - planned))
    } else {
        format!("−{}", format_byte_size(planned - peak))
    }
}

fn notes(traffic: &Traffic) -> String {
    let sum = |count: fn(&Counted) -> u64| {
        [&traffic.source, &traffic.intermediate, &traffic.target]
            .into_iter()
            .map(count)
            .sum::<u64>()
    };
    let control = &traffic.control;
    format!(
        "Requests that found nothing: {}; chunks that need not be written because they hold only the \
         fill value: {}; both are counted as requests here. Beside the chunks, for metadata, journal \
         and lease: GET {}, PUT {}, HEAD {}, LIST {}, DELETE {}. The predicted time is by the \
         profile.",
        number(sum(|role| role.get_missing)),
        number(sum(|role| role.put_skipped)),
        number(control.get),
        number(control.put),
        number(control.head),
        number(control.list),
        number(control.delete),
    )
}

/// Table of requests on the wire, and of those that were tried again; nothing where there is no
/// wire.
fn attempts(html: &mut Html, figures: &Figures, traffic: &Traffic) {
    let rows: Vec<Vec<Cell>> = roles(figures, traffic)
        .into_iter()
        .filter(|(_, _, counted)| counted.http_attempts > 0)
        .map(|(name, _, counted)| {
            let requests = requests(counted);
            let again = counted.http_attempts.saturating_sub(requests);
            vec![
                name.into(),
                number(requests).into(),
                number(counted.http_attempts).into(),
                number(again).into(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    html.subhead("Retries");
    let head = ["", "requests", "attempts on the wire", "attempts above requests"];
    html.table("Attempts and retries", &head, &[1, 2, 3], &rows);
}

/// Requests that were sent: what was left out and what an index told was not.
fn requests(counted: &Counted) -> u64 {
    let gets = counted.get_requests + counted.get_missing;
    gets + counted.put_requests + counted.part_requests + counted.copy_requests
}

/// All requests that were counted, as estimates count them.
pub(super) fn requests_counted(figures: &Figures, traffic: &Traffic) -> u64 {
    let counted = roles(figures, traffic).map(|(_, _, counted)| counted);
    let of_roles = counted.map(|counted| report::requests_counted(has_copies(figures), counted));
    of_roles.iter().flatten().sum()
}

/// Attempts above requests, all roles together.
pub(super) fn tried_again(traffic: &Traffic) -> u64 {
    [&traffic.source, &traffic.intermediate, &traffic.target]
        .iter()
        .map(|role| role.http_attempts.saturating_sub(requests(role)))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_read_well() {
        assert_eq!(difference(5, 5), "as planned");
        assert_eq!(difference(1100, 1000), "+10.0 %");
        assert_eq!(difference(880, 1000), "−12.0 %");
        assert_eq!(difference(31, 10), "3.10 ×");
        assert_eq!(difference(1_000_001, 1_000_000), "+< 0.1 %");
        assert_eq!(difference(3, 0), "not expected");
    }
}
