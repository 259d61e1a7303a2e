//! `rechunk info` as text.

use rechunk::{ArrayInfo, format_byte_size, format_shape};

use super::table::number;

pub(crate) fn text(info: &ArrayInfo) -> String {
    let mut lines = vec![info.location.clone()];
    let mut line = |name: &str, value: String| lines.push(format!("  {name:<11} {value}"));
    line("format", info.format.clone());
    line("shape", shape(info));
    line("type", format!("{}{}", info.data_type, order(info)));
    line(
        "chunks",
        match info.chunk_bytes {
            Some(bytes) => {
                format!("{} ({})", format_shape(&info.chunk_shape), format_byte_size(bytes))
            }
            None => format_shape(&info.chunk_shape),
        },
    );
    line("codecs", info.codecs.clone());
    line("fill value", info.fill_value.clone());
    let missing = match info.missing_chunks {
        0 => "none missing".to_owned(),
        missing => format!("{} missing: they hold the fill value", number(missing)),
    };
    line(
        "stored",
        format!("{} of {} chunks, {missing}", number(info.stored_chunks), number(info.chunks)),
    );
    let ratio = info.compression_ratio.map_or(String::new(), |ratio| format!(", {ratio:.2} : 1"));
    let decoded = info
        .decoded_bytes
        .map_or(String::new(), |bytes| format!("{} of elements, ", format_byte_size(bytes)));
    line("size", format!("{decoded}{} stored{ratio}", format_byte_size(info.stored_bytes)));
    if let Some(attributes) = info.attributes.as_object()
        && !attributes.is_empty()
    {
        lines.push("  attributes".to_owned());
        lines.extend(
            attributes.iter().map(|(name, value)| format!("    {} = {value}", printable(name))),
        );
    }
    lines.extend(info.hints.iter().map(|hint| format!("  hint: {hint}")));
    lines.join("\n")
}

fn shape(info: &ArrayInfo) -> String {
    let Some(names) = &info.dimension_names else { return format_shape(&info.shape) };
    let named: Vec<String> = names
        .iter()
        .zip(&info.shape)
        .map(|(name, extent)| match name {
            Some(name) => format!("{} {extent}", printable(name)),
            None => extent.to_string(),
        })
        .collect();
    if named.is_empty() { "scalar".to_owned() } else { named.join(" × ") }
}

/// A name without what a terminal would obey.
fn printable(name: &str) -> String {
    name.chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect()
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
