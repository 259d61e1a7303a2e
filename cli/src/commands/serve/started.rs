//! A server from its first line to its last request.

use std::process::ExitCode;

use rechunk::Error;
use rechunk_serve::{Certificate, Limits, Router, Server};

use super::refused::refused;
use crate::{allocator, signals, terminal};

const STOPPING: &str = "stopping; requests that are under way are finished";

/// Address and certificate of a server.
pub(super) struct Settings {
    /// Address to listen on.
    pub listen: String,
    /// Certificate, if by TLS.
    pub certificate: Option<Certificate>,
}

/// Answers with `router` until a signal.
pub(super) async fn serve(router: Router, settings: Settings) -> Result<ExitCode, Error> {
    let stop = signals::cancel_on_signal_saying(STOPPING);
    let server = Server::bind(&settings.listen, Limits::default()).await;
    let mut server = server.map_err(|error| refused(&error).given_to("--listen"))?;
    if let Some(certificate) = settings.certificate {
        server = server.with_certificate(certificate);
    }
    terminal::print(&format!("listening on {}", server.url()));
    allocator::keep_between_requests();
    server.run(router, stop).await;
    Ok(ExitCode::SUCCESS)
}
