//! Shards that differ in length, with chunks of one shape in them (a rectilinear grid of Zarr v3),
//! written here.

use std::io::Write;
use std::path::Path;

use rechunk_testkit::S3Server;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::arrays::{RawArray, write_json};
use crate::cloud::S3;
use crate::harness::{Folder, assert_read_as_planned, rechunk, tree};
use crate::oracle::{World, available, job, read};

const SHAPE: [u64; 2] = [60, 48];

/// Cuts of a source.
struct Cut {
    name: &'static str,
    /// As the metadata says it.
    chunk_shapes: Value,
    /// Lengths of the shards along each axis.
    lengths: [&'static [u64]; 2],
    /// Shape of the chunks inside.
    inner: [u64; 2],
}

fn cuts() -> Vec<Cut> {
    let cut = |name, chunk_shapes, lengths, inner| Cut { name, chunk_shapes, lengths, inner };
    vec![
        cut("list", json!([[12, 48], [24, 24]]), [&[12, 48], &[24, 24]], [6, 8]),
        cut(
            "list-and-runs",
            json!([[20, 4, 36], [[16, 2], 8, 8]]),
            [&[20, 4, 36], &[16, 16, 8, 8]],
            [4, 8],
        ),
        cut("runs", json!([[[6, 4], 36], [[12, 4]]]), [&[6, 6, 6, 6, 36], &[12; 4]], [3, 12]),
        cut("one-axis", json!([[30, 10, 20], 48]), [&[30, 10, 20], &[48]], [5, 16]),
        // The last shard reaches over the end, and one lies beyond it.
        cut(
            "over-the-end",
            json!([[16, 40, 8, 8], [[32, 1], 40, [8, 3]]]),
            [&[16, 40, 8], &[32, 40]],
            [8, 8],
        ),
        cut("one-chunk-each", json!([[7, 53], [48]]), [&[7, 53], &[48]], [1, 48]),
    ]
}

fn ranges(lengths: &[u64]) -> Vec<(u64, u64)> {
    lengths
        .iter()
        .scan(0, |end, &length| {
            *end += length;
            Some((*end - length, length))
        })
        .collect()
}

/// The elements of the array, C order: those of every [`RawArray`] of the shape.
fn elements() -> Vec<u8> {
    RawArray::v3(&SHAPE, &SHAPE).chunk(&[0; 2])
}

impl Cut {
    /// Writes the array: chunks with gzip, and none for which `skip` is true, by the place of the
    /// first element.
    fn write(&self, directory: &Path, skip: impl Fn(u64, u64) -> bool) {
        let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
        let gzip = json!({"name": "gzip", "configuration": {"level": 1}});
        let (_, mut document) = RawArray::v3(&SHAPE, &SHAPE).metadata();
        document["chunk_grid"] = json!({
            "name": "rectilinear",
            "configuration": {"kind": "inline", "chunk_shapes": self.chunk_shapes},
        });
        document["dimension_names"] = json!(["y", "x"]);
        document["codecs"] = json!([{"name": "sharding_indexed", "configuration": {
            "chunk_shape": self.inner, "codecs": [bytes, gzip],
            "index_codecs": [bytes, {"name": "crc32c"}], "index_location": "end",
        }}]);
        std::fs::create_dir_all(directory).unwrap();
        write_json(&directory.join("zarr.json"), &document);
        for (i, &rows) in ranges(self.lengths[0]).iter().enumerate() {
            for (j, &columns) in ranges(self.lengths[1]).iter().enumerate() {
                if let Some(shard) = self.shard(rows, columns, &skip) {
                    let path = directory.join(format!("c/{i}/{j}"));
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, shard).unwrap();
                }
            }
        }
    }

    /// A shard with its index; `None` if nothing is in it.
    fn shard(
        &self,
        rows: (u64, u64),
        columns: (u64, u64),
        skip: impl Fn(u64, u64) -> bool,
    ) -> Option<Vec<u8>> {
        let [height, width] = self.inner;
        let (mut shard, mut index) = (Vec::new(), Vec::new());
        for y in (rows.0..rows.0 + rows.1).step_by(usize::try_from(height).unwrap()) {
            for x in (columns.0..columns.0 + columns.1).step_by(usize::try_from(width).unwrap()) {
                let is_inside = y < SHAPE[0] && x < SHAPE[1];
                let entry = if is_inside && !skip(y, x) {
                    let chunk = gzip(&self.chunk(y, x));
                    let entry = [shard.len() as u64, chunk.len() as u64];
                    shard.extend(chunk);
                    entry
                } else {
                    [u64::MAX; 2]
                };
                index.extend(entry.into_iter().flat_map(u64::to_le_bytes));
            }
        }
        let checksum = crc32c::crc32c(&index).to_le_bytes();
        let is_empty = shard.is_empty();
        shard.extend(index);
        shard.extend(checksum);
        (!is_empty).then_some(shard)
    }

