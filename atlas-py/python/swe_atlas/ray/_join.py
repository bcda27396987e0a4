"""One report out of those of single predictions: what `evaluate` says of the whole run on one machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

EXCUSED = ("parser", "environment", "harness", "flaky")
"""Causes that are not the model's: 0 in the lower bound of a score and 1 in the upper."""


def run_report(parts: Sequence[Mapping[str, Any]], predicted: set[str], dataset: set[str], others: set[str]) -> dict[str, Any]:
    """A model's report of the run out of those of its predictions, each made over its own row alone.

    `predicted` are the instances of its predictions, `others` those of its predictions that the dataset does not have.
    """
    report: dict[str, Any] = {}
    for name, first in parts[0].items():
        if isinstance(first, list):
            report[name] = sorted({one for part in parts for one in part[name]})
        elif isinstance(first, dict):
            joined = {key: value for part in parts for key, value in part[name].items()}
            report[name] = dict(sorted(joined.items()))
        else:
            report[name] = first
    report["submitted_ids"] = sorted(predicted | others)
    report["incomplete_ids"] = sorted(dataset - predicted)
    for name in report:
        ids = name.replace("_instances", "_ids")
        if name != ids and ids in report:
            report[name] = len(report[ids])
    report["total_instances"] = len(dataset)
    if "unstopped_containers" in report:
        report["unstopped_instances"] = len(report["unstopped_containers"])
    return report


def bounds(verdicts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Bounds of a model's score."""
    missed: Counter[str] = Counter()
    submitted = resolved = 0
    for verdict in verdicts:
        submitted += 1
        if verdict["resolved"]:
            resolved += 1
        else:
            missed[verdict.get("cause", "model")] += 1
    excused = sum(number for cause, number in missed.items() if cause in EXCUSED)
    whole = max(submitted, 1)
    return {
        "submitted": submitted,
        "resolved": resolved,
        "excused": excused,
        "lower": resolved / whole,
        "upper": (resolved + excused) / whole,
        "by_cause": ordered(missed),
    }


CAUSES = ("model", "patch_format", "weak_test", "parser", "environment", "harness", "flaky", "tampered")


def ordered(causes: Mapping[str, int]) -> dict[str, int]:
    """Causes as reports order them."""
    return {cause: causes[cause] for cause in CAUSES if cause in causes}


def ledger(parts: Sequence[Mapping[str, Any]], seconds: float) -> dict[str, Any]:
    """What a run cost: sums, and the highest peak. A job that two nodes ran counts twice."""
    costs = sorted((cost for part in parts for cost in part["instances"]), key=lambda cost: named(cost))
    peaks = [part["peak_memory_bytes"] for part in parts if part["peak_memory_bytes"] is not None]
    cpu = [part["cpu_seconds"] for part in parts if part["cpu_seconds"] is not None]
    summed = ("jobs_run", "jobs_known", "result_bytes", "test_seconds", "overhead_seconds")
    return {
        **{name: sum(part[name] for part in parts) for name in summed},
        "seconds": seconds,
        "peak_memory_bytes": max(peaks, default=None),
        "cpu_seconds": sum(cpu) if cpu else None,
        "instances": costs,
    }


def named(one: Mapping[str, Any]) -> tuple[str, str]:
    """The prediction that a verdict or a cost is of, by which reports are ordered."""
    return one["model_name_or_path"], one["instance_id"]
