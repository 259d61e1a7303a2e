//! Shows the subject of a copy: the array, how it is cut on both sides, and what a task of each
//! stage takes.

use rechunk::planner::{Plan, Stage};
use rechunk::{format_byte_size, format_shape};

use super::markup::{Cell, Html};
use super::sheet::ArraySheet;
use crate::numbers::number;
use crate::picture::buffers_picture;
use crate::subject::Subject;
use crate::svg::figure::Figure;
use crate::svg::solid::Liberties;

/// One drawing with its caption.
struct Panel<'a> {
    head: String,
    grid: Option<&'a [u64]>,
    /// Boxes from the one behind to the one in front.
    boxes: Vec<(&'a [u64], &'static str)>,
    /// Colour of the swatch, text, whether it matters.
    lines: Vec<(&'static str, String, bool)>,
}

/// The section.
pub(super) fn section(html: &mut Html, array: &ArraySheet) {
    let (subject, plan) = (&array.subject, &array.planned.plan);
    html.section("What is copied", |html| {
        table(html, subject, plan);
        let buffers: Vec<_> = plan
            .stages
            .iter()
            .map(|stage| stage.schedule().and_then(|runs| buffers_picture(plan, runs)))
            .collect();
        let read_boxes: Vec<Vec<u64>> =
            plan.stages.iter().map(|stage| stage.read_box(plan)).collect();
        let mut panels = vec![side(
            "Source",
            plan,
            &plan.source().chunk,
            plan.source().shard.as_deref(),
            "read",
        )];
        for (number, stage) in plan.stages.iter().enumerate() {
            let read_box = &read_boxes[number];
            panels.push(match &buffers[number] {
                Some(buffers) => buffer(stage, read_box, buffers.count, buffers.carried.as_deref()),
                None => task(plan, stage, read_box),
            });
        }
        panels.push(side(
            "Target",
            plan,
            &plan.target().chunk,
            plan.target().shard.as_deref(),
            "write",
        ));
        let mut liberties = Liberties::default();
        html.within("div", "figures", |html| {
            for panel in &panels {
                let drawn = figure(html, subject, plan, panel);
                liberties.compressed |= drawn.compressed;
                liberties.thickened |= drawn.thickened;
                liberties.thinned |= drawn.thinned;
            }
        });
        html.ours("\n");
        if let Some(note) = note(liberties) {
            html.leaf("p", "muted small", &note);
        }
    });
}

fn table(html: &mut Html, subject: &Subject, plan: &Plan) {
    let row = |name: &str, stored: &str, chunk: &[u64], shard: Option<&Vec<u64>>| {
        let array = if name == "source" { plan.source() } else { plan.target() };
        let (count, up_to) = if array.edges.is_some() {
            (array.chunk_count(), "up to ")
        } else {
            (plan.source().boxes_of(chunk), "")
        };
        let mut row: Vec<Cell> = vec![
            name.into(),
            stored.into(),
            format!("{up_to}{}", format_shape(chunk)).into(),
            format!("{up_to}{}", format_byte_size(plan.source().bytes_of(chunk))).into(),
            number(count).into(),
        ];
        row.push(shard.map_or("–".to_owned(), |shard| format_shape(shard)).into());
        row.push(
            shard.map_or("–".to_owned(), |shard| number(plan.source().boxes_of(shard))).into(),
        );
        row
    };
    let names: Vec<String> = subject
        .axes
        .iter()
        .zip(&plan.source().shape)
        .map(|(name, extent)| format!("{name} ({})", number(*extent)))
        .collect();
    html.within("p", "", |html| {
        html.leaf("strong", "", &format_shape(&plan.source().shape));
        html.text(&format!(
            " of {}, {}; axes, slowest first: {}",
            subject.data_type,
            format_byte_size(plan.source().bytes_of(&plan.source().shape)),
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        ));
    });
    let head = ["", "stored as", "chunk", "bytes, decoded", "chunks", "shard", "shards"];
    let rows = [
        row("source", &subject.source, &plan.source().chunk, plan.source().shard.as_ref()),
        row("target", &subject.target, &plan.target().chunk, plan.target().shard.as_ref()),
    ];
    html.table("Source and target", &head, &[3, 4, 6], &rows);
    if !subject.times.is_empty() {
        html.leaf("p", "", &format!("Chunks as long as a time: {}", subject.times.join(", ")));
    }
    for note in &subject.notes {
        html.leaf("p", "", note);
    }
}

