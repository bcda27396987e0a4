"""Types of the native module; import from `swe_atlas`."""

import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar, final, overload

from typing_extensions import Unpack

from swe_atlas.protocols import (
    CodeHost,
    EnvSynthesizer,
    Judge,
    LogParser,
    Oracle,
    Sandbox,
    Validator,
)
from swe_atlas._progress import ProgressEvent
from swe_atlas.types import (
    AbstainResult,
    AskOptions,
    AtK,
    AttemptResult,
    AttemptSummary,
    AuditCount,
    BeforeFailureExtent,
    Beyond,
    BugRuns,
    Cause,
    CheckedFile,
    ChoiceReport,
    ClassTable,
    CompatGrade,
    Confirmation,
    Content,
    CorrelationSummary,
    CriticAggregate,
    CriticResult,
    DatasetDiff,
    Diagnosis,
    Distribution,
    Duplicates,
    EvalVerdict,
    Evidence,
    FailedItem,
    FalsePositiveRates,
    FittedThreshold,
    FunnelStep,
    Grade,
    GradeChange,
    GradedLog,
    GridThreshold,
    Harness,
    InputFault,
    InstanceReport,
    InstanceVerdict,
    Isolation,
    JudgeResult,
    Kind,
    LabelMass,
    LeaderboardTable,
    Ledger,
    LintFinding,
    LogWarning,
    Loss,
    LostModule,
    MakeOutcome,
    Mode,
    ModelAnswer,
    ModelLedger,
    ModuleFailure,
    NetValue,
    Outcome,
    PassAtK,
    PatchFault,
    PercentileDecision,
    PrecisionRecallCurve,
    RandomBaseline,
    RegradedInstance,
    Reliability,
    ReviewResult,
    ReviewStep,
    RiskCoverage,
    RowFault,
    RunOutcome,
    RunReport,
    Schema,
    ScoreBounds,
    SecondWitness,
    Seconds,
    SourceReport,
    Stage,
    Status,
    TestPrediction,
    Totals,
    Transition,
    TypedBug,
    Vote,
    Yields,
)

__all__ = [
    "AbstainReport",
    "Analysis",
    "AttemptReport",
    "AuditReport",
    "Classification",
    "Conversion",
    "CriticReport",
    "Dataset",
    "EvalReport",
    "Instance",
    "JudgeReport",
    "Leaderboard",
    "LintReport",
    "MakeReport",
    "NativeEvaluator",
    "NativeRoom",
    "NativeSession",
    "ParsedLog",
    "Prediction",
    "Predictions",
    "RegradeReport",
    "ReviewReport",
    "Row",
    "SynthParserReport",
    "Tools",
    "Table",
    "ValidateReport",
    "__version__",
    "_attempt",
    "_check",
    "_command_line",
    "_error_kinds",
    "_prelude",
    "_raise",
    "_verdict_html",
    "abstain",
    "aggregate_critic",
    "audit",
    "average_precision",
    "average_ranks",
    "binomial_quantile",
    "bootstrap_mean",
    "bootstrap_mean_with",
    "bootstrap_ratio",
    "brier_score",
    "certify_parser",
    "check",
    "choose",
    "classify",
    "confusion",
    "convert",
    "cosine",
    "critic",
    "diagnose_patch",
    "diff_datasets",
    "distribution",
    "evaluate",
    "examine_patch",
    "expected_net_value",
    "f1_of",
    "false_positive_rates",
    "filtered_success_at_k",
    "grade",
    "grade_compat",
    "grade_log",
    "grid_threshold",
    "hints",
    "implied_precision",
    "implied_prevalence",
    "judge",
    "judge_attempts",
    "label_mass",
    "leaderboard",
    "lift_by_type",
    "lint",
    "majority_vote",
    "make",
    "mean_at_k",
    "measure",
    "no_skill_precision",
    "normalise_identifiers",
    "paired_differences",
    "parse_log",
    "parse_log_compat",
    "pass_and_validation_at_k",
    "pass_at_k",
    "patch_correctness_score",
    "percentile",
    "percentile_decision",
    "policies_report",
    "precision_recall_curve",
    "random_baseline",
    "read_dataset",
    "read_predictions",
    "regrade",
    "reliability",
    "review",
    "risk_coverage",
    "source",
    "spearman",
    "summarise_correlations",
    "synth_parser",
    "threshold_for_precision",
    "validate",
    "validation_recall_at_k",
    "wasserstein_1",
    "yields",
]

_T = TypeVar("_T")
_Progress = bool | Callable[[ProgressEvent], object] | None

__version__: str

def _command_line(words: list[str]) -> int: ...
def _error_kinds() -> list[tuple[str, str | None]]:
    """Every error kind with the name of its exception class, for the test that finds unmapped ones."""

def _raise(kind: str) -> None:
    """Raises an error of that kind, for the same test."""

def _verdict_html(verdict: str) -> str:
    """What a notebook shows of a verdict, given as JSON."""

