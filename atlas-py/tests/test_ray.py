"""Evaluation over two nodes of a local Ray cluster; skipped where Ray is not installed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import NODE, PullRequest, running

import swe_atlas
import swe_atlas.ray

IDS = [f"example__sums-{number}" for number in (1, 2)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> PullRequest:
    """A pull request that `make` has been through."""
    pull_request = PullRequest(tmp_path_factory.mktemp("made"))
    assert swe_atlas.make(**pull_request.arguments).outcome == "instance"
    return pull_request


class Rows:
    """A dataset of two instances of one pull request, and what to evaluate predictions with."""

    def __init__(self, pull_request: PullRequest, folder: Path) -> None:
        row = json.loads((pull_request.out / "dataset.jsonl").read_text())
        self.folder = folder
        self.dataset = folder / "rows.jsonl"
        rows = [{**row, "instance_id": name} for name in IDS]
        self.dataset.write_text("".join(json.dumps(one) + "\n" for one in rows))
        self.row, self.gold = row, row["patch"]
        self.given: dict[str, Any] = {
            "repos": pull_request.repo,
            "results": folder / "results",
            "config": pull_request.config,
            "engine": "local",
            "trust": True,
        }

    def prediction(self, model: str, instance: str, body: str | None) -> dict[str, str | None]:
        patch = None if body is None else self.gold.replace("a + b", body)
        return {"instance_id": instance, "model_name_or_path": model, "model_patch": patch}


@pytest.fixture
def rows(made: PullRequest, tmp_path: Path) -> Rows:
    return Rows(made, tmp_path)


def noted(out: Path, run_id: str) -> list[dict[str, Any]]:
    lines = (out / "logs/run_evaluation" / run_id / "ray.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def left_by(out: Path) -> dict[str, bytes]:
    """All files but those that say when something was done, and by whom."""
    skipped = ("run.json", "ray.jsonl")
    files = (path for path in sorted(out.rglob("*")) if path.is_file() and path.name not in skipped)
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}


def same(ours: swe_atlas.EvalReport, theirs: swe_atlas.EvalReport) -> None:
    one, two = ours.to_dict(), theirs.to_dict()
    costs = (one.pop("ledger")["instances"], two.pop("ledger")["instances"])
    assert one == two and costs[0] == costs[1]


def until(condition: Callable[[], Any], what: str) -> Any:
    limit = time.monotonic() + 120
    while not (found := condition()):
        assert time.monotonic() < limit, what
        time.sleep(0.05)
    return found


def worker_of(name: str) -> int | None:
    """The process that does a step: Ray calls it so."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes().startswith(f"ray::atlas {name}".encode()):
                return int(process.name)
        except OSError:
            continue
    return None


def test_the_report_is_that_of_one_machine(cluster: Any, rows: Rows) -> None:
    bodies = {"mine": "b + a", "an/other": "a * b", "none": None}
    predictions = [rows.prediction(model, name, body) for name in IDS for model, body in bodies.items()]
    predictions.append({"instance_id": "x__y-1", "model_name_or_path": "mine", "model_patch": "?"})
    out, alone = rows.folder / "cluster", rows.folder / "alone"
    seen: list[str] = []
    given: dict[str, Any] = {**rows.given, "out": out, "on_verdict": lambda verdict: seen.append(verdict["instance_id"])}
    ours = swe_atlas.ray.evaluate(rows.dataset, predictions, "run", **given)
    theirs = swe_atlas.evaluate(rows.dataset, predictions, "run", **{**rows.given, "out": alone})
    same(ours, theirs)
    assert ours.resolved_ids == IDS and ours.faults and ours.reports["mine"]["submitted_ids"][-1] == "x__y-1"
    assert left_by(out) == left_by(alone) and len(left_by(out)) > 20
    run = json.loads((out / "logs/run_evaluation/run/run.json").read_text())
    assert run["dataset"] == str(rows.dataset) and run["ledger"]["jobs_run"] > 0
    assert sorted(seen) == sorted(IDS * 3)
    lines = noted(out, "run")
    assert [line["failures"] for line in lines] == [[]] * 6
    # Predictions of one instance stay where its environment is.
    homes = {name: {line["node"] for line in lines if line["instance_id"] == name} for name in IDS}
    assert all(len(nodes) == 1 for nodes in homes.values()), homes

    # What is graded is not graded again; a changed prediction is, and one whose verdict is gone.
    swe_atlas.ray.evaluate(rows.dataset, predictions, "run", **given)
    assert len(seen) == 6
    predictions[0] = rows.prediction("mine", IDS[0], "a - b - 0")
    (out / "logs/run_evaluation/run/none" / IDS[1] / "verdict.json").unlink()
    again = swe_atlas.ray.evaluate(rows.dataset, predictions, "run", **given)
    assert sorted(seen[6:]) == sorted(IDS) and again.resolved_ids == IDS[1:]


