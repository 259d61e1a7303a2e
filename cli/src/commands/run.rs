//! `rechunk run`: a saved plan as a whole, or in parts.

use std::process::ExitCode;
use std::time::Duration;

use rechunk::{Error, Prepared, SavedPlan};
use rechunk_render::{part_text, parts_text, report_text};

use crate::args::RunArgs;
use crate::commands::copy::{Watch, run_copy};
use crate::phrases::phrases;
use crate::{request, signals, terminal};

pub(crate) async fn run(args: RunArgs) -> Result<ExitCode, Error> {
    let bytes = terminal::read_file(&args.plan)?;
    let saved = SavedPlan::from_json(&args.plan, &bytes)?;
    let planned = saved.request();
    terminal::check_apart(args.html.as_deref(), &[&planned.source, &planned.target])?;
    let concurrency = planned.planning.concurrency;
    let stores = request::planned_stores(&args.stores, concurrency)?;
    let job = Prepared::from_saved(saved, args.running.temp.as_deref(), &stores).await?;
    let parts = &args.parts;
    if parts.begin || parts.part.is_some() || parts.tasks.is_some() || parts.finish {
        return Box::pin(in_parts(job, &args)).await;
    }
    if parts.wait.is_some() {
        let hint = Some("leave it out: a plan that is run as a whole waits for nobody");
        return Err(request::usage("--wait is of --part, --tasks and --finish".to_owned(), hint));
    }
    let (running, html) = (request::running(&args.running), args.html.as_deref());
    Box::pin(run_copy(job, running, &args.output, html)).await?;
    Ok(ExitCode::SUCCESS)
}

/// One step of a plan that many processes do.
async fn in_parts(job: Prepared, args: &RunArgs) -> Result<ExitCode, Error> {
    if args.html.is_some() {
        let hint = Some("--html takes a plan that is run as a whole");
        return Err(request::usage("--html is not made of a part".to_owned(), hint));
    }
    let (running, output) = (request::running(&args.running), &args.output);
    let wait = args.parts.wait.as_deref();
    let wait = wait.map(|text| request::duration("--wait", text)).transpose()?;
    let wait = wait.unwrap_or(Duration::ZERO);
    let talks = !output.quiet && !output.json;
    if args.parts.begin {
        let begun = job.begin_parts(running).await?;
        terminal::show_done(output, &begun, || parts_text(&begun));
        if talks {
            terminal::warnings(&begun.warnings);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let part = match request::part(args.parts.part.as_deref(), args.parts.tasks.as_deref())? {
        Some(part) => Some((stage(&job, args.parts.stage)?, part)),
        None => None,
    };
    let watch = Watch::new(output, None)?;
    let (observer, cancel) = (watch.observer(running), signals::cancel_on_signal());
    if let Some(part) = part {
        let done = job.run_part(part, running, wait, observer, cancel).await;
        watch.finish();
        let done = done?;
        terminal::show_done(output, &done, || part_text(&done));
        if talks {
            terminal::warnings(&done.warnings);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let done = job.finish_parts(running, wait, observer, cancel).await;
    watch.finish();
    let done = done?;
    terminal::show_done(output, &done, || report_text(&done, &phrases()));
    Ok(ExitCode::SUCCESS)
}

/// The stage of a part, which a plan with one stage need not name.
fn stage(job: &Prepared, given: Option<usize>) -> Result<usize, Error> {
    let stages = job.stages();
    match given {
        Some(stage) => Ok(stage),
        None if stages.len() == 1 => Ok(0),
        None => {
            let names: Vec<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
            let message = format!(
                "a part needs --stage: the plan has {} stages, {}, from 0 on",
                stages.len(),
                names.join(" and ")
            );
            Err(request::usage(message, None))
        }
    }
}
