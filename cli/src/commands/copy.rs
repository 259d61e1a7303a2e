//! `rechunk copy`.

use std::process::ExitCode;
use std::sync::Arc;

use rechunk::{Error, Job, Observer, Prepared, Running, is_remote};
use rechunk_render::{Record, Recorder, Sheet, Shown, copy_text, job_svg, report_text};

use crate::allocator::freeing;
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
    let mut copy = rechunk::prepare(copy, request::selection(&args.selection)?, &stores).await?;
    if let Some(path) = &args.svg {
        terminal::write_file(path, &job_svg(one_array(&copy, "--svg")?))?;
    }
    let (running, html) = (request::running(&args.running), args.html.as_deref());
    if !args.dry_run {
        Box::pin(run_copy(copy, running, &args.output, html)).await?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = html {
        HtmlFile::new(path, Sheet::of_copy(&copy)).write_plan()?;
    }
    show_plan(&copy, &args.output);
    if !args.output.quiet {
        say_refused(copy.check_missing().await);
    }
    if is_looked_at(&args) {
        say_refused(copy.check_target(running).await);
    }
    Ok(ExitCode::SUCCESS)
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

/// The copy of one array, of which alone some things are drawn or saved.
pub(crate) fn one_array<'a>(copy: &'a Prepared, option: &str) -> Result<&'a Job, Error> {
    match copy {
        Prepared::Array(job) => Ok(job),
        Prepared::Tree(_) => Err(request::usage(
            format!("{option} takes the plan of one array, and the source is a group"),
            Some("name one of its arrays; --json has the plans of all"),
        )),
    }
}

/// Prints a plan: the object with `--json`, else the table on stdout.
pub(crate) fn show_plan(copy: &Prepared, output: &OutputArgs) {
    if output.json {
        terminal::print_json(&copy.plan_report());
    } else if !output.quiet {
        terminal::print(&copy_text(copy, Shown { candidates: true, verifies: false }));
        terminal::warnings(&copy.warnings());
    }
}

/// Runs a copy: plan said before, progress while, report after; and with `html` a page of all that.
pub(crate) async fn run_copy(
    mut copy: Prepared,
    running: Running,
    output: &OutputArgs,
    html: Option<&str>,
) -> Result<(), Error> {
    let talk = !output.quiet && !output.json;
    copy.check_target(running).await?;
    if talk {
        let shown = Shown { candidates: output.verbose > 0, verifies: running.verify };
        terminal::say(&copy_text(&copy, shown));
        terminal::warnings(&copy.warnings());
    }
    let file = html.map(|path| HtmlFile::new(path, Sheet::of_copy(&copy)));
    let watch = Watch::new(output, file)?;
    let observer = watch.observer(running);
    let outcome = copy.run(running, observer, signals::cancel_on_signal()).await;
    let (file, record) = watch.finish();
    let page = file.map(|file| file.write_run(&record, outcome.as_ref()));
    let done = outcome?;
    terminal::show_done(output, &done, || report_text(&done, &phrases()));
    page.unwrap_or(Ok(()))
}

/// Observers of a run: the display, and where a page is asked for, a recorder.
pub(crate) struct Watch {
    display: Arc<Display>,
    page: Option<(HtmlFile, Arc<Recorder>)>,
}

impl Watch {
    /// Writes the page of the plan, if one is asked for, before anything is run.
    pub(crate) fn new(output: &OutputArgs, file: Option<HtmlFile>) -> Result<Self, Error> {
        let display = progress::observer(output);
        let page = file.map(|file| {
            file.write_begun()?;
            Ok::<_, Error>((file, Recorder::new(Arc::clone(&display) as _)))
        });
        Ok(Self { display, page: page.transpose()? })
    }

    pub(crate) fn observer(&self, running: Running) -> Arc<dyn Observer> {
        let shown: Arc<dyn Observer> = match &self.page {
            Some((_, recorder)) => Arc::clone(recorder) as _,
            None => Arc::clone(&self.display) as _,
        };
        Arc::new(freeing(shown, !running.verify))
    }

    /// Clears the display; what was noted, with the file to write it into.
    pub(crate) fn finish(self) -> (Option<HtmlFile>, Record) {
        self.display.finish();
        match self.page {
            Some((file, recorder)) => (Some(file), recorder.record()),
            None => (None, Record::default()),
        }
    }
}
