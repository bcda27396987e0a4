import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import FAILED, PASSED, PullRequest, running

import swe_atlas

ID = "example__sums-1"


def grading(pull_request: PullRequest) -> dict[str, Any]:
    """For `swe_atlas.evaluate(dataset, predictions, run_id, **…)`."""
    return {
        "repos": pull_request.repo,
        "out": pull_request.out.with_name("runs"),
        "results": pull_request.out.with_name("results"),
        "config": pull_request.config,
        "engine": "local",
        "trust": True,
    }


def made(pull_request: PullRequest) -> Path:
    """The dataset with the one instance."""
    assert swe_atlas.make(**pull_request.arguments).outcome == "instance"
    return pull_request.out / "dataset.jsonl"


def prediction(patch: str | None, model: str = "mine") -> dict[str, str | None]:
    return {"instance_id": ID, "model_name_or_path": model, "model_patch": patch}


def test_predictions_are_graded(pull_request: PullRequest) -> None:
    dataset, arguments = made(pull_request), grading(pull_request)
    gold = swe_atlas.Instance.from_json(dataset.read_text()).patch
    right = gold.replace("return a + b", "return b + a")
    wrong = gold.replace("return a + b", "return a - b - 0")
    assert right != gold != wrong
    predictions = [prediction(right), prediction(wrong, "other"), prediction(None, "third")]
    report = swe_atlas.evaluate(dataset, predictions, "one", **arguments)
    assert report.resolved_ids == [ID], report.to_json()
    assert (report.run_id, report.mode) == ("one", "strict")
    good, bad, none = report.verdicts
    assert good["resolved"] and good["resolution"] == "RESOLVED_FULL" and "cause" not in good
    assert not bad["resolved"] and bad["cause"] == "model"
    assert bad["FAIL_TO_PASS"]["failure"] and bad["PASS_TO_PASS"]["failure"] == []
    assert none["outcome"] == "null_patch"
    assert report.causes == {"model": 2}
    assert report.reports["mine"]["resolved_ids"] == [ID]
    assert report.reports["other"]["unresolved_ids"] == [ID]
    assert report.bounds["other"]["upper"] == 0.0
    assert report.ledger["jobs_run"] > 0
    assert json.loads(report.to_json()) == report.to_dict()
    assert pickle.loads(pickle.dumps(report)) == report
    stored = arguments["out"] / "logs" / "run_evaluation" / "one" / "mine" / ID / "verdict.json"
    assert json.loads(stored.read_text())["resolved"]

    # The same predictions as a file, under another name: nothing runs again.
    lines = arguments["out"] / "predictions.jsonl"
    lines.write_text("".join(json.dumps(prediction(patch)) + "\n" for patch in (wrong, right)))
    read = swe_atlas.read_predictions(lines)
    by_instance = {ID: {"model_name_or_path": "mine", "model_patch": right}}
    keyed = arguments["out"] / "keyed.json"
    keyed.write_text(json.dumps(by_instance))
    forms = [lines, str(lines), read, list(read), by_instance, keyed]
    forms += [[*swe_atlas.read_predictions(keyed)], prediction(right)]
    for run_id, given in zip(["two", *"abcdefg"], forms, strict=True):
        again = swe_atlas.evaluate(dataset, given, run_id, **arguments)
        assert again.resolved_ids == [ID]  # of two by one model the last counts
        assert again.ledger["jobs_run"] == 0

    stored = arguments["out"] / "logs" / "run_evaluation" / "two"
    for mode in ("strict", "compat-swebench5"):
        regraded = swe_atlas.regrade(dataset, lines, stored, mode=mode)
        assert regraded.mode == mode
        assert [one["instance_id"] for one in regraded.instances] == [ID]
        assert regraded.changes == []
        assert pickle.loads(pickle.dumps(regraded)) == regraded
        assert json.loads(regraded.to_json()) == regraded.to_dict()

    board = swe_atlas.leaderboard(
        dataset, {"pair": [report.reports["other"], report.reports["mine"]]}, k=[1, 2]
    )
    assert board.pass_at_k["pair"]["overall"]["pass_at"] == {"1": 0.5, "2": 1.0}
    files = [arguments["out"] / f"{model}.one.json" for model in ("other", "mine")]
    board = swe_atlas.leaderboard(swe_atlas.read_dataset(dataset), files)
    assert [row["model"] for row in board.leaderboard["rows"]] == ["mine", "other"]
    assert "| 1 | mine |" in board.to_markdown()
    assert pickle.loads(pickle.dumps(board)) == board


