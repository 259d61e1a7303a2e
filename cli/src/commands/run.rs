//! `rechunk run`.

use std::process::ExitCode;

use rechunk::{Error, Job, SavedJob};

use crate::args::RunArgs;
use crate::commands::copy::run_job;
use crate::{request, terminal};

pub(crate) async fn run(args: RunArgs) -> Result<ExitCode, Error> {
    let bytes = terminal::read_file(&args.plan)?;
    let saved = SavedJob::from_json(&args.plan, &bytes)?;
    let locations = [&*saved.request.source, &saved.request.target];
    terminal::check_apart(args.html.as_deref(), &locations)?;
    let concurrency = saved.request.planning.concurrency;
    let stores = request::planned_stores(&args.stores, concurrency)?;
    let job = Job::from_saved(saved, args.running.temp.as_deref(), &stores).await?;
    let (running, html) = (request::running(&args.running), args.html.as_deref());
    Box::pin(run_job(job, running, &args.output, html)).await?;
    Ok(ExitCode::SUCCESS)
}
