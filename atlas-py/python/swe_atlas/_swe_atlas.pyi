"""Types of the native module; import from `swe_atlas`."""

import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar, final, overload

from swe_atlas.types import (
    BeforeFailureExtent,
    Content,
    Duplicates,
    Evidence,
    FunnelStep,
    Grade,
    InstanceVerdict,
    Isolation,
    Kind,
    LogWarning,
    LostModule,
    MakeOutcome,
    ModuleFailure,
    Outcome,
    RunOutcome,
    Seconds,
    Status,
    Totals,
    Transition,
)

__all__ = [
    "Classification",
    "Instance",
    "MakeReport",
    "ParsedLog",
    "ValidateReport",
    "__version__",
    "_error_kinds",
    "_raise",
    "classify",
    "grade",
    "make",
    "parse_log",
    "validate",
]

_T = TypeVar("_T")

__version__: str

def _error_kinds() -> list[tuple[str, str | None]]:
    """Every error kind with the name of its exception class, for the test that finds unmapped ones."""

def _raise(kind: str) -> None:
    """Raises an error of that kind, for the same test."""

@final
class ParsedLog:
    """What a test runner's log says: which tests ran, how each ended, and what did not run.

    Made by `parse_log`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def parser(self) -> str:
        """The id of the parser that read the log."""

    @property
    def tests(self) -> dict[str, Status]:
        """SWE-bench id -> status; where several tests share an id, the worst."""

    @property
    def qualified(self) -> dict[str, Status]:
        """Qualified id (package, binary or file in front) -> status; without collisions."""

    @property
    def totals(self) -> Totals | None:
        """The runner's own counts as it printed them; None if it printed none."""

    @property
    def consistent(self) -> bool | None:
        """Whether `totals` agree with what was parsed; None where that cannot be told."""

    @property
    def outcome(self) -> RunOutcome:
        """How the run ended: completed, build_failed, crashed, timed_out, truncated or nothing_ran."""

    @property
    def build_failed(self) -> bool:
        """Whether something could not be built, collected or loaded."""

    @property
    def modules_not_loaded(self) -> list[LostModule]:
        """Files, packages, binaries or suites whose tests are missing, each with why and proof lines."""

    @property
    def in_flight(self) -> list[str]:
        """Tests that were running when the process died."""

    @property
    def duplicates(self) -> Duplicates:
        """Ids with more than one result."""

    @property
    def warnings(self) -> list[LogWarning]:
        """Remarks of the parser."""

    @property
    def detection(self) -> dict[str, Any] | None:
        """How the parser was found; None where it was named."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas parse --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class Classification:
    """What three runs of one test selection say of a pull request.

    Made by `classify`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def outcome(self) -> Outcome:
        """The verdict: instance, reject_no_fail_to_pass, environment_invalid, reject_after_broken
        or no_evidence.
        """

    @property
    def reason(self) -> str:
        """One sentence why."""

    @property
    def kind(self) -> Kind | None:
        """bug_fix or feature_request, by state; None where Base gives no ground to tell."""

    @property
    def before_failure_extent(self) -> BeforeFailureExtent:
        """How much of Before did not run: none, partial, full or crash."""

    @property
    def fail_to_pass(self) -> list[str]:
        """Tests that define the task."""

    @property
    def pass_to_pass(self) -> list[str]:
        """Tests that must go on passing."""

    @property
    def pass_to_fail(self) -> list[str]:
        """Tests that pass before and fail after: in neither list."""

    @property
    def unstable(self) -> dict[str, str]:
        """Ids that hold a time, an address or a counter, each with why: in neither list."""

    @property
    def fail_to_pass_swebench_rule(self) -> list[str] | None:
        """What the plain SWE-bench rule would have given as FAIL_TO_PASS, where it differs."""

    @property
    def fail_to_pass_rule(self) -> str:
        """How FAIL_TO_PASS was found."""

    @property
    def module_failures(self) -> list[ModuleFailure]:
        """Modules that did not build or load, in any state, each with its class and proof lines."""

    @property
    def transition_counts(self) -> dict[str, int]:
        """Class of transition ('F2P', 'P2P', 'N2P', …) -> number of tests."""

    @property
    def transitions(self) -> list[Transition]:
        """Every test over the three states."""

    @property
    def evidence(self) -> list[Evidence]:
        """Proof lines for the verdict."""

    @property
    def warnings(self) -> list[str]:
        """Remarks."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas classify --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class MakeReport:
    """What making a pull request into an instance came to: the verdict, and what proves it.

    Made by `make`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def schema_version(self) -> int:
        """Version of the report's form."""

    @property
    def instance_id(self) -> str:
        """The instance's name."""

    @property
    def outcome(self) -> MakeOutcome:
        """The verdict: instance, or why it is none (reject_no_fail_to_pass, environment_invalid,
        reject_after_broken, reject_nothing_to_test, reject_entangled, no_evidence).
        """

    @property
    def reason(self) -> str:
        """One sentence why."""

    @property
    def kind(self) -> Kind | None:
        """bug_fix or feature_request, by state; None where it cannot be told."""

    @property
    def before_failure_extent(self) -> BeforeFailureExtent | None:
        """How much of Before did not run: none, partial, full or crash; None if it was not run."""

    @property
    def fail_to_pass(self) -> list[str]:
        """Tests that define the task."""

    @property
    def pass_to_pass(self) -> list[str]:
        """Tests that must go on passing."""

    @property
    def row(self) -> pathlib.Path | None:
        """The dataset row's file; None for a rejected pull request."""

    @property
    def artefacts(self) -> pathlib.Path:
        """The folder with everything that proves the verdict."""

    @property
    def engine(self) -> str:
        """The engine that was used."""

    @property
    def isolation(self) -> Isolation | None:
        """How the tests were kept apart from this machine; None if none ran."""

    @property
    def seconds(self) -> Seconds:
        """Wall seconds by step."""

    @property
    def evidence(self) -> list[Evidence]:
        """Proof lines."""

    @property
    def warnings(self) -> list[str]:
        """Remarks."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas make --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class Instance:
    """One row of a SWE-bench dataset, with every column it was read with.

    A mapping from column to value, like the row as a dict, and attributes for the columns that
    define the task. Immutable. A row that was read is written back byte for byte.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def instance_id(self) -> str:
        """The row's name."""

    @property
    def fail_to_pass(self) -> list[str]:
        """Tests that define the task; read from a list or a JSON-encoded string of one."""

    @property
    def pass_to_pass(self) -> list[str]:
        """Tests that must go on passing; read from a list or a JSON-encoded string of one."""

    @property
    def patch(self) -> str:
        """The gold patch: the pull request's solution."""

    @property
    def test_patch(self) -> str:
        """The pull request's changes to tests."""

    @classmethod
    def from_json(cls, text: str | bytes | bytearray) -> Instance:
        """Reads one row: a JSON object with a valid `instance_id`. White space around it is dropped.

        Raises InvalidInputError naming the column that is wrong.
        """

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Instance:
        """Takes a row from a mapping whose values are plain JSON values.

        Raises InvalidInputError naming the column that is wrong.
        """

    def to_json(self) -> str:
        """The row as one line of JSON, byte for byte as `from_json` read it."""

    def to_dict(self) -> dict[str, Any]:
        """The row as a dict."""

    @overload
    def get(self, column: str, default: None = None) -> Any | None:
        """The value of a column, or `default` where there is no such column."""

    @overload
    def get(self, column: str, default: _T) -> Any | _T: ...

    def keys(self) -> list[str]:
        """The names of all columns, in order."""

    def values(self) -> list[Any]:
        """The values of all columns, in order."""

    def items(self) -> list[tuple[str, Any]]:
        """The columns with their values, in order."""

    def __getitem__(self, column: str, /) -> Any: ...
    def __contains__(self, column: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class ValidateReport:
    """What the quality gates came to, instance by instance and gate by gate.

    Made by `validate`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def schema_version(self) -> int:
        """Version of the report's form."""

    @property
    def dataset(self) -> pathlib.Path:
        """The dataset."""

    @property
    def validated(self) -> pathlib.Path:
        """The rows that passed, repaired where needed."""

    @property
    def total(self) -> int:
        """Instances looked at."""

    @property
    def accepted(self) -> int:
        """Instances that passed as they are."""

    @property
    def repaired(self) -> int:
        """Instances that passed with tests taken out of their lists."""

    @property
    def needs_repair(self) -> int:
        """Instances that do not pass before someone repairs what no rule can: a statement that holds the
        solution.
        """

    @property
    def rejected(self) -> int:
        """Instances that did not pass."""

    @property
    def no_evidence(self) -> int:
        """Instances about which no gate had anything to decide on."""

    @property
    def errors(self) -> int:
        """Instances at which something went wrong."""

    @property
    def funnel(self) -> list[FunnelStep]:
        """Gate by gate, in order: how many instances entered and what became of them."""

    @property
    def instances(self) -> list[InstanceVerdict]:
        """Every instance with its verdicts, in the dataset's order."""

    @property
    def seconds(self) -> float:
        """Wall seconds."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas validate --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def __eq__(self, value: object, /) -> bool: ...
    @classmethod
    def _restore(cls: type[_T], state: str) -> _T: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

def parse_log(
    log: Content,
    parser: str = "auto",
    *,
    command: str | None = None,
    language: str | None = None,
) -> ParsedLog:
    """Reads a test runner's log.

    `log` is the content as bytes or str, or a path object for a file, which is read in pieces.
    `parser` is a parser's id ('pytest'), a harness's name for one ('parse_log_pytest'), or 'auto':
    then `command` (the test command) and `language` help to find it.

    Raises InvalidInputError for an unknown parser or, with 'auto', where no runner is recognised.
    """

def classify(
    base: ParsedLog | Content,
    before: ParsedLog | Content,
    after: ParsedLog | Content,
    parser: str = "auto",
    *,
    test_patch: Content | None = None,
    gold_patch: Content | None = None,
    command: str | None = None,
    language: str | None = None,
) -> Classification:
    """Classifies the logs of Base, Before and After; needs no engine.

    Each log is a ParsedLog, the content as bytes or str, or a path object for a file; a patch is
    the content or a path object. With 'auto' the runner is found once, in the first log that tells,
    and read in all.

    Raises InvalidInputError for an unknown parser or where no runner is recognised.
    """

def make(
    repo: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    base: str | None = None,
    head: str | None = None,
    pr: int | None = None,
    instance_id: str | None = None,
    problem: str | os.PathLike[str] | None = None,
    engine: Literal["auto", "docker", "local"] = "auto",
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    trust: bool = False,
    repeats: int = 1,
) -> MakeReport:
    """Makes one merged pull request into a verified instance, or says why it is none.

    `repo` is a clone's path or an address to clone from. The pull request is `base` and `head`
    (revisions), or `pr` (its number, found in the clone). `problem` is a file with the problem
    statement; `engine` is 'auto', 'docker' or 'local'; `config` is a path to an atlas.toml or its
    content as a mapping, and no file is read unasked. Artefacts and `dataset.jsonl` go below `out`.
    `trust` lets the repository's code run where nothing keeps it apart from this machine. Each state
    runs `repeats` times; tests that do not repeat are set aside.

    Runs detached from Python's lock. Ctrl-C, which Python hears in its main thread, ends the step in
    flight, cleans up and raises KeyboardInterrupt; the same call later goes on from there.

    A rejected pull request is a report, not an exception. Raises AtlasError for what is no property
    of the pull request: a commit that is not there, a dead engine, a full disk.
    """

def validate(
    dataset: str | os.PathLike[str],
    *,
    instances: Sequence[str] | None = None,
    repos: str | os.PathLike[str] | None = None,
    gates: Sequence[str] | None = None,
    keep_going: bool = False,
    runs: int | None = None,
    null_runs: int = 1,
    perturbations: Sequence[str] = (),
    perturbed_runs: int = 1,
    sequential: float | None = None,
    tolerate: float = 0.0,
    power: float = 0.95,
    builds: int = 3,
    strength_runs: int = 40,
    min_strength: float = 0.0,
    concurrency: int = 1,
    jobs: int = 1,
    engine: Literal["auto", "docker", "local"] = "auto",
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    trust: bool = False,
) -> ValidateReport:
    """Puts the instances of a dataset through quality gates.

    `dataset` is a file of JSON lines or one JSON list; `instances` names those wanted, default all.
    `repos` is a clone or a folder of clones; without it the clone is used that `make` used beside the
    dataset. `gates` names gates in order, default all: integrity, oracle_consistency, gold_patch,
    null_patch, strength, environment_determinism; the first that rejects an instance ends its way
    unless `keep_going`. `runs` identical runs of After (default 3, or as many as `sequential` may need),
    `null_runs` of the empty prediction,
    `perturbed_runs` under each of `perturbations` (order, parallelism, clock, timezone, locale, load,
    network), `builds` from scratch, at most `strength_runs` without parts of the gold patch.
    `sequential` is a fail rate: runs stop as soon as every test is decided at it, for rates up to
    `tolerate` as stable, with `power`. `concurrency` runs of an instance go on at once, and `jobs`
    instances. `engine`, `config` and `trust` are those of `make`. Reports go below `out`, default the
    dataset's folder.

    Runs detached from Python's lock. Ctrl-C ends the runs in flight, cleans up and raises
    KeyboardInterrupt; the same call later goes on from there.

    A rejected instance is a part of the report, and so is what goes wrong with one instance. Raises
    AtlasError for a dataset that cannot be read, wrong options, a dead engine.
    """

def grade(
    log: ParsedLog, *, fail_to_pass: Sequence[str], pass_to_pass: Sequence[str]
) -> Grade:
    """Grades one run against the lists of an instance.

    Only a test that the log names as passing passes; the worst status of an id counts. The result has
    `resolution` (RESOLVED_FULL, RESOLVED_PARTIAL or RESOLVED_NO), `FAIL_TO_PASS` and `PASS_TO_PASS`
    (each with `success` and `failure`), and `failed_by_name`, the tests of either list that the log
    names as failing.
    """