def test_the_command_grades_the_same(pull_request: PullRequest, atlas: str) -> None:
    dataset, arguments = made(pull_request), grading(pull_request)
    ours = swe_atlas.evaluate(dataset, "gold", "ours", **arguments)
    assert ours.resolved_ids == [ID]
    command = [
        *(atlas, "eval", "--dataset", str(dataset), "--predictions", "gold", "--run-id", "theirs"),
        *("--engine", "local", "--trust", "--config", str(pull_request.config), "--format", "json"),
        *("--out", str(arguments["out"]), "--results", str(arguments["results"])),
        *("--repos", str(pull_request.repo)),
    ]
    theirs = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert theirs["run_id"] == "theirs" and set(theirs) == set(ours.to_dict())
    assert theirs["reports"] == ours.reports
    assert theirs["verdicts"] == ours.verdicts


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mode": "lenient"}, "lenient"),
        ({"engine": "podman"}, "podman"),
        ({"network": "some"}, "`none` or `full`"),
        ({"timeout": 0}, "timeout"),
        ({"instance_ids": ["../up"]}, "instance id"),
        ({"instance_ids": ["a__b-1"]}, "a__b-1"),
        ({"predictions": []}, "no usable prediction"),
        ({"predictions": [{"model_patch": ""}]}, "no usable prediction"),
        ({"predictions": "nowhere.json"}, "nowhere.json"),
        ({"run_id": "../up"}, "run"),
        ({}, "no usable row"),
    ],
)
def test_wrong_arguments(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    rows = tmp_path / "rows.jsonl"
    arguments: dict[str, Any] = {"run_id": "run", "predictions": "gold", "out": tmp_path, "results": tmp_path}
    arguments |= {"engine": "local", "trust": True, **changes}
    row: dict[str, Any] = {"instance_id": "o__r-1", "repo": "o/r", "base_commit": "0" * 40}
    row |= {"patch": "", "test_patch": "", "FAIL_TO_PASS": [], "PASS_TO_PASS": []}
    rows.write_text(json.dumps(row if changes else {}) + "\n")
    with pytest.raises(swe_atlas.AtlasError, match=says):
        swe_atlas.evaluate(rows, **arguments)
    with pytest.raises(TypeError):
        swe_atlas.evaluate(rows, 7, "run")  # type: ignore[arg-type]


CHILD = """
import json, signal, sys
import swe_atlas
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    swe_atlas.evaluate(**json.loads(sys.argv[1]))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_an_evaluation_in_order(
    pull_request: PullRequest, tmp_path: Path
) -> None:
    dataset, arguments = made(pull_request), grading(pull_request)
    gold = swe_atlas.Instance.from_json(dataset.read_text()).patch
    sleep = f"600.{time.time_ns()}"
    hang = f"__import__('subprocess').run(['sleep', '{sleep}']) and a + b"
    given = {
        **{name: str(value) for name, value in arguments.items() if isinstance(value, os.PathLike)},
        **{"engine": "local", "trust": True, "canaries": False, "run_id": "run"},
        **{"dataset": str(dataset), "predictions": [prediction(gold.replace("a + b", hang))]},
    }
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, json.dumps(given)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        limit = time.monotonic() + 120
        while not running(sleep):
            assert child.poll() is None, child.communicate()
            assert time.monotonic() < limit, "the tests never began"
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
    assert out == "interrupted\n", err
    assert not running(sleep)


def test_logs_are_read_as_a_harness_reads_them() -> None:
    log = "PASSED t.py::test_a\nFAILED t.py::test_b[x - y] - assert 0"
    for harness in ("swebench4", "swebench5"):
        for given in (log, log.encode()):
            found = swe_atlas.parse_log_compat(harness, "parse_log_astropy", given)
            assert found == {"t.py::test_a": "PASSED", "t.py::test_b[x": "FAILED"}
    plus = swe_atlas.parse_log_compat("swebenchpp", "pytest", log, language="Python")
    assert plus["t.py::test_a"] == "PASSED"
    with pytest.raises(swe_atlas.CompatFault) as caught:
        swe_atlas.parse_log_compat("swebench5", "parse_log_nothing", log)
    assert str(caught.value) == "KeyError: 'parse_log_nothing'"
    assert caught.value.kind == "invalid_input" and isinstance(caught.value, ValueError)
    assert type(pickle.loads(pickle.dumps(caught.value))) is swe_atlas.CompatFault
    with pytest.raises(swe_atlas.InvalidInputError, match="swebench5"):
        swe_atlas.parse_log_compat("swebench9", "pytest", log)  # type: ignore[arg-type]


ROW = {
    "instance_id": "o__r-1",
    "repo": "o/r",
    "base_commit": "0" * 40,
    "patch": "",
    "test_patch": "",
    "log_parser": "parse_log_pytest",
    "FAIL_TO_PASS": ["tests/test_sums.py::test_two"],
    "PASS_TO_PASS": ["tests/test_sums.py::test_zero"],
}


def wrapped(log: str) -> str:
    lines = "\n".join(
        f"{status} {test}" for test, status in swe_atlas.parse_log(log, "pytest").tests.items()
    )
    return f">>>>> Start Test Output\n{lines}\n>>>>> End Test Output\n"


def test_logs_are_graded_as_a_harness_grades_them() -> None:
    for row in (ROW, swe_atlas.Instance.from_dict(ROW), swe_atlas.Row.from_dict(ROW)):
        good = swe_atlas.grade_compat("swebench5", row, wrapped(PASSED), patch="diff")
        assert (good["resolution"], good["outcome"]) == ("RESOLVED_FULL", "completed")
        assert good["report"] is not None and good["report"]["o__r-1"]["resolved"]
    bad = swe_atlas.grade_compat("swebench5", ROW, wrapped(FAILED).encode(), patch="diff")
    assert bad["resolution"] == "RESOLVED_NO" and bad["statuses"]
    lost = swe_atlas.grade_compat("swebench5", ROW, None, patch="diff", stage="not_applied")
    assert (lost["report"], lost["outcome"]) == (None, "error") and lost["why"]
    empty = swe_atlas.grade_compat("swebench4", ROW, None, patch="")
    assert empty["outcome"] == "empty_patch"
    with pytest.raises(swe_atlas.InvalidInputError, match="base_commit"):
        swe_atlas.grade_compat("swebench5", {"instance_id": "o__r-1"}, "", patch="diff")
    with pytest.raises(swe_atlas.InvalidInputError, match="not_started"):
        swe_atlas.grade_compat("swebench5", ROW, "", patch="", stage="late")  # type: ignore[arg-type]


def test_a_python_function_reads_the_log() -> None:
    def read(text: str) -> dict[str, str]:
        return {line.split()[1]: "PASSED" for line in text.splitlines() if "test_" in line}

    log = wrapped(FAILED)
    found = swe_atlas.grade_compat("swebench5", ROW, log, patch="diff", read=read)
    assert found["resolution"] == "RESOLVED_FULL"

    def raising(text: str) -> dict[str, str]:
        raise KeyError("status")

    found = swe_atlas.grade_compat("swebench5", ROW, log, patch="diff", read=raising)
    assert found["report"] is None and "KeyError: 'status'" in found["why"][-1]

    def stopped(text: str) -> dict[str, str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        swe_atlas.grade_compat("swebench5", ROW, log, patch="diff", read=stopped)
    with pytest.raises(AttributeError, match="items"):
        swe_atlas.grade_compat("swebench5", ROW, log, patch="diff", read=len)  # type: ignore[arg-type]


def test_pass_at_k() -> None:
    assert swe_atlas.pass_at_k(20, 1, 5) == 0.25
    assert swe_atlas.pass_at_k(3, 1, 5) is None
    with pytest.raises(OverflowError):
        swe_atlas.pass_at_k(-1, 0, 1)
    with pytest.raises(swe_atlas.InvalidInputError, match="from 1"):
        swe_atlas.leaderboard(swe_atlas.Dataset.from_rows([ROW]), {}, k=[0])
    with pytest.raises(swe_atlas.InvalidInputError, match="missing field"):
        swe_atlas.leaderboard(swe_atlas.Dataset.from_rows([ROW]), [{"resolved_ids": []}])  # type: ignore[list-item]


def test_a_loop_over_attempts(pull_request: PullRequest, tmp_path: Path) -> None:
    dataset, arguments = made(pull_request), grading(pull_request)
    gold = swe_atlas.Instance.from_json(dataset.read_text()).patch
    solver = tmp_path / "solver.py"
    # It learns: only what the first verdict says makes it write the right patch.
    solver.write_text(
        "import json, sys\n"
        "task = json.load(sys.stdin)\n"
        "assert 'patch' not in task['instance'] and task['instance']['problem_statement']\n"
        f"right = {gold!r}\n"
        "wrong = right.replace('a + b', 'a - b - 0')\n"
        "told = task['feedback'] and 'test_two' in str(task['feedback']['FAIL_TO_PASS'])\n"
        "sys.stdout.write(right if told else wrong)\n"
    )
    example = Path(__file__).parents[2] / "examples" / "grade_in_a_loop.py"
    command = [
        *(sys.executable, str(example), str(dataset), f"{sys.executable} {solver}"),
        *("--attempts", "3", "--engine", "local", "--trust", "--repos", str(pull_request.repo)),
        *("--out", str(arguments["out"]), "--results", str(arguments["results"])),
        *("--config", str(pull_request.config)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"attempt 1: {ID}: not resolved" in done.stdout, done.stdout
    assert f"attempt 2: {ID}: resolved" in done.stdout
    assert "attempt 3" not in done.stdout
