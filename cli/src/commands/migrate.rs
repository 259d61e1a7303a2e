//! `rechunk migrate`.

use std::process::ExitCode;

use rechunk::{Error, Format, MigrateRequest};
use rechunk_render::migration_text;

use crate::args::MigrateArgs;
use crate::{request, signals, terminal};

pub(crate) async fn run(args: MigrateArgs) -> Result<ExitCode, Error> {
    let stores = request::stores(&args.stores)?;
    let to = Format::from_name(&args.to).unwrap_or(Format::Zarr3);
    let mut asked = MigrateRequest::new(&args.path, to);
    asked.source_format = args.source_format.as_deref().and_then(Format::from_name);
    asked.undo = args.undo;
    asked.remove_old = args.remove_old;
    asked.dry_run = args.dry_run;
    let report = rechunk::migrate(&asked, &stores, signals::cancel_on_signal()).await?;
    if args.json {
        terminal::print_json(&report);
    } else if !args.quiet {
        terminal::warnings(&report.warnings);
        terminal::print(&migration_text(&report));
    }
    Ok(ExitCode::SUCCESS)
}
