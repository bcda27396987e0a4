#!/usr/bin/env python3
"""Fails unless `cargo binstall` looks for the archives that dist makes. Needs `dist` on the path."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def printed(*command: str) -> Any:
    """What a command prints, as JSON."""
    return json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)


def main() -> None:
    """Fills binstall's templates for each target and compares."""
    plan = printed("dist", "plan", "--output-format=json")
    packages = printed("cargo", "metadata", "--format-version", "1", "--no-deps", "--locked")["packages"]
    compared, wrong = 0, []
    for release in plan["releases"]:
        name, version = release["app_name"], release["app_version"]
        package = next(package for package in packages if package["name"] == name)
        binstall = package["metadata"]["binstall"]
        hosting = release["hosting"]["github"]
        base = hosting["artifact_base_url"] + hosting["artifact_download_path"]
        for key in release["artifacts"]:
            archive = plan["artifacts"][key]
            if archive["kind"] != "executable-zip":
                continue
            (target,) = archive["target_triples"]
            words = {"repo": package["repository"], "version": version, "name": name, "target": target}
            url = fill(binstall["pkg-url"], words)
            there = f"{base}/{archive['name']}"
            if url != there:
                wrong.append(f"{target}: binstall asks for {url}, dist makes {there}")
            # dist's archives hold one folder, named as they are.
            folder = archive["name"].removesuffix(".tar.xz")
            for asset in archive["assets"]:
                if asset["kind"] != "executable":
                    continue
                looked = fill(binstall["bin-dir"], {**words, "bin": asset["name"], "binary-ext": ""})
                if looked != f"{folder}/{asset['path']}":
                    wrong.append(f"{target}: binstall takes {looked}, dist packs {folder}/{asset['path']}")
                compared += 1
    if compared < 2:
        wrong.append(f"dist plans {compared} archives with a command")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{compared} archives are where cargo binstall looks")


def fill(template: str, words: dict[str, str]) -> str:
    """A template of binstall's with its words."""
    for word, value in words.items():
        template = template.replace("{ " + word + " }", value)
    return template


if __name__ == "__main__":
    main()
