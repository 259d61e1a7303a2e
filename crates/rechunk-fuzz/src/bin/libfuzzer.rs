//! The targets under libFuzzer: `RECHUNK_FUZZ_TARGET` names one. `just fuzz` builds and runs it.
#![no_main]

use std::panic;
use std::sync::OnceLock;
use std::thread;

use libfuzzer_sys::fuzz_target;
use rechunk_fuzz::{TARGETS, Target, target};

fn chosen() -> Target {
    static CHOSEN: OnceLock<Target> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let name = std::env::var("RECHUNK_FUZZ_TARGET").unwrap_or_default();
        target(&name).unwrap_or_else(|| {
            let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
            eprintln!("RECHUNK_FUZZ_TARGET is {name:?}; there are {}", names.join(", "));
            std::process::exit(2)
        })
    })
}

/// Lets a panic of the crate `parquet` pass on a thread that does blocking work. It has assertions
/// that hostile files meet, and the caller turns them into an error. One that nobody turns comes
/// back to the thread of the target, where it is a find as any other.
fn let_contained_panics_pass() {
    let target_thread = thread::current().id();
    let find = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let is_contained = info.location().is_some_and(|at| at.file().contains("/parquet-"));
        if !is_contained || thread::current().id() == target_thread {
            find(info);
        }
    }));
}

fuzz_target!(init: let_contained_panics_pass(), |data: &[u8]| {
    chosen()(data);
});
