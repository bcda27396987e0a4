"""Steps on the nodes of a cluster: handed to Ray, taken up as they end, tried again where a machine failed."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from swe_atlas._errors import EngineFailedError
from swe_atlas.ray._cluster import Cluster
from swe_atlas.ray._worker import Call, Outcome, work

SICK = 3
"""Failures in a row after which a node gets no further steps."""
SICK_KINDS = ("engine_unreachable", "engine_failed", "io")
"""Errors that speak against the node and not against what was asked of it."""
CANCEL_SECONDS = 60.0
"""How long steps may take to end in order after Ctrl-C."""


@dataclass(frozen=True)
class Step:
    """One unit of work, which depends on no other."""

    name: str
    """For people."""
    environment: str
    """Steps of one environment are best done by one node, which has its image."""
    call: Call
    """What is called."""
    files: Callable[[], bytes]
    """Gives the archive that the node unpacks."""
    bundle: str
    """The archive's name: steps with the same one share it."""


@dataclass
class Tried:
    """A step on its way."""

    step: Step
    group: int
    failures: list[dict[str, str]] = field(default_factory=list)
    homes: list[str] = field(default_factory=list)
    is_free: bool = False


Lost = Callable[[Outcome], str | None]
"""Says why a report is no result but a failure of infrastructure; None where it is a result."""
Done = Callable[[Step, Outcome, list[dict[str, str]]], None]
"""Takes up what a step came to, and the failures before it."""


def groups(steps: Iterable[Step], together: int) -> list[list[Step]]:
    """Steps of one environment, `together` at most in a group, in their order."""
    found: dict[str, list[list[Step]]] = {}
    order = []
    for step in steps:
        mine = found.setdefault(step.environment, [])
        if not mine or len(mine[-1]) >= together:
            mine.append([])
            order.append(mine[-1])
        mine[-1].append(step)
    return order


class Run:
    """Steps of one run.

    Of each group the first step goes to whichever node Ray chooses, and shows where the others should go: softly, so
    that a node that is lost holds nobody up. They go before other groups, while their environment is there. Of steps
    without such a home twice as many are handed to Ray as it has room for, so that none of its nodes waits for us.
    """

    def __init__(self, cluster: Cluster, *, attempts: int, together: int, lost: Lost, done: Done) -> None:
        self._cluster, self._ray = cluster, cluster.ray
        self._attempts, self._together = attempts, together
        self._lost, self._done = lost, done
        self._flight: dict[Any, Tried] = {}
        self._archives: dict[str, Any] = {}
        self._followers: dict[int, list[Step]] = {}
        self._ready: deque[tuple[Tried, str | None]] = deque()
        self._free = 0
        self._left: Counter[str] = Counter()
        self._in_a_row: Counter[str] = Counter()
        self._task = self._ray.remote(max_retries=0, retry_exceptions=False)(work)

    def all(self, steps: Iterable[Step]) -> None:
        """Does all steps. Ctrl-C, and what `done` raises, ends those in flight in order first."""
        for number, group in enumerate(groups(steps, self._together)):
            self._followers[number] = group[1:]
            self._ready.append((Tried(group[0], number), None))
            self._left.update(step.bundle for step in group)
        total = self._left.total()
        finished, said = 0, 0.0
        try:
            while self._ready or self._flight:
                self._hand_out()
                flight = list(self._flight)
                ended, _ = self._ray.wait(flight, num_returns=1, timeout=1.0)
                if ended:
                    # All that have: a look costs as much as there are steps in flight.
                    ended, _ = self._ray.wait(flight, num_returns=len(flight), timeout=0)
                for reference in ended:
                    finished += self._take_up(self._flight.pop(reference), self._fetch(reference))
                if sys.stderr.isatty() and time.monotonic() - said > 1:
                    said = time.monotonic()
                    words = f"{finished} of {total} done, {len(self._flight)} at the cluster"
                    print(f"\r\x1b[K{words}", end="", file=sys.stderr, flush=True)
        finally:
            if sys.stderr.isatty():
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._cancel()

    def _hand_out(self) -> None:
        while self._ready:
            tried, home = self._ready[0]
            # Those that wait for their home stand at the front, and fill no place that other nodes have.
            if home is None and self._free >= max(2 * self._cluster.slots(), 64):
                return
            self._ready.popleft()
            tried.is_free = home is None
            self._free += tried.is_free
            step = tried.step
            if step.bundle not in self._archives:
                self._archives[step.bundle] = self._ray.put(step.files())
            options = self._cluster.options(home, self._avoid(tried))
            task = self._task.options(name=f"atlas {step.name}", **options)
            reference = task.remote(step.call, self._archives[step.bundle])
            self._flight[reference] = tried

    def _avoid(self, tried: Tried) -> set[str]:
        """Nodes that failed this step, or several in a row, as long as there are others."""
        sick = {node for node, failures in self._in_a_row.items() if failures >= SICK}
        if not sick and not tried.homes:
            return set()
        usable = set(self._cluster.usable())
        if usable and usable <= sick:
            last = tried.failures[-1]["message"] if tried.failures else "steps failed there"
            message = f"{len(usable)} of {len(usable)} nodes failed {SICK} times in a row, last by: {last}"
            raise EngineFailedError(message, kind="engine_failed", blame="environment", operation="run steps")
        avoid = sick | set(tried.homes)
        return (avoid if usable - avoid else sick) & usable

    def _fetch(self, reference: Any) -> Outcome:
        """The result, or as an error what Ray says of a worker or a node that was lost."""
        try:
            outcome: Outcome = self._ray.get(reference)
            return outcome
        except self._ray.exceptions.RayTaskError as why:
            raise why.as_instanceof_cause() from None
        except self._ray.exceptions.RayError as why:
            text = f"{type(why).__name__}: {str(why).splitlines()[0]}"
            error = EngineFailedError(text, kind="engine_failed", blame="environment", operation="run on a node")
            return Outcome(error=error)

    def _take_up(self, tried: Tried, outcome: Outcome) -> bool:
        self._free -= tried.is_free
        error = outcome.error
        if error is not None:
            why = str(error) if error.blame == "environment" else None
        else:
            why = self._lost(outcome)
        # A node that was lost has no name here, and an environment that cannot be had says nothing of the node.
        if outcome.node and why is None:
            self._in_a_row[outcome.node] = 0
        elif outcome.node and error is not None and error.kind in SICK_KINDS:
            self._in_a_row[outcome.node] += 1
        if why is not None and len(tried.failures) + 1 < self._attempts:
            tried.failures.append({"node": outcome.node, "host": outcome.host, "message": why})
            tried.homes.extend([outcome.node] if outcome.node else [])
            self._ready.appendleft((tried, None))
            return False
        self._done(tried.step, outcome, tried.failures)
        followers = self._followers.pop(tried.group, [])
        self._ready.extendleft((Tried(step, tried.group), outcome.node or None) for step in reversed(followers))
        self._left[tried.step.bundle] -= 1
        if not self._left[tried.step.bundle]:
            self._archives.pop(tried.step.bundle, None)
        return True

    def _cancel(self) -> None:
        """Ends what is in flight: workers hear it as Ctrl-C, and remove what they started."""
        if not self._flight:
            return
        flight = list(self._flight)
        self._flight.clear()
        for reference in flight:
            self._ray.cancel(reference)
        others = flight
        try:
            _, others = self._ray.wait(flight, num_returns=len(flight), timeout=CANCEL_SECONDS)
        finally:
            for reference in others:
                self._ray.cancel(reference, force=True)
