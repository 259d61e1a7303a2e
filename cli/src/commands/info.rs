//! `rechunk info`.

use std::process::ExitCode;

use rechunk::{Access, Error};

use crate::args::InfoArgs;
use crate::{render, request};

pub(crate) async fn run(args: InfoArgs) -> Result<ExitCode, Error> {
    let options = request::open_options(args.axes.as_deref(), &args.raw)?;
    let access = args.access.as_deref().map(Access::parse_list).transpose()?.unwrap_or_default();
    let stores = request::stores(&args.stores)?;
    let info = rechunk::info(&args.path, &options, &access, &stores).await?;
    if args.json {
        render::print_json(&info);
    } else {
        render::print(&render::info::text(&info));
    }
    Ok(ExitCode::SUCCESS)
}
