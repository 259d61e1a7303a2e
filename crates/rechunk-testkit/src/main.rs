//! `rechunk-testkit serve s3|gcs|http`: a test server for use from a shell.

mod arguments;

use std::io::Write;
use std::ops::Deref;
use std::process::ExitCode;
use std::time::Duration;

use arguments::{Protocol, Serve, USAGE, parse};
use rechunk_testkit::{GcsServer, HttpServer, S3Server, Server, ServerOptions};
use tokio::signal::unix::{SignalKind, signal};

/// Interval at which the log is emptied, so that a server that runs for days does not grow.
const LOG_AGE: Duration = Duration::from_mins(1);

fn main() -> ExitCode {
    let result = match parse(std::env::args().skip(1)) {
        Ok(Some(request)) => serve(&request),
        Ok(None) => say(USAGE),
        Err(message) => Err(format!("{message}\n\n{USAGE}").into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With nowhere to write to, the exit code says it.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn say(text: &str) -> Outcome {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{text}")?;
    Ok(stdout.flush()?)
}

fn serve(request: &Serve) -> Outcome {
    let options = ServerOptions {
        root: request.root.clone(),
        port: request.port,
        faults: request.faults.clone(),
        latency: request.latency,
    };
    match request.protocol {
        Protocol::S3 => {
            let server = S3Server::start(&options)?;
            announce(&server, &server.url("KEY"), &server.environment())?;
            run(server)
        }
        Protocol::Gcs => {
            let server = GcsServer::start(&options)?;
            announce(&server, &server.url("KEY"), &server.environment())?;
            run(server)
        }
        Protocol::Http => {
            let server = HttpServer::start(&options)?;
            server.set_ignore_ranges(request.ignores_ranges);
            announce(&server, &server.url("KEY"), &[])?;
            run(server)
        }
    }
}

/// Says where the server is and how to get there, in words a shell understands.
fn announce(server: &Server, url: &str, environment: &[(&str, String)]) -> Outcome {
    say(&format!("# {} serves {url}\n# Ctrl-C stops it", server.endpoint()))?;
    environment.iter().try_for_each(|(name, value)| say(&format!("export {name}='{value}'")))
}

/// Keeps the server until a signal to end.
fn run(server: impl Deref<Target = Server>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut tidy = tokio::time::interval(LOG_AGE);
        loop {
            tokio::select! {
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
                _ = tidy.tick() => server.clear_requests(),
            }
        }
        Ok::<(), std::io::Error>(())
    })?;
    drop(server);
    Ok(())
}
