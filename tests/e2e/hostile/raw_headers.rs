//! Group 10, headers of raw files: NumPy's and NIfTI's, cut, lying or malicious.

use serde_json::json;

use super::build::{gzip, zeros};
use super::{Case, Elements, Left, Outcome, Scene, play_all};

const NPY: &str = "source.npy";
const NII: &str = "source.nii";
const GZ: &str = "source.nii.gz";

/// 4 × 6 uint16, little-endian.
fn elements() -> Vec<u8> {
    (1..=24_u16).flat_map(u16::to_le_bytes).collect()
}

fn big_endian() -> Vec<u8> {
    (1..=24_u16).flat_map(u16::to_be_bytes).collect()
}

/// The elements of a 4 × 6 array that is stored by columns.
fn of_columns() -> Vec<u8> {
    let columns = (0..4).flat_map(|row| (0..6).map(move |column| 1 + row + 4 * column));
    columns.flat_map(u16::to_le_bytes).collect()
}

fn whole() -> Outcome {
    Outcome::Copied(Elements::new(&[4, 6], elements()))
}

/// An `.npy` file of version `major`.0 with a header that is only this text, and these elements.
fn npy(major: u8, text: &str, elements: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap().to_le_bytes();
    let length = if major == 1 { &length[..2] } else { &length[..] };
    [b"\x93NUMPY", &[major, 0][..], length, text.as_bytes(), elements].concat()
}

/// The usual header.
const HEADER: &str = "{'descr': '<u2', 'fortran_order': False, 'shape': (4, 6), }\n";

fn file(
    name: &str,
    source: &'static str,
    bytes: impl Fn() -> Vec<u8> + 'static,
    outcome: Outcome,
) -> Case {
    let build = move |scene: &Scene| scene.write_file(bytes());
    Case::new(format!("{source}: {name}"), build, outcome).from(source)
}

/// A `.npy` file that is refused by its header.
fn refused(name: &str, text: impl Into<String>, words: &[&str]) -> Case {
    let text = text.into();
    let outcome = Outcome::refused(&[&[NPY], words].concat());
    file(name, NPY, move || npy(1, &text, &elements()), outcome)
}

