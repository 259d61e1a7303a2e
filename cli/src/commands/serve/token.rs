//! `rechunk serve token`.

use std::process::ExitCode;

use rechunk::Error;
use rechunk_serve::{Role, Token, TokenError, TokenFile};
use serde_json::json;

use super::refused::unreadable;
use crate::args::TokenCommand;
use crate::request::usage;
use crate::terminal;

pub(crate) async fn run(command: TokenCommand) -> Result<ExitCode, Error> {
    match command {
        TokenCommand::Add { file, name, role, dataset } => {
            // The parser takes no other word.
            let role = Role::from_name(&role).unwrap_or(Role::Read);
            let datasets = (!dataset.is_empty()).then_some(dataset);
            let tokens = open(&file)?;
            let token = tokens.add(&name, role, datasets).await;
            terminal::print(&token.map_err(|error| refused(error, &file))?);
            terminal::say(&format!("this is the only time that the token of {name} is shown"));
        }
        TokenCommand::List { file, json } => {
            let tokens = open(&file)?.list().await.map_err(|error| refused(error, &file))?.tokens;
            if json {
                let one = |token: &Token| {
                    let role = token.role.name();
                    json!({"name": token.name, "role": role, "datasets": token.datasets})
                };
                terminal::print_json(
                    &json!({"tokens": tokens.iter().map(one).collect::<Vec<_>>()}),
                );
            } else if !tokens.is_empty() {
                terminal::print(&tokens.iter().map(line).collect::<Vec<_>>().join("\n"));
            }
        }
        TokenCommand::Revoke { file, name } => {
            open(&file)?.revoke(&name).await.map_err(|error| refused(error, &file))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(token: &Token) -> String {
    let of = token.datasets.as_ref().map_or_else(|| "all".to_owned(), |names| names.join(" "));
    format!("{}\t{}\t{of}", token.name, token.role.name())
}

fn open(path: &str) -> Result<TokenFile, Error> {
    TokenFile::at(path).map_err(|error| refused(error, path))
}

/// Why tokens cannot be used, in the words of the command line.
pub(crate) fn refused(error: TokenError, path: &str) -> Error {
    match error {
        TokenError::Name(reason) => usage(reason, None),
        other => unreadable(path, other.to_string()),
    }
}
