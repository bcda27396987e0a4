"""Turn merged pull requests into executable, verified software-engineering tasks.

`parse_log` reads a test runner's log, `classify` compares the logs of the three states of a pull
request, `make` does the whole way from a clone to a dataset row, and `Instance` is such a row.
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
    __version__,
    classify,
    make,
    parse_log,
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
    "__version__",
    "classify",
    "make",
    "parse_log",
]
