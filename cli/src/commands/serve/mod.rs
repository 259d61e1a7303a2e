//! `rechunk serve`.

mod database;
mod datastore;
mod import;
mod refused;
mod started;
mod tls;
mod token;

use std::path::Path;
use std::process::ExitCode;

use rechunk::Error;
use rechunk_serve::{CorsOrigin, file_view};

use crate::args::{ServeArgs, ServeCommand};
use crate::request::usage;
use refused::refused;
use started::Settings;

pub(crate) async fn run(args: ServeArgs) -> Result<ExitCode, Error> {
    match (args.command, args.path) {
        (Some(ServeCommand::Datastore(args)), _) => datastore::run(args).await,
        (Some(ServeCommand::Import(args)), _) => import::run(args).await,
        (Some(ServeCommand::Token { command }), _) => token::run(command).await,
        (None, Some(path)) => {
            let certificate = tls::certificate(&args.tls).await?;
            let settings = Settings { listen: args.listen, certificate };
            files(&path, settings, args.cors.as_deref()).await
        }
        // The parser asks for one of them.
        (None, None) => Err(usage("there is nothing to serve".to_owned(), Some("give a path"))),
    }
}

async fn files(path: &Path, settings: Settings, cors: Option<&str>) -> Result<ExitCode, Error> {
    let cors = cors.map(str::parse::<CorsOrigin>).transpose();
    let cors = cors.map_err(|error| refused(&error).given_to("--cors"))?;
    let view = file_view(path, cors.as_ref()).map_err(|error| refused(&error))?;
    started::serve(view, settings).await
}
