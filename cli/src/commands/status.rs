//! `rechunk status`.

use std::process::ExitCode;

use rechunk::Error;
use rechunk_render::status_text;

use crate::args::StatusArgs;
use crate::phrases::phrases;
use crate::{request, terminal};

pub(crate) async fn run(args: StatusArgs) -> Result<ExitCode, Error> {
    let status = rechunk::status(&args.target, &request::stores(&args.stores)?).await?;
    if args.json {
        terminal::print_json(&status);
    } else {
        terminal::print(&status_text(&status, &phrases()));
    }
    Ok(ExitCode::SUCCESS)
}
