//! The `rechunk` command: parses, calls the library, says what happened. No logic of its own.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "a test waits for its signal"))]

mod allocator;
mod apply_request;
mod args;
mod commands;
mod demo_data;
mod exit_code;
mod html_file;
mod job;
mod phrases;
mod pyramid_request;
mod request;
mod signals;
mod terminal;

use std::process::ExitCode;

use rechunk::Runtime;

use crate::args::Command;
use crate::terminal::{print_error, print_error_json};

fn main() -> ExitCode {
    allocator::configure();
    let (cli, file) = match job::command_line() {
        Ok(read) => read,
        Err(error) => {
            print_error(&error);
            return exit_code::of(error.class());
        }
    };
    if let Err(error) = terminal::logging::start(&cli) {
        print_error(&error);
        return exit_code::of(error.class());
    }
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            terminal::say(&format!("error: cannot start threads: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let wants_json = cli.command.wants_json();
    let outcome = runtime.block_on(async {
        signals::survive_file_size_limits();
        dispatch(cli.command).await
    });
    // A read that hangs must not keep an interrupted process from ending.
    runtime.shutdown_background();
    match outcome {
        Ok(_) if terminal::output_failed() => ExitCode::FAILURE,
        Ok(code) => code,
        Err(error) => {
            let error = match file {
                Some(file) => file.explain(error),
                None => error,
            };
            print_error(&error);
            if wants_json && !terminal::has_printed_json() {
                print_error_json(&error);
            }
            exit_code::of(error.class())
        }
    }
}

async fn dispatch(command: Command) -> Result<ExitCode, rechunk::Error> {
    match command {
        // Plans lie in it, some of them twice: too large for the stack of every command.
        Command::Copy(args) => Box::pin(commands::copy::run(args)).await,
        Command::Apply(args) => Box::pin(commands::apply::run(*args)).await,
        Command::Pyramid(args) => Box::pin(commands::pyramid::run(*args)).await,
        Command::Migrate(args) => Box::pin(commands::migrate::run(args)).await,
        Command::Plan(args) => Box::pin(commands::plan::run(args)).await,
        Command::Run(args) => Box::pin(commands::run::run(args)).await,
        Command::Info(args) => commands::info::run(args).await,
        Command::Verify(args) => commands::verify::run(args).await,
        Command::Status(args) => commands::status::run(args).await,
        Command::Clean(args) => Box::pin(commands::clean::run(args)).await,
        Command::Probe(args) => commands::probe::run(args).await,
        Command::Serve(args) => Box::pin(commands::serve::run(args)).await,
        Command::Demo(args) => Box::pin(commands::demo::run(args)).await,
        Command::Completions { shell } => Ok(commands::completions::run(shell)),
        Command::Man { directory } => commands::man::run(directory.as_deref()),
    }
}
