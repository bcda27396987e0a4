#!/usr/bin/env python3
"""Write an environment plan by looking at a repository through `atlas mcp`, as a language model would.

    pip install 'mcp>=2.3,<3'
    python examples/mcp_client.py path/to/clone BASE > plan.json

The plan can be built and run: `[plan] file = "plan.json"` in atlas.toml, then `atlas build`. What is
decided here by a few lines is what a model decides in an agent; the calls are the same. It knows
Python with pytest, Go and Rust.
"""

import argparse
import asyncio
import json
import re
import sys

from mcp import Client, StdioServerParameters, stdio_client


class Repository:
    """The five tools of the server."""

    def __init__(self, client):
        self.client = client

    async def call(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        if result.is_error:  # a refusal: the text says why and what to do instead
            raise LookupError(result.content[0].text)
        return result.structured_content

    async def text(self, path):
        """A whole file, page by page; nothing if it is not there."""
        pages, line = [], 1
        while line:
            try:
                page = await self.call("read", path=path, first_line=line)
            except LookupError:
                return ""
            pages.append(page["text"])
            line = page.get("next_line")
        return "".join(pages)

    async def lines(self, pattern, **narrow):
        """Matching lines as evidence."""
        found = await self.call("search", pattern=pattern, limit=3, **narrow)
        return [{"source": m["path"], "line": m["line"], "text": m["text"].strip()} for m in found["matches"]]


async def plan(repository):
    cloned = await repository.call("clone")
    root = {entry["path"] for entry in cloned["entries"]}
    for remark in cloned["remarks"]:
        print(f"remark: {remark}", file=sys.stderr)
    if "go.mod" in root:
        version = re.search(r"^go (\d+\.\d+)", await repository.text("go.mod"), re.M)
        version = version[1] if version else "1.22"
        made = {
            "language": "go", "base_image": f"golang:{version}", "docker_specs": {"go_version": version},
            "build": ["go mod download"], "test_cmd": "go test -v ./...", "log_parser_name": "gotest",
            "evidence": {"docker_specs": await repository.lines(r"^go \d", path="go.mod")},
        }
    elif "Cargo.toml" in root:
        made = {
            "language": "rust", "base_image": "rust:1-slim-bookworm", "docker_specs": {"rust_version": "1"},
            "build": ["cargo fetch", "cargo test --no-run"], "test_cmd": "cargo test --no-fail-fast",
            "log_parser_name": "cargo", "evidence": {"build": await repository.lines(r"^edition", path="Cargo.toml")},
        }
    elif root & {"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"}:
        in_ci = await repository.lines(r"python-version:|python:3\.\d", glob="*.{yml,yaml}")
        versions = re.findall(r"3\.(\d+)", " ".join(line["text"] for line in in_ci))
        version = f"3.{max(map(int, versions))}" if versions else "3.11"
        runner = await repository.lines(r"\bpytest\b", glob="*.{toml,cfg,ini,txt,yml,py}")
        unittest = not runner and await repository.lines("import unittest", glob="*.py")
        install = "-e ." if root & {"pyproject.toml", "setup.py", "setup.cfg"} else "-r requirements.txt"
        # What the tests need besides: a file of requirements that names their runner, or an extra.
        listed = sorted(
            {line["source"] for line in await repository.lines(r"^pytest\b", glob="*.txt")},
            key=lambda path: ("test" not in path, "dev" not in path, path),
        )
        extra = await repository.lines(r"^(tests?|testing|dev) *= *\[", path="pyproject.toml") if not listed else []
        if listed:
            install += f" -r {listed[0]}"
        elif extra and install == "-e .":
            install += f"[{extra[0]['text'].split('=')[0].strip()}]"
        made = {
            "language": "python", "base_image": f"python:{version}-slim-bookworm",
            "docker_specs": {"python_version": version},
            "env": {"PATH": "$ATLAS_ENV/venv/bin:$PATH"},
            "build": ["python3 -m venv $ATLAS_ENV/venv", f"python -m pip install {install}"]
            + ([] if unittest else ["python -m pip install pytest"]),
            "test_cmd": "python -m unittest discover -v" if unittest else "python -m pytest -rA",
            "log_parser_name": "unittest" if unittest else "pytest",
            "evidence": {"docker_specs": in_ci, "test_cmd": unittest or runner},
        }
    else:
        tests = await repository.call("list", depth=2)
        sys.exit(f"no manifest that this example knows among {len(tests['entries'])} entries")
    # Dependencies without a lockfile resolve as of the commit's date, which the history gives.
    history = await repository.call("history", limit=1)
    made["drift"] = [f"dependencies as of {history['commits'][0]['date']} are not pinned by this example"]
    return made


async def main():
    arguments = argparse.ArgumentParser(description="An environment plan through atlas mcp.")
    arguments.add_argument("repo")
    arguments.add_argument("base")
    arguments.add_argument("--atlas", default="atlas", help="the command")
    given = arguments.parse_args()
    server = StdioServerParameters(command=given.atlas, args=["mcp", "--repo", given.repo, "--base", given.base])
    async with Client(stdio_client(server)) as client:
        json.dump(await plan(Repository(client)), sys.stdout, indent=2)
        print()


asyncio.run(main())
