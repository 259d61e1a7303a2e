//! `rechunk verify`.

use std::process::ExitCode;
use std::sync::Arc;

use rechunk::{Class, Compared, Error, Planning};
use rechunk_render::{comparison_text, group_comparison_text};
use serde_json::json;

use crate::allocator::freeing;
use crate::args::VerifyArgs;
use crate::terminal::{self, progress};
use crate::{exit_code, request, signals};

pub(crate) async fn run(args: VerifyArgs) -> Result<ExitCode, Error> {
    let memory_bytes =
        args.max_mem.as_deref().map(|text| request::bytes("--max-mem", text)).transpose()?;
    let mut planning = Planning::default();
    planning.memory_bytes = memory_bytes;
    planning.threads = args.threads;
    let observer = progress::observer(&args.output);
    let cancel = signals::cancel_on_signal();
    let options = request::open_options(args.axes.as_deref(), &args.raw)?;
    let told = Arc::new(freeing(Arc::clone(&observer) as _, false));
    let stores = request::stores(&args.stores)?;
    let locations = (args.a.as_str(), args.b.as_str());
    let outcome = rechunk::verify_any(locations, &options, &planning, told, cancel, &stores).await;
    observer.finish();
    let compared = match outcome {
        Err(Error::Unlike { a, b, difference }) if args.output.json => {
            terminal::print_json(&json!({
                "equal": false,
                "differing_elements": null,
                "difference": difference,
            }));
            return Err(Error::Unlike { a, b, difference });
        }
        outcome => outcome?,
    };
    if args.output.json {
        terminal::print_json(&compared);
    } else if !args.output.quiet {
        let (a, b) = locations;
        terminal::print(&match &compared {
            Compared::Arrays(comparison) => comparison_text(a, b, comparison),
            Compared::Groups(comparison) => group_comparison_text(a, b, comparison),
        });
    }
    let equal = match &compared {
        Compared::Arrays(comparison) => comparison.equal,
        Compared::Groups(comparison) => comparison.equal,
    };
    Ok(if equal { ExitCode::SUCCESS } else { exit_code::of(Class::Differ) })
}