#[rustfmt::skip]
fn npy_headers() -> Vec<Case> {
    let is = |descr: &str, shape: &str| HEADER.replace("'<u2'", descr).replace("(4, 6)", shape);
    let bytes = |name: &str, bytes: fn() -> Vec<u8>, words: &[&str]| {
        file(name, NPY, bytes, Outcome::refused(&[&[NPY], words].concat()))
    };
    vec![
        refused("objects", is("'|O'", "(4, 6)"), &["descr", "pickled"]),
        refused("objects in a record", is("[('a', '<u2'), ('b', '|O8')]", "(4, 6)"), &["descr"]),
        refused("a type that there is not", is("'<q99'", "(4, 6)"), &["descr", "q99"]),
        refused("a type of control characters", is("'\u{1b}[31m'", "(4, 6)"), &["descr"]),
        refused("a type that is a number", is("2", "(4, 6)"), &["descr"]),
        refused("texts of 10^12 bytes", is("'|S1000000000000'", "(4, 6)"), &["descr"]),
        refused("records of 2^60 bytes", is("[('a', '<u2', (1152921504606846976,))]", "(4, 6)"), &["descr"]),
        refused("a call", is("__import__('os').system('touch owned')", "(4, 6)"), &["npy header"]),
        refused("a call as the whole header", "exec('x')\n", &["npy header"]),
        refused("a product as an extent", is("'<u2'", "(4, 2 * 3)"), &["npy header"]),
        refused("a list of the fields", "[1, 2]\n", &["npy header", "dict"]),
        refused("nothing in the header", "", &["npy header"]),
        refused("a dict that does not end", "{'descr': '<u2', ", &["npy header"]),
        refused("two dicts", format!("{HEADER}{HEADER}"), &["npy header"]),
        refused("brackets 30 000 deep", is("'<u2'", &"(".repeat(30_000)), &["npy header"]),
        refused("negative extents", is("'<u2'", "(4, -6)"), &["npy header", "-6"]),
        refused("extents of 2^63", is("'<u2'", "(9223372036854775808, 1)"), &["shape"]),
        refused("a number of 10 000 digits", is("'<u2'", &format!("(4, {})", "9".repeat(10_000))), &["npy header"]),
        refused("a product of extents that overflows", is("'<u2'", "(4294967296, 4294967296)"), &["63 bits"]),
        refused("40 axes", is("'<u2'", &format!("({})", "1, ".repeat(40))), &["shape", "40"]),
        refused("a shape that is a number", is("'<u2'", "24"), &["shape"]),
        refused("extents that are text", is("'<u2'", "('4', '6')"), &["shape"]),
        refused("no type", "{'fortran_order': False, 'shape': (4, 6)}\n", &["descr", "missing"]),
        refused("no shape", "{'descr': '<u2', 'fortran_order': False}\n", &["shape", "missing"]),
        refused("one more field", HEADER.replace('{', "{'allow_pickle': True, "), &["allow_pickle"]),
        refused("an order that is a number", HEADER.replace("False", "2"), &["fortran_order"]),
        refused("more elements than there are", is("'<u2'", "(4, 7)"), &["bytes", "need"]),
        refused("fewer elements than there are", is("'<u2'", "(4, 5)"), &["bytes", "need"]),
        refused("10^15 elements of a small file", is("'<u2'", "(1000000, 1000000000)"), &["bytes", "need"]),
        bytes("an empty file", Vec::new, &[]),
        bytes("half of the magic", || b"\x93NUM".to_vec(), &[]),
        bytes("the magic alone", || b"\x93NUMPY".to_vec(), &["ends"]),
        bytes("another magic", || b"\x93NUMPZ\x01\0".repeat(20), &["neither of NumPy"]),
        bytes("version 9.9", || { let mut b = npy(1, HEADER, &elements()); b[6..8].fill(9); b }, &["9.9"]),
        bytes("a header of 4 GiB", || [&b"\x93NUMPY\x02\0\xff\xff\xff\xff"[..], &[b' '; 1000]].concat(), &["4294967295"]),
        bytes("a header that is longer than the file", || { let mut b = npy(1, HEADER, &elements()); b[9] = 0xff; b }, &["ends"]),
        bytes("a file that ends in its elements", || npy(1, HEADER, &elements()[..47]), &["need"]),
        bytes("a byte after the elements", || npy(1, HEADER, &[&elements()[..], b"x"].concat()), &["need"]),
        bytes("a compressed file", || gzip(&npy(1, HEADER, &elements())), &["compressed by gzip"]),
        bytes("a ZIP file (.npz)", || [&b"PK\x03\x04"[..], &[0; 60]].concat(), &["a ZIP file"]),
        bytes("Latin-1 in a header of version 3", || { let mut b = npy(3, HEADER, &elements()); b[20] = 0xff; b }, &["npy header"]),
        file("version 1", NPY, || npy(1, HEADER, &elements()), whole()),
        file("version 2", NPY, || npy(2, HEADER, &elements()), whole()),
        file("version 3", NPY, || npy(3, HEADER, &elements()), whole()),
        file("big-endian", NPY, || npy(1, &HEADER.replace('<', ">"), &big_endian()), whole()),
        file("by columns", NPY, || npy(1, &HEADER.replace("False", "True"), &elements()),
            Outcome::Copied(Elements::new(&[4, 6], of_columns()))),
        file("an axis of 0", NPY, || npy(1, &HEADER.replace("(4, 6)", "(4, 0)"), &[]),
            Outcome::Copied(Elements::new(&[4, 0], []))),
    ]
}

