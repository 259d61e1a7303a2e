//! The row of panels: source, one task of each stage, target, with an arrow into each stage.

use super::canvas::{Area, Canvas, Face, Point, text_width};
use super::solid::{Liberties, Solid};
use super::{BuffersPicture, INNER_WIDTH, MARGIN, PlanPicture, StagePicture, WIDTH, style, words};

/// Panels beside each other; more go on in the next row.
const COLUMNS_MAX: usize = 4;
/// Least space between panels: an arrow and what stands on it.
const GAP_MIN: f64 = 76.0;
const PANEL_WIDTH_MAX: f64 = 236.0;
/// Largest height of the drawn array.
const DRAWING_HEIGHT_MAX: f64 = 170.0;
/// Least height of the room for it, so that the arrow's words have space.
const DRAWING_HEIGHT_MIN: f64 = 64.0;
/// Room for the name of the axis that runs down.
const AXIS_ROOM: f64 = 18.0;
const LINE_HEIGHT: f64 = 17.0;
/// The lines below a drawing shrink together, by at most this factor.
const CAPTION_SHRINK_MIN: f64 = 0.85;
/// They may be wider than the panel by this much.
const CAPTION_OVERHANG: f64 = 20.0;

/// Distance below the arrow at which the name of the axis that runs back clears the words there.
const LABEL_HEIGHT_MIN: f64 = 31.0;

/// Contents of a panel.
#[derive(Debug, Clone, Copy)]
enum Content<'a> {
    Source,
    Stage(&'a StagePicture),
    Target,
}

/// Places of the panels.
struct Frame<'a> {
    picture: &'a PlanPicture,
    solid: Solid,
    panel_width: f64,
    gap: f64,
    drawing_height: f64,
    /// Kept free to the right of the drawing for the name of the axis that runs back.
    label_room: f64,
}

/// Draws the panels; returns their lower edge.
pub(super) fn draw(canvas: &mut Canvas, y: f64, picture: &PlanPicture) -> f64 {
    let mut contents = vec![Content::Source];
    contents.extend(picture.stages.iter().map(Content::Stage));
    contents.push(Content::Target);
    // Rows after the first start with an arrow: one panel less.
    let columns = match contents.len() {
        5 => 3,
        panels => panels.min(COLUMNS_MAX),
    };
    let frame = Frame::new(picture, columns);
    let mut liberties = Liberties::default();
    let (mut column, mut y) = (0, y);
    for (position, &content) in contents.iter().enumerate() {
        if column == columns {
            column = 1;
            y += frame.row_height() + 20.0;
        }
        let x = MARGIN + count(column) * (frame.panel_width + frame.gap);
        if position > 0 {
            frame.arrow(canvas, (x, y), content);
        }
        let drawn = frame.panel(canvas, (x, y), content);
        liberties.compressed |= drawn.compressed;
        liberties.thickened |= drawn.thickened;
        liberties.thinned |= drawn.thinned;
        column += 1;
    }
    y += frame.row_height() + 22.0;
    let note = scale_note(picture, liberties);
    if note.is_empty() {
        return y - LINE_HEIGHT;
    }
    canvas.text((MARGIN, y), style::NOTE, INNER_WIDTH, &note);
    y
}

/// A small number of things as a factor.
fn count(things: usize) -> f64 {
    u32::try_from(things).map_or(f64::MAX, f64::from)
}

impl<'a> Frame<'a> {
    fn new(picture: &'a PlanPicture, columns: usize) -> Self {
        let gaps = count(columns - 1);
        let panel_width = ((INNER_WIDTH - gaps * GAP_MIN) / count(columns)).min(PANEL_WIDTH_MAX);
        let gap = (INNER_WIDTH - count(columns) * panel_width) / gaps;
        let width = panel_width - AXIS_ROOM;
        let solid = Solid::fit(&picture.shape, width, DRAWING_HEIGHT_MAX);
        let drawing_height = solid.height().max(DRAWING_HEIGHT_MIN);
        let mut frame = Self { picture, solid, panel_width, gap, drawing_height, label_room: 0.0 };
        // The name of the axis that runs back hangs into the gap, unless the array is so flat
        // that it would hit the words at the arrow.
        let label_height = frame.solid.height() / 2.0 - frame.solid.back.1 / 2.0;
        if let Some(text) = frame.axis_label(2, true).filter(|_| label_height < LABEL_HEIGHT_MIN) {
            frame.label_room = (text_width(&text, style::NOTE) + 6.0).min(width * 0.4);
            let width = width - frame.label_room;
            frame.solid = Solid::fit(&picture.shape, width, DRAWING_HEIGHT_MAX);
            frame.drawing_height = frame.solid.height().max(DRAWING_HEIGHT_MIN);
        }
        frame
    }

