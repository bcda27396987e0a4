import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from conftest import PullRequest

import swe_atlas

ID = "example__sums-1"
FIX = "sed -i 's/a - b/a + b/' sums.py"


@pytest.fixture
def arguments(pull_request: PullRequest) -> dict[str, Any]:
    """For `swe_atlas.attempt(agent=…, **…)`."""
    assert swe_atlas.make(**pull_request.arguments).outcome == "instance"
    return {
        "dataset": pull_request.out / "dataset.jsonl",
        "repos": pull_request.repo,
        "out": pull_request.out.with_name("tries"),
        "results": pull_request.out.with_name("results"),
        "config": pull_request.config,
        "engine": "local",
        "trust": True,
    }


def test_a_callable_attempts(arguments: dict[str, Any]) -> None:
    seen: list[tuple[str, int]] = []

    def agent(task: swe_atlas.AgentTask, room: swe_atlas.Room) -> str | None:
        seen.append((task.instance_id, task.attempt))
        assert "Subtracting" in task.statement or "subtracting" in task.statement
        assert Path(task.out).is_dir() and task.steps == 5
        told = room.run("echo out; exit 3", seconds=20)
        assert (told.output, told.exit_code, told.truncated, told.is_over) == ("out\n", 3, False, False)
        room.tell({"source": "agent", "message": "I repair it"})
        room.spend(prompt_tokens=90, completion_tokens=10, cost_usd=0.5)
        if task.attempt == 1:
            room.run(FIX)
            return "Submitted"
        if task.attempt == 2:
            raise ValueError("no idea")
        while True:
            room.run("true")

    report = swe_atlas.attempt(agent=agent, k=3, steps=5, **arguments)
    assert sorted(seen) == [(ID, 1), (ID, 2), (ID, 3)]
    first, second, third = report["attempts"]
    assert (first["exit_status"], first["verdict"]["resolved"]) == ("Submitted", True), first
    assert first["agent"]["name"].startswith("python:test_attempt.")
    assert second["exit_status"] == "raised" and "ValueError: no idea" in second["notes"][0]
    assert (third["exit_status"], third["steps"]) == ("budget_steps", 5)
    assert report["pass_at_k"]["1"] == pytest.approx(1 / 3)
    assert report["usage"] == {"calls": 3, "prompt_tokens": 270, "completion_tokens": 30, "cost_usd": 1.5}
    kept = json.loads((arguments["out"] / "attempts" / ID / "1" / "trajectory.json").read_text())
    assert [step["message"] for step in kept["steps"]][1:] == ["I repair it"]
    again = swe_atlas.attempt(agent=agent, k=3, steps=5, **arguments)
    assert len(seen) == 3 and again["attempts"] == report["attempts"]


def test_a_command_line_attempts(arguments: dict[str, Any]) -> None:
    report = swe_atlas.attempt(agent=f'{{shell}} -c "{FIX}"', agent_name="words", **arguments)
    (record,) = report["attempts"]
    assert record["verdict"]["resolved"] and record["agent"]["name"] == "words", record


def test_what_cannot_be_used_says_so(arguments: dict[str, Any]) -> None:
    with pytest.raises(swe_atlas.InvalidInputError, match="agent"):
        swe_atlas.attempt(agent=3, **arguments)  # type: ignore[arg-type]
    with pytest.raises(swe_atlas.InvalidInputError, match="model"):
        swe_atlas.attempt(agent="mini-swe-agent", **arguments)
    with pytest.raises(swe_atlas.InvalidInputError, match="steps"):
        swe_atlas.attempt(agent="true", steps="many", **arguments)  # type: ignore[arg-type]

    def wrong(task: swe_atlas.AgentTask, room: swe_atlas.Room) -> int:
        with pytest.raises(swe_atlas.AtlasError, match="ATIF"):
            room.tell({"source": "nobody"})
        return 7

    (record,) = swe_atlas.attempt(agent=wrong, **arguments)["attempts"]
    assert record["exit_status"] == "exited", record


def test_ctrl_c_ends_an_agent_that_blocks(arguments: dict[str, Any], tmp_path: Path) -> None:
    script = tmp_path / "blocked.py"
    given = {name: str(value) if isinstance(value, Path) else value for name, value in arguments.items()}
    script.write_text(
        textwrap.dedent(
            f"""
            import os, signal, threading, time
            import swe_atlas
            # Who runs the tests in the background has the signal ignored.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            room_of = []
            def agent(task, room):
                room_of.append(room)
                threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
                time.sleep(600)
            try:
                swe_atlas.attempt(agent=agent, **{given!r})
            except KeyboardInterrupt:
                try:
                    room_of[0].run("true")
                except swe_atlas.CancelledError:
                    print("ended")
            """
        )
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "ended\n", done.stderr
