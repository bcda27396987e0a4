"""Atlas in the place of Multi-SWE-bench's reading of logs.

`install` puts Atlas into an imported `multi_swe_bench` 1.x, `uninstall` takes it out again, and `installed` does both around
a block. Its own commands run unchanged with Atlas inside::

    python -m swe_atlas.compat.multi_swe_bench -m multi_swe_bench.harness.gen_report --mode evaluation ...

Its rules stay: what counts as fixed and as broken is decided by its `Report`, of the tests of three logs. Modes: `strict` has
Atlas read the logs and asks it whether the last run can be believed; `compare` lets the harness read and notes where
`strict` decides otherwise (`differences`).

Where no reader is registered for a repository, `strict` does without one: the log itself says which runner wrote it.

A dataset that Multi-SWE-bench has built names tests as its own readers do. Tests that it names so, and Atlas otherwise, keep
what the harness's reader says of them.
"""

import contextlib
import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

from swe_atlas import grade_log, parse_log
from swe_atlas._errors import AtlasError
from swe_atlas.compat import _program
from swe_atlas.compat._installation import Difference, Installation, checked_mode, one_sided

__all__ = ["Difference", "Mode", "differences", "generate_report", "install", "installed", "main", "uninstall"]

Mode: TypeAlias = Literal["strict"] | Literal["compare"]

_installation = Installation("multi_swe_bench")

_SIDES = {"PASSED": "passed", "XFAIL": "passed", "FAILED": "failed", "ERROR": "failed", "XPASS": "failed", "SKIPPED": "skipped"}
# Atlas grades what stands between a harness's markers; a log of Multi-SWE-bench is the output alone.
_MARKED = ">>>>> Start Test Output\n{}\n>>>>> End Test Output\n"


def _module(name: str) -> Any:
    return importlib.import_module(f"multi_swe_bench.harness.{name}")


def _result(statuses: dict[str, str]) -> Any:
    """Statuses by test as a `TestResult`."""
    sides: dict[str, set[str]] = {"passed": set(), "failed": set(), "skipped": set()}
    for test, status in statuses.items():
        sides[_SIDES[status]].add(test)
    counts = {f"{side}_count": len(tests) for side, tests in sides.items()}
    return _module("test_result").TestResult(**counts, **{f"{side}_tests": tests for side, tests in sides.items()})


def _statuses(result: Any) -> dict[str, str]:
    """A `TestResult` as statuses by test."""
    sides = (("PASSED", result.passed_tests), ("FAILED", result.failed_tests), ("SKIPPED", result.skipped_tests))
    return {test: status for status, tests in sides for test in tests}


def _read(log: str) -> tuple[str, dict[str, str]]:
    """The parser that the log asks for, and what it reads."""
    try:
        parsed = parse_log(log)
    except AtlasError:
        return "", {}
    return parsed.parser, dict(parsed.tests)


def _own_names(instance: Any, log: str, known: set[str]) -> dict[str, str]:
    """What the harness's reader says of tests that a dataset names as it does."""
    if not known:
        return {}
    try:
        theirs = _statuses(instance.parse_log(log))
    except (NotImplementedError, ValueError):
        # It has no reader, or one that reads a test as passed and as failed.
        return {}
    return {test: status for test, status in theirs.items() if test in known}


def _believed(report: Any, parser: str, tests: dict[str, str], log: str) -> list[str]:
    """Why the last run cannot be believed to have passed the tests that a report lives on; empty if it can."""
    passed = {test for test, status in tests.items() if _SIDES[status] == "passed"}
    if not passed:
        return ["no test passes as Atlas reads the log"]
    row = {
        "instance_id": f"{report.org}__{report.repo}-{report.number}",
        "repo": f"{report.org}/{report.repo}",
        "base_commit": "",
        "patch": "",
        "test_patch": "",
        "log_parser": parser,
        # A dataset may name all its tests otherwise than Atlas does; the run is believed by the others then.
        "FAIL_TO_PASS": sorted(passed & {*report.fixed_tests, *report.p2p_tests} or passed),
        "PASS_TO_PASS": [],
    }
    verdict = grade_log(row, _MARKED.format(log), patch="\n")["verdict"]
    return [] if verdict["resolved"] else [*verdict["reasons"], *verdict["notes"]]


