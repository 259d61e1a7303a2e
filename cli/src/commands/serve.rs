//! `rechunk serve`.

use std::process::ExitCode;

use rechunk::{Error, StoreError};
use rechunk_serve::{CorsOrigin, Limits, ServeError, Server, file_view};

use crate::args::ServeArgs;
use crate::request::usage;
use crate::{signals, terminal};

const STOPPING: &str = "stopping; requests that are under way are finished";

pub(crate) async fn run(args: ServeArgs) -> Result<ExitCode, Error> {
    let cors = args.cors.as_deref().map(str::parse::<CorsOrigin>).transpose();
    let cors = cors.map_err(|error| refused(&error).given_to("--cors"))?;
    let view = file_view(&args.path, cors.as_ref()).map_err(|error| refused(&error))?;
    let stop = signals::cancel_on_signal_saying(STOPPING);
    let server = Server::bind(&args.listen, Limits::default()).await;
    let server = server.map_err(|error| refused(&error).given_to("--listen"))?;
    terminal::print(&format!("listening on http://{}", server.address()));
    server.run(view, stop).await;
    Ok(ExitCode::SUCCESS)
}

fn refused(error: &ServeError) -> Error {
    match error {
        ServeError::Directory { path, source } => {
            let (location, reason) = (path.clone(), source.to_string());
            let source = StoreError::Location { location: path.clone(), reason, source: None };
            Error::SourceStore { location, source: Box::new(source) }
        }
        other => usage(other.to_string(), None),
    }
}
