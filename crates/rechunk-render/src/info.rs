//! Description of an array or a group as text.

use rechunk::{
    AccessCost, ArrayInfo, GroupInfo, ImageInfo, Info, KeyCount, Member, MemberArray, MemberKind,
    OthersInfo, SizeBin, format_byte_size, format_shape,
};

use super::harmless::{harmless, harmless_line};
use super::numbers::{number, seconds};
use super::table::lay_out;

/// Shows the description of an array or a group.
///
/// ```
/// # async fn example() -> Result<(), rechunk::Error> {
/// use rechunk::{OpenOptions, Stores, info};
///
/// let found = info("a.zarr", &OpenOptions::default(), &[], &Stores::default()).await?;
/// println!("{}", rechunk_render::info_text(&found));
/// # Ok(())
/// # }
/// ```
pub fn info_text(info: &Info) -> String {
    let text = match info {
        Info::Array(array) => array_text(array),
        Info::Group(group) => group_text(group),
    };
    harmless(&text).into_owned()
}

/// Words on chunks without a checksum.
const UNCHECKED: &str = "none: a bit that flips in what is stored may go unnoticed";

/// `  name        value` lines below a head.
struct Lines(Vec<String>);

impl Lines {
    fn line(&mut self, name: &str, value: &str) {
        self.0.push(format!("  {name:<11} {value}"));
    }

    /// Comment of a ZIP file, cut where it is long: it is the text of a stranger.
    fn archive_comment(&mut self, comment: Option<&str>) {
        const CHARS_MAX: usize = 200;
        let Some(comment) = comment else { return };
        let mut shown: String = comment.chars().take(CHARS_MAX).collect();
        if shown.len() < comment.len() {
            shown.push('…');
        }
        self.line("ZIP comment", &harmless_line(&shown));
    }

    fn attributes(&mut self, attributes: &serde_json::Value) {
        let Some(attributes) = attributes.as_object().filter(|all| !all.is_empty()) else { return };
        self.0.push("  attributes".to_owned());
        let line = |(name, value): (&String, _)| format!("    {} = {value}", harmless_line(name));
        self.0.extend(attributes.iter().map(line));
    }
}

fn array_text(info: &ArrayInfo) -> String {
    let mut lines = Lines(vec![info.location.clone()]);
    lines.line("format", &info.format);
    lines.line("shape", &named_shape(&info.shape, info.dimension_names.as_deref()));
    let stored_as = info.stored_type.as_ref().filter(|stored| **stored != info.data_type);
    let stored_as = stored_as.map_or(String::new(), |stored| format!(", stored as {stored}"));
    lines.line("type", &format!("{}{}{stored_as}", info.data_type, order(info)));
    let chunk = format_shape(&info.chunk_shape);
    let bytes = info.chunk_bytes.map(|bytes| format!(" ({})", format_byte_size(bytes)));
    let smallest = info.smallest_chunk_shape.as_ref().map(|shape| {
        format!(", the largest; the smallest {} (a rectilinear grid)", format_shape(shape))
    });
    let (bytes, smallest) = (bytes.unwrap_or_default(), smallest.unwrap_or_default());
    lines.line("chunks", &format!("{chunk}{bytes}{smallest}"));
    if let Some(shards) = &info.shard_shape {
        lines.line("shards", &format_shape(shards));
    }
    lines.line("codecs", &info.codecs);
    lines.line("checksums", if info.checksums { "of every chunk" } else { UNCHECKED });
    if let Some(readers) = &info.readers {
        let names = readers.join(", ");
        let alone = "none of the libraries it was tried with";
        lines.line("readable by", if names.is_empty() { alone } else { &names });
    }
    lines.line("fill value", &info.fill_value);
    stored(&mut lines, info);
    if !info.access.is_empty() {
        lines.0.push(access_table(info.access.iter().map(access_row)));
    }
    if let Some(group) = &info.consolidated_in {
        lines.line("consolidated", &format!("in {group}"));
    }
    lines.archive_comment(info.archive_comment.as_deref());
    lines.attributes(&info.attributes);
    lines.0.extend(info.hints.iter().map(|hint| format!("  hint: {hint}")));
    lines.0.join("\n")
}

/// Whether a place is at a web server, which does not list.
fn is_web(location: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| location.starts_with(scheme))
}

