"""`evaluate` over a cluster."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from swe_atlas._reports import EvalReport
from swe_atlas.ray import _inputs, _join
from swe_atlas.ray._cluster import Resources
from swe_atlas.ray._inputs import Asked, Input, PathLike, PredictionSource
from swe_atlas.ray._journal import NAME, key
from swe_atlas.ray._kept import Entry, Manner, report, through
from swe_atlas.ray._run import Step
from swe_atlas.ray._worker import Call, Outcome, pretty, write
from swe_atlas.types import EvalVerdict, Mode


def evaluate(
    dataset: PathLike,
    predictions: PredictionSource,
    run_id: str,
    *,
    mode: Mode = "strict",
    instance_ids: Sequence[str] | None = None,
    engine: Literal["auto", "docker", "local"] = "auto",
    timeout: int | None = None,
    out: PathLike = ".",
    repos: PathLike | None = None,
    canaries: bool = True,
    network: Literal["none", "full"] | None = None,
    results: PathLike | None = None,
    config: PathLike | Mapping[str, Any] | None = None,
    trust: bool = False,
    fresh_canaries: bool = False,
    times_gold: int | None = None,
    least_seconds: int | None = None,
    resources: Resources = Resources(),
    attempts: int = 3,
    together: int = 8,
    address: str | None = None,
    on_verdict: Callable[[EvalVerdict], None] | None = None,
) -> EvalReport:
    """`swe_atlas.evaluate` with a Ray task for each prediction: the same files below `out`, the same report.

    Arguments before `resources` are those of `swe_atlas.evaluate`. Dataset, artefacts beside it, predictions and a
    configuration file are read here and sent; `repos` and `results` are paths on the nodes. `resources` is what one
    prediction occupies of its node. `attempts` is how often a prediction is tried where a machine fails it: a node or
    worker that is lost, an engine that does not answer, a verdict without evidence whose cause is the environment or
    the harness. Any other verdict is final. Of predictions of one image, or of one instance where its image is built,
    `together` go to one node where that is possible. `address` is Ray's, for a program that is not connected;
    without it a Ray of this machine is started. `on_verdict` is called with each verdict as it comes.

    Verdicts are written as they come, and noted in `ray.jsonl` in the run's folder. The same call later, after
    whatever ended this one, goes on from there. Ctrl-C ends the runs in flight, cleans up on the nodes and raises
    KeyboardInterrupt.

    Raises AtlasError as `swe_atlas.evaluate` does; EngineFailedError where every node failed three times in a row;
    InvalidInputError where Ray is not installed, or another version of this package is on a node.
    """
    began = time.monotonic()
    asked = _inputs.read(dataset, predictions, mode, instance_ids)
    place = Place(Path(out), run_id)
    options: dict[str, Any] = {
        "mode": mode, "engine": engine, "timeout": timeout, "canaries": canaries, "network": network, "trust": trust,
        "fresh_canaries": fresh_canaries, "times_gold": times_gold, "least_seconds": least_seconds,
    }  # fmt: skip
    file, options["config"] = _inputs.configured(config)
    settings = _inputs.settings(options, file)
    # Places say nothing about a verdict.
    options |= {"repos": _inputs.absolute(repos), "results": _inputs.absolute(results), "run_id": run_id}
    nonce = {f"out/{place.below}/nonce": place.nonce()} if fresh_canaries else {}
    steps = {}
    for one in asked.asked:
        patch = "null" if one.patch is None else f"patch {one.patch}"
        mark = key("evaluate", one.row.to_json(), patch, one.model, settings)
        extra = nonce if file is None else {**nonce, _inputs.CONFIG: file}
        steps[mark] = _step(one, options, dataset, extra)

    def take(step: Step, outcome: Outcome) -> Entry:
        whole = report(outcome)
        (verdict,) = whole.pop("verdicts")
        folder, file = place.take(outcome.files)
        if on_verdict is not None:
            on_verdict(verdict)
        names = {"model": verdict["model_name_or_path"], "instance_id": verdict["instance_id"]}
        return {**names, "folder": folder, "file": file, "report": whole}

    place.describe(dataset)
    manner = Manner(resources, attempts, together, address)
    entries = through(place.root / NAME, steps, manner, take=take, is_kept=place.has, lost=_lost, ends_all=True)
    return place.finish(asked, entries, mode, time.monotonic() - began)


def _lost(outcome: Outcome) -> str | None:
    """Why a verdict is none: nothing is known of the prediction, and it is the machine's fault."""
    if outcome.report is None:
        return None
    (verdict,) = outcome.report["verdicts"]
    is_lost = verdict["outcome"] == "no_evidence" and verdict.get("cause") in ("environment", "harness")
    return f"{verdict['cause']}: {'; '.join(verdict['reasons'])}" if is_lost else None


