"""Atlas in the place of SWE-bench's reading and grading of logs.

The functions here have the names and signatures of `swebench.harness`, and need no `swebench` themselves::

    from swe_atlas.compat.swebench import get_eval_report, make_test_spec

`install` puts them into an imported `swebench` (4.x or 5.x), `uninstall` takes them out again, and `installed` does both
around a block. The harness's own command runs unchanged with Atlas inside::

    python -m swe_atlas.compat.swebench -m swebench.harness.run_evaluation --predictions_path preds.jsonl ...

Modes: `strict` grades by Atlas's own rules; `compat` grades by the rules of the installed release, its mistakes included,
with Atlas's parsers of the same name; `compare` lets the harness decide and notes where `strict` decides otherwise
(`differences`).
"""

import contextlib
import importlib
import json
import os
import runpy
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from swe_atlas import grade_compat, grade_log, parse_log, parse_log_compat
from swe_atlas._errors import AtlasError

__all__ = [
    "PARSER_REGISTRY",
    "Difference",
    "Mode",
    "TestSpec",
    "differences",
    "get_eval_report",
    "get_logs_eval",
    "install",
    "installed",
    "main",
    "make_test_spec",
    "uninstall",
]

Mode: TypeAlias = Literal["strict"] | Literal["compat", "compare"]
_Release: TypeAlias = Literal["swebench4"] | Literal["swebench5", "swebenchpp"]

_START, _END = ">>>>> Start Test Output", ">>>>> End Test Output"
_EXIT_CODE, _EXIT_CODE_VARIABLE = ">>>>> Test Exit Code", "SWEBENCH_TEST_EXIT_CODE"

# The keys of `PARSER_REGISTRY` in swebench 5.0.2.
_PARSERS = """
parse_log_ant parse_log_astroid parse_log_astropy parse_log_bpmn_js parse_log_calypso parse_log_carbon parse_log_cargo
parse_log_chart_js parse_log_cucumber parse_log_django parse_log_doctest parse_log_eslint parse_log_flask
parse_log_googletest parse_log_gotest parse_log_gradle_custom parse_log_grommet parse_log_highlightjs
parse_log_immutable_js parse_log_jekyll parse_log_jest parse_log_jest_json parse_log_jq parse_log_karma
parse_log_lighthouse parse_log_marked parse_log_marshmallow parse_log_matplotlib parse_log_maven
parse_log_micropython_test parse_log_minitest parse_log_next parse_log_openlayers parse_log_p5js parse_log_phpunit
parse_log_prismjs parse_log_pvlib parse_log_pydicom parse_log_pylint parse_log_pytest parse_log_pytest_options
parse_log_pytest_v2 parse_log_pyvista parse_log_quarto_cli parse_log_react_pdf parse_log_redis parse_log_requests
parse_log_rspec_transformed_json parse_log_ruby_unit parse_log_scikit parse_log_seaborn parse_log_sphinx
parse_log_sqlfluff parse_log_sympy parse_log_tap parse_log_vitest parse_log_xarray
""".split()


@dataclass
class TestSpec:
    """What a harness needs of a row to run and grade it: the fields of `swebench.types.TestSpec`, and `language`."""

    instance_id: str
    image: str
    eval_script_list: list[str]
    repo: str
    version: str
    FAIL_TO_PASS: list[str]
    PASS_TO_PASS: list[str]
    log_parser: str = ""
    eval_type: str = "pass_and_fail"
    image_assets: dict[str, Any] = field(default_factory=dict)
    language: str = ""

    # pytest collects classes of this name.
    __test__ = False

    @property
    def eval_script(self) -> str:
        """The script that runs the tests, as a harness writes it into the container."""
        return "\n".join(["#!/bin/bash", "set -uxo pipefail", *self.eval_script_list]) + "\n"


@dataclass(frozen=True)
class Difference:
    """Where Atlas decides otherwise than the harness that was asked with it."""

    instance_id: str
    log: str
    """The log that was graded."""
    harness: bool
    """Whether the harness calls the instance resolved."""
    atlas: bool
    """Whether Atlas does."""
    reasons: list[str]
    """Atlas's reasons, and tests that only one of the two counts as passed."""


