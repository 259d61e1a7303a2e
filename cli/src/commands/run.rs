//! `rechunk run`.

use std::process::ExitCode;

use rechunk::{Error, Job, SavedJob};

use crate::args::RunArgs;
use crate::commands::copy::run_job;
use crate::{render, request};

pub(crate) async fn run(args: RunArgs) -> Result<ExitCode, Error> {
    let bytes = render::read_file(&args.plan)?;
    let mut saved = SavedJob::from_json(&args.plan, &bytes)?;
    if args.running.temp.is_some() {
        saved.request.temp.clone_from(&args.running.temp);
    }
    let job = Job::from_saved(saved, &request::stores(&args.stores)?).await?;
    Box::pin(run_job(job, request::running(&args.running), &args.output, None)).await?;
    Ok(ExitCode::SUCCESS)
}
