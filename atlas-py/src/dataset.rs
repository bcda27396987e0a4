//! `Row`, `Dataset` and `read_dataset`.

use crate::columns::Columns;
use crate::convert::{Reduced, dumps, loads, plain, to_python, to_value};
use crate::errors::{invalid, raised};
use crate::notebook;
use crate::table::{self, RowView, Rows};
use atlas_formats::ReadOptions;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyIterator, PyList, PyType};
use std::path::{Path, PathBuf};

/// One row of a dataset, in whichever schema of the field.
///
/// A mapping from column to value, like the row as a dict. Immutable. A row that was read is written
/// back byte for byte. `Instance.from_dict(row)` gives the columns of a SWE-bench row as attributes.
#[pyclass(frozen, mapping, module = "swe_atlas")]
#[derive(Debug)]
pub(crate) struct Row(atlas_formats::Row);

impl Row {
    fn columns(&self) -> Columns<'_> {
        Columns {
            map: self.0.columns(),
            text: self.0.json(),
        }
    }

    pub(crate) fn read(text: &str) -> PyResult<Self> {
        text.parse().map(Self).map_err(|why| invalid("row", why))
    }
}

#[pymethods]
impl Row {
    /// Reads one row: a JSON object that a column names.
    ///
    /// Raises InvalidInputError where no column names the row.
    #[classmethod]
    fn from_json(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        Self::read(text)
    }

    /// Takes a row from a mapping whose values are plain JSON values.
    ///
    /// Raises InvalidInputError where no column names the row.
    #[classmethod]
    fn from_dict(_class: &Bound<'_, PyType>, row: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::read(&dumps(row)?)
    }

    /// The row's name: `instance_id`, or what the schema has in its place.
    #[getter]
    fn instance_id(&self) -> &str {
        self.0.id().as_str()
    }

    /// Where it was read, as 'file:line'; None for a row that was made.
    #[getter]
    fn place(&self) -> Option<String> {
        self.0.place().map(ToString::to_string)
    }

    /// The row as JSON, as it was read.
    fn to_json(&self) -> &str {
        self.0.json()
    }

    /// The row as a dict.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, self.0.json())
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
        self.0.columns().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.columns().iterate(py)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0.columns() == other.0.columns()
    }

    fn _repr_html_(&self) -> String {
        notebook::mapping("Row", self.0.id().as_str(), self.0.columns())
    }

    fn __repr__(&self) -> String {
        format!("Row('{}', {} columns)", self.0.id(), self.__len__())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((
            slf.get_type().getattr("from_json")?,
            (slf.get().0.json().to_owned(),),
        ))
    }
}

/// The rows of a dataset, and what was wrong with others.
///
/// Made by `read_dataset`, `convert` and `Dataset.from_rows`. Immutable: a sequence of rows, which can
/// also be had by name. What is written has the bytes that were read.
#[pyclass(frozen, module = "swe_atlas")]
#[derive(Debug)]
pub(crate) struct Dataset {
    pub(crate) set: atlas_formats::Dataset,
    /// For messages.
    pub(crate) name: PathBuf,
    /// Whether it was read, not made.
    pub(crate) is_read: bool,
}

impl Rows for Py<Dataset> {
    fn count(&self) -> usize {
        self.get().set.rows.len()
    }

    fn row(&self, at: usize) -> RowView<'_> {
        RowView {
            named: None,
            columns: self.get().set.rows[at].columns(),
        }
    }
}

/// How a dataset is asked for a row.
#[derive(FromPyObject)]
pub(crate) enum RowKey {
    Index(isize),
    Name(String),
}

#[pymethods]
impl Dataset {
    /// Takes rows from mappings whose values are plain JSON values.
    ///
    /// Raises InvalidInputError where no column names a row.
    #[classmethod]
    fn from_rows(_class: &Bound<'_, PyType>, rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut taken = Vec::new();
        for row in rows.try_iter()? {
            let row = row?;
            taken.push(match row.cast::<Row>() {
                Ok(row) => row.get().0.clone(),
                Err(_) => Row::read(&dumps(&row)?)?.0,
            });
        }
        Ok(Self {
            set: atlas_formats::Dataset::new(taken),
            name: PathBuf::from("rows"),
            is_read: false,
        })
    }

    /// The rows that could be read, in order.
    #[getter]
    fn rows(&self) -> Vec<Row> {
        self.set.rows.iter().cloned().map(Row).collect()
    }

