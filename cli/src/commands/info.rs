//! `rechunk info`.

use std::process::ExitCode;

use rechunk::Error;

use crate::args::InfoArgs;
use crate::render;

pub(crate) async fn run(args: InfoArgs) -> Result<ExitCode, Error> {
    let info = rechunk::info(&args.path).await?;
    if args.json {
        render::print_json(&info);
    } else {
        render::print(&render::info::text(&info));
    }
    Ok(ExitCode::SUCCESS)
}
