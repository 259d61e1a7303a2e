//! The XML of BigDataViewer (`SpimData` 0.2), written and read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use crate::bdv::{BdvDataset, BdvSetup};

/// Most setups that are read.
const SETUPS_MAX: usize = 1 << 16;

/// Text as XML has it; characters that it cannot have become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' => out.push(character),
            '\r' => out.push_str("&#13;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&apos;", "'").replace("&#13;", "\r").replace("&amp;", "&")
}

fn spaced<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
}

/// Numbers as Java reads them: `1.0`, `1e-7`.
fn numbers(list: impl IntoIterator<Item = f64>) -> String {
    spaced(list.into_iter().map(|number| format!("{number:?}")))
}

/// Lines with a depth.
struct Lines(String);

impl Lines {
    fn line(&mut self, depth: usize, text: &str) {
        self.0.extend(std::iter::repeat_n("  ", depth));
        self.0.push_str(text);
        self.0.push('\n');
    }

    fn element(&mut self, depth: usize, name: &str, content: &str) {
        self.line(depth, &format!("<{name}>{content}</{name}>"));
    }
}

fn write_setup(lines: &mut Lines, setup: &BdvSetup) {
    lines.line(3, "<ViewSetup>");
    lines.element(4, "id", &setup.id.to_string());
    lines.element(4, "name", &escaped(&setup.name));
    lines.element(4, "size", &spaced(setup.size_xyz));
    lines.line(4, "<voxelSize>");
    lines.element(5, "unit", &escaped(&setup.unit));
    lines.element(5, "size", &numbers(setup.voxel_size_xyz));
    lines.line(4, "</voxelSize>");
    lines.line(4, "<attributes>");
    lines.element(5, "channel", &setup.channel.to_string());
    lines.element(5, "angle", &setup.angle.to_string());
    lines.line(4, "</attributes>");
    lines.line(3, "</ViewSetup>");
}

/// The entities that an attribute of setups numbers: each number once.
fn write_attributes(lines: &mut Lines, name: &str, entity: &str, ids: impl Iterator<Item = u64>) {
    let ids: BTreeSet<u64> = ids.collect();
    lines.line(3, &format!("<Attributes name=\"{name}\">"));
    for id in ids {
        lines.line(4, &format!("<{entity}>"));
        lines.element(5, "id", &id.to_string());
        lines.element(5, "name", &id.to_string());
        lines.line(4, &format!("</{entity}>"));
    }
    lines.line(3, "</Attributes>");
}

/// Numbers of the affine from elements of level 0 to lengths: three rows of four.
fn affine(setup: &BdvSetup) -> [f64; 12] {
    let ([x, y, z], [left, top, front]) = (setup.voxel_size_xyz, setup.translation_xyz);
    [x, 0.0, 0.0, left, 0.0, y, 0.0, top, 0.0, 0.0, z, front]
}

/// The text of `dataset.xml`: `SpimData` 0.2 with an N5 container.
///
/// There is a registration for each setup at each timepoint: the text grows with their product.
///
/// ```
/// use rechunk_image::{BdvDataset, BdvSetup, bdv_xml};
/// let setup = BdvSetup {
///     id: 0,
///     name: "nuclei & walls".to_owned(),
///     size_xyz: [7, 6, 5],
///     voxel_size_xyz: [1.0, 1.0, 4.0],
///     unit: "um".to_owned(),
///     channel: 0,
///     angle: 0,
///     translation_xyz: [0.0; 3],
/// };
/// let dataset = BdvDataset { n5_path: "b.n5".to_owned(), setups: vec![setup], timepoints: 1 };
/// assert!(bdv_xml(&dataset).contains("<name>nuclei &amp; walls</name>"));
/// ```
pub fn bdv_xml(dataset: &BdvDataset) -> String {
    let mut lines = opening(dataset, None);
    lines.line(2, "<Timepoints type=\"range\">");
    lines.element(3, "first", "0");
    lines.element(3, "last", &dataset.timepoints.saturating_sub(1).to_string());
    lines.line(2, "</Timepoints>");
    let views = BdvViews::default();
    closing(lines, dataset, 0..dataset.timepoints, &views)
}