fn side<'a>(
    head: &str,
    plan: &'a Plan,
    chunk: &'a [u64],
    shard: Option<&'a [u64]>,
    class: &'static str,
) -> Panel<'a> {
    let is_read = class == "read";
    let count = if is_read { plan.source().chunk_count() } else { plan.source().boxes_of(chunk) };
    let unit = if count == 1 { "chunk" } else { "chunks" };
    let mut boxes = Vec::new();
    let mut lines = Vec::new();
    let swatch = if is_read { "c-read" } else { "c-write" };
    lines.push((swatch, format!("chunk {}", format_shape(chunk)), true));
    if let Some(shard) = shard {
        boxes.push((shard, if is_read { "read glass" } else { "write glass" }));
        let pale = if is_read { "c-lane" } else { "c-glass" };
        lines.push((pale, format!("in shard {}", format_shape(shard)), true));
    }
    boxes.push((chunk, class));
    let each = format_byte_size(plan.source().bytes_of(chunk));
    lines.push(("", format!("{} {unit} of {each}", number(count)), false));
    Panel { head: head.to_owned(), grid: Some(shard.unwrap_or(chunk)), boxes, lines }
}

fn task<'a>(plan: &'a Plan, stage: &'a Stage, read_box: &'a [u64]) -> Panel<'a> {
    let write_box = &stage.tile[..];
    let mut boxes = vec![(read_box, "read glass"), (write_box, "write glass")];
    if read_box == write_box {
        boxes[1].1 = "write hollow";
    } else if plan.source().bytes_of(read_box) < plan.source().bytes_of(write_box) {
        boxes.reverse(); // the larger one is behind
    }
    let tasks = if stage.tasks == 1 { "task" } else { "tasks" };
    Panel {
        head: format!("One {} task", stage.name),
        grid: (plan.source().boxes_of(write_box) == stage.tasks).then_some(write_box),
        boxes,
        lines: vec![
            ("c-read", format!("reads {}", format_shape(read_box)), true),
            ("c-write", format!("writes {}", format_shape(write_box)), true),
            (
                "",
                format!("{} {tasks}, {} at once", number(stage.tasks), stage.tasks_at_once),
                false,
            ),
            ("", format!("{} for each", format_byte_size(stage.task_bytes)), false),
        ],
    }
}

fn buffer<'a>(
    stage: &'a Stage,
    read_box: &'a [u64],
    count: u64,
    carried: Option<&'a [u64]>,
) -> Panel<'a> {
    let mut boxes = vec![(read_box, "read glass")];
    let mut lines = vec![("c-read", format!("buffer {}", format_shape(read_box)), true)];
    match carried {
        Some(carried) => {
            boxes.push((carried, "write glass"));
            lines.push(("c-write", format!("carries {}", format_shape(carried)), true));
        }
        None => lines.push(("", "carries nothing".to_owned(), false)),
    }
    lines.push(("", format!("one of {}, in turn", number(count)), false));
    lines.push(("", format!("{} in memory", format_byte_size(stage.task_bytes)), false));
    Panel { head: "One buffer".to_owned(), grid: Some(read_box), boxes, lines }
}

fn figure(html: &mut Html, subject: &Subject, plan: &Plan, panel: &Panel<'_>) -> Liberties {
    let words: Vec<&str> = panel.lines.iter().map(|(_, text, _)| text.as_str()).collect();
    let label = format!("{}: {}", panel.head, words.join(", "));
    let drawn = Figure {
        label: &label,
        shape: &plan.source().shape,
        axes: &subject.axes,
        grid: panel.grid,
        boxes: &panel.boxes,
    }
    .draw();
    html.within("figure", "", |html| {
        html.subhead(&panel.head);
        html.ours(&drawn.svg);
        html.within("figcaption", "", |html| {
            for (swatch, text, matters) in &panel.lines {
                html.within("div", "", |html| {
                    if !swatch.is_empty() {
                        html.leaf("i", &format!("sw {swatch}"), "");
                    }
                    html.leaf(if *matters { "strong" } else { "span" }, "", text);
                });
            }
            let folded = drawn.folded.iter().map(|&axis| {
                let name = subject.axes.get(axis).map_or("axis", String::as_str);
                format!("× {} {name}", number(plan.source().shape[axis]))
            });
            let folded: Vec<String> = folded.collect();
            if !folded.is_empty() {
                html.leaf("div", "muted", &format!("not drawn: {}", folded.join(", ")));
            }
        });
    });
    drawn.liberties
}

/// Note on drawings that are not true to scale.
fn note(liberties: Liberties) -> Option<String> {
    let mut notes = Vec::new();
    if liberties.compressed {
        notes.push("axis lengths are compressed");
    }
    if liberties.thickened {
        notes.push("thin boxes are drawn thicker than they are");
    }
    if liberties.thinned {
        notes.push("not every grid line is drawn");
    }
    (!notes.is_empty()).then(|| format!("Not to scale: {}.", notes.join("; ")))
}
