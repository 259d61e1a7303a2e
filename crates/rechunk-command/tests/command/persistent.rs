//! Programs that stay, and read one task a line.

use std::thread;
use std::time::{Duration, Instant};

use rechunk_command::{Answer, CommandSpec, Failure};
use rechunk_grid::DataType;

use crate::fixtures::{Bench, Elements, ends, is_running, small};

/// Takes input and output out of the line, and copies.
const COPY: &str = "in=${line#*\\\"in\\\":[\\\"}; in=${in%%\\\"*}; \
                    out=${line#*\\\"out\\\":\\\"}; out=${out%%\\\"*}; cp $in $out";

fn persistent(script: &str, change: impl FnOnce(&mut CommandSpec)) -> Bench {
    Bench::shell(script, |spec| {
        spec.persistent = true;
        change(spec);
    })
}

/// A program that does `each` for every line, after `before`.
fn loops(before: &str, each: &str) -> Bench {
    let script = format!("{before}\nwhile read -r line; do {each}; done; echo end > $1/end");
    persistent(&script, |spec| spec.jobs = Some(1))
}

#[test]
fn one_process_does_many_tasks_and_ends_with_stdin() {
    let bench = loops("echo start >> $1/starts", &format!("{COPY}; echo '{{\"ok\": true}}'"));
    for extent in 1..=5 {
        let elements = Elements::new(DataType::Float32, &[extent, 3]);
        assert_eq!(bench.run(&elements).unwrap(), Answer::Padded(elements.bytes));
    }
    assert_eq!(bench.text("starts"), "start\n");
    let Bench { scratch, runner, .. } = bench;
    drop(runner);
    assert!(scratch.path().join("end").exists());
}

#[test]
fn each_place_has_a_process() {
    let script = format!(
        "echo start >> $1/starts\nwhile read -r line; do {COPY}; sleep 0.2; echo '{{\"ok\": true}}'; done"
    );
    let bench = persistent(&script, |spec| spec.jobs = Some(2));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| bench.run(&small()).unwrap());
        }
    });
    assert_eq!(bench.text("starts"), "start\nstart\n");
}

#[test]
fn a_program_may_skip_or_refuse_and_goes_on() {
    let bench = loops(
        "echo start >> $1/starts; n=0",
        "n=$((n+1)); case $n in 1) echo '{\"skip\": true}';; \
         2) echo why >&2; echo '{\"error\": \"no \\u001bcells\"}';; *) echo '{\"skip\":true}';; esac",
    );
    assert_eq!(bench.run(&small()).unwrap(), Answer::Skip);
    let failure = bench.fails();
    assert_eq!(failure.failure, Failure::Refused { message: "no \u{fffd}cells".to_owned() });
    assert_eq!(failure.output, "why");
    assert_eq!(bench.run(&small()).unwrap(), Answer::Skip);
    assert_eq!(bench.text("starts"), "start\n");
}

#[test]
fn stdout_that_is_no_answer_is_quoted() {
    for (each, said) in [
        ("echo loading model", "`loading model`"),
        ("echo '{\"ok\": false}'", "`{\"ok\": false}`"),
        ("echo '{\"ok\": true, \"more\": 1}'", "`{\"ok\": true, \"more\": 1}`"),
        ("echo '[]'", "`[]`"),
        ("echo", "``"),
        ("printf '{\"skip\": true}\\nprogress 3\\n'", "`progress 3`"),
        ("printf half; exit", "`half`"),
        ("head -c 100000 /dev/zero | tr '\\0' x", "`xxxxx"),
    ] {
        let failure = loops("", each).fails();
        let Failure::Answer { said: found } = &failure.failure else { panic!("{each}: {failure}") };
        assert!(found.starts_with(said) && found.chars().count() < 210, "{each}: {found}");
        assert!(failure.to_string().contains("everything else to stderr"), "{failure}");
    }
}

#[test]
fn a_banner_before_the_first_task_is_an_error() {
    let failure = loops("echo Welcome", "echo '{\"skip\": true}'").fails();
    assert_eq!(failure.failure, Failure::Answer { said: "`Welcome`".to_owned() });
}

#[test]
fn a_program_that_dies_is_started_again_for_the_retry() {
    let script = "echo start >> $1/starts\n[ $(wc -l < $1/starts) -ge 3 ] || { read -r line; echo dying >&2; exit 4; }\n\
                  while read -r line; do echo '{\"skip\": true}'; done";
    let tried = |retries| persistent(script, |spec| spec.retries = retries);
    let bench = tried(2);
    assert_eq!(bench.run(&small()).unwrap(), Answer::Skip);
    assert_eq!(bench.text("starts"), "start\n".repeat(3));
    let failure = tried(1).fails();
    assert_eq!((&failure.failure, failure.attempts), (&Failure::Ended, 2));
    assert_eq!(failure.output, "dying");
}

#[test]
fn a_program_that_ends_after_its_answer_is_started_again() {
    let bench = persistent(
        "echo $$ > $1/pid; echo start >> $1/starts; read -r line; echo '{\"skip\": true}'",
        |_| {},
    );
    for _ in 0..3 {
        assert_eq!(bench.run(&small()).unwrap(), Answer::Skip);
        while is_running(&bench.text("pid")) {
            thread::sleep(Duration::from_millis(5));
        }
    }
    assert_eq!(bench.text("starts"), "start\n".repeat(3));
}

#[test]
fn an_answer_without_an_output_is_a_failure() {
    let failure = loops("", "echo '{\"ok\": true}'").fails();
    assert!(failure.to_string().contains("left a wrong output: there is no /"), "{failure}");
}

#[test]
fn a_program_that_does_not_read_or_answer_is_killed() {
    for script in ["exec sleep 60", "read -r line; sleep 60", "exec <&-; sleep 60"] {
        let bench = persistent(&format!("echo $$ > $1/pid; {script}"), |spec| {
            spec.timeout_milliseconds = Some(500);
        });
        let started = Instant::now();
        // A long line: more than a pipe holds.
        let long = Elements::new(DataType::Uint8, &[1]);
        let index = vec![u64::MAX; 8000];
        let error = bench.runner.run(&rechunk_command::Task {
            index: &index,
            inputs: &[long.view()],
            out_type: DataType::Uint8,
            read: &[(0, 1)],
            keep: &[(0, 1)],
            pads: &[(0, 0)],
        });
        let failure = crate::fixtures::failure(error.unwrap_err()).failure;
        let closes = script.starts_with("exec <");
        assert!(
            if closes {
                failure == Failure::Ended
            } else {
                matches!(failure, Failure::TimedOut { .. })
            },
            "{script}: {failure}"
        );
        assert!(started.elapsed() < Duration::from_secs(20));
        assert!(ends(&bench.text("pid")));
    }
}

#[test]
fn a_program_that_stays_after_stdin_has_ended_is_killed() {
    let script = "echo $$ > $1/pid; read -r line; echo '{\"skip\": true}'; exec sleep 60";
    let Bench { scratch, runner, .. } = {
        let bench = persistent(script, |_| {});
        assert_eq!(bench.run(&small()).unwrap(), Answer::Skip);
        bench
    };
    let pid = std::fs::read_to_string(scratch.path().join("pid")).unwrap();
    assert!(is_running(&pid));
    let started = Instant::now();
    drop(runner);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(ends(&pid));
}
