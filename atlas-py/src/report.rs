//! Reports that are their JSON.

use crate::convert::{to_python, to_value};
use crate::errors::raised_json;
use crate::notebook::{self, view::View};
use crate::table::Table;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde::Serialize;
use serde_json::Value;

/// A report in the form in which the command prints it: attributes, dictionary, JSON and pickle
/// all read the same value, so they cannot disagree.
#[derive(Debug, PartialEq)]
pub(crate) struct Report(Value);

impl Report {
    pub(crate) fn of<T: Serialize>(value: &T) -> PyResult<Self> {
        to_value(value).map(Self)
    }

    /// From [`json`](Self::json), for pickle.
    pub(crate) fn restore(json: &str) -> PyResult<Self> {
        serde_json::from_str(json).map(Self).map_err(raised_json)
    }

    pub(crate) fn value(&self, name: &str) -> &Value {
        &self.0[name]
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_default()
    }

    /// One column as a plain Python value.
    pub(crate) fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0[name])
    }

    /// The same for a list that is left out where it is empty.
    pub(crate) fn list<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match &self.0[name] {
            Value::Null => Ok(PyList::empty(py).into_any()),
            list => to_python(py, list),
        }
    }

    pub(crate) fn dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0)
    }

    pub(crate) fn whole(&self) -> &Value {
        &self.0
    }

    /// One line.
    pub(crate) fn json(&self) -> String {
        self.0.to_string()
    }

    /// What a notebook shows.
    pub(crate) fn html(&self, view: &View) -> String {
        notebook::report(view, &self.0)
    }

    /// Its drawing, if there is something to draw.
    pub(crate) fn svg(&self, view: &View) -> Option<String> {
        notebook::svg(view, &self.0)
    }

    /// Rows of a list: of `main` if none is asked for.
    pub(crate) fn table(&self, main: &str, asked: Option<&str>) -> PyResult<Table> {
        Table::of_field(&self.0, main, asked)
    }

    /// `Name(id, outcome=…, 3 FAIL_TO_PASS, 9 PASS_TO_PASS)`.
    pub(crate) fn summary(&self) -> String {
        format!(
            "outcome='{}', FAIL_TO_PASS={}, PASS_TO_PASS={}",
            self.text("outcome"),
            self.count("FAIL_TO_PASS"),
            self.count("PASS_TO_PASS")
        )
    }

    /// How many a list has.
    pub(crate) fn count(&self, name: &str) -> usize {
        self.0[name].as_array().map_or(0, Vec::len)
    }
}
