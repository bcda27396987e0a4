"""Which nodes there are, and what a step asks of one."""

from __future__ import annotations

import importlib
import math
import time
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from swe_atlas._errors import InvalidInputError

DISK = "atlas_disk"
"""The custom resource that stands for disk, in GiB."""
ENGINE = "atlas-engine"
"""The label that names a node's engine."""
NODE = "ray.io/node-id"
"""The label in which Ray keeps a node's own name."""
GIB = 1 << 30


def ray() -> Any:
    """The package, imported when it is first needed: it takes half a second."""
    try:
        return importlib.import_module("ray")
    except ModuleNotFoundError as why:
        message = f"import ray: {why}; pip install 'swe-atlas[ray]'"
        raise InvalidInputError(message, kind="invalid_input", blame="caller", operation="import", subject="ray") from why


@dataclass(frozen=True)
class Resources:
    """What one step occupies of its node while it runs. Ray books it; the limits of tests are the configuration's."""

    cpus: float = 1.0
    """Processors."""
    memory: int | None = None
    """Bytes of memory; None for no bookkeeping."""
    disk: int | None = None
    """Bytes of disk, booked in GiB, rounded up, of the custom resource `atlas_disk`; None for no bookkeeping."""
    engine: str | None = None
    """Only nodes with this value of the label `atlas-engine`, such as 'docker'; None for any node."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Further labels of Ray that a node must have."""
    custom: Mapping[str, float] = field(default_factory=dict)
    """Further custom resources."""

    def __post_init__(self) -> None:
        """Raises InvalidInputError for what no node can give."""
        if not (math.isfinite(self.cpus) and self.cpus >= 0):
            raise InvalidInputError(f"cpus: {self.cpus}: 0 or more expected", kind="invalid_input", blame="caller")
        for name in ("memory", "disk"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise InvalidInputError(f"{name}: {value}: bytes expected", kind="invalid_input", blame="caller")

    def booked(self) -> dict[str, float]:
        """By Ray's names of resources."""
        booked = {"CPU": self.cpus, **self.custom}
        if self.memory is not None:
            booked["memory"] = self.memory
        if self.disk is not None:
            booked[DISK] = math.ceil(self.disk / GIB)
        return booked

    def selector(self) -> dict[str, str]:
        """The labels that a node must have."""
        engine = {} if self.engine is None else {ENGINE: self.engine}
        return {**self.labels, **engine}

    def options(self) -> dict[str, Any]:
        """As options of a Ray task."""
        booked = self.booked()
        options: dict[str, Any] = {"num_cpus": booked.pop("CPU")}
        if "memory" in booked:
            options["memory"] = booked.pop("memory")
        return options | {"resources": booked, "label_selector": self.selector()}


class Cluster:
    """The connection to Ray. One that was there before is used, and left open."""

    def __init__(self, resources: Resources, address: str | None) -> None:
        """Connects, unless the program is connected; `address` as `ray.init` takes it."""
        self.ray = ray()
        self.resources = resources
        self._asked = -math.inf
        self._alive: list[dict[str, Any]] = []
        if not self.ray.is_initialized():
            self.ray.init(address=address, log_to_driver=False)
        if not any(self._fits(node) for node in self.alive()):
            warnings.warn(
                f"no node has {resources.booked()} with the labels {resources.selector()}; waiting for one",
                RuntimeWarning,
                stacklevel=2,
            )

    def alive(self) -> list[dict[str, Any]]:
        """The nodes that live, as they were a second ago at most."""
        if time.monotonic() - self._asked > 1:
            self._alive = [node for node in self.ray.nodes() if node["Alive"]]
            self._asked = time.monotonic()
        return self._alive

    def _fits(self, node: Mapping[str, Any]) -> bool:
        has, labels = node["Resources"], node.get("Labels") or {}
        wanted = self.resources.selector().items()
        enough = all(has.get(name, 0) >= amount for name, amount in self.resources.booked().items())
        # Values may be expressions such as `in(a,b)`, which Ray reads.
        return enough and all("(" in value or "!" in value or labels.get(name) == value for name, value in wanted)

    def usable(self) -> list[str]:
        """The nodes on which a step can run at all."""
        return [node["NodeID"] for node in self.alive() if self._fits(node)]

    def slots(self) -> int:
        """How many steps can go on at once."""
        total = 0.0
        for node in self.alive():
            if self._fits(node):
                wanted = [(name, amount) for name, amount in self.resources.booked().items() if amount > 0]
                total += min((node["Resources"][name] // amount for name, amount in wanted), default=1)
        return int(total)

    def options(self, home: str | None, avoid: Collection[str]) -> dict[str, Any]:
        """Options of a task that would best run at `home`, or anywhere but on nodes of `avoid`."""
        options = self.resources.options()
        if home is not None and home not in avoid:
            strategies = importlib.import_module("ray.util.scheduling_strategies")
            options["scheduling_strategy"] = strategies.NodeAffinitySchedulingStrategy(home, soft=True)
        elif avoid:
            options["label_selector"] = {**options["label_selector"], NODE: f"!in({','.join(sorted(avoid))})"}
        return options
