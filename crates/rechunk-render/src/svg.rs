//! Draws a plan as a picture. It has the array cut as the source has it, as each stage's tasks take
//! it and as the target wants it; the memory it needs; other plans that were considered.
//!
//! Pure: the same plan gives the same SVG, byte for byte. It stands alone (no scripts, no fonts
//! to fetch), follows the reader's light or dark scheme, and its text can be selected.

mod candidates;
pub(super) mod canvas;
pub(super) mod figure;
mod memory;
mod panels;
pub(super) mod solid;
pub(super) mod style;
mod words;

#[cfg(test)]
pub(super) mod tests;

use canvas::{Area, Canvas, escape, px};

/// Width of the picture in pixels.
const WIDTH: f64 = 960.0;
/// Empty space around it, in pixels.
const MARGIN: f64 = 32.0;
/// Width between the margins, in pixels.
const INNER_WIDTH: f64 = WIDTH - 2.0 * MARGIN;

/// Parts of a plan that are drawn. Shapes are in C order, slowest axis first, in elements.
#[derive(Debug, Clone)]
pub(crate) struct PlanPicture {
    /// `source → target`.
    pub(crate) title: String,
    /// Kind, fingerprint, budget: one line.
    pub(crate) subtitle: String,
    /// Names of the axes; an axis without one is called by its number.
    pub(crate) axes: Vec<String>,
    /// Extent of the array.
    pub(crate) shape: Vec<u64>,
    /// Size of one element.
    pub(crate) item_bytes: u64,
    /// Chunk of the source.
    pub(crate) source_chunk: Vec<u64>,
    /// Chunk of the target.
    pub(crate) target_chunk: Vec<u64>,
    /// Shard of the source, where chunks lie in shards.
    pub(crate) source_shard: Option<Vec<u64>>,
    /// Shard of the target.
    pub(crate) target_shard: Option<Vec<u64>>,
    /// The passes over the data, in the order they run.
    pub(crate) stages: Vec<StagePicture>,
    /// The chosen plan and what it was chosen from.
    pub(crate) candidates: Vec<CandidatePicture>,
    /// Memory the run may use.
    pub(crate) budget_bytes: u64,
    /// Memory the plan expects to use at most.
    pub(crate) planned_peak_bytes: u64,
    /// Memory a run did use at most, if there was one.
    pub(crate) peak_rss_bytes: Option<u64>,
}

/// One pass over the data.
#[derive(Debug, Clone)]
pub(crate) struct StagePicture {
    /// `push`, `pull`, `copy`…
    pub(crate) name: String,
    /// Shape of the elements that one task reads.
    pub(crate) read_box: Vec<u64>,
    /// Shape of the elements that one task writes.
    pub(crate) write_box: Vec<u64>,
    /// Number of tasks.
    pub(crate) tasks: u64,
    /// Tasks that run at the same time.
    pub(crate) tasks_at_once: u32,
    /// Memory of one task.
    pub(crate) memory_bytes: u64,
    /// The one task reads and writes runs of raw files, a buffer at a time: `read_box`.
    pub(crate) buffers: Option<BuffersPicture>,
}

/// Buffers that are read one after the other.
#[derive(Debug, Clone)]
pub(crate) struct BuffersPicture {
    /// Number of buffers.
    pub(crate) count: u64,
    /// Shape of the most that is carried over the ends of buffers of one axis, if anything is.
    pub(crate) carried: Option<Vec<u64>>,
}

/// One plan that was considered.
#[derive(Debug, Clone)]
pub(crate) struct CandidatePicture {
    /// Kind of plan.
    pub(crate) kind: String,
    /// Its boxes, stage by stage.
    pub(crate) boxes: Vec<Vec<u64>>,
    /// Cost relative to the chosen plan, which is 1; nothing if it cannot run.
    pub(crate) cost: Option<f64>,
    /// `chosen`, `1.8 ×`, `does not fit: needs 3.00 GiB`…
    pub(crate) note: String,
}

/// Draws a plan as an SVG document.
pub(crate) fn draw(picture: &PlanPicture) -> String {
    let mut canvas = Canvas::default();
    let mut y = MARGIN + 14.0;
    canvas.text((MARGIN, y), style::TITLE, INNER_WIDTH, &picture.title);
    y += 22.0;
    canvas.text((MARGIN, y), style::SUBTITLE, INNER_WIDTH, &picture.subtitle);
    y = panels::draw(&mut canvas, y + 34.0, picture);
    y = section(&mut canvas, y + 16.0, "Memory");
    y = memory::draw(&mut canvas, y, picture);
    if !picture.candidates.is_empty() {
        y = section(&mut canvas, y + 16.0, "Plans considered, by cost");
        y = candidates::draw(&mut canvas, y, &picture.candidates);
    }
    document(&picture.title, y + MARGIN - 8.0, &canvas.into_body())
}

/// A rule and a head; returns the upper edge of what follows.
fn section(canvas: &mut Canvas, y: f64, head: &str) -> f64 {
    canvas.lines(&[((MARGIN, y), (WIDTH - MARGIN, y))], "rule");
    canvas.text((MARGIN, y + 26.0), style::HEAD, INNER_WIDTH, head);
    y + 40.0
}

/// The elements with what belongs around them.
fn document(title: &str, height: f64, body: &str) -> String {
    let mut page = Canvas::default();
    page.rect(Area { x: 0.0, y: 0.0, width: WIDTH, height }, 8.0, "page");
    let (width, height) = (px(WIDTH), px(height));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" style=\"max-width:100%;height:auto\" role=\"img\" \
         aria-label=\"Plan: {}\">\n<style>\n{}\n</style>\n{}{body}</svg>\n",
        escape(title),
        style::CSS,
        page.into_body()
    )
}
