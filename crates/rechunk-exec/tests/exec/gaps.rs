//! Sources of which little is stored: they are listed, and what is not there is not asked for.

use std::sync::{Arc, Mutex};

use rechunk_exec::{Event, Execution, Observer, Sink};
use rechunk_grid::{DataType, WriteEmpty};
use rechunk_plan::Strategy as Kind;
use rechunk_store::{Meter, Role, Traffic};
use tokio_util::sync::CancellationToken;

use crate::case::{Case, Prepared, SideCase, counted, execute, execute_observed, runtime};
use crate::layout::Codec;

/// 20 × 20 × 20 chunks of 2³, of which every 64th is stored, into chunks of 4³.
fn sparse(kind: Kind, shards: Option<Vec<u64>>) -> Case {
    let side = |extent, shards: Option<Vec<u64>>| SideCase {
        shards: shards.map(|shards| (shards, false)),
        fill: Some(0),
        ..SideCase::plain(&[extent; 3], Codec::Runs)
    };
    Case {
        shape: vec![40; 3],
        data_type: DataType::Uint16,
        source: side(2, shards),
        target: if kind == Kind::Passthrough { side(2, None) } else { side(4, None) },
        kind,
        threads: 2,
        spare_bytes: 0,
        write_empty: WriteEmpty::Auto,
        missing: !(1 << 5),
        seed: 11,
    }
}

#[derive(Default)]
struct Tasks(Mutex<(u64, u64)>);

impl Observer for Tasks {
    fn event(&self, event: &Event) {
        let mut tasks = self.0.lock().unwrap();
        match event {
            Event::TaskDone { .. } => tasks.0 += 1,
            Event::TasksPassedOver { tasks: passed, .. } => tasks.1 += passed,
            _ => {}
        }
    }
}

/// Runs the case in `folder`; its traffic, tasks run and passed over, tasks in all.
fn copied(case: &Case, folder: &str, list_after_missing: Option<u64>) -> (Traffic, [u64; 3]) {
    let root = tempfile::tempdir().unwrap();
    let plan = case.plan().unwrap();
    runtime().block_on(async {
        let prepared: Prepared = match folder {
            "" => case.prepare().await,
            name => case.prepare_in(&root.path().join(name)).await,
        };
        let meter = Meter::new();
        let execution = Execution { list_after_missing, ..prepared.execution(case, &plan, &meter) };
        let tasks = Arc::new(Tasks::default());
        let cancel = CancellationToken::new();
        let report = execute_observed(execution, None, Arc::clone(&tasks) as _, cancel).await;
        let result = case.read_all(&case.target, &prepared.target).await;
        assert!(result == prepared.elements, "{case:?}");
        if case.kind != Kind::Passthrough {
            case.check_stored(&prepared).await.unwrap();
        }
        let (run, passed) = *tasks.0.lock().unwrap();
        assert_eq!(report.unwrap().tasks_done, run + passed);
        (meter.traffic(), [run, passed, plan.task_count()])
    })
}

#[test]
fn a_list_stands_for_all_that_is_missing() {
    let cases = [
        sparse(Kind::Direct, None),
        sparse(Kind::Passthrough, None),
        sparse(Kind::Pull, Some(vec![1, 1, 5])),
    ];
    for (case, folder) in cases.iter().flat_map(|case| [(case, ""), (case, "here")]) {
        let (asked, all) = copied(case, folder, None);
        let (listed, few) = copied(case, folder, Some(0));
        assert_eq!((listed.source, listed.target), (asked.source, asked.target), "{case:?}");
        assert_eq!((asked.control.list, listed.control.list), (0, 1));
        assert_eq!((all[0], all[1]), (all[2], 0));
        assert_eq!(few[0] + few[1], few[2]);
        // Where chunks pass through, a task is as much of the array as fits: each has something.
        assert!(few[1] > 0 || case.kind == Kind::Passthrough, "{few:?} of {case:?}");
    }
}

/// Regions without a stored chunk are passed over: there is a task for each stored chunk, at most.
#[test]
fn tasks_are_as_many_as_what_is_there() {
    let case = sparse(Kind::Direct, None);
    let (_, [run, passed, all]) = copied(&case, "here", Some(0));
    assert_eq!(run + passed, all);
    assert!(run <= 8000 / 64 && all >= 500, "{run} of {all}");
}

#[test]
fn what_is_dense_is_never_listed() {
    let case = Case { missing: 0, ..sparse(Kind::Direct, None) };
    let (traffic, [run, passed, all]) = copied(&case, "here", Some(1));
    assert_eq!((traffic.control.list, run, passed), (0, all, 0));
}

/// Where absent means fill values here and nothing there, all is written.
#[test]
fn what_is_to_be_written_is() {
    let mut case = sparse(Kind::Direct, None);
    case.target.fill = Some(1);
    let (traffic, [run, passed, all]) = copied(&case, "here", Some(0));
    assert_eq!((run, passed), (all, 0));
    assert_eq!(traffic.target.objects, 1000);
    assert_eq!(traffic.control.list, 1);
}

/// Comparing, or reading for a digest, passes over chunks that neither array has, and only on a
/// disk.
#[test]
fn what_neither_has_is_not_compared() {
    let case = sparse(Kind::Direct, None);
    let (plan, root) = (case.plan().unwrap(), tempfile::tempdir().unwrap());
    for (folder, is_listed) in [("here", true), ("", false)] {
        runtime().block_on(async {
            let prepared = match folder {
                "" => case.prepare().await,
                name => case.prepare_in(&root.path().join(name)).await,
            };
            let meter = Meter::new();
            let copied = execute(prepared.execution(&case, &plan, &meter), None).await.unwrap();
            // One chunk that the source does not have.
            let sevens = vec![7; prepared.elements.len()];
            case.store_chunks(&case.target, &prepared.target, &sevens, |n| n != 999).await;
            let target = counted(&prepared.target, Role::Target, &meter);
            for sink in [
                Sink::Compare(target.clone()),
                Sink::Digest { array: target, of_encoded_chunks: false },
            ] {
                let compares = matches!(sink, Sink::Compare(_));
                let tasks = Arc::new(Tasks::default());
                let execution = Execution {
                    sink,
                    list_after_missing: Some(0),
                    ..prepared.execution(&case, &plan, &meter)
                };
                let cancel = CancellationToken::new();
                let report = execute_observed(execution, None, Arc::clone(&tasks) as _, cancel);
                let report = report.await.unwrap();
                if compares {
                    assert_eq!(report.differences.unwrap().count, 64);
                } else {
                    assert_eq!(report.digest, copied.digest);
                }
                let (run, passed) = *tasks.0.lock().unwrap();
                assert_eq!((run + passed, passed > 0), (plan.task_count(), is_listed));
            }
        });
    }
}
