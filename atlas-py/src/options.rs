//! Keyword arguments of functions that Python spells: `swe_atlas` has their names, types, defaults and documentation.

use crate::convert::{dumps, named};
use crate::errors::{invalid, raised, raised_json};
use crate::heard::Heard;
use crate::prediction::source;
use crate::report::told;
use crate::run::run_heard;
use crate::traits::PyParts;
use atlas_core::{Error, ErrorKind, InstanceId, RunContext};
use atlas_pipeline::{Config, EvalOptions, PredictionSource, names_of, read_word};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

/// The arguments of one call, by name. None and an argument that the function does not have are the same: nothing is said.
#[derive(FromPyObject)]
pub(crate) struct Options<'py>(Bound<'py, PyDict>);

impl<'py> Options<'py> {
    pub(crate) fn py(&self) -> Python<'py> {
        self.0.py()
    }

    /// Whether the function has such an argument.
    pub(crate) fn has(&self, name: &str) -> PyResult<bool> {
        self.0.contains(name)
    }

    /// An argument as it is; none where nothing is said.
    pub(crate) fn object(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    /// An argument, or none. What is of another type raises the error of its conversion, with the argument's name.
    pub(crate) fn maybe<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let Some(value) = self.object(name)? else {
            return Ok(None);
        };
        value.extract::<T>().map(Some).map_err(|why| {
            let why: PyErr = why.into();
            let py = self.py();
            let text = format!("argument '{name}': {}", why.value(py));
            PyErr::from_type(why.get_type(py), text)
        })
    }

    /// An argument, or its default.
    pub(crate) fn or<T>(&self, name: &str, default: T) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        Ok(self.maybe(name)?.unwrap_or(default))
    }

    /// An argument that must be there.
    pub(crate) fn get<T>(&self, name: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let found = self.maybe(name)?;
        found.ok_or_else(|| PyTypeError::new_err(format!("argument '{name}': None is no value")))
    }

    /// A word that names something, or its default: a mode, an engine, a schema.
    pub(crate) fn named<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: FromStr,
        T::Err: Display,
    {
        let word: Option<String> = self.maybe(name)?;
        word.map(|word| named(name, &word)).transpose()
    }

    /// Several of them.
    pub(crate) fn all_named<T>(&self, name: &str) -> PyResult<Vec<T>>
    where
        T: FromStr,
        T::Err: Display,
    {
        let words: Vec<String> = self.or(name, Vec::new())?;
        words.iter().map(|word| named(name, word)).collect()
    }

    /// The arguments that bear the names of a struct's fields, read into it as its own reader reads them; `others` are read
    /// elsewhere. What is not said keeps its default.
    pub(crate) fn fields_but<T: DeserializeOwned>(&self, others: &[&str]) -> PyResult<T> {
        let said = PyDict::new(self.py());
        for name in names_of::<T>() {
            if let Some(value) = self.object(name)?.filter(|_| !others.contains(name)) {
                said.set_item(name, value)?;
            }
        }
        let said: Value = serde_json::from_str(&dumps(&said)?).map_err(raised_json)?;
        serde_path_to_error::deserialize(said).map_err(|why| {
            let (path, why) = (why.path().to_string(), why.inner().to_string());
            let text = format!("argument '{path}': {why}");
            if why.starts_with("invalid type") {
                PyTypeError::new_err(text)
            } else if why.starts_with("invalid value: integer") {
                PyOverflowError::new_err(text)
            } else {
                invalid(&path, why)
            }
        })
    }

    /// The same, where each field is an argument.
    pub(crate) fn fields<T: DeserializeOwned>(&self) -> PyResult<T> {
        self.fields_but(&[])
    }

    /// One of the words of a type; a dash is as good as an underscore.
    pub(crate) fn word<T: DeserializeOwned>(&self, name: &str) -> PyResult<T> {
        let word: String = self.get(name)?;
        read_word(&word).map_err(|why| invalid(name, why))
    }

    /// `instance_ids`.
    pub(crate) fn instance_ids(&self) -> PyResult<Vec<InstanceId>> {
        self.all_named("instance_ids")
    }

    /// `predictions`.
    pub(crate) fn predictions(&self) -> PyResult<PredictionSource> {
        source(&self.get("predictions")?)
    }

    /// `config`: a path to `atlas.toml`, or its content as a mapping.
    pub(crate) fn config(&self) -> PyResult<Config> {
        let mut config = match self.object("config")? {
            None => Config::default(),
            Some(given) if is_path(&given)? => {
                Config::read(&given.extract::<PathBuf>()?).map_err(|why| raised(&why))?
            }
            Some(given) => serde_json::from_str(&dumps(&given)?).map_err(|why| {
                let operation = "read configuration";
                raised(&Error::new(ErrorKind::InvalidInput, operation, "").with_source(why))
            })?,
        };
        let registries = &mut config.registries;
        registries.read_environment().map_err(|why| raised(&why))?;
        Ok(config)
    }

    /// `parser` where it is the file of one.
    pub(crate) fn parser_file(&self) -> PyResult<Option<PathBuf>> {
        match self.object("parser")? {
            Some(given) if is_path(&given)? => given.extract().map(Some),
            _ => Ok(None),
        }
    }

    /// The options that every function has that runs predictions.
    pub(crate) fn evaluation(&self, predictions: PredictionSource) -> PyResult<EvalOptions> {
        let said: EvalOptions = self.fields_but(&["parser"])?;
        if said.timeout == Some(0) {
            return Err(invalid("timeout", "a second or more expected"));
        }
        Ok(EvalOptions {
            predictions,
            config: self.config()?,
            parser: self.parser_file()?,
            parts: Some(PyParts::of(self)?.shared()),
            ..said
        })
    }

    /// Does what the function is for, detached from Python's lock, and gives its report as a class of `swe_atlas`.
    pub(crate) fn report<T, W>(&self, class: &str, work: W) -> PyResult<Bound<'py, PyAny>>
    where
        T: Serialize + Send,
        W: AsyncFnOnce(&RunContext) -> Result<T, Error> + Send,
    {
        let progress = self.progress()?;
        let report = self.py().detach(|| run_heard(&progress, work))?;
        told(self.py(), class, &report)
    }

    /// Who hears the progress.
    pub(crate) fn progress(&self) -> PyResult<Heard> {
        Heard::of(self.object("progress")?.as_ref())
    }
}

/// Whether an argument names a file; anything else is content.
pub(crate) fn is_path(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(given.is_instance_of::<PyString>() || given.hasattr("__fspath__")?)
}
