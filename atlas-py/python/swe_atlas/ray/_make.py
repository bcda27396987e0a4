"""`make` over a cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from swe_atlas._reports import MakeReport
from swe_atlas.ray import _inputs
from swe_atlas.ray._cluster import Resources
from swe_atlas.ray._inputs import PathLike
from swe_atlas.ray._journal import NAME, key
from swe_atlas.ray._kept import Entry, Manner, report, through
from swe_atlas.ray._lines import merged
from swe_atlas.ray._run import Step
from swe_atlas.ray._worker import WORK, Call, Outcome, packed, write

COLLECTIONS = ("dataset.jsonl", "swebench5.jsonl", "failures.jsonl")


def make(
    pull_requests: Iterable[Mapping[str, Any]],
    *,
    out: PathLike,
    engine: Literal["auto", "docker", "local"] = "auto",
    config: PathLike | Mapping[str, Any] | None = None,
    trust: bool = False,
    resources: Resources = Resources(),
    attempts: int = 3,
    together: int = 8,
    address: str | None = None,
    **options: Any,
) -> list[MakeReport]:
    """`swe_atlas.make` with a Ray task for each pull request; the reports in their order.

    A pull request is a mapping with the arguments of `swe_atlas.make` that name it: `repo`, and `base` and `head`, or
    `pr`; `instance_id` and `problem` where they are wanted. A `repo` that is a path is one on the nodes. `options`
    are the others of `swe_atlas.make`; those of the cluster are explained at `evaluate`. Pull requests of one
    repository go to one node where that is possible, whose engine has their layers.

    Artefacts, `dataset.jsonl` and its like are below `out` as after one `make` after the other. Raises AtlasError as
    `swe_atlas.make` does, when the others are through; the same call later goes on from there.
    """
    below = Path(out)
    given: dict[str, Any] = {"engine": engine, "trust": trust, **options}
    file, given["config"] = _inputs.configured(config)
    settings = _inputs.settings(given, file)
    steps = {}
    for named in pull_requests:
        one = dict(named)
        files: dict[str, bytes | Path] = {} if file is None else {_inputs.CONFIG: file}
        if one.get("problem") is not None:
            files["problem"] = problem = _inputs.content(one["problem"])
            one["problem"] = f"{WORK}/problem"
        else:
            problem = b""
        if os.path.isdir(one["repo"]):
            one["repo"] = os.path.abspath(one["repo"])
        mark = key("make", json.dumps(one, sort_keys=True, default=str), problem, settings)
        steps[mark] = Step(
            name=" ".join(str(one[name]) for name in ("repo", "instance_id", "pr", "head", "base") if one.get(name)),
            environment=str(one["repo"]),
            call=Call("make", {**one, **given, "out": f"{WORK}/out"}),
            files=lambda files=files: packed(files),  # type: ignore[misc]
            bundle=mark,
        )

    def take(step: Step, outcome: Outcome) -> Entry:
        made = report(outcome)
        for name, content in outcome.files.items():
            if "/" in name:
                write(below / name, content)
        lines = {name: outcome.files[name].decode() for name in COLLECTIONS if name in outcome.files}
        return {"instance_id": made["instance_id"], "report": made, "lines": lines}

    manner = Manner(resources, attempts, together, address)
    entries = through(below / NAME, steps, manner, take=take)
    ours = {str(entry["instance_id"]) for entry in entries}
    for name in COLLECTIONS:
        lines = [line for entry in entries for line in entry["lines"].get(name, "").splitlines()]
        if lines or (below / name).exists():
            write(below / name, "".join(f"{line}\n" for line in merged(below / name, ours, lines)).encode())
    place = json.dumps(os.fspath(below))[1:-1]
    texts = [json.dumps(entry["report"]).replace(f"{WORK}/out", place) for entry in entries]
    return [MakeReport._restore(text) for text in texts]
