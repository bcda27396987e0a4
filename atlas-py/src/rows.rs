//! Rows as mappings: what `Instance`, `Row` and `Prediction` have in common.

use crate::convert::loads;
use crate::notebook;
use pyo3::PyClass;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use serde_json::{Map, Value};
use std::fmt::Debug;
use std::sync::Arc;

/// A JSON object with its text; the text says the same and keeps how numbers are spelled.
pub(crate) trait Columns: Debug + Send + Sync {
    /// The class that stands for it.
    fn class(&self) -> &'static str;
    fn id(&self) -> &str;
    fn map(&self) -> &Map<String, Value>;
    fn text(&self) -> &str;
}

/// A mapping from column to value, like a row as a dict. Immutable. What was read is written back byte for byte.
#[pyclass(frozen, mapping, subclass, module = "swe_atlas._swe_atlas")]
#[derive(Debug)]
pub(crate) struct NativeRow(Arc<dyn Columns>);

impl NativeRow {
    /// An object of the class that stands for it, which `make` makes.
    pub(crate) fn of<C: Columns + 'static, T>(
        py: Python<'_>,
        columns: C,
        make: fn(Arc<C>) -> T,
    ) -> PyResult<Bound<'_, T>>
    where
        T: PyClass<BaseType = Self>,
    {
        let columns = Arc::new(columns);
        let base = PyClassInitializer::from(Self(Arc::<C>::clone(&columns)));
        Bound::new(py, base.add_subclass(make(columns)))
    }

    fn column<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.0.map().get(column) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.into_pyobject(py)?.into_any())),
            Some(_) => loads(py, self.0.text())?.get_item(column).map(Some),
        }
    }

    /// What a dict's method gives, as a list.
    fn list<'py>(&self, py: Python<'py>, method: &str) -> PyResult<Bound<'py, PyList>> {
        py.get_type::<PyList>()
            .call1((loads(py, self.0.text())?.call_method0(method)?,))?
            .cast_into()
            .map_err(PyErr::from)
    }
}

#[pymethods]
impl NativeRow {
    /// The object as JSON, as it was read.
    fn to_json(&self) -> &str {
        self.0.text()
    }

    /// The object as a dict.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, self.0.text())
    }

    /// The value of a column, or `default` where there is no such column.
    #[pyo3(signature = (column, default=None))]
    fn get<'py>(
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

    /// The names of all columns, in order.
    fn keys(&self) -> Vec<String> {
        self.0.map().keys().cloned().collect()
    }

    /// The values of all columns, in order.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.list(py, "values")
    }

    /// The columns with their values, in order.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.list(py, "items")
    }

    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = self.column(py, column)?;
        found.ok_or_else(|| PyKeyError::new_err(column.to_owned()))
    }

    fn __contains__(&self, column: &Bound<'_, PyAny>) -> bool {
        let column = column.extract::<&str>();
        column.is_ok_and(|column| self.0.map().contains_key(column))
    }

    fn __len__(&self) -> usize {
        self.0.map().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.0.map().keys())?.try_iter()
    }

    fn __eq__(&self, other: &Self) -> bool {
        let (one, other) = (&self.0, &other.0);
        one.class() == other.class() && one.id() == other.id() && one.map() == other.map()
    }

    fn _repr_html_(&self) -> String {
        notebook::mapping(self.0.class(), self.0.id(), self.0.map())
    }
}

/// An item of a sequence, as Python counts: from the end below 0.
pub(crate) fn item<T>(items: &[T], at: isize) -> Option<&T> {
    let at = if at < 0 {
        items.len().checked_sub(at.unsigned_abs())
    } else {
        Some(at.unsigned_abs())
    };
    at.and_then(|at| items.get(at))
}
