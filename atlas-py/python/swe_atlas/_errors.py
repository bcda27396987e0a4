"""The exceptions. The native module raises them and knows which class stands for which kind."""


class AtlasError(Exception):
    """An operation on the world that could not be carried out. Never a verdict."""

    kind: str
    """What went wrong, as a stable snake-case word: 'invalid_input', 'timed_out', …"""
    blame: str
    """Whose fault it is: 'caller', 'environment', 'instance', 'ambiguous' or 'atlas'."""
    operation: str
    """What was attempted."""
    subject: str
    """On what."""

    def __init__(
        self,
        message: str = "",
        *,
        kind: str = "",
        blame: str = "",
        operation: str = "",
        subject: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.blame = blame
        self.operation = operation
        self.subject = subject


class InvalidInputError(AtlasError, ValueError):
    """An argument, a configuration or an input file is not usable as given."""


class CompatFault(InvalidInputError):
    """A harness's own reader raises on this log, or there is none; the text is that exception."""


class NotFoundError(AtlasError, FileNotFoundError):
    """A file, repository, commit or image that was named does not exist."""


class EngineUnreachableError(AtlasError):
    """The container engine does not answer."""


class EngineFailedError(AtlasError):
    """The engine answered with a fault of its own."""


class ImageMissingError(AtlasError):
    """A base image can be had neither locally nor from a registry."""


class ToolFailedError(AtlasError):
    """A program that Atlas needs (git, bash, a toolchain) is absent or fails."""


class TimedOutError(AtlasError, TimeoutError):
    """A time limit was reached."""


class CancelledError(AtlasError):
    """The caller cancelled."""


class IoError(AtlasError, OSError):
    """Reading or writing on this machine failed."""


class NotTrustedError(AtlasError):
    """Untrusted code would have run with less isolation than was asked for."""


class ModelError(AtlasError):
    """A language model failed."""


class BudgetExceededError(ModelError):
    """The next call of a language model would go beyond what may be spent."""


class InternalError(AtlasError):
    """Something that must never happen: a defect in Atlas."""
