//! `rechunk copy`.

use std::process::ExitCode;
use std::sync::Arc;

use rechunk::{Error, Job, Report, Running};

use crate::args::{CopyArgs, OutputArgs};
use crate::render::{self, explain, progress, report};
use crate::{request, signals};

pub(crate) async fn run(args: CopyArgs) -> Result<ExitCode, Error> {
    let copy = request::copy(
        &args.source,
        &args.target,
        &args.target_options,
        &args.planning,
        args.running.temp.as_deref(),
    )?;
    let job = Job::prepare(copy).await?;
    if let Some(path) = &args.svg {
        render::write_file(path, &explain::svg(&job))?;
    }
    if args.dry_run {
        show_plan(&job, &args.output);
        return Ok(ExitCode::SUCCESS);
    }
    run_job(job, request::running(&args.running), &args.output).await?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the plan of a job: the object with `--json`, else the table on stdout.
pub(crate) fn show_plan(job: &Job, output: &OutputArgs) {
    if output.json {
        render::print_json(&Report::of_plan(&job.planned, &job.warnings));
    } else if !output.quiet {
        render::print(&explain::table(job, true));
        render::warnings(&job.warnings);
    }
}

/// Runs a job: plan said before, progress while, report after.
pub(crate) async fn run_job(
    mut job: Job,
    running: Running,
    output: &OutputArgs,
) -> Result<(), Error> {
    let talk = !output.quiet && !output.json;
    job.check_target(running).await?;
    if talk {
        render::say(&explain::table(&job, output.verbose > 0));
        render::warnings(&job.warnings);
    }
    let observer = progress::observer(output);
    let cancel = signals::cancel_on_signal();
    let outcome = job.run(running, Arc::clone(&observer) as _, cancel).await;
    observer.finish();
    let done = outcome?;
    if output.json {
        render::print_json(&done);
    } else if talk {
        render::say(&report::summary(&done));
    }
    Ok(())
}
