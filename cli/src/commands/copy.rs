//! `rechunk copy`.

use std::process::ExitCode;
use std::sync::Arc;

use rechunk::{Error, Job, Prepared, Report, Running, TreeJob, TreeReport};

use crate::args::{CopyArgs, OutputArgs};
use crate::render::{self, explain, progress, report, tree};
use crate::{request, signals};

pub(crate) async fn run(args: CopyArgs) -> Result<ExitCode, Error> {
    let stores = request::planned_stores(&args.stores, &args.planning)?;
    let copy = request::copy(
        &args.source,
        &args.target,
        &args.target_options,
        &args.planning,
        args.running.temp.as_deref(),
    )?;
    match rechunk::prepare(copy, request::selection(&args.selection), &stores).await? {
        Prepared::Array(job) => Box::pin(copy_array(*job, &args)).await?,
        Prepared::Tree(job) => Box::pin(copy_group(*job, &args)).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn copy_array(job: Job, args: &CopyArgs) -> Result<(), Error> {
    if let Some(path) = &args.svg {
        render::write_file(path, &explain::svg(&job))?;
    }
    if args.dry_run {
        show_plan(&job, &args.output);
        return Ok(());
    }
    Box::pin(run_job(job, request::running(&args.running), &args.output)).await
}

async fn copy_group(job: TreeJob, args: &CopyArgs) -> Result<(), Error> {
    refuse_for_group(args.svg.is_some(), "--svg")?;
    if args.dry_run {
        show_group_plan(&job, &args.output);
        return Ok(());
    }
    run_group(job, request::running(&args.running), &args.output).await
}

/// Refuses what is drawn or saved of one array only.
pub(crate) fn refuse_for_group(is_given: bool, option: &str) -> Result<(), Error> {
    if !is_given {
        return Ok(());
    }
    Err(request::usage(
        format!("{option} takes the plan of one array, and the source is a group"),
        Some("name one of its arrays; --json has the plans of all"),
    ))
}

/// Prints the plan of a group: the object with `--json`, else the table on stdout.
pub(crate) fn show_group_plan(job: &TreeJob, output: &OutputArgs) {
    if output.json {
        render::print_json(&TreeReport::of_plan(job));
    } else if !output.quiet {
        render::print(&tree::table(job));
        render::warnings(&job.all_warnings());
    }
}

/// Runs the copy of a group: plan said before, progress while, report after.
async fn run_group(mut job: TreeJob, running: Running, output: &OutputArgs) -> Result<(), Error> {
    let talk = !output.quiet && !output.json;
    job.check_target(running).await?;
    if talk {
        render::say(&tree::table(&job));
        render::warnings(&job.all_warnings());
    }
    let observer = progress::observer(output);
    let cancel = signals::cancel_on_signal();
    let outcome = job.run(running, Arc::clone(&observer) as _, cancel).await;
    observer.finish();
    let done = outcome?;
    if output.json {
        render::print_json(&done);
    } else if talk {
        render::say(&report::group_summary(&done));
    }
    Ok(())
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