/// A NIfTI-1 file of 6 × 4 uint16, which counts the fastest axis first.
fn nifti() -> Vec<u8> {
    let mut header = vec![0; 352];
    header[..4].copy_from_slice(&348_i32.to_le_bytes());
    for (at, value) in [(40, 2_i16), (42, 6), (44, 4), (70, 512), (72, 16)] {
        header[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    for at in (46..56).step_by(2) {
        header[at] = 1;
    }
    header[108..112].copy_from_slice(&352_f32.to_le_bytes());
    header[344..348].copy_from_slice(b"n+1\0");
    [header, elements()].concat()
}

/// A NIfTI-2 file of the same.
fn nifti2() -> Vec<u8> {
    let mut header = vec![0; 544];
    header[..4].copy_from_slice(&540_i32.to_le_bytes());
    header[4..12].copy_from_slice(b"n+2\0\r\n\x1a\n");
    header[12..14].copy_from_slice(&512_i16.to_le_bytes());
    header[14..16].copy_from_slice(&16_i16.to_le_bytes());
    for (axis, extent) in [2_i64, 6, 4, 1, 1, 1, 1, 1].into_iter().enumerate() {
        header[16 + 8 * axis..24 + 8 * axis].copy_from_slice(&extent.to_le_bytes());
    }
    header[168..176].copy_from_slice(&544_i64.to_le_bytes());
    [header, elements()].concat()
}

fn with_i16(at: usize, value: i16) -> Vec<u8> {
    let mut bytes = nifti();
    bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
    bytes
}

fn with_offset(offset: f32) -> Vec<u8> {
    let mut bytes = nifti();
    bytes[108..112].copy_from_slice(&offset.to_le_bytes());
    bytes
}

fn with_magic(magic: [u8; 4]) -> Vec<u8> {
    let mut bytes = nifti();
    bytes[344..348].copy_from_slice(&magic);
    bytes
}

fn with_i64(at: usize, value: i64) -> Vec<u8> {
    let mut bytes = nifti2();
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    bytes
}

/// The file of [`nifti`], big-endian.
fn nifti_big_endian() -> Vec<u8> {
    let mut bytes = nifti();
    bytes[..4].reverse();
    bytes[40..56].chunks_mut(2).for_each(<[u8]>::reverse);
    bytes[70..74].chunks_mut(2).for_each(<[u8]>::reverse);
    bytes[108..112].reverse();
    [bytes[..352].to_vec(), big_endian()].concat()
}

/// With an extension that says it has `size` bytes.
fn with_extension(size: i32) -> Vec<u8> {
    let mut bytes = nifti()[..352].to_vec();
    bytes[348] = 1;
    bytes[108..112].copy_from_slice(&368_f32.to_le_bytes());
    [bytes, size.to_le_bytes().to_vec(), vec![4, 0, 0, 0], vec![b'x'; 8], elements()].concat()
}

#[rustfmt::skip]
fn nifti_headers() -> Vec<Case> {
    let refused = |name: &str, bytes: fn() -> Vec<u8>, words: &[&str]| {
        file(name, NII, bytes, Outcome::refused(&[&[NII], words].concat()))
    };
    vec![
        refused("no axes", || with_i16(40, 0), &["dim[0]", "0"]),
        refused("8 axes", || with_i16(40, 8), &["dim[0]", "8"]),
        refused("-1 axes", || with_i16(40, -1), &["dim[0]", "-1"]),
        refused("a negative extent", || with_i16(44, -4), &["dim[2]", "-4"]),
        refused("an extent of 0", || with_i16(42, 0), &["dim[1]", "0"]),
        refused("larger extents than the file", || with_i16(42, i16::MAX), &["need"]),
        refused("extents whose product overflows", || { let mut b = nifti(); b[40] = 7; for at in 0..7 { b[42 + 2 * at..44 + 2 * at].copy_from_slice(&i16::MAX.to_le_bytes()); } b }, &["63 bits"]),
        refused("an offset that is no number", || with_offset(f32::NAN), &["vox_offset"]),
        refused("an offset without end", || with_offset(f32::INFINITY), &["vox_offset"]),
        refused("a negative offset", || with_offset(-352.0), &["vox_offset"]),
        refused("an offset in the header", || with_offset(100.0), &["vox_offset"]),
        refused("an offset of half a byte", || with_offset(352.5), &["vox_offset"]),
        refused("an offset beyond the file", || with_offset(500_000.0), &["ends"]),
        refused("an offset of 16 MiB", || with_offset(16_777_216.0), &["vox_offset"]),
        refused("another magic", || with_magic(*b"nope"), &["magic"]),
        refused("a magic of control characters", || with_magic(*b"n\x1b[m"), &["magic"]),
        refused("a pair of files", || with_magic(*b"ni1\0"), &["magic", ".hdr"]),
        refused("ANALYZE 7.5", || with_magic([0; 4]), &["ANALYZE"]),
        refused("a data type that there is not", || with_i16(70, 9999), &["datatype", "9999"]),
        refused("no data type", || with_i16(70, 0), &["datatype"]),
        refused("single bits", || with_i16(70, 1), &["datatype"]),
        refused("bits of another type", || with_i16(72, 64), &["bitpix", "64"]),
        refused("an empty file", Vec::new, &[]),
        refused("a file that ends in its header", || nifti()[..200].to_vec(), &["ends"]),
        refused("a file that ends in its elements", || nifti()[..390].to_vec(), &["need"]),
        refused("text", || b"This is a README about images.".to_vec(), &["sizeof_hdr"]),
        refused("a file of gzip", || gzip(&nifti()), &["compressed"]),
        refused("version 2: a negative extent", || with_i64(24, -6), &["dim[1]", "-6"]),
        refused("version 2: an extent of 2^62", || with_i64(24, 1 << 62), &["63 bits"]),
        refused("version 2: an offset of 2^62", || with_i64(168, 1 << 62), &["vox_offset"]),
        refused("version 2: a negative offset", || with_i64(168, -1), &["vox_offset"]),
        refused("version 2 whose line ends were changed", || { let mut b = nifti2(); b[8] = b'\n'; b }, &["magic"]),
        file("sound", NII, nifti, whole()),
        file("version 2", NII, nifti2, whole()),
        file("big-endian", NII, nifti_big_endian, whole()),
        file("bytes after the elements", NII, || [nifti(), vec![7; 100]].concat(), whole()),
        file("an extension of a negative size", NII, || with_extension(-16), whole()),
        file("an extension of 2 GiB", NII, || with_extension(i32::MAX), whole()),
    ]
}

/// A few hundred kB that unpack to many MiB.
fn bomb(before: &[u8], bytes: u64) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(9));
    std::io::Write::write_all(&mut encoder, before).unwrap();
    zeros(&mut encoder, bytes);
    encoder.finish().unwrap()
}

