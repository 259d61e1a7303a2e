//! The targets under libFuzzer: `RECHUNK_FUZZ_TARGET` names one. `just fuzz` builds and runs it.
#![no_main]

use std::sync::OnceLock;

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

fuzz_target!(|data: &[u8]| chosen()(data));
