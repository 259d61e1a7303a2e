//! `rechunk verify`.

use std::process::ExitCode;
use std::sync::Arc;

use rechunk::{Class, Error, Planning};
use serde_json::json;

use crate::allocator::Freeing;
use crate::args::VerifyArgs;
use crate::render::{self, progress};
use crate::{exit_code, request, signals};

pub(crate) async fn run(args: VerifyArgs) -> Result<ExitCode, Error> {
    let memory_bytes =
        args.max_mem.as_deref().map(|text| request::bytes("--max-mem", text)).transpose()?;
    let planning = Planning { memory_bytes, threads: args.threads, ..Planning::default() };
    let observer = progress::observer(&args.output);
    let cancel = signals::cancel_on_signal();
    let options = request::open_options(args.axes.as_deref(), &args.raw)?;
    let told = Arc::new(Freeing::new(Arc::clone(&observer) as _, false));
    let stores = request::stores(&args.stores)?;
    let outcome =
        rechunk::verify(&args.a, &args.b, &options, &planning, told, cancel, &stores).await;
    observer.finish();
    let comparison = match outcome {
        Err(Error::Unlike { a, b, difference }) if args.output.json => {
            render::print_json(&json!({
                "equal": false,
                "differing_elements": null,
                "difference": difference,
            }));
            return Err(Error::Unlike { a, b, difference });
        }
        outcome => outcome?,
    };
    if args.output.json {
        render::print_json(&comparison);
    } else if !args.output.quiet {
        render::print(&render::report::comparison(&args.a, &args.b, &comparison));
    }
    Ok(if comparison.equal { ExitCode::SUCCESS } else { exit_code::of(Class::Differ) })
}
