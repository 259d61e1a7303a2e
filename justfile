# Recipes for those who work on rechunk; `./tests/run` needs none of them.

# List the recipes.
default:
    @just --list

# Build the program as it is shipped.
build:
    cargo build --release
    tests/tools/size.sh

# Everything a change has to pass (sets up what it needs).
test:
    ./tests/run

# Unit tests only: seconds, no Python.
test-fast:
    cargo test --workspace --lib --bins

# Circles, lengths, English, the public API: what may only become better. Seconds.
ratchets:
    cargo test --workspace --test ratchets

# Lower the ceilings of the ratchets to what the sources have reached, and write the listing of the public API anew.
bless-ratchets:
    RECHUNK_BLESS=1 cargo test --workspace --test ratchets

# Write the snapshots of help, plans and errors anew; the diff shows the words that changed.
bless-words:
    RECHUNK_BLESS=1 cargo test --workspace --test e2e words::

# Check the crates that need neither C nor a system for wasm32.
wasm32:
    tests/tools/wasm32.sh

# End-to-end tests whose name contains NAME.
test-e2e NAME="": oracles
    cargo test -p rechunk-cli --test e2e -- --show-output {{NAME}}

# zfp, which the program has only when it is asked for: needs cmake and libclang; compared with
# numcodecs' zfpy where pip finds one.
test-zfp:
    -tests/oracle/setup.sh zfp
    cargo test -p rechunk-codec --features zfp zfp
    cargo test -p rechunk-zarr --features zfp
    cargo test -p rechunk-fuzz --features zfp
    cargo test -p rechunk-cli --features zfp --test e2e -- --show-output zfp:: public_arrays::

# The long memory grid: an hour.
test-memory:
    cargo test --release --workspace --test e2e -- --ignored --show-output memory::

# Simulate SEEDS jobs on a store where everything goes wrong that can; a seed that fails says how to
# repeat it.
test-sim SEEDS="100000":
    RECHUNK_SIM_SEEDS={{SEEDS}} cargo test --release -p rechunk-exec --test sim
    RECHUNK_SIM_SEEDS=$(({{SEEDS}} / 50)) cargo test --release -p rechunk --test facade -- --include-ignored sim::
    RECHUNK_SIM_SEEDS=$(({{SEEDS}} / 100)) cargo test --release -p rechunk --lib parts::model

# Kill at every file-changing call of every plan kind: 20 minutes.
test-kill:
    cargo test --release --workspace --test e2e -- --ignored --show-output kill::

# Faults, kills and races at object stores, in numbers.
test-cloud:
    cargo test --release --workspace --test e2e -- --ignored --show-output cloud::

# Plan 50 000 arrays and copy 5 000 within memory: 10 minutes.
test-many:
    cargo test --release --workspace --test e2e -- --ignored --show-output many_arrays::

# Every fuzz target over more mutations of its corpus than `./tests/run` has time for: ten minutes.
test-replay MUTATIONS="50000":
    RECHUNK_MUTATIONS={{MUTATIONS}} cargo test --workspace --test replay

# Kill 200 parts of a job of each plan kind: a few minutes.
test-parts:
    cargo test --release --workspace --test e2e -- --ignored --show-output parts::

# Parts under a Slurm of their own on this machine (root; Debian's slurm-wlm and munge), and each engine from Python,
# which is installed: a quarter of an hour.
test-engines: build
    tests/engines/slurm.sh
    crates/rechunk-python/tests/engines

# Cross with every peer, also those that take minutes to install, and note what was found in docs/support.md.
test-crossings: oracles
    tests/oracle/setup.sh crossings webknossos cloudvolume
    RECHUNK_BLESS=1 cargo test --workspace --test e2e -- --ignored --show-output crossings::
    RECHUNK_BLESS=1 cargo test --workspace --test e2e -- support::

# Pyramids of images of ome-zarr-py and ngff-zarr, read by both: their packages take minutes to install.
test-pyramids: oracles
    tests/oracle/setup.sh crossings
    cargo test --workspace --test e2e -- --ignored --show-output pyramid::

# What is too long for every change.
test-nightly: test-memory test-kill test-cloud test-many test-replay

# What libFuzzer needs to see where an input leads; stable Rust has it.
fuzz-flags := "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
fuzz-c-flags := "-O2 -fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp"
fuzz-host := `rustc -vV | sed -n 's/^host: //p'`

