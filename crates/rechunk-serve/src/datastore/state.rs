use std::sync::Arc;

use rechunk_datastore::Datastore;

use super::budget::Budget;
use super::metrics::Metrics;
use super::options::DatastoreOptions;

/// State that all requests share.
#[derive(Debug)]
pub(super) struct Face {
    pub datastore: Arc<Datastore>,
    pub options: DatastoreOptions,
    pub uploads: Budget,
    pub downloads: Budget,
    pub metrics: Arc<Metrics>,
}

impl Face {
    pub(super) fn new(datastore: Arc<Datastore>, options: DatastoreOptions) -> Self {
        let (uploads, downloads) =
            (Budget::new(options.upload_bytes), Budget::new(options.download_bytes));
        Self { datastore, options, uploads, downloads, metrics: Arc::new(Metrics::new()) }
    }
}
