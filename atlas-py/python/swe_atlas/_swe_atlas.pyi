"""Types of the native module; import from `swe_atlas`."""

import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar, final, overload

from swe_atlas.types import (
    BeforeFailureExtent,
    Cause,
    CompatGrade,
    Content,
    DatasetDiff,
    Diagnosis,
    Duplicates,
    EvalVerdict,
    Evidence,
    FunnelStep,
    Grade,
    GradeChange,
    Harness,
    InputFault,
    InstanceReport,
    InstanceVerdict,
    Isolation,
    Kind,
    LeaderboardTable,
    Ledger,
    LintFinding,
    LogWarning,
    Loss,
    LostModule,
    MakeOutcome,
    Mode,
    ModuleFailure,
    Outcome,
    PassAtK,
    PatchFault,
    RegradedInstance,
    RowFault,
    RunOutcome,
    RunReport,
    Schema,
    ScoreBounds,
    Seconds,
    Stage,
    Status,
    Totals,
    Transition,
)

__all__ = [
    "Classification",
    "Conversion",
    "Dataset",
    "EvalReport",
    "Instance",
    "Leaderboard",
    "LintReport",
    "MakeReport",
    "ParsedLog",
    "Prediction",
    "Predictions",
    "RegradeReport",
    "Row",
    "ValidateReport",
    "__version__",
    "_error_kinds",
    "_raise",
    "classify",
    "convert",
    "diagnose_patch",
    "diff_datasets",
    "evaluate",
    "examine_patch",
    "grade",
    "grade_compat",
    "leaderboard",
    "lint",
    "make",
    "parse_log",
    "parse_log_compat",
    "pass_at_k",
    "read_dataset",
    "read_predictions",
    "regrade",
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
    def faults(self) -> list[InputFault]:
        """What is wrong with the dataset's rows, each with `file`, `line`, `field` and `message`: they were
        left out, and the others looked at.
        """

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
        """Instances at which something went wrong, and faults of the dataset."""

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

@final
class Row:
    """One row of a dataset, in whichever schema of the field.

    A mapping from column to value, like the row as a dict. Immutable. A row that was read is written
    back byte for byte. `Instance.from_dict(row)` gives the columns of a SWE-bench row as attributes.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def instance_id(self) -> str:
        """The row's name: `instance_id`, or what the schema has in its place."""

    @property
    def place(self) -> str | None:
        """Where it was read, as 'file:line'; None for a row that was made."""

    @classmethod
    def from_json(cls, text: str) -> Row:
        """Reads one row: a JSON object that a column names.

        Raises InvalidInputError where no column names the row.
        """

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Row:
        """Takes a row from a mapping whose values are plain JSON values.

        Raises InvalidInputError where no column names the row.
        """

    def to_json(self) -> str:
        """The row as JSON, as it was read."""

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
class Dataset:
    """The rows of a dataset, and what was wrong with others.

    Made by `read_dataset`, `convert` and `Dataset.from_rows`. Immutable: a sequence of rows, which can
    also be had by name. What is written has the bytes that were read.
    """

    @property
    def rows(self) -> list[Row]:
        """The rows that could be read, in order."""

    @property
    def faults(self) -> list[RowFault]:
        """What could not be read, and what deserves a look."""

    @property
    def schema(self) -> Schema | None:
        """The schema of the rows; None where there are no rows, or rows of none or of several."""

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, Any] | Row]) -> Dataset:
        """Takes rows from mappings whose values are plain JSON values.

        Raises InvalidInputError where no column names a row.
        """

    def to_bytes(self) -> bytes:
        """The file again, byte for byte; one row a line for a dataset that was no file."""

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the dataset: a file by its extension ('.json' a list, else one row a line), or a folder
        for tasks that are folders.
        """

    def __len__(self) -> int: ...
    def __getitem__(self, key: int | str, /) -> Row: ...
    def __iter__(self) -> Iterator[Row]: ...

@final
class Prediction:
    """One candidate patch, as it was written.

    A mapping from column to value, like the prediction as a dict. Immutable.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def instance_id(self) -> str:
        """Which instance it is for."""

    @property
    def model_name_or_path(self) -> str | None:
        """Who made it; None where it does not say."""

    @property
    def model_patch(self) -> str | None:
        """The patch; None where it is absent or null, which an empty text is not."""

    @classmethod
    def from_dict(cls, prediction: Mapping[str, Any]) -> Prediction:
        """Takes a prediction from a mapping whose values are plain JSON values.

        Raises InvalidInputError where it names no instance, or its patch is no text.
        """

    def to_json(self) -> str:
        """The prediction as JSON, as it was read."""

    def to_dict(self) -> dict[str, Any]:
        """The prediction as a dict."""

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
    @classmethod
    def _restore(cls: type[_T], state: str) -> _T: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class Predictions:
    """Predictions, and what was wrong with others.

    Made by `read_predictions`. Immutable: a sequence of predictions. Of two for one instance both are
    there.
    """

    @property
    def predictions(self) -> list[Prediction]:
        """The predictions that could be read, in order."""

    @property
    def faults(self) -> list[RowFault]:
        """What could not be read, and instances that are there twice."""

    def to_bytes(self) -> bytes:
        """The file again, byte for byte."""

    def __len__(self) -> int: ...
    def __getitem__(self, at: int, /) -> Prediction: ...
    def __iter__(self) -> Iterator[Prediction]: ...

