//! What stands behind `parse_log_compat`, `grade_compat` and `grade_log`.

use crate::convert::{Source, dumps, plain};
use crate::errors::{invalid, raised, raised_compat, raised_row};
use crate::instance::Instance;
use crate::options::Options;
use atlas_core::Harness;
use atlas_oracle::{CompatGrade, CompatRead, CompatStage};
use atlas_parsers::{CompatHints, compat_parse};
use atlas_pipeline::{HarnessFiles, grade_row};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use serde_json::{Value, json};
use std::sync::Mutex;

fn harness(given: &Options<'_>) -> PyResult<Harness> {
    let name: String = given.get("harness")?;
    Harness::ALL
        .into_iter()
        .find(|harness| harness.name() == name)
        .ok_or_else(|| {
            let known = Harness::ALL.map(Harness::name).join(", ");
            invalid("harness", format!("`{name}`: one of {known} expected"))
        })
}

#[pyfunction]
pub(crate) fn _parse_log_compat<'py>(
    py: Python<'py>,
    given: Options<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let harness = harness(&given)?;
    let source = Source::take(&given.get("log")?, "log")?;
    let parser: String = given.get("parser")?;
    let hints = CompatHints {
        version: given.get("version")?,
        instance_id: given.get("instance_id")?,
        repo: given.get("repo")?,
        test_cmd: given.get("test_cmd")?,
        language: given.get("language")?,
    };
    let statuses = py.detach(|| {
        let bytes = source.read().map_err(|why| raised(&why))?;
        let text = String::from_utf8_lossy(&bytes);
        compat_parse(harness, &parser, &text, &hints).map_err(|why| raised_compat(&why, &parser))
    })?;
    statuses.into_py_dict(py)
}

/// What a Python function reads. An `Exception` of it is what the harness would see; anything else that
/// goes wrong is kept for the caller.
fn call(read: &Py<PyAny>, text: &str, failed: &Mutex<Option<PyErr>>) -> CompatRead {
    Python::attach(|py| {
        let found = match read.bind(py).call1((text,)) {
            Ok(found) => found,
            Err(why) if why.is_instance_of::<PyException>(py) => {
                let name = why.get_type(py).name().map_or_else(
                    |_| "Exception".to_owned(),
                    |name| name.to_string_lossy().into_owned(),
                );
                return CompatRead::Raised(format!("{name}: {}", why.value(py)));
            }
            Err(why) => return keep(why, failed),
        };
        match statuses(&found) {
            Ok(statuses) => CompatRead::Ordered(statuses),
            Err(why) => keep(why, failed),
        }
    })
}

fn keep(why: PyErr, failed: &Mutex<Option<PyErr>>) -> CompatRead {
    let said = why.to_string();
    if let Ok(mut failed) = failed.lock() {
        *failed = Some(why);
    }
    CompatRead::Raised(said)
}

fn statuses(found: &Bound<'_, PyAny>) -> PyResult<Vec<(String, String)>> {
    let items = found.call_method0("items")?;
    items.try_iter()?.map(|item| item?.extract()).collect()
}

fn value(grade: &CompatGrade) -> Value {
    json!({
        "report": grade.report,
        "resolution": grade.resolution,
        "outcome": grade.outcome,
        "infra": grade.infra,
        "statuses": grade.statuses,
        "why": grade.why,
    })
}

/// A row as the caller has it.
fn row_of(given: &Options<'_>) -> PyResult<atlas_core::Instance> {
    let row: Bound<'_, PyAny> = given.get("row")?;
    match row.cast::<Instance>() {
        Ok(row) => Ok(row.get().row().clone()),
        Err(_) => dumps(&row)?.parse().map_err(raised_row),
    }
}

/// A log, where one is given.
fn content(given: &Options<'_>, name: &str) -> PyResult<Option<Vec<u8>>> {
    let Some(value) = given.object(name)? else {
        return Ok(None);
    };
    let read = Source::take(&value, name)?.read();
    read.map(Some).map_err(|why| raised(&why))
}

#[pyfunction]
pub(crate) fn _grade_log<'py>(py: Python<'py>, given: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (row, log) = (row_of(&given)?, content(&given, "log")?);
    let (model, patch): (String, Option<String>) = (given.get("model")?, given.maybe("patch")?);
    let graded =
        py.detach(|| atlas_pipeline::grade_log(&row, &model, patch.as_deref(), log.as_deref()));
    plain(py, &graded.map_err(|why| raised(&why))?)
}

#[pyfunction]
pub(crate) fn _grade_compat<'py>(
    py: Python<'py>,
    given: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let harness = harness(&given)?;
    let stage = match given.get::<String>("stage")?.as_str() {
        "tested" => CompatStage::Tested,
        "timed_out" => CompatStage::TimedOut,
        "not_applied" => CompatStage::NotApplied,
        "not_started" => CompatStage::NotStarted,
        other => {
            let expected = "tested, timed_out, not_applied or not_started expected";
            return Err(invalid("stage", format!("`{other}`: {expected}")));
        }
    };
    let (row, patch): (_, Option<String>) = (row_of(&given)?, given.maybe("patch")?);
    let (log, instance_log) = (content(&given, "log")?, content(&given, "instance_log")?);
    let read: Option<Py<PyAny>> = given.maybe("read")?;
    let failed = Mutex::new(None);
    let grade = py.detach(|| {
        let files = HarnessFiles {
            patch: patch.as_deref(),
            log: log.as_deref(),
            instance_log: instance_log.as_deref(),
            stage,
        };
        let failed = &failed;
        let own = read
            .as_ref()
            .map(|read| move |text: &str| call(read, text, failed));
        let own = own.as_ref().map(|own| own as &dyn Fn(&str) -> CompatRead);
        grade_row(harness, &row, &files, own)
    });
    if let Ok(Some(why)) = failed.into_inner() {
        return Err(why);
    }
    plain(py, &value(&grade.map_err(raised_row)?))
}
