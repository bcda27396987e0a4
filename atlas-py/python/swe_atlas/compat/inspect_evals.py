"""Atlas in the place of inspect_evals' grading of SWE-bench samples.

`install` puts Atlas into an imported `inspect_evals`, `uninstall` takes it out again, and `installed` does both around a
block. Its command runs unchanged with Atlas inside::

    python -m swe_atlas.compat.inspect_evals inspect eval inspect_evals/swe_bench --model ...

Modes: `strict` grades by Atlas's own rules and `compat` by those of SWE-bench 4, its mistakes included; neither needs
`swebench` for grading. `compare` lets the scorer decide and notes where `strict` decides otherwise (`differences`).

The scorer makes its script out of `swebench` 4's tables, which know that harness's repositories only. `make_sample` makes
samples of rows with a script and a parser of their own; while Atlas is installed they are run and read by these.
"""

import contextlib
import importlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from swe_atlas import grade_compat, grade_log
from swe_atlas._errors import AtlasError
from swe_atlas.compat import _program
from swe_atlas.compat._installation import Difference, Installation, Mode, checked_mode
from swe_atlas.compat._specification import make_test_spec
from swe_atlas.types import InstanceReport

__all__ = [
    "Difference",
    "Mode",
    "differences",
    "get_score_and_explanation_from_test_output",
    "install",
    "installed",
    "main",
    "make_sample",
    "uninstall",
]

_installation = Installation("inspect_evals")

_START, _END = ">>>>> Start Test Output", ">>>>> End Test Output"
_LISTS = ("PASS_TO_PASS", "FAIL_TO_PASS")
# What the scorer reads of a sample's metadata, and what Atlas reads beside it.
_METADATA = (
    *("base_commit", "patch", "test_patch", "version", "repo", "environment_setup_commit", "hints_text", "created_at"),
    *("log_parser", "eval_type", "language"),
)

# The scripts of rows, by what the scorer asks for one with.
_scripts: dict[tuple[str, str, str, str], str] = {}


def make_sample(row: Mapping[str, Any], *, input_prompt: str = "{issue_text}", allow_internet: bool = False) -> Any:
    """A sample of a row, as the task `swe_bench` makes it, in a Docker sandbox of the row's `image`.

    `input_prompt` is a format with `issue_text`. A row with an `eval_script` is run by that, within this process.

    Raises ImportError where there is no `inspect_ai`, KeyError for a column that the sample needs and the row lacks.
    """
    dataset, util = importlib.import_module("inspect_ai.dataset"), importlib.import_module("inspect_ai.util")
    spec = make_test_spec(row, harness="swebench4")
    metadata: dict[str, Any] = {name: str(row.get(name) or "") for name in _METADATA}
    metadata.update(FAIL_TO_PASS=spec.FAIL_TO_PASS, PASS_TO_PASS=spec.PASS_TO_PASS, base_commit=str(row["base_commit"]))
    metadata.update(image_name=spec.image, allow_internet=allow_internet)
    if spec.eval_script_list:
        _scripts[_key(**metadata)] = spec.eval_script
    service = util.ComposeService(
        image=spec.image,
        command="sleep infinity",
        working_dir="/testbed",
        network_mode=None if allow_internet else "none",
    )
    return dataset.Sample(
        id=spec.instance_id,
        input=input_prompt.format(issue_text=row["problem_statement"]),
        metadata=metadata,
        sandbox=util.SandboxEnvironmentSpec("docker", util.ComposeConfig(services={"default": service})),
    )


def _key(*, test_patch: str, repo: str, version: str, base_commit: str, **_: object) -> tuple[str, str, str, str]:
    return repo, version, base_commit, test_patch


def _script(theirs: Callable[..., str]) -> Callable[..., str]:
    def get_eval_script(test_patch: str, repo: str, version: str, base_commit: str) -> str:
        """The row's own script, or the one that the scorer makes."""
        asked = {"test_patch": test_patch, "repo": repo, "version": version, "base_commit": base_commit}
        return _scripts.get(_key(**asked)) or theirs(**asked)

    return get_eval_script


