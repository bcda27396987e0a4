"""Types of the native module; import from `swe_atlas`."""

import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, final, overload

from typing_extensions import Self, disjoint_base

from swe_atlas.protocols import LogParser
from swe_atlas._judgements import (
    AbstainReport,
    Analysis,
    AttemptReport,
    CriticReport,
    JudgeReport,
    ReviewReport,
    SynthParserReport,
)
from swe_atlas._reports import (
    AuditReport,
    Classification,
    Conversion,
    EvalReport,
    Leaderboard,
    LintReport,
    MakeReport,
    RegradeReport,
    ValidateReport,
)
from swe_atlas.types import (
    CheckedFile,
    ChoiceReport,
    CompatGrade,
    Content,
    DatasetDiff,
    Diagnosis,
    Duplicates,
    Grade,
    GradedLog,
    LogWarning,
    LostModule,
    Mode,
    PatchFault,
    RowFault,
    RunOutcome,
    Schema,
    SourceReport,
    Status,
    Totals,
)

__all__ = [
    "Dataset",
    "Instance",
    "NativeEvaluator",
    "NativeReport",
    "NativeRoom",
    "NativeRow",
    "NativeSession",
    "ParsedLog",
    "Prediction",
    "Predictions",
    "Row",
    "Table",
    "Tools",
    "__version__",
    "_abstain",
    "_attempt",
    "_audit",
    "_certify_parser",
    "_check",
    "_choose",
    "_classify",
    "_command_line",
    "_convert",
    "_critic",
    "_error_kinds",
    "_evaluate",
    "_grade_compat",
    "_grade_log",
    "_hints",
    "_judge",
    "_judge_attempts",
    "_lint",
    "_make",
    "_measure",
    "_metric",
    "_parse_log_compat",
    "_policies_report",
    "_prelude",
    "_raise",
    "_regrade",
    "_review",
    "_source",
    "_synth_parser",
    "_validate",
    "_verdict_html",
    "check",
    "diagnose_patch",
    "diff_datasets",
    "examine_patch",
    "grade",
    "leaderboard",
    "parse_log",
    "pass_at_k",
    "read_dataset",
    "read_predictions",
]

_T = TypeVar("_T")

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

@disjoint_base
class NativeReport:
    """What a command reports, as it prints it: attributes, dictionary, JSON and pickle all read the same value, so they cannot
    disagree. Immutable; everything that it gives is fresh and plain.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __new__(cls, json: str | NativeReport, beside: Any = None) -> Self: ...
    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, equal to what the command prints with `--format json`."""

    def to_json(self) -> str:
        """The same as one line of JSON."""

    def to_svg(self) -> str | None:
        """A drawing as SVG. None where there is nothing to draw.

        It stands alone, in a file or in a page, and is legible on light and on dark.
        """

    def table(self, field: str | None = None) -> Table:
        """Rows for data frames: those of the report's main list, or of another one.

        Raises InvalidInputError for a field that is no list of rows.
        """

    @property
    def _beside(self) -> Any: ...
    def _field(self, name: str) -> Any:
        """A field of the JSON; None where there is none."""

    def _count(self, name: str) -> int:
        """How many items a field has."""

    def _html(self, figures: Sequence[tuple[str, str]]) -> str:
        """What a notebook shows, with drawings by their names."""

    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    @classmethod
    def _restore(cls, json: str, beside: Any = None) -> Self: ...
    def __reduce__(self) -> tuple[Any, tuple[str, Any]]: ...

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
        """Everything as plain values, equal to what `atlas parse --format json --qualified` prints."""

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

@disjoint_base
class NativeRow:
    """A mapping from column to value, like a row as a dict. Immutable. What was read is written back byte for byte."""

    __hash__: ClassVar[None]  # type: ignore[assignment]
    def to_json(self) -> str:
        """The object as JSON, as it was read."""

    def to_dict(self) -> dict[str, Any]:
        """The object as a dict."""

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

