//! A server from its first line to its last request.

use std::process::ExitCode;

use rechunk::Error;
use rechunk_serve::{Limits, Router, Server};

use super::refused::refused;
use crate::{allocator, signals, terminal};

const STOPPING: &str = "stopping; requests that are under way are finished";

/// Answers with `router` until a signal.
pub(crate) async fn serve(router: Router, listen: &str, limits: Limits) -> Result<ExitCode, Error> {
    let stop = signals::cancel_on_signal_saying(STOPPING);
    let server = Server::bind(listen, limits).await;
    let server = server.map_err(|error| refused(&error).given_to("--listen"))?;
    terminal::print(&format!("listening on http://{}", server.address()));
    allocator::keep_between_requests();
    server.run(router, stop).await;
    Ok(ExitCode::SUCCESS)
}
