"""`validate` over a cluster."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from swe_atlas._reports import ValidateReport
from swe_atlas.ray import _inputs
from swe_atlas.ray._cluster import Resources
from swe_atlas.ray._inputs import PathLike
from swe_atlas.ray._journal import NAME, key
from swe_atlas.ray._kept import Entry, Manner, report, through
from swe_atlas.ray._lines import merged
from swe_atlas.ray._run import Step
from swe_atlas.ray._worker import WORK, Call, Outcome, pretty, write

COUNTS = ("total", "accepted", "repaired", "needs_repair", "rejected", "no_evidence", "errors")


def validate(
    dataset: PathLike,
    *,
    out: PathLike,
    instances: Sequence[str] | None = None,
    repos: PathLike | None = None,
    gates: Sequence[str] | None = None,
    engine: Literal["auto", "docker", "local"] = "auto",
    config: PathLike | Mapping[str, Any] | None = None,
    trust: bool = False,
    resources: Resources = Resources(),
    attempts: int = 3,
    together: int = 8,
    address: str | None = None,
    **options: Any,
) -> ValidateReport:
    """`swe_atlas.validate` with a Ray task for each instance: the same files below `out`, the same report.

    Arguments are those of `swe_atlas.validate`, `options` the others of it but `jobs`; those of the cluster are
    explained at `evaluate`. Without `repos` an instance needs what `make` left beside the dataset.

    Raises AtlasError as `swe_atlas.validate` does; the same call later goes on from there.
    """
    began = time.monotonic()
    below = Path(out)
    seen = _inputs.read(dataset, "null", "strict", instances)
    given: dict[str, Any] = {"gates": None if gates is None else list(gates), "engine": engine, "trust": trust, **options}
    file, given["config"] = _inputs.configured(config)
    settings = _inputs.settings(given, file)
    given["repos"] = _inputs.absolute(repos)
    extra = {} if file is None else {_inputs.CONFIG: file}
    steps = {
        key("validate", one.row.to_json(), settings): Step(
            name=one.instance_id,
            environment=one.instance_id,
            call=Call("validate", {**_inputs.PLACES, **given}),
            files=lambda row=one.row: _inputs.bundle(dataset, row, extra),  # type: ignore[misc]
            bundle=one.instance_id,
        )
        for one in seen.asked
    }

    def take(step: Step, outcome: Outcome) -> Entry:
        for name, content in outcome.files.items():
            if "/" in name:
                write(below / name, content)
        return {"report": report(outcome), "row": outcome.files["validated.jsonl"].decode()}

    manner = Manner(resources, attempts, together, address)
    entries = through(below / NAME, steps, manner, take=take, ends_all=True)
    parts = [entry["report"] for entry in entries]
    validated = below / "validated.jsonl"
    asked = {one.instance_id for one in seen.asked}
    rows = [line for entry in entries for line in entry["row"].splitlines()]
    others = [] if instances is None else merged(validated, asked, [])
    write(validated, "".join(f"{line}\n" for line in [*others, *rows]).encode())
    whole = {
        **parts[0],
        "dataset": os.fspath(dataset),
        "validated": os.fspath(validated),
        **{name: sum(part[name] for part in parts) for name in COUNTS},
        "faults": seen.faults,
        "funnel": _funnel(parts),
        "instances": [one for part in parts for one in part["instances"]],
        "seconds": time.monotonic() - began,
    }
    whole["errors"] += len(seen.faults)
    write(below / "validate.json", pretty(whole, 2))
    return ValidateReport._restore(json.dumps(whole))


def _funnel(parts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Gate by gate; one that was not asked for, and refused a row in its name, comes first."""
    steps: dict[str, dict[str, Any]] = {}
    for part in sorted(parts, key=lambda part: -len(part["funnel"])):
        for step in part["funnel"]:
            known = steps.setdefault(step["gate"], {**dict.fromkeys(step, 0), "gate": step["gate"]})
            for name in step:
                if name != "gate":
                    known[name] += step[name]
    return list(steps.values())