/// Views of a dataset, where they are not as those of [`bdv_xml`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BdvViews {
    /// Numbers of the timepoints; the count in the dataset does not matter.
    pub timepoints: Vec<u64>,
    /// Affine of each setup, in the order of setups: three rows of four. Where there is none, it is
    /// made of sizes and places of elements.
    pub affines: Vec<Option<[f64; 12]>>,
    /// The server that has the elements; `None`: they are in the N5 container of the dataset.
    pub server: Option<BdvServer>,
}

/// A server that viewers get elements from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BdvServer {
    /// The name of what reads from it, such as `bdv.remote`.
    pub format: String,
    /// The URL of the dataset there.
    pub base_url: String,
}

/// The text of [`bdv_xml`] with other views: any timepoints, any affines, elements of a server.
///
/// ```
/// use rechunk_image::{BdvDataset, BdvViews, bdv_xml_of};
/// let dataset = BdvDataset { n5_path: "b.n5".to_owned(), setups: Vec::new(), timepoints: 2 };
/// let views = BdvViews { timepoints: vec![3, 7], ..BdvViews::default() };
/// assert!(bdv_xml_of(&dataset, &views).contains("<integerpattern>3, 7</integerpattern>"));
/// ```
pub fn bdv_xml_of(dataset: &BdvDataset, views: &BdvViews) -> String {
    let mut lines = opening(dataset, views.server.as_ref());
    let numbers: Vec<String> = views.timepoints.iter().map(u64::to_string).collect();
    lines.line(2, "<Timepoints type=\"pattern\">");
    lines.element(3, "integerpattern", &numbers.join(", "));
    lines.line(2, "</Timepoints>");
    closing(lines, dataset, views.timepoints.iter().copied(), views)
}

/// The lines up to the timepoints.
fn opening(dataset: &BdvDataset, server: Option<&BdvServer>) -> Lines {
    let mut lines = Lines("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned());
    lines.line(0, "<SpimData version=\"0.2\">");
    lines.line(1, "<BasePath type=\"relative\">.</BasePath>");
    lines.line(1, "<SequenceDescription>");
    match server {
        None => {
            lines.line(2, "<ImageLoader format=\"bdv.n5\" version=\"1.0\">");
            lines.line(3, &format!("<n5 type=\"relative\">{}</n5>", escaped(&dataset.n5_path)));
        }
        Some(server) => {
            lines.line(2, &format!("<ImageLoader format=\"{}\">", escaped(&server.format)));
            lines.element(3, "baseUrl", &escaped(&server.base_url));
        }
    }
    lines.line(2, "</ImageLoader>");
    lines.line(2, "<ViewSetups>");
    for setup in &dataset.setups {
        write_setup(&mut lines, setup);
    }
    let setups = &dataset.setups;
    write_attributes(&mut lines, "channel", "Channel", setups.iter().map(|setup| setup.channel));
    write_attributes(&mut lines, "angle", "Angle", setups.iter().map(|setup| setup.angle));
    lines.line(2, "</ViewSetups>");
    lines
}

/// The text of `lines` and those behind the timepoints.
fn closing(
    mut lines: Lines,
    dataset: &BdvDataset,
    timepoints: impl Iterator<Item = u64>,
    views: &BdvViews,
) -> String {
    lines.line(1, "</SequenceDescription>");
    lines.line(1, "<ViewRegistrations>");
    for timepoint in timepoints {
        for (at, setup) in dataset.setups.iter().enumerate() {
            let view = format!("timepoint=\"{timepoint}\" setup=\"{}\"", setup.id);
            let given = views.affines.get(at).copied().flatten();
            lines.line(2, &format!("<ViewRegistration {view}>"));
            lines.line(3, "<ViewTransform type=\"affine\">");
            lines.element(4, "affine", &numbers(given.unwrap_or_else(|| affine(setup))));
            lines.line(3, "</ViewTransform>");
            lines.line(2, "</ViewRegistration>");
        }
    }
    lines.line(1, "</ViewRegistrations>");
    lines.line(0, "</SpimData>");
    lines.0
}

/// Contents of the elements of a name in a text, in their order, without attributes of the tag.
fn elements<'a>(text: &'a str, name: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let after = &rest[rest.find(&open)? + open.len()..];
            let end = after.find('>')?;
            let (tag, body) = (&after[..end], &after[end + 1..]);
            rest = body;
            if tag.ends_with('/') || !(tag.is_empty() || tag.starts_with(char::is_whitespace)) {
                continue;
            }
            let end = body.find(&close)?;
            rest = &body[end + close.len()..];
            return Some((tag, &body[..end]));
        }
    })
}

