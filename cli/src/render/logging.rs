//! Log messages of the libraries, on stderr.

use tracing_subscriber::EnvFilter;

use crate::args::Command;

/// Starts logging: `RUST_LOG` decides, else `-vv` shows our debug messages.
pub(crate) fn start(command: &Command) {
    let verbose = match command {
        Command::Copy(args) => args.output.verbose,
        Command::Plan(args) => args.output.verbose,
        Command::Run(args) => args.output.verbose,
        Command::Verify(args) => args.output.verbose,
        Command::Demo(args) => args.output.verbose,
        Command::Info(_)
        | Command::Status(_)
        | Command::Clean(_)
        | Command::Probe(_)
        | Command::Completions { .. } => 0,
    };
    let default = if verbose > 1 { "rechunk=debug,rechunk_exec=debug" } else { "warn" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let started =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
    if let Err(error) = started {
        super::say(&format!("warning: no logging: {error}"));
    }
}
