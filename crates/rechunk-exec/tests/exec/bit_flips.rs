//! Damage at rest between two stages, and in the journal: none goes unnoticed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use bytes::Bytes;
use rechunk_exec::{ExecError, Fault, JOURNAL_KEY, Journal, JournalContents, intermediate_key};
use rechunk_grid::{DataType, WriteEmpty};
use rechunk_plan::{Plan, Strategy as Kind};
use rechunk_store::{Meter, Store};

use crate::by_slab;
use crate::case::{Case, Prepared, SideCase, execute, execute_observed, runtime};
use crate::journal::{CancelAfter, header, work_store};
use crate::layout::Codec;

/// Small random numbers that are the same in every run (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % end as u64).try_into().unwrap()
    }

    /// Flips one bit anywhere in `bytes`.
    fn flip(&mut self, bytes: &mut [u8]) {
        let bit = self.below(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

fn case(kind: Kind, has_shards: bool) -> Case {
    let side = |chunk: &[u64], shards: &[u64]| SideCase {
        shards: has_shards.then(|| (shards.to_vec(), false)),
        fill: Some(0),
        ..SideCase::plain(chunk, Codec::Runs)
    };
    Case {
        shape: vec![40, 36],
        data_type: DataType::Float32,
        source: side(&[3, 36], &[2, 1]),
        target: side(&[40, 3], &[1, 2]),
        kind,
        threads: 1,
        spare_bytes: 0,
        write_empty: WriteEmpty::Auto,
        missing: 0b100,
        // Of the test sources, those with multiples of 7 tell what is absent: pieces have marks.
        seed: if has_shards { 7 } else { 3 },
    }
}

/// A journal in which the stages before `stage` are done.
fn write_journal(path: &Path, first_line: &str, plan: &Plan, stage: usize) {
    let mut text = format!("{first_line}\n");
    for (number, before) in plan.stages.iter().take(stage).enumerate() {
        let line = format!(r#"{{"stage":{number},"task":0,"tasks":{}}}"#, before.tasks);
        writeln!(text, "{line} #{:08x}", crc32c::crc32c(line.as_bytes())).unwrap();
    }
    std::fs::write(path, text).unwrap();
}

/// A copy that has come to its end, but for what it has put aside.
struct Staged {
    case: Case,
    plan: Plan,
    prepared: Prepared,
    directory: tempfile::TempDir,
    first_line: String,
    objects: BTreeMap<String, Bytes>,
}

impl Staged {
    async fn new(case: Case) -> Self {
        let prepared = case.prepare().await;
        Self::of(case, prepared).await
    }

    async fn of(case: Case, prepared: Prepared) -> Self {
        let plan = case.plan().unwrap();
        execute(prepared.execution(&case, &plan, &Meter::new()), None).await.unwrap();
        let mut objects = BTreeMap::new();
        for (stage, before) in plan.stages.iter().enumerate().take(plan.stages.len() - 1) {
            for task in 0..before.tasks {
                let key = format!("stage{stage}/{task:09}");
                let object = prepared.intermediate.get(&key, u64::MAX).await.unwrap().unwrap();
                objects.insert(key, object);
            }
        }
        let directory = tempfile::tempdir().unwrap();
        let store = work_store(&directory);
        drop(Journal::create(&store, header(&plan), "test").await.unwrap());
        let text = std::fs::read_to_string(directory.path().join(JOURNAL_KEY)).unwrap();
        let first_line = text.trim_end().to_owned();
        Self { case, plan, prepared, directory, first_line, objects }
    }

    /// Goes on behind the stage that has written the object `key`.
    async fn resume_behind(&self, key: &str) -> Result<(), ExecError> {
        let stage: usize = key["stage".len()..].split('/').next().unwrap().parse().unwrap();
        let store: Store = work_store(&self.directory);
        let path = self.directory.path().join(JOURNAL_KEY);
        write_journal(&path, &self.first_line, &self.plan, stage + 1);
        let journal = Journal::open(&store, "test").await.unwrap();
        let execution = self.prepared.execution(&self.case, &self.plan, &Meter::new());
        execute(execution, Some(journal)).await.map(drop)
    }

    async fn put(&self, key: &str, bytes: Vec<u8>) {
        self.prepared.intermediate.put(key, vec![bytes.into()]).await.unwrap();
    }

    /// The error of going on with other bytes in the object `key`.
    async fn damage(&self, key: &str, bytes: Vec<u8>) -> ExecError {
        self.put(key, bytes).await;
        let ended = self.resume_behind(key).await;
        self.put(key, self.objects[key].to_vec()).await;
        ended.unwrap_err()
    }
}

fn assert_named(error: &ExecError, key: &str) {
    assert!(matches!(error.fault(), Some(Fault::DamagedPiece { .. })), "{error}");
    assert!(!error.is_retryable(), "{error}");
    assert_of_task(error, key);
}

/// It says which task has written the object `key`.
fn assert_of_task(error: &ExecError, key: &str) {
    assert!(error.is_output_fault() && error.is_intermediate_damage(), "{error}");
    assert!(!error.is_source_fault(), "{error}");
    assert!(error.to_string().contains(key), "{error}");
    let by = error.damaged_task().unwrap();
    assert_eq!((intermediate_key(by.stage, by.start).as_str(), by.len()), (key, 1), "{error}");
    let ExecError::Task { stage, .. } = error else { panic!("{error}") };
    assert_eq!(*stage, by.stage + 1);
}

#[test]
fn no_flipped_bit_of_an_intermediate_is_copied() {
    let cases = [
        (case(Kind::PushPull, false), 340),
        (case(Kind::Multistage, false), 330),
        (case(Kind::PushPull, true), 330),
    ];
    for (number, (case, flips)) in cases.into_iter().enumerate() {
        let kind = case.kind;
        runtime().block_on(async {
            let staged = Staged::new(case).await;
            let stages = staged.plan.stages.len();
            assert_eq!(stages > 2, kind == Kind::Multistage, "{:?}", staged.plan);
            let keys: Vec<&String> = staged.objects.keys().collect();
            let mut random = Random(number as u64);
            for _ in 0..flips {
                let key = keys[random.below(keys.len())];
                let mut bytes = staged.objects[key].to_vec();
                random.flip(&mut bytes);
                assert_named(&staged.damage(key, bytes).await, key);
            }
            // It was the damage, and nothing else.
            staged.resume_behind(keys[0]).await.unwrap();
            let result = staged.case.read_all(&staged.case.target, &staged.prepared.target).await;
            assert_eq!(result, staged.prepared.elements);
        });
    }
}

/// Those that are read slab by slab, out of files: in each slab, and in the checksum.
#[test]
fn no_flipped_bit_of_a_large_piece_is_copied() {
    let case = by_slab::case(&[700, 1800], DataType::Float32, Kind::PushPull);
    let folder = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let prepared = case.prepare_in(folder.path()).await;
        let staged = Staged::of(case, prepared).await;
        let (key, object) = staged.objects.first_key_value().unwrap();
        let last = object.len() - 1;
        for at in [0, last / 5, last / 2 - 1, last / 2 + 1, last - 4, last - 3, last] {
            let mut bytes = object.to_vec();
            bytes[at] ^= 0x10;
            assert_named(&staged.damage(key, bytes).await, key);
            // What has been written before is there still: no unit went out with what is damaged.
            let target = staged.case.read_all(&staged.case.target, &staged.prepared.target).await;
            assert!(target == staged.prepared.elements, "{at}");
        }
        for left in [0, 1, last] {
            let error = staged.damage(key, object[..left].to_vec()).await;
            assert!(matches!(error.fault(), Some(Fault::LostPiece { .. })), "{error}");
            assert_of_task(&error, key);
        }
        // It was the damage, and nothing else.
        staged.resume_behind(key).await.unwrap();
        let result = staged.case.read_all(&staged.case.target, &staged.prepared.target).await;
        assert!(result == staged.prepared.elements);
    });
}

#[test]
fn pieces_in_the_place_of_others_are_damage() {
    runtime().block_on(async {
        let staged = Staged::new(case(Kind::PushPull, false)).await;
        let keys: Vec<&String> = staged.objects.keys().collect();
        let same_length = |key: &&&String| {
            **key != keys[0] && staged.objects[**key].len() == staged.objects[keys[0]].len()
        };
        let other = keys.iter().find(same_length).unwrap();
        let error = staged.damage(keys[0], staged.objects[*other].to_vec()).await;
        assert_named(&error, keys[0]);
        // What a disk gives that has lost a write.
        let zeros = vec![0; staged.objects[keys[0]].len()];
        assert_named(&staged.damage(keys[0], zeros).await, keys[0]);
    });
}

#[test]
fn an_object_that_is_cut_or_gone_is_that_of_its_task() {
    for kind in [Kind::PushPull, Kind::Multistage] {
        runtime().block_on(async {
            let staged = Staged::new(case(kind, false)).await;
            for (key, object) in &staged.objects {
                for left in [0, 1, object.len() - 1] {
                    let error = staged.damage(key, object[..left].to_vec()).await;
                    assert!(matches!(error.fault(), Some(Fault::LostPiece { .. })), "{error}");
                    assert_of_task(&error, key);
                }
                staged.prepared.intermediate.delete(key).await.unwrap();
                let error = staged.resume_behind(key).await.unwrap_err();
                staged.put(key, object.to_vec()).await;
                assert_of_task(&error, key);
                assert!(!error.is_retryable(), "{error}");
            }
        });
    }
}

/// Everything that a damaged journal says is also said by the sound one.
fn assert_believed(read: &JournalContents, sound: &JournalContents, plan: &Plan) {
    assert_eq!(read.header, sound.header);
    for (stage, planned) in plan.stages.iter().enumerate() {
        for (start, end) in read.done.ranges(stage) {
            assert!((start..end).all(|task| sound.done.contains(stage, task)), "{read:?}");
        }
        for task in 0..planned.tasks {
            let steps = read.done.steps(stage, task);
            let is_right =
                steps <= sound.done.steps(stage, task) || sound.done.contains(stage, task);
            assert!(is_right, "{read:?}");
        }
    }
}

#[test]
fn no_flipped_bit_of_a_journal_makes_a_wrong_mark() {
    for (number, kind) in [Kind::PushPull, Kind::Multistage, Kind::Keep].into_iter().enumerate() {
        let case = case(kind, false);
        let plan = case.plan().unwrap();
        runtime().block_on(async {
            let directory = tempfile::tempdir().unwrap();
            let store = work_store(&directory);
            let prepared = case.prepare().await;
            let journal = Journal::create(&store, header(&plan), "test").await.unwrap();
            let execution = prepared.execution(&case, &plan, &Meter::new());
            let observer = CancelAfter::new(plan.task_count() * 2 / 3 + 1);
            let token = observer.token.clone();
            let _ = execute_observed(execution, Some(journal), observer, token).await;
            let path = directory.path().join(JOURNAL_KEY);
            crate::journal::add_line(&path, r#"{"stage":0,"task":0,"steps":1}"#);
            let bytes = std::fs::read(&path).unwrap();
            let sound = Journal::read(&store).await.unwrap();
            let mut random = Random(number as u64);
            for _ in 0..340 {
                let mut damaged = bytes.clone();
                random.flip(&mut damaged);
                std::fs::write(&path, &damaged).unwrap();
                match Journal::read(&store).await {
                    Ok(read) => assert_believed(&read, &sound, &plan),
                    Err(error) => assert!(error.to_string().contains("first line"), "{error}"),
                }
            }
        });
    }
}
