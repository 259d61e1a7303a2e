//! An array as a box on paper: which axes are drawn, how long, and where its corners are.
//!
//! The projection is oblique: the two fastest axes span the front face undistorted, the third
//! runs back to the upper right, foreshortened. Element 0 is at the front, top, left.

use super::canvas::{Area, Canvas, Point};

/// Longest axis to shortest; more is compressed, or the shortest would vanish.
const RATIO_MAX: f64 = 12.0;
/// Step of one pixel along the depth axis: right and up.
const DEPTH: Point = (0.46, 0.4);
/// Height of a one-dimensional array, in pixels.
const BAR_HEIGHT: f64 = 30.0;
/// Grid lines closer than this are thinned out, in pixels.
const LINE_GAP_MIN: f64 = 3.2;
/// Distance of grid lines that were thinned out, in pixels.
const LINE_GAP_THINNED: f64 = 6.0;
/// A highlighted box is at least this long along each axis, in pixels.
const BOX_EDGE_MIN: f64 = 5.0;
/// No more lines than this along an axis, whatever the numbers say.
const LINES_MAX: u32 = 200;

/// Respects in which the picture is not true to scale.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Liberties {
    /// Axis lengths were compressed.
    pub(crate) compressed: bool,
    /// A highlighted box was drawn thicker than it is.
    pub(crate) thickened: bool,
    /// Not every grid line was drawn.
    pub(crate) thinned: bool,
}

/// One array, scaled to the room it is drawn in.
#[derive(Debug, Clone)]
pub(crate) struct Solid {
    shape: Vec<u64>,
    /// Drawn axes, at most 3, slowest first.
    drawn: Vec<usize>,
    /// Pixels along the fastest drawn axis, to the right.
    pub(crate) across: f64,
    /// Pixels along the second fastest, down.
    pub(crate) down: f64,
    /// Pixels to the right and up along the third fastest; zero for fewer than 3 axes.
    pub(crate) back: Point,
    /// Whether the axis proportions are not true.
    compressed: bool,
}

impl Solid {
    /// Scales an array of `shape` to at most `width` × `height` pixels.
    pub(crate) fn fit(shape: &[u64], width: f64, height: f64) -> Self {
        let drawn = drawn_axes(shape);
        let (lengths, compressed) = lengths(shape, &drawn);
        let (across, down, back) = match lengths[..] {
            [back, down, across] => {
                let scale =
                    (width / (across + DEPTH.0 * back)).min(height / (down + DEPTH.1 * back));
                let back = (DEPTH.0 * back * scale, DEPTH.1 * back * scale);
                (across * scale, down * scale, back)
            }
            [down, across] => {
                let scale = (width / across).min(height / down);
                (across * scale, down * scale, (0.0, 0.0))
            }
            [_] => (width, BAR_HEIGHT, (0.0, 0.0)),
            _ => (BAR_HEIGHT, BAR_HEIGHT, (0.0, 0.0)),
        };
        Self { shape: shape.to_vec(), drawn, across, down, back, compressed }
    }

    /// Width of the drawing in pixels.
    pub(crate) fn width(&self) -> f64 {
        self.across + self.back.0
    }

    /// Height of the drawing in pixels.
    pub(crate) fn height(&self) -> f64 {
        self.down + self.back.1
    }

    /// The array axis that runs across (0), down (1) or back (2).
    pub(crate) fn axis(&self, direction: usize) -> Option<usize> {
        self.drawn.iter().rev().nth(direction).copied()
    }

    /// The axes that are not drawn although they have more (or less) than one element.
    pub(crate) fn folded(&self) -> Vec<usize> {
        (0..self.shape.len())
            .filter(|axis| self.shape[*axis] != 1 && !self.drawn.contains(axis))
            .collect()
    }

    /// Draws the array with the grid of `chunk` (none if absent), its bounding box at `origin`.
    pub(crate) fn array(
        &self,
        canvas: &mut Canvas,
        origin: Point,
        chunk: Option<&[u64]>,
    ) -> Liberties {
        let mut liberties = Liberties { compressed: self.compressed, ..Liberties::default() };
        if self.drawn.is_empty() {
            return liberties;
        }
        let empty = self.shape.contains(&0);
        self.faces(canvas, origin, [1.0; 3], if empty { "array empty" } else { "array" });
        if let Some(chunk) = chunk.filter(|_| !empty) {
            let cuts = [0, 1, 2].map(|direction| self.cuts(direction, chunk, &mut liberties));
            self.grid(canvas, origin, &cuts);
        }
        liberties
    }

    /// Draws the first box of `shape` elements in the array.
    pub(crate) fn highlight(
        &self,
        canvas: &mut Canvas,
        origin: Point,
        shape: &[u64],
        class: &str,
    ) -> Liberties {
        let mut liberties = Liberties::default();
        if self.drawn.is_empty() {
            let centre = (origin.0 + self.across / 2.0, origin.1 + self.down / 2.0);
            canvas.disc(centre, BAR_HEIGHT / 4.0, &format!("{class} front"));
        } else if !self.shape.contains(&0) {
            let part = [0, 1, 2].map(|direction| self.part(direction, shape, &mut liberties));
            self.faces(canvas, origin, part, class);
        }
        liberties
    }

    /// Share of the drawing that a box covers: which of two boxes is behind.
    pub(crate) fn share(&self, shape: &[u64]) -> f64 {
        let mut ignored = Liberties::default();
        [0, 1, 2].iter().map(|&direction| self.part(direction, shape, &mut ignored)).product()
    }

