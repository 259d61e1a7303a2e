use serde::{Deserialize, Serialize};

/// Costs of a layout's codecs, for the planner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodecCost {
    /// The name speeds are looked up under in a profile, e.g. `zstd`, `blosc-lz4`, `gzip`, `none`.
    pub name: String,
    /// Decoding returns the encoded bytes themselves: no buffer is allocated.
    pub is_raw: bool,
    /// Upper bound of the encoded bytes of one chunk. A stored chunk larger than this is damaged
    /// and is refused before its body is read; also what an encoder may need for its output.
    pub encoded_bytes_max: u64,
    /// Bytes a decoder allocates beside the encoded and the decoded chunk.
    pub decode_workspace_bytes: u64,
    /// Bytes an encoder allocates beside the chunk and its encoded form.
    pub encode_workspace_bytes: u64,
}
