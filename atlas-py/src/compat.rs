//! `parse_log_compat` and `grade_compat`.

use crate::convert::{Source, dumps, to_python};
use crate::errors::{invalid, raised, raised_compat, raised_row};
use crate::instance::Instance;
use atlas_core::Harness;
use atlas_oracle::{CompatGrade, CompatRead, CompatStage};
use atlas_parsers::{CompatHints, compat_parse};
use atlas_pipeline::{HarnessFiles, grade_row};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::sync::Mutex;

fn harness(name: &str) -> PyResult<Harness> {
    Harness::ALL
        .into_iter()
        .find(|harness| harness.name() == name)
        .ok_or_else(|| {
            let known = Harness::ALL.map(Harness::name).join(", ");
            invalid("harness", format!("`{name}`: one of {known} expected"))
        })
}

/// Reads a log as a released harness does, its mistakes included.
///
/// `harness` is 'swebench5', 'swebench4' or 'swebenchpp'; `parser` is what it goes by: a row's
/// `log_parser`, the name of the function that its table has for a repository, or a `log_parser_name`
/// of SWE-Bench++, which goes by the `language` too. `log` is what the harness hands to its function.
/// The other arguments are columns of the row, which some readers ask for.
///
/// Raises CompatFault where the harness's reader raises or there is none; its text is that exception.
#[pyfunction]
#[pyo3(signature = (
    harness, parser, log, *, version="", instance_id="", repo="", test_cmd="", language=""
))]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn parse_log_compat<'py>(
    py: Python<'py>,
    harness: &str,
    parser: &str,
    log: &Bound<'py, PyAny>,
    version: &str,
    instance_id: &str,
    repo: &str,
    test_cmd: &str,
    language: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let harness = self::harness(harness)?;
    let source = Source::take(log, "log")?;
    let hints = CompatHints {
        version: version.to_owned(),
        instance_id: instance_id.to_owned(),
        repo: repo.to_owned(),
        test_cmd: test_cmd.to_owned(),
        language: language.to_owned(),
    };
    let statuses = py.detach(|| {
        let bytes = source.read().map_err(|why| raised(&why))?;
        let text = String::from_utf8_lossy(&bytes);
        compat_parse(harness, parser, &text, &hints).map_err(|why| raised_compat(&why, parser))
    })?;
    let dict = PyDict::new(py);
    for (test, status) in statuses {
        dict.set_item(test, status)?;
    }
    Ok(dict)
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
fn row_of(row: &Bound<'_, PyAny>) -> PyResult<atlas_core::Instance> {
    match row.cast::<Instance>() {
        Ok(row) => Ok(row.get().row().clone()),
        Err(_) => dumps(row)?.parse().map_err(raised_row),
    }
}

/// Grades the stored log of one prediction by Atlas's own rules; needs no engine.
///
/// `row` is the instance as a mapping, `log` the log of the tests with the harness's markers, None where none was
/// written; `patch` is the prediction's patch, None where it is null. The log is read by the parser that the row
/// names, or by the one of its repository; code of a row is not run.
///
/// The result has `verdict` (as `regrade` gives it), `report` (what a harness writes to `report.json`, None where there is
/// nothing to read), `statuses` (SWE-bench id -> worst status) and `is_closed` (whether the harness's marker ends the tests'
/// output). Raises InvalidInputError naming a column that cannot be used.
#[pyfunction]
#[pyo3(signature = (row, log, *, patch, model=""))]
pub(crate) fn grade_log<'py>(
    py: Python<'py>,
    row: &Bound<'py, PyAny>,
    log: Option<&Bound<'py, PyAny>>,
    patch: Option<&str>,
    model: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let row = row_of(row)?;
    let log = log.map(|log| Source::take(log, "log")).transpose()?;
    let graded = py.detach(|| {
        let log = log.map(|log| log.read()).transpose()?;
        atlas_pipeline::grade_log(&row, model, patch, log.as_deref())
    });
    let graded = graded.map_err(|why| raised(&why))?;
    to_python(py, &json!(graded))
}

/// Grades the stored log of one prediction as a released harness does.
///
/// `harness` is 'swebench5', 'swebench4' or 'swebenchpp'; `row` is the instance as a mapping. `log` is
/// the log of the tests, None where none was written; `patch` is the prediction's patch, None where it
/// is null. `stage` says how far the run came: 'tested', 'timed_out', 'not_applied' or 'not_started'.
/// `instance_log` is the harness's own log, which SWE-bench 5 searches for reasons. `read` takes the
/// test output and gives name -> status, in place of the reader that the harness takes for the row.
///
/// The result has `report` (what the harness writes to `report.json`, None where it writes nothing),
/// `resolution`, `outcome` (where the run's report counts it: completed, empty_patch or error), `infra`,
/// `statuses` and `why`. Raises InvalidInputError naming a column that cannot be used.
#[pyfunction]
#[pyo3(signature = (harness, row, log, *, patch, stage="tested", instance_log=None, read=None))]
#[expect(
    clippy::too_many_arguments,
    reason = "converted keyword arguments, on Python's side"
)]
pub(crate) fn grade_compat<'py>(
    py: Python<'py>,
    harness: &str,
    row: &Bound<'py, PyAny>,
    log: Option<&Bound<'py, PyAny>>,
    patch: Option<&str>,
    stage: &str,
    instance_log: Option<&Bound<'py, PyAny>>,
    read: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let harness = self::harness(harness)?;
    let stage = match stage {
        "tested" => CompatStage::Tested,
        "timed_out" => CompatStage::TimedOut,
        "not_applied" => CompatStage::NotApplied,
        "not_started" => CompatStage::NotStarted,
        other => {
            let expected = "tested, timed_out, not_applied or not_started expected";
            return Err(invalid("stage", format!("`{other}`: {expected}")));
        }
    };
    let row = row_of(row)?;
    let content = |value: Option<&Bound<'py, PyAny>>, name: &str| -> PyResult<Option<Vec<u8>>> {
        value
            .map(|value| {
                Source::take(value, name)?
                    .read()
                    .map_err(|why| raised(&why))
            })
            .transpose()
    };
    let log = content(log, "log")?;
    let instance_log = content(instance_log, "instance_log")?;
    let failed = Mutex::new(None);
    let grade = py.detach(|| {
        let files = HarnessFiles {
            patch,
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
    to_python(py, &value(&grade.map_err(raised_row)?))
}
