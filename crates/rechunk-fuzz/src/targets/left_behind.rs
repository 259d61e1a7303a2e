//! Files that a run leaves beside its target: its lock, the copy of a group, the mark of a job that
//! is done.

use futures::executor::block_on;
use rechunk::{Stores, status};
use rechunk_store::{Holder, Store};

/// The target, in memory, and the keys beside it that are read.
const TARGET: &str = "memory://left-behind/out.zarr";
const KEYS: [&str; 3] = ["tree.json", "done.json", "lock"];
/// Most seconds that are asked of a writer's silence.
const SILENT: [u64; 3] = [0, 60, u64::MAX];

/// By the first byte: the saved copy of a group, the mark of a job that is done, or who holds a
/// lock.
pub(crate) fn target(data: &[u8]) -> bool {
    let Some((&first, document)) = data.split_first() else { return false };
    let kind = usize::from(first) % KEYS.len();
    if KEYS[kind] == "lock" {
        return lock(document);
    }
    block_on(async {
        let beside = Store::open(&format!("{TARGET}.rechunk")).ok()?;
        for (number, key) in KEYS.iter().enumerate() {
            if number == kind {
                beside.put(key, vec![document.to_vec().into()]).await.ok()?;
            } else {
                beside.delete(key).await.ok()?;
            }
        }
        let found = status(TARGET, &Stores::default()).await.ok()?;
        for member in &found.members {
            // Whoever removes what is left goes by these paths.
            assert!(
                member.path.split('/').all(|name| !matches!(name, "" | "." | "..")),
                "{member:?}"
            );
        }
        Some(())
    })
    .is_some()
}

fn lock(document: &[u8]) -> bool {
    let Some(holder) = Holder::of(document) else { return false };
    assert_eq!(Holder::of(&holder.bytes()).map(|again| again.bytes()), Some(holder.bytes()));
    for seconds in SILENT {
        let _ = holder.is_live(seconds);
    }
    true
}