# Build the fuzz targets for libFuzzer (a target directory of its own: other flags). With CC=clang the C libraries are guided by
# coverage too; FEATURES=libfuzzer,zfp has that codec, which takes cmake and libclang.
fuzz-build FEATURES="libfuzzer":
    RUSTFLAGS="{{fuzz-flags}}" CFLAGS="$(case ${CC:-cc} in *clang*) echo {{fuzz-c-flags}};; esac)" CARGO_TARGET_DIR=target/fuzz cargo build --profile fuzz -p rechunk-fuzz --features {{FEATURES}} --target {{fuzz-host}}

# Search with libFuzzer for SECONDS; TARGET is one of fixtures/fuzz. Finds stay in target/fuzz.
fuzz TARGET SECONDS="60": (fuzz-build if TARGET == "zfp_decode" { "libfuzzer,zfp" } else { "libfuzzer" })
    mkdir -p target/fuzz/corpus/{{TARGET}} target/fuzz/found
    HTTP_PROXY=http://127.0.0.1:9 HTTPS_PROXY=http://127.0.0.1:9 RECHUNK_FUZZ_TARGET={{TARGET}} target/fuzz/{{fuzz-host}}/fuzz/rechunk-fuzz target/fuzz/corpus/{{TARGET}} fixtures/fuzz/{{TARGET}} -dict=crates/rechunk-fuzz/words.dict -max_total_time={{SECONDS}} -max_len=65536 -rss_limit_mb=2048 -timeout=20 -artifact_prefix=target/fuzz/found/{{TARGET}}-

# Search with every target, SECONDS each; zfp_decode is in builds with zfp only.
fuzz-all SECONDS="60": fuzz-build
    for target in $(ls fixtures/fuzz | grep -v zfp_decode); do just fuzz "$target" {{SECONDS}} || exit 1; done

# Keep what reaches more code of what `just fuzz TARGET` has gathered.
fuzz-keep TARGET: fuzz-build
    RECHUNK_FUZZ_TARGET={{TARGET}} target/fuzz/{{fuzz-host}}/fuzz/rechunk-fuzz -merge=1 -max_len=4096 fixtures/fuzz/{{TARGET}} target/fuzz/corpus/{{TARGET}}

# Unsafe code and C libraries under AddressSanitizer: kernels, codecs, and the corpus of the fuzz targets
# with its mutations. 15 minutes from nothing; needs a C compiler with -fsanitize=address, and no nightly.
test-asan:
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" CFLAGS="{{asan-flags}}" CXXFLAGS="{{asan-flags}}" CARGO_TARGET_DIR=target/asan ASAN_OPTIONS=detect_odr_violation=0:detect_leaks=0 cargo test --locked --target {{fuzz-host}} -p rechunk-kernel -p rechunk-codec -p rechunk-n5 -p rechunk-zarr -p rechunk-fuzz

# (zstd has a static table in a function, which GCC takes for one on the stack.)
asan-flags := "-fsanitize=address -fno-sanitize-address-use-after-scope -fno-omit-frame-pointer -g1"

# The copy kernels against memcpy.
bench-kernels:
    cargo run --release -p rechunk-bench

# Whole programs on the same data: rechunk against what a user would take instead; twenty minutes,
# 6 GB of data that stay, up to 60 while it runs. ARGUMENTS are those of the script. With zarrs_reencode, which takes ten
# minutes to build, after `tests/bench/setup.sh zarrs`.
bench *ARGUMENTS: build
    cargo build --release --workspace --bin rechunk-testkit
    tests/bench/setup.sh
    .venv-bench/bin/python tests/bench/race.py {{ARGUMENTS}}

# Arrays of random shapes, number FROM to number TO: is somebody faster somewhere? Half a minute each. ARGUMENTS are those of the script.
bench-shapes FROM="1" TO="12" *ARGUMENTS: build
    tests/bench/setup.sh
    .venv-bench/bin/python tests/bench/race.py --cases "$(seq -f S%g -s, {{FROM}} {{TO}})" {{ARGUMENTS}}

# How the time grows with the data, from 0.1 to 10 GB, and how long it takes to begin: minutes.
bench-linear *ARGUMENTS: build
    tests/bench/setup.sh
    .venv-bench/bin/python tests/bench/linear.py {{ARGUMENTS}}

# How long a part of a plan of a million tasks takes to begin, and its memory: a minute. ARGUMENTS are those of the script.
bench-part-start *ARGUMENTS: build
    python3 tests/bench/part_start.py {{ARGUMENTS}}

