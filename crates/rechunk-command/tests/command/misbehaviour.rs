//! Programs that do other things than they should: one clear error, and no hang.

use std::time::{Duration, Instant};

use rechunk_command::{Answer, Failure};

use crate::fixtures::{Bench, ends, output_reason, small};

fn shell(script: &str) -> Bench {
    Bench::shell(script, |_| {})
}

#[test]
fn outputs_that_are_no_files_are_refused() {
    for (script, why) in [
        ("true", "there is no /"),
        ("rm -r ${1%/*}", "the directory of the task is gone"),
        ("ln -s $1 $2", "it is a symbolic link"),
        ("ln -s /dev/zero $2", "it is a symbolic link"),
        ("mkfifo $2", "is no regular file"),
        ("mkdir $2", "is no regular file"),
        ("cp $1 $2.npy", "there is no /"),
    ] {
        let reason = output_reason(&shell(script).fails());
        assert!(reason.contains(why), "{script}: {reason}");
    }
}

#[test]
fn ends_that_are_not_0_are_failures() {
    let exit = |script: &str| shell(script).fails().failure;
    assert_eq!(exit("cp $1 $2; exit 1"), Failure::Exit { code: 1 });
    assert_eq!(exit("exec /there/is/none"), Failure::Exit { code: 127 });
    assert_eq!(exit("kill -SEGV $$"), Failure::Signal { signal: 11 });
    let said = shell("kill -9 $$").fails().to_string();
    assert!(said.contains("was ended by signal 9") && said.contains("memory ran out"), "{said}");
}

#[test]
fn megabytes_of_output_are_drained_and_their_end_is_kept() {
    let noise =
        "i=0; while [ $i -lt 300 ]; do head -c 8192 /dev/zero | tr '\\0' x; i=$((i+1)); done";
    let bench = shell(&format!("({noise}) >&2; {noise}; cp $1 $2"));
    assert_eq!(bench.run(&small()).unwrap(), Answer::Padded(small().bytes));
    let failure = shell(&format!("({noise}; echo; echo the end) >&2; {noise}; exit 1")).fails();
    assert!(failure.output.len() < 5 << 10, "{}", failure.output.len());
    assert!(failure.output.starts_with('…') && failure.output.ends_with("x\nthe end"));
    // Nothing on stderr: then stdout may say why.
    assert_eq!(shell("echo 'said here'; exit 1").fails().output, "said here");
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let failure = shell("printf 'a\\033[31mb\\377c' >&2; exit 1").fails();
    assert_eq!(failure.output, "a\u{fffd}[31mb\u{fffd}c");
}

#[test]
fn a_child_that_keeps_stderr_open_is_a_failure_and_is_killed() {
    let started = Instant::now();
    let bench = shell("sleep 60 & echo $! > $3/child; cp $1 $2");
    assert_eq!(bench.fails().failure, Failure::LeftProcess);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(ends(&bench.text("child")));
}

#[test]
fn a_child_that_ends_soon_after_is_waited_for() {
    let bench = shell("(sleep 0.2; cp $1 $2) & exit 0");
    assert_eq!(bench.run(&small()).unwrap(), Answer::Padded(small().bytes));
}

#[test]
fn a_child_without_our_pipes_is_killed_with_its_group() {
    let bench = shell("sleep 60 >/dev/null 2>&1 & echo $! > $3/child; cp $1 $2");
    assert_eq!(bench.run(&small()).unwrap(), Answer::Padded(small().bytes));
    assert!(ends(&bench.text("child")));
}

#[test]
fn a_program_that_closes_its_pipes_is_waited_for() {
    let bench = shell("exec >&- 2>&-; sleep 0.2; cp $1 $2");
    assert_eq!(bench.run(&small()).unwrap(), Answer::Padded(small().bytes));
}

#[test]
fn a_program_has_nothing_to_read() {
    let bench = shell("cat > $3/read; cp $1 $2");
    assert_eq!(bench.run(&small()).unwrap(), Answer::Padded(small().bytes));
    assert_eq!(bench.text("read"), "");
}
