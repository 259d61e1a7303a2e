//! `rechunk info`.

use std::process::ExitCode;

use rechunk::Error;

use crate::args::InfoArgs;
use crate::{render, request};

pub(crate) async fn run(args: InfoArgs) -> Result<ExitCode, Error> {
    let options = request::open_options(args.axes.as_deref(), &args.raw)?;
    let info = rechunk::info(&args.path, &options, &request::stores(&args.stores)?).await?;
    if args.json {
        render::print_json(&info);
    } else {
        render::print(&render::info::text(&info));
    }
    Ok(ExitCode::SUCCESS)
}