@final
class Table:
    """Rows with columns, as reports give them: for `pandas.DataFrame.from_arrow`, `polars.DataFrame`, `pyarrow.table`, SQL of
    DuckDB, and whatever else knows the Arrow PyCapsule interface.

    Texts, numbers, truths and lists of texts are columns of these; what has parts of its own is JSON text. Immutable.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order of their first appearance."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dicts, with parts as they are."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """The rows as a stream of Arrow; for data frames. A schema that is asked for is not heeded."""

    def __arrow_c_schema__(self) -> Any:
        """The schema of that stream."""

    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __eq__(self, value: object, /) -> bool: ...
    @classmethod
    def _restore(cls: type[_T], state: str) -> _T: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

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

    def to_svg(self) -> str | None:
        """A drawing as SVG: tests by status. None where there is no test.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self) -> Table:
        """The tests for data frames: `test` (as in `tests`) and `status`."""

    def _repr_html_(self) -> str: ...
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
    def gold_only(self) -> dict[str, str]:
        """Tests that exist only through the gold patch, each with what shows it: in neither list."""

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

    def to_svg(self) -> str | None:
        """A drawing as SVG: tests by transition. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `transitions`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
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
    def gold_only(self) -> dict[str, str]:
        """Tests that exist only through the gold patch, each with what shows it: in neither list."""

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

    @property
    def confirmation(self) -> Confirmation | None:
        """What further runs said of the tests that define the task; None where none were made."""

    @property
    def second_witness(self) -> SecondWitness | None:
        """What the runner's structured reports say beside the console; None where no state ran."""

    @property
    def model(self) -> dict[str, Any] | None:
        """What the model was asked and cost, for plan, parser and injection together; None without a model."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas make --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def to_svg(self) -> str | None:
        """A drawing as SVG: seconds by step. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    @classmethod
    def _restore(cls: type[_T], state: str) -> _T: ...
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

    def _repr_html_(self) -> str: ...
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

    def to_svg(self) -> str | None:
        """A drawing as SVG: how many instances come to each gate, and how many it lets through. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `instances`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
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

    def _repr_html_(self) -> str: ...
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

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """The rows as a stream of Arrow, for data frames: a column for each name, in order of first appearance.

        Texts, numbers, truths and lists of texts are columns of these; what has parts of its own is JSON text, and in a column
        of several kinds texts stay as they are. Rows are copied as the stream is read, a batch at a time. A schema that is
        asked for is not heeded.
        """

    def __arrow_c_schema__(self) -> Any:
        """The schema of that stream."""

    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: int | str, /) -> Row: ...
    def __iter__(self) -> Iterator[Row]: ...
    @classmethod
    def _restore(cls: type[_T], name: str | os.PathLike[str], file: str | os.PathLike[str] | None, bytes: bytes) -> _T: ...
    def __reduce__(self) -> tuple[Any, tuple[pathlib.Path, pathlib.Path | None, bytes]]:
        """A file is kept byte for byte. Raises TypeError for folders of tasks, whose other files are not in memory."""


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

    def _repr_html_(self) -> str: ...
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

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """The rows as a stream of Arrow, for data frames: a column for each name, in order of first appearance.

        Texts, numbers, truths and lists of texts are columns of these; what has parts of its own is JSON text, and in a column
        of several kinds texts stay as they are. Rows are copied as the stream is read, a batch at a time. A schema that is
        asked for is not heeded.
        """

    def __arrow_c_schema__(self) -> Any:
        """The schema of that stream."""

    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, at: int, /) -> Prediction: ...
    def __iter__(self) -> Iterator[Prediction]: ...
    @classmethod
    def _restore(cls: type[_T], file: str | os.PathLike[str], bytes: bytes) -> _T: ...
    def __reduce__(self) -> tuple[Any, tuple[pathlib.Path, bytes]]:
        """The file is kept byte for byte."""


@final
class NativeRoom:
    """The room of a Python agent. `swe_atlas.Room` is its face."""

    def ask(self, request: str) -> str: ...
    def ended(self, status: str | None) -> None: ...
    def raised(self, why: str) -> None: ...

def _attempt(
    dataset: str | os.PathLike[str],
    agent: str | Callable[..., Any],
    run_id: str,
    options: dict[str, Any],
    config: str | os.PathLike[str] | Mapping[str, Any] | None,
) -> Any:
    """The same as `swe_atlas.attempt`, which is its face: options come as one mapping."""

@final
class NativeEvaluator:
    """Instances of a dataset, opened once. `swe_atlas.Evaluator` is its face."""

    def __new__(
        cls,
        dataset: str | os.PathLike[str],
        run_id: str,
        out: str | os.PathLike[str],
        instance_ids: Sequence[str] | None,
        engine: str,
        repos: str | os.PathLike[str] | None,
        results: str | os.PathLike[str] | None,
        config: str | os.PathLike[str] | Mapping[str, Any] | None,
        trust: bool,
        canaries: bool,
        timeout: int | None,
        session_seconds: int,
        parser: str | os.PathLike[str] | LogParser | None,
        sandbox: Sandbox | None,
    ) -> NativeEvaluator: ...
    def instance_ids(self) -> list[str]: ...
    def faults(self) -> Any: ...
    def instance(self, id: str) -> Instance | None: ...
    def prepare(self, id: str) -> None: ...
    def grade(self, id: str, patch: str, model: str) -> Any: ...
    def session(self, id: str) -> NativeSession: ...
    def close(self) -> None:
        """Lets go of everything; sessions that are open stay so."""

@final
class NativeSession:
    """A session in an instance's environment. `swe_atlas.Session` is its face."""

    @property
    def instance_id(self) -> str: ...
    def run(self, command: str, seconds: int, output_bytes: int) -> dict[str, Any]: ...
    def diff(self) -> str: ...
    def fork(self) -> NativeSession: ...
    def isolation(self) -> Any: ...
    def close(self) -> None: ...

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

    def to_svg(self) -> str | None:
        """A drawing as SVG: predictions by what became of them. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `verdicts`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
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

    def to_svg(self) -> str | None:
        """A drawing as SVG: predictions by what became of them. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `instances`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
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
    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `losses`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
    @classmethod
    def _restore(cls: type[_T], dataset: Dataset, report: str) -> _T: ...
    def __reduce__(self) -> tuple[Any, tuple[Dataset, str]]: ...


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

    def to_svg(self) -> str | None:
        """A drawing as SVG: findings by code. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `findings`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
    def __eq__(self, value: object, /) -> bool: ...
    @classmethod
    def _restore(cls: type[_T], state: str) -> _T: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class AuditReport:
    """What is wrong with a dataset, row by row and kind by kind.

    Made by `audit`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def rows(self) -> int:
        """How many rows could be read."""

    @property
    def rows_with_findings(self) -> int:
        """How many of them have a finding that is more than a note."""

    @property
    def counts(self) -> dict[str, AuditCount]:
        """Code -> its severity, how many rows have it, and what it means."""

    @property
    def findings(self) -> list[LintFinding]:
        """What is wrong with each, in the order of the rows."""

    @property
    def faults(self) -> list[RowFault]:
        """Rows that could not be read, and what deserves a look."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas audit --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def to_svg(self) -> str | None:
        """A drawing as SVG: findings by code. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `findings`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
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

    def to_svg(self) -> str | None:
        """A drawing as SVG: pass@k by model, in percent; of one k with its interval, of several the first four side by side. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self) -> Table:
        """The table's rows for data frames, the best model first."""

    def _repr_html_(self) -> str: ...
    def __eq__(self, value: object, /) -> bool: ...
    @classmethod
    def _restore(cls: type[_T], state: str) -> _T: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

def parse_log(
    log: Content,
    parser: str | LogParser = "auto",
    *,
    command: str | None = None,
    language: str | None = None,
) -> ParsedLog:
    """Reads a test runner's log.

    `log` is the content as bytes or str, or a path object for a file, which is read in pieces.
    `parser` is a parser's id ('pytest'), a harness's name for one ('parse_log_pytest'), an object of the protocol
    `LogParser`, which is called in this thread, or 'auto': then `command` (the test command) and `language` help to find it.

    Raises InvalidInputError for an unknown parser or, with 'auto', where no runner is recognised.
    """

def source(
    hosts: Sequence[CodeHost],
    *,
    out: str | os.PathLike[str],
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
) -> SourceReport:
    """Asks hosts for merged pull requests and writes those that pass the filters (paper 001, section 3.1).

    `hosts` are objects of the protocol `CodeHost`, asked one after the other, and behind them the sources of `config`
    (`[source]`, with its filters). Candidates go to `out`, one JSON object a line, which `make(candidate=…)` takes; beside it
    stand all that was told and what the filters did. The same call again asks for what is new or changed since.

    Gives what `atlas source --format json` prints. Runs detached from Python's lock. Ctrl-C ends it after the page in
    flight and raises KeyboardInterrupt. Raises AtlasError for a host that refuses and files that cannot be written.
    """

def _prelude(places: dict[str, str], variables: list[dict[str, str]], laid: list[str]) -> str: ...
def _check(what: str, object: Any, options: dict[str, Any]) -> Any: ...
@final
class Tools:
    """How a method asks something of the run that calls it. `swe_atlas.protocols` has its faces."""

    def ask(self, name: str, arguments: dict[str, Any]) -> Any: ...

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
    repo: str | os.PathLike[str] | None = None,
    *,
    out: str | os.PathLike[str],
    base: str | None = None,
    head: str | None = None,
    pr: int | None = None,
    instance_id: str | None = None,
    problem: str | os.PathLike[str] | None = None,
    engine: Literal["auto", "docker", "local"] = "auto",
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: _Progress = None,
    trust: bool = False,
    repeats: int = 1,
    confirm: int | None = None,
    scope: Literal["full", "package", "touched", "auto"] | None = None,
    candidate: Mapping[str, Any] | None = None,
    parser: str | os.PathLike[str] | LogParser | None = None,
    synthesizer: EnvSynthesizer | None = None,
    oracle: Oracle | None = None,
    sandbox: Sandbox | None = None,
) -> MakeReport:
    """Makes one merged pull request into a verified instance, or says why it is none.

    `repo` is a clone's path or an address to clone from. The pull request is `base` and `head`
    (revisions), or `pr` (its number, found in the clone). `problem` is a file with the problem
    statement; `engine` is 'auto', 'docker' or 'local'; `config` is a path to an atlas.toml or its
    content as a mapping, and no file is read unasked. Artefacts and `dataset.jsonl` go below `out`.
    `trust` lets the repository's code run where nothing keeps it apart from this machine. Each state
    runs `repeats` times; tests that do not repeat are set aside.
    Each test of FAIL_TO_PASS is run `confirm` further times in Before and in After, its files alone, and
    set aside if it contradicts itself; 0 for none, by default the configuration's, 3.
    `scope` is how much of the suite runs: 'full', 'package', 'touched' or 'auto', by default the
    configuration's, 'auto'. `progress` is that of `evaluate`.

    `candidate` is what `source` wrote, one of its lines as a mapping, in the place of `repo`. `parser` is the file of a parser
    or an object of the protocol `LogParser`, in the place of the plan's; `synthesizer`, `oracle` and `sandbox` are objects of the
    protocols `EnvSynthesizer`, `Oracle` and `Sandbox` (`swe_atlas.protocols`), in the place of Atlas's own. What they raise ends the call with
    an exception that says so, and nothing is written of the instance.

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
    gates: Sequence[str | Validator] | None = None,
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
    progress: _Progress = None,
    out: str | os.PathLike[str] | None = None,
    trust: bool = False,
    set_aside_flaky: bool = False,
    parser: str | os.PathLike[str] | LogParser | None = None,
    sandbox: Sandbox | None = None,
) -> ValidateReport:
    """Puts the instances of a dataset through quality gates.

    `dataset` is a file of JSON lines or one JSON list; `instances` names those wanted, default all.
    `repos` is a clone or a folder of clones; without it the clone is used that `make` used beside the
    dataset. `gates` names gates in order, default all: integrity, test_run, oracle_consistency,
    gold_patch, null_patch, strength, environment_determinism; the first that rejects an instance ends its way
    unless `keep_going`. Objects of the protocol `Validator` (`swe_atlas.protocols`) may be among them and run behind the others.
    `parser` and `sandbox` are those of `evaluate`. `runs` identical runs of After (default 3, or as many as `sequential` may need),
    `null_runs` of the empty prediction,
    `perturbed_runs` under each of `perturbations` (order, parallelism, clock, timezone, locale, load,
    network), `builds` from scratch, at most `strength_runs` without parts of the gold patch.
    `sequential` is a fail rate: runs stop as soon as every test is decided at it, for rates up to
    `tolerate` as stable, with `power`. An instance with a test in its lists that differs between
    identical runs is rejected; with `set_aside_flaky` it is kept without it. `concurrency` runs of an instance go on at once, and `jobs`
    instances. `engine`, `config` and `trust` are those of `make`, `progress` is that of `evaluate`. Reports go below `out`, default the
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