def generate_report(instance: Any, run_result: Any, test_patch_result: Any, fix_patch_result: Any) -> Any:
    """The report on three runs, as `multi_swe_bench.harness.report.generate_report` makes it.

    Each of the three is a log as text or a `TestResult`, as an evaluation has them from its dataset. A report is invalid
    where the harness calls it so, and where Atlas does not believe the last run; then its `error_msg` begins with `Atlas: `.
    """
    given = [result for result in (run_result, test_patch_result) if not isinstance(result, str)]
    known = {test for result in given for test in _statuses(result)}
    read: list[tuple[str, dict[str, str]]] = []
    results = []
    for result in (run_result, test_patch_result, fix_patch_result):
        if isinstance(result, str):
            parser, tests = _read(result)
            read.append((parser, tests))
            result = _result({**_own_names(instance, result, known), **tests})
        results.append(result)
    report = _module("report").Report(
        org=instance.pr.org,
        repo=instance.pr.repo,
        number=instance.pr.number,
        run_result=results[0],
        test_patch_result=results[1],
        fix_patch_result=results[2],
    )
    if report.valid and isinstance(fix_patch_result, str):
        parser, tests = read[-1]
        why = _believed(report, parser, tests, fix_patch_result) if parser else ["no runner is recognised in the log"]
        if why:
            report.valid, report.error_msg = False, "Atlas: " + "; ".join(why)
    return report


def _compared(theirs: Callable[..., Any]) -> Callable[..., Any]:
    def generate(instance: Any, run_result: Any, test_patch_result: Any, fix_patch_result: Any) -> Any:
        try:
            report: Any = theirs(instance, run_result, test_patch_result, fix_patch_result)
        except ValueError as why:
            report, failed = None, why
        ours = generate_report(instance, run_result, test_patch_result, fix_patch_result)
        harness = bool(report and report.valid)
        if harness != bool(ours.valid):
            reasons = [re.sub(r"\s+", " ", ours.error_msg)] if ours.error_msg else []
            if report is None:
                reasons.append(f"the harness fails: {failed}")
            else:
                sides = [set(one.fix_patch_result.passed_tests) for one in (report, ours)]
                reasons += one_sided("fix", *sides)
            _installation.note(Difference(ours.id, "", harness, bool(ours.valid), reasons))
        if report is None:
            raise failed
        return report

    return generate


def _created(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """`Instance.create` for repositories that nobody registered: what a report needs of an instance."""
    base = _module("instance").Instance
    unregistered = type("UnregisteredInstance", (base,), {"__doc__": "An instance without a reader of its own.", "pr": None})

    def create(pr: Any, config: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return theirs(pr, config, *arguments, **named)
        except ValueError:
            found: Any = unregistered()
            found.pr = pr
            return found

    return create


def differences() -> list[Difference]:
    """Where Atlas decided otherwise than the harness since `install("compare")`; they stay after `uninstall`.

    A verdict is whether a report is valid; what of a dataset's lists a valid report lacks is the harness's to say.
    """
    return _installation.differences()


def install(mode: Mode = "strict") -> None:
    """Puts Atlas into the `multi_swe_bench` that can be imported. What is installed already is taken out first.

    Raises ImportError where there is none, ValueError for another mode.
    """
    checked_mode(mode, ("strict", "compare"))
    uninstall()
    report, instance = _module("report"), _module("instance")
    _installation.begin(mode)
    if mode == "compare":
        _installation.replace(report.generate_report, _compared(report.generate_report))
        return
    _installation.replace(report.generate_report, generate_report)
    _installation.set(instance.Instance, "create", staticmethod(_created(instance.Instance.create)))


def uninstall() -> None:
    """Takes Atlas out again: each name holds what it held. Nothing happens where nothing is installed."""
    _installation.end()


@contextlib.contextmanager
def installed(mode: Mode = "strict") -> Iterator[None]:
    """`install` around a block."""
    install(mode)
    try:
        yield
    finally:
        uninstall()


def main(arguments: list[str] | None = None) -> None:
    """`python -m swe_atlas.compat.multi_swe_bench [--mode MODE] -m MODULE ...`: a command of the harness with Atlas inside.
    In mode `compare` differences are told at its end."""
    _program.run("swe_atlas.compat.multi_swe_bench", arguments)


if __name__ == "__main__":
    main()