def _listed(value: object) -> list[str]:
    found = json.loads(value) if isinstance(value, str) else value
    return [str(test) for test in found] if isinstance(found, (list, tuple)) else []


def make_test_spec(row: Mapping[str, Any], *, harness: _Release = "swebench5") -> TestSpec:
    """The specification of a row, as `swebench.harness.utils.make_test_spec` of release 5 makes it.

    Rows of release 4 have no image, script or parser: these are empty, and the parser is found by the repository. With
    `harness="swebenchpp"` the parser is that of `environment_config` or `spec_dict`, and lower-case names of the
    lists are read, too.

    Raises KeyError for a column that the release needs and the row lacks.
    """
    lists = [_listed(row[name] if name in row else row[name.lower()]) for name in ("FAIL_TO_PASS", "PASS_TO_PASS")]
    parser = str(row.get("log_parser") or "")
    if harness == "swebenchpp":
        config = row.get("environment_config") or row.get("spec_dict") or {}
        config = json.loads(config) if isinstance(config, str) else config
        parser = str(config.get("log_parser_name") or parser)
    script = str(row["eval_script"] if harness == "swebench5" else row.get("eval_script") or "")
    assets = row.get("image_assets") or {}
    return TestSpec(
        instance_id=str(row["instance_id"]),
        image=str(row["image"] if harness == "swebench5" else row.get("image") or ""),
        eval_script_list=_recording(script),
        repo=str(row["repo"]),
        version=str(row.get("version") or ""),
        FAIL_TO_PASS=lists[0],
        PASS_TO_PASS=lists[1],
        log_parser=str(row["log_parser"]) if harness == "swebench5" else parser,
        eval_type=str(row.get("eval_type") or "pass_and_fail"),
        image_assets=json.loads(assets) if isinstance(assets, str) else dict(assets),
        language=str(row.get("language") or ""),
    )


def _recording(script: str) -> list[str]:
    """The commands of a script, with one that tells how the tests' own command ended behind the end's marker."""
    lines = [line for line in script.strip().split("\n") if line not in ("#!/bin/bash", "set -uxo pipefail")]
    at = next((at for at, line in enumerate(lines) if _END in line), None)
    if at is None:
        return lines if script.strip() else []
    told = f'echo "{_EXIT_CODE}: ${_EXIT_CODE_VARIABLE}"'
    return [*lines[:at], f"{_EXIT_CODE_VARIABLE}=$?", lines[at], told, *lines[at + 1 :]]


def _row(spec: Any) -> dict[str, Any]:
    """A row with what grading reads, from a specification of any release."""

    def text(name: str) -> str:
        value = getattr(spec, name, "")
        return str(getattr(value, "value", value) or "")

    row = {
        "instance_id": spec.instance_id,
        "repo": text("repo"),
        "version": text("version"),
        "base_commit": text("base_commit"),
        "patch": "",
        "test_patch": "",
        "FAIL_TO_PASS": list(spec.FAIL_TO_PASS),
        "PASS_TO_PASS": list(spec.PASS_TO_PASS),
    }
    for name in ("log_parser", "eval_type", "language"):
        if text(name):
            row[name] = text(name)
    return row


def _statuses(parsed: Mapping[str, str]) -> dict[str, str]:
    """Statuses by the harness's five words: a test that passes though it should not is a failure."""
    return {test: "FAILED" if status == "XPASS" else status for test, status in parsed.items()}


def _reader(name: str) -> Callable[..., dict[str, str]]:
    def read(log: str, test_spec: Any = None) -> dict[str, str]:
        if _state.mode == "compat":
            spec = {key: str(getattr(test_spec, key, "") or "") for key in ("version", "instance_id", "repo")}
            return parse_log_compat(_state.release, name, log, **spec)
        return _statuses(parse_log(log, name).tests)

    read.__name__ = read.__qualname__ = name
    read.__doc__ = f"Reads what `{name}` of the harness reads: test -> status. `test_spec` is not needed."
    return read


