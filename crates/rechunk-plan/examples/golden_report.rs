//! Plans every golden case of the literature and compares: `just golden-report`.
//!
//! For each case and each built-in profile: our plan with one task's box bounded by the case's
//! `max_mem`, against rechunker's plan as designed and as executed, priced by the same model.
#![allow(clippy::print_stdout, reason = "a report")]

#[path = "../tests/support/golden.rs"]
mod golden;

fn main() {
    let summary = golden::compare_all(|line| println!("{line}"));
    println!("{summary}");
    if summary.failures > 0 {
        std::process::exit(1);
    }
}
