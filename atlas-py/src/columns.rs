//! Rows as mappings: what `Instance`, `Row` and `Prediction` have in common.

use crate::convert::loads;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use serde_json::{Map, Value};

/// A JSON object with its text; the text says the same and keeps how numbers are spelled.
pub(crate) struct Columns<'a> {
    pub(crate) map: &'a Map<String, Value>,
    pub(crate) text: &'a str,
}

impl Columns<'_> {
    fn column<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.map.get(column) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.into_pyobject(py)?.into_any())),
            Some(_) => loads(py, self.text)?.get_item(column).map(Some),
        }
    }

    pub(crate) fn get<'py>(
        &self,
        py: Python<'py>,
        column: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = self.column(py, column)?;
        Ok(found
            .or(default)
            .unwrap_or_else(|| py.None().into_bound(py)))
    }

    pub(crate) fn item<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyAny>> {
        self.column(py, column)?
            .ok_or_else(|| PyKeyError::new_err(column.to_owned()))
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.map.keys().cloned().collect()
    }

    /// What a dict's method `values` or `items` gives, as a list.
    pub(crate) fn list<'py>(&self, py: Python<'py>, method: &str) -> PyResult<Bound<'py, PyList>> {
        py.get_type::<PyList>()
            .call1((loads(py, self.text)?.call_method0(method)?,))?
            .cast_into()
            .map_err(PyErr::from)
    }

    pub(crate) fn contains(&self, column: &Bound<'_, PyAny>) -> bool {
        column
            .extract::<&str>()
            .is_ok_and(|column| self.map.contains_key(column))
    }

    pub(crate) fn iterate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.map.keys())?.try_iter()
    }
}