@final
class EvalReport:
    """What evaluating predictions came to, model by model and prediction by prediction.

    Made by `evaluate`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def run_id(self) -> str:
        """The run's name."""

    @property
    def mode(self) -> Mode:
        """By whose rules."""

    @property
    def resolved_ids(self) -> list[str]:
        """Instances that are resolved, by whichever model; those of one model are in its report."""

    @property
    def verdicts(self) -> list[EvalVerdict]:
        """The verdicts, by model and instance."""

    @property
    def reports(self) -> dict[str, RunReport]:
        """Model -> the report that the harness writes of a run."""

    @property
    def bounds(self) -> dict[str, ScoreBounds]:
        """Model -> bounds of its score: what infrastructure lost counts as failed in the lower one and as
        resolved in the upper.
        """

    @property
    def causes(self) -> dict[Cause, int]:
        """Why predictions are not resolved, of all models together: cause -> number."""

    @property
    def faults(self) -> list[InputFault]:
        """What was wrong with the inputs."""

    @property
    def ledger(self) -> Ledger:
        """What it cost: jobs and seconds."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas eval --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def __eq__(self, value: object, /) -> bool: ...
    @classmethod
    def _restore(cls: type[_T], state: str) -> _T: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class RegradeReport:
    """Stored logs, graded again.

    Made by `regrade`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def mode(self) -> Mode:
        """By whose rules."""

    @property
    def resolved_ids(self) -> list[str]:
        """Instances that the first model resolved."""

    @property
    def instances(self) -> list[RegradedInstance]:
        """Each instance with its model, its log, what the harness would write and Atlas's verdict."""

    @property
    def instance_reports(self) -> dict[str, InstanceReport]:
        """Instance -> its report, as the harness writes it."""

    @property
    def bounds(self) -> ScoreBounds:
        """Bounds of the score."""

    @property
    def changes(self) -> list[GradeChange]:
        """What the rules that were compared with see differently, test by test."""

    @property
    def faults(self) -> list[InputFault]:
        """What was wrong with the inputs."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas regrade --format json` prints: the harness's
        report of the run, and the attributes of this object.
        """

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def __eq__(self, value: object, /) -> bool: ...
    @classmethod
    def _restore(cls: type[_T], state: str) -> _T: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class Conversion:
    """A dataset in another schema, and what that schema does not carry as it was.

    Made by `convert`. Immutable; every attribute gives fresh plain values.
    """

    @property
    def dataset(self) -> Dataset:
        """The rows in the new schema."""

    @property
    def from_schema(self) -> Schema:
        """The schema of the rows as they were."""

    @property
    def to_schema(self) -> Schema:
        """The schema they have now."""

    @property
    def losses(self) -> list[Loss]:
        """What the new schema does not carry as it was, by row and column."""

    @property
    def faults(self) -> list[RowFault]:
        """Rows that could not be read, and what deserves a look."""

    def to_dict(self) -> dict[str, Any]:
        """What was lost, as plain values, equal to what `atlas convert --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

@final
class LintReport:
    """What is wrong with a dataset's rows.

    Made by `lint`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def rows(self) -> int:
        """How many rows could be read."""

    @property
    def findings(self) -> list[LintFinding]:
        """What is wrong with these, in the order of the rows."""

    @property
    def faults(self) -> list[RowFault]:
        """Rows that could not be read, and what deserves a look."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas lint --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def __eq__(self, value: object, /) -> bool: ...
    @classmethod
    def _restore(cls: type[_T], state: str) -> _T: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class Leaderboard:
    """Models side by side.

    Made by `leaderboard`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def leaderboard(self) -> LeaderboardTable:
        """The table: `k`, `instances`, `columns`, `column_instances` and `rows`, the best model first."""

    @property
    def pass_at_k(self) -> dict[str, PassAtK]:
        """Model -> pass@k for every `k`, overall and by language, domain and repository."""

    def to_markdown(self) -> str:
        """The table as Markdown."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas leaderboard --format json` prints."""

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

