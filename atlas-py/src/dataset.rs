//! `Row`, `Dataset` and `read_dataset`.

use crate::convert::{Reduced, dumps, plain};
use crate::errors::{invalid, raised};
use crate::notebook;
use crate::rows::{Columns, NativeRow, item};
use crate::table::{self, RowView, Rows};
use atlas_formats::ReadOptions;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyIterator, PyList, PyType};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One row of a dataset, in whichever schema of the field.
///
/// A mapping from column to value, like the row as a dict. Immutable. A row that was read is written
/// back byte for byte. `Instance.from_dict(row)` gives the columns of a SWE-bench row as attributes.
#[pyclass(frozen, extends = NativeRow, module = "swe_atlas")]
#[derive(Debug)]
pub(crate) struct Row(Arc<atlas_formats::Row>);

impl Columns for atlas_formats::Row {
    fn class(&self) -> &'static str {
        "Row"
    }

    fn id(&self) -> &str {
        self.id().as_str()
    }

    fn map(&self) -> &Map<String, Value> {
        self.columns()
    }

    fn text(&self) -> &str {
        self.json()
    }
}

impl Row {
    fn of<'py>(py: Python<'py>, row: &atlas_formats::Row) -> PyResult<Bound<'py, Self>> {
        NativeRow::of(py, row.clone(), Self)
    }
}

fn read(text: &str) -> PyResult<atlas_formats::Row> {
    text.parse().map_err(|why| invalid("row", why))
}

#[pymethods]
impl Row {
    /// Reads one row: a JSON object that a column names.
    ///
    /// Raises InvalidInputError where no column names the row.
    #[classmethod]
    fn from_json<'py>(class: &Bound<'py, PyType>, text: &str) -> PyResult<Bound<'py, Self>> {
        Self::of(class.py(), &read(text)?)
    }

    /// Takes a row from a mapping whose values are plain JSON values.
    ///
    /// Raises InvalidInputError where no column names the row.
    #[classmethod]
    fn from_dict<'py>(
        class: &Bound<'py, PyType>,
        row: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        Self::of(class.py(), &read(&dumps(row)?)?)
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

    fn __repr__(&self) -> String {
        let columns = self.0.columns().len();
        format!("Row('{}', {columns} columns)", self.0.id())
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
                Ok(row) => row.get().0.as_ref().clone(),
                Err(_) => read(&dumps(&row)?)?,
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
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, Row>>> {
        self.set.rows.iter().map(|row| Row::of(py, row)).collect()
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
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.set.write(&path))
            .map_err(|why| raised(&why))
    }

    fn __len__(&self) -> usize {
        self.set.rows.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: RowKey) -> PyResult<Bound<'py, Row>> {
        let rows = &self.set.rows;
        let found = match key {
            RowKey::Index(at) => {
                item(rows, at).ok_or_else(|| PyIndexError::new_err("dataset index out of range"))
            }
            RowKey::Name(name) => rows
                .iter()
                .find(|row| row.id().as_str() == name)
                .ok_or_else(|| PyKeyError::new_err(name)),
        };
        Row::of(py, found?)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.rows(py)?)?.try_iter()
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
    let found = py.detach(|| atlas_formats::diff_datasets(first, second));
    plain(py, &found)
}