def get_logs_eval(test_spec: Any, log_fp: str | os.PathLike[str]) -> tuple[dict[str, str], bool]:
    """The tests of a stored log with their statuses, and whether there is anything to grade.

    There is not where the patch did not apply, where no test ran, and where the output is not closed by the harness's
    marker.
    """
    path = Path(log_fp)
    if _state.mode == "compat":
        grade = grade_compat(_state.release, _row(test_spec), path, patch="patch")
        report = grade["report"]
        return dict(grade["statuses"]), bool(report and _body(report).get("patch_successfully_applied"))
    graded = grade_log(_row(test_spec), path, patch="patch")
    found = graded["is_closed"] and bool(graded["statuses"])
    return (_statuses(graded["statuses"]) if found else {}), found


def _body(report: Mapping[str, Any]) -> dict[str, Any]:
    """What a report says of its only instance."""
    return dict(next(iter(report.values()), {}))


def get_eval_report(
    test_spec: Any,
    prediction: Mapping[str, Any],
    test_log_path: str | os.PathLike[str],
    include_tests_status: bool,
) -> dict[str, Any]:
    """The report on one prediction, as the harness writes it to `report.json`.

    `test_spec` is a specification of this module or of a release of `swebench`; `prediction` has `instance_id` and
    `model_patch`. In mode `strict` an instance is resolved where each test of both lists passed in a run that can be
    believed.
    """
    instance, patch = str(prediction["instance_id"]), prediction["model_patch"]
    body: dict[str, Any] = {
        "patch_is_None": patch is None,
        "patch_exists": patch is not None,
        "patch_successfully_applied": False,
        "resolved": False,
    }
    if patch is not None:
        path = Path(test_log_path)
        row = _row(test_spec)
        if _state.mode == "compat":
            report = grade_compat(_state.release, row, path, patch=patch)["report"]
        else:
            # A harness that was given an empty patch has run the tests without one.
            graded = grade_log(row, path, patch=patch or "\n")
            report = graded["report"] if graded["is_closed"] else None
        body.update(_body(report) if report else {})
    if _state.release == "swebench5":
        body.setdefault("infra_failure", False)
    else:
        body.pop("infra_failure", None)
        body.pop("infra_failure_reason", None)
    if not include_tests_status:
        body.pop("tests_status", None)
    return {instance: body}


class _State:
    """What is installed at present."""

    def __init__(self) -> None:
        self.mode: Mode = "strict"
        self.release: _Release = "swebench5"
        self.undo: list[Callable[[], None]] = []
        self.differences: list[Difference] = []
        self.lock = threading.Lock()


_state = _State()

PARSER_REGISTRY: dict[str, Callable[..., dict[str, str]]] = {name: _reader(name) for name in _PARSERS}
"""The parsers by the harness's names."""