    /// The part of the drawn axis that a box of `shape` covers, between 0 and 1.
    fn part(&self, direction: usize, shape: &[u64], liberties: &mut Liberties) -> f64 {
        let Some(part) = self.axis(direction).and_then(|axis| self.true_part(axis, shape)) else {
            return 1.0;
        };
        let least = (BOX_EDGE_MIN / self.pixels(direction)).min(1.0);
        liberties.thickened |= part < least;
        part.max(least)
    }

    /// The part of the axis that an edge of `shape` covers, or nothing if that is all of it.
    fn true_part(&self, axis: usize, shape: &[u64]) -> Option<f64> {
        let extent = *self.shape.get(axis)?;
        let edge = (*shape.get(axis)?).max(1);
        (edge < extent).then(|| edge as f64 / extent as f64)
    }

    /// Length of the axis on paper, in pixels.
    fn pixels(&self, direction: usize) -> f64 {
        match direction {
            0 => self.across,
            1 => self.down,
            _ => self.back.0.hypot(self.back.1).max(1.0),
        }
    }

    /// Where chunk borders cut the axis, between 0 and 1; thinned out if they are too close.
    fn cuts(&self, direction: usize, chunk: &[u64], liberties: &mut Liberties) -> Vec<f64> {
        let Some(part) = self.axis(direction).and_then(|axis| self.true_part(axis, chunk)) else {
            return Vec::new();
        };
        let gap = part * self.pixels(direction);
        let step = if gap < LINE_GAP_MIN {
            liberties.thinned = true;
            part * (LINE_GAP_THINNED / gap).ceil()
        } else {
            part
        };
        (1..=LINES_MAX).map(|line| f64::from(line) * step).take_while(|cut| *cut < 0.9999).collect()
    }

    /// A point of the array, each coordinate between 0 and 1, on paper.
    fn project(&self, origin: Point, across: f64, down: f64, back: f64) -> Point {
        (
            origin.0 + across * self.across + back * self.back.0,
            origin.1 + self.back.1 + down * self.down - back * self.back.1,
        )
    }

    /// The visible faces of the box that reaches from the origin to `part` of each axis.
    fn faces(&self, canvas: &mut Canvas, origin: Point, part: [f64; 3], class: &str) {
        let [across, down, back] = part;
        let at = |x: f64, y: f64, z: f64| self.project(origin, x, y, z);
        let (upper_left, upper_right) = (at(0.0, 0.0, 0.0), at(across, 0.0, 0.0));
        let (lower_left, lower_right) = (at(0.0, down, 0.0), at(across, down, 0.0));
        if self.back.0 > 0.0 {
            let (far_left, far_right) = (at(0.0, 0.0, back), at(across, 0.0, back));
            let far_low = at(across, down, back);
            let top = [upper_left, upper_right, far_right, far_left];
            canvas.polygon(&top, &format!("{class} top"));
            let side = [upper_right, far_right, far_low, lower_right];
            canvas.polygon(&side, &format!("{class} side"));
        }
        let front = [upper_left, upper_right, lower_right, lower_left];
        canvas.polygon(&front, &format!("{class} front"));
    }

    /// Grid lines on the visible faces.
    fn grid(&self, canvas: &mut Canvas, origin: Point, cuts: &[Vec<f64>; 3]) {
        let solid = self.back.0 > 0.0;
        let at = |x: f64, y: f64, z: f64| self.project(origin, x, y, z);
        let mut lines = Vec::new();
        for &cut in &cuts[0] {
            lines.push((at(cut, 1.0, 0.0), at(cut, 0.0, 0.0)));
            if solid {
                lines.push((at(cut, 0.0, 0.0), at(cut, 0.0, 1.0)));
            }
        }
        for &cut in &cuts[1] {
            lines.push((at(0.0, cut, 0.0), at(1.0, cut, 0.0)));
            if solid {
                lines.push((at(1.0, cut, 0.0), at(1.0, cut, 1.0)));
            }
        }
        for &cut in &cuts[2] {
            lines.push((at(0.0, 0.0, cut), at(1.0, 0.0, cut)));
            lines.push((at(1.0, 0.0, cut), at(1.0, 1.0, cut)));
        }
        canvas.lines(&lines, "grid");
    }

    /// The room this drawing takes, its upper left corner at `origin`.
    pub(crate) fn area(&self, origin: Point) -> Area {
        Area { x: origin.0, y: origin.1, width: self.width(), height: self.height() }
    }
}

/// The three fastest axes that are longer than one element. (An array of single elements shows
/// its three fastest.)
fn drawn_axes(shape: &[u64]) -> Vec<usize> {
    let longer: Vec<usize> = (0..shape.len()).filter(|&axis| shape[axis] != 1).collect();
    let mut axes = if longer.is_empty() { (0..shape.len()).collect() } else { longer };
    let skipped = axes.len().saturating_sub(3);
    axes.drain(..skipped);
    axes
}

/// Relative lengths of the drawn axes, and whether they had to be compressed.
fn lengths(shape: &[u64], drawn: &[usize]) -> (Vec<f64>, bool) {
    let extents: Vec<f64> = drawn.iter().map(|&axis| shape[axis].max(1) as f64).collect();
    let longest = extents.iter().copied().fold(1.0, f64::max);
    let shortest = extents.iter().copied().fold(longest, f64::min);
    let ratio = longest / shortest;
    let compressed = ratio > RATIO_MAX;
    let power = if compressed { RATIO_MAX.ln() / ratio.ln() } else { 1.0 };
    (extents.iter().map(|extent| (extent / shortest).powf(power)).collect(), compressed)
}
