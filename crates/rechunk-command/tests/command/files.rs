//! Elements survive the way into files and back; files that are wrong are refused.

use rechunk_command::{Answer, CommandSpec, FileFormat};
use rechunk_grid::DataType;

use crate::fixtures::{Bench, Elements, file, output_reason, small};

const NUMBERS: [DataType; 10] = [
    DataType::Uint8,
    DataType::Uint16,
    DataType::Uint32,
    DataType::Uint64,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::Float32,
    DataType::Float64,
];

fn copies(format: FileFormat) -> Bench {
    let mut spec = CommandSpec::new("cp {in} {out}");
    spec.format = format;
    Bench::new(spec)
}

/// A runner of a program whose output is a file of these bytes.
fn hands_over(format: FileFormat, bytes: &[u8]) -> Bench {
    let bench = Bench::shell("cat $3/bytes > $2", |spec| spec.format = format);
    file(bench.scratch.path(), "bytes", bytes);
    bench
}

/// Bytes of the file that a box is written into.
fn written(format: FileFormat, elements: &Elements) -> Vec<u8> {
    let bench = Bench::shell("cat $1 > $3/seen; exit 99", |spec| spec.format = format);
    assert_eq!(bench.run(elements).unwrap(), Answer::Skip);
    std::fs::read(bench.scratch.path().join("seen")).unwrap()
}

#[test]
fn cp_is_the_identity_in_every_format_and_type() {
    let more = [DataType::Bool, DataType::Float16, DataType::Complex64, DataType::Complex128];
    for format in [FileFormat::Npy, FileFormat::Raw, FileFormat::Tiff] {
        let bench = copies(format);
        let more = if format == FileFormat::Tiff { &[][..] } else { &more };
        for &data_type in NUMBERS.iter().chain(more) {
            for shape in [&[][..], &[5], &[3, 5], &[2, 3, 5], &[1, 1, 2, 3, 5]] {
                let elements = Elements::new(data_type, shape);
                let answer = bench.run(&elements).unwrap();
                assert!(
                    answer == Answer::Padded(elements.bytes),
                    "{format:?} {data_type} {shape:?}"
                );
            }
        }
    }
    let nothing = Elements::new(DataType::Uint16, &[0, 4]);
    assert_eq!(copies(FileFormat::Npy).run(&nothing).unwrap(), Answer::Padded(Vec::new()));
}

#[test]
fn pages_of_many_strips_survive() {
    let elements = Elements::new(DataType::Uint32, &[2, 700, 600]);
    let answer = copies(FileFormat::Tiff).run(&elements).unwrap();
    assert!(answer == Answer::Padded(elements.bytes));
}

#[test]
fn npy_files_have_the_bytes_of_numpy() {
    let elements =
        Elements { bytes: vec![1, 0, 2, 0, 3, 0], ..Elements::new(DataType::Uint16, &[3]) };
    let mut expected =
        b"\x93NUMPY\x01\x00v\x00{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }".to_vec();
    expected.resize(127, b' ');
    expected.extend(b"\n\x01\x00\x02\x00\x03\x00");
    let file = written(FileFormat::Npy, &elements);
    let (header, data) = file.split_at(file.len() - 6);
    assert!(header.len().is_multiple_of(64) && header.ends_with(b" \n"));
    assert_eq!(header[10..].trim_ascii(), expected[10..128].trim_ascii());
    assert_eq!(data, &expected[128..]);
}

#[test]
fn big_endian_npy_files_are_read() {
    let mut bytes = written(FileFormat::Npy, &small());
    let at = bytes.iter().position(|&byte| byte == b'<').unwrap();
    bytes[at] = b'>';
    let mut swapped = small().bytes;
    DataType::Uint16.swap(&mut swapped);
    let answer = hands_over(FileFormat::Npy, &bytes).run(&small()).unwrap();
    assert_eq!(answer, Answer::Padded(swapped));
}

