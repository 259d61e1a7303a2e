//! Commands that make no sense are refused before anything runs.

use std::sync::Arc;

use rechunk_command::{CommandError, CommandSpec, FileFormat, Runner};
use rechunk_grid::DataType;

use crate::fixtures::file;

fn refuse(spec: CommandSpec) -> String {
    let scratch = tempfile::tempdir().unwrap();
    Runner::new(spec, scratch.path().join("new"), Arc::default())
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

fn persistent(command: &str) -> CommandSpec {
    CommandSpec { persistent: true, ..CommandSpec::new(command) }
}

#[test]
fn commands_that_make_no_sense_are_refused() {
    let spec = CommandSpec::new;
    for (spec, why) in [
        (spec(""), "`` cannot be run: it is empty"),
        (spec("cp {in} {output}"), "there is no placeholder {output}; there are {in}"),
        (spec("cp {in} out"), "it lacks {out}, the file that it has to write"),
        (spec("cp {in} {out"), "lone {"),
        (spec("cp {in} '{out}"), "a quote is not closed"),
        (spec("{in} {out}"), "the name of the program has a placeholder"),
        (persistent("worker {out}"), "a persistent program gets its files from stdin, so {out}"),
        (CommandSpec { jobs: Some(0), ..spec("cp {in} {out}") }, "0 programs may run at once"),
        (CommandSpec { timeout_milliseconds: Some(0), ..spec("cp {in} {out}") }, "a time of 0"),
        (spec("there-is-no-such-program {out}"), "there is no program `there-is-no-such-program`"),
        (spec("there-is-no-such-program {out}"), "in no directory of PATH (/"),
        (spec("./there/is/none {out}"), "there is no program `./there/is/none`: no file"),
        (spec("/ {out}"), "there is no program `/`: no file"),
    ] {
        let error = refuse(spec);
        assert!(error.contains(why), "{why}: {error}");
    }
}

#[test]
fn a_file_that_is_not_executable_is_no_program() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "program", b"#!/bin/sh\n");
    let error = refuse(CommandSpec::new(format!("{path} {{out}}")));
    assert!(error.contains("not executable; chmod +x it"), "{error}");
}

#[test]
fn types_shapes_and_inputs_are_checked_before_anything_runs() {
    let of = |format, command: &str| CommandSpec { format, ..CommandSpec::new(command) };
    let tiff = of(FileFormat::Tiff, "cp {in} {out}");
    let npy = of(FileFormat::Npy, "cp {in1} {out}");
    let small = [DataType::Uint8];
    for (error, why) in [
        (tiff.check(&[DataType::Bool], DataType::Uint8, &[4]), "tiff files cannot hold bool"),
        (tiff.check(&small, DataType::Float16, &[4]), "tiff files cannot hold float16"),
        (tiff.check(&small, DataType::Uint8, &[2, 1, 3, 4]), "2 × 1 × 3 × 4 elements: axes before"),
        (npy.check(&small, DataType::Uint8, &[4]), "it has {in1}, but one input, {in}"),
        (
            npy.check(&[DataType::Bfloat16; 2], DataType::Uint8, &[4]),
            "npy files cannot hold bfloat16",
        ),
    ] {
        let error = error.unwrap_err().to_string();
        assert!(error.contains(why), "{why}: {error}");
    }
    assert!(npy.check(&[DataType::Uint8; 2], DataType::Bool, &[4]).is_ok());
    assert!(tiff.check(&small, DataType::Int64, &[1, 1, 3, 4]).is_ok());
}

#[test]
fn a_scratch_directory_that_cannot_be_made_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "file", b"").into();
    let error = Runner::new(CommandSpec::new("cp {in} {out}"), path, Arc::default()).unwrap_err();
    assert!(matches!(error, CommandError::Scratch { .. }));
    assert!(error.to_string().contains("/file: "), "{error}");
}
