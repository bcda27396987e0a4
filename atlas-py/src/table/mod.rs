//! Rows for data frames: the Arrow PyCapsule interface, which pandas, polars, pyarrow and DuckDB take without any of
//! them being needed here.

mod columns;

pub(crate) use columns::RowView;

use crate::convert::plain;
use crate::errors::{invalid, raised_json};
use crate::notebook;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use columns::{Columns, size};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyType};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Rows of a batch.
const ROWS: usize = 8192;
/// Bytes after which a batch ends.
const BYTES: usize = 64 << 20;
/// Bytes that one row may have: offsets of a batch's texts have 32 bits.
const ROW_BYTES: usize = 1 << 30;

/// What has rows. Rows are looked at where they are; a frame's columns are the only copy.
pub(crate) trait Rows: Send + 'static {
    fn count(&self) -> usize;
    fn row(&self, at: usize) -> RowView<'_>;
}

struct Reader<R> {
    rows: R,
    columns: Columns,
    at: usize,
}

impl<R: Rows> Reader<R> {
    fn new(rows: R) -> Self {
        let columns = Columns::of((0..rows.count()).map(|at| rows.row(at)));
        Self {
            rows,
            columns,
            at: 0,
        }
    }
}

impl<R: Rows> Iterator for Reader<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < ROWS && bytes < BYTES && self.at + batch.len() < self.rows.count() {
            let row = self.rows.row(self.at + batch.len());
            let own = size(&row);
            if own > ROW_BYTES {
                let number = self.at + batch.len() + 1;
                return Some(Err(ArrowError::InvalidArgumentError(format!(
                    "row {number} has {own} bytes: more than {ROW_BYTES} are no row of a frame; leave it out"
                ))));
            }
            bytes += own;
            batch.push(row);
        }
        if batch.is_empty() {
            return None;
        }
        let made = self.columns.batch(&batch);
        self.at += batch.len();
        Some(made)
    }
}

impl<R: Rows> RecordBatchReader for Reader<R> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.columns.schema)
    }
}

/// What `__arrow_c_stream__` gives. Batches are made one by one, as they are asked for.
pub(crate) fn stream<R: Rows>(py: Python<'_>, rows: R) -> PyResult<Bound<'_, PyCapsule>> {
    let reader = py.detach(|| Reader::new(rows));
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// What `__arrow_c_schema__` gives.
pub(crate) fn schema<R: Rows>(py: Python<'_>, rows: R) -> PyResult<Bound<'_, PyCapsule>> {
    let columns = py.detach(|| Reader::new(rows).columns);
    let schema = FFI_ArrowSchema::try_from(columns.schema.as_ref())
        .map_err(|why| invalid("columns", why))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Rows with columns, as reports give them: for `pandas.DataFrame.from_arrow`, `polars.DataFrame`, `pyarrow.table`, SQL of
/// DuckDB, and whatever else knows the Arrow PyCapsule interface.
///
/// Texts, numbers, truths and lists of texts are columns of these; what has parts of its own is JSON text. Immutable.
#[pyclass(frozen, eq, module = "swe_atlas")]
#[derive(Debug, PartialEq)]
pub(crate) struct Table {
    name: String,
    rows: Arc<Vec<Map<String, Value>>>,
}

impl Rows for Arc<Vec<Map<String, Value>>> {
    fn count(&self) -> usize {
        self.len()
    }

    fn row(&self, at: usize) -> RowView<'_> {
        RowView {
            named: None,
            columns: &self[at],
        }
    }
}

impl Table {
    /// The rows of a field of a report: a list of objects, or objects by key, which becomes the column `key`. `main` is
    /// where those stand that are given if none are asked for.
    pub(crate) fn of_field(report: &Value, main: &str, asked: Option<&str>) -> PyResult<Self> {
        let (found, name) = match asked {
            Some(name) => (report.get(name), name),
            None => (
                report.pointer(main),
                main.rsplit('/').next().unwrap_or(main),
            ),
        };
        // A list that is empty may be left out of the report.
        let is_main = main.trim_start_matches('/') == name;
        let rows = match found.unwrap_or(&Value::Null) {
            Value::Null if is_main => Some(Vec::new()),
            found => rows_of(found),
        };
        let rows = rows.ok_or_else(|| {
            let fields = report.as_object().into_iter().flatten();
            let known: Vec<&str> = fields
                .filter(|(_, value)| rows_of(value).is_some())
                .map(|(name, _)| name.as_str())
                .collect();
            let why = format!("`{name}` is no list of rows: one of {}", known.join(", "));
            invalid("field", why)
        })?;
        Ok(Self::new(name, rows))
    }

    pub(crate) fn new(name: &str, rows: Vec<Map<String, Value>>) -> Self {
        Self {
            name: name.to_owned(),
            rows: Arc::new(rows),
        }
    }
}

fn rows_of(value: &Value) -> Option<Vec<Map<String, Value>>> {
    match value {
        Value::Array(items) => items.iter().map(|item| item.as_object().cloned()).collect(),
        Value::Object(fields) if !fields.is_empty() => fields
            .iter()
            .map(|(key, value)| {
                let mut row = Map::new();
                row.insert("key".to_owned(), key.as_str().into());
                row.extend(value.as_object()?.clone());
                Some(row)
            })
            .collect(),
        _ => None,
    }
}

#[pymethods]
impl Table {
    /// The names of the columns, in order of their first appearance.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let columns = Columns::of((0..self.rows.count()).map(|at| self.rows.row(at)));
        columns.names().into_iter().map(str::to_owned).collect()
    }

    /// The rows as dicts, with parts as they are.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, self.rows.as_ref())
    }

    /// The rows as a stream of Arrow; for data frames. A schema that is asked for is not heeded.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        stream(py, Arc::clone(&self.rows))
    }

    /// The schema of that stream.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema(py, Arc::clone(&self.rows))
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }

    fn __repr__(&self) -> String {
        format!("Table('{}', {} rows)", self.name, self.rows.len())
    }

    fn _repr_html_(&self) -> String {
        notebook::objects(&self.name, &self.rows)
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, state: &str) -> PyResult<Self> {
        let (name, rows): (String, Vec<_>) = serde_json::from_str(state).map_err(raised_json)?;
        Ok(Self::new(&name, rows))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let this = slf.get();
        let state =
            serde_json::to_string(&(&this.name, this.rows.as_ref())).map_err(raised_json)?;
        Ok((slf.get_type().getattr("_restore")?, (state,)))
    }
}