def __getattr__(name: str) -> Callable[..., dict[str, str]]:
    """`parse_log_pytest` and the others of `PARSER_REGISTRY`."""
    if name in PARSER_REGISTRY:
        return PARSER_REGISTRY[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def differences() -> list[Difference]:
    """Where Atlas decided otherwise than the harness since `install("compare")`; they stay after `uninstall`."""
    with _state.lock:
        return list(_state.differences)


def _compared(theirs: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def get_eval_report(
        test_spec: Any, prediction: Mapping[str, Any], test_log_path: Any, include_tests_status: bool
    ) -> dict[str, Any]:
        report = theirs(test_spec, prediction, test_log_path, include_tests_status)
        note(test_spec, prediction, Path(test_log_path), _body(report))
        return report

    def note(test_spec: Any, prediction: Mapping[str, Any], path: Path, body: Mapping[str, Any]) -> None:
        patch = prediction["model_patch"]
        try:
            verdict = grade_log(_row(test_spec), path, patch=None if patch is None else patch or "\n")["verdict"]
        except AtlasError as why:
            atlas, reasons = False, [f"Atlas does not read it: {why}"]
        else:
            atlas, reasons = verdict["resolved"], list(verdict["reasons"])
            names: tuple[Literal["FAIL_TO_PASS"], Literal["PASS_TO_PASS"]] = ("FAIL_TO_PASS", "PASS_TO_PASS")
            for name in names:
                tests = body.get("tests_status", {}).get(name, {})
                passed, ours = set(tests.get("success", ())), set(verdict[name]["success"])
                if tests:
                    reasons += [f"{name}: only the harness counts `{test}` as passed" for test in sorted(passed - ours)]
                    reasons += [f"{name}: only Atlas counts `{test}` as passed" for test in sorted(ours - passed)]
        if atlas != bool(body.get("resolved")):
            with _state.lock:
                found = Difference(
                    str(prediction["instance_id"]), str(path), bool(body.get("resolved")), atlas, reasons
                )
                _state.differences.append(found)

    return get_eval_report


def install(mode: Mode = "strict") -> None:
    """Puts Atlas into the `swebench` that can be imported: its parsers, `get_logs_eval` and `get_eval_report`, wherever
    its modules hold them. What is installed already is taken out first. With `compare` only the last is wrapped.

    Raises ImportError where there is no `swebench` of release 4 or 5.
    """
    if mode not in ("strict", "compat", "compare"):
        raise ValueError(f"mode: `{mode}`: strict, compat or compare expected")
    uninstall()
    grading = importlib.import_module("swebench.harness.grading")
    parsers = importlib.import_module("swebench.harness.log_parsers")
    version = str(getattr(importlib.import_module("swebench"), "__version__", ""))
    releases: dict[str, _Release] = {"4": "swebench4", "5": "swebench5"}
    release = releases.get(version.split(".")[0])
    if release is None:
        raise ImportError(f"swebench {version or 'of an unknown release'}: 4.x or 5.x expected")
    with _state.lock:
        _state.mode, _state.release = mode, release
        _state.differences.clear()
    if mode == "compare":
        _replace(grading.get_eval_report, _compared(grading.get_eval_report))
        return
    _replace(grading.get_eval_report, get_eval_report)
    _replace(grading.get_logs_eval, get_logs_eval)
    for name, ours in PARSER_REGISTRY.items():
        theirs = getattr(parsers, name, None)
        if theirs is not None:
            _replace(theirs, ours)


def _replace(theirs: object, ours: object) -> None:
    """Puts one object into the place of another in all modules of `swebench` and in their tables."""
    for module in [one for name, one in list(sys.modules.items()) if name.split(".")[0] == "swebench"]:
        for name, value in list(vars(module).items()):
            if value is theirs:
                setattr(module, name, ours)
                _state.undo.append(lambda module=module, name=name: setattr(module, name, theirs))  # type: ignore[misc]
            elif isinstance(value, dict):
                for key in [key for key, held in value.items() if held is theirs]:
                    value[key] = ours
                    _state.undo.append(lambda value=value, key=key: value.__setitem__(key, theirs))  # type: ignore[misc]


def uninstall() -> None:
    """Takes Atlas out again: each name holds what it held. Nothing happens where nothing is installed."""
    while _state.undo:
        _state.undo.pop()()
    _state.mode, _state.release = "strict", "swebench5"


@contextlib.contextmanager
def installed(mode: Mode = "strict") -> Iterator[None]:
    """`install` around a block."""
    install(mode)
    try:
        yield
    finally:
        uninstall()


def main(arguments: list[str] | None = None) -> None:
    """`python -m swe_atlas.compat.swebench [--mode MODE] -m MODULE ...`: a module of the harness with Atlas inside."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    mode = "strict"
    if words[:1] == ["--mode"] and len(words) > 1:
        mode = words[1]
        words = words[2:]
    if words[:1] != ["-m"] or len(words) < 2:
        sys.exit("usage: python -m swe_atlas.compat.swebench [--mode strict|compat|compare] -m MODULE [ARGUMENTS]")
    try:
        # Run as a program this file is another module than the one that others import.
        this = importlib.import_module("swe_atlas.compat.swebench")
        this.install(mode)
    except (ImportError, ValueError) as why:
        sys.exit(f"swe_atlas.compat.swebench: {why}")
    sys.argv = [words[1], *words[2:]]
    try:
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    finally:
        for found in this.differences():
            said = "; ".join(found.reasons)
            print(f"differs: {found.instance_id}: harness {found.harness}, Atlas {found.atlas}: {said}", file=sys.stderr)


if __name__ == "__main__":
    main()
