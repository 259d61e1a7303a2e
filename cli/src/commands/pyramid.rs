//! `rechunk pyramid`.

use std::process::ExitCode;

use rechunk::{Error, Selection};

use super::copy::{run_copy, say_refused, show_plan};
use crate::args::PyramidArgs;
use crate::pyramid_request::of_pyramid;
use crate::request;

pub(crate) async fn run(args: PyramidArgs) -> Result<ExitCode, Error> {
    let stores = request::planned_stores(&args.stores, args.planning.concurrency)?;
    let asked = of_pyramid(&args)?;
    let prepared = rechunk::prepare(asked, Selection::default(), &stores);
    let mut prepared = Box::pin(prepared).await?;
    let running = request::running(&args.running);
    if args.dry_run {
        show_plan(&prepared, &args.output);
        if !args.output.quiet {
            say_refused(prepared.check_target(running).await);
        }
        return Ok(ExitCode::SUCCESS);
    }
    Box::pin(run_copy(prepared, running, &args.output, None)).await?;
    Ok(ExitCode::SUCCESS)
}
