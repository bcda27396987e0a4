//! `Instance`.

use crate::convert::{Source, dumps};
use crate::errors::{raised, raised_row};
use crate::rows::{Columns, NativeRow};
use atlas_core::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyType;
use serde_json::{Map, Value};
use std::sync::Arc;

/// One row of a SWE-bench dataset, with every column it was read with.
///
/// A mapping from column to value, like the row as a dict, and attributes for the columns that
/// define the task. Immutable. A row that was read is written back byte for byte.
#[pyclass(frozen, extends = NativeRow, module = "swe_atlas")]
#[derive(Debug)]
pub(crate) struct Instance(Arc<Read>);

#[derive(Debug)]
struct Read {
    row: atlas_core::Instance,
    /// The row as it was read: numbers keep their spelling, separators their spaces.
    text: String,
}

impl Columns for Read {
    fn class(&self) -> &'static str {
        "Instance"
    }

    fn id(&self) -> &str {
        let id = self.map().get("instance_id");
        id.and_then(Value::as_str).unwrap_or_default()
    }

    fn map(&self) -> &Map<String, Value> {
        self.row.as_map()
    }

    fn text(&self) -> &str {
        &self.text
    }
}

impl Instance {
    pub(crate) fn row(&self) -> &atlas_core::Instance {
        &self.0.row
    }

    fn read<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, Self>> {
        let text = text.trim().to_owned();
        let row = text.parse().map_err(raised_row)?;
        NativeRow::of(py, Read { row, text }, Self)
    }

    /// The face of a row that was read elsewhere.
    pub(crate) fn of<'py>(
        py: Python<'py>,
        row: &atlas_core::Instance,
    ) -> PyResult<Bound<'py, Self>> {
        Self::read(py, &crate::convert::to_value(row)?.to_string())
    }
}

#[pymethods]
impl Instance {
    /// Reads one row: a JSON object with a valid `instance_id`. White space around it is dropped.
    ///
    /// Raises InvalidInputError naming the column that is wrong.
    #[classmethod]
    fn from_json<'py>(
        class: &Bound<'py, PyType>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        let source = Source::take(text, "text")?;
        let bytes = source.bytes().ok_or_else(|| {
            pyo3::exceptions::PyTypeError::new_err("text: str or bytes expected, not a path")
        })?;
        let text = std::str::from_utf8(bytes).map_err(|why| {
            raised(&Error::new(ErrorKind::InvalidInput, "read row", "").with_source(why))
        })?;
        Self::read(class.py(), text)
    }

    /// Takes a row from a mapping whose values are plain JSON values.
    ///
    /// Raises InvalidInputError naming the column that is wrong.
    #[classmethod]
    fn from_dict<'py>(
        class: &Bound<'py, PyType>,
        row: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        Self::read(class.py(), &dumps(row)?)
    }

    /// The row's name.
    #[getter]
    fn instance_id(&self) -> PyResult<String> {
        self.row().id().map(String::from).map_err(raised_row)
    }

    /// Tests that define the task; read from a list or a JSON-encoded string of one.
    #[getter]
    fn fail_to_pass(&self) -> PyResult<Vec<String>> {
        self.row()
            .fail_to_pass()
            .map(|list| list.ids.to_vec())
            .map_err(raised_row)
    }

    /// Tests that must go on passing; read from a list or a JSON-encoded string of one.
    #[getter]
    fn pass_to_pass(&self) -> PyResult<Vec<String>> {
        self.row()
            .pass_to_pass()
            .map(|list| list.ids.to_vec())
            .map_err(raised_row)
    }

    /// The gold patch: the pull request's solution.
    #[getter]
    fn patch(&self) -> PyResult<&str> {
        self.row().required("patch").map_err(raised_row)
    }

    /// The pull request's changes to tests.
    #[getter]
    fn test_patch(&self) -> PyResult<&str> {
        self.row().required("test_patch").map_err(raised_row)
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!(
            "Instance('{}', {} columns)",
            self.instance_id()?,
            self.row().as_map().len()
        ))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((
            slf.get_type().getattr("from_json")?,
            (slf.get().0.text.clone(),),
        ))
    }
}
