//! `rechunk status`.

use std::process::ExitCode;

use rechunk::Error;

use crate::args::StatusArgs;
use crate::{render, request};

pub(crate) async fn run(args: StatusArgs) -> Result<ExitCode, Error> {
    let status = rechunk::status(&args.target, &request::stores(&args.stores)?).await?;
    if args.json {
        render::print_json(&status);
    } else {
        render::print(&render::status::text(&status));
    }
    Ok(ExitCode::SUCCESS)
}
