"""Runs the code blocks of the documentation: a plugin for pytest over the pages that are named to it.

    PYTHONPATH=scripts/site python -m pytest -p blocks docs README.md

The blocks of a page run in order, in one folder made for the page, with `atlas` on the path and `examples` beside them. What is done with a block
follows from its language:

sh, console     run by bash, which stops at the first command that fails; of `console` the lines after `$`
python          run in one namespace for the page; a block of `>>>` as doctest
toml            read as `atlas.toml`
json            read as JSON, or as JSON lines
text            nothing, for it is no code
rust            nothing; those of READMEs are run by `cargo test --doc`

A comment in the line before a block says otherwise:

<!-- not run: REASON -->   it is not run; of its `atlas` commands the options are checked, its Python is compiled
<!-- exit N -->            its last command ends with this code
<!-- printed -->           a text: what the block before printed has these lines, where `…` stands for anything
<!-- file: NAME -->        it is written into this file of the page's folder, and not run
"""

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.evaluators.doctest import DocTestEvaluator
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.abstract.doctest import DocTestStringParser
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"<!-- (not run: .+|exit \d+|printed|file: \S+) -->\n+[ \t]*\Z")
ANYTHING = re.compile(r"\s*…\s*")
# A command of the documentation is quick or has a reason not to be run.
SECONDS = 120

run_python = PythonEvaluator()
doctests = DocTestStringParser(DocTestEvaluator(doctest.ELLIPSIS))


class Block:
    """A code block: its language, its text, and what the comment before it says."""

    def __init__(self, language: str, source: str, mark: str) -> None:
        self.language = language
        self.source = source
        kind, _, rest = mark.partition(" ")
        self.reason = mark.removeprefix("not run: ") if mark.startswith("not run: ") else ""
        self.exit = int(rest) if kind == "exit" else 0
        self.is_printed = mark == "printed"
        self.file = rest if kind == "file:" else ""

    @property
    def fate(self) -> str:
        """What becomes of it, for the count."""
        if self.reason:
            return f"not run: {self.reason}"
        if self.file:
            return "written into a file that others use"
        if self.is_printed:
            return "compared with what was printed"
        kinds = {"toml": "read as a configuration", "json": "read as JSON", "rust": "run by cargo test --doc"}
        return kinds.get(self.language, "run")


def parse(document: Document) -> Iterable[Region]:
    """The blocks of a page."""
    for region in FencedCodeBlockLexer(r"\w+")(document):
        mark = MARK.search(document.text, 0, region.start)
        language, source = region.lexemes["language"], region.lexemes["source"]
        block = Block(language, source, mark.group(1) if mark else "")
        if language == "text" and not block.is_printed and not block.file:
            continue
        if language == "python" and source.startswith(">>>") and not block.reason:
            for one in doctests(source, document.path):
                one.adjust(region, source)
                one.lexemes = {"block": block}
                yield one
            continue
        region.parsed = source
        region.lexemes = {"block": block}
        region.evaluator = evaluate
        yield region


def evaluate(example: Example) -> str | None:
    """Does with a block what its language and mark say; tells what is wrong."""
    block: Block = example.region.lexemes["block"]
    if block.reason:
        return unrun(block)
    if block.file:
        path = Path(block.file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.source)
        return None
    if block.is_printed:
        return compare(example.namespace.get("_printed", ""), block.source)
    match block.language:
        case "sh" | "console":
            return shell(example, block)
        case "python":
            run_python(example)
        case "toml":
            Path("read.toml").write_text(block.source)
            done = command(["atlas", "sweep", "--config", "read.toml"])
            return done.stdout if done.returncode else None
        case "json":
            return None if is_json(block.source) else "neither JSON nor JSON lines"
        case "rust":
            return None
        case other:
            return f"nobody knows how to run `{other}`: give it a reason not to be run"
    return None


def command(words: list[str]) -> "subprocess.CompletedProcess[str]":
    """Runs a command and gives all that it prints, what it printed before it was stopped for its time included."""
    try:
        return subprocess.run(
            words, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS
        )
    except subprocess.TimeoutExpired as late:
        printed = (late.stdout or b"").decode(errors="replace")
        return subprocess.CompletedProcess(words, 124, f"{printed}stopped after {SECONDS} seconds\n")


