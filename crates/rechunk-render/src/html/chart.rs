//! A chart that fits every width: a drawing that is stretched, with its words beside it as text.

use std::fmt::Write;

use super::markup::Html;
use crate::svg::canvas::px;

/// Width and height of the drawing in its own units, whatever its size on the page.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 400.0;
/// Parts of an axis that are shorter, as a part of its length, have no room for their name.
const NAME_PART_MIN: f64 = 0.05;

/// A curve of points from (0, 0), lower left, to (1, 1).
#[derive(Debug)]
pub(super) struct Curve {
    pub(super) points: Vec<(f64, f64)>,
    /// Extra class.
    pub(super) class: &'static str,
    /// The area below it is tinted.
    pub(super) filled: bool,
}

/// A vertical line with words.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) x: f64,
    pub(super) text: String,
    /// Words one line lower, where another mark may be near.
    pub(super) second: bool,
}

/// A point with words for who points at it.
#[derive(Debug)]
pub(super) struct Dot {
    pub(super) at: (f64, f64),
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// A place on an axis with its name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    /// From 0 to 1.
    pub(super) at: f64,
    pub(super) text: String,
    /// Left out on narrow pages.
    pub(super) minor: bool,
}

/// Parts of the drawing, in the order in which they lie on each other.
#[derive(Debug, Default)]
pub(super) struct Chart {
    /// Text for readers who cannot see the drawing.
    pub(super) label: String,
    /// Class of the plot, for its height.
    pub(super) class: &'static str,
    pub(super) x_ticks: Vec<Tick>,
    pub(super) y_ticks: Vec<Tick>,
    pub(super) curves: Vec<Curve>,
    /// Horizontal lines: height and class.
    pub(super) levels: Vec<(f64, &'static str)>,
    /// Boxes: left, bottom, width, height, class, words.
    pub(super) boxes: Vec<([f64; 4], &'static str, String)>,
    pub(super) marks: Vec<Mark>,
    pub(super) dots: Vec<Dot>,
    /// Named parts of the horizontal axis: from, to, name, class.
    pub(super) band: Vec<(f64, f64, String, &'static str)>,
}

impl Chart {
    /// Writes the chart.
    pub(super) fn write(&self, html: &mut Html) {
        let attributes = [("class", "chart"), ("role", "img"), ("aria-label", self.label.as_str())];
        html.with("div", &attributes, |html| {
            html.within("div", "ys", |html| {
                for tick in &self.y_ticks {
                    let style = format!("bottom:{}", percent(tick.at));
                    html.with("span", &[("style", &style)], |html| html.text(&tick.text));
                }
            });
            html.within("div", &format!("plot {}", self.class), |html| self.plot(html));
            html.within("div", "xs", |html| {
                for tick in &self.x_ticks {
                    let style = format!("left:{}", percent(tick.at));
                    let side = if tick.at < 0.04 {
                        "first"
                    } else if tick.at > 0.96 {
                        "last"
                    } else {
                        ""
                    };
                    let class = if tick.minor { format!("minor {side}") } else { side.to_owned() };
                    let attributes = [("class", class.as_str()), ("style", &style)];
                    html.with("span", &attributes, |html| html.text(&tick.text));
                }
            });
            if !self.band.is_empty() {
                html.within("div", "band", |html| self.band(html));
            }
        });
        html.ours("\n");
    }

    fn plot(&self, html: &mut Html) {
        for tick in self.y_ticks.iter().filter(|tick| tick.at > 0.0) {
            let style = format!("bottom:{}", percent(tick.at));
            html.with("i", &[("class", "gridline"), ("style", &style)], |_| {});
        }
        html.ours(&self.drawing());
        for mark in &self.marks {
            let side = if mark.x > 0.55 { " left" } else { "" };
            let second = if mark.second { " second" } else { "" };
            let class = format!("mark{side}{second}");
            let style = format!("left:{}", percent(mark.x));
            html.with("div", &[("class", &class), ("style", &style)], |html| {
                html.leaf("b", "", &mark.text);
            });
        }
        for dot in &self.dots {
            let style = format!("left:{};bottom:{}", percent(dot.at.0), percent(dot.at.1));
            let class = format!("dot {}", dot.class);
            html.with(
                "span",
                &[("class", class.trim_end()), ("style", &style), ("title", &dot.text)],
                |_| {},
            );
        }
    }

    fn band(&self, html: &mut Html) {
        for (from, to, name, class) in &self.band {
            let style = format!("left:{};width:{}", percent(*from), percent(to - from));
            let attributes = [("class", *class), ("style", &style), ("title", name)];
            let room = if to - from < NAME_PART_MIN { "" } else { name };
            html.with("span", &attributes, |html| html.text(room));
        }
    }

    fn drawing(&self) -> String {
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
        );
        for curve in self.curves.iter().filter(|curve| curve.points.len() > 1) {
            let path = path(&curve.points);
            if curve.filled {
                let [first, last] = [curve.points.first(), curve.points.last()]
                    .map(|point| px(x(point.map_or(0.0, |point| point.0))));
                let class = curve.class;
                let _ = write!(
                    svg,
                    "<path class=\"area {class}\" d=\"{path}L{last} {HEIGHT}L{first} {HEIGHT}Z\"/>"
                );
            }
            let _ = write!(svg, "<path class=\"curve {}\" d=\"{path}\"/>", curve.class);
        }
        for (area, class, text) in &self.boxes {
            let [left, bottom, width, height] = area;
            let _ = write!(
                svg,
                "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">",
                px(x(*left)),
                px(y(bottom + height)),
                px((width.max(0.0) * WIDTH).max(1.0)),
                px(height.max(0.0) * HEIGHT),
            );
            let _ = write!(svg, "<title>{}</title></rect>", super::markup::escaped(text));
        }
        for (height, class) in &self.levels {
            let y = px(y(*height));
            let _ = write!(
                svg,
                "<line class=\"level {class}\" x1=\"0\" x2=\"{WIDTH}\" y1=\"{y}\" y2=\"{y}\"/>"
            );
        }
        svg.push_str("</svg>");
        svg
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let mut data = String::new();
    for (number, point) in points.iter().enumerate() {
        let command = if number == 0 { 'M' } else { 'L' };
        let _ = write!(data, "{command}{} {}", px(x(point.0)), px(y(point.1)));
    }
    data
}

fn x(part: f64) -> f64 {
    part * WIDTH
}

fn y(part: f64) -> f64 {
    (1.0 - part) * HEIGHT
}

fn percent(part: f64) -> String {
    format!("{}%", px(part.clamp(0.0, 1.0) * 100.0))
}

/// `points` as steps: each height holds until the next point.
pub(super) fn steps(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut steps: Vec<(f64, f64)> = Vec::with_capacity(2 * points.len());
    for &(x, y) in points {
        if let Some(&(_, before)) = steps.last() {
            steps.push((x, before));
        }
        steps.push((x, y));
    }
    steps
}

/// Ticks from 0 to `max` at the first of `sizes` (ascending) that gives at most `most` of them.
pub(super) fn ticks(
    max: f64,
    most: f64,
    sizes: impl Iterator<Item = f64>,
    name: impl Fn(f64) -> String,
) -> Vec<Tick> {
    let Some(step) = sizes.into_iter().find(|size| max / size <= most) else { return Vec::new() };
    let mut ticks = Vec::new();
    let mut value = 0.0;
    while value <= max * 1.0001 {
        ticks.push(Tick { at: value / max, text: name(value), minor: false });
        value += step;
    }
    ticks
}

/// Steps of time that read well, seconds.
pub(super) fn time_steps() -> impl Iterator<Item = f64> {
    const LARGE: [f64; 16] = [
        15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 10_800.0, 21_600.0,
        43_200.0, 86_400.0, 172_800.0, 432_000.0,
    ];
    let small = decimal_steps(1e-4).take_while(|step| *step < 14.0);
    small.chain(LARGE).chain(decimal_steps(1.0).map(|step| step * 864_000.0))
}

/// 1, 2, 5, 10, … times `least`.
pub(super) fn decimal_steps(least: f64) -> impl Iterator<Item = f64> {
    (0..60_i32).flat_map(move |power| [1.0, 2.0, 5.0].map(|n| n * least * 10_f64.powi(power)))
}

/// Powers of two, bytes.
pub(super) fn binary_steps() -> impl Iterator<Item = f64> {
    (10..80_i32).map(|power| 2_f64.powi(power))
}

/// A time at an axis: `5 s`, `1.5 h`.
pub(super) fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s <= 0.0 => return "0".to_owned(),
        s if s < 1.0 => (s * 1e3, "ms"),
        s if s < 120.0 => (s, "s"),
        s if s < 7200.0 => (s / 60.0, "min"),
        s if s < 172_800.0 => (s / 3600.0, "h"),
        s => (s / 86_400.0, "days"),
    };
    format!("{} {unit}", short(value))
}

/// Bytes per second at an axis.
pub(super) fn speed(bytes_per_second: f64) -> String {
    let (value, unit) = match bytes_per_second {
        b if b <= 0.0 => return "0".to_owned(),
        b if b < 1e6 => (b / 1e3, "kB/s"),
        b if b < 1e9 => (b / 1e6, "MB/s"),
        b => (b / 1e9, "GB/s"),
    };
    format!("{} {unit}", short(value))
}

/// A size at an axis: `64 MiB`.
pub(super) fn size(bytes: f64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes <= 0.0 {
        return "0".to_owned();
    }
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", short(value), UNITS[unit])
}

/// At most two decimals, none for nothing.
fn short(value: f64) -> String {
    px(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_read_well() {
        let texts = |max: f64| -> Vec<String> {
            ticks(max, 4.0, time_steps(), time).into_iter().map(|tick| tick.text).collect()
        };
        assert_eq!(texts(7.3), ["0", "2 s", "4 s", "6 s"]);
        assert_eq!(texts(139_536.0), ["0", "12 h", "24 h", "36 h"]);
        assert_eq!(texts(0.0103), ["0", "5 ms", "10 ms"]);
        assert_eq!(texts(600.0), ["0", "300 s".replace("300 s", "5 min").as_str(), "10 min"]);
        assert!(ticks(f64::NAN, 4.0, time_steps(), time).is_empty());
        let sizes = ticks(3e6, 4.0, binary_steps(), size);
        assert_eq!(
            sizes.iter().map(|tick| tick.text.as_str()).collect::<Vec<_>>(),
            ["0", "1 MiB", "2 MiB"]
        );
        assert_eq!(speed(250e6), "250 MB/s");
    }

    #[test]
    fn steps_hold_until_the_next_point() {
        assert_eq!(steps(&[(0.0, 1.0), (0.5, 0.2)]), [(0.0, 1.0), (0.5, 1.0), (0.5, 0.2)]);
        assert!(steps(&[]).is_empty());
    }
}
