"""What a run is asked for, read once by the driver."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import swe_atlas
from swe_atlas._errors import InternalError
from swe_atlas._swe_atlas import Prediction, Predictions, Row
from swe_atlas.ray._worker import WORK, packed

DATASET = "dataset.jsonl"
CONFIG = "atlas.toml"
PLACES = {"dataset": f"{WORK}/{DATASET}", "out": f"{WORK}/out"}
"""Arguments that every step over a row has."""

PathLike = str | os.PathLike[str]
PredictionSource = PathLike | Predictions | Mapping[str, Any] | Iterable[Mapping[str, Any] | Prediction]


def rows(dataset: PathLike) -> dict[str, Row]:
    """The dataset's rows by instance; of several of one name the first counts, as everywhere."""
    found: dict[str, Row] = {}
    for row in swe_atlas.read_dataset(dataset):
        found.setdefault(row.instance_id, row)
    return found


def artefacts(dataset: PathLike, instance: str) -> Path | None:
    """The folder with what `make` left of an instance, where there is one."""
    path = Path(dataset)
    folder = path if path.is_dir() else path.parent
    places = (folder / instance, folder / "instances" / instance)
    return next((place for place in places if place.is_dir()), None)


def bundle(dataset: PathLike, row: Row, extra: Mapping[str, bytes]) -> bytes:
    """A row with what stands beside it, and further files: all that a node needs of the driver's."""
    files: dict[str, bytes | Path] = {DATASET: row.to_json().encode() + b"\n", **extra}
    if (beside := artefacts(dataset, row.instance_id)) is not None:
        files[row.instance_id] = beside
    return packed(files)


def configured(config: PathLike | Mapping[str, Any] | None) -> tuple[bytes | None, Any]:
    """The content of a configuration file, and the argument `config` on a node."""
    if config is None or isinstance(config, Mapping):
        return None, config
    return content(config), f"{WORK}/{CONFIG}"


def content(path: PathLike) -> bytes:
    """Of a file that is to be sent. Raises NotFoundError where there is none."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as why:
        raise swe_atlas.NotFoundError(
            f"read {path}: no such file", kind="not_found", blame="caller", operation="read", subject=str(path)
        ) from why


def absolute(path: PathLike | None) -> str | None:
    """A path as the nodes should understand it."""
    return None if path is None else os.path.abspath(path)


def settings(options: Mapping[str, Any], config: bytes | None) -> str:
    """Options and configuration as a part of a step's hash."""
    return json.dumps(options, sort_keys=True, default=repr) + (config or b"").decode(errors="replace")


@dataclass(frozen=True)
class Asked:
    """One prediction beside its row."""

    instance_id: str
    model: str
    patch: str | None
    row: Row


@dataclass(frozen=True)
class Input:
    """Dataset and predictions, with everything that is wrong with them."""

    asked: list[Asked]
    dataset: set[str]
    """Instances that are asked for."""
    model: str
    """Of the first prediction."""
    others: set[str]
    """Instances of its predictions that the dataset does not have."""
    faults: list[dict[str, Any]]


def _patches(given: Any) -> dict[tuple[str, str], str | None]:
    """By model and instance, in the order of the first; of several the last counts."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        if isinstance(given, Predictions):
            found = given
        elif isinstance(given, (str, os.PathLike)):
            found = swe_atlas.read_predictions(given)
        else:
            listed = [dict(one) for one in given] if isinstance(given, list) else dict(given)
            file.write(json.dumps(listed).encode())
            file.flush()
            found = swe_atlas.read_predictions(file.name)
        return {(one.model_name_or_path or "None", one.instance_id): one.model_patch for one in found}


def read(dataset: PathLike, predictions: PredictionSource, mode: Any, instance_ids: Sequence[str] | None) -> Input:
    """Reads both as `evaluate` does: by grading an empty folder of logs, which says who is asked for."""
    given = predictions
    if not isinstance(given, (str, os.PathLike, Predictions, Prediction, Mapping)):
        given = list(given)
    with tempfile.TemporaryDirectory() as empty:
        seen = swe_atlas.regrade(dataset, given, empty, mode=mode, instance_ids=instance_ids).to_dict()
    known = rows(dataset)
    patches = {} if given in ("gold", "null") else _patches(given)
    asked = []
    for one in seen["instances"]:
        model, instance, verdict = one["model_name_or_path"], one["instance_id"], one["verdict"]
        row = known[instance]
        patch = patches[model, instance] if patches else row["patch"] if given == "gold" else ""
        if sha256((patch or "").encode()).hexdigest() != verdict["patch_sha256"]:
            raise InternalError(f"read the prediction of {model} for {instance}", kind="internal", blame="atlas")
        asked.append(Asked(instance, model, patch, row))
    submitted = set(seen["submitted_ids"])
    told = {one for name, ids in seen.items() if name.endswith("_ids") and name != "submitted_ids" for one in ids}
    first = next(iter(patches))[0] if patches else asked[0].model
    return Input(asked, told, first, submitted - told, seen["faults"])
