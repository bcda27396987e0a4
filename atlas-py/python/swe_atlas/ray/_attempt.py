"""`attempt` over a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import swe_atlas
from swe_atlas._attempt import AgentTask, Room
from swe_atlas.ray import _inputs
from swe_atlas.ray._cluster import Resources
from swe_atlas.ray._inputs import PathLike
from swe_atlas.ray._journal import NAME, key
from swe_atlas.ray._kept import Entry, Manner, report, through
from swe_atlas.ray._run import Step
from swe_atlas.ray._worker import WORK, Call, Outcome, pretty, write

LINES = ("predictions.jsonl", "trajectories.jsonl")


def attempt(
    dataset: PathLike,
    agent: str | Callable[[AgentTask, Room], Any],
    *,
    run_id: str = "attempts",
    k: int = 1,
    hints: PathLike | None = None,
    instance_ids: Sequence[str] | None = None,
    engine: Literal["auto", "docker", "local"] = "auto",
    out: PathLike = ".",
    repos: PathLike | None = None,
    results: PathLike | None = None,
    config: PathLike | Mapping[str, Any] | None = None,
    trust: bool = False,
    resources: Resources = Resources(),
    attempts: int = 3,
    together: int = 8,
    address: str | None = None,
    **options: Any,
) -> dict[str, Any]:
    """`swe_atlas.attempt` with a Ray task for each instance, in which its `k` attempts go one after the other.

    Arguments are those of `swe_atlas.attempt`, `options` the others of it but `jobs`, `only_unresolved` and
    `model`'s file; those of the cluster are explained at `evaluate`. A callable agent is sent as Ray sends functions.
    What a program needs, such as keys of a model, must be on the nodes.

    An instance is tried again where its node is lost or its engine does not answer, never for what an agent did.
    Files below `out` and the report are those of one machine. Raises AtlasError as `swe_atlas.attempt` does, when the
    other instances are through; the same call later goes on from there.
    """
    below = Path(out)
    seen = _inputs.read(dataset, "null", "strict", instance_ids)
    given: dict[str, Any] = {"run_id": run_id, "k": k, "engine": engine, "trust": trust, **options}
    file, given["config"] = _inputs.configured(config)
    extra = {} if file is None else {_inputs.CONFIG: file}
    if hints is not None:
        extra["hints.jsonl"] = _inputs.content(hints)
        given["hints"] = f"{WORK}/hints.jsonl"
    who = agent if isinstance(agent, str) else [_name(agent), getattr(agent, "settings", None)]
    settings = _inputs.settings({**given, "agent": who}, file) + extra.get("hints.jsonl", b"").decode(errors="replace")
    given |= {"agent": agent, "repos": _inputs.absolute(repos), "results": _inputs.absolute(results)}
    steps = {
        key("attempt", one.row.to_json(), settings): Step(
            name=one.instance_id,
            environment=one.instance_id,
            call=Call("attempt", {**_inputs.PLACES, **given}),
            files=lambda row=one.row: _inputs.bundle(dataset, row, extra),  # type: ignore[misc]
            bundle=one.instance_id,
        )
        for one in seen.asked
    }

    def take(step: Step, outcome: Outcome) -> Entry:
        for name, content in outcome.files.items():
            if f"/{step.name}/" in name:
                write(below / name, content)
        lines = {name: outcome.files[name].decode() for name in LINES}
        return {"instance_id": step.name, "report": report(outcome), "lines": lines}

    manner = Manner(resources, attempts, together, address)
    entries = through(below / NAME, steps, manner, take=take)
    entries.sort(key=lambda entry: str(entry["instance_id"]))
    for name in LINES:
        write(below / name, "".join(entry["lines"][name] for entry in entries).encode())
    whole = _joined([entry["report"] for entry in entries], seen.faults)
    write(below / "attempts.json", pretty(whole, 2))
    return whole


def _name(agent: Callable[..., Any]) -> str:
    return str(getattr(agent, "name", None) or getattr(agent, "__qualname__", type(agent).__qualname__))


def _joined(parts: Sequence[Mapping[str, Any]], faults: list[dict[str, Any]]) -> dict[str, Any]:
    """Reports of single instances as one, in the form of `attempts.json`."""
    instances = [one for part in parts for one in part["instances"]]
    counts = [(one["attempts"], one["resolved"]) for one in instances]
    most = max((attempts for attempts, _ in counts), default=0)
    chances = {
        tries: [chance for n, c in counts if (chance := swe_atlas.pass_at_k(n, c, tries)) is not None]
        for tries in range(1, most + 1)
    }

    def counted(name: str) -> dict[str, int]:
        total = sum((Counter(part[name]) for part in parts), Counter())
        return dict(sorted(total.items()))

    forbidden: dict[str, list[int]] = {}
    for part in parts:
        for what, pair in part["forbidden"].items():
            forbidden[what] = [one + two for one, two in zip(forbidden.get(what, [0, 0]), pair, strict=True)]
    summed = ("resolved_instances", "resolved_attempts", "without_evidence")
    usage = parts[0]["usage"]
    return {
        "schema_version": parts[0]["schema_version"],
        "instances": instances,
        "pass_at_k": {str(tries): sum(found) / len(found) for tries, found in chances.items() if found},
        **{name: sum(part[name] for part in parts) for name in summed},
        "exit_statuses": counted("exit_statuses"),
        "forbidden": forbidden,
        "not_accepted": counted("not_accepted"),
        "usage": {name: sum(part["usage"][name] for part in parts) for name in usage},
        "seconds": sum(part["seconds"] for part in parts),
        "attempts": [one for part in parts for one in part["attempts"]],
        "faults": faults,
    }