def test_the_machine_s_failures_are_tried_again(cluster: Any, rows: Rows) -> None:
    broken = rows.folder / "broken.jsonl"
    lost = {**rows.row, "instance_id": IDS[1], "base_commit": "0" * 40}
    broken.write_text(rows.dataset.read_text().splitlines()[0] + "\n" + json.dumps(lost) + "\n")
    predictions = [
        rows.prediction("slow", IDS[0], "(__import__('time').sleep(2), a + b)[1]"),
        rows.prediction("wrong", IDS[0], "a - b - 0"),
        rows.prediction("wrong", IDS[1], "a + b"),
    ]

    def kill() -> None:
        # Once its tests run: a worker that dies has left nothing behind that another cannot do.
        os.kill(until(lambda: worker_of(f"slow {IDS[0]}"), "it never began"), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    report = swe_atlas.ray.evaluate(broken, predictions, "run", out=rows.folder / "out", attempts=2, **rows.given)
    killer.join()
    failures = {(line["model"], line["instance_id"]): line["failures"] for line in noted(rows.folder / "out", "run")}
    (crash,) = failures["slow", IDS[0]]
    assert "WorkerCrashedError" in crash["message"]
    assert failures["wrong", IDS[0]] == []  # a verdict is final
    (no_commit,) = failures["wrong", IDS[1]]
    assert no_commit["message"].startswith("environment: ") and no_commit["host"]
    assert report.resolved_ids == IDS[:1] and report.bounds["wrong"]["excused"] == 1


def test_errors_are_raised(cluster: Any, rows: Rows) -> None:
    given = {**rows.given, "out": rows.folder}
    with pytest.raises(swe_atlas.InvalidInputError, match="no usable prediction"):
        swe_atlas.ray.evaluate(rows.dataset, [], "run", **given)
    with pytest.raises(swe_atlas.NotFoundError, match=r"none\.toml"):
        swe_atlas.ray.evaluate(rows.dataset, "gold", "run", **{**given, "config": "none.toml"})
    with pytest.raises(swe_atlas.InvalidInputError, match="cpus"):
        swe_atlas.ray.Resources(cpus=-1)
    with pytest.raises(swe_atlas.InvalidInputError, match="memory"):
        swe_atlas.ray.Resources(memory=0)
    dead = {**given, "engine": "docker", "config": {"engine": {"docker_host": "unix:///nowhere.sock"}}}
    with pytest.raises(swe_atlas.AtlasError) as caught:
        swe_atlas.ray.evaluate(rows.dataset, "gold", "run", attempts=2, **dead)
    assert caught.value.kind in ("engine_unreachable", "engine_failed") and caught.value.blame == "environment"


def test_a_node_is_lost(cluster: Any, rows: Rows) -> None:
    nodes = [cluster.add_node(**NODE, labels={"atlas-engine": "here"}) for _ in range(2)]
    slow = "(__import__('time').sleep(2), a + b)[1]"
    predictions = [rows.prediction(model, IDS[0], slow) for model in ("one", "two")]
    lost = []

    def remove() -> None:
        worker = until(lambda: worker_of("one"), "it never began")
        environment = Path(f"/proc/{worker}/environ").read_bytes().split(b"\0")
        for node in nodes:
            raylet = node.all_processes["raylet"][0].process.pid
            if f"RAY_RAYLET_PID={raylet}".encode() in environment:
                lost.append(node.node_id)
                cluster.remove_node(node, allow_graceful=False)

    remover = threading.Thread(target=remove)
    remover.start()
    where = swe_atlas.ray.Resources(engine="here")
    report = swe_atlas.ray.evaluate(
        rows.dataset, predictions, "run", out=rows.folder / "out", resources=where, **rows.given
    )
    remover.join()
    lines = noted(rows.folder / "out", "run")
    assert [line["model"] for line in lines] == ["one", "two"] and report.resolved_ids == IDS[:1]
    assert len(lost) == 1 and lost[0] not in [line["node"] for line in lines]
    (death,) = lines[0]["failures"]
    assert "Died" in death["message"] and lines[1]["failures"] == []
    alone = swe_atlas.evaluate(rows.dataset, predictions, "run", **{**rows.given, "out": rows.folder / "alone"})
    same(report, alone)


DRIVER = """
import json, signal, sys
import swe_atlas.ray
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    swe_atlas.ray.evaluate(**json.loads(sys.argv[1]))
except KeyboardInterrupt:
    print("interrupted")
"""


def driver(cluster: Any, rows: Rows, predictions: list[dict[str, str | None]]) -> "subprocess.Popen[str]":
    given = {name: str(value) if isinstance(value, Path) else value for name, value in rows.given.items()}
    given |= {"dataset": str(rows.dataset), "predictions": predictions, "run_id": "run"}
    given |= {"out": str(rows.folder / "out"), "address": cluster.address}
    command = [sys.executable, "-c", DRIVER, json.dumps(given)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def test_a_driver_is_killed_and_goes_on(cluster: Any, rows: Rows) -> None:
    sleep = f"600.{time.time_ns()}"
    predictions = [rows.prediction("quick", IDS[0], "a + b")]
    hang = f"__import__('subprocess').run(['sleep', '{sleep}']) and a + b"
    hanging = [*predictions, rows.prediction("late", IDS[1], hang)]
    child = driver(cluster, rows, hanging)
    journal = rows.folder / "out/logs/run_evaluation/run/ray.jsonl"
    try:
        until(lambda: running(sleep) and journal.exists() and journal.read_bytes().count(b"\n") == 1, "no verdict")
        child.kill()
        child.wait()
    finally:
        child.kill()
        child.communicate()
    with journal.open("ab") as file:
        file.write(b'{"key": "cut off')  # as a driver that dies in the middle of a line
    until(lambda: not running(sleep), "its tests went on without it")
    kept = rows.folder / f"out/logs/run_evaluation/run/quick/{IDS[0]}/verdict.json"
    before = kept.stat().st_mtime_ns
    hanging[1] = rows.prediction("late", IDS[1], "b + a")
    report = swe_atlas.ray.evaluate(rows.dataset, hanging, "run", out=rows.folder / "out", **rows.given)
    assert kept.stat().st_mtime_ns == before
    assert [line["model"] for line in noted(rows.folder / "out", "run")] == ["quick", "late"]
    alone = swe_atlas.evaluate(rows.dataset, hanging, "run", **{**rows.given, "out": rows.folder / "alone"})
    same(report, alone)
    assert left_by(rows.folder / "out") == left_by(rows.folder / "alone")


def test_ctrl_c_ends_all_in_order(cluster: Any, rows: Rows, made: PullRequest) -> None:
    sleep = f"600.{time.time_ns()}"
    hang = f"__import__('subprocess').run(['sleep', '{sleep}']) and a + b"
    child = driver(cluster, rows, [rows.prediction("late", IDS[0], hang)])
    try:
        until(lambda: running(sleep), "the tests never began")
        child.send_signal(signal.SIGINT)
        said, err = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
    assert said == "interrupted\n", err
    assert not running(sleep)
    jobs = [name for name in os.listdir(made.work / "jobs") if not name.endswith(".lock")]
    assert jobs == []