def read_dataset(
    path: str | os.PathLike[str],
    *,
    split: str | None = None,
) -> Dataset:
    """Reads a dataset: a JSON file (one row a line, a list, a dict), a folder of tasks, or a folder with
    one such file a split, which `split` names.

    A row that cannot be used is one of `faults`, with file, line, column and the way out, and the rest
    goes on. Raises AtlasError for what cannot be read at all.
    """

def read_predictions(
    path: str | os.PathLike[str],
) -> Predictions:
    """Reads predictions: a JSON list, a JSON dict by instance, or one object a line.

    What is no prediction is one of `faults`, and the rest goes on; whether an instance exists is not
    looked at. Raises AtlasError for a file that cannot be read at all.
    """

def convert(
    dataset: Dataset | str | os.PathLike[str],
    to: Schema,
    *,
    schema: Schema | None = None,
    out: str | os.PathLike[str] | None = None,
    image_namespace: str = "swebench",
    keep_source: bool = True,
) -> Conversion:
    """Writes a dataset, or its path, in another schema of the field.

    `to` is swebench4, swebench5, swebench5-tasks, swebenchpp, swebenchpp-delivery, multi-swebench,
    swebench-live, swebench-pro, swe-rebench, swe-smith, r2e or harbor; `schema` is that of the rows,
    default told from them. With `out` the result is written there too: a file by its extension, or a
    folder for tasks. `image_namespace` is the registry namespace of images that are named by rule.

    What the new schema has no place for goes into a column `_atlas_source`, so that the way back gives
    the same bytes, unless `keep_source` is off. Raises InvalidInputError for an unknown schema, or where
    that of the rows cannot be told.
    """

def lint(
    dataset: Dataset | str | os.PathLike[str],
    *,
    schema: Schema | None = None,
    ignore: Sequence[str] = (),
    repos: str | os.PathLike[str] | None = None,
) -> LintReport:
    """Looks for faults in the rows of a dataset, or of its path.

    `schema` is that of all rows, default told from each. `ignore` names codes that are not reported.
    `repos` is a clone or a folder of clones: the patches are tried in them, which takes git.

    Each finding has a code, a severity (note, warning or fatal), the row, the column and the way out.
    Raises InvalidInputError for an unknown schema or code.
    """

def diff_datasets(
    first: Dataset | str | os.PathLike[str],
    second: Dataset | str | os.PathLike[str],
) -> DatasetDiff:
    """Compares two datasets by the names of their rows, each a Dataset or a path.

    The order of rows and columns is no difference, nor is how a value is spelled; lists of tests and
    patches are compared by what they mean, in whichever schema.
    """

def evaluate(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | Predictions | Mapping[str, Any] | Iterable[Mapping[str, Any] | Prediction],
    run_id: str,
    *,
    mode: Mode = "strict",
    instance_ids: Sequence[str] | None = None,
    engine: Literal["auto", "docker", "local"] = "auto",
    jobs: int = 1,
    timeout: int | None = None,
    out: str | os.PathLike[str] = ".",
    repos: str | os.PathLike[str] | None = None,
    canaries: bool = True,
    network: Literal["none", "full"] | None = None,
    results: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    trust: bool = False,
    fresh_canaries: bool = False,
) -> EvalReport:
    """Runs predictions against the instances of a dataset and grades them.

    `dataset` is a file or a folder of tasks. `predictions` is a path, 'gold' (the rows' own patches),
    'null' (empty ones), what `read_predictions` gave, or what would stand in such a file: mappings with
    `instance_id`, `model_name_or_path` and `model_patch`, or a dict of them by instance. `run_id` names a folder and nothing more: results are shared
    by content, so what was run before, by whichever run, is not run again.

    `mode` says by whose rules: 'strict', 'compat-swebench5', 'compat-swebench4' or 'compat-swebenchpp'.
    `jobs` instances go on at once; a run of tests ends after `timeout` seconds, default the
    configuration's. `repos` is a clone or a folder of clones, for rows without an image. `canaries` runs
    the gold patch first with tests that must pass and must fail; with `fresh_canaries` their names are this run's own, and
    strict mode shares no results with runs of other names. `network` is 'none' or 'full', default
    none in strict mode and full in the others. `results` is where results are kept, default the user's
    cache folder. `engine`, `config` and `trust` are those of `make`. What the SWE-bench harness leaves,
    `logs/run_evaluation` and `<model>.<run_id>.json`, goes below `out`, with a `verdict.json` beside each
    `report.json`.

    Runs detached from Python's lock. Ctrl-C ends the runs in flight, cleans up and raises
    KeyboardInterrupt; the same call later goes on from there.

    A prediction that fails is a part of the report, and so is what goes wrong with one row or one
    instance. Raises AtlasError for inputs that cannot be read at all, wrong options, a dead engine.
    """