    /// The chunk that begins at an element; zeros beyond the array.
    fn chunk(&self, y: u64, x: u64) -> Vec<u8> {
        let all = elements();
        let mut chunk = Vec::new();
        for row in y..y + self.inner[0] {
            for column in x..x + self.inner[1] {
                let at = usize::try_from((row * SHAPE[1] + column) * 4).unwrap();
                let is_inside = row < SHAPE[0] && column < SHAPE[1];
                chunk.extend(if is_inside { &all[at..at + 4] } else { &[0; 4][..] });
            }
        }
        chunk
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(1));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Every chunk of two directories is the same, byte by byte.
#[track_caller]
fn assert_same_chunks(a: &str, b: &str, what: &str) {
    let chunks = |path: &str| {
        let mut files = tree(path.as_ref());
        files.remove("zarr.json");
        files
    };
    assert_eq!(chunks(a), chunks(b), "{what}");
}

#[test]
fn every_plan_copies_every_element_as_it_was_planned() {
    let folder = Folder::new();
    for (number, cut) in cuts().iter().enumerate() {
        let source = folder.at(cut.name);
        cut.write(source.as_ref(), |_, _| false);
        let chunks = [[60, 6], [10, 48], [25, 10]][number % 3];
        let expected = folder.at(&format!("expected-{number}"));
        RawArray::v3(&SHAPE, &chunks).write(&expected);
        let asked = format!("{},{}", chunks[0], chunks[1]);
        for strategy in ["auto", "keep", "pull", "push-pull", "multistage", "memory"] {
            let target = folder.at(&format!("{number}-{strategy}"));
            let what = format!("{} {asked} {strategy}", cut.name);
            let copy = ["copy", &source, &target, "--chunks", &asked, "--codec", "none", "--json"];
            let more = ["--strategy", strategy, "--max-mem", "16MiB", "--no-fsync", "--verify"];
            let report = rechunk(&[&copy[..], &more].concat()).ok().json();
            assert_same_chunks(&target, &expected, &what);
            assert_read_as_planned(&report, &what);
        }
        rechunk(&["verify", &source, &expected]).ok();
        rechunk(&["verify", &expected, &source]).ok();
    }
}

#[test]
fn regions_and_other_shards_are_cut_from_them() {
    let folder = Folder::new();
    for cut in cuts() {
        let (source, region) = (folder.at(cut.name), folder.at(&format!("{}-region", cut.name)));
        cut.write(source.as_ref(), |_, _| false);
        let (whole, part) = (folder.at(&format!("{}-whole", cut.name)), ["y=5:47", "x=9:33"]);
        let shards = ["--chunks", "5,8", "--shards", "30,16", "--no-fsync", "-q"];
        rechunk(&[&["copy", &source, &whole][..], &shards].concat()).ok();
        rechunk(&["verify", &source, &whole]).ok();
        let select = part.join(",");
        let select = ["--select", &select, "--chunks", "42,6", "--no-fsync", "-q"];
        rechunk(&[&["copy", &source, &region][..], &select].concat()).ok();
        let same = folder.at(&format!("{}-same", cut.name));
        rechunk(&[&["copy", &whole, &same][..], &select].concat()).ok();
        rechunk(&["verify", &region, &same]).ok();
        if available() {
            let all = elements();
            let answer = read(World::Z3, &[job(&whole, 3, "zarr")]).remove(0);
            let expected = json!(format!("{:x}", Sha256::digest(&all)));
            assert_eq!(answer["sha256"], expected, "{}: {answer}", cut.name);
        }
    }
}

#[test]
fn what_is_missing_in_them_holds_the_fill_value() {
    let folder = Folder::new();
    for cut in cuts() {
        let (source, target) = (folder.at(cut.name), folder.at(&format!("{}-copy", cut.name)));
        // All of the first shard of the second column, and every other chunk of the last rows.
        let skip = |y: u64, x: u64| {
            (y < cut.lengths[0][0] && x >= cut.lengths[1][0]) || (y > 40 && x.is_multiple_of(16))
        };
        cut.write(source.as_ref(), skip);
        let chunks = ["--chunks", "60,48", "--codec", "none", "--no-fsync", "-q"];
        rechunk(&[&["copy", &source, &target][..], &chunks].concat()).ok();
        let mut expected = elements();
        for (at, element) in (0_u64..).zip(expected.chunks_exact_mut(4)) {
            let (y, x) = (at / SHAPE[1], at % SHAPE[1]);
            if skip(y - y % cut.inner[0], x - x % cut.inner[1]) {
                element.fill(0);
            }
        }
        let found = std::fs::read(Path::new(&target).join("c/0/0")).unwrap();
        assert!(found == expected, "{}", cut.name);
        rechunk(&["verify", &source, &target]).ok();
    }
}

#[test]
fn they_are_read_from_an_object_store_as_planned() {
    for cut in cuts() {
        let s3 = S3::with(&RawArray::v3(&SHAPE, &SHAPE));
        let source = s3.server.root().join(S3Server::BUCKET).join("source.zarr");
        std::fs::remove_dir_all(&source).unwrap();
        cut.write(&source, |_, _| false);
        for strategy in ["pull", "keep"] {
            let options = ["--chunks", "25,10", "--strategy", strategy, "--verify"];
            let report = s3.copy(&format!("{strategy}.zarr"), &options).go().ok().json();
            assert_read_as_planned(&report, &format!("{} {strategy}", cut.name));
            let target = s3.server.root().join(S3Server::BUCKET).join(format!("{strategy}.zarr"));
            rechunk(&["verify", &source.display().to_string(), &target.display().to_string()]).ok();
        }
    }
}

#[test]
fn info_says_what_they_are() {
    let folder = Folder::new();
    for cut in cuts() {
        let source = folder.at(cut.name);
        cut.write(source.as_ref(), |_, _| false);
        let text = rechunk(&["info", &source]).ok().stdout;
        let told = format!("shards of {} × {} chunks", cut.inner[0], cut.inner[1]);
        for part in ["rectilinear grid", &told, "shards differ in length"] {
            assert!(text.contains(part), "{}: {part}: {text}", cut.name);
        }
        let info = rechunk(&["info", &source, "--json"]).ok().json();
        assert_eq!((&info["missing_chunks"], &info["foreign"]["count"]), (&json!(0), &json!(0)));
    }
}

#[test]
fn damage_in_them_is_found_and_named() {
    let folder = Folder::new();
    for cut in cuts() {
        let (source, target) = (folder.at(cut.name), folder.at(&format!("{}-copy", cut.name)));
        cut.write(source.as_ref(), |_, _| false);
        let last = cut.lengths[0].len() - 1;
        let shard = Path::new(&source).join(format!("c/{last}/0"));
        let bytes = std::fs::read(&shard).unwrap();
        let cut_off = &bytes[..bytes.len() - 20];
        let other = std::fs::read(Path::new(&source).join("c/0/0")).unwrap();
        let mut flipped = bytes.clone();
        *flipped.last_mut().unwrap() ^= 1;
        for damaged in [cut_off, &other, &flipped, &[]] {
            std::fs::write(&shard, damaged).unwrap();
            let copy = ["copy", &source, &target, "--chunks", "25,10", "--overwrite"];
            rechunk(&copy).ends_with(3).says(&[&format!("c/{last}/0"), "sharding_indexed"]);
        }
    }
}

#[test]
fn they_are_kept_by_a_copy() {
    let folder = Folder::new();
    for cut in cuts() {
        let (source, target) = (folder.at(cut.name), folder.at(&format!("{}-copy", cut.name)));
        cut.write(source.as_ref(), |_, _| false);
        rechunk(&["copy", &source, &target, "--verify", "-q"]).ok();
        rechunk(&["verify", &source, &target]).ok();
        let info = |place: &str| rechunk(&["info", place, "--json"]).ok().json();
        let (before, after) = (info(&source), info(&target));
        for field in ["shape", "chunks", "shards"] {
            assert_eq!(after[field], before[field], "{}: {field}", cut.name);
        }
    }
}
