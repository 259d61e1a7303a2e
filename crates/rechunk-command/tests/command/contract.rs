//! Programs are told their task, and their answers are taken.

use rechunk_command::{Answer, BoxView, CommandSpec, Returns, Runner, Task};
use rechunk_grid::DataType;
use serde_json::{Value, json};

use crate::fixtures::{Bench, Elements, small};

fn padded_task<'a>(inputs: &'a [BoxView<'a>]) -> Task<'a> {
    Task {
        index: &[3, 0],
        inputs,
        out_type: DataType::Uint8,
        read: &[(-1, 5), (8, 13)],
        keep: &[(0, 4), (10, 13)],
        pads: &[(1, 1), (2, 0)],
    }
}

#[test]
fn a_program_is_told_its_task() {
    let bench = Bench::shell("", |spec| {
        let stays = spec.command.rsplit(' ').next().unwrap().to_owned();
        spec.command = format!(
            "/bin/sh -c 'env | grep ^CHUNK_ | sort > $1/env; cp $2 $1/meta; shift 2; \
             for word; do echo \"$word\"; done > {stays}/words; exit 99' \
             sh {stays} {{meta}} {{index}} {{shape}} {{dtype}} {{dir}} {{in}} {{in0}} {{in1}} {{out}} \
             'a b' {{{{x}}}}"
        );
    });
    let first = Elements::new(DataType::Uint16, &[6, 5]);
    let second = Elements::new(DataType::Float32, &[2]);
    let inputs = [first.view(), second.view()];
    assert_eq!(bench.runner.run(&padded_task(&inputs)).unwrap(), Answer::Skip);
    let words = bench.text("words");
    let words: Vec<_> = words.lines().collect();
    let directory = words[3];
    let named = |name: &str| format!("{directory}/{name}");
    assert_eq!(words[..3], ["3,0", "6,5", "uint16"]);
    assert_eq!(
        words[4..],
        [
            named("in0.npy"),
            named("in0.npy"),
            named("in1.npy"),
            named("out.npy"),
            "a b".to_owned(),
            "{x}".to_owned()
        ]
    );
    assert_eq!(
        bench.text("env"),
        "CHUNK_DTYPE=uint16\nCHUNK_INDEX=3,0\nCHUNK_KEEP_HI=4,13\nCHUNK_KEEP_LO=0,10\n\
         CHUNK_READ_HI=5,13\nCHUNK_READ_LO=-1,8\nCHUNK_SHAPE=6,5\n"
    );
    let document: Value = serde_json::from_str(&bench.text("meta")).unwrap();
    assert_eq!(
        document,
        json!({
            "index": [3, 0], "read": [[-1, 5], [8, 13]], "keep": [[0, 4], [10, 13]],
            "pads": [[1, 1], [2, 0]], "dtype": "uint16", "shape": [6, 5],
            "inputs": [{"dtype": "uint16", "shape": [6, 5]}, {"dtype": "float32", "shape": [2]}],
            "out_dtype": "uint8", "out_shape": [6, 5], "returns": "padded", "format": "npy",
            "attempt": 1, "dir": directory, "in": [named("in0.npy"), named("in1.npy")],
            "out": named("out.npy"),
        })
    );
}

#[test]
fn an_output_may_be_without_pads() {
    let first = Elements::new(DataType::Uint8, &[6, 5]);
    let bench = Bench::shell("head -c 12 $1 > $2", |spec| {
        spec.format = rechunk_command::FileFormat::Raw;
        spec.returns = Returns::Cropped;
    });
    let inputs = [first.view()];
    let answer = bench.runner.run(&padded_task(&inputs)).unwrap();
    assert_eq!(answer, Answer::Cropped(first.bytes[..12].to_vec()));
}

#[test]
fn an_output_with_the_other_shape_is_refused_with_that_hint() {
    let first = Elements::new(DataType::Uint8, &[6, 5]);
    let inputs = [first.view()];
    let mut spec = CommandSpec::new("cp {in} {out}");
    spec.returns = Returns::Cropped;
    let error = Bench::new(spec).runner.run(&padded_task(&inputs)).unwrap_err().to_string();
    assert!(
        error.contains("6 × 5 elements, the box with its pads; it should have 4 × 3"),
        "{error}"
    );
}

#[test]
fn exit_code_99_skips() {
    let bench = Bench::shell("echo 'no cells' >&2; exit 99", |_| {});
    assert_eq!(bench.run(&small()).unwrap(), Answer::Skip);
}

#[test]
fn a_failure_says_what_where_why_and_what_to_do() {
    let bench = Bench::shell("echo 'no model' >&2; exit 3", |_| {});
    let error = bench.run(&small()).unwrap_err().to_string();
    let [first, last] = error.lines().collect::<Vec<_>>()[..] else { panic!("{error}") };
    assert!(first.starts_with("`/bin/sh -c "), "{first}");
    assert!(
        first.contains(
            "` ended with exit code 3 (task 3,0, elements 0..2 × 0..3); exit code 0 means done, 99 \
             that there is nothing to write; its output ends:"
        ),
        "{first}"
    );
    assert_eq!(last, "  no model");
}

#[test]
fn directories_are_removed_or_kept() {
    for keeps in [false, true] {
        for script in ["cp $1 $2; mkdir -p ${1%/*}/a/b", "exit 1", "rm -r ${1%/*}; exit 99"] {
            let bench = Bench::shell(script, |spec| spec.keep_files = keeps);
            let error = bench.run(&small()).err();
            let left = std::fs::read_dir(bench.scratch.path().join("tasks")).unwrap().count();
            let is_there = keeps && !script.starts_with("rm");
            assert_eq!(left, usize::from(is_there), "{script}");
            if let Some(error) = error {
                assert_eq!(error.to_string().contains("its files are in /"), keeps, "{error}");
            }
        }
    }
}

#[test]
fn a_spec_is_data() {
    let spec: CommandSpec = serde_json::from_value(json!({
        "command": "cp {in} {out}", "format": "tiff", "returns": "cropped", "jobs": 2,
        "timeout_milliseconds": 1500,
    }))
    .unwrap();
    assert_eq!(spec.jobs, Some(2));
    let again: CommandSpec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
    assert_eq!(again, spec);
    let error = serde_json::from_value::<CommandSpec>(json!({"command": "x", "retry": 2}));
    assert!(error.unwrap_err().to_string().contains("unknown field `retry`"));
}

#[test]
fn a_task_that_contradicts_itself_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let spec = CommandSpec::new("cp {in} {out}");
    let runner = Runner::new(spec, scratch.path().to_owned(), std::sync::Arc::default()).unwrap();
    let first = Elements::new(DataType::Uint8, &[6, 5]);
    let inputs = [first.view()];
    let task = padded_task(&inputs);
    let short = [BoxView { bytes: &first.bytes[1..], ..first.view() }];
    for (task, why) in [
        (Task { inputs: &[], ..task }, "no input"),
        (Task { read: &[(0, 6)], ..task }, "do not have 2 axes"),
        (Task { pads: &[(4, 3), (0, 0)], ..task }, "do not fit an extent of 6"),
        (Task { inputs: &short, ..task }, "29 are given"),
    ] {
        let error = runner.run(&task).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
