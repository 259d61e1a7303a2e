//! Files against another implementation: NumPy and tifffile, in a Python that is named.

use rechunk_command::{Answer, CommandSpec, FileFormat};
use rechunk_grid::DataType;

use crate::fixtures::{Bench, Elements, file};

/// Reads a file, compares it with the raw elements beside it, and writes it in another way.
const SCRIPT: &str = r#"
import json, os, sys
import numpy
task = json.load(open(sys.argv[1]))
way = sys.argv[2]
raw = numpy.fromfile(sys.argv[3], "<" + numpy.dtype(task["dtype"]).str[1:])
raw = raw.reshape(task["shape"])
path, out = task["in"][0], task["out"]
if task["format"] == "npy":
    read = numpy.load(path, allow_pickle=False)
    assert read.dtype == raw.dtype and read.shape == raw.shape, (read.dtype, read.shape)
    assert read.tobytes() == raw.tobytes()
    if way == "2":
        numpy.lib.format.write_array(open(out, "wb"), read, version=(2, 0))
    else:
        numpy.save(out, read.astype(read.dtype.newbyteorder(">")) if way == "big" else read)
else:
    import tifffile
    read = tifffile.imread(path)
    assert read.dtype == raw.dtype, read.dtype
    assert read.shape == tuple(n for n in raw.shape if n != 1) or read.size == raw.size, read.shape
    assert read.tobytes() == raw.tobytes()
    with tifffile.TiffFile(path) as opened:
        assert len(opened.pages) == (raw.shape[-3] if raw.ndim > 2 else 1)
    options = {"plain": {}, "2": {"bigtiff": True}, "big": {"byteorder": ">"},
               "tiles": {"tile": (16, 16)}, "zlib": {"compression": "zlib", "predictor": True},
               "strips": {"rowsperstrip": 1}}[way]
    tifffile.imwrite(out, numpy.atleast_2d(raw), photometric="minisblack", **options)
"#;

/// The Python, or none if the test cannot be done.
#[expect(clippy::print_stdout, reason = "a test that is left out says so")]
fn python(module: &str) -> Option<String> {
    let Ok(python) = std::env::var("RECHUNK_ORACLE_PYTHON") else {
        println!("SKIPPED: RECHUNK_ORACLE_PYTHON names no Python with {module}");
        return None;
    };
    let tried =
        std::process::Command::new(&python).args(["-c", &format!("import {module}")]).output();
    if tried.is_ok_and(|tried| tried.status.success()) {
        return Some(python);
    }
    println!("SKIPPED: {python} has no {module}");
    None
}

fn cross(python: &str, format: FileFormat, way: &str, elements: &Elements) {
    let directory = tempfile::tempdir().unwrap();
    let script = file(directory.path(), "script.py", SCRIPT.as_bytes());
    let raw = file(directory.path(), "raw", &elements.bytes);
    let mut spec = CommandSpec::new(format!("{python} {script} {{meta}} {way} {raw} {{out}}"));
    spec.format = format;
    let answer = Bench::new(spec).run(elements);
    let answer = answer.unwrap_or_else(|error| panic!("{way} {elements:?}: {error}"));
    assert!(answer == Answer::Padded(elements.bytes.clone()), "{way} {elements:?}");
}

#[test]
fn numpy_reads_what_is_written_and_writes_what_is_read() {
    let Some(python) = python("numpy") else { return };
    for (data_type, shape, way) in [
        (DataType::Bool, &[3, 5][..], "plain"),
        (DataType::Float16, &[7], "big"),
        (DataType::Uint16, &[2, 3, 5], "2"),
        (DataType::Complex64, &[], "big"),
    ] {
        cross(&python, FileFormat::Npy, way, &Elements::new(data_type, shape));
    }
}

#[test]
fn tifffile_reads_what_is_written_and_writes_what_is_read() {
    let Some(python) = python("tifffile") else { return };
    for (data_type, shape, way) in [
        (DataType::Uint8, &[40, 50][..], "plain"),
        (DataType::Uint16, &[3, 40, 50], "plain"),
        (DataType::Int16, &[4, 40, 50], "big"),
        (DataType::Uint32, &[1, 2, 40, 50], "2"),
        (DataType::Float32, &[2, 40, 50], "tiles"),
        (DataType::Uint64, &[2, 40, 50], "strips"),
        (DataType::Int32, &[2, 40, 50], "zlib"),
        (DataType::Float64, &[5, 4, 3], "plain"),
        (DataType::Int8, &[30], "plain"),
    ] {
        cross(&python, FileFormat::Tiff, way, &Elements::new(data_type, shape));
    }
}
