//! Draws the plans that were considered: one bar each, the chosen one first.

use super::canvas::{Area, Canvas, Point, text_width};
use super::{CandidatePicture, INNER_WIDTH, MARGIN, style, words};

/// More rows than this say nothing more.
const ROWS_MAX: usize = 12;
/// Bars of plans dearer than this, relative to the chosen one, are broken off.
const COST_MAX: f64 = 5.0;
/// The bars' scale reaches at least this far, so that a lone plan does not look dear.
const SCALE_MIN: f64 = 2.0;
const ROW_HEIGHT: f64 = 36.0;
const BAR_HEIGHT: f64 = 14.0;
/// Left end of the bars.
const BAR_X: f64 = MARGIN + 400.0;
/// Length of the longest bar.
const BAR_WIDTH: f64 = 340.0;

/// Standing of a candidate; the order is that of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Chosen,
    Dearer,
    Rejected,
}

/// Draws the rows; returns their lower edge.
pub(super) fn draw(canvas: &mut Canvas, y: f64, candidates: &[CandidatePicture]) -> f64 {
    let mut rows: Vec<&CandidatePicture> = candidates.iter().collect();
    rows.sort_by(|a, b| {
        let cost = |row: &CandidatePicture| cost(row).unwrap_or(f64::MAX);
        standing(a).cmp(&standing(b)).then(cost(a).total_cmp(&cost(b)))
    });
    let dearest = rows.iter().filter_map(|row| cost(row)).fold(SCALE_MIN, f64::max).min(COST_MAX);
    let mut y = y;
    for row in rows.iter().take(ROWS_MAX) {
        draw_row(canvas, y, row, dearest);
        y += ROW_HEIGHT;
    }
    if rows.len() > ROWS_MAX {
        let text = format!("and {} more", rows.len() - ROWS_MAX);
        canvas.text((MARGIN, y + 12.0), style::MUTED, INNER_WIDTH, &text);
        y += 18.0;
    }
    y
}

/// The cost that a bar can show.
fn cost(candidate: &CandidatePicture) -> Option<f64> {
    candidate.cost.filter(|cost| cost.is_finite()).map(|cost| cost.max(0.0))
}

fn standing(candidate: &CandidatePicture) -> Standing {
    if candidate.note.starts_with("chosen") {
        Standing::Chosen
    } else if cost(candidate).is_none() || candidate.note.starts_with("does not") {
        Standing::Rejected
    } else {
        Standing::Dearer
    }
}

fn draw_row(canvas: &mut Canvas, y: f64, candidate: &CandidatePicture, dearest: f64) {
    let standing = standing(candidate);
    let (name, note) = match standing {
        Standing::Chosen => (style::STRONG, style::STRONG),
        Standing::Dearer => (style::LINE, style::LINE),
        Standing::Rejected => (style::MUTED, style::MUTED),
    };
    let label_width = BAR_X - MARGIN - 20.0;
    let boxes: Vec<String> = candidate.boxes.iter().map(|shape| words::shape(shape)).collect();
    let name_y = if boxes.is_empty() { y + 16.0 } else { y + 10.0 };
    canvas.text((MARGIN, name_y), name, label_width, &candidate.kind);
    if !boxes.is_empty() {
        canvas.text((MARGIN, y + 25.0), style::MUTED, label_width, &boxes.join("  →  "));
    }
    let Some(cost) = cost(candidate).filter(|_| standing != Standing::Rejected) else {
        reason(canvas, (BAR_X, y + 16.0), &candidate.note);
        return;
    };
    let width = BAR_WIDTH * (cost.min(dearest) / dearest);
    let bar = Area { x: BAR_X, y: y + 5.0, width: width.max(2.0), height: BAR_HEIGHT };
    canvas.rect(bar, 3.0, if standing == Standing::Chosen { "plan" } else { "other" });
    if cost > COST_MAX {
        broken(canvas, (bar.x + bar.width - 26.0, bar.y));
    }
    let text = note_text(candidate, cost);
    let at = (bar.x + bar.width + 10.0, y + 16.0);
    canvas.text(at, note, MARGIN + INNER_WIDTH - at.0, &text);
}

/// The note, with the cost in front unless it says so itself.
fn note_text(candidate: &CandidatePicture, cost: f64) -> String {
    let note = &candidate.note;
    if note.contains('×') {
        return note.clone();
    }
    let cost = if cost < 1000.0 { format!("{cost:.2} ×") } else { format!("{cost:.0e} ×") };
    if note.is_empty() { cost } else { format!("{cost} · {note}") }
}

/// Why a plan was not taken, in one line or two.
fn reason(canvas: &mut Canvas, at: Point, text: &str) {
    let room = MARGIN + INNER_WIDTH - at.0;
    let fits = |line: &str| text_width(line, style::MUTED) <= room;
    if fits(text) {
        canvas.text(at, style::MUTED, room, text);
        return;
    }
    let breaks = text.char_indices().filter(|(_, character)| *character == ' ');
    let mut lines = breaks.map(|(position, _)| text.split_at(position));
    let (first, rest) = lines.rfind(|(first, _)| fits(first)).unwrap_or((text, ""));
    canvas.text((at.0, at.1 - 6.0), style::MUTED, room, first);
    canvas.text((at.0, at.1 + 9.0), style::MUTED, room, rest.trim_start());
}

/// The mark of a bar that would be longer.
fn broken(canvas: &mut Canvas, at: Point) {
    let (x, y) = at;
    let low = y + BAR_HEIGHT + 2.0;
    canvas.lines(&[((x, low), (x + 6.0, y - 2.0)), ((x + 7.0, low), (x + 13.0, y - 2.0))], "notch");
}