/// Lines on the stored chunks of the array, and on other files beside it.
fn stored(lines: &mut Lines, info: &ArrayInfo) {
    let (Some(stored_chunks), Some(missing_chunks)) = (info.stored_chunks, info.missing_chunks)
    else {
        let why = match info.stored_shards {
            Some(shards) if shards > 0 => "there are shards of which the index cannot be read",
            _ if is_web(&info.location) => "the server cannot be asked what it has",
            _ => "its shards hold chunks from anywhere, as a hash says",
        };
        lines.line("stored", &format!("not counted: {why}"));
        return;
    };
    let missing = match missing_chunks {
        0 => "none missing".to_owned(),
        missing => format!("{} missing: they hold the fill value", number(missing)),
    };
    let shards = info.stored_shards.map_or(String::new(), |stored| {
        format!(" in {} of {} shards", number(stored), number(info.shards.unwrap_or(stored)))
    });
    let (chunks, all) = (number(stored_chunks), number(info.chunks));
    lines.line("stored", &format!("{chunks} of {all} chunks{shards}, {missing}"));
    let objects = if info.shards.is_some() { "shard" } else { "chunk" };
    let ratio = info.compression_ratio.map_or(String::new(), |ratio| format!(", {ratio:.2} : 1"));
    let decoded =
        info.decoded_bytes.map(|bytes| format!("{} of elements, ", format_byte_size(bytes)));
    let (decoded, bytes) = (decoded.unwrap_or_default(), format_byte_size(info.stored_bytes));
    lines.line("size", &format!("{decoded}{bytes} stored{ratio}"));
    if let Some(sizes) = &info.stored_chunk_bytes {
        let [min, median, max] = [sizes.min, sizes.median, sizes.max].map(format_byte_size);
        lines.line(&format!("per {objects}"), &format!("{min} to {max} stored, median {median}"));
        lines.0.extend(histogram(&sizes.histogram));
    }
    let keys = |keys: &KeyCount, what: &str| {
        let example = keys.example.as_deref().map(harmless_line)?;
        Some(format!("{} {what}, e.g. {example}", number(keys.count)))
    };
    if let Some(text) = keys(&info.leftovers, "unfinished") {
        lines.line("leftovers", &text);
    }
    if let Some(text) = keys(&info.foreign, "neither chunks nor metadata") {
        lines.line("other files", &text);
    }
}

/// Bars of how many chunks have about which size; nothing where all are alike.
fn histogram(bins: &[SizeBin]) -> Vec<String> {
    const WIDTH: u64 = 32;
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1).max(1);
    let bar = |bin: &SizeBin| {
        let share = u128::from(bin.count) * u128::from(WIDTH) * 8 / u128::from(most);
        let eighths = usize::try_from(share).unwrap_or(0).max(1);
        let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
        let from = format_byte_size(bin.from);
        format!("    {from:>9} and more  {}{part} {}", "█".repeat(eighths / 8), number(bin.count))
    };
    if bins.len() < 2 { Vec::new() } else { bins.iter().map(bar).collect() }
}

/// Table of the costs of ways to read.
fn access_table(rows: impl Iterator<Item = Vec<String>>) -> String {
    let head = ["access", "read", "requests", "decoded", "for", "times", "takes"];
    let head = head.map(str::to_owned).to_vec();
    lay_out(&std::iter::once(head).chain(rows).collect::<Vec<_>>(), &[2, 3, 4, 5, 6])
}

/// Row of the costs of one way to read.
fn access_row(read: &AccessCost) -> Vec<String> {
    vec![
        harmless_line(&read.access),
        format_shape(&read.shape),
        number(read.requests),
        format_byte_size(read.decoded_bytes),
        format_byte_size(read.wanted_bytes),
        times(read),
        seconds(read.seconds),
    ]
}