    /// What could not be read, and what deserves a look.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.set.faults)
    }

    /// The schema of the rows; None where there are no rows, or rows of none or of several.
    #[getter]
    fn schema(&self) -> Option<&'static str> {
        self.set.schema().ok().map(atlas_formats::Schema::as_str)
    }

    /// The file again, byte for byte; one row a line for a dataset that was no file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.set.to_bytes())
    }

    /// Writes the dataset: a file by its extension ('.json' a list, else one row a line), or a folder
    /// for tasks that are folders.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a converted argument, on Python's side"
    )]
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.set.write(&path))
            .map_err(|why| raised(&why))
    }

    fn __len__(&self) -> usize {
        self.set.rows.len()
    }

    fn __getitem__(&self, key: RowKey) -> PyResult<Row> {
        let rows = &self.set.rows;
        match key {
            RowKey::Index(at) => {
                let at = if at < 0 {
                    rows.len().checked_sub(at.unsigned_abs())
                } else {
                    Some(at.unsigned_abs())
                };
                let row = at.and_then(|at| rows.get(at));
                row.ok_or_else(|| PyIndexError::new_err("dataset index out of range"))
            }
            RowKey::Name(name) => rows
                .iter()
                .find(|row| row.id().as_str() == name)
                .ok_or_else(|| PyKeyError::new_err(name)),
        }
        .map(|row| Row(row.clone()))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.rows())?.try_iter()
    }

    /// The rows as a stream of Arrow, for data frames: a column for each name, in order of first appearance.
    ///
    /// Texts, numbers, truths and lists of texts are columns of these; what has parts of its own is JSON text, and in a column
    /// of several kinds texts stay as they are. Rows are copied as the stream is read, a batch at a time. A schema that is
    /// asked for is not heeded.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        slf: &Bound<'py, Self>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        table::stream(slf.py(), slf.clone().unbind())
    }

    /// The schema of that stream.
    fn __arrow_c_schema__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyCapsule>> {
        table::schema(slf.py(), slf.clone().unbind())
    }

    fn _repr_html_(&self) -> String {
        notebook::dataset(&self.set, &self.name.to_string_lossy())
    }

    fn __repr__(&self) -> String {
        format!(
            "Dataset('{}', {} rows, {} faults)",
            self.name.display(),
            self.set.rows.len(),
            self.set.faults.len()
        )
    }

    #[classmethod]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "converted arguments, on Python's side"
    )]
    fn _restore(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        name: PathBuf,
        file: Option<PathBuf>,
        bytes: &[u8],
    ) -> Self {
        let set = py.detach(|| {
            if let Some(file) = &file {
                return atlas_formats::Dataset::from_bytes(bytes, file);
            }
            // Rows that were made have no places.
            let lines = bytes.split(|byte| *byte == b'\n');
            let rows = lines.filter_map(|line| std::str::from_utf8(line).ok()?.parse().ok());
            atlas_formats::Dataset::new(rows.collect())
        });
        Self {
            set,
            name,
            is_read: file.is_some(),
        }
    }

    /// A file is kept byte for byte. Raises TypeError for folders of tasks, whose other files are not in memory.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, State<'py>> {
        let (py, this) = (slf.py(), slf.get());
        let file = match this.set.form() {
            None if this.is_read => {
                return Err(PyTypeError::new_err(
                    "a dataset that was no JSON file cannot be pickled whole: send its path, or Dataset.from_rows(dataset.rows)",
                ));
            }
            None => None,
            Some(_) => {
                let mut places = this.set.rows.iter().filter_map(|row| row.place());
                let place = places
                    .next()
                    .or(this.set.faults.first().map(|fault| &fault.place));
                Some(place.map_or_else(|| this.name.clone(), |place| place.file.clone()))
            }
        };
        let bytes = PyBytes::new(py, &this.set.to_bytes());
        let state = (this.name.clone(), file, bytes);
        Ok((slf.get_type().getattr("_restore")?, state))
    }
}

/// A dataset for pickle: its name, the file that was read, and its bytes.
type State<'py> = (PathBuf, Option<PathBuf>, Bound<'py, PyBytes>);

/// Reads a dataset: a JSON file (one row a line, a list, a dict), a folder of tasks, or a folder with
/// one such file a split, which `split` names.
///
/// A row that cannot be used is one of `faults`, with file, line, column and the way out, and the rest
/// goes on. Raises AtlasError for what cannot be read at all.
#[pyfunction]
#[pyo3(signature = (path, *, split=None))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "converted arguments, on Python's side"
)]
pub(crate) fn read_dataset(
    py: Python<'_>,
    path: PathBuf,
    split: Option<String>,
) -> PyResult<Dataset> {
    py.detach(|| open(&path, split))
}

fn open(path: &Path, split: Option<String>) -> PyResult<Dataset> {
    let mut options = ReadOptions::default();
    options.split = split;
    let set = atlas_formats::read_dataset(path, &options).map_err(|why| raised(&why))?;
    Ok(Dataset {
        set,
        name: path.to_owned(),
        is_read: true,
    })
}

/// A dataset that was read, or that has to be.
pub(crate) fn given<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, Dataset>> {
    if let Ok(dataset) = value.cast::<Dataset>() {
        return Ok(dataset.clone());
    }
    let py = value.py();
    let path = value.extract::<PathBuf>().map_err(|_| {
        PyTypeError::new_err(format!("{name}: a Dataset, or the path of one, expected"))
    })?;
    Bound::new(py, py.detach(|| open(&path, None))?)
}

/// Compares two datasets by the names of their rows, each a Dataset or a path.
///
/// The order of rows and columns is no difference, nor is how a value is spelled; lists of tests and
/// patches are compared by what they mean, in whichever schema.
#[pyfunction]
pub(crate) fn diff_datasets<'py>(
    py: Python<'py>,
    first: &Bound<'py, PyAny>,
    second: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (first, second) = (given(first, "first")?, given(second, "second")?);
    let (first, second) = (&first.get().set, &second.get().set);
    let value = py.detach(|| to_value(&atlas_formats::diff_datasets(first, second)))?;
    to_python(py, &value)
}
