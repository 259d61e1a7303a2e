//! `rechunk status`.

use std::io::{IsTerminal, stdout};
use std::process::ExitCode;

use rechunk::{Error, RunState, Status};
use rechunk_render::{status_page, status_text};

use crate::args::WatchArgs;
use crate::phrases::phrases;
use crate::{request, signals, terminal};

/// Moves to the first line of a terminal and clears it.
const FROM_THE_TOP: &str = "\x1b[H\x1b[2J";

pub(crate) async fn run(args: WatchArgs) -> Result<ExitCode, Error> {
    let every = args.watch.as_deref().map(|text| request::duration("--watch", text)).transpose()?;
    let stores = request::stores(&args.of.stores)?;
    terminal::check_apart(args.html.as_deref(), &[&args.of.target])?;
    let write_page = |status: &Status| match &args.html {
        Some(path) => terminal::write_file(path, &status_page(status, every, &phrases())),
        None => Ok(()),
    };
    let Some(every) = every else {
        let status = rechunk::status(&args.of.target, &stores).await?;
        write_page(&status)?;
        show(&status, args.of.json, &status_text(&status, &phrases()));
        return Ok(ExitCode::SUCCESS);
    };
    let is_screen = stdout().is_terminal() && !args.of.json;
    let before = if is_screen { FROM_THE_TOP } else { "" };
    let cancel = signals::cancel_on_signal_saying("no longer watching");
    let mut shown = String::new();
    loop {
        let status = rechunk::status(&args.of.target, &stores).await?;
        write_page(&status)?;
        let text = status_text(&status, &phrases());
        if text != shown {
            show(&status, args.of.json, &format!("{before}{text}"));
            shown = text;
        }
        if matches!(status.state, RunState::None | RunState::Finished) {
            return Ok(ExitCode::SUCCESS);
        }
        tokio::select! {
            () = cancel.cancelled() => return Ok(ExitCode::SUCCESS),
            () = tokio::time::sleep(every) => {}
        }
    }
}

fn show(status: &Status, is_json: bool, text: &str) {
    if is_json {
        terminal::print_json(status);
    } else {
        terminal::print(text);
    }
}
