//! Requests changed on their way to s3s-fs, after their signature was checked.

use std::path::PathBuf;

use s3s::access::S3Access;
use s3s::dto::{GetObjectInput, Range};
use s3s::{S3Request, S3Result};

use crate::listing::stat;
use crate::root::object_path;

/// Lets in what is signed.
#[derive(Debug)]
pub(super) struct Access {
    pub(super) root: PathBuf,
}

#[async_trait::async_trait]
impl S3Access for Access {
    /// More last bytes than there are is the whole object; s3s-fs fails on it.
    async fn get_object(&self, request: &mut S3Request<GetObjectInput>) -> S3Result<()> {
        let input = &mut request.input;
        let path = object_path(&self.root.join(&input.bucket), &input.key);
        let size_bytes = path.and_then(|path| stat(&path)).map_or(u64::MAX, |file| file.size_bytes);
        if let Some(Range::Suffix { length }) = input.range
            && length > size_bytes
        {
            input.range = Some(Range::Int { first: 0, last: None });
        }
        Ok(())
    }
}
