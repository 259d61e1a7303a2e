//! `rechunk copy`.

use std::process::ExitCode;
use std::sync::Arc;

use rechunk::{Error, Job, Observer, Prepared, Running, TreeJob, TreeReport, is_remote};
use rechunk_render::{
    Record, Recorder, Sheet, group_report_text, group_text, job_svg, job_text, report_text,
};

use crate::allocator::Freeing;
use crate::args::{CopyArgs, OutputArgs};
use crate::html_file::HtmlFile;
use crate::phrases::phrases;
use crate::terminal::progress::Display;
use crate::terminal::{self, progress};
use crate::{request, signals};

pub(crate) async fn run(args: CopyArgs) -> Result<ExitCode, Error> {
    for file in [&args.svg, &args.html] {
        terminal::check_apart(file.as_deref(), &[&args.source, &args.target])?;
    }
    if args.target.starts_with("memory:") && !args.output.quiet && !args.dry_run {
        let text = "the target is in the memory of this process, and goes with it";
        terminal::warnings(&[text.to_owned()]);
    }
    let stores = request::planned_stores(&args.stores, args.planning.concurrency)?;
    let mut copy = request::of_copy(&args)?;
    // What is to be verified is compared with what was seen of the source.
    copy.planning.store_copies = !args.running.verify;
    copy.planning.candidates = shows_candidates(&args);
    match rechunk::prepare(copy, request::selection(&args.selection)?, &stores).await? {
        Prepared::Array(job) => Box::pin(copy_array(*job, &args)).await?,
        Prepared::Tree(job) => Box::pin(copy_group(*job, &args)).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn copy_array(mut job: Job, args: &CopyArgs) -> Result<(), Error> {
    if let Some(path) = &args.svg {
        terminal::write_file(path, &job_svg(&job))?;
    }
    let html = args.html.as_deref();
    if args.dry_run {
        if let Some(path) = html {
            HtmlFile::new(path, Sheet::of_job(&job)).write_plan()?;
        }
        show_plan(&job, &args.output);
        if !args.output.quiet {
            say_refused(job.check_missing().await);
        }
        if is_looked_at(args) {
            say_refused(job.check_target(request::running(&args.running)).await);
        }
        return Ok(());
    }
    Box::pin(run_job(job, request::running(&args.running), &args.output, html)).await
}

async fn copy_group(mut job: TreeJob, args: &CopyArgs) -> Result<(), Error> {
    refuse_for_group(args.svg.is_some(), "--svg")?;
    let html = args.html.as_deref();
    if args.dry_run {
        if let Some(path) = html {
            HtmlFile::new(path, Sheet::of_tree(&job)).write_plan()?;
        }
        show_group_plan(&job, &args.output);
        if !args.output.quiet {
            say_refused(job.check_missing().await);
        }
        if is_looked_at(args) {
            say_refused(job.check_target(request::running(&args.running)).await);
        }
        return Ok(());
    }
    Box::pin(run_group(job, request::running(&args.running), &args.output, html)).await
}

/// True if the plans that were compared with this one are shown somewhere.
fn shows_candidates(args: &CopyArgs) -> bool {
    let output = &args.output;
    let is_drawn = args.svg.is_some() || args.html.is_some();
    args.dry_run || is_drawn || output.json || output.verbose > 0
}

/// A plan can be looked at whether or not it may be run; a server is not asked for that.
fn is_looked_at(args: &CopyArgs) -> bool {
    !is_remote(&args.target) && !args.output.quiet
}

/// Warns of a reason why a plan would not be run.
pub(crate) fn say_refused(checked: Result<(), Error>) {
    if let Err(error) = checked {
        terminal::warnings(&[format!(
            "without --dry-run this is refused: {}",
            error.chain().join(": ")
        )]);
    }
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
        terminal::print_json(&TreeReport::of_plan(job));
    } else if !output.quiet {
        terminal::print(&group_text(job, false));
        terminal::warnings(&job.all_warnings());
    }
}

/// Runs the copy of a group: plan said before, progress while, report after.
async fn run_group(
    mut job: TreeJob,
    running: Running,
    output: &OutputArgs,
    html: Option<&str>,
) -> Result<(), Error> {
    let talk = !output.quiet && !output.json;
    job.check_target(running).await?;
    if talk {
        terminal::say(&group_text(&job, running.verify));
        terminal::warnings(&job.all_warnings());
    }
    let file = html.map(|path| HtmlFile::new(path, Sheet::of_tree(&job)));
    let watch = Watch::new(output, file)?;
    let observer = watch.observer(running);
    let outcome = job.run(running, observer, signals::cancel_on_signal()).await;
    let (file, record) = watch.finish();
    let page = file.map(|file| file.write_group_run(&record, outcome.as_ref()));
    let done = outcome?;
    if output.json {
        terminal::print_json(&done);
    } else if talk {
        terminal::say(&group_report_text(&done, &phrases()));
    }
    page.unwrap_or(Ok(()))
}

/// Prints the plan of a job: the object with `--json`, else the table on stdout.
pub(crate) fn show_plan(job: &Job, output: &OutputArgs) {
    if output.json {
        terminal::print_json(&job.plan_report());
    } else if !output.quiet {
        terminal::print(&job_text(job, true));
        terminal::warnings(&job.warnings);
    }
}

/// Runs a job: plan said before, progress while, report after; and with `html` a page of all that.
pub(crate) async fn run_job(
    mut job: Job,
    running: Running,
    output: &OutputArgs,
    html: Option<&str>,
) -> Result<(), Error> {
    let talk = !output.quiet && !output.json;
    job.check_target(running).await?;
    if talk {
        terminal::say(&job_text(&job, output.verbose > 0));
        terminal::warnings(&job.warnings);
    }
    let file = html.map(|path| HtmlFile::new(path, Sheet::of_job(&job)));
    let watch = Watch::new(output, file)?;
    let observer = watch.observer(running);
    let outcome = job.run(running, observer, signals::cancel_on_signal()).await;
    let (file, record) = watch.finish();
    let page = file.map(|file| file.write_run(&record, outcome.as_ref()));
    let done = outcome?;
    if output.json {
        terminal::print_json(&done);
    } else if talk {
        terminal::say(&report_text(&done));
    }
    page.unwrap_or(Ok(()))
}

/// Observers of a run: the display, and where a page is asked for, a recorder.
struct Watch {
    display: Arc<Display>,
    page: Option<(HtmlFile, Arc<Recorder>)>,
}

impl Watch {
    /// Writes the page of the plan, if one is asked for, before anything is run.
    fn new(output: &OutputArgs, file: Option<HtmlFile>) -> Result<Self, Error> {
        let display = progress::observer(output);
        let page = file.map(|file| {
            file.write_begun()?;
            Ok((file, Recorder::new(Arc::clone(&display) as _)))
        });
        Ok(Self { display, page: page.transpose()? })
    }

    fn observer(&self, running: Running) -> Arc<dyn Observer> {
        let shown: Arc<dyn Observer> = match &self.page {
            Some((_, recorder)) => Arc::clone(recorder) as _,
            None => Arc::clone(&self.display) as _,
        };
        Arc::new(Freeing::new(shown, !running.verify))
    }

    /// Clears the display; what was noted, with the file to write it into.
    fn finish(self) -> (Option<HtmlFile>, Record) {
        self.display.finish();
        match self.page {
            Some((file, recorder)) => (Some(file), recorder.record()),
            None => (None, Record::default()),
        }
    }
}
