//! The memory bar: what is allowed, what is planned, what was measured.

use super::canvas::{Area, Canvas, text_width};
use super::{INNER_WIDTH, MARGIN, PlanPicture, style, words};

const BAR_HEIGHT: f64 = 16.0;

/// Draws the bar with its key; returns its lower edge.
pub(super) fn draw(canvas: &mut Canvas, y: f64, picture: &PlanPicture) -> f64 {
    let measured = picture.peak_rss_bytes.unwrap_or(0);
    let full = picture.budget_bytes.max(picture.planned_peak_bytes).max(measured).max(1);
    let width = |bytes: u64| {
        (INNER_WIDTH * (bytes as f64 / full as f64)).max(if bytes > 0 { 2.0 } else { 0.0 })
    };
    let bar = |bytes: u64, y: f64, height: f64| Area { x: MARGIN, y, width: width(bytes), height };

    canvas.rect(bar(full, y, BAR_HEIGHT), 3.0, "track");
    let fits = picture.planned_peak_bytes <= picture.budget_bytes;
    let class = if fits { "plan" } else { "over" };
    canvas.rect(bar(picture.planned_peak_bytes, y, BAR_HEIGHT), 3.0, class);
    let mut bottom = y + BAR_HEIGHT;
    if picture.peak_rss_bytes.is_some() {
        canvas.rect(bar(measured, bottom + 3.0, BAR_HEIGHT / 2.0), 3.0, "measured");
        bottom += 3.0 + BAR_HEIGHT / 2.0;
    }
    let limit = MARGIN + width(picture.budget_bytes);
    canvas.lines(&[((limit, y - 4.0), (limit, bottom + 4.0))], "limit");
    key(canvas, bottom + 22.0, picture, class);
    bottom + 26.0
}

/// Key of the colours, with the amounts.
fn key(canvas: &mut Canvas, y: f64, picture: &PlanPicture, plan_class: &str) {
    let share = |bytes: u64| match picture.budget_bytes {
        0 => String::new(),
        budget => format!(" ({:.0}\u{a0}% of the budget)", bytes as f64 / budget as f64 * 100.0),
    };
    let amount = |bytes: u64| words::bytes(bytes.into());
    let planned = picture.planned_peak_bytes;
    let mut entries =
        vec![(plan_class, format!("planned peak {}{}", amount(planned), share(planned)))];
    if let Some(measured) = picture.peak_rss_bytes {
        entries
            .push(("measured", format!("measured peak {}{}", amount(measured), share(measured))));
    }
    let mut x = MARGIN;
    for (class, text) in entries {
        canvas.rect(Area { x, y: y - 9.0, width: 10.0, height: 10.0 }, 2.0, class);
        canvas.text((x + 16.0, y), style::LINE, INNER_WIDTH / 2.0, &text);
        x += 16.0 + text_width(&text, style::LINE) + 16.0;
    }
    let budget = format!("budget {}", amount(picture.budget_bytes));
    canvas.text((MARGIN + INNER_WIDTH, y), style::LINE_END, INNER_WIDTH / 3.0, &budget);
}
