//! Arrays whose elements cannot be told apart are equal if their chunks are stored alike; otherwise
//! it is not known.

use rechunk_array::{Array, ArrayError};
use rechunk_exec::ExecError;
use tokio_util::sync::CancellationToken;

use super::Comparison;
use crate::Error;
use crate::open::OpenArray;

/// Compares chunk by chunk, two at a time in memory.
pub(super) async fn compare(
    a: &OpenArray,
    other: &Array,
    cancel: &CancellationToken,
) -> Result<Comparison, Error> {
    let unknown = |reason: String| Error::NotAnArray {
        location: a.location.clone(),
        reason: format!(
            "elements that cannot be told apart are only compared as they are stored, {reason}"
        ),
        hint: None,
    };
    let (x, y) = (a.array.layout(), other.layout());
    let is_alike = x.spec().chunk_shape == y.spec().chunk_shape && x.spec().edges == y.spec().edges;
    if !is_alike {
        return Err(unknown("and the arrays have chunks of other shapes".to_owned()));
    }
    if x.encoding_identity() != y.encoding_identity() {
        return Err(unknown("and the arrays have other codecs".to_owned()));
    }
    let failed = |error: ArrayError| Error::Compare { source: Box::new(error) };
    for index in a.grid()?.indices().positions() {
        if cancel.is_cancelled() {
            return Err(Error::compare(ExecError::Cancelled));
        }
        let chunk = a.array.read_chunk(&index).await.map_err(failed)?;
        if chunk != other.read_chunk(&index).await.map_err(failed)? {
            return Err(unknown(format!("and chunk {index:?} is not stored alike")));
        }
    }
    let elements = a.spec().shape.iter().product();
    Ok(Comparison {
        equal: true,
        differing_elements: 0,
        elements,
        first_difference: None,
        first_region: None,
    })
}
