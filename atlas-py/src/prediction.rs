//! `Prediction`, `Predictions` and `read_predictions`.

use crate::convert::{Reduced, dumps, plain};
use crate::errors::{invalid, raised};
use crate::notebook;
use crate::rows::{Columns, NativeRow, item};
use crate::table::{self, RowView, Rows};
use atlas_formats::FileForm;
use atlas_pipeline::PredictionSource;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyIterator, PyList, PyMapping, PyString, PyType};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// One candidate patch, as it was written.
///
/// A mapping from column to value, like the prediction as a dict. Immutable.
#[pyclass(frozen, extends = NativeRow, module = "swe_atlas")]
#[derive(Debug)]
pub(crate) struct Prediction(Arc<atlas_formats::Prediction>);

impl Columns for atlas_formats::Prediction {
    fn class(&self) -> &'static str {
        "Prediction"
    }

    fn id(&self) -> &str {
        self.instance_id()
    }

    fn map(&self) -> &Map<String, Value> {
        self.columns()
    }

    fn text(&self) -> &str {
        self.json()
    }
}

impl Prediction {
    fn of<'py>(
        py: Python<'py>,
        prediction: &atlas_formats::Prediction,
    ) -> PyResult<Bound<'py, Self>> {
        NativeRow::of(py, prediction.clone(), Self)
    }

    /// As JSON that names its instance itself.
    fn named(&self) -> PyResult<String> {
        let mut own = self.0.as_ref().clone();
        if !own.columns().contains_key("instance_id") {
            let id = own.instance_id().to_owned();
            own.set("instance_id", id)
                .map_err(|why| invalid("prediction", why))?;
        }
        Ok(own.json().to_owned())
    }
}

#[pymethods]
impl Prediction {
    /// Takes a prediction from a mapping whose values are plain JSON values.
    ///
    /// Raises InvalidInputError where it names no instance, or its patch is no text.
    #[classmethod]
    fn from_dict<'py>(
        class: &Bound<'py, PyType>,
        prediction: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        let read = dumps(prediction)?.parse();
        Self::of(class.py(), &read.map_err(|why| invalid("prediction", why))?)
    }

    /// Which instance it is for.
    #[getter]
    fn instance_id(&self) -> &str {
        self.0.instance_id()
    }

    /// Who made it; None where it does not say.
    #[getter]
    fn model_name_or_path(&self) -> Option<&str> {
        self.0.model_name_or_path()
    }

    /// The patch; None where it is absent or null, which an empty text is not.
    #[getter]
    fn model_patch(&self) -> Option<&str> {
        self.0.model_patch()
    }

    fn __repr__(&self) -> String {
        let size = self.0.model_patch().map_or_else(
            || "no patch".to_owned(),
            |patch| format!("{} bytes", patch.len()),
        );
        format!("Prediction('{}', {size})", self.0.instance_id())
    }

    #[classmethod]
    fn _restore<'py>(class: &Bound<'py, PyType>, state: &str) -> PyResult<Bound<'py, Self>> {
        // As a dict by instance: the name may have stood in its key.
        let found = atlas_formats::Predictions::from_bytes(state.as_bytes(), "state".as_ref());
        let first = found.items.first();
        Self::of(
            class.py(),
            first.ok_or_else(|| invalid("state", "no prediction"))?,
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let one = atlas_formats::Predictions::new(vec![slf.get().0.as_ref().clone()]);
        let state = String::from_utf8_lossy(&one.to_form(FileForm::Dict)).into_owned();
        Ok((slf.get_type().getattr("_restore")?, (state,)))
    }
}

/// Predictions, and what was wrong with others.
///
/// Made by `read_predictions`. Immutable: a sequence of predictions. Of two for one instance both are
/// there.
#[pyclass(frozen, module = "swe_atlas")]
#[derive(Debug)]
pub(crate) struct Predictions(atlas_formats::Predictions);

#[pymethods]
impl Predictions {
    /// The predictions that could be read, in order.
    #[getter]
    fn predictions<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, Prediction>>> {
        let items = self.0.items.iter();
        items.map(|item| Prediction::of(py, item)).collect()
    }

    /// What could not be read, and instances that are there twice.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.0.faults)
    }

    /// The file again, byte for byte.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn __len__(&self) -> usize {
        self.0.items.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, at: isize) -> PyResult<Bound<'py, Prediction>> {
        let out_of_range = || PyIndexError::new_err("predictions index out of range");
        Prediction::of(py, item(&self.0.items, at).ok_or_else(out_of_range)?)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.predictions(py)?)?.try_iter()
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
        notebook::predictions(&self.0)
    }

    fn __repr__(&self) -> String {
        format!(
            "Predictions({} predictions, {} faults)",
            self.0.items.len(),
            self.0.faults.len()
        )
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, py: Python<'_>, file: PathBuf, bytes: &[u8]) -> Self {
        Self(py.detach(|| atlas_formats::Predictions::from_bytes(bytes, &file)))
    }

    /// The file is kept byte for byte.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, (PathBuf, Bound<'py, PyBytes>)> {
        let (py, this) = (slf.py(), &slf.get().0);
        let mut places = this.items.iter().filter_map(|item| item.place());
        let place = places
            .next()
            .or(this.faults.first().map(|fault| &fault.place));
        let file = place.map_or_else(PathBuf::new, |place| place.file.clone());
        let state = (file, PyBytes::new(py, &this.to_bytes()));
        Ok((slf.get_type().getattr("_restore")?, state))
    }
}

impl Rows for Py<Predictions> {
    fn count(&self) -> usize {
        self.get().0.items.len()
    }

    fn row(&self, at: usize) -> RowView<'_> {
        let prediction = &self.get().0.items[at];
        // In a dict by instance the name may stand in the key alone.
        let own = prediction.columns().contains_key("instance_id");
        RowView {
            named: (!own).then(|| ("instance_id", prediction.instance_id())),
            columns: prediction.columns(),
        }
    }
}

/// Reads predictions: a JSON list, a JSON dict by instance, or one object a line.
///
/// What is no prediction is one of `faults`, and the rest goes on; whether an instance exists is not
/// looked at. Raises AtlasError for a file that cannot be read at all.
#[pyfunction]
pub(crate) fn read_predictions(py: Python<'_>, path: PathBuf) -> PyResult<Predictions> {
    py.detach(|| atlas_formats::read_predictions(&path))
        .map(Predictions)
        .map_err(|why| raised(&why))
}

/// What a caller grades: 'gold', 'null', a path, what was read, or mappings in memory.
pub(crate) fn source(value: &Bound<'_, PyAny>) -> PyResult<PredictionSource> {
    if let Ok(word) = value.cast::<PyString>() {
        return match word.to_cow()?.parse() {
            Ok(source) => Ok(source),
            Err(never) => match never {},
        };
    }
    if value.hasattr("__fspath__")? {
        return Ok(PredictionSource::File(value.extract()?));
    }
    if let Ok(read) = value.cast::<Predictions>() {
        return Ok(PredictionSource::Content(read.get().0.to_bytes()));
    }
    if value.cast::<PyMapping>().is_ok() {
        // One prediction, or a dict of them by instance, as in a file.
        return Ok(PredictionSource::Content(dumps(value)?.into_bytes()));
    }
    let mut objects = Vec::new();
    for prediction in value.try_iter()? {
        let prediction = prediction?;
        objects.push(match prediction.cast::<Prediction>() {
            Ok(prediction) => prediction.get().named()?,
            Err(_) => dumps(&prediction)?,
        });
    }
    let list = format!("[{}]", objects.join(",\n"));
    Ok(PredictionSource::Content(list.into_bytes()))
}