def audit(
    dataset: Dataset | str | os.PathLike[str],
    *,
    schema: Schema | None = None,
    ignore: Sequence[str] = (),
    repos: str | os.PathLike[str] | None = None,
    run: bool = False,
    mode: Mode = "strict",
    engine: Literal["auto", "docker", "local"] = "auto",
    jobs: int = 1,
    timeout: int | None = None,
    run_id: str = "audit",
    out: str | os.PathLike[str] = ".",
    results: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: _Progress = None,
    trust: bool = False,
) -> AuditReport:
    """Says what is wrong with published rows: a dataset, or its path.

    Beyond what `lint` finds it looks for statements that give the solution away. `schema` is that of all
    rows, default told from each; `ignore` names codes that are not reported; with `repos`, a clone or a
    folder of clones, the patches are tried in them.

    With `run` each row is also built and run, with its own solution and without any; then `dataset` must be
    a path, and `mode`, `engine`, `jobs`, `timeout` (seconds), `out`, `results`, `config` and `trust` are those
    of `evaluate`. So is `progress`.

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
    progress: _Progress = None,
    trust: bool = False,
    fresh_canaries: bool = False,
    times_gold: int | None = None,
    least_seconds: int | None = None,
    parser: str | os.PathLike[str] | LogParser | None = None,
    sandbox: Sandbox | None = None,
) -> EvalReport:
    """Runs predictions against the instances of a dataset and grades them.

    `dataset` is a file or a folder of tasks. `predictions` is a path, 'gold' (the rows' own patches),
    'null' (empty ones), what `read_predictions` gave, or what would stand in such a file: mappings with
    `instance_id`, `model_name_or_path` and `model_patch`, or a dict of them by instance. `run_id` names a folder and nothing more: results are shared
    by content, so what was run before, by whichever run, is not run again.

    `mode` says by whose rules: 'strict', 'compat-swebench5', 'compat-swebench4' or 'compat-swebenchpp'.
    `jobs` instances go on at once; a run of tests ends after `timeout` seconds, default the
    configuration's; in strict mode also after `times_gold` times (default 10; 0: never) what the gold
    patch took, but not before `least_seconds` (default 120). `repos` is a clone or a folder of clones, for rows without an image. `canaries` runs
    the gold patch first with tests that must pass and must fail; with `fresh_canaries` their names are this run's own, and
    strict mode shares no results with runs of other names. `network` is 'none' or 'full', default
    none in strict mode and full in the others. `results` is where results are kept, default the user's
    cache folder. `engine`, `config` and `trust` are those of `make`. What the SWE-bench harness leaves,
    `logs/run_evaluation` and `<model>.<run_id>.json`, goes below `out`, with a `verdict.json` beside each
    `report.json`.

    `parser`, in strict mode, is the file of a parser or an object of the protocol `LogParser` that reads all logs in the place of the
    rows' own; `sandbox` is an object of the protocol `Sandbox` (`swe_atlas.protocols`). What they raise is the cause of a verdict
    without evidence.

    `progress` hears what the run does: True opens a bar of tqdm, a callable gets dicts with `phase`, `detail`, `done` and
    `total`, in this thread, ten times a second at most; of details between two times it gets the last one. The run waits for it, and
    what it raises ends the run in order and is raised here. By default nothing is shown.

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

def grade_log(
    row: Mapping[str, Any] | Instance | Row,
    log: Content | None,
    *,
    patch: str | None,
    model: str = "",
) -> GradedLog:
    """Grades the stored log of one prediction by Atlas's own rules; needs no engine.

    `row` is the instance as a mapping, `log` the log of the tests with the harness's markers, None where none was
    written; `patch` is the prediction's patch, None where it is null. The log is read by the parser that the row
    names, or by the one of its repository; code of a row is not run.

    The result has `verdict` (as `regrade` gives it), `report` (what a harness writes to `report.json`, None where there is
    nothing to read), `statuses` (SWE-bench id -> worst status) and `is_closed` (whether the harness's marker ends the tests'
    output). Raises InvalidInputError naming a column that cannot be used.
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

# What judges, policies and critics say, and what they are measured by.

@final
class AbstainReport:
    """Which bugs an agent should try, by a model's word before any try (paper 002, section 3.1).

    Made by `abstain`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def out(self) -> pathlib.Path:
        """The file of results, one JSON object a line. What it holds is not asked again by the next run."""

    @property
    def items(self) -> int:
        """Items that were asked for."""

    @property
    def known(self) -> int:
        """Those that earlier runs had done."""

    @property
    def done(self) -> int:
        """Those that this run did."""

    @property
    def failed(self) -> list[FailedItem]:
        """Those that failed, each with `key`, `kind` and `message`; the next run tries them again."""

    @property
    def left(self) -> int:
        """Those that were not begun, or not finished, because the run was stopped."""

    @property
    def stopped(self) -> str | None:
        """Why it was stopped, and how to go on; None if it was not."""

    @property
    def attempt(self) -> int:
        """Instances to attempt."""

    @property
    def abstain(self) -> int:
        """Instances to abstain from."""

    @property
    def features(self) -> dict[str, dict[str, float]]:
        """`attempt` or `abstain` -> averages of the reports' properties, as in paper 002's Table 3."""

    @property
    def results(self) -> list[AbstainResult]:
        """One entry for every instance that has a result: `instance_id`, `label`, `probability`, `source`."""

    @property
    def faults(self) -> list[InputFault]:
        """What is wrong with the inputs."""

    @property
    def ledger(self) -> ModelLedger | None:
        """What was paid in this run: calls, tokens, money, model by model; None without a model."""

    @property
    def complete(self) -> bool:
        """Whether every item has its result."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas abstain --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def to_svg(self) -> str | None:
        """A drawing as SVG: results by label, or what each step of a funnel leaves. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `results`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class ReviewReport:
    """Which candidate patches stand: what tests say, then a model's review (paper 002, section 3.2).

    Made by `review`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def out(self) -> pathlib.Path:
        """The file of results, one JSON object a line. What it holds is not asked again by the next run."""

    @property
    def items(self) -> int:
        """Items that were asked for."""

    @property
    def known(self) -> int:
        """Those that earlier runs had done."""

    @property
    def done(self) -> int:
        """Those that this run did."""

    @property
    def failed(self) -> list[FailedItem]:
        """Those that failed, each with `key`, `kind` and `message`; the next run tries them again."""

    @property
    def left(self) -> int:
        """Those that were not begun, or not finished, because the run was stopped."""

    @property
    def stopped(self) -> str | None:
        """Why it was stopped, and how to go on; None if it was not."""

    @property
    def accepted(self) -> int:
        """Patches that every stage lets through."""

    @property
    def rejected(self) -> int:
        """Patches that a stage rejects."""

    @property
    def abstained(self) -> int:
        """Patches of instances that the abstention policy abstains from."""

    @property
    def funnel(self) -> list[ReviewStep]:
        """What each step leaves of the patches that have a result; empty where it cannot be told, which a note
        explains.
        """

    @property
    def cutoff(self) -> float | None:
        """The lowest score that a percentile lets through; None without one."""

    @property
    def notes(self) -> list[str]:
        """What deserves to be known."""

    @property
    def results(self) -> list[ReviewResult]:
        """One entry for every patch that has a result, with `label`, `score`, `reason` and `shown`."""

    @property
    def faults(self) -> list[InputFault]:
        """What is wrong with the inputs."""

    @property
    def ledger(self) -> ModelLedger | None:
        """What was paid in this run: calls, tokens, money, model by model; None without a model."""

    @property
    def complete(self) -> bool:
        """Whether every item has its result."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas review --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def to_svg(self) -> str | None:
        """A drawing as SVG: results by label, or what each step of a funnel leaves. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `results`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class CriticReport:
    """Whether candidate patches pass their tests, foretold without running anything (paper 004).

    Made by `critic`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def out(self) -> pathlib.Path:
        """The file of results, one JSON object a line. What it holds is not asked again by the next run."""

    @property
    def items(self) -> int:
        """Items that were asked for."""

    @property
    def known(self) -> int:
        """Those that earlier runs had done."""

    @property
    def done(self) -> int:
        """Those that this run did."""

    @property
    def failed(self) -> list[FailedItem]:
        """Those that failed, each with `key`, `kind` and `message`; the next run tries them again."""

    @property
    def left(self) -> int:
        """Those that were not begun, or not finished, because the run was stopped."""

    @property
    def stopped(self) -> str | None:
        """Why it was stopped, and how to go on; None if it was not."""

    @property
    def passing(self) -> int:
        """Patches that are said to pass."""

    @property
    def failing(self) -> int:
        """Patches that are said to fail."""

    @property
    def baseline(self) -> str | None:
        """What ran, by name, where it was a baseline; None for a critic."""

    @property
    def fitted(self) -> FittedThreshold | None:
        """The threshold of likeness, where it was searched for: with its F1, and on which patches."""

    @property
    def results(self) -> list[CriticResult]:
        """One entry for every patch that has a result, with `label` and `progress`."""

    @property
    def faults(self) -> list[InputFault]:
        """What is wrong with the inputs."""

    @property
    def ledger(self) -> ModelLedger | None:
        """What was paid in this run: calls, tokens, money, model by model; None without a model."""

    @property
    def complete(self) -> bool:
        """Whether every item has its result."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas critic --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def to_svg(self) -> str | None:
        """A drawing as SVG: results by label, or what each step of a funnel leaves. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `results`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class JudgeReport:
    """What a judge of paper 001 said of every task: alignment, classes or hints.

    Made by `judge` and `hints`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def out(self) -> pathlib.Path:
        """The file of results, one JSON object a line. What it holds is not asked again by the next run."""

    @property
    def items(self) -> int:
        """Items that were asked for."""

    @property
    def known(self) -> int:
        """Those that earlier runs had done."""

    @property
    def done(self) -> int:
        """Those that this run did."""

    @property
    def failed(self) -> list[FailedItem]:
        """Those that failed, each with `key`, `kind` and `message`; the next run tries them again."""

    @property
    def left(self) -> int:
        """Those that were not begun, or not finished, because the run was stopped."""

    @property
    def stopped(self) -> str | None:
        """Why it was stopped, and how to go on; None if it was not."""

    @property
    def labels(self) -> dict[str, int]:
        """Label -> how many."""

    @property
    def tables(self) -> dict[str, ClassTable]:
        """For classes, the tables of paper 001's appendix E: `code_type`, `issue_type`; else empty."""

    @property
    def results(self) -> list[JudgeResult]:
        """One entry for every instance that has a result: `label`, `reasoning`, and for hints `hint`."""

    @property
    def faults(self) -> list[InputFault]:
        """What is wrong with the inputs."""

    @property
    def ledger(self) -> ModelLedger | None:
        """What was paid in this run: calls, tokens, money, model by model; None without a model."""

    @property
    def complete(self) -> bool:
        """Whether every item has its result."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas judge --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def to_svg(self) -> str | None:
        """A drawing as SVG: results by label, or what each step of a funnel leaves. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `results`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class AttemptReport:
    """Why attempts failed (paper 001, section 3.4, layer 4). No verdict is changed.

    Made by `judge_attempts`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def out(self) -> pathlib.Path:
        """The file of results, one JSON object a line. What it holds is not asked again by the next run."""

    @property
    def items(self) -> int:
        """Items that were asked for."""

    @property
    def known(self) -> int:
        """Those that earlier runs had done."""

    @property
    def done(self) -> int:
        """Those that this run did."""

    @property
    def failed(self) -> list[FailedItem]:
        """Those that failed, each with `key`, `kind` and `message`; the next run tries them again."""

    @property
    def left(self) -> int:
        """Those that were not begun, or not finished, because the run was stopped."""

    @property
    def stopped(self) -> str | None:
        """Why it was stopped, and how to go on; None if it was not."""

    @property
    def labels(self) -> dict[str, int]:
        """Class -> how many: tool_crash, unsupported_dependency, infrastructure, underspecified,
        genuine_failure, undecided.
        """

    @property
    def resolved(self) -> int:
        """Predictions that were left out because they resolve their instance."""

    @property
    def ungraded(self) -> int:
        """Predictions of which nobody said whether they failed; they are looked at as if they had."""

    @property
    def tasks(self) -> dict[str, AttemptSummary]:
        """Instance -> what its failed attempts say about it together."""

    @property
    def results(self) -> list[AttemptResult]:
        """One entry for every attempt that has a result, with `label`, `look_again`, `by` and `reasoning`."""

    @property
    def faults(self) -> list[InputFault]:
        """What is wrong with the inputs."""

    @property
    def ledger(self) -> ModelLedger | None:
        """What was paid in this run: calls, tokens, money, model by model; None without a model."""

    @property
    def complete(self) -> bool:
        """Whether every item has its result."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas judge --question attempts --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def to_svg(self) -> str | None:
        """A drawing as SVG: results by label, or what each step of a funnel leaves. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `results`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class SynthParserReport:
    """A parser that a model wrote for logs that no shipped one knows, and how it came about.

    Made by `synth_parser`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def outcome(self) -> Literal["known", "certified"] | Literal["insufficient", "refused"]:
        """What came of it: 'known' (a shipped parser knows the log; nothing was asked), 'certified', 'insufficient'
        (the logs do not show enough to certify it) or 'refused' (no parser was made that certification takes).
        """

    @property
    def known(self) -> str | None:
        """The shipped parser that knows the log; None if none does."""

    @property
    def parser(self) -> dict[str, Any] | None:
        """The parser as `out` keeps it: a rule set, or `id` and `python`; None if none was made."""

    @property
    def certificate(self) -> dict[str, Any] | None:
        """Its certificate: `decision`, `score`, `reasons` and every kind of check."""

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """The model's answers, each with its `form` and `problems`."""

    @property
    def notes(self) -> list[str]:
        """Why no parser in Python was tried, where one was wanted."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas synth-parser --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `attempts`, or of another list of the report.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class Analysis:
    """What policies and critics reach, from their results.

    Made by `measure` and `policies_report`. Immutable; every attribute gives fresh plain values.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    @property
    def lines(self) -> int:
        """Lines of the results."""

    @property
    def instances(self) -> int:
        """Tasks."""

    @property
    def agents(self) -> dict[str, int]:
        """Who made the patches -> how many."""

    @property
    def kinds(self) -> dict[str, int]:
        """Label of how patches were made -> how many."""

    @property
    def policies(self) -> list[dict[str, Any]]:
        """Policies: over all patches, then, if there are several agents, agent by agent."""

    @property
    def critics(self) -> list[dict[str, Any]]:
        """Critics, by variant."""

    @property
    def progress(self) -> list[dict[str, Any]]:
        """Whether critics, and proxies beside them, respect the progress of patches."""

    @property
    def notes(self) -> list[str]:
        """What the reader must know to read the numbers rightly."""

    def to_markdown(self) -> str:
        """The tables as Markdown, as `atlas metrics` prints them."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what `atlas metrics --format json` prints."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def figures(self) -> dict[str, str]:
        """The drawings of the page of `policies_report` as SVG, by section and title: precision against recall,
        reliability, success by k, what each step leaves, pass rates, and others, as far as there is something to draw.

        Each stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of `policies`, or of another list.

        Raises InvalidInputError for a field that is no list of rows.
        """

    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

def abstain(
    dataset: str | os.PathLike[str],
    *,
    model: str | Sequence[str] | Callable[..., str | ModelAnswer],
    out: str | os.PathLike[str],
    instance_ids: Sequence[str] | None = None,
    representation: Literal["r1", "r2"] = "r2",
    tools: Mapping[str, str] | None = None,
    max_steps: int = 25,
    tau: float = 0.5,
    labels: tuple[str, str] = ("success", "failure"),
    budget: str | None = None,
    jobs: int = 1,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: _Progress = None,
    total_budget: str | None = None,
    batch_poll: float | None = None,
    limits: Mapping[str, int] | None = None,
    ensemble: str | None = None,
    calibrators: Sequence[str] = (),
    roots: Sequence[str] = (),
    **ask: Unpack[AskOptions],
) -> AbstainReport:
    """Asks a model which instances an agent should try at all (paper 002, section 3.1).

    `dataset` is a file or a folder of tasks, `out` the file of results, one JSON object a line: what it
    holds already is not asked again, by this function or by `atlas abstain` with the same options.

    `model` is a text as the command takes it ('openai:NAME', 'llama:http://…', 'replay:FILE',
    'scripted:FILE', a table of `[models]` in `config`), or a callable
    `model(messages, **options) -> str | dict`, called in threads of its own. `messages` are dicts with
    `role` and `content`; `options` are `max_tokens`, `temperature`, `seed`, `top_logprobs` and
    `json_schema`. A dict has `text` and, as far as they are known, `logprobs` (the list that OpenAI's API
    gives for the tokens of an answer), `avg_logprob` (nats), `finish_reason` ('stop', 'length'), `usage`
    (`prompt_tokens`, `completion_tokens`, and of these `cached_tokens` and `reasoning_tokens`) and `model`. Its attribute `name` tells it from others.

    A list of texts is several models as one judge, `NAME=` before each its name: `ensemble` is 'mean', 'majority', 'weighted', or
    'cascade=0.3..0.7', which asks the next model only where the number of the one before lies in the band; default 'mean', of critics
    'majority'. `calibrators` are files of calibrations that make the models' numbers comparable, `NAME=` before one of a single model.

    `budget` limits what the run may spend, as 'calls=100,tokens=2M,money=1.50,time=10m'; what is left over
    waits for the next run. `total_budget` limits what all runs that write to `out` spend together, without time.
    `batch_poll` asks in batches of OpenAI's or Anthropic's, mostly at half the price and within a day, and looks every so
    many seconds whether they are answered; the same call again goes on with the same batch. `limits` are the most tokens
    (of four bytes) of parts of the prompt, here of `report`, default what fits into the model's context where that is known.
    Prices of one's own are `prices` in `config`. `jobs` items go on at once. `progress` is that of `evaluate`. `ask` are `max_tokens`, `samples`, `temperature`,
    `verbalised`, `corrections`, `max_text`, `mass_floor`, `label_form` (where a label is asked for: 'word', or 'json' for
    models that answer in sentences) and `seed`, with the command's defaults.

    `representation` is 'r1', or 'r2' with guidelines. `tools` maps the agent's tools to their purposes,
    default the paper's kind; `max_steps` is what it may take. From the probability `tau` on an instance is
    attempted. `labels` are the two words between which the model chooses; at least `mass_floor` must be on
    them together. `roots` are texts that stand for the repository's root, of which `features` says how many reports name one.

    Runs detached from Python's lock. Ctrl-C raises KeyboardInterrupt at once; what is done is kept, and a
    callable that is under way goes on unheard in its thread.

    An item that fails is one of `failed`. Raises AtlasError for inputs that cannot be read, wrong options, a
    file of results that was made with others.
    """

def review(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | Predictions | Mapping[str, Any] | Iterable[Mapping[str, Any] | Prediction],
    *,
    out: str | os.PathLike[str],
    model: str | Sequence[str] | Callable[..., str | ModelAnswer] | None = None,
    mode: Literal["specification", "trajectory", "deterministic"] = "specification",
    instance_ids: Sequence[str] | None = None,
    repos: str | os.PathLike[str] | None = None,
    trajectories: str | os.PathLike[str] | None = None,
    facts: str | os.PathLike[str] | None = None,
    abstentions: str | os.PathLike[str] | None = None,
    all_bugs: bool = False,
    reports: Sequence[str | os.PathLike[str]] = (),
    percentile: float | None = None,
    test_tools: Sequence[str] = (),
    budget: str | None = None,
    jobs: int = 1,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: _Progress = None,
    total_budget: str | None = None,
    batch_poll: float | None = None,
    limits: Mapping[str, int] | None = None,
    ensemble: str | None = None,
    calibrators: Sequence[str] = (),
    **ask: Unpack[AskOptions],
) -> ReviewReport:
    """Validates candidate patches: what tests say, then a model's review (paper 002, section 3.2).

    `predictions` is what `evaluate` takes; several patches of one agent for one instance are all reviewed.
    `mode` is 'specification' (one is written first), 'trajectory' (the whole of it is reviewed) or
    'deterministic' (only the stages without a model). `repos` is a clone or a folder of clones, to read
    original files from. `trajectories` and `facts` are files beside predictions that lack such columns,
    `abstentions` results of `abstain`, `reports` run reports of `evaluate`. Patches of instances that the
    policy abstains from are reviewed with `all_bugs` only. `percentile`, 0 to 100, decides what is shown
    instead of the review's yes or no. `test_tools` are tools of the agent that run tests.

    `model`, `out`, `budget`, `total_budget`, `batch_poll`, `ensemble`, `calibrators`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, as are Ctrl-C and
    exceptions; `limits` has `report`, `patch`, `files`, `tests` and `trajectory`.
    """

def choose(
    predictions: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    results: Sequence[str | os.PathLike[str]] = (),
    rule: Literal["vote", "score"] = "vote",
    among: Literal["agent", "all"] = "agent",
    name: str | None = None,
) -> ChoiceReport:
    """Takes one patch of several for each task, of those that results accept, and writes them to `out` as predictions for
    `evaluate`, all columns kept (paper 002, section 5.1.2): what `atlas choose` does.

    `predictions` is a file of candidate patches, `results` what `review` or `critic` wrote; without any, every patch may be
    chosen. `rule` is 'vote' (the most frequent patch, names of variables aside, then the shortest, then the first) or
    'score' (the highest score, then by vote). `among` is 'agent', one patch for each task and agent, or 'all', one for each
    task. `name` is the `model_name_or_path` of the chosen ones, by default their own.

    Gives `candidates`, `accepted`, `unjudged`, `choices`, `without` (tasks of which no patch is accepted), `resolved` where
    it is known of all chosen ones, and `faults`. Raises AtlasError for files that cannot be read, results that contradict
    each other, and a score that is asked for and that the results do not have.
    """

def critic(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | Predictions | Mapping[str, Any] | Iterable[Mapping[str, Any] | Prediction],
    *,
    out: str | os.PathLike[str],
    model: str | Sequence[str] | Callable[..., str | ModelAnswer] | None = None,
    mode: Literal["isolated", "holistic", "change-aware", "problem", "problem-hints"] = "isolated",
    variant: Literal["default", "function", "post-commit"] = "function",
    max_confidence: float = 65.0,
    longer_than: int = 50,
    rule: bool = True,
    repos: str | os.PathLike[str] | None = None,
    instance_ids: Sequence[str] | None = None,
    label_logprobs: bool = False,
    ignore_unseen: bool = False,
    baseline: Literal["random", "random-tests", "likeness"] | Judge | None = None,
    share: float = 0.85,
    embedder: str = "hashed",
    embedder_characters: int | None = None,
    threshold: float | None = None,
    validation_share: float = 0.3,
    evaluations: Sequence[str | os.PathLike[str]] = (),
    budget: str | None = None,
    jobs: int = 1,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: _Progress = None,
    total_budget: str | None = None,
    batch_poll: float | None = None,
    limits: Mapping[str, int] | None = None,
    ensemble: str | None = None,
    calibrators: Sequence[str] = (),
    **ask: Unpack[AskOptions],
) -> CriticReport:
    """Asks a critic whether candidate patches pass their tests, without running anything (paper 004).

    `predictions` is what `evaluate` takes; several patches of one agent for one instance are all judged.
    `mode` says what the critic sees: 'isolated' (one unseen test a call), 'holistic' (all of them),
    'change-aware' (the gold patch), 'problem' or 'problem-hints' (no reference). `variant` says how patches
    are shown: 'default', 'function' (with the whole functions around every change) or 'post-commit' (as the
    functions that they leave behind). A test that is said to pass with at most `max_confidence` (0 to 100)
    and whose source has more than `longer_than` characters is taken to fail, unless `rule` is False. `repos`
    is a clone or a folder of clones, to read the files at the base commit from. `label_logprobs` also keeps how
    likely the word 'pass' was where the verdict begins, and changes no verdict. A patch whose seen tests all pass
    while tests of FAIL_TO_PASS were not found in the test patch has the label 'abstained', unless `ignore_unseen`.

    `baseline` asks no language model, which critics are compared with: 'random' says pass with the chance
    `share`; 'random-tests' does so for each test of the row's lists, and a patch passes if all do;
    an object of the protocol `Judge` (`swe_atlas.protocols`) says 'pass' or 'fail' of a patch;
    'likeness' passes what is like the gold patch, by the cosine of their vectors. `embedder` makes the vectors:
    'hashed' (sequences of characters, no model), the address of a server with `/v1/embeddings` as
    'http://HOST:PORT/v1#NAME', 'openai:NAME', a table of `[models]`, or 'replay:FILE'; it sees the first
    `embedder_characters` of a patch, all of it by default. From the cosine `threshold` on a patch passes;
    without it the one with the best F1 on the share `validation_share` of the instances is taken, which are
    not judged. Which patches pass is told by the predictions' column `resolved`, else by `evaluations`,
    folders `logs/run_evaluation/<run id>`.

    `model`, `out`, `budget`, `total_budget`, `batch_poll`, `ensemble`, `calibrators`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, as are Ctrl-C and
    exceptions; `limits` has `patch`, `gold`, `tests`, `problem` and `hints`.
    """

def judge(
    dataset: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    question: Literal["alignment", "classes"] | Judge = "alignment",
    model: str | Callable[..., str | ModelAnswer] | None = None,
    instance_ids: Sequence[str] | None = None,
    high_up_to: int | None = None,
    medium_up_to: int | None = None,
    ask_again: int = 1,
    budget: str | None = None,
    jobs: int = 1,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: _Progress = None,
    **ask: Unpack[AskOptions],
) -> JudgeReport:
    """Judges the tasks of a dataset (paper 001).

    `question` is 'alignment' (is the statement clear, and do the tests judge what it asks for? section 3.4
    and appendix C; needs a model) or 'classes' (what kind of change and of report is it? appendix E; rules,
    then a model where one is given), or an object of the protocol `Judge` (`swe_atlas.protocols`), whose answers are kept as they are. Scores are 0, the best, to 3; one up to `high_up_to` makes a task of
    high quality, one up to `medium_up_to` of medium. After an answer that cannot be used the model is asked
    again `ask_again` times.

    `model`, `out`, `budget`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, as are Ctrl-C and exceptions;
    `samples` is 0 by default.
    """

def hints(
    dataset: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    model: str | Callable[..., str | ModelAnswer] | None = None,
    instance_ids: Sequence[str] | None = None,
    repos: str | os.PathLike[str] | None = None,
    artefacts: str | os.PathLike[str] | None = None,
    always_ask: bool = False,
    ask_again: int = 1,
    budget: str | None = None,
    jobs: int = 1,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: _Progress = None,
    **ask: Unpack[AskOptions],
) -> JudgeReport:
    """Finds names that tests need and problem statements do not tell (paper 001, section 3.4).

    `repos` is a clone or a folder of clones, to read the files from that the patches change; without it only
    what the patches show is known. `artefacts` is what `make` left behind: `<instance>/before.log` and
    `<instance>/oracle.json` are read. A model is asked where rules show nothing, and with `always_ask` also
    where they do; without one the rules decide.

    `model`, `out`, `budget`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, `ask_again` that of `judge`, as
    are Ctrl-C and exceptions.
    """

def judge_attempts(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | Predictions | Mapping[str, Any] | Iterable[Mapping[str, Any] | Prediction],
    *,
    out: str | os.PathLike[str],
    model: str | Callable[..., str | ModelAnswer] | None = None,
    evaluations: Sequence[str | os.PathLike[str]] = (),
    trajectories: str | os.PathLike[str] | None = None,
    hints: str | os.PathLike[str] | None = None,
    instance_ids: Sequence[str] | None = None,
    ask_again: int = 1,
    budget: str | None = None,
    jobs: int = 1,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: _Progress = None,
    **ask: Unpack[AskOptions],
) -> AttemptReport:
    """Says why failed attempts failed, and which are worth another look (paper 001, section 3.4, layer 4):
    the agent's tools crashed, the environment lacks something, the machinery failed, the task asks for what
    it does not tell, or the attempt is wrong. No verdict is changed.

    `predictions` is what `evaluate` takes; those that resolve their instance are left out. `evaluations` are
    folders `logs/run_evaluation/<run id>`: which attempts failed, and what the tests printed. A prediction's
    own columns `resolved`, `log`, `trajectory` and `exit_status` go before. `trajectories` is a file or
    folder of them, `hints` results of `hints`. Rules decide where a line of a log proves it; a model, if
    there is one, is asked about the rest and has to quote.

    `model`, `out`, `budget`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, `ask_again` that of `judge`, as
    are Ctrl-C and exceptions.
    """

def synth_parser(
    logs: Sequence[str | os.PathLike[str]],
    *,
    model: str | Callable[..., str | ModelAnswer],
    out: str | os.PathLike[str] | None = None,
    exit_codes: Sequence[int] = (),
    truths: Sequence[str | os.PathLike[str]] = (),
    tests_in_source: int | None = None,
    command: str | None = None,
    id: str = "synthesised",
    anyway: bool = False,
    budget: str | None = None,
    engine: Literal["auto", "docker", "local"] = "auto",
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: _Progress = None,
    trust: bool = False,
) -> SynthParserReport:
    """Has a model write a parser for logs of one runner that none of the shipped ones knows, and certifies it
    (paper 001, section 3.3.2).

    `logs` are paths, best with passed, failed and skipped tests; `exit_codes` those of the commands that printed
    them, in their order; `truths` for each log what another witness says: a report that a shipped parser
    knows, or JSON `{id: status}`. `tests_in_source` is about how many tests there are, `command` what printed
    the logs, `id` the parser's name. A rule set is tried first, then Python, which runs in a sandbox of
    `engine` ('auto', 'docker' or 'local'; `trust` lets it run where nothing keeps it apart). A parser is made
    even where a shipped one knows the log with `anyway`. It goes to `out`, if one was made.

    `model`, `budget`, `config` and `progress` are those of `abstain`, as is Ctrl-C. A parser that is refused is a report.
    Raises AtlasError for logs that cannot be read, a model that fails, a budget that is used up.
    """

def certify_parser(
    logs: Sequence[str | os.PathLike[str]],
    parser: str | os.PathLike[str],
    *,
    exit_codes: Sequence[int] = (),
    truths: Sequence[str | os.PathLike[str]] = (),
    engine: Literal["auto", "docker", "local"] = "auto",
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    trust: bool = False,
) -> dict[str, Any]:
    """Certifies a parser on logs: a shipped one's id, or a file that `synth_parser` wrote.

    `exit_codes`, `truths`, `engine`, `config` and `trust` are those of `synth_parser`. Gives the certificate:
    `decision` ('certified', 'insufficient' or 'refused'), `score` (0 to 1), `reasons`, `checks` by kind.
    Raises AtlasError for a parser or logs that cannot be read.
    """

def measure(
    results: str
    | os.PathLike[str]
    | Sequence[str | os.PathLike[str]]
    | Mapping[str, str | os.PathLike[str] | Sequence[str | os.PathLike[str]]],
    *,
    evaluations: Sequence[str | os.PathLike[str]] = (),
    tau: float = 0.5,
    percentiles: Sequence[float] = (75.0, 90.0),
    population: Literal["attempted", "all"] = "attempted",
    beyond: Beyond = "clamp",
    max_k: int = 20,
    ks: Sequence[int] = (),
    low_confidence: float = 65.0,
    longer_than: int = 50,
    resamples: int = 1000,
    seed: int = 0,
    bins: int = 10,
    target_precision: float | None = None,
    value: Mapping[str, float] | None = None,
    calibrate: Literal["platt", "isotonic"] | None = None,
    calibrate_on: Sequence[str | os.PathLike[str]] = (),
    cascade_step: float | None = None,
) -> Analysis:
    """Measures policies and critics from their results: what `abstain`, `review` and `critic` wrote, one or more
    lines a candidate patch.

    `results` is a path or a list of paths, read as one file, or a dict of judges that are compared, such as two models:
    name to path or paths, where the files of the empty name are common to all. `evaluations` are folders
    `logs/run_evaluation/<run id>`, whose verdicts say which patches resolve their task and which tests pass.
    A task is attempted from the probability `tau` on; `percentiles` of the validation score decide what is
    shown, over patches of tasks that are 'attempted' or of 'all' (`population`). `beyond` is that of
    `metrics.mean_at_k`, `max_k` the largest k; `ks` are those that tables show. A test that is said to pass with at most `low_confidence`, 0 to
    100, and whose source has more than `longer_than` characters is taken to fail. Intervals come from
    `resamples` of tasks, with this `seed`; 0 makes none. Reliability diagrams have `bins` bins.
    `target_precision`, 0 to 1, looks for the score from which on this share is right. `value` says what a fix is worth (`fix`), what a
    bug that stays open costs (`open`), what a run (`run`) and a person's look at a patch (`review`) cost: which thresholds lose
    money. `calibrate` is 'platt' or 'isotonic': each
    half of the tasks is measured by a fit to the other one, or by a fit to the results files `calibrate_on`, of which tasks that are
    measured are left out. With `cascade_step`, 0.005 to 1, each two judges, the cheaper one first, are tried as a cascade over bands
    of doubt whose ends lie this far apart.

    Raises InvalidInputError for a line with a fault, named by line and field.
    """

def policies_report(
    results: str
    | os.PathLike[str]
    | Sequence[str | os.PathLike[str]]
    | Mapping[str, str | os.PathLike[str] | Sequence[str | os.PathLike[str]]],
    out: str | os.PathLike[str],
    *,
    title: str = "Policies and critics",
    evaluations: Sequence[str | os.PathLike[str]] = (),
    tau: float = 0.5,
    percentiles: Sequence[float] = (75.0, 90.0),
    population: Literal["attempted", "all"] = "attempted",
    beyond: Beyond = "clamp",
    max_k: int = 20,
    ks: Sequence[int] = (),
    low_confidence: float = 65.0,
    longer_than: int = 50,
    resamples: int = 1000,
    seed: int = 0,
    bins: int = 10,
    target_precision: float | None = None,
    value: Mapping[str, float] | None = None,
    calibrate: Literal["platt", "isotonic"] | None = None,
    calibrate_on: Sequence[str | os.PathLike[str]] = (),
    cascade_step: float | None = None,
) -> Analysis:
    """Writes a page of figures on policies and critics, one self-contained HTML file, to `out`: curves of precision
    and recall, filtered success@k, funnel and trade-off (paper 002), confidence, predicted against actual
    pass rates and rank correlation (paper 004). Gives what is in it.

    All other arguments and exceptions are those of `measure`.
    """

def check(files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[CheckedFile]:
    """Compares files of stored values with what is computed here: what `atlas metrics --check` does.

    `files` is a path or a list of paths. Gives for each `file`, `agrees`, the `name` of its quantity, `cases`,
    `fields`, `largest_error`, `differences` and `faults`; a file that cannot be read has that as its fault.
    """

def mean_at_k(counts: Sequence[tuple[int, int]], k: int, *, beyond: Beyond = "clamp") -> AtK:
    """The mean of pass@k over bugs, each given as `(runs, successes)` (paper 002, section 5.2).

    Gives `value`, 0 to 1, None where no bug counts, and `bugs_counted`. Bugs without a run are left out. What
    a bug with fewer than `k` runs counts as, `beyond` says: 'clamp' (`k` is lowered to its runs), 'exclude'
    (it is left out) or 'error' (InvalidInputError).
    """

def filtered_success_at_k(bugs: Sequence[BugRuns], k: int, *, beyond: Beyond = "clamp") -> AtK:
    """Filtered success@k: the chance that one of `k` patches is right, of those that the policies let through
    (paper 002, section 5.2).

    A bug is a mapping with `success` (a bool for each run), `accepted` (the same, default all) and `attempt`
    (default True). Gives `value` and `bugs_counted`; `beyond` is that of `mean_at_k`, with the runs that are
    left.
    """

def pass_and_validation_at_k(bugs: Sequence[BugRuns], k: int, *, beyond: Beyond = "clamp") -> AtK:
    """(pass & validation)@k: the chance over all bugs that one of `k` runs is right and accepted (paper 002,
    section 6.2). Unlike `filtered_success_at_k` it falls with every right patch that a policy hides.

    Bugs, result and `beyond` are those of `filtered_success_at_k`; a bug that is not attempted has no success.
    """

def validation_recall_at_k(bugs: Sequence[BugRuns], k: int, *, beyond: Beyond = "clamp") -> AtK:
    """Validation recall@k: the chance that one of `k` right runs is accepted, over the bugs that have one (paper
    002, appendix C.1).

    Bugs, result and `beyond` are those of `filtered_success_at_k`; whether a bug is attempted makes no
    difference.
    """

def confusion(truths: Sequence[bool], predictions: Sequence[bool]) -> dict[str, Any]:
    """How often a yes or no was right: counts and the shares that follow.

    Gives `tp`, `fp`, `fn`, `tn`, and `accuracy`, `precision`, `recall`, `f1`, `specificity`, `fpr` (false
    positives among the negatives counted here), `negative_precision` and `prevalence`, 0 to 1, None where
    their denominator is 0. Raises InvalidInputError for lists of different lengths.
    """

def false_positive_rates(patches: Sequence[tuple[bool, bool, bool]]) -> FalsePositiveRates:
    """The false positive rate of a validation with both denominators (paper 002, section 6.2 against its Table
    4): `of_all` wrong patches, and `of_reached`, those that got as far as validation.

    A patch is `(success, reached, accepted)`. Gives also `false_positives`, `negatives` and
    `negatives_reached`; a rate is None where its denominator is 0.
    """

def f1_of(precision: float, recall: float) -> float | None:
    """F1 from a printed precision and recall, in their unit: 2 P R / (P + R); None where both are 0."""

def implied_prevalence(accuracy: float, precision: float, recall: float) -> float | None:
    """The share of positives that a printed accuracy, precision and recall imply, all 0 to 1: rows of a table
    that imply different shares were not scored on the same labels (paper 004, Table 2).
    """

def implied_precision(prevalence: float, recall: float, fpr: float) -> float | None:
    """The precision that a recall and a false positive rate imply at a share of positives, all 0 to 1 (paper
    002, Table 4 against section 6.2).
    """

def average_precision(truths: Sequence[bool], scores: Sequence[float]) -> float | None:
    """Average precision: the sum over thresholds, highest score first, of the precision there times the rise of
    recall, as scikit-learn's (paper 002, Figure 3). Equal scores are one step; a perfect order gives exactly 1.

    None without a true item, or with a score that is no finite number.
    """

def no_skill_precision(truths: Sequence[bool]) -> float | None:
    """The share of true items: the precision of a policy without skill. None without items."""

def precision_recall_curve(
    truths: Sequence[bool],
    scores: Sequence[float],
) -> PrecisionRecallCurve | None:
    """Precision and recall at every threshold, in the form of scikit-learn (paper 002, Figure 3).

    Gives `thresholds`, the distinct scores ascending; `precision` and `recall` there, with one more point, 1
    and 0, at the end; and `shown`, the share of items with at least that score. None as `average_precision`.
    """

def reliability(
    truths: Sequence[bool],
    scores: Sequence[float],
    *,
    bins: int = 10,
) -> Reliability | None:
    """Whether scores mean what they say (Guo et al. 2017): `bins` of equal width from 0 to 1, each with its upper edge,
    `expected_error`, `maximum_error` and `brier`. None without items, with a score that is not within 0 to 1, or with no bins
    or more than 10,000.
    """

def brier_score(truths: Sequence[bool], scores: Sequence[float]) -> float | None:
    """The mean square of score less truth, 1 or 0. None without items, or with a score that is not within 0 to 1."""

def risk_coverage(truths: Sequence[bool], scores: Sequence[float]) -> RiskCoverage | None:
    """The share of wrong items among those from a score on (Geifman and El-Yaniv 2017): `thresholds`, the distinct scores
    descending, with `coverage` and `risk`; the `area` under the curve, the mean over all orders of equal scores, beside
    `best_area` and `no_skill`. None without items, or with a score that is no finite number.
    """

def threshold_for_precision(
    truths: Sequence[bool],
    scores: Sequence[float],
    target: float,
) -> float | None:
    """The smallest score from which on the share of true items is at least `target`, 0 to 1. None where no score reaches
    it, without items, or with a score that is no finite number.
    """

def grid_threshold(truths: Sequence[bool], scores: Sequence[float]) -> GridThreshold | None:
    """The threshold with the best F1: `threshold`, from which on an item is a yes, and `f1` (paper 004, section
    4.2.1 b). The grid is the distinct scores; of equally good thresholds the lowest wins. None as
    `average_precision`.
    """

def cosine(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The cosine of two vectors, -1 to 1; None if their lengths differ, one is zero or a number is not finite."""

def percentile_decision(scores: Sequence[float], p: float) -> PercentileDecision:
    """Which scores a percentile lets through (paper 002, section 3.2.6): `cutoff`, the `p`-th percentile of all
    scores, `p` from 0 to 100, and `accepted`, a bool for each: at or above the cut-off, and above 0. The
    cut-off is None without scores, or with one that is no finite number; then nothing is accepted.
    """

def label_mass(
    alternatives: Sequence[tuple[str | bytes, float]],
    positive: str = "success",
    negative: str = "failure",
) -> LabelMass:
    """How much of the first token's probability belongs to two labels (paper 002, section 3.1).

    `alternatives` are `(token, log-probability)`, the token as str or bytes, the log-probability in nats. An
    alternative counts for a label if, stripped and in lower case, it is a beginning of it alone. Gives
    `positive`, `negative`, `total` and `probability`, positive over both; None without any mass.
    """

def patch_correctness_score(is_bug_fixed: bool, token_logprobs: Sequence[float]) -> float | None:
    """The patch correctness score: 0 if the review says that the bug is not fixed, else the exponential of the
    mean log-probability (nats) of the response's tokens (paper 002, section 3.2.5). None for a yes without
    tokens, or with a log-probability that is no number or above 0.
    """

def expected_net_value(
    p: float,
    *,
    value: float,
    cost: float,
    run_cost: float,
    review_cost: float,
) -> NetValue:
    """What trying to fix a bug and showing a patch are expected to be worth (paper 002, appendix C.4).

    `p` is the chance of success; `value`, `cost` (while it is not fixed), `run_cost` (of the agent) and
    `review_cost` (a person's look) are in one unit of yours. Gives `attempt`, `abstain`, `show` and `hide` in
    that unit, and the chances from which on trying and showing are worth more, `break_even_attempt` and
    `break_even_show`; None where value and cost are 0 together.
    """

def majority_vote(patches: Sequence[str], lines: Sequence[int] | None = None) -> Vote | None:
    """Chooses one patch by majority (paper 002, section 5.1): the largest group of those that differ only in
    identifiers; of several the patch with the fewest `lines`, then the first.

    `lines` are the numbers of lines of the patched files; without them those of the patches count. Gives
    `winner`, `votes`, `groups` (places) and `normalised`; None without patches.
    """

def normalise_identifiers(patch: str) -> str:
    """A patch with every identifier replaced by `id` and its number in the order of appearance (paper 002,
    section 5.1): patches that differ only in names become equal.
    """

def aggregate_critic(
    tests: Sequence[TestPrediction],
    *,
    rule: bool = True,
    max_confidence: float = 65.0,
    longer_than: int = 50,
) -> CriticAggregate:
    """From a critic's word on each test to its word on the patch (paper 004, section 2.2).

    A test is a mapping with `passes`, `confidence` (0 to 100) and, where it is known, `length`, the
    characters of its source. With `rule`, one that is said to pass with at most `max_confidence` and is longer
    than `longer_than` is taken to fail (section 4.1). Gives `passes` (after the rule), `build_success` (all
    pass) and `pass_rate`, the progress score. Raises InvalidInputError without tests.
    """

def random_baseline(q: float, tests: int = 1) -> RandomBaseline:
    """What a coin with the classes' weights is expected to reach (paper 004, section 4.1): `q`, 0 to 1, is the
    share of tests that pass and the chance that the coin says so. Gives `accuracy`, `precision` (recall and F1
    are the same), and `build_success`, the chance that all of `tests` tests are said to pass. Raises
    InvalidInputError for a `q` out of range.
    """

def lift_by_type(bugs: Sequence[TypedBug]) -> dict[str, float | None]:
    """Lift by type of bug: accept@1 of what a policy keeps over accept@1 of everything, each the mean over the
    type's bugs of the share of right patches (paper 002, section 6.4, Table 2).

    A bug is a mapping with `type`, and `correct` and `kept`, a bool for each patch. Gives type -> lift, None
    (the paper's NA) where the policy keeps no patch of the type or no patch of it is right.
    """

def wasserstein_1(u: Sequence[float], v: Sequence[float]) -> float | None:
    """The Wasserstein-1 distance between two samples, in their unit (paper 002, section 6.1: predicted
    probabilities of success against observed rates). None if one is empty or holds what is no finite number.
    """

def percentile(values: Sequence[float], p: float) -> float | None:
    """The `p`-th percentile, `p` from 0 to 100, with linear interpolation, NumPy's default. None without values,
    with one that is no finite number, or with `p` out of range.
    """

def average_ranks(values: Sequence[float]) -> list[float] | None:
    """Ranks from 1, ascending; equal values share the mean of their places. None with a value that is no finite
    number.
    """

def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Spearman's rank correlation, -1 to 1, with average ranks (paper 004, section 4.4). None where the lengths
    differ, all values of one are equal, or one is no finite number.
    """

def summarise_correlations(rhos: Sequence[float | None]) -> CorrelationSummary:
    """Sums rank correlations of many instances up: `defined`, `undefined` (the Nones), `mean` and
    `share_perfect`, the share of the defined ones that are 1 (paper 004, section 4.4).
    """

def bootstrap_mean(
    values: Sequence[float],
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 95.0,
) -> tuple[float, float] | None:
    """The percentile bootstrap of a mean: low and high end of the interval that holds `level` percent. The same
    values, seed and number of resamples give the same interval everywhere. None without values or resamples.

    For the difference of two systems give `paired_differences`. Paper 001 (Table 5) prints intervals without
    saying how they were made; this is the usual way.
    """

def bootstrap_mean_with(
    values: Sequence[float],
    resamples: Sequence[Sequence[int]],
    *,
    level: float = 95.0,
) -> tuple[float, float] | None:
    """As `bootstrap_mean`, with resamples that are given: for each a list of places in `values`. None where a
    resample is empty or names a place that is not there.
    """

def bootstrap_ratio(
    items: Sequence[tuple[float, float]],
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 95.0,
) -> tuple[float, float] | None:
    """The bootstrap of a ratio of sums, of items `(above, below)` that are drawn whole: all patches of a bug stay
    together. Draws whose lower sum is 0 are left out. Options and result are those of `bootstrap_mean`.
    """

def paired_differences(a: Sequence[float], b: Sequence[float]) -> list[float] | None:
    """The differences b - a of paired values; None if their numbers differ."""

def binomial_quantile(q: float, n: int, p: float) -> int | None:
    """The smallest number of successes that has, in `n` trials with chance `p`, at least the chance `q` not to be
    exceeded: with `q` of 0.025 and 0.975 the intervals of paper 001's Table 5. None if `p` or `q` is out of
    range.
    """

def distribution(counts: Mapping[str, int], all: int) -> Distribution:
    """Percentages of labels among `all` items (paper 001, appendix E): `percent`, label -> 0 to 100, and
    `counted`, the sum of the counts. Raises InvalidInputError if `all` is 0 or less than that sum.
    """

def yields(sourced: int, replicated: int, accepted: int) -> Yields:
    """What is left of sourced pull requests (paper 001, section 4.1): `replicated_of_sourced`,
    `accepted_of_sourced` and `accepted_of_replicated`, 0 to 1; None where the denominator is 0.
    """