/// The usual header with so many elements that only a bomb can hold them.
fn large_header() -> Vec<u8> {
    let mut bytes = nifti()[..352].to_vec();
    for (at, value) in [(40, 4_i16), (42, i16::MAX), (44, i16::MAX), (46, i16::MAX), (48, 1)] {
        bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

#[rustfmt::skip]
fn compressed() -> Vec<Case> {
    let refused = |name: &str, bytes: fn() -> Vec<u8>, words: &[&str]| {
        file(name, GZ, bytes, Outcome::refused(&[&[GZ], words].concat()))
    };
    // Found while it is unpacked, beside the target: what is left lets the run go on. What is wrong
    // in the first MiB is found before.
    let stopped = |name: &str, bytes: fn() -> Vec<u8>, words: &[&str]| {
        file(name, GZ, bytes, Outcome::stopped(&[&[GZ], words].concat()))
    };
    vec![
        file("sound", GZ, || gzip(&nifti()), whole()),
        file("in two members", GZ, || [gzip(&nifti()[..360]), gzip(&nifti()[360..])].concat(), whole()),
        refused("not compressed", nifti, &["unpack"]),
        refused("empty", Vec::new, &[]),
        refused("the magic alone", || vec![0x1f, 0x8b], &[]),
        stopped("cut in its elements", || gzip(&nifti())[..60].to_vec(), &["unpack"]),
        refused("cut in its header", || gzip(&nifti())[..20].to_vec(), &["ends"]),
        stopped("cut at its end", || { let mut b = gzip(&nifti()); b.pop(); b }, &["unpack"]),
        refused("another CRC", || { let mut b = gzip(&nifti()); let at = b.len() - 8; b[at] ^= 1; b }, &["unpack"]),
        refused("another size at its end", || { let mut b = gzip(&nifti()); let at = b.len() - 1; b[at] ^= 1; b }, &["unpack"]),
        stopped("another CRC far behind", || { let mut b = bomb(&nifti(), 2 << 20); let at = b.len() - 8; b[at] ^= 1; b }, &["unpack"]),
        stopped("fewer elements than said", || gzip(&nifti()[..390]), &["need"]),
        refused("rubbish after it", || [gzip(&nifti()), b"rubbish!".repeat(9)].concat(), &["unpack"]),
        refused("a member that is no NIfTI", || gzip(b"no image, but long enough for a header"), &["sizeof_hdr"]),
        refused("a header of 70 TB over nothing", || bomb(&large_header(), 1000), &["elements need", "cannot hold"]),
        file("512 MiB after the elements", GZ, || bomb(&nifti(), 512 << 20), Outcome::stopped(&[GZ, "after its elements"])),
        file("a header that a bomb follows", GZ, || bomb(&[0x5c, 1, 0, 0], 64 << 20), Outcome::refused(&[GZ])),
    ]
}

/// Cases of options for a file without a header.
#[rustfmt::skip]
fn headerless() -> Vec<Case> {
    let case = |name: &str, options: &[&str], outcome: Outcome| {
        let case = file(name, "source.bin", elements, outcome);
        let fixed = ["copy", "SOURCE", "TARGET", "--format", "zarr2", "--codec", "none", "--no-fsync", "--write-empty", "always"];
        case.arguments(&[&fixed, options].concat())
    };
    let usage = |words: &[&str]| Outcome::fails(2, words, Left::Nothing);
    let refused = |words: &[&str]| Outcome::refused(&[&["source.bin"], words].concat());
    let shaped = |name: &str, shape: &str, outcome: Outcome| case(name, &["--raw-shape", shape, "--raw-dtype", "uint16"], outcome);
    vec![
        shaped("sound", "4,6", Outcome::Done),
        shaped("an element too many", "5,5", refused(&["48 bytes", "50"])),
        shaped("an element too few", "23", refused(&["48 bytes", "46"])),
        shaped("2^64 elements", "4294967296,4294967296", refused(&["63 bits"])),
        shaped("a negative extent", "4,-6", usage(&["raw-shape"])),
        shaped("an extent of 2^64", "18446744073709551616", usage(&["raw-shape"])),
        shaped("40 axes", &["1"; 40].join(","), refused(&["40"])),
        shaped("a scalar", "", refused(&["48 bytes", "2"])),
        shaped("an axis of 0", "0,6", refused(&["48 bytes", "0"])),
        case("a type that there is not", &["--raw-shape", "4,6", "--raw-dtype", "uint17"], Outcome::refused(&["uint17"])),
        case("a shape without a type", &["--raw-shape", "4,6"], usage(&["--raw-dtype"])),
        case("nothing said", &[], refused(&["--raw-shape"])),
        case("an offset beyond the file", &["--raw-shape", "4,6", "--raw-dtype", "uint16", "--raw-offset", "9000"], refused(&["48 bytes", "9048"])),
        case("an offset of 2^64", &["--raw-shape", "4,6", "--raw-dtype", "uint16", "--raw-offset", "18446744073709551616"], usage(&["raw-offset"])),
        case("an offset of 2^63", &["--raw-shape", "4,6", "--raw-dtype", "uint16", "--raw-offset", "9223372036854775807"], refused(&["63 bits"])),
        Case::new("source.bin: a directory", |scene| scene.write("array.json", json!({}).to_string()), usage(&["source.bin"])).from("source.bin")
            .arguments(&["copy", "SOURCE", "TARGET", "--raw-shape", "4,6", "--raw-dtype", "uint16"]),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    [npy_headers(), nifti_headers(), compressed(), headerless()].into_iter().flatten().collect()
}

#[test]
fn hostile_headers_of_raw_files_are_refused() {
    play_all("headers of raw files", &cases());
}
