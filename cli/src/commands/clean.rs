//! `rechunk clean`.

use std::process::ExitCode;

use rechunk::Error;
use rechunk_render::cleaned_text;

use crate::args::StatusArgs;
use crate::{request, terminal};

pub(crate) async fn run(args: StatusArgs) -> Result<ExitCode, Error> {
    let cleaned = rechunk::clean(&args.target, &request::stores(&args.stores)?).await?;
    if args.json {
        terminal::print_json(&cleaned);
    } else {
        terminal::print(&cleaned_text(&cleaned));
    }
    Ok(ExitCode::SUCCESS)
}
