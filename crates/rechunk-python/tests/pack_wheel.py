"""Packs the extension that `cargo build` has made, and the Python sources, into a wheel.

    pack_wheel.py EXTENSION DIRECTORY

For tests: what `cargo build --workspace` has built anyway is not built again with the features of one package.
Wheels to be shipped come from maturin (`just wheel`).
"""

import base64
import hashlib
import sys
import sysconfig
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
PYTHON_SOURCES = (".py", ".pyi", ".typed")


def version() -> str:
    for line in (PACKAGE.parent.parent / "Cargo.toml").read_text().splitlines():
        if line.startswith("version = "):
            return line.split('"')[1]
    raise SystemExit("there is no version in Cargo.toml")


def main(extension: str, directory: str) -> None:
    tag = f"cp310-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    info = f"rechunk-{version()}.dist-info"
    files = {}
    for path in sorted((PACKAGE / "python").rglob("*")):
        if path.suffix in PYTHON_SOURCES:
            files[path.relative_to(PACKAGE / "python").as_posix()] = path.read_bytes()
    files["rechunk/_rechunk.abi3.so"] = Path(extension).read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: rechunk\nVersion: {version()}\nRequires-Python: >=3.10\n"
    ).encode()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: pack_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    record = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}")
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    wheel = Path(directory) / f"rechunk-{version()}-{tag}.whl"
    wheel.parent.mkdir(parents=True, exist_ok=True)
    # Stored: a debug build is large, and the wheel is installed at once.
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    print(wheel)


if __name__ == "__main__":
    main(*sys.argv[1:])
