//! Why a store has refused a read.

use crate::file_size::FileSize;
use crate::wanted::Wanted;
use crate::{Store, StoreError};

impl Store {
    /// Explains a failed read. Stores refuse a range behind the end: then the object is not of its
    /// size.
    pub(crate) async fn why_refused(
        &self,
        key: &str,
        wanted: Wanted<'_>,
        error: object_store::Error,
    ) -> StoreError {
        let failed = self.view.failed(key, "read", error);
        let is_of_range = matches!(wanted, Wanted::RangeOf { .. } | Wanted::Range { .. });
        let may_be_short = is_of_range
            && !self.answers_with_all(wanted)
            && !failed.is_retryable()
            && !failed.is_permission_denied();
        if may_be_short && let Ok(Some(size_bytes)) = self.head(key).await {
            let fits = match wanted {
                Wanted::Range { start, length } => {
                    let least = FileSize::AtLeast(start.saturating_add(length));
                    self.view.check_size(key, least, size_bytes)
                }
                _ => self.view.check_exact(key, wanted, size_bytes),
            };
            return fits.err().unwrap_or(failed);
        }
        failed
    }
}
