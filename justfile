# Recipes for those who work on rechunk; `./tests/run` needs none of them.

# List the recipes.
default:
    @just --list

# Build the program as it is shipped.
build:
    cargo build --release

# Everything a change has to pass (sets up what it needs).
test:
    ./tests/run

# Unit tests only: seconds, no Python.
test-fast:
    cargo test --workspace --lib --bins

# End-to-end tests whose name contains NAME.
test-e2e NAME="": oracles
    cargo test -p rechunk-cli --test e2e -- --show-output {{NAME}}

# The long memory grid: an hour.
test-memory:
    cargo test --release -p rechunk-cli --test e2e -- --ignored --show-output memory::

# Kill at every file-changing call of every plan kind: an hour and more.
test-kill:
    cargo test --release -p rechunk-cli --test e2e -- --ignored --show-output kill::

# What is too long for every change.
test-nightly: test-memory test-kill

# How our planner and the literature's compare on the golden cases.
golden-report:
    cargo test --release -p rechunk-plan --test golden -- --nocapture

# Format the code.
fmt:
    cargo fmt --all

# Lints as a change has to pass them.
lint:
    cargo clippy --workspace --all-targets -- -D warnings

# Licences and sources of all dependencies.
deny:
    cargo metadata --format-version 1 --locked | python3 tests/tools/licences.py

# The demo, in a directory of its own.
demo:
    cargo run --release -- demo target/demo

# The documentation of the crates.
doc:
    cargo doc --workspace --no-deps

# Set up the readers and writers that are not ours.
oracles:
    tests/oracle/setup.sh

# Compute fixtures/SHA256.json anew.
fixture-digests: oracles
    .venv-oracle-z3/bin/python -W ignore tests/tools/fixture_digests.py
