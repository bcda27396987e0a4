//! `ParsedLog` and `parse_log`.

use crate::convert::{Source, plain, to_python, to_value};
use crate::errors::{raised, raised_json};
use crate::notebook::{self, view};
use crate::table::Table;
use crate::traits::PyParser;
use atlas_core::{Error, TestStatus};
use atlas_parsers::Hints;
use atlas_pipeline::{ParseReport, parse_bytes, parse_file};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What a test runner's log says: which tests ran, how each ended, and what did not run.
///
/// Made by `parse_log`. Immutable; every attribute gives fresh plain values.
#[pyclass(frozen, eq, module = "swe_atlas")]
#[derive(Debug, PartialEq)]
pub(crate) struct ParsedLog {
    pub(crate) log: atlas_core::ParsedLog,
    detection: Option<Value>,
}

impl ParsedLog {
    /// The face of a log that was read.
    pub(crate) fn of(log: atlas_core::ParsedLog) -> Self {
        Self {
            log,
            detection: None,
        }
    }

    /// What a notebook tells before the tests.
    fn told(&self, tests: &BTreeMap<&str, TestStatus>) -> PyResult<Value> {
        let mut statuses: BTreeMap<&str, usize> = BTreeMap::new();
        for status in tests.values() {
            *statuses.entry(status.as_str()).or_default() += 1;
        }
        Ok(json!({
            "parser": self.log.parser,
            "outcome": to_value(&self.log.outcome)?,
            "consistent": self.log.consistent,
            "statuses": statuses,
            "modules_not_loaded": to_value(&self.log.modules_not_loaded)?,
            "in_flight": self.log.in_flight,
            "warnings": to_value(&self.log.warnings)?,
        }))
    }

    /// The value that `atlas parse --format json --qualified` prints.
    fn value(&self) -> PyResult<Value> {
        let mut value = to_value(&ParseReport::with_qualified(&self.log))?;
        if let (Some(fields), Some(found)) = (value.as_object_mut(), &self.detection) {
            fields.insert("detection".to_owned(), found.clone());
        }
        Ok(value)
    }
}

/// Tests as rows, so many at most, those first that did not pass.
fn rows(tests: &BTreeMap<&str, TestStatus>, most: usize) -> Vec<Map<String, Value>> {
    let passed = |passes: bool| {
        let of = move |(_, status): &(_, &TestStatus)| (**status == TestStatus::Passed) == passes;
        tests.iter().filter(of)
    };
    let row = |(test, status): (&&str, &TestStatus)| {
        let fields = [("test", *test), ("status", status.as_str())];
        fields
            .map(|(name, value)| (name.to_owned(), value.into()))
            .into_iter()
            .collect()
    };
    passed(false)
        .chain(passed(true))
        .take(most)
        .map(row)
        .collect()
}

fn statuses<'py>(
    py: Python<'py>,
    tests: BTreeMap<&str, TestStatus>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (id, status) in tests {
        dict.set_item(id, status.as_str())?;
    }
    Ok(dict)
}

#[pymethods]
impl ParsedLog {
    /// The id of the parser that read the log.
    #[getter]
    fn parser(&self) -> &str {
        &self.log.parser
    }

