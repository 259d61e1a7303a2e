//! `rechunk completions`.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::Cli;
use crate::render;

pub(crate) fn run(shell: clap_complete::Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rechunk", &mut script);
    render::print_bytes(&script);
    ExitCode::SUCCESS
}
