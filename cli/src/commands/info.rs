//! `rechunk info`.

use std::process::ExitCode;

use rechunk::{Access, Error};
use rechunk_render::info_text;

use crate::args::InfoArgs;
use crate::{request, terminal};

pub(crate) async fn run(args: InfoArgs) -> Result<ExitCode, Error> {
    let options = request::open_options(args.axes.as_deref(), &args.raw)?;
    let access = args.access.as_deref().map(Access::parse_list).transpose()?.unwrap_or_default();
    let stores = request::stores(&args.stores)?;
    let info = rechunk::info(&args.path, &options, &access, &stores).await?;
    if args.json {
        terminal::print_json(&info);
    } else {
        terminal::print(&info_text(&info));
    }
    Ok(ExitCode::SUCCESS)
}
