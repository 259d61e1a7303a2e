//! `rechunk man`.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_mangen::Man;
use rechunk::Error;

use crate::args::Cli;
use crate::request::usage;
use crate::terminal;

/// Prints the page of the program, or writes all pages into `directory`.
pub(crate) fn run(directory: Option<&Path>) -> Result<ExitCode, Error> {
    let written = match directory {
        None => page().map(|page| terminal::print_bytes(&page)),
        Some(directory) => clap_mangen::generate_to(Cli::command(), directory),
    };
    written.map_err(|error| {
        let place = directory.unwrap_or(Path::new("."));
        usage(format!("cannot write manual pages into {}: {error}", place.display()), None)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn page() -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(Cli::command()).render(&mut page)?;
    Ok(page)
}
