//! Sources whose location names something that moves on: a branch of a repository.

use rechunk_store::Stores;

use crate::Error;
use crate::open::open_store;
use crate::request::CopyRequest;

/// Has a request name the state that its source is in now. Whoever goes on with it, here or in
/// another process, then reads the same.
pub(crate) async fn fixed_source(
    mut request: CopyRequest,
    stores: &Stores,
) -> Result<CopyRequest, Error> {
    let source = &request.source;
    let fixed = open_store(source, stores)?.fixed_location(source).await;
    if let Some(fixed) = fixed.map_err(|error| Error::source_store(source, error))? {
        request.source = fixed;
    }
    Ok(request)
}
