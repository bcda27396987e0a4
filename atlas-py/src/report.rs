//! Reports: their JSON, and what all of them can do. Python has their classes, with an attribute for each field.

use crate::convert::{Reduced, to_python, to_value};
use crate::errors::raised_json;
use crate::notebook::{self, view};
use crate::table::Table;
use pyo3::prelude::*;
use pyo3::types::PyType;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// What a command reports, as it prints it: attributes, dictionary, JSON and pickle all read the same value, so they cannot
/// disagree. Immutable; everything that it gives is fresh and plain.
#[pyclass(frozen, subclass, module = "swe_atlas._swe_atlas")]
#[derive(Debug)]
pub(crate) struct NativeReport {
    value: Arc<Value>,
    /// What has no place in the JSON: a dataset, drawings.
    beside: Option<Py<PyAny>>,
}

/// A report as the class of that name.
pub(crate) fn told<'py, T: Serialize>(
    py: Python<'py>,
    class: &str,
    report: &T,
) -> PyResult<Bound<'py, PyAny>> {
    told_with(py, class, report, None)
}

/// The same with something beside its JSON.
pub(crate) fn told_with<'py, T: Serialize>(
    py: Python<'py>,
    class: &str,
    report: &T,
    beside: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let report = NativeReport {
        value: Arc::new(to_value(report)?),
        beside: beside.map(Bound::unbind),
    };
    py.import("swe_atlas")?.getattr(class)?.call1((report,))
}

#[pymethods]
impl NativeReport {
    /// Takes JSON, or what another report holds.
    #[new]
    #[pyo3(signature = (json, beside=None))]
    fn new(json: &Bound<'_, PyAny>, beside: Option<Py<PyAny>>) -> PyResult<Self> {
        if let Ok(other) = json.cast::<Self>() {
            return Ok(Self {
                value: Arc::clone(&other.get().value),
                beside: other.get().beside(json.py()),
            });
        }
        let value = serde_json::from_str(json.extract()?).map_err(raised_json)?;
        Ok(Self {
            value: Arc::new(value),
            beside,
        })
    }

    /// Everything as plain values, equal to what the command prints with `--format json`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.value)
    }

    /// The same as one line of JSON.
    fn to_json(&self) -> String {
        self.value.to_string()
    }

    /// A drawing as SVG. None where there is nothing to draw.
    ///
    /// It stands alone, in a file or in a page, and is legible on light and on dark.
    fn to_svg(slf: &Bound<'_, Self>) -> PyResult<Option<String>> {
        Ok(notebook::svg(view::of(&class_of(slf)?), &slf.get().value))
    }

    /// Rows for data frames: those of the report's main list, or of another one.
    ///
    /// Raises InvalidInputError for a field that is no list of rows.
    #[pyo3(signature = (field=None))]
    fn table(slf: &Bound<'_, Self>, field: Option<&str>) -> PyResult<Table> {
        Table::of_field(&slf.get().value, view::of(&class_of(slf)?).rows(), field)
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        Self::_html(slf, Vec::new())
    }

    /// What a notebook shows, with drawings by their names.
    fn _html(slf: &Bound<'_, Self>, figures: Vec<(String, String)>) -> PyResult<String> {
        let view = view::of(&class_of(slf)?);
        Ok(notebook::report(view, &slf.get().value, &figures))
    }

    /// A field of the JSON; None where there is none.
    fn _field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.value[name])
    }

    /// How many items a field has.
    fn _count(&self, name: &str) -> usize {
        self.value[name].as_array().map_or(0, Vec::len)
    }

    #[getter(_beside)]
    fn beside(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.beside.as_ref().map(|beside| beside.clone_ref(py))
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Self>() else {
            return Ok(false);
        };
        if !other.get_type().is(slf.get_type()) || slf.get().value != other.get().value {
            return Ok(false);
        }
        match (&slf.get().beside, &other.get().beside) {
            (Some(one), Some(other)) => one.bind(slf.py()).eq(other),
            (None, None) => Ok(true),
            _ => Ok(false),
        }
    }

    #[classmethod]
    #[pyo3(signature = (json, beside=None))]
    fn _restore<'py>(
        class: &Bound<'py, PyType>,
        json: &str,
        beside: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        class.call1((json, beside))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, (String, Option<Py<PyAny>>)> {
        let this = slf.get();
        let state = (this.to_json(), this.beside(slf.py()));
        Ok((slf.get_type().getattr("_restore")?, state))
    }
}

/// The name of a report's class, by which its view is found.
fn class_of(report: &Bound<'_, NativeReport>) -> PyResult<String> {
    Ok(report.get_type().name()?.to_string())
}
