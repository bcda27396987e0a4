"""A pytest plugin that grades beside a harness: `pytest -p swe_atlas.compat.pytest_plugin`.

Whatever a test run grades by `swebench`, or by the harness that `--swe-atlas-harness` names, is graded by Atlas, too; where
the two decide otherwise stands at the end of the run. `--swe-atlas-differences=fail` makes such a run fail.

The logs of a run that `swebench` has left are tests themselves, one for each, where their dataset is named::

    pytest -p swe_atlas.compat.pytest_plugin logs/run_evaluation/my-run --swe-atlas-dataset rows.jsonl
"""

import importlib
import json
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from swe_atlas import compat
from swe_atlas.compat import swebench

__all__: list[str] = []

_HARNESSES = ("swebench", "multi_swe_bench", "inspect_evals")
_ROWS = pytest.StashKey[dict[str, dict[str, Any]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("swe-atlas")
    group.addoption(
        "--swe-atlas-differences",
        choices=("tell", "fail"),
        default="tell",
        help="what a verdict of the harness that Atlas does not share does to the run [default: tell]",
    )
    group.addoption(
        "--swe-atlas-harness",
        choices=_HARNESSES,
        default="swebench",
        help="the harness beside which Atlas grades [default: swebench]",
    )
    group.addoption(
        "--swe-atlas-dataset",
        metavar="FILE",
        help="rows, one a line: each test_output.txt below the folder of one of their ids is graded by swebench and Atlas",
    )


def _harness(config: pytest.Config) -> Any:
    return importlib.import_module(f"{compat.__name__}.{config.getoption('swe_atlas_harness')}")


def _rows(path: str) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    try:
        for number, line in enumerate(Path(path).read_text().splitlines(), 1):
            row = json.loads(line)
            rows[row["instance_id"]] = row
    except OSError as why:
        raise pytest.UsageError(f"--swe-atlas-dataset: {why}") from why
    except (ValueError, KeyError, TypeError) as why:
        raise pytest.UsageError(f"--swe-atlas-dataset: {path}, line {number}: no row with an instance_id: {why}") from why
    return rows


def pytest_configure(config: pytest.Config) -> None:
    dataset = config.getoption("swe_atlas_dataset")
    if dataset and config.getoption("swe_atlas_harness") != "swebench":
        raise pytest.UsageError("--swe-atlas-dataset: logs are graded beside swebench alone")
    config.stash[_ROWS] = _rows(dataset) if dataset else {}
    try:
        _harness(config).install("compare")
    except ImportError as why:
        raise pytest.UsageError(f"swe_atlas.compat.pytest_plugin: {why}") from why


class _Log(pytest.File):
    """A log that a harness has left."""

    def collect(self) -> Iterator[pytest.Item]:
        yield _Graded.from_parent(self, name=self.path.parent.name)


class _Graded(pytest.Item):
    """The log of one prediction, graded by the harness and by Atlas. It fails where they differ and that is to fail."""

    def runtest(self) -> None:
        row = self.config.stash[_ROWS][self.path.parent.name]
        spec = importlib.import_module("swebench.harness.run_evaluation").make_test_spec(row)
        patch = self.path.with_name("patch.diff")
        prediction = {"instance_id": spec.instance_id, "model_patch": patch.read_text() if patch.exists() else ""}
        before = len(swebench.differences())
        grading = importlib.import_module("swebench.harness.grading")
        grading.get_eval_report(spec, prediction, self.path, True)
        found = swebench.differences()[before:]
        if found and self.config.getoption("swe_atlas_differences") == "fail":
            pytest.fail(str(found[0]), pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, str(self.path.parent)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    found = yield
    if file_path.name == "test_output.txt" and file_path.parent.name in parent.config.stash[_ROWS]:
        # By its name pytest takes such a file for text with examples, and the markers for faulty ones.
        return [_Log.from_parent(parent, path=file_path)]
    return found


def pytest_sessionfinish(session: pytest.Session) -> None:
    failing = session.config.getoption("swe_atlas_differences") == "fail"
    if failing and _harness(session.config).differences() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    found = _harness(terminalreporter.config).differences()
    terminalreporter.section(f"{terminalreporter.config.getoption('swe_atlas_harness')} and Atlas")
    if not found:
        terminalreporter.line("no verdict differs")
    for one in found:
        words = ["resolved" if resolved else "not resolved" for resolved in (one.harness, one.atlas)]
        place = f" ({one.log})" if one.log else ""
        terminalreporter.line(f"{one.instance_id}: harness {words[0]}, Atlas {words[1]}{place}")
        for reason in one.reasons:
            terminalreporter.line(f"    {reason}")


def pytest_unconfigure(config: pytest.Config) -> None:
    _harness(config).uninstall()
