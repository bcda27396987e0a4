import asyncio
import gc
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import PullRequest

import swe_atlas

ID = "example__sums-1"
FIX = "sed -i 's/a - b/a + b/' sums.py"


@pytest.fixture
def evaluator(pull_request: PullRequest) -> Iterator[swe_atlas.Evaluator]:
    assert swe_atlas.make(**pull_request.arguments).outcome == "instance"
    with swe_atlas.Evaluator(
        pull_request.out / "dataset.jsonl",
        repos=pull_request.repo,
        out=pull_request.out.with_name("runs"),
        results=pull_request.out.with_name("results"),
        config=pull_request.config,
        engine="local",
        trust=True,
    ) as opened:
        yield opened


def left_in(pull_request: PullRequest) -> list[str]:
    return [name for name in os.listdir(pull_request.work / "jobs") if not name.endswith(".lock")]


def test_a_patch_is_made_in_a_session_and_graded(
    evaluator: swe_atlas.Evaluator, pull_request: PullRequest
) -> None:
    assert evaluator.instance_ids == [ID] and evaluator.faults == []
    assert evaluator.instance(ID).instance_id == ID
    with pytest.raises(KeyError):
        evaluator.instance("nobody__nothing-1")
    with pytest.raises(swe_atlas.NotFoundError, match="nobody__nothing-1"):
        evaluator.session("nobody__nothing-1")
    with evaluator.session(ID) as session:
        assert session.instance_id == ID and session.diff() == ""
        isolation = session.isolation
        assert isolation is not None and isolation["kind"] in ("bubblewrap", "process")
        told = session.run("echo out; echo err >&2; exit 3")
        assert (told.output, told.exit_code, told.timed_out, told.is_over) == ("out\nerr\n", 3, False, False)
        late = session.run("sleep 30", seconds=1)
        assert late.timed_out and late.exit_code is None and late.seconds < 20
        cut = session.run("printf '%05d' 7", output_bytes=2)
        assert (cut.output, cut.output_total) == ("00", 5)
        assert session.run(FIX).exit_code == 0
        patch = session.diff()
    assert "+    return a + b" in patch
    with pytest.raises(swe_atlas.InvalidInputError, match="closed"):
        session.run("true")
    session.close()
    verdict = evaluator.grade(ID, patch, model="mine")
    assert verdict["resolved"] and verdict["model_name_or_path"] == "mine"
    assert not evaluator.grade(ID, "")["resolved"]
    kept = pull_request.out.with_name("runs") / "logs/run_evaluation/evaluator/mine" / ID / "verdict.json"
    assert kept.exists()
    assert left_in(pull_request) == []


def test_verdicts_come_as_they_are_ready(evaluator: swe_atlas.Evaluator) -> None:
    gold = evaluator.instance(ID).patch
    predictions = [
        {"instance_id": ID, "model_name_or_path": name, "model_patch": patch}
        for name, patch in [("gold", gold), ("none", None), ("wrong", gold.replace("a + b", "a * b"))]
    ]
    found = {v["model_name_or_path"]: v["resolved"] for v in evaluator.grade_many(predictions, jobs=3)}
    assert found == {"gold": True, "none": False, "wrong": False}

    async def both() -> dict[str, bool]:
        return {
            verdict["model_name_or_path"]: verdict["resolved"]
            async for verdict in evaluator.grade_many_async(predictions, jobs=2)
        }

    assert asyncio.run(both()) == found


def test_sessions_for_asyncio(evaluator: swe_atlas.Evaluator) -> None:
    async def work() -> bool:
        session = await evaluator.session_async(ID)
        beats = 0
        running = asyncio.create_task(session.run_async("sleep 0.5; " + FIX))
        while not running.done():
            beats += 1
            await asyncio.sleep(0.05)
        assert (await running).exit_code == 0 and beats > 3
        patch = await session.diff_async()
        await session.close_async()
        verdict = await evaluator.grade_async(ID, patch)
        return bool(verdict["resolved"])

    assert asyncio.run(work())


def test_what_is_dropped_is_removed(evaluator: swe_atlas.Evaluator, pull_request: PullRequest) -> None:
    session = evaluator.session(ID)
    assert session.run("true").exit_code == 0
    del session
    gc.collect()
    until = time.monotonic() + 30
    while left_in(pull_request) and time.monotonic() < until:
        time.sleep(0.05)
    assert left_in(pull_request) == []


def test_threads_go_on_while_a_command_runs(evaluator: swe_atlas.Evaluator) -> None:
    with evaluator.session(ID) as session:
        counted = [0]
        stop = threading.Event()

        def count() -> None:
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        session.run("sleep 0.5")
        seen = counted[0]
        stop.set()
        thread.join()
    assert seen > 50


def test_a_closed_evaluator_says_so(evaluator: swe_atlas.Evaluator) -> None:
    evaluator.close()
    evaluator.close()
    with pytest.raises(swe_atlas.InvalidInputError, match="closed"):
        evaluator.grade(ID, "x")
    with pytest.raises(swe_atlas.NotFoundError, match=r"none\.jsonl"):
        swe_atlas.Evaluator(Path("none.jsonl"))