    /// Heads, drawing, axis names, four lines.
    fn row_height(&self) -> f64 {
        self.drawing_top() + self.drawing_height + 26.0 + 4.0 * LINE_HEIGHT
    }

    /// Upper edge of the drawing below that of the panel.
    fn drawing_top(&self) -> f64 {
        if self.folded().is_some() { 46.0 } else { 28.0 }
    }

    fn axis_name(&self, axis: usize) -> String {
        match self.picture.axes.get(axis) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("axis {axis}"),
        }
    }

    /// Name of the axis in a direction of the drawing, with its extent if asked for.
    fn axis_label(&self, direction: usize, extent: bool) -> Option<String> {
        let axis = self.solid.axis(direction)?;
        let name = self.axis_name(axis);
        Some(if extent { format!("{name} {}", self.picture.shape[axis]) } else { name })
    }

    /// `× 12 time`: the axes that are not drawn.
    fn folded(&self) -> Option<String> {
        let axes = self.solid.folded();
        let words: Vec<String> = axes
            .iter()
            .map(|&axis| format!("× {} {}", self.picture.shape[axis], self.axis_name(axis)))
            .collect();
        (!words.is_empty()).then(|| words.join("  "))
    }

    /// Upper left corner of the drawn array in the panel at `at`.
    fn origin(&self, at: Point) -> Point {
        let spare_x = self.panel_width - AXIS_ROOM - self.label_room - self.solid.width();
        let spare_y = self.drawing_height - self.solid.height();
        (at.0 + AXIS_ROOM + spare_x.max(0.0) / 2.0, at.1 + self.drawing_top() + spare_y / 2.0)
    }

    /// The arrow into the panel at `at`.
    fn arrow(&self, canvas: &mut Canvas, at: Point, content: Content<'_>) {
        let middle = at.0 - self.gap / 2.0 + AXIS_ROOM / 4.0;
        let y = at.1 + self.drawing_top() + self.drawing_height / 2.0;
        let length = (self.gap - 22.0).min(72.0);
        canvas.arrow((middle - length / 2.0, y), length);
        let Content::Stage(stage) = content else { return };
        let room = self.gap - 6.0;
        let tasks = if stage.tasks == 1 { "task" } else { "tasks" };
        let tasks = format!("{} {tasks}", words::short_count(stage.tasks));
        let at_once = format!("{} at once", words::short_count(stage.tasks_at_once.into()));
        let (tasks, at_once) = match &stage.buffers {
            None => (tasks, at_once),
            Some(buffers) => {
                let unit = if buffers.count == 1 { "buffer" } else { "buffers" };
                let count = words::short_count(buffers.count);
                (format!("{count} {unit}"), "in turn".to_owned())
            }
        };
        canvas.text((middle, y - 10.0), style::STRONG_MIDDLE, room, &stage.name);
        canvas.text((middle, y + 18.0), style::MUTED_MIDDLE, room, &tasks);
        canvas.text((middle, y + 32.0), style::MUTED_MIDDLE, room, &at_once);
    }

    fn panel(&self, canvas: &mut Canvas, at: Point, content: Content<'_>) -> Liberties {
        let head = match content {
            Content::Source => "Source".to_owned(),
            Content::Stage(StagePicture { buffers: Some(_), .. }) => "One buffer".to_owned(),
            Content::Stage(stage) => format!("One {} task", stage.name),
            Content::Target => "Target".to_owned(),
        };
        canvas.text((at.0, at.1 + 8.0), style::HEAD, self.panel_width, &head);
        if let Some(folded) = self.folded() {
            canvas.text((at.0, at.1 + 26.0), style::MUTED, self.panel_width, &folded);
        }
        let liberties = match content {
            Content::Source => {
                let boxes = (&self.picture.source_chunk[..], self.picture.source_shard.as_deref());
                self.chunks(canvas, at, boxes, ["read", "read glass"])
            }
            Content::Stage(stage) => match &stage.buffers {
                Some(buffers) => self.buffer(canvas, at, stage, buffers),
                None => self.task(canvas, at, stage),
            },
            Content::Target => {
                let boxes = (&self.picture.target_chunk[..], self.picture.target_shard.as_deref());
                self.chunks(canvas, at, boxes, ["write", "write glass"])
            }
        };
        self.axis_labels(canvas, at, matches!(content, Content::Source));
        liberties
    }

    /// A grid of objects (chunks, or shards) with the first highlighted, and in a shard the first
    /// chunk.
    fn chunks(
        &self,
        canvas: &mut Canvas,
        at: Point,
        (chunk, shard): (&[u64], Option<&[u64]>),
        [of_chunk, of_shard]: [&str; 2],
    ) -> Liberties {
        let origin = self.origin(at);
        let grid = self.solid.array(canvas, origin, Some(shard.unwrap_or(chunk)));
        let mut thickened = false;
        for (shape, class) in
            shard.map(|shard| (shard, of_shard)).into_iter().chain([(chunk, of_chunk)])
        {
            thickened |= self.solid.highlight(canvas, origin, shape, class).thickened;
        }
        let cells = words::grid(&self.picture.shape, chunk);
        let bytes = words::product(chunk).saturating_mul(self.picture.item_bytes.into());
        let number = words::product(&cells);
        let unit = if number == 1 { "chunk" } else { "chunks" };
        let mut lines = vec![
            (Some(of_chunk), style::STRONG, format!("chunk {}", words::shape(chunk))),
            (None, style::LINE, format!("{} per chunk", words::bytes(bytes))),
            (None, style::LINE, format!("{} {unit}", words::count(number))),
        ];
        if let Some(shard) = shard {
            let shards = words::product(&words::grid(&self.picture.shape, shard));
            let unit = if shards == 1 { "shard" } else { "shards" };
            let each = format!("in shard {}", words::shape(shard));
            lines[1] = (Some(of_shard), style::STRONG, each);
            lines.push((None, style::LINE, format!("{} {unit}", words::count(shards))));
        } else if !self.picture.shape.is_empty() {
            lines.push((None, style::MUTED, format!("grid {}", words::shape(&cells))));
        }
        self.caption(canvas, at, &lines);
        Liberties { thickened, ..grid }
    }

    /// The first buffer, and how much is carried over the ends of buffers.
    fn buffer(
        &self,
        canvas: &mut Canvas,
        at: Point,
        stage: &StagePicture,
        buffers: &BuffersPicture,
    ) -> Liberties {
        let origin = self.origin(at);
        let grid = self.solid.array(canvas, origin, Some(&stage.read_box));
        let mut boxes = vec![(&stage.read_box, "read glass")];
        boxes.extend(buffers.carried.iter().map(|carried| (carried, "write glass")));
        // The largest one is behind.
        boxes.sort_by(|a, b| self.solid.share(b.0).total_cmp(&self.solid.share(a.0)));
        let mut thickened = false;
        for (shape, class) in boxes {
            thickened |= self.solid.highlight(canvas, origin, shape, class).thickened;
        }
        let carried = buffers.carried.as_ref().map_or("nothing".to_owned(), |s| words::shape(s));
        let swatch = buffers.carried.as_ref().map(|_| "write");
        let lines = [
            (Some("read"), style::STRONG, format!("buffer {}", words::shape(&stage.read_box))),
            (swatch, style::STRONG, format!("carries {carried}")),
            (None, style::LINE, format!("{} in memory", words::bytes(stage.memory_bytes.into()))),
            (None, style::LINE, format!("one of {}", words::count(buffers.count.into()))),
        ];
        self.caption(canvas, at, &lines);
        Liberties { thickened, ..grid }
    }

    /// Draws the elements that one task reads and writes.
    fn task(&self, canvas: &mut Canvas, at: Point, stage: &StagePicture) -> Liberties {
        let origin = self.origin(at);
        let grid = self.solid.array(canvas, origin, self.task_grid(stage));
        let mut boxes = [(&stage.read_box, "read glass"), (&stage.write_box, "write glass")];
        if stage.read_box == stage.write_box {
            boxes[1].1 = "write hollow";
        } else if self.solid.share(&stage.read_box) < self.solid.share(&stage.write_box) {
            // The larger one is behind.
            boxes.reverse();
        }
        let mut thickened = false;
        for (shape, class) in boxes {
            thickened |= self.solid.highlight(canvas, origin, shape, class).thickened;
        }
        let lines = [
            (Some("read"), style::STRONG, format!("reads {}", words::shape(&stage.read_box))),
            (Some("write"), style::STRONG, format!("writes {}", words::shape(&stage.write_box))),
            (None, style::LINE, format!("{} per task", words::bytes(stage.memory_bytes.into()))),
            (None, style::LINE, format!("one of {} tasks", words::count(stage.tasks.into()))),
        ];
        // The arrow says it already, unless it had to round.
        let shown =
            if words::short_count(stage.tasks) == words::count(stage.tasks.into()) { 3 } else { 4 };
        self.caption(canvas, at, &lines[..shown]);
        Liberties { thickened, ..grid }
    }

    /// The box that tiles the array in as many tiles as there are tasks.
    fn task_grid<'b>(&self, stage: &'b StagePicture) -> Option<&'b [u64]> {
        [&stage.write_box, &stage.read_box]
            .into_iter()
            .find(|tile| {
                words::product(&words::grid(&self.picture.shape, tile)) == stage.tasks.into()
            })
            .map(Vec::as_slice)
    }

    /// Lines below the drawing; the first of each is the colour they explain.
    fn caption(&self, canvas: &mut Canvas, at: Point, lines: &[(Option<&str>, Face, String)]) {
        let mut y = at.1 + self.drawing_top() + self.drawing_height + 42.0;
        // There is nothing in the gap down here.
        let room = self.panel_width + CAPTION_OVERHANG - 16.0;
        let widest = lines.iter().map(|(_, face, text)| text_width(text, *face));
        let shrink = (room / widest.fold(1.0, f64::max)).clamp(CAPTION_SHRINK_MIN, 1.0);
        for (class, face, text) in lines {
            if let Some(class) = class {
                let swatch = Area { x: at.0, y: y - 9.0, width: 10.0, height: 10.0 };
                canvas.rect(swatch, 2.0, class);
            }
            let face = Face { size: face.size * shrink, ..*face };
            canvas.text((at.0 + 16.0, y), face, room, text);
            y += LINE_HEIGHT;
        }
    }

    /// Axis names beside the drawing, with their extents if asked for.
    fn axis_labels(&self, canvas: &mut Canvas, at: Point, extents: bool) {
        let area = self.solid.area(self.origin(at));
        let bottom = area.y + area.height;
        if let Some(text) = self.axis_label(0, extents) {
            let room = self.solid.across.max(self.panel_width / 2.0);
            let half = text_width(&text, style::MUTED_MIDDLE).min(room) / 2.0;
            // Under a narrow face, rather to the right than into the other axis' name.
            let middle = area.x + (self.solid.across / 2.0).max(half - 8.0);
            canvas.text((middle, bottom + 16.0), style::MUTED_MIDDLE, room, &text);
        }
        if let Some(text) = self.axis_label(1, extents) {
            let middle = (area.x - 7.0, bottom - self.solid.down / 2.0);
            canvas.text_upwards(middle, style::MUTED_MIDDLE, self.drawing_height, &text);
        }
        if let Some(text) = self.axis_label(2, extents) {
            let (right, up) = self.solid.back;
            let start = (area.x + self.solid.across + right / 2.0 + 6.0, bottom - up / 2.0 + 11.0);
            let room = if self.label_room > 0.0 { self.label_room } else { self.gap };
            // The last panel has no gap beside it; the others say it too.
            if start.0 + text_width(&text, style::NOTE).min(room) < WIDTH - MARGIN / 2.0 {
                canvas.text(start, style::NOTE, room, &text);
            }
        }
    }
}

/// Warning of conclusions that a reader must not draw from the picture.
fn scale_note(picture: &PlanPicture, liberties: Liberties) -> String {
    let mut words = Vec::new();
    if picture.shape.contains(&0) {
        words.push("The array has no elements.");
    } else if liberties.compressed {
        words.push("Not to scale: long axes are compressed.");
    } else if picture.shape.len() > 1 {
        words.push("Drawn to scale.");
    }
    if liberties.thickened {
        words.push("Highlighted boxes thinner than 5 pixels are widened.");
    }
    if liberties.thinned {
        words.push("Grid lines closer than 3 pixels are thinned out.");
    }
    words.join(" ")
}
