//! Values across the border.

use crate::errors::{invalid, raised, raised_json};
use atlas_core::{Error, Patch};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBool, PyDict, PyList, PyString};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A log or a patch as a caller gives it: `bytes` and `str` are the content, a path is a file.
pub(crate) enum Source {
    Bytes(PyBackedBytes),
    Text(PyBackedStr),
    File(PathBuf),
}

impl Source {
    /// Takes a caller's argument; `name` stands in the error.
    pub(crate) fn take(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        if let Ok(text) = value.cast::<PyString>() {
            if let Ok(text) = text.extract() {
                return Ok(Self::Text(text));
            }
            // Text that was decoded with `surrogateescape` becomes the bytes it was.
            let bytes = text.call_method1("encode", ("utf-8", "surrogateescape"))?;
            return Ok(Self::Bytes(bytes.extract()?));
        }
        if let Ok(bytes) = value.extract() {
            return Ok(Self::Bytes(bytes));
        }
        if value.hasattr("__fspath__")? {
            let path: PathBuf = value.extract()?;
            // A lone dash would be standard input further down.
            let path = if path == Path::new("-") {
                "./-".into()
            } else {
                path
            };
            return Ok(Self::File(path));
        }
        Err(PyTypeError::new_err(format!(
            "{name}: bytes, str (the content) or os.PathLike (a file) expected, not {}",
            value.get_type().name()?
        )))
    }

    /// The content, if it is in memory.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Text(text) => Some(text.as_bytes()),
            Self::File(_) => None,
        }
    }

    /// The content, wherever it is.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Error> {
        match self {
            Self::File(path) => std::fs::read(path).map_err(|why| Error::io("read", path, why)),
            other => Ok(other.bytes().unwrap_or_default().to_vec()),
        }
    }
}

/// What pickle is given: a callable and its arguments.
pub(crate) type Reduced<'py, T> = PyResult<(Bound<'py, PyAny>, T)>;

/// A word that names something: a mode, an engine, a schema.
pub(crate) fn named<T>(argument: &str, word: &str) -> PyResult<T>
where
    T: FromStr,
    T::Err: std::fmt::Display,
{
    word.parse().map_err(|why| invalid(argument, why))
}

/// A patch that may be given as content or as a file.
pub(crate) fn patch(value: Option<&Bound<'_, PyAny>>, name: &str) -> PyResult<Option<Patch>> {
    value
        .map(|value| {
            Source::take(value, name)?
                .read()
                .map_err(|why| raised(&why))
        })
        .transpose()
        .map(|bytes| bytes.map(Patch::new))
}

/// A value as JSON.
pub(crate) fn to_value<T: Serialize + ?Sized>(value: &T) -> PyResult<Value> {
    serde_json::to_value(value).map_err(raised_json)
}

/// JSON as plain Python values, as `json.loads` would give them.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            (None, None) => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (key, field) in fields {
                dict.set_item(key, to_python(py, field)?)?;
            }
            dict.into_any()
        }
    })
}

/// A value as plain Python values.
pub(crate) fn plain<'py, T: Serialize + ?Sized>(
    py: Python<'py>,
    value: &T,
) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &to_value(value)?)
}

/// `json.dumps` of a mapping from Python, without `NaN` and the like; paths are text, and numbers of any library numbers.
pub(crate) fn dumps(mapping: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = mapping.py();
    let options = PyDict::new(py);
    options.set_item("ensure_ascii", false)?;
    options.set_item("allow_nan", false)?;
    options.set_item("default", py.import("swe_atlas._call")?.getattr("plain")?)?;
    let dict = py.get_type::<PyDict>().call1((mapping,))?;
    py.import("json")?
        .call_method("dumps", (dict,), Some(&options))?
        .extract()
}

/// `json.loads`.
pub(crate) fn loads<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}