def regrade(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | Predictions | Mapping[str, Any] | Iterable[Mapping[str, Any] | Prediction],
    logs: str | os.PathLike[str],
    *,
    mode: Mode = "strict",
    against: Mode | None = None,
    instance_ids: Sequence[str] | None = None,
) -> RegradeReport:
    """Grades stored logs again, by any rules; needs no engine.

    `logs` is a folder with `<instance>/test_output*.txt` at any depth, such as a harness leaves.
    `predictions` and `mode` are those of `evaluate`; `against` names other rules, and what they see
    differently is told test by test.

    A log that cannot be read, or is there twice, is one of `faults`, and its prediction is without
    evidence. Raises AtlasError for inputs that cannot be read at all.
    """

def parse_log_compat(
    harness: Harness,
    parser: str,
    log: Content,
    *,
    version: str = "",
    instance_id: str = "",
    repo: str = "",
    test_cmd: str = "",
    language: str = "",
) -> dict[str, str]:
    """Reads a log as a released harness does, its mistakes included.

    `harness` is 'swebench5', 'swebench4' or 'swebenchpp'; `parser` is what it goes by: a row's
    `log_parser`, the name of the function that its table has for a repository, or a `log_parser_name`
    of SWE-Bench++, which goes by the `language` too. `log` is what the harness hands to its function.
    The other arguments are columns of the row, which some readers ask for.

    Raises CompatFault where the harness's reader raises or there is none; its text is that exception.
    """

def grade_compat(
    harness: Harness,
    row: Mapping[str, Any] | Instance | Row,
    log: Content | None,
    *,
    patch: str | None,
    stage: Stage = "tested",
    instance_log: Content | None = None,
    read: Callable[[str], Mapping[str, str]] | None = None,
) -> CompatGrade:
    """Grades the stored log of one prediction as a released harness does.

    `harness` is 'swebench5', 'swebench4' or 'swebenchpp'; `row` is the instance as a mapping. `log` is
    the log of the tests, None where none was written; `patch` is the prediction's patch, None where it
    is null. `stage` says how far the run came: 'tested', 'timed_out', 'not_applied' or 'not_started'.
    `instance_log` is the harness's own log, which SWE-bench 5 searches for reasons. `read` takes the
    test output and gives name -> status, in place of the reader that the harness takes for the row.

    The result has `report` (what the harness writes to `report.json`, None where it writes nothing),
    `resolution`, `outcome` (where the run's report counts it: completed, empty_patch or error), `infra`,
    `statuses` and `why`. Raises InvalidInputError naming a column that cannot be used.
    """

def examine_patch(
    patch: Content,
) -> list[PatchFault]:
    """What is wrong with a patch, or noteworthy in it, as far as its text alone tells.

    `patch` is the content as bytes or str, or a path object. Each fault has a kind, the line and file
    where they can be named, what was found, what would mend it, and whether it `breaks`: whether
    `git apply` refuses the patch for it.
    """

def diagnose_patch(
    repo: str | os.PathLike[str],
    base: str,
    patch: Content,
    mode: Mode = "strict",
) -> Diagnosis:
    """Tells why a patch does or does not apply to a commit of a clone, by the rules of a mode, and what
    would mend it.

    `patch` is the content as bytes or str, or a path object; `mode` is one of `evaluate`'s. The result
    has `applies`, `tries` (each command with what it said), `faults` as `examine_patch` gives them, and
    `mended`: the same changes written so that `git apply` takes them (`patch`, as str, or bytes where it
    is no UTF-8) and `how`, or None. Nothing is graded by a mended patch.

    Raises AtlasError for a clone or commit that is not there.
    """

def leaderboard(
    dataset: Dataset | str | os.PathLike[str],
    reports: Iterable[str | os.PathLike[str]] | Mapping[str, Iterable[str | os.PathLike[str] | Mapping[str, Any]]],
    *,
    k: Sequence[int] = [1],
) -> Leaderboard:
    """Compares models by pass@k from their run reports.

    `dataset` is a Dataset or a path; every instance of it counts for every model, predicted or not.
    `reports` are paths of run reports, whose names begin with the model, or a mapping from model to a
    list of reports, each a path or a mapping such as `EvalReport.reports` holds. Several reports of one
    model are several predictions. `k` has the k of pass@k; the first one orders the table.
    """

def pass_at_k(
    n: int,
    c: int,
    k: int,
) -> float | None:
    """The chance that at least one of `k` predictions, drawn from `n` of which `c` are resolved, is
    resolved: the field's estimator, without bias. None where it is not defined: `c` or `k` over `n`.
    """
