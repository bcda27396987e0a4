import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import PullRequest, running

import swe_atlas


def rows(path: Path, count: int) -> Path:
    lines = [
        {"instance_id": f"o__n-{at}", "problem_statement": f"number {at}", "patch": "p"}
        for at in range(count)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def model(messages: list[dict[str, str]], **options: Any) -> str:
    return "success"


def asked(folder: Path, **arguments: Any) -> swe_atlas.AbstainReport:
    return swe_atlas.abstain(
        rows(folder / "rows.jsonl", 5), model=model, out=folder / "out.jsonl", samples=1, **arguments
    )


def test_a_callable_hears_each_item_in_the_callers_thread(tmp_path: Path) -> None:
    heard: list[swe_atlas.ProgressEvent] = []
    threads = set()

    def hear(event: swe_atlas.ProgressEvent) -> None:
        heard.append(event)
        threads.add(threading.get_ident())

    report = asked(tmp_path, progress=hear, jobs=4)
    assert report.done == 5 and threads == {threading.get_ident()}
    counts = [event["done"] for event in heard if event["done"] is not None]
    assert counts == sorted(counts) and set(counts) == {0, 1, 2, 3, 4, 5}
    assert {event["total"] for event in heard} == {5}
    assert all(set(event) == {"phase", "detail", "done", "total"} for event in heard)
    assert "o__n-" in str(heard[-1]["detail"]) and heard[-1]["phase"]


def test_phases_of_a_run_are_heard(pull_request: PullRequest) -> None:
    heard: list[swe_atlas.ProgressEvent] = []
    report = swe_atlas.make(**pull_request.arguments, progress=heard.append)
    assert report.outcome == "instance"
    phases = list(dict.fromkeys(event["phase"] for event in heard))
    assert phases[0] == "read the pull request" and {"run before", "run after"} <= set(phases), phases
    dataset = pull_request.out / "dataset.jsonl"
    heard.clear()
    graded = swe_atlas.evaluate(
        dataset, "gold", "r", repos=pull_request.repo, out=pull_request.out.with_name("runs"),
        results=pull_request.out.with_name("results"), config=pull_request.config, engine="local",
        trust=True, progress=heard.append,
    )  # fmt: skip
    assert len(graded.resolved_ids) == 1
    assert [event["done"] for event in heard if event["done"] is not None][-1] == 1
    heard.clear()
    swe_atlas.validate(
        dataset, gates=["null_patch"], engine="local", config=pull_request.config,
        out=pull_request.out.with_name("gates"), trust=True, progress=heard.append,
    )  # fmt: skip
    assert (heard[-1]["done"], heard[-1]["total"]) == (1, 1)


def test_what_a_listener_raises_ends_the_run(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    calls = 0

    def slow(messages: list[dict[str, str]], **options: Any) -> str:
        nonlocal calls
        calls += 1
        time.sleep(0.15)
        return "success"

    def hear(event: swe_atlas.ProgressEvent) -> None:
        if event["done"] == 2:
            raise Enough("two will do")

    dataset, out = rows(tmp_path / "rows.jsonl", 20), tmp_path / "out.jsonl"
    with pytest.raises(Enough, match="two will do"):
        swe_atlas.abstain(dataset, model=slow, out=out, samples=1, progress=hear)
    assert 2 <= calls < 20
    # In order: what was done is kept, and the same call goes on from there.
    report = swe_atlas.abstain(dataset, model=slow, out=out, samples=1)
    assert report.complete and 2 <= report.known < 20


def test_a_listener_that_raises_leaves_nothing_running(slow_pull_request: PullRequest) -> None:
    def hear(event: swe_atlas.ProgressEvent) -> None:
        if (event["phase"] or "").startswith("run "):
            raise RuntimeError("before the tests end")

    with pytest.raises(RuntimeError, match="before the tests end"):
        swe_atlas.make(**slow_pull_request.arguments, progress=hear)
    assert not running(slow_pull_request.sleep)


def test_other_threads_and_calls_within_go_on(tmp_path: Path) -> None:
    ticks = 0
    over = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not over.wait(0.01):
            ticks += 1

    def hear(event: swe_atlas.ProgressEvent) -> None:
        time.sleep(0.05)
        # A call that opens a runtime of its own, and one that waits for the lock of Python.
        assert swe_atlas.lint(swe_atlas.Dataset.from_rows([])).rows == 0

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        assert asked(tmp_path, progress=hear, jobs=3).complete
    finally:
        over.set()
        thread.join()
    assert ticks > 5


def test_true_is_a_bar_of_tqdm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    asked(tmp_path, progress=True)
    assert "5/5" in capsys.readouterr().err


def test_nobody_hears_by_default(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asked(tmp_path)
    for nobody in (None, False):
        asked(tmp_path, progress=nobody)
    assert capfd.readouterr() == ("", "")


def test_true_without_tqdm_says_the_way_out(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['tqdm'] = None; sys.modules['tqdm.auto'] = None\n"
        "import swe_atlas\n"
        "try: swe_atlas.make('x', out='y', progress=True)\n"
        "except ImportError as why: print(why)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "pip install tqdm" in told.stdout and not (tmp_path / "y").exists()


def test_what_cannot_hear_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="progress: .*callable expected, not int"):
        asked(tmp_path, progress=1)
