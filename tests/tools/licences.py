"""Checks the licences and sources of all dependencies against .config/deny.toml, where cargo-deny is not installed.

    cargo metadata --format-version 1 | python3 tests/tools/licences.py
"""

import json
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).parents[2]
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


def is_allowed(expression, allowed):
    """Whether an SPDX expression can be met by allowed licences."""
    # `a/b` is how manifests said `a OR b` before SPDX expressions.
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))

    def either():
        met = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met = both() or met
        return met

    def both():
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met = one() and met
        return met

    def one():
        token = tokens.pop(0)
        if token == "(":
            met = either()
            tokens.pop(0)
            return met
        if tokens and tokens[0] == "WITH":
            tokens.pop(0)
            token = f"{token} WITH {tokens.pop(0)}"
        return token in allowed

    return either()


allowed = set(tomllib.loads((ROOT / ".config/deny.toml").read_text())["licenses"]["allow"])
packages = json.load(sys.stdin)["packages"]
problems = []
for package in packages:
    name = f"{package['name']} {package['version']}"
    if not is_allowed(package["license"] or "none", allowed):
        problems.append(f"{name}: licence {package['license']}")
    if package["source"] not in (None, CRATES_IO):
        problems.append(f"{name}: from {package['source']}")
for problem in problems:
    print(problem, file=sys.stderr)
print(f"licences and sources of {len(packages)} packages: {'no problem' if not problems else 'see above'}")
sys.exit(bool(problems))
