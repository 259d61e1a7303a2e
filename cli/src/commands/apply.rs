//! `rechunk apply`.

use std::process::ExitCode;

use rechunk::{Error, Job, Prepared};

use super::copy::{run_copy, say_refused, show_plan};
use crate::apply_request::of_apply;
use crate::args::ApplyArgs;
use crate::request;

pub(crate) async fn run(args: ApplyArgs) -> Result<ExitCode, Error> {
    let stores = request::planned_stores(&args.stores, args.planning.concurrency)?;
    let job = Box::pin(Job::prepare(of_apply(&args)?, &stores)).await?;
    let mut prepared = Prepared::from(job);
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
