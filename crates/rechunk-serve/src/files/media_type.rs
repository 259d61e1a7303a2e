/// The media type of a file by its name. Documents of stores are text; all else is bytes, also
/// pages: they would run with the rights of what is served.
pub(super) fn media_type(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or_default();
    if [".zarray", ".zgroup", ".zattrs", ".zmetadata"].contains(&name) {
        return "application/json";
    }
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("json") => "application/json",
        Some("xml") => "application/xml",
        Some("txt" | "md" | "csv") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
