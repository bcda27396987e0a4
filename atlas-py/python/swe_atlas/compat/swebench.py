"""Atlas in the place of SWE-bench's reading and grading of logs.

The functions here have the names and signatures of `swebench.harness`, and need no `swebench` themselves::

    from swe_atlas.compat.swebench import get_eval_report, make_test_spec

`install` puts them into an imported `swebench`: 4.x, 5.x or that of SWE-Bench++. `uninstall` takes them out again, and
`installed` does both around a block. The harness's own command runs unchanged with Atlas inside::

    python -m swe_atlas.compat.swebench -m swebench.harness.run_evaluation --predictions_path preds.jsonl ...

Modes: `strict` grades by Atlas's own rules; `compat` grades by the rules of the installed release, its mistakes included,
with Atlas's parsers of the same name; `compare` lets the harness decide and notes where `strict` decides otherwise
(`differences`).

Within 4.x, rows that have an `eval_script` are run by it, in their own `image` and read by their own `log_parser`, whatever
their repository is.
"""

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from swe_atlas import grade_compat, grade_log, parse_log, parse_log_compat
from swe_atlas._errors import AtlasError
from swe_atlas.compat import _program, _swebench4
from swe_atlas.compat._installation import Difference, Installation, Mode, checked_mode, one_sided
from swe_atlas.compat._specification import Release, TestSpec, make_test_spec, row_of
from swe_atlas.types import GradedLog

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

_installation = Installation("swebench")
_release: Release = "swebench5"


def _statuses(parsed: Mapping[str, str]) -> dict[str, str]:
    """Statuses by the harness's five words: a test that passes though it should not is a failure."""
    return {test: "FAILED" if status == "XPASS" else status for test, status in parsed.items()}


def _reader(name: str) -> Callable[..., dict[str, str]]:
    def read(log: str, test_spec: Any = None) -> dict[str, str]:
        if _installation.mode == "compat":
            spec = {key: str(getattr(test_spec, key, "") or "") for key in ("version", "instance_id", "repo")}
            return parse_log_compat(_release, name, log, **spec)
        return _statuses(parse_log(log, name).tests)

    read.__name__ = read.__qualname__ = name
    read.__doc__ = f"Reads what `{name}` of the harness reads: test -> status. `test_spec` is not needed."
    return read


def _graded(test_spec: Any, path: Path, patch: str | None) -> GradedLog:
    """A log graded by Atlas's rules."""
    row = row_of(test_spec)
    if _has_code(test_spec):
        # Whoever runs the code of a row trusts it; the log itself says which runner wrote it.
        row["log_parser"] = parse_log(path, "auto", language=row.get("language")).parser
    return grade_log(row, path, patch=patch)


def _has_code(test_spec: Any) -> bool:
    """Whether the parser of a specification is code, as SWE-Bench++ has it."""
    parser = getattr(test_spec, "log_parser", None)
    return isinstance(parser, str) and "\n" in parser


def get_logs_eval(test_spec: Any, log_fp: str | os.PathLike[str]) -> tuple[dict[str, str], bool]:
    """The tests of a stored log with their statuses, and whether there is anything to grade.

    There is not where the patch did not apply, where no test ran, and where the output is not closed by the harness's
    marker. Raises InvalidInputError for a parser that nobody knows.
    """
    path = Path(log_fp)
    if _installation.mode == "compat":
        grade = grade_compat(_release, row_of(test_spec), path, patch="patch")
        report = grade["report"]
        return dict(grade["statuses"]), bool(report and _body(report).get("patch_successfully_applied"))
    graded = _graded(test_spec, path, "patch")
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
    run_id: str = "",
    has_new_test_file: bool = False,
) -> dict[str, Any]:
    """The report on one prediction, as the harness writes it to `report.json`.

    `test_spec` is a specification of this module or of a release of `swebench`; `prediction` has `instance_id` and
    `model_patch`. In mode `strict` an instance is resolved where each test of both lists passed in a run that can be
    believed. The last two arguments are those of SWE-Bench++ and change nothing.

    Raises InvalidInputError for a parser that nobody knows.
    """
    instance, patch = str(prediction["instance_id"]), prediction["model_patch"]
    body: dict[str, Any] = {
        "patch_is_None": patch is None,
        "patch_exists": patch is not None,
        "patch_successfully_applied": False,
        "resolved": False,
    }
    # Releases 4 and 5 run the tests of an empty patch as they do of any other.
    nothing = patch is None or (_release == "swebenchpp" and not patch.strip())
    if not nothing:
        path = Path(test_log_path)
        if _installation.mode == "compat":
            report = grade_compat(_release, row_of(test_spec), path, patch=patch)["report"]
        else:
            graded = _graded(test_spec, path, patch or "\n")
            report = graded["report"] if graded["is_closed"] else None
        body.update(_body(report) if report else {})
    if _release == "swebench5":
        body.setdefault("infra_failure", False)
    else:
        body.pop("infra_failure", None)
        body.pop("infra_failure_reason", None)
    if _release == "swebenchpp":
        body["status"] = _word(patch, body)
    if not include_tests_status:
        body.pop("tests_status", None)
    return {instance: body}


