//! Journals of interrupted runs.

use bytes::Bytes;
use futures::executor::block_on;
use rechunk_exec::{JOURNAL_KEY, Journal};
use rechunk_store::Store;

/// Stages whose done tasks are counted.
const STAGES: usize = 4;

/// A journal as it is; and, behind a first byte that is a 0, its lines with the checksums they should
/// have.
pub(crate) fn target(data: &[u8]) {
    match data.split_first() {
        Some((0, lines)) => read(with_checksums(lines)),
        _ => read(data.to_vec()),
    }
}

fn with_checksums(lines: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(lines.len());
    for line in lines.split(|&byte| byte == b'\n') {
        text.extend_from_slice(line);
        text.extend_from_slice(format!(" #{:08x}\n", crc32c::crc32c(line)).as_bytes());
    }
    text
}

fn read(journal: Vec<u8>) {
    let length = journal.len() as u64;
    let contents = block_on(async {
        let store = Store::open("memory:").ok()?;
        store.put(JOURNAL_KEY, vec![Bytes::from(journal)]).await.ok()?;
        Journal::read(&store).await.ok()
    });
    let Some(contents) = contents else { return };
    assert!(contents.damaged_bytes < length);
    for stage in 0..STAGES {
        let count: u64 = contents.done.ranges(stage).map(|(start, end)| end - start).sum();
        assert_eq!(contents.done.count(stage), count);
        for (start, end) in contents.done.ranges(stage) {
            assert!(start < end && contents.done.contains(stage, start));
            assert!(!contents.done.contains(stage, end));
        }
    }
}
