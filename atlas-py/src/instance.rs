//! `Instance`.

use crate::columns::Columns;
use crate::convert::{Source, dumps, loads};
use crate::errors::{raised, raised_row};
use crate::notebook;
use atlas_core::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyType};

/// One row of a SWE-bench dataset, with every column it was read with.
///
/// A mapping from column to value, like the row as a dict, and attributes for the columns that
/// define the task. Immutable. A row that was read is written back byte for byte.
#[pyclass(frozen, mapping, module = "swe_atlas")]
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) row: atlas_core::Instance,
    /// The row as it was read: numbers keep their spelling, separators their spaces.
    text: String,
}

impl Instance {
    fn read(text: &str) -> PyResult<Self> {
        let text = text.trim().to_owned();
        let row = text.parse().map_err(raised_row)?;
        Ok(Self { row, text })
    }

    /// The face of a row that was read elsewhere.
    pub(crate) fn of(row: &atlas_core::Instance) -> PyResult<Self> {
        Self::read(&crate::convert::to_value(row)?.to_string())
    }

    fn columns(&self) -> Columns<'_> {
        Columns {
            map: self.row.as_map(),
            text: &self.text,
        }
    }
}

#[pymethods]
impl Instance {
    /// Reads one row: a JSON object with a valid `instance_id`. White space around it is dropped.
    ///
    /// Raises InvalidInputError naming the column that is wrong.
    #[classmethod]
    fn from_json(_class: &Bound<'_, PyType>, text: &Bound<'_, PyAny>) -> PyResult<Self> {
        let source = Source::take(text, "text")?;
        let bytes = source.bytes().ok_or_else(|| {
            pyo3::exceptions::PyTypeError::new_err("text: str or bytes expected, not a path")
        })?;
        let text = std::str::from_utf8(bytes).map_err(|why| {
            raised(&Error::new(ErrorKind::InvalidInput, "read row", "").with_source(why))
        })?;
        Self::read(text)
    }

    /// Takes a row from a mapping whose values are plain JSON values.
    ///
    /// Raises InvalidInputError naming the column that is wrong.
    #[classmethod]
    fn from_dict(_class: &Bound<'_, PyType>, row: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::read(&dumps(row)?)
    }

    /// The row as one line of JSON, byte for byte as `from_json` read it.
    fn to_json(&self) -> &str {
        &self.text
    }

    /// The row as a dict.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, &self.text)
    }

    /// The row's name.
    #[getter]
    fn instance_id(&self) -> PyResult<String> {
        self.row.id().map(String::from).map_err(raised_row)
    }

    /// Tests that define the task; read from a list or a JSON-encoded string of one.
    #[getter]
    fn fail_to_pass(&self) -> PyResult<Vec<String>> {
        self.row
            .fail_to_pass()
            .map(|list| list.ids.to_vec())
            .map_err(raised_row)
    }

    /// Tests that must go on passing; read from a list or a JSON-encoded string of one.
    #[getter]
    fn pass_to_pass(&self) -> PyResult<Vec<String>> {
        self.row
            .pass_to_pass()
            .map(|list| list.ids.to_vec())
            .map_err(raised_row)
    }

    /// The gold patch: the pull request's solution.
    #[getter]
    fn patch(&self) -> PyResult<&str> {
        self.row.required("patch").map_err(raised_row)
    }

    /// The pull request's changes to tests.
    #[getter]
    fn test_patch(&self) -> PyResult<&str> {
        self.row.required("test_patch").map_err(raised_row)
    }

    /// The value of a column, or `default` where there is no such column.
    #[pyo3(signature = (column, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        column: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.columns().get(py, column, default)
    }

    /// The names of all columns, in order.
    fn keys(&self) -> Vec<String> {
        self.columns().keys()
    }

    /// The values of all columns, in order.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.columns().list(py, "values")
    }

    /// The columns with their values, in order.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.columns().list(py, "items")
    }

    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyAny>> {
        self.columns().item(py, column)
    }

    fn __contains__(&self, column: &Bound<'_, PyAny>) -> bool {
        self.columns().contains(column)
    }

    fn __len__(&self) -> usize {
        self.row.as_map().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.columns().iterate(py)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.row == other.row
    }

    fn _repr_html_(&self) -> String {
        let id = self.row.as_map().get("instance_id");
        let id = id.and_then(|id| id.as_str()).unwrap_or_default();
        notebook::mapping("Instance", id, self.row.as_map())
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!(
            "Instance('{}', {} columns)",
            self.instance_id()?,
            self.__len__()
        ))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((
            slf.get_type().getattr("from_json")?,
            (slf.get().text.clone(),),
        ))
    }
}