@final
class Instance(NativeRow):
    """One row of a SWE-bench dataset, with every column it was read with.

    A mapping from column to value, like the row as a dict, and attributes for the columns that
    define the task. Immutable. A row that was read is written back byte for byte.
    """

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

    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class Row(NativeRow):
    """One row of a dataset, in whichever schema of the field.

    A mapping from column to value, like the row as a dict. Immutable. A row that was read is written
    back byte for byte. `Instance.from_dict(row)` gives the columns of a SWE-bench row as attributes.
    """

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
class Prediction(NativeRow):
    """One candidate patch, as it was written.

    A mapping from column to value, like the prediction as a dict. Immutable.
    """

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

@final
class NativeEvaluator:
    """Instances of a dataset, opened once. `swe_atlas.Evaluator` is its face."""

    def __new__(cls, given: dict[str, Any]) -> NativeEvaluator: ...
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

# What stands behind functions whose signatures and documentation are in Python: their arguments by name.
def _attempt(given: dict[str, Any]) -> dict[str, Any]: ...
def _classify(given: dict[str, Any]) -> Classification: ...
def _make(given: dict[str, Any]) -> MakeReport: ...
def _source(given: dict[str, Any]) -> SourceReport: ...
def _validate(given: dict[str, Any]) -> ValidateReport: ...
def _evaluate(given: dict[str, Any]) -> EvalReport: ...
def _regrade(given: dict[str, Any]) -> RegradeReport: ...
def _convert(given: dict[str, Any]) -> Conversion: ...
def _lint(given: dict[str, Any]) -> LintReport: ...
def _audit(given: dict[str, Any]) -> AuditReport: ...
def _abstain(given: dict[str, Any]) -> AbstainReport: ...
def _review(given: dict[str, Any]) -> ReviewReport: ...
def _critic(given: dict[str, Any]) -> CriticReport: ...
def _choose(given: dict[str, Any]) -> ChoiceReport: ...
def _judge(given: dict[str, Any]) -> JudgeReport: ...
def _hints(given: dict[str, Any]) -> JudgeReport: ...
def _judge_attempts(given: dict[str, Any]) -> AttemptReport: ...
def _synth_parser(given: dict[str, Any]) -> SynthParserReport: ...
def _certify_parser(given: dict[str, Any]) -> dict[str, Any]: ...
def _measure(given: dict[str, Any]) -> Analysis: ...
def _policies_report(given: dict[str, Any]) -> Analysis: ...
def _parse_log_compat(given: dict[str, Any]) -> dict[str, str]: ...
def _grade_compat(given: dict[str, Any]) -> CompatGrade: ...
def _grade_log(given: dict[str, Any]) -> GradedLog: ...
def _metric(name: str, given: dict[str, Any]) -> Any:
    """A metric of what it is given, as a plain value."""

def _prelude(places: dict[str, str], variables: list[dict[str, str]], laid: list[str]) -> str: ...
def _check(what: str, object: Any, options: dict[str, Any]) -> Any: ...
@final
class Tools:
    """How a method asks something of the run that calls it. `swe_atlas.protocols` has its faces."""

    def ask(self, name: str, arguments: dict[str, Any]) -> Any: ...

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

def diff_datasets(
    first: Dataset | str | os.PathLike[str],
    second: Dataset | str | os.PathLike[str],
) -> DatasetDiff:
    """Compares two datasets by the names of their rows, each a Dataset or a path.

    The order of rows and columns is no difference, nor is how a value is spelled; lists of tests and
    patches are compared by what they mean, in whichever schema.
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


def check(files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[CheckedFile]:
    """Compares files of stored values with what is computed here: what `atlas metrics --check` does.

    `files` is a path or a list of paths. Gives for each `file`, `agrees`, the `name` of its quantity, `cases`,
    `fields`, `largest_error`, `differences` and `faults`; a file that cannot be read has that as its fault.
    """
