//! Encoding and decoding, within bounds that are known before a byte is looked at.

mod blosc;
mod chain;
mod crc32c_trailer;
mod deflate;
mod workspace;
mod zstd_frames;

pub(crate) use chain::Chain;

#[cfg(test)]
mod tests;