    /// SWE-bench id -> status; where several tests share an id, the worst.
    #[getter]
    fn tests<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        statuses(py, self.log.tests())
    }

    /// Qualified id (package, binary or file in front) -> status; without collisions.
    #[getter]
    fn qualified<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        statuses(py, self.log.qualified())
    }

    /// The runner's own counts as it printed them; None if it printed none.
    #[getter]
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.log.totals)
    }

    /// Whether `totals` agree with what was parsed; None where that cannot be told.
    #[getter]
    fn consistent(&self) -> Option<bool> {
        self.log.consistent
    }

    /// How the run ended: completed, build_failed, crashed, timed_out, truncated or nothing_ran.
    #[getter]
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.log.outcome)
    }

    /// Whether something could not be built, collected or loaded.
    #[getter]
    fn build_failed(&self) -> bool {
        self.log.build_failed()
    }

    /// Files, packages, binaries or suites whose tests are missing, each with why and proof lines.
    #[getter]
    fn modules_not_loaded<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.log.modules_not_loaded)
    }

    /// Tests that were running when the process died.
    #[getter]
    fn in_flight(&self) -> Vec<String> {
        self.log.in_flight.clone()
    }

    /// Ids with more than one result.
    #[getter]
    fn duplicates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.log.duplicates())
    }

    /// Remarks of the parser.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.log.warnings)
    }

    /// How the parser was found; None where it was named.
    #[getter]
    fn detection<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.detection)
    }

    /// Everything as plain values, equal to what `atlas parse --format json --qualified` prints.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.value()?)
    }

    /// The same as one line of JSON.
    fn to_json(&self) -> PyResult<String> {
        Ok(self.value()?.to_string())
    }

    /// A drawing as SVG: tests by status. None where there is no test.
    ///
    /// It stands alone, in a file or in a page, and is legible on light and on dark.
    fn to_svg(&self) -> PyResult<Option<String>> {
        Ok(notebook::svg(&view::LOG, &self.told(&self.log.tests())?))
    }

    /// The tests for data frames: `test` (as in `tests`) and `status`.
    fn table(&self) -> Table {
        Table::new("tests", rows(&self.log.tests(), usize::MAX))
    }

    fn _repr_html_(&self) -> PyResult<String> {
        let tests = self.log.tests();
        let told = self.told(&tests)?;
        Ok(notebook::log(
            &told,
            &rows(&tests, notebook::SHOWN),
            tests.len(),
        ))
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!(
            "ParsedLog(parser='{}', outcome='{}', tests={})",
            self.log.parser,
            to_value(&self.log.outcome)?.as_str().unwrap_or_default(),
            self.log.tests().len()
        ))
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, state: &str) -> PyResult<Self> {
        let (log, detection) = serde_json::from_str(state).map_err(raised_json)?;
        Ok(Self { log, detection })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let this = slf.get();
        let state = serde_json::to_string(&(&this.log, &this.detection)).map_err(raised_json)?;
        Ok((slf.get_type().getattr("_restore")?, (state,)))
    }
}

/// Parses a log; runs detached from Python's lock.
pub(crate) fn read(
    py: Python<'_>,
    source: &Source,
    parser: &str,
    hints: &Hints<'_>,
) -> Result<ParsedLog, Error> {
    let (log, detection) = py.detach(|| match source {
        Source::File(path) => parse_file(path, parser, hints),
        memory => parse_bytes(memory.bytes().unwrap_or_default(), parser, hints),
    })?;
    // A detection is plain data; one that were no JSON would be left out, not fail the parse.
    let detection = detection.and_then(|found| serde_json::to_value(found).ok());
    Ok(ParsedLog { log, detection })
}

/// Reads a test runner's log.
///
/// `log` is the content as bytes or str, or a path object for a file, which is read in pieces.
/// `parser` is a parser's id ('pytest'), a harness's name for one ('parse_log_pytest'), an object of the protocol
/// `LogParser`, which is called in this thread, or 'auto': then `command` (the test command) and `language` help to find it.
///
/// Raises InvalidInputError for an unknown parser or, with 'auto', where no runner is recognised.
#[pyfunction]
#[pyo3(signature = (log, parser=None, *, command=None, language=None),
    text_signature = "(log, parser='auto', *, command=None, language=None)")]
pub(crate) fn parse_log(
    py: Python<'_>,
    log: &Bound<'_, PyAny>,
    parser: Option<&Bound<'_, PyAny>>,
    command: Option<&str>,
    language: Option<&str>,
) -> PyResult<ParsedLog> {
    let source = Source::take(log, "log")?;
    let name = match parser.map(|parser| (parser, parser.cast::<PyString>())) {
        None => "auto".into(),
        Some((_, Ok(name))) => name.to_cow()?,
        Some((parser, Err(_))) => {
            let parser = PyParser::new(parser)?;
            let bytes = py.detach(|| source.read()).map_err(|why| raised(&why))?;
            return parser.now(py, &bytes).map(ParsedLog::of);
        }
    };
    let parser = &*name;
    read(py, &source, parser, &Hints { command, language }).map_err(|why| raised(&why))
}
