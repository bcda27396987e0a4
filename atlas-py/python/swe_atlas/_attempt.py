"""`attempt`, and what agents written in Python are given."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from swe_atlas._errors import AtlasError, BudgetExceededError
from swe_atlas._progress import ProgressEvent
from swe_atlas._swe_atlas import NativeRoom, _attempt


@dataclass(frozen=True)
class AgentTask:
    """What an agent is asked to do."""

    instance_id: str
    """The instance."""
    attempt: int
    """Which attempt at it, from 1."""
    statement: str
    """The problem statement, with a hint where one is given."""
    folder: str
    """The repository's folder in the sandbox."""
    out: str
    """A folder of this machine that is the attempt's own."""
    steps: int
    """Most commands."""
    seconds: int
    """Most seconds of the whole attempt."""
    tokens: int | None
    """Most tokens, None for no bound."""
    cost_usd: float | None
    """Most US dollars, None for no bound."""


@dataclass(frozen=True)
class RoomResult:
    """What a command did."""

    output: str
    """Standard output and standard error as one stream."""
    exit_code: int | None
    """Its exit code; None if a limit ended it."""
    truncated: bool
    """Whether it printed more than was kept."""
    is_over: bool
    """Whether the sandbox ended with it."""


class Room:
    """A task's sandbox as its agent sees it, with the attempt's budget.

    Each method raises BudgetExceededError once a budget is spent, which an agent may let pass: its attempt then ends
    with that status, and what it left is graded. CancelledError says that nobody waits any more.
    """

    def __init__(self, native: NativeRoom) -> None:
        """Not for users: `attempt` makes rooms."""
        self._native = native

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._native.ask(json.dumps(request)))
        if "stop" in answer:
            raise BudgetExceededError(
                f"the attempt's {answer['stop']} are spent", kind="budget_exceeded", subject=answer["stop"]
            )
        if "error" in answer:
            raise AtlasError(answer["error"], kind="engine_failed")
        return answer

    def run(self, command: str, *, seconds: int | None = None) -> RoomResult:
        """Runs a text for bash. It starts in the repository's root, and has at most the budget's seconds of a command."""
        request: dict[str, Any] = {"run": command}
        if seconds is not None:
            request["seconds"] = seconds
        told = self._ask(request)
        return RoomResult(told["output"], told["exit_code"], told["truncated"], told["over"])

    def tell(self, step: Mapping[str, Any]) -> None:
        """Adds a step of ATIF to the trajectory, such as `{"source": "agent", "message": "I look first"}`.

        Without any the trajectory is the list of commands.
        """
        self._ask({"step": dict(step)})

    def spend(
        self, *, calls: int = 1, prompt_tokens: int = 0, completion_tokens: int = 0, cost_usd: float = 0.0
    ) -> None:
        """Counts what calls of a model cost."""
        usage = {"calls": calls, "prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
        self._ask({"usage": usage | {"cost_usd": cost_usd}})


def start(agent: Callable[[AgentTask, Room], Any], task: dict[str, Any], native: NativeRoom) -> None:
    """Calls the agent in a thread of its own, which does not keep the interpreter from ending."""

    def call() -> None:
        try:
            said = agent(AgentTask(**task), Room(native))
        except BudgetExceededError:
            native.ended(None)
        except BaseException as why:
            native.raised(f"{type(why).__name__}: {why}")
        else:
            native.ended(said if isinstance(said, str) else None)

    threading.Thread(target=call, name="atlas-agent", daemon=True).start()


def attempt(
    dataset: str | os.PathLike[str],
    agent: str | Callable[[AgentTask, Room], Any],
    *,
    run_id: str = "attempts",
    k: int = 1,
    model: str | None = None,
    hints: str | os.PathLike[str] | None = None,
    only_unresolved: Sequence[str | os.PathLike[str]] | None = None,
    instance_ids: Sequence[str] | None = None,
    steps: int | None = None,
    tokens: int | None = None,
    seconds: int | None = None,
    cost: float | None = None,
    command_seconds: int | None = None,
    engine: Literal["auto", "docker", "local"] = "auto",
    jobs: int = 1,
    out: str | os.PathLike[str] = ".",
    repos: str | os.PathLike[str] | None = None,
    results: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    trust: bool = False,
    timeout: int | None = None,
    python: str | os.PathLike[str] | None = None,
    agent_config: str | None = None,
    agent_name: str | None = None,
    progress: bool | Callable[[ProgressEvent], object] | None = None,
) -> dict[str, Any]:
    """Has an agent attempt instances in sealed sandboxes, `k` times each, and grades what it leaves.

    `agent` is 'mini-swe-agent', a command line, or a callable `agent(task, room)`: it works by `room.run`, may say
    what it thinks (`room.tell`) and spends (`room.spend`), and may return its exit status as a text. Its attribute
    `name` names it, and `settings`, a mapping of plain values, tells one configuration from another. Several attempts
    call it at once, each in a thread of its own.

    Options are those of `atlas attempt`, and the report is what it prints with `--format json`. Everything is written
    below `out`; the same call later goes on from there. An agent that raises has failed its attempt, and the
    report says with what. Ctrl-C ends all and raises KeyboardInterrupt. `progress` is that of `evaluate`.

    Raises AtlasError for inputs that cannot be read, an agent or an engine that does not start.
    """
    return _attempt(locals())
