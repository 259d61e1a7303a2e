//! Log messages of the libraries, on stderr or in a file.

use std::fs::OpenOptions;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;

use rechunk::Error;
use tracing_subscriber::EnvFilter;

use crate::args::{Cli, Command};
use crate::request::usage;

/// Starts logging: `RUST_LOG` decides, else `-vv` shows our debug messages, and a file gets at
/// least what is worth knowing afterwards. A server shows its requests.
pub(crate) fn start(cli: &Cli) -> Result<(), Error> {
    let is_server = matches!(cli.command, Command::Serve(_));
    let default = match (verbose(&cli.command) > 1, &cli.log_file) {
        _ if is_server => "warn,rechunk_serve=info",
        (true, _) => "warn,rechunk=debug,rechunk_exec=debug,rechunk_store=debug",
        (false, Some(_)) => "warn,rechunk=info,rechunk_exec=info,rechunk_store=info",
        // Of a certificate that is not trusted, the error says all.
        (false, None) => "warn,rustls_platform_verifier=off",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let log = tracing_subscriber::fmt().with_env_filter(filter);
    let started = if let Some(path) = &cli.log_file {
        let file = Mutex::new(open(path)?);
        log.with_ansi(false).with_writer(file).try_init()
    } else {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_coloured = std::io::stderr().is_terminal() && !no_color;
        log.with_ansi(is_coloured).with_writer(std::io::stderr).try_init()
    };
    if let Err(error) = started {
        super::say(&format!("warning: no logging: {error}"));
    }
    Ok(())
}

/// Opens a log file; what is in it stays.
fn open(path: &Path) -> Result<std::fs::File, Error> {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.map_err(|error| {
        usage(format!("--log-file: cannot write to {}: {error}", path.display()), None)
    })
}

fn verbose(command: &Command) -> u8 {
    match command {
        Command::Copy(args) => args.output.verbose,
        Command::Apply(args) => args.output.verbose,
        Command::Pyramid(args) => args.output.verbose,
        Command::Plan(args) => args.output.verbose,
        Command::Run(args) => args.output.verbose,
        Command::Verify(args) => args.output.verbose,
        Command::Demo(args) => args.output.verbose,
        Command::Info(_)
        | Command::Status(_)
        | Command::Clean(_)
        | Command::Migrate(_)
        | Command::Probe(_)
        | Command::Serve(_)
        | Command::Completions { .. }
        | Command::Man { .. } => 0,
    }
}
