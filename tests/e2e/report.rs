//! The report object of `--json`: every field of the contract, and the promise that what was said
//! is what happened.

use serde_json::Value;

const ROLES: [&str; 3] = ["source", "intermediate", "target"];
const ESTIMATED: [&str; 9] = [
    "get_requests",
    "put_requests",
    "decoded_read_bytes",
    "decoded_written_bytes",
    "read_bytes",
    "written_bytes",
    "objects",
    "part_requests",
    "copy_requests",
];
const COUNTED: [&str; 3] = ["get_missing", "put_skipped", "http_attempts"];
/// A number of the report, by its path.
#[track_caller]
pub(crate) fn number(report: &Value, path: &str) -> u64 {
    field(report, path).as_u64().unwrap_or_else(|| panic!("{path} is no count: {report:#}"))
}

/// A text of the report, by its path.
#[track_caller]
pub(crate) fn text<'a>(report: &'a Value, path: &str) -> &'a str {
    field(report, path).as_str().unwrap_or_else(|| panic!("{path} is no text: {report:#}"))
}

#[track_caller]
fn field<'a>(report: &'a Value, path: &str) -> &'a Value {
    let pointer = format!("/{}", path.replace('.', "/"));
    report.pointer(&pointer).unwrap_or_else(|| panic!("{path} is missing in {report:#}"))
}

/// The fields that a plan has.
#[track_caller]
pub(crate) fn assert_planned(report: &Value) {
    text(report, "plan.kind");
    assert_eq!(text(report, "plan.fingerprint").len(), 64);
    let stages = field(report, "plan.stages").as_array().unwrap();
    assert!(!stages.is_empty());
    for stage in stages {
        text(stage, "name");
        for path in ["tasks", "tasks_at_once", "memory_bytes"] {
            number(stage, path);
        }
        for path in ["read_box", "write_box"] {
            assert!(field(stage, path).is_array());
        }
    }
    for role in ROLES {
        for name in ESTIMATED {
            number(report, &format!("estimate.{role}.{name}"));
        }
    }
    let (planned, budget) =
        (number(report, "memory.planned_peak_bytes"), number(report, "memory.budget_bytes"));
    assert!(planned <= budget, "{planned} planned, {budget} allowed");
}

/// Requests and decoded bytes of a role are those of the plan. A missing chunk and a chunk that
/// need not be written are no requests, but are counted beside them; what is known to be the fill
/// value is not decoded either.
#[track_caller]
fn assert_as_planned(report: &Value, role: &str) {
    let kind = text(report, "plan.kind");
    let gaps = number(report, &format!("traffic.{role}.get_missing"))
        + number(report, &format!("traffic.{role}.put_skipped"));
    for (name, beside) in [
        ("get_requests", Some("get_missing")),
        ("put_requests", Some("put_skipped")),
        ("decoded_read_bytes", None),
        ("decoded_written_bytes", None),
    ] {
        let planned = number(report, &format!("estimate.{role}.{name}"));
        let beside = beside.map_or(0, |beside| number(report, &format!("traffic.{role}.{beside}")));
        let counted = number(report, &format!("traffic.{role}.{name}")) + beside;
        let is_dense = gaps == 0 || name.ends_with("requests");
        if is_dense {
            assert_eq!(counted, planned, "{role}.{name} of a {kind} plan");
        } else {
            assert!(counted <= planned, "{role}.{name} of a {kind} plan: {counted} > {planned}");
        }
    }
}

/// The store has copied every object itself, and nothing was read or written here.
#[track_caller]
fn assert_copied_as_planned(report: &Value) {
    let of = |path: &str| number(report, &format!("traffic.{path}"));
    let planned = number(report, "estimate.target.copy_requests");
    assert_eq!(of("target.copy_requests") + of("target.put_skipped"), planned);
    assert_eq!(of("target.objects"), of("target.copy_requests"));
    assert_eq!(of("source.get_missing"), of("target.put_skipped"));
    for role in ROLES {
        for name in ["get_requests", "put_requests", "part_requests", "read_bytes", "written_bytes"]
        {
            assert_eq!(of(&format!("{role}.{name}")), 0, "{role}.{name}");
            assert_eq!(number(report, &format!("estimate.{role}.{name}")), 0, "{role}.{name}");
        }
    }
}

/// The fields that a finished run has, and that it did what its plan said.
#[track_caller]
pub(crate) fn assert_done(report: &Value) {
    assert_planned(report);
    for role in ROLES {
        for name in ESTIMATED.iter().chain(&COUNTED) {
            number(report, &format!("traffic.{role}.{name}"));
        }
    }
    if number(report, "estimate.target.copy_requests") > 0 {
        assert_copied_as_planned(report);
    } else {
        for role in ROLES {
            assert_as_planned(report, role);
        }
    }
    for name in ["get", "put", "head", "list", "delete"] {
        number(report, &format!("traffic.control.{name}"));
    }
    assert!(number(report, "memory.peak_rss_bytes") > 0);
    assert_eq!(number(report, "tasks.done"), number(report, "tasks.total"));
    number(report, "tasks.resumed");
    assert!(field(report, "elapsed_seconds").as_f64().unwrap() > 0.0);
}
