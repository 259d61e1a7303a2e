//! `rechunk clean`.

use std::process::ExitCode;

use rechunk::Error;

use crate::args::StatusArgs;
use crate::{render, request};

pub(crate) async fn run(args: StatusArgs) -> Result<ExitCode, Error> {
    let cleaned = rechunk::clean(&args.target, &request::stores(&args.stores)?).await?;
    if args.json {
        render::print_json(&cleaned);
    } else {
        render::print(&render::status::cleaned(&cleaned));
    }
    Ok(ExitCode::SUCCESS)
}