# What parts cost, and what several processes bring, also with an object store that answers late: a quarter of an hour, 3 GB of data
# that stay. ARGUMENTS are those of the script.
bench-parts *ARGUMENTS: build
    cargo build --release --workspace --bin rechunk-testkit
    tests/bench/setup.sh
    .venv-bench/bin/python tests/bench/parts.py {{ARGUMENTS}}

# The Python package and engines against the command line, and against rechunker, cubed and xarray-beam on the same engines, which it
# installs: an hour; CPython 3.12 is PYTHON or on PATH as python3. ARGUMENTS are those of the script.
bench-engines *ARGUMENTS: build
    cargo build --release -p rechunk-python
    tests/bench/setup.sh
    .venv-bench/bin/python tests/bench/engines.py {{ARGUMENTS}}

# N5 to sharded Zarr v3 and back, against tensorstore; minutes. ARGUMENTS are those of the script.
bench-n5 *ARGUMENTS: build oracles
    .venv-oracle-z3/bin/python -W ignore tests/bench/n5_race.py {{ARGUMENTS}}

# How our planner and the literature's compare on random cases: 20 000 take a few minutes.
planner-unseen CASES="20000":
    RECHUNK_UNSEEN_CASES={{CASES}} cargo test --release -p rechunk-planner --test golden unseen -- --nocapture

# How our planner and the literature's compare on the golden cases.
golden-report:
    cargo test --release -p rechunk-planner --test golden -- --nocapture

# Build and pack the program for TARGET (a Rust target, this machine's own by default), with manual pages and completions.
dist TARGET=fuzz-host:
    tests/tools/dist.sh {{TARGET}}

# Build the wheel of the Python package as it is shipped: target/wheels.
wheel:
    pip wheel --no-deps --wheel-dir target/wheels crates/rechunk-python

# Test the Python package; ARGUMENTS go to pytest.
test-python *ARGUMENTS:
    crates/rechunk-python/tests/run {{ARGUMENTS}}

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

# Set up the readers and writers that are not ours, and the object stores.
oracles:
    tests/oracle/setup.sh
    tests/emulators/setup.sh

# Write docs/support.md anew from what the tests find.
support-table: oracles
    RECHUNK_BLESS=1 cargo test -p rechunk-cli --test e2e -- support::

# Compute fixtures/SHA256.json anew.
fixture-digests: oracles
    .venv-oracle-z3/bin/python -W ignore tests/tools/fixture_digests.py

# Applies against dask, a loop with tensorstore, and copies: ten minutes, 2 GB. ARGUMENTS are those of the script.
bench-apply *ARGUMENTS: build
    tests/bench/setup.sh
    .venv-bench/bin/python tests/bench/apply.py {{ARGUMENTS}}

# Pyramids against a loop with tensorstore: some minutes, 4 GB. ARGUMENTS are those of the script.
bench-pyramid *ARGUMENTS: build
    tests/bench/setup.sh
    .venv-bench/bin/python tests/bench/pyramid.py {{ARGUMENTS}}

# Precomputed volumes against igneous: some minutes, 4 GB. ARGUMENTS are those of the script.
bench-volumes *ARGUMENTS: build
    test -e .venv-bench-volumes || python3 -m venv .venv-bench-volumes
    .venv-bench-volumes/bin/pip install -q -r tests/bench/requirements-volumes.txt
    .venv-bench-volumes/bin/python tests/bench/volumes.py {{ARGUMENTS}}

# The datastore for long: 200 servers that are killed while many write, 2 000 random uploads. Two minutes each.
test-datastore KILLS="200" SEEDS="2000":
    RECHUNK_KILLS={{KILLS}} cargo test --workspace --locked --test e2e -- serve::killed
    RECHUNK_SEEDS={{SEEDS}} cargo test --workspace --locked --test datastore

# Uploads to the datastore with and without levels that follow, beside plain files.
bench-upload *ARGUMENTS: build
    python3 tests/bench/upload.py {{ARGUMENTS}}

# 100 readers and 10 writers of the same blocks of a datastore for a minute: none torn, none failed, memory.
bench-load *ARGUMENTS: build
    python3 tests/bench/load.py {{ARGUMENTS}}

# Requests that schemathesis makes of /openapi.json, to a datastore of its own: no answer may be a 5xx. Minutes.
fuzz-rest SECONDS="60": build
    tests/tools/fuzz_rest.sh {{SECONDS}}

# Blocks and files beside nginx with the same files (Debian: nginx-light, wrk).
bench-reads *ARGUMENTS: build
    python3 tests/bench/reads.py {{ARGUMENTS}}