def _step(one: Asked, options: Mapping[str, Any], dataset: PathLike, extra: Mapping[str, bytes]) -> Step:
    prediction = {"instance_id": one.instance_id, "model_name_or_path": one.model, "model_patch": one.patch}
    is_built = options["repos"] is not None or _inputs.artefacts(dataset, one.instance_id) is not None
    image = str(one.row.get("image") or one.row.get("image_name") or "")
    return Step(
        name=f"{one.model} {one.instance_id}",
        environment=one.instance_id if is_built or not image else image,
        call=Call("evaluate", {**_inputs.PLACES, **options, "predictions": [prediction]}),
        files=lambda: _inputs.bundle(dataset, one.row, extra),
        bundle=one.instance_id,
    )


class Place:
    """The folders of a run, as `evaluate` leaves them."""

    def __init__(self, out: Path, run_id: str) -> None:
        self.out, self.run_id = out, run_id
        self.below = f"logs/run_evaluation/{run_id}"
        self.root = out / self.below

    def nonce(self) -> bytes:
        """What sets names of this run's canaries apart, made once."""
        path = self.root / "nonce"
        if not path.exists():
            write(path, secrets.token_hex(32).encode())
        return path.read_bytes()

    def describe(self, dataset: PathLike) -> None:
        """Notes what the run is, unless an earlier start did."""
        path = self.root / "run.json"
        if not path.exists():
            now = datetime.now(timezone.utc).isoformat(timespec="seconds")
            facts = {"dataset": os.fspath(dataset), "split": "test", "task_repo": None, "created_at": now}
            write(path, pretty(facts, 2))

    def has(self, entry: Entry) -> bool:
        """Whether a prediction that was noted as graded still has its verdict."""
        return (self.out / str(entry["folder"]) / "verdict.json").exists()

    def take(self, files: Mapping[str, bytes]) -> tuple[str, str]:
        """Writes what a node sends; returns the prediction's folder and the name of its model's report."""
        verdict = next(name for name in files if name.endswith("/verdict.json"))
        report = next(name for name in files if "/" not in name and name.endswith(f".{self.run_id}.json"))
        folder = verdict.removesuffix("/verdict.json")
        mine = {name: content for name, content in files.items() if name.startswith(f"{folder}/")}
        # Of an earlier verdict, or of a driver that was killed.
        for path in (self.out / folder).glob("*"):
            if path.is_file() and f"{folder}/{path.name}" not in mine:
                path.unlink()
        # The verdict last: what has one is whole.
        for name in sorted(mine, key=lambda name: name == verdict):
            write(self.out / name, mine[name])
        return folder, report

    def finish(self, asked: Input, entries: list[Entry], mode: str, seconds: float) -> EvalReport:
        """Writes the report of the whole run."""
        folders = {_join.named({**entry, "model_name_or_path": entry["model"]}): entry["folder"] for entry in entries}
        verdicts = [
            json.loads((self.out / folders[named] / "verdict.json").read_bytes()) for named in sorted(folders)
        ]
        reports, bounds = {}, {}
        for model in sorted({entry["model"] for entry in entries}):
            mine = [entry for entry in entries if entry["model"] == model]
            parts = [entry["report"]["reports"][model] for entry in mine]
            predicted = {entry["instance_id"] for entry in mine}
            others = asked.others if model == asked.model else set()
            reports[model] = _join.run_report(parts, predicted, asked.dataset, others)
            bounds[model] = _join.bounds(one for one in verdicts if one["model_name_or_path"] == model)
            write(self.out / mine[0]["file"], pretty(reports[model], 4))
        causes: dict[str, int] = {}
        for cause in (one["cause"] for one in verdicts if "cause" in one):
            causes[cause] = causes.get(cause, 0) + 1
        ledger = _join.ledger([entry["report"]["ledger"] for entry in entries], seconds)
        run = json.loads((self.root / "run.json").read_bytes())
        write(self.root / "run.json", pretty({**run, "ledger": ledger}, 2))
        write(self.root / "mode", f"{mode}\n".encode())
        faults = self.root / "faults.json"
        if asked.faults:
            write(faults, pretty(asked.faults, 2))
        else:
            faults.unlink(missing_ok=True)
        return EvalReport._restore(
            json.dumps(
                {
                    "run_id": self.run_id, "mode": mode, "reports": reports, "bounds": bounds,
                    "causes": _join.ordered(causes), "verdicts": verdicts, "faults": asked.faults, "ledger": ledger,
                }
            )
        )  # fmt: skip
