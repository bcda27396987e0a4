//! Rust's errors as Python's exceptions: the only place that knows both.

use atlas_core::{Blame, Error, ErrorKind, InstanceError};
use atlas_parsers::CompatFault;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The class in `swe_atlas._errors` for a kind; none for a kind that nobody mapped yet.
fn class_of(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::InvalidInput => "InvalidInputError",
        ErrorKind::NotFound => "NotFoundError",
        ErrorKind::EngineUnreachable => "EngineUnreachableError",
        ErrorKind::EngineFailed => "EngineFailedError",
        ErrorKind::ImageMissing => "ImageMissingError",
        ErrorKind::ToolFailed => "ToolFailedError",
        ErrorKind::TimedOut => "TimedOutError",
        ErrorKind::Cancelled => "CancelledError",
        ErrorKind::Io => "IoError",
        ErrorKind::NotTrusted => "NotTrustedError",
        ErrorKind::Model => "ModelError",
        ErrorKind::BudgetExceeded => "BudgetExceededError",
        ErrorKind::Internal => "InternalError",
        _ => return None,
    })
}

/// The kind that a class of `swe_atlas._errors` stands for; a tool's failure for any other.
pub(crate) fn kind_of(class: &str) -> ErrorKind {
    let known = ErrorKind::ALL.iter().copied();
    let mut known = known.filter(|kind| class_of(*kind) == Some(class));
    known.next().unwrap_or(ErrorKind::ToolFailed)
}

/// The exception for an error. Its text is the whole chain, as the command prints it.
pub(crate) fn raised(error: &Error) -> PyErr {
    Python::attach(|py| {
        let fields = PyDict::new(py);
        fields.set_item("kind", error.kind().as_str())?;
        fields.set_item("blame", error.blame().as_str())?;
        fields.set_item("operation", error.operation())?;
        fields.set_item("subject", error.subject())?;
        let class = class_of(error.kind()).unwrap_or("AtlasError");
        py.import("swe_atlas._errors")?
            .getattr(class)?
            .call((error.chain(),), Some(&fields))
            .map(PyErr::from_value)
    })
    .unwrap_or_else(|why| why)
}

/// The exception for a dataset row that is not what it should be.
pub(crate) fn raised_row(error: InstanceError) -> PyErr {
    raised(&Error::new(ErrorKind::InvalidInput, "read row", "").with_source(error))
}

/// The exception for an argument that cannot be used.
pub(crate) fn invalid(argument: &str, why: impl std::fmt::Display) -> PyErr {
    raised(
        &Error::new(ErrorKind::InvalidInput, "read argument", argument)
            .with_source(why.to_string()),
    )
}

/// The exception for a harness's reader that raises: its words are that exception's.
pub(crate) fn raised_compat(fault: &CompatFault, parser: &str) -> PyErr {
    Python::attach(|py| {
        let fields = PyDict::new(py);
        fields.set_item("kind", ErrorKind::InvalidInput.as_str())?;
        fields.set_item("blame", Blame::Caller.as_str())?;
        fields.set_item("operation", "read log")?;
        fields.set_item("subject", format!("`{parser}`"))?;
        py.import("swe_atlas._errors")?
            .getattr("CompatFault")?
            .call((fault.to_string(),), Some(&fields))
            .map(PyErr::from_value)
    })
    .unwrap_or_else(|why| why)
}

/// The exception for a defect of this crate: a value of ours that is no JSON.
pub(crate) fn raised_json(error: serde_json::Error) -> PyErr {
    raised(&Error::new(ErrorKind::Internal, "encode", "").with_source(error))
}

/// Every error kind with the name of its exception class, for the test that finds unmapped ones.
#[pyfunction]
pub(crate) fn _error_kinds() -> Vec<(&'static str, Option<&'static str>)> {
    ErrorKind::ALL
        .iter()
        .map(|kind| (kind.as_str(), class_of(*kind)))
        .collect()
}

/// Raises an error of that kind, for the same test.
#[pyfunction]
pub(crate) fn _raise(kind: &str) -> PyResult<()> {
    ErrorKind::ALL
        .iter()
        .find(|known| known.as_str() == kind)
        .map_or(Ok(()), |kind| {
            let cause = std::io::Error::other("its cause");
            Err(raised(
                &Error::new(*kind, "operation", "`subject`").with_source(cause),
            ))
        })
}
