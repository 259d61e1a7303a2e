//! Ours is never dearer than the literature's plan, nor dominated by it.

#[path = "support/golden.rs"]
mod golden;

#[test]
fn no_golden_case_is_dearer_or_dominated() {
    let mut failures = Vec::new();
    let summary = golden::compare_all(|line| failures.push(line));
    assert!(summary.cases > 500, "{summary}");
    assert!(failures.is_empty(), "{summary}\n{}", failures.join("\n"));
}
