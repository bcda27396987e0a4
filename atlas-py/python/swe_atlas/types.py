"""The forms of nested values, for type checkers: what reports hold is plain dicts and lists."""

import os
from typing import Any, Literal, TypeAlias, TypedDict

__all__ = [
    "BeforeFailureExtent",
    "Content",
    "Decision",
    "Duplicates",
    "Evidence",
    "Finding",
    "FunnelStep",
    "Grade",
    "GradedTests",
    "InstanceVerdict",
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
    "Verdict",
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


Decision: TypeAlias = Literal["accept", "repair"] | Literal["reject", "no_evidence"]


class Finding(TypedDict):
    """One thing that a gate found."""

    code: str
    severity: Literal["note", "warning", "fatal"]
    message: str
    evidence: list[Evidence]


class _VerdictText(TypedDict):
    validator: str
    decision: Decision
    findings: list[Finding]


class Verdict(_VerdictText, total=False):
    """What a gate says. `quarantine` has the tests that must not be counted, each with the reason;
    `measurements` the numbers that the gate documents. Both are absent where there are none.
    """

    quarantine: dict[str, str]
    measurements: dict[str, Any]


class InstanceVerdict(TypedDict):
    """One instance and its gates; `decision` is None where something went wrong."""

    instance_id: str
    decision: Decision | None
    verdicts: list[Verdict]
    error: str | None
    seconds: float


class FunnelStep(TypedDict):
    """How many instances came to a gate, and what it did with them."""

    gate: str
    entered: int
    accepted: int
    repaired: int
    rejected: int
    no_evidence: int


class GradedTests(TypedDict):
    """One list, as it came out."""

    success: list[str]
    failure: list[str]


class Grade(TypedDict):
    """How a run came out against both lists of an instance."""

    resolution: Literal["RESOLVED_FULL", "RESOLVED_PARTIAL", "RESOLVED_NO"]
    FAIL_TO_PASS: GradedTests
    PASS_TO_PASS: GradedTests
    failed_by_name: list[str]
