//! Stands for the library in a build without it. Metadata that needs it is refused before.

use super::params::Params;
use super::settings::ZfpElement;

const WITHOUT: &str = "this build has no zfp";

pub(super) fn decode(
    _stream: Vec<u8>,
    _element: ZfpElement,
    _shape: &[u64],
    _params: &Params,
) -> Result<Vec<u8>, String> {
    Err(WITHOUT.to_owned())
}

pub(super) fn encode(
    _decoded: &[u8],
    _element: ZfpElement,
    _shape: &[u64],
    _params: &Params,
) -> Result<Vec<u8>, String> {
    Err(WITHOUT.to_owned())
}
