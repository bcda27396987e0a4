"""A run that can be killed: steps, and the journal that says which of them are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swe_atlas._errors import AtlasError, InternalError
from swe_atlas.ray._cluster import Cluster, Resources
from swe_atlas.ray._journal import Journal
from swe_atlas.ray._run import Run, Step
from swe_atlas.ray._worker import Outcome

Entry = dict[str, Any]


@dataclass(frozen=True)
class Manner:
    """How steps are done."""

    resources: Resources
    attempts: int
    together: int
    address: str | None


def through(
    journal: Path,
    steps: Mapping[str, Step],
    manner: Manner,
    *,
    take: Callable[[Step, Outcome], Entry],
    is_kept: Callable[[Entry], bool] = lambda entry: True,
    lost: Callable[[Outcome], str | None] = lambda outcome: None,
    ends_all: bool = False,
) -> list[Entry]:
    """Does the steps that are not done, and returns what the journal says of each, in their order.

    `steps` are by the hash of what each depends on. `take` stores what a step came to and says what the journal should
    know of it. An error of a step is raised when the others are through, or at once with `ends_all`.
    """
    opened = Journal(journal)
    errors: list[AtlasError] = []
    marks = {step.name: mark for mark, step in steps.items()}

    def done(step: Step, outcome: Outcome, failures: Sequence[Mapping[str, str]]) -> None:
        if outcome.error is not None:
            if ends_all:
                raise outcome.error
            errors.append(outcome.error)
            return
        entry = {"key": marks[step.name], "step": step.name, "node": outcome.node, "host": outcome.host}
        opened.note({**entry, "seconds": outcome.seconds, "failures": list(failures), **take(step, outcome)})

    try:
        left = [
            step for mark, step in steps.items() if mark not in opened.done or not is_kept(opened.done[mark])
        ]
        if left:
            cluster = Cluster(manner.resources, manner.address)
            Run(cluster, attempts=manner.attempts, together=manner.together, lost=lost, done=done).all(left)
        if errors:
            raise errors[0]
        return [opened.done[mark] for mark in steps]
    finally:
        opened.close()


def report(outcome: Outcome) -> dict[str, Any]:
    """The report of a step that raised nothing."""
    if outcome.report is None:
        raise InternalError("a step gave neither a report nor an error", kind="internal", blame="atlas")
    return outcome.report
