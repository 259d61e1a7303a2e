//! A migration in place, as text.

use rechunk::MigrateReport;

use super::first_lines::first_lines;
use super::harmless::harmless;
use super::numbers::number;

/// Documents that are named one by one.
const NAMED_MAX: usize = 20;

/// Shows which documents a migration has written and removed, or would.
///
/// ```
/// # async fn example() -> Result<(), rechunk::Error> {
/// use rechunk::{CancellationToken, Format, MigrateRequest, Stores, migrate};
///
/// let mut request = MigrateRequest::new("a.zarr", Format::Zarr3);
/// request.dry_run = true;
/// let report = migrate(&request, &Stores::default(), CancellationToken::new()).await?;
/// println!("{}", rechunk_render::migration_text(&report));
/// # Ok(())
/// # }
/// ```
pub fn migration_text(report: &MigrateReport) -> String {
    let MigrateReport { location, to, written, removed, .. } = report;
    let would = if report.dry_run { "would be " } else { "" };
    let mut lines = Vec::new();
    if written.is_empty() && removed.is_empty() {
        let reason = if report.undo {
            format!("no document of {} is there", to.name())
        } else {
            format!("it is {} already", to.name())
        };
        return harmless(&format!("nothing to do at {location}: {reason}")).into_owned();
    }
    if !written.is_empty() {
        let from = report.from.map_or("", |from| from.name());
        let size: u64 = written.iter().map(|document| document.bytes).sum();
        lines.push(format!(
            "{location}: {from} to {}: {} documents ({} bytes) {would}written over the chunks of {} arrays",
            to.name(),
            number(written.len() as u64),
            number(size),
            number(report.arrays),
        ));
        if report.dry_run {
            lines.extend(first_lines(written, NAMED_MAX, |document| {
                format!("  {} ({} bytes)", document.key, number(document.bytes))
            }));
        }
    }
    if !removed.is_empty() {
        let count = number(removed.len() as u64);
        lines.push(format!("{location}: {count} documents {would}removed"));
        if report.dry_run {
            lines.extend(first_lines(removed, NAMED_MAX, |key| format!("  {key}")));
        }
    }
    harmless(&lines.join("\n")).into_owned()
}
