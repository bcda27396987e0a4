"""The forms of nested values, for type checkers: what reports hold is plain dicts and lists."""

import os
from typing import Literal, TypeAlias, TypedDict

__all__ = [
    "BeforeFailureExtent",
    "Content",
    "Duplicates",
    "Evidence",
    "Isolation",
    "Kind",
    "LogWarning",
    "LostModule",
    "MakeOutcome",
    "ModuleFailure",
    "Outcome",
    "RunOutcome",
    "Seconds",
    "Status",
    "Totals",
    "Transition",
]

Content: TypeAlias = bytes | bytearray | str | os.PathLike[str]
"""Content as bytes or str, or a path object for a file."""

# Each is a union of literals, not one literal of many words: mypy's stubtest tells the two apart.
Status: TypeAlias = Literal["PASSED", "XFAIL", "XPASS"] | Literal["SKIPPED", "FAILED", "ERROR"]

RunOutcome: TypeAlias = (
    Literal["completed", "build_failed", "crashed", "timed_out", "truncated"]
    | Literal["nothing_ran"]
)

Kind: TypeAlias = Literal["bug_fix"] | Literal["feature_request"]

BeforeFailureExtent: TypeAlias = Literal["none"] | Literal["partial", "full", "crash"]

Outcome: TypeAlias = (
    Literal["instance"]
    | Literal[
        "reject_no_fail_to_pass",
        "environment_invalid",
        "reject_after_broken",
        "no_evidence",
    ]
)

MakeOutcome: TypeAlias = Outcome | Literal["reject_nothing_to_test", "reject_entangled"]


class _EvidenceText(TypedDict):
    source: str
    text: str


class Evidence(_EvidenceText, total=False):
    """One proof line: a place and what stands there. `line` is absent for a whole file."""

    line: int


class Totals(TypedDict, total=False):
    """The runner's own counts; what it did not declare is absent."""

    total: int
    passed: int
    failed: int
    errors: int
    skipped: int
    xfailed: int
    xpassed: int


class Isolation(TypedDict):
    """What keeps a script apart from the machine, as it really was."""

    kind: str
    network_off: bool
    filesystem: bool
    processes: bool
    no_privileges: bool
    non_root: bool
    limits: list[str]
    missing: list[str]


class LostModule(TypedDict):
    """A file, package, binary or suite whose tests are missing from a log, and why."""

    module: str
    reason: Literal["build_failed", "load_failed", "crashed", "timed_out"]
    lines: list[Evidence]


class Duplicates(TypedDict):
    """Ids that were reported more than once."""

    count: int
    ids: dict[str, int]


class _WarningText(TypedDict):
    text: str


class LogWarning(_WarningText, total=False):
    """A remark of a parser. `line` is absent where there is no one line."""

    line: int


class _Failure(TypedDict):
    state: Literal["base", "before", "after"]
    module: str
    proof: list[Evidence]


# `class` is no name that a class body can hold.
_FailureClass = TypedDict(
    "_FailureClass",
    {"class": Literal["missing_symbol", "environment", "broken_test", "unknown"]},
)


class ModuleFailure(_Failure, _FailureClass, total=False):
    """A module that did not build or load in one state, with `class` and proof lines."""

    symbol: str


class _States(TypedDict):
    name: str
    base: Status | None
    before: Status | None
    after: Status | None


_TransitionClass = TypedDict("_TransitionClass", {"class": str})


class Transition(_States, _TransitionClass):
    """One test over the three states; None means not in the log. `class` is 'F2P', 'P2P', …"""


class Seconds(TypedDict):
    """Wall seconds by step."""

    prepare: float
    environment: float
    base: float
    before: float
    after: float
    sandbox_overhead: float
    total: float