#[test]
fn npy_files_that_are_not_the_answer_are_refused() {
    let whole = written(FileFormat::Npy, &small());
    let of = |data_type, shape: &[u64]| written(FileFormat::Npy, &Elements::new(data_type, shape));
    let text = String::from_utf8_lossy(&whole).into_owned();
    let fortran = {
        let at = text.find("False").unwrap() - 4; // The first byte becomes three.
        let at = whole.windows(5).position(|part| part == b"False").unwrap_or(at);
        let mut bytes = whole.clone();
        bytes[at..at + 5].copy_from_slice(b"True ");
        bytes
    };
    for (bytes, why) in [
        (Vec::new(), "it ends in its header; it is not whole"),
        (whole[..whole.len() - 1].to_vec(), "it is not whole"),
        ([&whole[..], b"x"].concat(), "it should have"),
        (of(DataType::Int16, &[2, 3]), "elements of type `<i2`, it should have uint16"),
        (of(DataType::Uint8, &[2, 3]), "`|u1`"),
        (of(DataType::Uint16, &[3, 2]), "it has 3 × 2 elements, it should have 2 × 3"),
        (of(DataType::Uint16, &[2, 3, 1]), "it has 2 × 3 × 1 elements"),
        (of(DataType::Uint16, &[1 << 4, 1 << 4]), "it has 16 × 16 elements"),
        (fortran, "Fortran order"),
        (b"not an array at all".to_vec(), "it is no .npy file"),
    ] {
        let reason = output_reason(&hands_over(FileFormat::Npy, &bytes).fails());
        assert!(reason.contains(why), "{why}: {reason}");
    }
}

#[test]
fn raw_files_of_another_length_are_refused() {
    for length in [0, 11, 13, 1 << 20] {
        let reason = output_reason(&hands_over(FileFormat::Raw, &vec![0; length]).fails());
        assert!(reason.contains(&format!("it has {length} bytes, it should have 12")), "{reason}");
        assert!(reason.contains("2 × 3 elements of uint16"), "{reason}");
        assert_eq!(reason.contains("not whole"), length < 12, "{reason}");
    }
}

#[test]
fn bytes_that_are_no_bools_are_refused() {
    let bench = hands_over(FileFormat::Raw, &[0, 1, 2]);
    let error = bench.run(&Elements::new(DataType::Bool, &[3])).unwrap_err().to_string();
    assert!(error.contains("element 2 of bools is 2"), "{error}");
}

#[test]
fn tiff_files_that_are_not_the_answer_are_refused() {
    let of = |data_type, shape: &[u64]| written(FileFormat::Tiff, &Elements::new(data_type, shape));
    let whole = of(DataType::Uint16, &[2, 3]);
    let mut inverted = whole.clone();
    // The tag of the photometric interpretation, short, one value: 1 becomes 0.
    let tag = [6, 1, 3, 0, 1, 0, 0, 0, 1, 0];
    let at = inverted.windows(10).position(|part| part == tag).unwrap();
    inverted[at + 8] = 0;
    for (bytes, why) in [
        (Vec::new(), "page 0 cannot be read"),
        (whole[..20].to_vec(), "it ends in page 0; it is not whole"),
        (of(DataType::Int16, &[2, 3]), "page 0 has int16 elements, it should have uint16"),
        (of(DataType::Uint8, &[2, 3]), "page 0 has uint8 elements"),
        (of(DataType::Float32, &[2, 3]), "page 0 has float32 elements"),
        (of(DataType::Uint16, &[3, 2]), "page 0 has 3 × 2 elements, it should have 2 × 3"),
        (of(DataType::Uint16, &[2, 2, 3]), "it has more than the 1 pages"),
        (inverted, "inverted"),
        (b"\x93NUMPY\x01\0".to_vec(), "page 0 cannot be read"),
    ] {
        let reason = output_reason(&hands_over(FileFormat::Tiff, &bytes).fails());
        assert!(reason.contains(why), "{why}: {reason}");
    }
    let bench = hands_over(FileFormat::Tiff, &whole);
    let error = bench.run(&Elements::new(DataType::Uint16, &[2, 2, 3])).unwrap_err().to_string();
    assert!(error.contains("it has 1 pages, it should have 2"), "{error}");
}

#[test]
fn no_prefix_of_a_tiff_file_is_taken_for_it() {
    let elements = Elements::new(DataType::Uint16, &[2, 2, 3]);
    let whole = written(FileFormat::Tiff, &elements);
    let bench = hands_over(FileFormat::Tiff, &whole);
    assert_eq!(bench.run(&elements).unwrap(), Answer::Padded(elements.bytes.clone()));
    for length in (0..whole.len()).step_by(7) {
        file(bench.scratch.path(), "bytes", &whole[..length]);
        assert!(bench.run(&elements).is_err(), "{length} of {} bytes", whole.len());
    }
}