def shell(example: Example, block: Block) -> str | None:
    """Runs a block of commands."""
    source = "\n".join(typed(block)) if block.language == "console" else block.source
    done = command(["bash", "-e", "-o", "pipefail", "-c", source])
    example.namespace["_printed"] = done.stdout
    if done.returncode == block.exit:
        return None
    return f"ended with {done.returncode}, {block.exit} expected:\n{source}\n{done.stdout}"


def typed(block: Block) -> list[str]:
    """The lines of a block that are commands."""
    if block.language != "console":
        return block.source.splitlines()
    lines, goes_on = [], False
    for line in block.source.splitlines():
        if goes_on or line.startswith("$ "):
            lines.append(line.removeprefix("$ "))
            goes_on = line.endswith("\\")
    return lines


def compare(printed: str, expected: str) -> str | None:
    """Whether lines stand in what was printed."""
    pieces = [re.escape(piece) for piece in ANYTHING.split(expected.strip())]
    if re.search(r"\s*[\s\S]*?\s*".join(pieces), printed):
        return None
    return f"expected:\n{expected}\nprinted:\n{printed}"


def is_json(source: str) -> bool:
    """Whether a text is JSON or JSON lines."""
    for pieces in ([source], source.splitlines()):
        try:
            for piece in pieces:
                json.loads(piece)
            return True
        except json.JSONDecodeError:
            continue
    return False


def unrun(block: Block) -> str | None:
    """What can be said of a block without running it: that its options exist, that it is Python."""
    if block.language == "python":
        compile(block.source, "block", "exec")
        return None
    if block.language not in ("sh", "console"):
        return None
    text = "\n".join(typed(block)).replace("\\\n", " ")
    for line in text.splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError as why:
            return f"{line}: {why}"
        if not words or words[0] != "atlas" or "…" in words:
            continue
        ends = [at for at, word in enumerate(words) if word in ("|", ">", "&&", ";", "&")]
        done = command([*words[: min(ends, default=len(words))], "--help"])
        if done.returncode:
            return f"{line}\n{done.stdout}"
    return None


def setup(namespace: dict[str, Any]) -> None:
    """A folder for a page. Commits have one date, so that pages share environments."""
    namespace["_back"] = os.getcwd()
    namespace["_folder"] = tempfile.mkdtemp(prefix="atlas-docs-")
    os.chdir(namespace["_folder"])
    os.symlink(ROOT / "examples", "examples")
    for name in ("AUTHOR", "COMMITTER"):
        os.environ[f"GIT_{name}_NAME"] = "Ada"
        os.environ[f"GIT_{name}_EMAIL"] = "ada@example.org"
        os.environ[f"GIT_{name}_DATE"] = "2026-01-02T03:04:05Z"
    os.environ.pop("PYTHONPATH", None)


def teardown(namespace: dict[str, Any]) -> None:
    """Back, and the folder is gone."""
    os.chdir(namespace["_back"])
    shutil.rmtree(namespace["_folder"], ignore_errors=True)


pytest_collect_file = Sybil(
    parsers=[parse],
    path=str(ROOT),
    patterns=["*.md"],
    excludes=["docs/reference/commands/*.md", "docs/reference/configuration.md"],
    setup=setup,
    teardown=teardown,
).pytest()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each block's fate travels with its result."""
    for item in items:
        if isinstance(example := getattr(item, "example", None), Example):
            item.user_properties.append(("block", example.region.lexemes["block"].fate))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many blocks were run, and why the others were not."""
    done = [report for key in ("passed", "failed") for report in terminalreporter.stats.get(key, [])]
    fates = Counter(dict(report.user_properties).get("block", "") for report in done if report.when == "call")
    not_run = sum(count for fate, count in fates.items() if fate.startswith("not run: "))
    terminalreporter.write_line(f"code blocks: {fates.total() - not_run} run or read, {not_run} not run")
    for fate, count in fates.most_common():
        terminalreporter.write_line(f"{count:5}  {fate}")
