"""Environments of the engines and of the peers, each with its own pins."""

import hashlib
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PACKAGE = ROOT / "crates/rechunk-python"
OURS = "ours"


def python(directory, name, base):
    """The interpreter of an environment, which is made anew when its pins or `base` have changed."""
    venv, pins = directory / name, HERE / f"requirements-{name}.txt"
    version = subprocess.run([base, "--version"], stdout=subprocess.PIPE, check=True).stdout
    stamp, now = venv / "stamp", hashlib.sha256(pins.read_bytes() + version).hexdigest()
    if not stamp.exists() or stamp.read_text() != now:
        print(f"installing {pins.name} for {version.decode().strip()}", file=sys.stderr)
        subprocess.run([base, "-m", "venv", "--clear", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "-q", "--disable-pip-version-check", "-r", pins], check=True)
        stamp.write_text(now)  # last, so that a broken set-up is done again
    return venv / "bin/python"


def install_ours(interpreter, extension, directory):
    """Packs the release build of the extension into a wheel, and installs it."""
    packed = subprocess.run([interpreter, PACKAGE / "tests/pack_wheel.py", extension, directory], stdout=subprocess.PIPE, check=True)
    words = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--force-reinstall", "--no-deps"]
    subprocess.run([interpreter, *words, packed.stdout.decode().strip()], check=True)
