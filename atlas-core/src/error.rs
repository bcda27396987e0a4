//! Errors of everything that touches the world.

use std::error::Error as StdError;
use std::fmt;

/// What went wrong, for code that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument, a configuration or an input file is not usable as given.
    InvalidInput,
    /// A file, repository, commit or image that was named does not exist.
    NotFound,
    /// The container engine does not answer.
    EngineUnreachable,
    /// The engine answered with a fault of its own.
    EngineFailed,
    /// A base image can be had neither locally nor from a registry.
    ImageMissing,
    /// A program that Atlas needs (git, bash, a toolchain) is absent or fails.
    ToolFailed,
    /// A time limit was reached.
    TimedOut,
    /// The caller cancelled.
    Cancelled,
    /// Reading or writing on this machine failed.
    Io,
    /// Untrusted code would have run with less isolation than was asked for.
    NotTrusted,
    /// A language model failed.
    Model,
    /// The next call of a language model would go beyond what may be spent.
    BudgetExceeded,
    /// Something that must never happen: a defect in Atlas.
    Internal,
}

impl ErrorKind {
    /// Every kind, for tables and tests.
    pub const ALL: [Self; 13] = [
        Self::InvalidInput,
        Self::NotFound,
        Self::EngineUnreachable,
        Self::EngineFailed,
        Self::ImageMissing,
        Self::ToolFailed,
        Self::TimedOut,
        Self::Cancelled,
        Self::Io,
        Self::NotTrusted,
        Self::Model,
        Self::BudgetExceeded,
        Self::Internal,
    ];

    /// A stable snake-case word for JSON and Python.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidInput => "invalid_input",
            Self::NotFound => "not_found",
            Self::EngineUnreachable => "engine_unreachable",
            Self::EngineFailed => "engine_failed",
            Self::ImageMissing => "image_missing",
            Self::ToolFailed => "tool_failed",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Io => "io",
            Self::NotTrusted => "not_trusted",
            Self::Model => "model",
            Self::BudgetExceeded => "budget_exceeded",
            Self::Internal => "internal",
        }
    }
}

/// Whose fault an error is, for reports and retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Blame {
    /// What the caller gave.
    Caller,
    /// The machine, the engine, the network.
    Environment,
    /// The instance itself.
    Instance,
    /// Cannot be told from the error alone.
    Ambiguous,
    /// Atlas.
    Atlas,
}

impl Blame {
    /// A stable snake-case word for JSON and Python.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Environment => "environment",
            Self::Instance => "instance",
            Self::Ambiguous => "ambiguous",
            Self::Atlas => "atlas",
        }
    }
}

/// An operation on the world that could not be carried out.
///
/// An error is never a verdict: a Dockerfile that does not build or a patch that breaks tests is
/// data, not an `Error`. `Display` prints one fragment without the cause; walk
/// [`source`](StdError::source) for the chain.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    operation: String,
    subject: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// A new error: `operation` on `subject`, as in ``read `atlas.toml` ``.
    pub fn new(kind: ErrorKind, operation: impl Into<String>, subject: impl Into<String>) -> Self {
        Self {
            kind,
            operation: operation.into(),
            subject: subject.into(),
            source: None,
        }
    }

    /// The same error with its cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Shorthand for a failed file operation.
    pub fn io(operation: &str, path: &std::path::Path, source: std::io::Error) -> Self {
        let kind = match source.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            _ => ErrorKind::Io,
        };
        Self::new(kind, operation, format!("`{}`", path.display())).with_source(source)
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What was attempted.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// On what.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Whether trying again, unchanged, may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::EngineUnreachable | ErrorKind::EngineFailed
        )
    }

    /// Whose fault it is.
    pub fn blame(&self) -> Blame {
        match self.kind {
            ErrorKind::InvalidInput
            | ErrorKind::NotFound
            | ErrorKind::Cancelled
            | ErrorKind::BudgetExceeded
            | ErrorKind::NotTrusted => Blame::Caller,
            ErrorKind::EngineUnreachable
            | ErrorKind::EngineFailed
            | ErrorKind::ImageMissing
            | ErrorKind::ToolFailed
            | ErrorKind::Io
            | ErrorKind::Model => Blame::Environment,
            ErrorKind::TimedOut => Blame::Ambiguous,
            ErrorKind::Internal => Blame::Atlas,
        }
    }

    /// The whole chain on one line, outermost first.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut next = self.source();
        while let Some(cause) = next {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            next = cause.source();
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.subject.is_empty() {
            f.write_str(&self.operation)
        } else {
            write!(f, "{} {}", self.operation, self.subject)
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source
            .as_deref()
            .map(|cause| cause as &(dyn StdError + 'static))
    }
}
