//! The multistage baseline equals rechunker's own plans of three stages and more
//! (`fixtures/golden/multistage_cases.json`), but for what floating point rounds down.

use rechunk_planner::baseline::multistage_rechunking_plan;
use serde::Deserialize;

use crate::cases::{Question, Triple};
use crate::triples;

const GOLDEN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/golden/multistage_cases.json");

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    #[serde(flatten)]
    question: Question,
    plan: Vec<Triple>,
    excessive_io_warning: bool,
    /// The plan with exact roots, where rechunker's rounding makes another.
    exact_root_plan: Option<Vec<Triple>>,
    exact_root_warning: Option<bool>,
}

#[test]
fn plans_of_many_stages_are_rechunkers() {
    let golden: Golden = serde_json::from_str(&std::fs::read_to_string(GOLDEN).unwrap()).unwrap();
    let of_stages =
        |stages: usize| golden.cases.iter().filter(|case| case.plan.len().min(5) == stages).count();
    assert_eq!([of_stages(3), of_stages(4), of_stages(5)], [120, 80, 40]);
    for case in &golden.cases {
        let (rechunking, options) = case.question.ask();
        let plan = multistage_rechunking_plan(&rechunking, &options).unwrap();
        let expected = case.exact_root_plan.as_ref().unwrap_or(&case.plan);
        assert_eq!(&triples(&plan), expected, "{}", case.id);
        let expected = case.exact_root_warning.unwrap_or(case.excessive_io_warning);
        assert_eq!(plan.excessive_io_warning, expected, "{}", case.id);
    }
}

/// Floating point takes a geometric mean that is a whole number for a little less.
/// With another number of stages after that, plans cannot be compared extent by extent.
#[test]
fn rounding_takes_one_element_at_most() {
    let golden: Golden = serde_json::from_str(&std::fs::read_to_string(GOLDEN).unwrap()).unwrap();
    let rounded =
        golden.cases.iter().filter_map(|case| Some((case, case.exact_root_plan.as_ref()?)));
    let alike: Vec<_> = rounded.filter(|(case, exact)| exact.len() == case.plan.len()).collect();
    assert!(alike.len() > 10, "{}", alike.len());
    for (case, exact) in alike {
        let extents = |plan: &[Triple]| -> Vec<u64> {
            let shapes = plan.iter().flat_map(|(read, between, write)| [read, between, write]);
            shapes.flatten().copied().collect()
        };
        let pairs = extents(&case.plan).into_iter().zip(extents(exact));
        assert!(pairs.into_iter().all(|(theirs, ours)| ours - theirs <= 1), "{}", case.id);
    }
}
