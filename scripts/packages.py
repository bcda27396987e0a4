#!/usr/bin/env python3
"""Prints what `cargo package` would put into each crate's package, and fails where that is not what users need.

A package has its manifest, its sources, what they include, both licences, and nothing of the tests: no logs, no
samples, no folder of tests. It stays below LIMIT. What `cargo package` itself warns of is a failure, too, but for
tests that the package leaves out.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Unpacked. The largest crate holds the patches that judges are measured on.
LIMIT = 5_000_000
LICENCES = {"LICENSE-APACHE", "LICENSE-MIT"}
UNWANTED = re.compile(r"(^|/)(tests|corpus|samples|proptest-regressions)/|\.(log|snap)$")


def run(*command: str) -> "subprocess.CompletedProcess[str]":
    """Runs a command in the workspace; ends this program with its error where it fails."""
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")
    return result


def main() -> None:
    """Goes over the packages that may be published."""
    metadata = json.loads(
        run("cargo", "metadata", "--format-version", "1", "--no-deps", "--locked").stdout
    )
    wrong = []
    print(f"{'crate':18} {'files':>6} {'kB':>6}")
    for package in metadata["packages"]:
        if package["publish"] == []:
            continue
        name, folder = package["name"], Path(package["manifest_path"]).parent
        listed = run("cargo", "package", "--list", "--allow-dirty", "--package", name)
        files = listed.stdout.split()
        # The lock file and the normalised manifest are made while packing.
        size = sum((folder / file).stat().st_size for file in files if (folder / file).is_file())
        print(f"{name:18} {len(files):6} {size / 1000:6.0f}")
        wrong += [f"{name}: packs {file}" for file in files if UNWANTED.search(file)]
        wrong += [f"{name}: lacks {file}" for file in sorted(LICENCES - set(files))]
        wrong += [f"{name}: no {key}" for key in ("description", "license", "repository") if not package[key]]
        wrong += [
            f"{name}: {line}"
            for line in listed.stderr.splitlines()
            if line.startswith("warning") and not re.search(r"ignoring (test|example)", line)
        ]
        if size > LIMIT:
            wrong.append(f"{name}: {size} bytes, more than {LIMIT}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
