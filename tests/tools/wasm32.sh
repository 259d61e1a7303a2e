#!/usr/bin/env bash
# Checks the crates that build without a C library, a file or a clock, for a platform that has none of them.
#
# The other pure crates (docs/ARCHITECTURE.md) wait for C: rechunk-kernel and rechunk-raw for lz4-sys,
# rechunk-codec, rechunk-zarr and rechunk-n5 for the codecs.
set -euo pipefail
cd "$(dirname "$0")/../.."
crates="rechunk-grid rechunk-plan rechunk-apply rechunk-ops rechunk-reduce rechunk-image rechunk-format rechunk-planner rechunk-words"
target=wasm32-unknown-unknown

# Installed for the toolchain of this directory, by rustup or otherwise.
if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
    echo "skipped: rustup target add $target"
    exit
fi
# Clippy, if it stands for the compiler, expects other lints on another platform.
# shellcheck disable=SC2086 # one word a crate
RUSTC_WORKSPACE_WRAPPER="" cargo check --locked --target "$target" $(printf -- '-p %s ' $crates)