def _word(patch: str | None, body: Mapping[str, Any]) -> str:
    """SWE-Bench++'s word for how a prediction ended."""
    if patch is None:
        return "SYSTEM_ERROR"
    if not patch.strip():
        return "EMPTY_PATCH"
    if not body["patch_successfully_applied"]:
        return "TEST_ERROR"
    return "RESOLVED" if body["resolved"] else "UNSOLVED"


PARSER_REGISTRY: dict[str, Callable[..., dict[str, str]]] = {name: _reader(name) for name in _PARSERS}
"""The parsers by the harness's names."""


def __getattr__(name: str) -> Callable[..., dict[str, str]]:
    """`parse_log_pytest` and the others of `PARSER_REGISTRY`."""
    if name in PARSER_REGISTRY:
        return PARSER_REGISTRY[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def differences() -> list[Difference]:
    """Where Atlas decided otherwise than the harness since `install("compare")`; they stay after `uninstall`."""
    return _installation.differences()


def _compared(theirs: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def get_eval_report(
        test_spec: Any,
        prediction: Mapping[str, Any],
        test_log_path: Any,
        include_tests_status: bool,
        *more: Any,
        **named: Any,
    ) -> dict[str, Any]:
        report = theirs(test_spec, prediction, test_log_path, include_tests_status, *more, **named)
        note(test_spec, prediction, Path(test_log_path), _body(report))
        return report

    def note(test_spec: Any, prediction: Mapping[str, Any], path: Path, body: Mapping[str, Any]) -> None:
        patch = prediction["model_patch"]
        try:
            verdict = _graded(test_spec, path, None if patch is None else patch or "\n")["verdict"]
        except AtlasError as why:
            atlas, reasons = False, [f"Atlas does not read it: {why}"]
        else:
            atlas, reasons = verdict["resolved"], [*verdict["reasons"], *verdict["notes"]]
            names: tuple[Literal["FAIL_TO_PASS"], Literal["PASS_TO_PASS"]] = ("FAIL_TO_PASS", "PASS_TO_PASS")
            if atlas and not body.get("patch_successfully_applied"):
                reasons.append("the harness finds nothing in the log that it can grade")
            for name in names:
                if tests := body.get("tests_status", {}).get(name, {}):
                    reasons += one_sided(name, set(tests.get("success", ())), set(verdict[name]["success"]))
        harness = bool(body.get("resolved"))
        if atlas != harness:
            _installation.note(Difference(str(prediction["instance_id"]), str(path), harness, atlas, reasons))

    return get_eval_report


def _release_of(parsers: Any) -> Release:
    """The release of the imported package. SWE-Bench++ numbers its own one otherwise."""
    if hasattr(parsers, "LANGUAGE_PARSER_MAP"):
        return "swebenchpp"
    version = str(getattr(importlib.import_module("swebench"), "__version__", ""))
    releases: dict[str, Release] = {"4": "swebench4", "5": "swebench5"}
    if version.split(".")[0] not in releases:
        raise ImportError(f"swebench {version or 'of an unknown release'}: 4.x, 5.x or SWE-Bench++ expected")
    return releases[version.split(".")[0]]


def install(mode: Mode = "strict") -> None:
    """Puts Atlas into the `swebench` that can be imported: its parsers, `get_logs_eval` and `get_eval_report`, wherever
    its modules hold them. What is installed already is taken out first. With `compare` only the last is wrapped.

    Raises ImportError where there is no `swebench` of release 4 or 5 or of SWE-Bench++, ValueError for another mode.
    """
    global _release
    checked_mode(mode)
    uninstall()
    grading = importlib.import_module("swebench.harness.grading")
    parsers = importlib.import_module("swebench.harness.log_parsers")
    _release = _release_of(parsers)
    _installation.begin(mode)
    if _release == "swebench4":
        _swebench4.put_in(_installation)
    if mode == "compare":
        _installation.replace(grading.get_eval_report, _compared(grading.get_eval_report))
        return
    _installation.replace(grading.get_eval_report, get_eval_report)
    _installation.replace(grading.get_logs_eval, get_logs_eval)
    # The package of the parsers bears all their names in release 5 alone.
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(parsers.__name__)]
    for name, ours in PARSER_REGISTRY.items():
        for theirs in {id(one): one for module in modules if (one := vars(module).get(name))}.values():
            _installation.replace(theirs, ours)


def uninstall() -> None:
    """Takes Atlas out again: each name holds what it held. Nothing happens where nothing is installed."""
    global _release
    _installation.end()
    _release = "swebench5"


@contextlib.contextmanager
def installed(mode: Mode = "strict") -> Iterator[None]:
    """`install` around a block."""
    install(mode)
    try:
        yield
    finally:
        uninstall()


def main(arguments: list[str] | None = None) -> None:
    """`python -m swe_atlas.compat.swebench [--mode MODE] (-m MODULE | PROGRAM) ...`: a command of the harness with Atlas
    inside. In mode `compare` differences are told at its end."""
    _program.run("swe_atlas.compat.swebench", arguments)


if __name__ == "__main__":
    main()
