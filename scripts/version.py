#!/usr/bin/env python3
"""Fails unless everything that names Atlas's version names the one in Cargo.toml's [workspace.package].

    scripts/version.py                      crates, Cargo.lock, the Python package's metadata, the changelog's form
    scripts/version.py --tag v1.2.0         and the tag is this version, and the changelog has a section of it
    scripts/version.py --wheel FILE         and the wheel: its name, its metadata, its list of components
    scripts/version.py --command PROGRAM    and what `PROGRAM --version` prints
    scripts/version.py --sbom FILE          and a list of components in CycloneDX's JSON
"""

import argparse
import json
import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECTIONS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def workspace() -> tuple[str, list[str]]:
    """The version of most crates, and what disagrees with it in manifests and the lock file."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"]
    answer = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    packages = json.loads(answer.stdout)["packages"]
    declared = re.search(
        r'^\[workspace\.package\]\s+version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.M
    )
    if declared is None:
        sys.exit("Cargo.toml: [workspace.package] does not begin with a version")
    version = declared[1]
    names = {package["name"] for package in packages}
    wrong = [
        f"{package['name']}: version {package['version']}"
        for package in packages
        if package["version"] != version
    ]
    for package in packages:
        for needs in package["dependencies"]:
            # A development dependency without a version is left out of packages.
            bare = needs["req"] == "*" and needs["kind"] == "dev"
            if needs["name"] in names and needs["req"] != f"^{version}" and not bare:
                wrong.append(f"{package['name']}: needs {needs['name']} {needs['req']}")
    return version, wrong


def changelog(version: str, tag: bool) -> list[str]:
    """What is wrong with the form of CHANGELOG.md, which becomes the text of releases."""
    wrong: list[str] = []
    seen: set[tuple[str, str]] = set()
    release = ""
    for number, line in enumerate((ROOT / "CHANGELOG.md").read_text().splitlines(), 1):
        if line.startswith("## "):
            release = line[3:]
            if release != "Unreleased" and not re.fullmatch(
                r"\d+\.\d+\.\d+(-[\w.]+)? - \d{4}-\d{2}-\d{2}", release
            ):
                wrong.append(f"CHANGELOG.md:{number}: not `Unreleased` or `1.2.3 - 2026-01-31`: {release}")
            seen.add((release, ""))
        elif line.startswith("### "):
            section = line[4:]
            if section not in SECTIONS:
                wrong.append(f"CHANGELOG.md:{number}: no section of Keep a Changelog: {section}")
            if (release, section) in seen:
                wrong.append(f"CHANGELOG.md:{number}: {section} stands twice in {release}")
            seen.add((release, section))
    if tag and not any(name.startswith(f"{version} - ") for name, _ in seen):
        wrong.append(f"CHANGELOG.md: no section `## {version} - DATE`")
    return wrong


def components(text: str, version: str, where: str) -> list[str]:
    """What is wrong with a CycloneDX document: its subject's version, and Atlas's crates in it."""
    document = json.loads(text)
    items = [document["metadata"]["component"], *document["components"]]
    ours = [item for item in items if re.fullmatch(r"atlas-\w+|swe-atlas", item["name"])]
    if len(ours) < 2 or len(items) < 50:
        return [f"{where}: {len(items)} components, {len(ours)} of them Atlas's: too few"]
    return [
        f"{where}: {item['name']} {item.get('version')}"
        for item in ours
        if item.get("version") != version
    ]


def wheel(path: Path, version: str) -> list[str]:
    """What is wrong with a wheel."""
    wrong = []
    if not path.name.startswith(f"swe_atlas-{version}-"):
        wrong.append(f"{path.name}: not of version {version}")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        folder = f"swe_atlas-{version}.dist-info"
        for needed in ["METADATA", "licenses/LICENSE-APACHE", "licenses/LICENSE-MIT"]:
            if f"{folder}/{needed}" not in names:
                wrong.append(f"{path.name}: no {folder}/{needed}")
        if f"{folder}/METADATA" in names:
            metadata = Parser().parsestr(archive.read(f"{folder}/METADATA").decode())
            if metadata["Version"] != version:
                wrong.append(f"{path.name}: METADATA has version {metadata['Version']}")
        lists = [name for name in names if name.startswith(f"{folder}/sboms/")]
        if not lists:
            wrong.append(f"{path.name}: no list of components below {folder}/sboms")
        for name in lists:
            wrong += components(archive.read(name).decode(), version, f"{path.name}: {name}")
    return wrong


def main() -> None:
    """Reads the command line, prints what disagrees, and ends with 1 if anything does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag")
    parser.add_argument("--wheel", type=Path, action="append", default=[])
    parser.add_argument("--command")
    parser.add_argument("--sbom", type=Path, action="append", default=[])
    options = parser.parse_args()
    version, wrong = workspace()
    wrong += changelog(version, options.tag is not None)
    if options.tag is not None and options.tag.removeprefix("v") != version:
        wrong.append(f"tag {options.tag}: Cargo.toml has {version}")
    for path in options.wheel:
        wrong += wheel(path, version)
    for path in options.sbom:
        wrong += components(path.read_text(), version, str(path))
    if options.command is not None:
        command = [options.command, "--version"]
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        if said != f"atlas {version}":
            wrong.append(f"{options.command} --version: {said}")
    if 'dynamic = ["version"]' not in (ROOT / "atlas-py/pyproject.toml").read_text():
        wrong.append("atlas-py/pyproject.toml: the version is not taken from Cargo.toml (dynamic)")
    print("\n".join(wrong) or f"{version} everywhere", file=sys.stderr if wrong else sys.stdout)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
