//! The price of every plan that was considered, or why it was dropped.

use rechunk::format_byte_size;
use rechunk::planner::{Candidate, CandidateOutcome, Estimate};

use super::markup::{Cell, Html};
use super::sheet::ArraySheet;
use crate::numbers::{dollars, number, seconds};
use crate::plan::{boxes, relative};

/// The section.
pub(super) fn section(html: &mut Html, array: &ArraySheet) {
    html.section("Plans considered", |html| {
        let planned = &array.planned;
        if planned.candidates.is_empty() {
            let why = "The run goes on with the plan it was begun with; no other was considered.";
            html.leaf("p", "", why);
            return;
        }
        let has_price = planned.candidates.iter().any(|candidate| {
            priced(candidate).is_some_and(|(estimate, _, _)| estimate.usd > 0.0)
        });
        let mut head = vec!["kind", "boxes, stage by stage", "time", "relative"];
        if has_price {
            head.push("price");
        }
        head.extend(["requests", "read", "written", "memory"]);
        let times = planned.candidates.iter().filter_map(priced);
        let dearest = times.map(|(estimate, _, _)| estimate.seconds).fold(0.0, f64::max);
        let rows: Vec<Vec<Cell>> = planned
            .candidates
            .iter()
            .map(|candidate| row(candidate, planned.plan.estimate.seconds, dearest, has_price))
            .collect();
        html.table("Plans considered", &head, &[2, 3, 4, 5, 6, 7, 8], &rows);
        html.leaf(
            "p",
            "muted small",
            "Up to three of each kind, by the profile. Requests are exact; a multipart upload counts \
             as one. Bytes are encoded, as expected from a few chunks.",
        );
    });
}

/// Estimate, memory in bytes, and whether it is the plan.
fn priced(candidate: &Candidate) -> Option<(&Estimate, u64, bool)> {
    match &candidate.outcome {
        CandidateOutcome::Chosen { estimate, memory_bytes } => {
            Some((estimate, *memory_bytes, true))
        }
        CandidateOutcome::Dearer { estimate, memory_bytes } => {
            Some((estimate, *memory_bytes, false))
        }
        CandidateOutcome::DoesNotFit { .. } | CandidateOutcome::NotApplicable { .. } => None,
    }
}

fn row(candidate: &Candidate, best: f64, dearest: f64, has_price: bool) -> Vec<Cell> {
    let name = candidate.kind.to_string();
    let reason = match &candidate.outcome {
        CandidateOutcome::DoesNotFit { needs_bytes } => {
            format!("does not fit: it needs {}", format_byte_size(*needs_bytes))
        }
        CandidateOutcome::NotApplicable { reason } => format!("does not apply: {reason}"),
        CandidateOutcome::Chosen { .. } | CandidateOutcome::Dearer { .. } => String::new(),
    };
    let Some((estimate, memory_bytes, is_chosen)) = priced(candidate) else {
        return vec![
            Cell::from(name).in_row("dropped"),
            Cell::wide(reason, if has_price { 8 } else { 7 }),
        ];
    };
    let (source, between, target) = (&estimate.source, &estimate.intermediate, &estimate.target);
    let share = if dearest > 0.0 { estimate.seconds / dearest } else { 0.0 };
    let mut row = vec![
        Cell::from(name).in_row(if is_chosen { "chosen" } else { "" }),
        boxes(candidate).into(),
        Cell::from(seconds(estimate.seconds)).bar(share),
        if is_chosen { "chosen".into() } else { relative(estimate.seconds, best).into() },
    ];
    if has_price {
        row.push(dollars(estimate.usd).into());
    }
    row.extend(
        [
            number(estimate.requests()),
            format_byte_size(source.read_bytes.saturating_add(between.read_bytes)),
            format_byte_size(target.written_bytes.saturating_add(between.written_bytes)),
            format_byte_size(memory_bytes),
        ]
        .map(Cell::from),
    );
    row
}
