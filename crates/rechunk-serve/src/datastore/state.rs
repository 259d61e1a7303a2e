use std::sync::Arc;

use rechunk_datastore::Datastore;

use super::budget::Budget;
use super::metrics::Metrics;
use super::options::DatastoreOptions;
use super::rate::Rate;
use super::rebuilds::Rebuilds;

/// State that all requests share.
#[derive(Debug)]
pub(super) struct Face {
    pub datastore: Arc<Datastore>,
    pub options: DatastoreOptions,
    pub uploads: Budget,
    pub downloads: Budget,
    pub metrics: Arc<Metrics>,
    pub rate: Option<Rate>,
    pub rebuilds: Rebuilds,
}

impl Face {
    pub(super) fn new(datastore: Arc<Datastore>, options: DatastoreOptions) -> Self {
        let (uploads, downloads) =
            (Budget::new(options.upload_bytes), Budget::new(options.download_bytes));
        let (metrics, rate) = (Arc::new(Metrics::new()), options.rate.map(Rate::new));
        let rebuilds = Rebuilds::new();
        Self { datastore, options, uploads, downloads, metrics, rate, rebuilds }
    }
}
