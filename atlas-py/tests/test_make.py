import json
import pickle
import random
import signal
import subprocess
import sys
import time

import pytest
from conftest import PullRequest, running

import swe_atlas


def test_a_pull_request_becomes_an_instance(pull_request: PullRequest) -> None:
    report = swe_atlas.make(**pull_request.arguments)
    assert report.outcome == "instance", report.reason
    assert report.kind == "bug_fix"
    assert report.before_failure_extent == "none"
    assert len(report.fail_to_pass) == 1 and "test_two" in report.fail_to_pass[0]
    assert len(report.pass_to_pass) == 1 and "test_zero" in report.pass_to_pass[0]
    assert report.engine == "local"
    assert report.instance_id == "example__sums-1"
    assert report.schema_version == 1
    assert report.artefacts == pull_request.out / "example__sums-1"
    assert report.seconds["total"] > 0

    assert report.row is not None
    row = swe_atlas.Instance.from_json(report.row.read_text())
    assert row.instance_id == report.instance_id
    assert row.fail_to_pass == report.fail_to_pass
    assert row.pass_to_pass == report.pass_to_pass
    assert row["base_commit"] == pull_request.base
    assert "return a + b" in row.patch and "test_two" in row.test_patch

    assert report.to_dict() == json.loads((report.artefacts / "make.json").read_text())
    assert json.loads(report.to_json()) == report.to_dict()
    again = pickle.loads(pickle.dumps(report))
    assert again == report and again.to_json() == report.to_json()

    state, draw = report.to_dict(), random.Random(1)
    for seconds in [draw.random() * 10 ** draw.randrange(-3, 4) for _ in range(200)]:
        state["seconds"]["total"] = seconds
        restored = type(report)._restore(json.dumps(state))
        assert restored.seconds["total"] == seconds


def test_a_verdict_of_no_is_a_report(pull_request: PullRequest) -> None:
    arguments = pull_request.arguments
    arguments["head"], arguments["base"] = arguments["base"], arguments["head"]
    report = swe_atlas.make(**arguments)
    assert report.outcome != "instance"
    assert report.reason
    assert report.row is None
    assert report.fail_to_pass == []


def test_half_a_pull_request(pull_request: PullRequest) -> None:
    with pytest.raises(swe_atlas.InvalidInputError, match="base and head"):
        swe_atlas.make(**{**pull_request.arguments, "base": None})


def test_a_commit_that_is_not_there(pull_request: PullRequest) -> None:
    with pytest.raises(swe_atlas.AtlasError, match="f" * 40):
        swe_atlas.make(**{**pull_request.arguments, "head": "f" * 40})


def test_the_command_says_the_same(pull_request: PullRequest, atlas: str) -> None:
    ours = swe_atlas.make(**pull_request.arguments)
    command = [
        *(atlas, "make", "--repo", str(pull_request.repo), "--engine", "local", "--trust"),
        *("--base", pull_request.base, "--head", pull_request.head, "--format", "json"),
        *("--instance-id", "example__sums-1", "--config", str(pull_request.config)),
        *("--out", str(pull_request.out.with_name("out-of-command"))),
    ]
    theirs = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert ours.fail_to_pass == theirs["FAIL_TO_PASS"]
    assert ours.pass_to_pass == theirs["PASS_TO_PASS"]
    mine = ours.to_dict()
    assert set(mine) == set(theirs)
    for report in (mine, theirs):
        # What a clock says, and where things are.
        for field in ("seconds", "row", "artefacts"):
            del report[field]
        del report["confirmation"]["seconds"]
    assert mine == theirs


CHILD = """
import json, signal, sys, threading, time
import swe_atlas
# A shell that runs this in the background has switched the signal off.
signal.signal(signal.SIGINT, signal.default_int_handler)
ticks = []
def tick():
    while True:
        ticks.append(time.monotonic())
        time.sleep(0.05)
threading.Thread(target=tick, daemon=True).start()
try:
    swe_atlas.make(**json.loads(sys.argv[1]))
except KeyboardInterrupt:
    assert len(ticks) > 5, "the other thread stood still"
    print("interrupted")
"""


def test_ctrl_c_ends_a_make_in_order(slow_pull_request: PullRequest) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, json.dumps(slow_pull_request.arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        limit = time.monotonic() + 120
        while not running(slow_pull_request.sleep):
            assert child.poll() is None, child.communicate()
            assert time.monotonic() < limit, "the tests never began"
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        interrupted = time.monotonic()
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
    assert out == "interrupted\n", err
    assert child.returncode == 0
    assert time.monotonic() - interrupted < 30
    assert not running(slow_pull_request.sleep)
    assert not (slow_pull_request.out / "dataset.jsonl").exists()
