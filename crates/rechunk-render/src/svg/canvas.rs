//! Writes SVG elements: numbers rounded, text escaped and cut to the room it has.

use std::fmt::Write;

/// A position in pixels of the picture, `x` to the right and `y` down.
pub(crate) type Point = (f64, f64);

/// Width of an average character in units of the font size. On the wide side: which font the
/// reader has is not known.
const CHARACTER_WIDTH: f64 = 0.6;
/// Width of a character of bold type.
const BOLD_CHARACTER_WIDTH: f64 = 0.66;

/// Text is made smaller by at most this factor before it is cut.
const SHRINK_MIN: f64 = 0.8;

/// A rectangle in pixels of the picture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Area {
    /// Left edge.
    pub(crate) x: f64,
    /// Upper edge.
    pub(crate) y: f64,
    /// To the right.
    pub(crate) width: f64,
    /// Down.
    pub(crate) height: f64,
}

/// Look of a piece of text: its CSS classes and its font size in pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Face {
    /// CSS classes: colour, weight, anchor.
    pub(crate) class: &'static str,
    /// Font size in pixels.
    pub(crate) size: f64,
}

impl Face {
    /// Width of an average character in pixels.
    fn character_width(self) -> f64 {
        let bold = self.class.contains("strong");
        self.size * if bold { BOLD_CHARACTER_WIDTH } else { CHARACTER_WIDTH }
    }
}

/// The elements drawn so far.
#[derive(Debug, Default)]
pub(crate) struct Canvas {
    body: String,
}

impl Canvas {
    /// The elements as text.
    pub(crate) fn into_body(self) -> String {
        self.body
    }

    /// Appends formatted text; writing to a string cannot fail.
    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    /// Text at its baseline, made smaller or cut in the middle to fit `width_max` pixels.
    pub(crate) fn text(&mut self, at: Point, face: Face, width_max: f64, text: &str) {
        self.turned_text(at, face, width_max, text, "");
    }

    /// Like [`Canvas::text`], read from bottom to top.
    pub(crate) fn text_upwards(&mut self, at: Point, face: Face, width_max: f64, text: &str) {
        let turn = format!(" transform=\"rotate(-90 {} {})\"", px(at.0), px(at.1));
        self.turned_text(at, face, width_max, text, &turn);
    }

    fn turned_text(&mut self, at: Point, face: Face, width_max: f64, text: &str, turn: &str) {
        let shrink = (width_max / text_width(text, face)).clamp(SHRINK_MIN, 1.0);
        let shown = cut(text, width_max / (face.character_width() * shrink));
        // What was cut is still there for whoever points at it.
        let whole =
            if shown == text { String::new() } else { format!("<title>{}</title>", escape(text)) };
        self.put(format_args!(
            "<text x=\"{}\" y=\"{}\" class=\"{}\" font-size=\"{}\"{turn}>{}{whole}</text>",
            px(at.0),
            px(at.1),
            face.class,
            px(face.size * shrink),
            escape(&shown)
        ));
    }

    /// A rectangle with corners of the given radius.
    pub(crate) fn rect(&mut self, area: Area, radius: f64, class: &str) {
        self.put(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" class=\"{class}\"/>",
            px(area.x),
            px(area.y),
            px(area.width),
            px(area.height),
            px(radius)
        ));
    }

    /// A closed outline.
    pub(crate) fn polygon(&mut self, corners: &[Point], class: &str) {
        let points: Vec<String> =
            corners.iter().map(|&(x, y)| format!("{},{}", px(x), px(y))).collect();
        self.put(format_args!("<polygon points=\"{}\" class=\"{class}\"/>", points.join(" ")));
    }

    /// Separate straight lines, as one element; none for no lines.
    pub(crate) fn lines(&mut self, lines: &[(Point, Point)], class: &str) {
        if lines.is_empty() {
            return;
        }
        let mut data = String::new();
        for &(from, to) in lines {
            let (x, y, u, v) = (px(from.0), px(from.1), px(to.0), px(to.1));
            let _ = write!(data, "M{x} {y}L{u} {v}");
        }
        self.put(format_args!("<path d=\"{data}\" class=\"{class}\"/>"));
    }

    /// A disc.
    pub(crate) fn disc(&mut self, centre: Point, radius: f64, class: &str) {
        let (x, y, radius) = (px(centre.0), px(centre.1), px(radius));
        self.put(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" class=\"{class}\"/>"));
    }

    /// An arrow to the right.
    pub(crate) fn arrow(&mut self, from: Point, length: f64) {
        const HEAD: f64 = 7.0;
        let (x, y) = from;
        let tip = x + length;
        self.lines(&[(from, (tip - HEAD, y))], "arrow");
        let head = [(tip, y), (tip - HEAD - 2.0, y - 5.0), (tip - HEAD - 2.0, y + 5.0)];
        self.polygon(&head, "arrowhead");
    }
}

/// About how wide a text is, in pixels; never 0.
pub(crate) fn text_width(text: &str, face: Face) -> f64 {
    let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX).max(1);
    f64::from(characters) * face.character_width()
}

/// The text, its middle replaced by an ellipsis if it has more than `room` characters.
fn cut(text: &str, room: f64) -> String {
    let length = text.chars().count();
    // A tenth of a character forgives the rounding of a text that was made to fit exactly.
    if f64::from(u32::try_from(length).unwrap_or(u32::MAX)) <= room + 0.1 {
        return text.to_owned();
    }
    let fits = |kept: &usize| f64::from(u32::try_from(*kept).unwrap_or(u32::MAX)) + 1.0 <= room;
    let kept = (2..length).rev().find(fits).unwrap_or(2);
    let tail = kept / 2;
    let head: String = text.chars().take(kept - tail).collect();
    let end: String = text.chars().skip(length.saturating_sub(tail)).collect();
    format!("{head}…{end}")
}

/// A coordinate with at most two decimals; 0 for what is no number.
pub(crate) fn px(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text as XML character data or attribute value; what XML 1.0 cannot hold is replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            // They would turn the direction of what stands beside them.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                escaped.push('\u{fffd}');
            }
            other => escaped.push(other),
        }
    }
    escaped
}
