#!/usr/bin/env bash
# Builds the program for a platform and packs it, with manual pages, completions and licences:
# target/dist/rechunk-VERSION-TARGET.tar.gz, and its SHA-256 beside it.
#
#   dist.sh [TARGET]     TARGET is a Rust target; this machine's own by default
set -euo pipefail
cd "$(dirname "$0")/../.."
host=$(rustc -vV | sed -n 's/^host: //p')
target=${1:-$host}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
name="rechunk-$version-$target"
case $target in *windows*) program=rechunk.exe ;; *) program=rechunk ;; esac

cargo build --release --locked --package rechunk-cli --bin rechunk --target "$target"
built="target/$target/release/$program"
tests/tools/size.sh "$built"
# What runs here describes itself; for other platforms a build for this one does.
describes="$built"
if ! "$built" --version >/dev/null 2>&1; then
    cargo build --release --locked --package rechunk-cli --bin rechunk
    describes=target/release/rechunk
fi

rm -rf "target/dist/$name"
mkdir -p "target/dist/$name/man" "target/dist/$name/completions"
cp "$built" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "target/dist/$name"
"$describes" man "target/dist/$name/man"
for shell in bash elvish fish powershell zsh; do
    "$describes" completions "$shell" >"target/dist/$name/completions/rechunk.$shell"
done
cd target/dist
tar -czf "$name.tar.gz" "$name"
if command -v sha256sum >/dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi >"$name.sha256"
echo "target/dist/$name.tar.gz"
