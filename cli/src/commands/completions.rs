//! `rechunk completions`.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::Cli;
use crate::terminal;

pub(crate) fn run(shell: clap_complete::Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rechunk", &mut script);
    terminal::print_bytes(&script);
    ExitCode::SUCCESS
}