/// `1`, `1.25`, `1,036,800`: how many times as much is decoded as is wanted.
fn times(read: &AccessCost) -> String {
    if read.amplification < 10.0 {
        let digits = format!("{:.3}", read.amplification);
        return digits.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let half = read.wanted_bytes / 2;
    number(read.decoded_bytes.saturating_add(half) / read.wanted_bytes.max(1))
}

/// The levels of an image, and what is wrong with them.
fn image_lines(image: &ImageInfo) -> Vec<String> {
    let labels = if image.is_label { ", labels" } else { "" };
    let axes: Vec<String> = image.axes.iter().map(|axis| harmless_line(axis)).collect();
    let mut text = Lines(Vec::new());
    text.line("image", &format!("{}{labels}, axes {}", image.dialect, axes.join(", ")));
    let numbers = |list: &Option<Vec<f64>>| {
        let texts = list.iter().flatten().map(ToString::to_string);
        texts.collect::<Vec<_>>().join(", ")
    };
    let head = ["level", "shape", "factors", "scale", "translation", "elements as"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(image.levels.iter().map(|level| {
        let methods = match &level.methods {
            Some(methods) if methods.is_empty() => "none of ours".to_owned(),
            Some(methods) => methods.join(", "),
            None => String::new(),
        };
        vec![
            harmless_line(&level.path),
            level.shape.as_deref().map_or_else(|| "missing".to_owned(), format_shape),
            numbers(&level.factors),
            numbers(&level.scale),
            numbers(&level.translation),
            methods,
        ]
    }));
    text.0.push(lay_out(&rows, &[]));
    text.0.extend(
        image.problems.iter().map(|problem| format!("  wrong: {}", harmless_line(problem))),
    );
    text.0
}

fn group_text(info: &GroupInfo) -> String {
    let mut lines = Lines(vec![info.location.clone()]);
    let consolidated = if info.consolidated { ", consolidated" } else { "" };
    lines.line("format", &format!("{}, a group{consolidated}", info.format));
    let is_group = |member: &&Member| matches!(member.kind, MemberKind::Group);
    let groups = info.members.iter().filter(is_group).count();
    let (arrays, groups) =
        (counted(info.members.len() - groups, "array"), counted(groups, "group"));
    let members = match (info.truncated, info.members.is_empty()) {
        (true, true) => {
            "not known: the server cannot be asked what it has, and there is no consolidated \
                         metadata"
                .to_owned()
        }
        (true, false) => format!("{arrays}, {groups}, and more that were not looked at"),
        (false, _) => format!("{arrays}, {groups}"),
    };
    lines.line("members", &members);
    if let Some(others) = info.others.as_ref().filter(|others| others.files > 0) {
        lines.line("other files", &other_files(others));
    }
    lines.archive_comment(info.archive_comment.as_deref());
    lines.attributes(&info.attributes);
    if let Some(image) = &info.image {
        lines.0.extend(image_lines(image));
    }
    if !info.members.is_empty() {
        let head = ["name", "shape", "type", "chunks", "codecs", "size"].map(str::to_owned);
        let rows = std::iter::once(head.to_vec()).chain(info.members.iter().map(row));
        lines.0.push(lay_out(&rows.collect::<Vec<_>>(), &[5]));
    }
    let reads = info.members.iter().filter_map(|member| match &member.kind {
        MemberKind::Array(array) => Some((member, &array.access)),
        _ => None,
    });
    let rows: Vec<Vec<String>> = reads
        .flat_map(|(member, access)| access.iter().map(move |read| (member, read)))
        .map(|(member, read)| {
            let mut row = access_row(read);
            row[0] = format!("{} {}", harmless_line(&member.path), row[0]);
            row
        })
        .collect();
    if !rows.is_empty() {
        lines.0.push(access_table(rows.into_iter()));
    }
    for member in &info.members {
        if let MemberKind::Unreadable { reason } = &member.kind {
            lines.0.push(format!("  {} cannot be read: {reason}", harmless_line(&member.path)));
        }
    }
    lines.0.extend(info.hints.iter().map(|hint| format!("  hint: {hint}")));
    lines.0.join("\n")
}

/// `3 (1.5 KiB): a.parquet, b.json, c.xml`.
fn other_files(others: &OthersInfo) -> String {
    const NAMED_MAX: usize = 4;
    let named = others.listed.iter().take(NAMED_MAX);
    let mut names: Vec<String> = named.map(|file| harmless_line(&file.path)).collect();
    let more = others.files.saturating_sub(names.len() as u64);
    if more > 0 {
        names.push(format!("and {} more", number(more)));
    }
    let at_least = if others.truncated { "at least " } else { "" };
    let (files, bytes) = (number(others.files), format_byte_size(others.bytes));
    format!("{at_least}{files} ({bytes}): {}", names.join(", "))
}

/// `1 array`, `2 arrays`.
fn counted(count: usize, what: &str) -> String {
    format!("{} {what}{}", number(count as u64), if count == 1 { "" } else { "s" })
}

fn row(member: &Member) -> Vec<String> {
    let name = harmless_line(&member.path);
    match &member.kind {
        MemberKind::Group => vec![format!("{name}/")],
        MemberKind::Unreadable { .. } => vec![name, "?".to_owned()],
        MemberKind::Array(array) => array_row(name, array),
    }
}

fn array_row(name: String, array: &MemberArray) -> Vec<String> {
    vec![
        name,
        named_shape(&array.shape, array.dimension_names.as_deref()),
        array.data_type.clone(),
        format_shape(&array.chunk_shape),
        array.codecs.clone(),
        array.decoded_bytes.map_or_else(|| "?".to_owned(), format_byte_size),
    ]
}

fn named_shape(shape: &[u64], names: Option<&[Option<String>]>) -> String {
    let Some(names) = names else { return format_shape(shape) };
    let named: Vec<String> = names
        .iter()
        .zip(shape)
        .map(|(name, extent)| match name {
            Some(name) => format!("{} {extent}", harmless_line(name)),
            None => extent.to_string(),
        })
        .collect();
    if named.is_empty() { "scalar".to_owned() } else { named.join(" × ") }
}

fn order(info: &ArrayInfo) -> String {
    let c_order: Vec<usize> = (0..info.axes.len()).collect();
    let mut notes = Vec::new();
    if info.endian == "big" {
        notes.push("big-endian".to_owned());
    }
    if info.axes != c_order {
        let f_order: Vec<usize> = c_order.into_iter().rev().collect();
        notes.push(if info.axes == f_order {
            "F order".to_owned()
        } else {
            format!("stored in axis order {:?}", info.axes)
        });
    }
    if notes.is_empty() { String::new() } else { format!(", {}", notes.join(", ")) }
}
