//! Requests that name a version of a data set at a server, whose array is there already.

use rechunk_store::is_versioned;

use crate::Error;
use crate::placement::Placement;
use crate::request::CopyRequest;

/// Has a source go into what is there, where the target is a version of a data set.
pub(crate) fn into_version(mut request: CopyRequest) -> Result<CopyRequest, Error> {
    if !is_versioned(&request.target) {
        return Ok(request);
    }
    if let Some(Placement::Append(_)) = &request.placement {
        return Err(Error::Usage {
            message: format!("cannot append to {}: a data set keeps its shape", request.target),
            hint: Some("create a larger one, and write its parts into regions".into()),
        });
    }
    if let Some(apply) = &mut request.apply {
        apply.update = true;
    } else if request.placement.is_none() {
        request.placement = Some(Placement::Whole);
    }
    Ok(request)
}

/// Refuses a target that takes one array, where a group is to be written.
pub(crate) fn check_takes_group(request: &CopyRequest) -> Result<(), Error> {
    if !is_versioned(&request.target) {
        return Ok(());
    }
    Err(Error::Usage {
        message: format!("cannot write a group to {}: it is one level", request.target),
        hint: Some(
            "copy the array of each level to its own; or the finest one, and have the server \
             rebuild the others"
                .into(),
        ),
    })
}
