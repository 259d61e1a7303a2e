//! An array with boxes in it as a small drawing by itself; its caption stands on the page around
//! it.

use super::canvas::{Canvas, escape, px, text_width};
use super::solid::{Liberties, Solid};
use super::style;

/// Width of the drawing in pixels.
const WIDTH: f64 = 260.0;
/// Largest height of the array in it.
const ARRAY_HEIGHT_MAX: f64 = 150.0;
/// Room for the name of the axis that runs down.
const LEFT: f64 = 20.0;
/// Room for lines that are as thick as they are.
const TOP: f64 = 4.0;
/// Room for the name of the axis that runs across.
const BOTTOM: f64 = 24.0;
/// Most of the width that the name of the axis that runs back gets.
const BACK_ROOM_MAX: f64 = 84.0;

/// Contents of a drawing.
#[derive(Debug)]
pub(crate) struct Figure<'a> {
    /// Text for readers who cannot see the drawing.
    pub(crate) label: &'a str,
    /// Extent of the array, elements.
    pub(crate) shape: &'a [u64],
    /// Names of its axes.
    pub(crate) axes: &'a [String],
    /// The boxes that the array is cut in.
    pub(crate) grid: Option<&'a [u64]>,
    /// Boxes at the origin, the first one behind, each with its class.
    pub(crate) boxes: &'a [(&'a [u64], &'a str)],
}

/// The drawing, and where it is not true to scale.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// The SVG element.
    pub(crate) svg: String,
    /// Its liberties.
    pub(crate) liberties: Liberties,
    /// Axes that are not drawn although they are longer than one element.
    pub(crate) folded: Vec<usize>,
}

impl Figure<'_> {
    /// Draws it.
    pub(crate) fn draw(&self) -> Drawn {
        let width = WIDTH - LEFT - 8.0;
        let mut solid = Solid::fit(self.shape, width, ARRAY_HEIGHT_MAX);
        let mut back_room = 0.0;
        if let Some(text) = self.axis_label(&solid, 2) {
            back_room = (text_width(&text, style::NOTE) + 4.0).min(BACK_ROOM_MAX);
            // The name stands beside the middle of the axis, so that half of it is room already.
            solid = Solid::fit(self.shape, width - back_room, ARRAY_HEIGHT_MAX);
        }
        let spare = (width - back_room - solid.width()).max(0.0);
        let origin = (LEFT + spare / 2.0, TOP);
        let mut canvas = Canvas::default();
        let mut liberties = solid.array(&mut canvas, origin, self.grid);
        for (shape, class) in self.boxes {
            liberties.thickened |= solid.highlight(&mut canvas, origin, shape, class).thickened;
        }
        self.names(&mut canvas, &solid, origin, back_room);
        let height = TOP + solid.height() + BOTTOM;
        let svg = format!(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}</svg>",
            px(WIDTH),
            px(height),
            escape(self.label),
            canvas.into_body()
        );
        Drawn { svg, liberties, folded: solid.folded() }
    }

    /// Name and extent of the axis that runs in a direction.
    fn axis_label(&self, solid: &Solid, direction: usize) -> Option<String> {
        let axis = solid.axis(direction)?;
        let name = self.axes.get(axis).filter(|name| !name.is_empty());
        let name = name.cloned().unwrap_or_else(|| format!("axis {axis}"));
        Some(format!("{name} {}", self.shape[axis]))
    }

    fn names(&self, canvas: &mut Canvas, solid: &Solid, origin: (f64, f64), back_room: f64) {
        let area = solid.area(origin);
        let bottom = area.y + area.height;
        if let Some(text) = self.axis_label(solid, 0) {
            let room = solid.across.max(WIDTH / 2.0);
            let half = text_width(&text, style::MUTED_MIDDLE).min(room) / 2.0;
            let middle = (area.x + solid.across / 2.0).clamp(half, (WIDTH - half).max(half));
            canvas.text((middle, bottom + 16.0), style::MUTED_MIDDLE, room, &text);
        }
        if let Some(text) = self.axis_label(solid, 1) {
            let half = text_width(&text, style::MUTED_MIDDLE).min(area.height + BOTTOM) / 2.0;
            // A name that is longer than its axis stays within the drawing.
            let middle =
                (bottom - solid.down / 2.0).clamp(half, (bottom + BOTTOM - half).max(half));
            let at = (area.x - 7.0, middle);
            canvas.text_upwards(at, style::MUTED_MIDDLE, area.height + BOTTOM, &text);
        }
        if let Some(text) = self.axis_label(solid, 2) {
            let (right, up) = solid.back;
            let x = area.x + solid.across + right / 2.0 + 6.0;
            let room = (back_room + right / 2.0 - 4.0).max(back_room).min(WIDTH - x);
            canvas.text((x, bottom - up / 2.0 + 11.0), style::NOTE, room, &text);
        }
    }
}