fn first<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    elements(text, name).next().map(|(_, content)| content.trim())
}

fn triple<T: std::str::FromStr>(text: &str) -> Option<[T; 3]> {
    let parts = text.split_whitespace().map(|part| part.parse().ok());
    parts.collect::<Option<Vec<T>>>()?.try_into().ok()
}

fn read_setup(text: &str) -> Option<BdvSetup> {
    let voxel = first(text, "voxelSize");
    let outside = voxel.map_or_else(|| text.to_owned(), |voxel| text.replacen(voxel, "", 1));
    let attribute = |name: &str| first(text, name).and_then(|id| id.parse().ok()).unwrap_or(0);
    let voxel_size_xyz = voxel.and_then(|voxel| triple(first(voxel, "size")?));
    Some(BdvSetup {
        id: first(text, "id")?.parse().ok()?,
        name: first(text, "name").map(unescaped).unwrap_or_default(),
        size_xyz: triple(first(&outside, "size")?)?,
        voxel_size_xyz: voxel_size_xyz.unwrap_or([1.0; 3]),
        unit: voxel.and_then(|voxel| first(voxel, "unit")).map(unescaped).unwrap_or_default(),
        channel: attribute("channel"),
        angle: attribute("angle"),
        translation_xyz: [0.0; 3],
    })
}

/// The dataset that an XML of BigDataViewer describes; `None` if it has no N5 container or no
/// setup that can be read.
///
/// Translations are those of the first timepoint, of transforms without rotation put together.
///
/// ```
/// use rechunk_image::read_bdv_xml;
/// assert_eq!(read_bdv_xml("<SpimData version=\"0.2\"/>"), None);
/// ```
pub fn read_bdv_xml(text: &str) -> Option<BdvDataset> {
    let n5_path = unescaped(first(first(text, "ImageLoader")?, "n5")?);
    let setups = elements(text, "ViewSetup").take(SETUPS_MAX);
    let mut setups: Vec<_> = setups.filter_map(|(_, setup)| read_setup(setup)).collect();
    if setups.is_empty() {
        return None;
    }
    let mut translations = BTreeMap::new();
    for (tag, registration) in elements(text, "ViewRegistration") {
        let number = |name: &str| {
            let after = tag.split_once(&format!("{name}=\""))?.1;
            after.split_once('"')?.0.parse::<u64>().ok()
        };
        if let (Some(0), Some(setup)) = (number("timepoint"), number("setup")) {
            translations.entry(setup).or_insert_with(|| translation(registration));
        }
    }
    for setup in &mut setups {
        if let Some(Some(translation)) = translations.get(&setup.id) {
            setup.translation_xyz = *translation;
        }
    }
    let times = first(text, "Timepoints").unwrap_or_default();
    let time = |name: &str| first(times, name).and_then(|time| time.parse::<u64>().ok());
    let timepoints = match (time("first"), time("last")) {
        (Some(first), Some(last)) => last.saturating_sub(first).saturating_add(1),
        _ => 1,
    };
    Some(BdvDataset { n5_path, setups, timepoints })
}

/// The translation of transforms, the first of which is applied last; `None` with rotations.
fn translation(registration: &str) -> Option<[f64; 3]> {
    let mut place = [0.0; 3];
    for (_, affine) in elements(registration, "affine").collect::<Vec<_>>().into_iter().rev() {
        let numbers: Vec<f64> =
            affine.split_whitespace().map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let numbers: [f64; 12] = numbers.try_into().ok()?;
        for row in 0..3 {
            let turns = (0..3).any(|column| column != row && numbers[row * 4 + column] != 0.0);
            if turns {
                return None;
            }
            place[row] = place[row] * numbers[row * 5] + numbers[row * 4 + 3];
        }
    }
    Some(place)
}