def _row(state: Any) -> dict[str, Any]:
    metadata = state.metadata
    row = {name: metadata[name] for name in _METADATA if metadata.get(name)}
    row.update({name: list(metadata[name]) for name in _LISTS}, instance_id=str(state.sample_id))
    return {"patch": "", "test_patch": "", **row}


def _strictly(test_output: str, state: Any) -> tuple[bool, list[str], InstanceReport | None]:
    """Whether Atlas calls a sample resolved, why not, and its report."""
    # The agent works in the sandbox: what it changed is no patch that could be looked at.
    graded = grade_log(_row(state), test_output.encode(), patch="\n")
    verdict = graded["verdict"]
    return verdict["resolved"], [*verdict["reasons"], *verdict["notes"]], graded["report"]


def get_score_and_explanation_from_test_output(test_output: str, state: Any) -> tuple[float, str]:
    """The score of a sample, 1.0 where it is resolved and 0.0 otherwise, and the reasons with the tests of both lists.

    `test_output` is what the evaluation's script printed, `state` a `TaskState` with the columns of a row as metadata.

    Raises RuntimeError where the script did not come to the tests or to their end, so that inspect runs the sample again,
    and InvalidInputError for a parser that nobody knows.
    """
    for marker, place in ((_START, "come to the tests"), (_END, "come to the end of the tests")):
        if marker not in test_output:
            raise RuntimeError(f"the evaluation's script did not {place}; its output ends:\n{test_output[-2000:]}")
    if _installation.mode == "compat":
        graded = grade_compat("swebench4", _row(state), test_output.encode(), patch="\n")
        report, reasons = graded["report"], graded["why"]
        resolved = graded["resolution"] == "RESOLVED_FULL"
    else:
        resolved, reasons, report = _strictly(test_output, state)
    body: Mapping[str, Any] = next(iter(report.values()), {}) if report else {}
    tests = body.get("tests_status", {})
    parts = [f"{name}:\n\n{json.dumps(tests[name], indent=2)}\n" for name in _LISTS if name in tests]
    if not resolved and reasons:
        parts.insert(0, "Not resolved:\n\n" + "\n".join(reasons) + "\n")
    if not tests:
        parts.append(f"No test is read; the output ends:\n{test_output[-2000:]}\n")
    return float(resolved), "\n".join(parts)


def _compared(theirs: Callable[[str, Any], tuple[float, str]]) -> Callable[[str, Any], tuple[float, str]]:
    def get_score(test_output: str, state: Any) -> tuple[float, str]:
        value, explanation = theirs(test_output, state)
        try:
            atlas, reasons, _ = _strictly(test_output, state)
        except AtlasError as why:
            atlas, reasons = False, [f"Atlas does not read it: {why}"]
        if atlas != (value == 1.0):
            _installation.note(Difference(str(state.sample_id), "", value == 1.0, atlas, reasons))
        return value, explanation

    return get_score


def differences() -> list[Difference]:
    """Where Atlas decided otherwise than the scorer since `install("compare")`; they stay after `uninstall`."""
    return _installation.differences()


def install(mode: Mode = "strict") -> None:
    """Puts Atlas into the `inspect_evals` that can be imported. What is installed already is taken out first.

    Raises ImportError where there is none, ValueError for another mode.
    """
    checked_mode(mode)
    uninstall()
    scorers = importlib.import_module("inspect_evals.swe_bench.scorers")
    _installation.begin(mode)
    score = scorers.get_score_and_explanation_from_test_output
    ours = _compared(score) if mode == "compare" else get_score_and_explanation_from_test_output
    _installation.replace(score, ours)
    _installation.replace(scorers.get_eval_script, _script(scorers.get_eval_script))


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
    """`python -m swe_atlas.compat.inspect_evals [--mode MODE] (-m MODULE | PROGRAM) ...`: a command with Atlas inside.
    In mode `compare` differences are told at its end."""
    _program.run("swe_atlas.compat.inspect_evals", arguments)


if __name__ == "__main__":
    main()
