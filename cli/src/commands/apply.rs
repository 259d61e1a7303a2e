//! `rechunk apply`.

use std::process::ExitCode;
use std::sync::Arc;

use rechunk::{CopyRequest, Error, Job, Prepared, Stores, statistic, statistic_plan};

use super::copy::{run_copy, say_refused, show_plan};
use super::plan::save;
use crate::apply_request::of_apply;
use crate::args::ApplyArgs;
use crate::request::usage;
use crate::terminal::{self, progress};
use crate::{request, signals};

pub(crate) async fn run(args: ApplyArgs) -> Result<ExitCode, Error> {
    let locations: Vec<&str> = args.locations.iter().map(|location| &**location).collect();
    terminal::check_apart(args.saving.out.as_deref(), &locations)?;
    let stores = request::planned_stores(&args.stores, args.planning.concurrency)?;
    let asked = of_apply(&args)?;
    if asked.target.is_empty() {
        return measure(&args, &asked, &stores).await;
    }
    let job = Box::pin(Job::prepare(asked, &stores)).await?;
    let mut prepared = Prepared::from(job);
    let running = request::running(&args.running);
    if let Some(path) = &args.saving.out {
        save(&prepared, path)?;
    }
    if args.dry_run || args.saving.out.is_some() {
        show_plan(&prepared, &args.output);
        if !args.output.quiet {
            say_refused(prepared.check_target(running).await);
        }
        return Ok(ExitCode::SUCCESS);
    }
    Box::pin(run_copy(prepared, running, &args.output, None)).await?;
    Ok(ExitCode::SUCCESS)
}

/// Computes a statistic and prints it.
async fn measure(
    args: &ApplyArgs,
    asked: &CopyRequest,
    stores: &Stores,
) -> Result<ExitCode, Error> {
    if args.saving.out.is_some() {
        let hint = Some("run it as it is");
        return Err(usage("--out: a statistic has no plan to be run in parts".to_owned(), hint));
    }
    if args.dry_run {
        terminal::print_json(&Box::pin(statistic_plan(asked, stores)).await?);
        return Ok(ExitCode::SUCCESS);
    }
    let display = progress::observer(&args.output);
    let cancel = signals::cancel_on_signal();
    let found = Box::pin(statistic(asked, stores, Arc::clone(&display) as _, cancel)).await;
    display.finish();
    let found = found?;
    if args.output.json {
        terminal::print_json(&found);
    } else {
        terminal::print(&format!("{:#}", found.statistic));
    }
    Ok(ExitCode::SUCCESS)
}
