#!/bin/sh
# Makes oracle environments at the repository's root: .venv-oracle-z3, .venv-oracle-z2, .venv-oracle-new and
# .venv-oracle-icechunk, and the modules of tests/oracle/zarrita; or those that are named:
#
#   z3, z2      zarr-python 3 and 2 with what goes with them
#   new         the newest zarr-python, GDAL, netCDF-C, kerchunk, VirtualiZarr, tifffile: needs Python 3.12 or newer
#   icechunk    Icechunk, with the zarr-python and xarray that go with it: needs Python 3.12 or newer
#   zarrita     Zarr in JavaScript: needs npm
#   crossings   ome-zarr, ngff-zarr, anndata, spatialdata: 1.3 GB; needs Python 3.12 or newer
#   webknossos  by itself, because it does not go with those; needs Python 3.12 or newer
#   cloudvolume cloud-volume, which reads and writes precomputed volumes
#   zfp         for builds with zfp
#
# Where what `new`, `icechunk`, `zarrita`, `crossings` and `webknossos` need is missing, that is said, and they are left out. Does
# nothing where environments stand and their requirements have not changed.
set -eu
cd "$(dirname "$0")/../.."
PYTHON="${PYTHON:-python3}"

is_newer_than() { # PYTHON MINOR: that Python runs, is 3.MINOR or newer, and makes environments
    "$1" -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, $2))" 2>/dev/null
}

is_newer_than "$PYTHON" 11 || {
    echo "the oracles need Python 3.11 or newer; $PYTHON is $("$PYTHON" -V 2>&1). Name another: PYTHON=python3.12 $0" >&2
    exit 1
}

# The first Python for packages that need 3.12: $PYTHON, one on PATH, or the newest of pyenv's.
newer_python() {
    for python in "$PYTHON" python3.14 python3.13 python3.12 \
        $(ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3 2>/dev/null | sort -rV); do
        if command -v "$python" >/dev/null 2>&1 && is_newer_than "$python" 12; then
            echo "$python"
            return
        fi
    done
}

# A digest of what an environment was made from: the requirements and the interpreter.
stamp_of() { # REQUIREMENTS INTERPRETER
    { cat "$1"; "$2" --version; } | "$PYTHON" -c \
        'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())'
}

is_up_to_date() { # WORLD FOLDER STAMP
    [ -f "$2/stamp" ] && [ "$(cat "$2/stamp")" = "$3" ] && echo "oracle $1: up to date"
}

set_up_python() { # WORLD INTERPRETER
    requirements="tests/oracle/requirements-$1.txt"
    venv=".venv-oracle-$1"
    stamp=$(stamp_of "$requirements" "$2")
    is_up_to_date "$1" "$venv" "$stamp" && return
    echo "oracle $1: setting up $venv"
    rm -rf "$venv"
    "$2" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
    echo "$stamp" >"$venv/stamp" # last, so that a broken set-up is done again
}

set_up_zarrita() {
    if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
        echo "SKIPPED: there is no npm with node here: nothing will be crossed with zarrita" >&2
        return
    fi
    folder=tests/oracle/zarrita
    stamp=$(stamp_of $folder/package-lock.json node)
    is_up_to_date zarrita $folder/node_modules "$stamp" && return
    echo "oracle zarrita: setting up $folder/node_modules"
    npm ci --prefix $folder --silent --ignore-scripts --no-audit --no-fund
    echo "$stamp" >$folder/node_modules/stamp
}

for world in ${*:-z3 z2 new icechunk zarrita}; do
    case $world in
    zarrita) set_up_zarrita ;;
    new | icechunk | crossings | webknossos)
        newer=$(newer_python)
        if [ -n "$newer" ]; then
            set_up_python "$world" "$newer"
        else
            echo "SKIPPED: there is no Python 3.12 or newer here: nothing will be crossed with what is in '$world'" >&2
        fi
        ;;
    *) set_up_python "$world" "$PYTHON" ;;
    esac
done
