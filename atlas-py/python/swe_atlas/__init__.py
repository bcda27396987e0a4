"""Turn merged pull requests into executable, verified software-engineering tasks, and grade predictions.

`parse_log` reads a test runner's log, `classify` compares the logs of the three states of a pull
request, `make` does the whole way from a clone to a dataset row, `Instance` is such a row, `validate` puts
rows through quality gates, and `grade` holds a run against a row's lists.

`source` asks code hosts for merged pull requests. `swe_atlas.protocols` says what an object must have to stand in the
place of a parser, a sandbox, an oracle, …, and `swe_atlas.testing` checks one.

`attempt` has agents, which may be callables, attempt instances in sealed sandboxes.

`Evaluator` opens a dataset once, for people with a loop of their own: it grades a patch, or opens a sealed `Session` in the
environment of an instance. `evaluate` runs and grades predictions, `regrade` grades stored logs again, `grade_log` a single one, `parse_log_compat` and
`grade_compat` do single steps as a released harness does them. `read_dataset`, `read_predictions`,
`convert`, `lint`, `audit` and `diff_datasets` are for files, `examine_patch` and `diagnose_patch` for patches,
`leaderboard` and `pass_at_k` for scores.

`abstain`, `review`, `critic`, `judge`, `judge_attempts`, `hints` and `synth_parser` ask a language model, which may
be a callable; `measure` and `policies_report` say what their answers are worth, and `swe_atlas.metrics` has the
numbers one by one. `choose` takes one patch of several by their answers.

Notebooks show results as they are. Datasets, predictions and what a report's `table` gives are frames of pandas, polars and
others by the Arrow PyCapsule interface; `to_svg` draws; long calls tell their `progress`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swe_atlas import metrics
from swe_atlas._datasets import audit, convert, lint
from swe_atlas._errors import (
    AtlasError,
    BudgetExceededError,
    CancelledError,
    CompatFault,
    EngineFailedError,
    EngineUnreachableError,
    ImageMissingError,
    InternalError,
    InvalidInputError,
    IoError,
    ModelError,
    NotFoundError,
    NotTrustedError,
    TimedOutError,
    ToolFailedError,
)
from swe_atlas._judgements import (
    AbstainReport,
    Analysis,
    AttemptReport,
    CriticReport,
    JudgeReport,
    ReviewReport,
    SynthParserReport,
)
from swe_atlas._judging import (
    abstain,
    certify_parser,
    choose,
    critic,
    hints,
    judge,
    judge_attempts,
    measure,
    policies_report,
    review,
    synth_parser,
)
from swe_atlas._progress import ProgressEvent
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
from swe_atlas._swe_atlas import (
    Dataset,
    Instance,
    ParsedLog,
    Prediction,
    Predictions,
    Row,
    Table,
    __version__,
    diagnose_patch,
    diff_datasets,
    examine_patch,
    grade,
    leaderboard,
    parse_log,
    pass_at_k,
    read_dataset,
    read_predictions,
)
from swe_atlas._tasks import (
    classify,
    evaluate,
    grade_compat,
    grade_log,
    make,
    parse_log_compat,
    regrade,
    source,
    validate,
)
from swe_atlas._verdict import PatchVerdict

if TYPE_CHECKING:
    from typing import Any

    from swe_atlas._attempt import AgentTask, Room, RoomResult, attempt
    from swe_atlas._evaluator import CommandResult, Evaluator, Session

__all__ = [
    "AbstainReport",
    "AgentTask",
    "Analysis",
    "AtlasError",
    "AttemptReport",
    "AuditReport",
    "BudgetExceededError",
    "CancelledError",
    "Classification",
    "CommandResult",
    "CompatFault",
    "Conversion",
    "CriticReport",
    "Dataset",
    "EngineFailedError",
    "EngineUnreachableError",
    "EvalReport",
    "Evaluator",
    "ImageMissingError",
    "Instance",
    "InternalError",
    "InvalidInputError",
    "IoError",
    "JudgeReport",
    "Leaderboard",
    "LintReport",
    "MakeReport",
    "ModelError",
    "NotFoundError",
    "NotTrustedError",
    "ParsedLog",
    "PatchVerdict",
    "Prediction",
    "Predictions",
    "ProgressEvent",
    "RegradeReport",
    "ReviewReport",
    "Room",
    "RoomResult",
    "Row",
    "Session",
    "SynthParserReport",
    "Table",
    "TimedOutError",
    "ToolFailedError",
    "ValidateReport",
    "__version__",
    "abstain",
    "attempt",
    "audit",
    "certify_parser",
    "choose",
    "classify",
    "convert",
    "critic",
    "diagnose_patch",
    "diff_datasets",
    "evaluate",
    "examine_patch",
    "grade",
    "grade_compat",
    "grade_log",
    "hints",
    "judge",
    "judge_attempts",
    "leaderboard",
    "lint",
    "make",
    "measure",
    "metrics",
    "parse_log",
    "parse_log_compat",
    "pass_at_k",
    "policies_report",
    "read_dataset",
    "read_predictions",
    "regrade",
    "review",
    "source",
    "synth_parser",
    "validate",
]

# Their modules need more of the standard library than all others.
_WHEN_ASKED_FOR = {
    "AgentTask": "_attempt",
    "Room": "_attempt",
    "RoomResult": "_attempt",
    "attempt": "_attempt",
    "CommandResult": "_evaluator",
    "Evaluator": "_evaluator",
    "Session": "_evaluator",
}


def __getattr__(name: str) -> Any:
    if name not in _WHEN_ASKED_FOR:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_WHEN_ASKED_FOR[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHEN_ASKED_FOR})
