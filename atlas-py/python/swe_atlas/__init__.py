"""Turn merged pull requests into executable, verified software-engineering tasks.

`parse_log` reads a test runner's log, `classify` compares the logs of the three states of a pull
request, `make` does the whole way from a clone to a dataset row, `Instance` is such a row, `validate` puts
rows through quality gates, and `grade` holds a run against a row's lists.
"""

from swe_atlas._errors import (
    AtlasError,
    CancelledError,
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
from swe_atlas._swe_atlas import (
    Classification,
    Instance,
    MakeReport,
    ParsedLog,
    ValidateReport,
    __version__,
    classify,
    grade,
    make,
    parse_log,
    validate,
)

__all__ = [
    "AtlasError",
    "CancelledError",
    "Classification",
    "EngineFailedError",
    "EngineUnreachableError",
    "ImageMissingError",
    "Instance",
    "InternalError",
    "InvalidInputError",
    "IoError",
    "MakeReport",
    "ModelError",
    "NotFoundError",
    "NotTrustedError",
    "ParsedLog",
    "TimedOutError",
    "ToolFailedError",
    "ValidateReport",
    "__version__",
    "classify",
    "grade",
    "make",
    "parse_log",
    "validate",
]
