"""What a run of `swe_atlas.ray` takes on a cluster, simulated event by event from measured times.

The rules are those of `swe_atlas.ray` and Ray: the first step of a group goes to any node with room, the others to the node
that did the first and wait for it, before other groups; a node does as many steps at once as it has slots; the driver hands steps
out and takes results up one after the other, and does nothing beside.
"""

import heapq
import random
from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """Seconds of what is around the steps themselves."""

    submit: float
    """The driver's, for each step that it hands to Ray."""
    start: float
    """From there until the step begins on a free slot."""
    take_up: float
    """The driver's, for each result: fetching it, writing its files, noting it."""
    wait: float
    """The driver's, for each step in flight, whenever it looks for results."""


@dataclass(frozen=True)
class Simulated:
    """What came out."""

    seconds: float
    """Wall time of the run."""
    busy: float
    """Share of the slots' time in which they worked."""
    driver: float
    """Share of the time in which the driver worked."""


def simulate(groups: list[list[float]], nodes: int, slots: int, costs: Costs) -> Simulated:
    """The run of groups of steps, each given by the seconds of its steps, the first with all that prepares the environment."""
    free = {node: slots for node in range(nodes)}
    idle = deque(node for node in range(nodes) for _ in range(slots))
    anywhere: deque[tuple[int, int]] = deque()
    at_home: dict[int, deque[tuple[int, int]]] = {node: deque() for node in range(nodes)}
    ready = deque((group, 0, -1) for group in range(len(groups)))
    left = sum(map(len, groups))
    window = max(2 * nodes * slots, 64)
    in_flight, without_home, now, worked, driver_free, driver_busy = 0, 0, 0.0, 0.0, 0.0, 0.0
    events: list[tuple[float, int, str, int, int, int]] = []
    arrived: list[tuple[int, int, int]] = []
    number = 0

    def later(at: float, what: str, group: int, step: int, node: int) -> None:
        nonlocal number
        number += 1
        heapq.heappush(events, (at, number, what, group, step, node))

    def drive(seconds: float) -> float:
        nonlocal driver_free, driver_busy
        driver_free = max(driver_free, now) + seconds
        driver_busy += seconds
        return driver_free

    def hand_out() -> None:
        nonlocal in_flight, without_home
        while ready and (ready[0][2] >= 0 or without_home < window):
            group, step, home = ready.popleft()
            in_flight += 1
            without_home += home < 0
            later(drive(costs.submit), "queued", group, step, home)

    def begin(group: int, step: int, node: int) -> None:
        nonlocal worked
        free[node] -= 1
        seconds = groups[group][step]
        worked += seconds
        later(now + costs.start + seconds, "ended", group, step, node)

    def place(node: int) -> None:
        """Whoever waits for a slot of this node; those whose home it is first."""
        while free[node] and (at_home[node] or anywhere):
            group, step = (at_home[node] or anywhere).popleft()
            begin(group, step, node)
        if free[node]:
            idle.append(node)

    hand_out()
    while left:
        now, _, what, group, step, node = heapq.heappop(events)
        if what == "queued" and node >= 0:
            at_home[node].append((group, step))
            place(node)
        elif what == "queued":
            anywhere.append((group, step))
            while idle and anywhere:
                place(idle.popleft())
        elif what == "ended":
            free[node] += 1
            place(node)
            if not arrived:
                later(max(now, driver_free), "looked", 0, 0, 0)
            arrived.append((group, step, node))
        elif what == "looked":
            # Twice: until there is one, and for all that there are.
            drive(2 * costs.wait * in_flight)
            for one in arrived:
                later(drive(costs.take_up), "taken up", *one)
            arrived.clear()
        else:
            left -= 1
            in_flight -= 1
            if step == 0:
                without_home -= 1
                ready.extendleft((group, follower, node) for follower in reversed(range(1, len(groups[group]))))
            hand_out()
    return Simulated(now, worked / (now * nodes * slots), driver_busy / now)


def drawn(measured: list[list[float]], groups: int, seed: int = 0) -> list[list[float]]:
    """Groups drawn from measured ones, with repetition."""
    source = random.Random(seed)
    return [source.choice(measured) for _ in range(groups)]
