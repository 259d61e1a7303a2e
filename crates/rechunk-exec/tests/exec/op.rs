//! Operations on elements run through the stages, lanes and ways that copies do.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use rechunk_exec::{Op, OpElements};
use rechunk_grid::DataType;
use rechunk_plan::{Blend, Boundary, Kernel, Levels, OpSpec, Plan, Strategy as Kind, Window};
use rechunk_store::Meter;

use crate::case::{Case, execute, runtime};
use crate::oracle::assert_traffic;
use crate::strategies::cases;

/// Inverts every bit; refuses to where its settings say so.
#[derive(Debug)]
struct Invert;

impl Op for Invert {
    fn computes(&self, spec: &OpSpec, _: DataType) -> bool {
        spec.name == "invert"
    }

    fn apply(&self, spec: &OpSpec, elements: OpElements<'_>) -> Result<(), String> {
        if spec.settings.contains_key("fails") {
            return Err("it was told to".to_owned());
        }
        for byte in elements.bytes.iter_mut() {
            *byte = !*byte;
        }
        Ok(())
    }
}

fn invert() -> OpSpec {
    OpSpec { name: "invert".to_owned(), settings: BTreeMap::default() }
}

fn inverting(case: &Case, stages: impl Fn(usize) -> bool) -> Option<Plan> {
    let mut plan = case.plan()?;
    for number in (0..plan.stages.len()).filter(|&number| stages(number)) {
        plan.stages[number].kernel = Kernel::Op(invert());
    }
    Some(plan)
}

fn is_gappy(case: &Case) -> bool {
    case.source.shards.is_some() && case.has_gaps()
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Direct, Kind::Pull, Kind::Keep, Kind::PushPull, Kind::Memory])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn each_element_is_computed_once(case in cases(kinds()), in_first: bool, in_last: bool) {
        let last = case.plan().map_or(0, |plan| plan.stages.len() - 1);
        let is_op = |number| in_first && number == 0 || in_last && number == last;
        let Some(plan) = inverting(&case, is_op) else { return Ok(()) };
        let times = (0..plan.stages.len()).filter(|&number| is_op(number)).count();
        runtime().block_on(async {
            let prepared = case.prepare().await;
            let meter = Meter::new();
            let mut execution = prepared.execution(&case, &plan, &meter);
            execution.ops.push(Arc::new(Invert));
            let report = execute(execution, None).await;
            prop_assert!(report.is_ok(), "{}: {plan:?}", report.unwrap_err());
            if !is_gappy(&case) {
                assert_traffic(&plan, &meter.traffic())?;
            }
            let mut expected = prepared.elements.clone();
            if times == 1 {
                for byte in &mut expected {
                    *byte = !*byte;
                }
            }
            let found = case.read_all(&case.target, &prepared.target).await;
            prop_assert_eq!(found, expected, "{:?}", plan);
            Ok(())
        })?;
    }
}

/// Runs a plan that is to fail; the error as text.
fn refused(change: impl FnOnce(&mut Plan), has_op: bool) -> String {
    let case = crate::faults::case(Kind::Pull);
    let mut plan = inverting(&case, |_| true).unwrap();
    change(&mut plan);
    runtime().block_on(async {
        let prepared = case.prepare().await;
        let mut execution = prepared.execution(&case, &plan, &Meter::new());
        execution.ops.extend(has_op.then(|| Arc::new(Invert) as Arc<dyn Op>));
        execute(execution, None).await.unwrap_err().to_string()
    })
}

#[test]
fn kernels_that_nothing_computes_are_refused_by_name() {
    let error = refused(|_| {}, false);
    assert!(error.contains("the kernel op `invert`, which this program has not"), "{error}");
    let rule = || "mean".to_owned();
    let kernels =
        [Kernel::Combine(Blend { rule: rule() }), Kernel::Reduce(Levels { rule: rule() })];
    for kernel in kernels {
        let name = kernel.to_string();
        let error = refused(|plan| plan.stages[0].kernel = kernel, true);
        assert!(error.contains(&name), "{error}");
    }
}

#[test]
fn windows_beyond_the_tile_are_refused() {
    let window = Window::padded(&[1, 1], &[1, 1], Boundary::Clip);
    let error = refused(|plan| plan.stages[0].inputs[0].window = window, true);
    assert!(error.contains("windows that differ from its tiles"), "{error}");
}

#[test]
fn an_operation_that_fails_ends_the_run() {
    let spec = OpSpec { settings: [("fails".to_owned(), "yes".to_owned())].into(), ..invert() };
    let error = refused(|plan| plan.stages[0].kernel = Kernel::Op(spec), true);
    assert!(error.contains("the operation `invert`: it was told to"), "{error}");
}
