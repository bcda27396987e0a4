"""Steps beside evaluation over two nodes of a local Ray cluster; skipped where Ray is not installed."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import PullRequest, commit

import swe_atlas
import swe_atlas.ray

ID = "example__sums-1"
TIMES = ("seconds", "overhead_seconds", "cpu_seconds", "peak_memory_bytes")


def timeless(value: Any) -> Any:
    """A report without what differs from run to run."""
    if isinstance(value, dict):
        return {name: timeless(one) for name, one in value.items() if name not in TIMES}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def names(out: Path) -> set[str]:
    """What is below a folder, but the working state and the journal."""
    found = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    return {name for name in found if not name.startswith(".atlas/") and not name.endswith("ray.jsonl")}


def test_pull_requests_are_made_judged_and_attempted(cluster: Any, pull_request: PullRequest, tmp_path: Path) -> None:
    given = pull_request.arguments
    common: dict[str, Any] = {name: given.pop(name) for name in ("engine", "config", "trust")}
    assert given.pop("out")
    text = commit(pull_request.repo, "Say what it is", {"README.md": "Sums.\n"})
    nothing = {**given, "instance_id": "example__sums-2", "head": text, "base": given["head"]}
    missing = {**given, "instance_id": "example__sums-3", "head": "0" * 40}
    out, alone = tmp_path / "cluster", tmp_path / "alone"
    made = swe_atlas.ray.make([given, nothing], out=out, **common)
    theirs = [swe_atlas.make(**one, **common, out=alone) for one in (given, nothing)]
    assert [one.outcome for one in made] == [one.outcome for one in theirs] == ["instance", "reject_nothing_to_test"]
    assert made[0].row == out / ID / "instance.json" and made[0].row.exists()
    assert names(out) == names(alone)
    assert (out / "dataset.jsonl").read_bytes() == (alone / "dataset.jsonl").read_bytes()
    with pytest.raises(swe_atlas.NotFoundError, match="0000"):
        swe_atlas.ray.make([given, missing], out=out, **common)
    before = (out / ID / "instance.json").stat().st_mtime_ns
    assert swe_atlas.ray.make([given, nothing], out=out, **common) == made
    assert (out / ID / "instance.json").stat().st_mtime_ns == before

    dataset, gates = out / "dataset.jsonl", ["integrity", "gold_patch"]
    judged = swe_atlas.ray.validate(dataset, out=tmp_path / "gates", gates=gates, **common)
    report = swe_atlas.validate(dataset, out=tmp_path / "gates.alone", gates=gates, **common)
    assert judged.accepted == report.accepted == 1 and judged.validated == tmp_path / "gates" / "validated.jsonl"
    places = {"validated": None, "dataset": None}
    assert timeless(judged.to_dict()) | places == timeless(report.to_dict()) | places
    assert judged.to_dict() == json.loads((tmp_path / "gates" / "validate.json").read_text())
    assert judged.validated.read_bytes() == report.validated.read_bytes()
    assert names(tmp_path / "gates") == names(tmp_path / "gates.alone")

    # Local, for the nodes cannot import this file.
    def repair(task: swe_atlas.AgentTask, room: swe_atlas.Room) -> str:
        room.run("sed -i 's/a - b/a + b/' sums.py" if task.attempt == 1 else "true")
        return "Submitted"

    common["results"] = tmp_path / "results"
    tried = swe_atlas.ray.attempt(dataset, repair, k=2, out=tmp_path / "tries", **common)
    same = swe_atlas.attempt(dataset, repair, k=2, out=tmp_path / "tries.alone", **common)
    assert tried["pass_at_k"] == {"1": 0.5, "2": 1.0} and timeless(tried) == timeless(same)
    assert tried == json.loads((tmp_path / "tries" / "attempts.json").read_text())
    assert names(tmp_path / "tries") | {"logs/run_evaluation/attempts/run.json"} == names(tmp_path / "tries.alone")
    lines = [(tmp_path / folder / "predictions.jsonl").read_text() for folder in ("tries", "tries.alone")]
    assert lines[0] == lines[1] and lines[0].count("\n") == 2
