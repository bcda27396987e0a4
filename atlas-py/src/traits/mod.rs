//! Traits of Rust whose implementations are Python's objects.

mod contracts;
mod host;
mod judge;
mod oracle;
mod parser;
mod parts;
mod sandbox;
mod synthesizer;
mod validator;

pub(crate) use contracts::_check;
pub(crate) use host::_source;
pub(crate) use judge::callers_judge;
pub(crate) use parser::PyParser;
pub(crate) use parts::PyParts;
pub(crate) use sandbox::_prelude;

use crate::convert::{dumps, to_python};
use crate::errors::{invalid, kind_of, raised};
use crate::run::aside;
use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, RunContext};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// An object of the caller's.
///
/// Each call of a method has a Python thread of its own, with nothing of ours on its stack: a call that is waited
/// for no longer may go on in it without harm, also while the interpreter ends.
#[derive(Clone)]
pub(crate) struct Own {
    /// What it is: `parser`.
    what: &'static str,
    name: String,
    object: Arc<Py<PyAny>>,
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own")
            .field("what", &self.what)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// What a method is called with: by place, and by name.
type Called = (Py<PyTuple>, Option<Py<PyDict>>);

/// Makes what a method is called with.
pub(crate) type Arguments<'a> = Box<dyn FnOnce(Python<'_>) -> PyResult<Called> + Send + 'a>;

/// Arguments by place alone.
pub(crate) fn positional<'py, const N: usize, T: IntoPyObject<'py>>(
    py: Python<'py>,
    arguments: [T; N],
) -> PyResult<Called> {
    Ok((PyTuple::new(py, arguments)?.unbind(), None))
}

/// Makes a value of Python.
type Made = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// A wish of a method for the run that calls it: its name, its arguments as JSON, and where the answer goes.
pub(crate) struct Wish {
    pub(crate) name: String,
    pub(crate) arguments: Value,
    answer: oneshot::Sender<Result<Made, Error>>,
}

impl Own {
    /// Takes an object that has these methods. Its attribute `attribute`, or else its type's name, is its name.
    pub(crate) fn new(
        what: &'static str,
        object: &Bound<'_, PyAny>,
        (attribute, methods): (&str, &[&str]),
    ) -> PyResult<Self> {
        for method in methods {
            let found = object.getattr_opt(*method)?;
            if !found.is_some_and(|found| found.is_callable()) {
                let kind = object.get_type().qualname()?;
                return Err(invalid(what, format!("`{kind}` has no method `{method}`")));
            }
        }
        let name = match object.getattr_opt(attribute)? {
            Some(name) => name
                .extract::<String>()
                .map_err(|_| invalid(what, format!("its attribute `{attribute}` is no text")))?,
            None => object.get_type().qualname()?.to_string(),
        };
        if name.is_empty() {
            return Err(invalid(
                what,
                format!("its attribute `{attribute}` is empty"),
            ));
        }
        Ok(Self {
            what,
            name,
            object: Arc::new(object.clone().unbind()),
        })
    }

    /// Takes something that can be called.
    pub(crate) fn callable(what: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name = callable_name(object);
        if name.is_empty() {
            return Err(invalid(what, "its attribute `name` is empty"));
        }
        Ok(Self {
            what,
            name,
            object: Arc::new(object.clone().unbind()),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn object<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.object.bind(py)
    }

    /// What tells its versions apart: the hash of its type's source, where Python knows it.
    pub(crate) fn version(&self) -> PyResult<String> {
        Python::attach(|py| {
            let call = py.import("swe_atlas._call")?;
            call.call_method1("version", (self.object(py),))?.extract()
        })
    }

    fn wrong(&self, method: &str, kind: ErrorKind, why: String) -> Error {
        let operation = format!("call `{method}` of the {} `{}`:", self.what, self.name);
        Error::new(kind, operation, why)
    }

    /// Calls a method; `read` makes something of its answer, or says what is wrong with it.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        cx: &RunContext,
        method: &'static str,
        arguments: Arguments<'_>,
        read: fn(&Bound<'_, PyAny>) -> Result<T, String>,
    ) -> Result<T, Error> {
        self.call_with(cx, method, |_| arguments, read, &mut Nothing)
            .await
    }

    /// The same of a method that may ask something of this run: what it is called with is made of its [`Tools`], and
    /// `serve` answers.
    pub(crate) async fn call_with<'a, T: Send + 'static>(
        &self,
        cx: &RunContext,
        method: &'static str,
        arguments: impl FnOnce(Tools) -> Arguments<'a>,
        read: fn(&Bound<'_, PyAny>) -> Result<T, String>,
        serve: &mut dyn Serve,
    ) -> Result<T, Error> {
        cx.check(method)?;
        let (wishes, mut asked) = mpsc::unbounded_channel();
        let (sender, mut answer) = oneshot::channel();
        let reply = Reply(Mutex::new(Some(Box::new(
            move |answer: Result<&Bound<'_, PyAny>, (ErrorKind, String)>| {
                let read = answer.and_then(|answer| {
                    read(answer)
                        .map_err(|why| (ErrorKind::ToolFailed, format!("its answer: {why}")))
                });
                // Nobody may be waiting any longer.
                let _unheard = sender.send(read);
            },
        ))));
        let arguments = arguments(Tools(wishes));
        aside(|py| {
            let call = self.object(py).getattr(method)?;
            let (placed, named) = arguments(py)?;
            py.import("swe_atlas._call")?
                .call_method1("start", (call, placed, named, reply))?;
            Ok(())
        })
        .map_err(|why| self.wrong(method, ErrorKind::Internal, why.to_string()))?;
        loop {
            tokio::select! {
                answer = &mut answer => {
                    let ended = || (ErrorKind::ToolFailed, "its thread ended".to_owned());
                    return answer
                        .unwrap_or_else(|_| Err(ended()))
                        .map_err(|(kind, why)| self.wrong(method, kind, why));
                }
                Some(wish) = asked.recv() => {
                    let wish: Wish = wish;
                    let made = serve.serve(&wish).await;
                    // Who asked may have gone.
                    let _unheard = wish.answer.send(made);
                }
                () = cx.cancel.cancelled() => {
                    return Err(self.wrong(method, ErrorKind::Cancelled, "was cancelled".to_owned()));
                }
            }
        }
    }
}

type Heard = Box<dyn FnOnce(Result<&Bound<'_, PyAny>, (ErrorKind, String)>) + Send>;

/// Takes what a method gives back, or raises.
#[pyclass(frozen)]
struct Reply(Mutex<Option<Heard>>);

impl Reply {
    fn hear(&self, answer: Result<&Bound<'_, PyAny>, (ErrorKind, String)>) {
        let heard = self.0.lock();
        let heard = heard.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(heard) = heard {
            heard(answer);
        }
    }
}

#[pymethods]
impl Reply {
    fn answered(&self, answer: &Bound<'_, PyAny>) {
        self.hear(Ok(answer));
    }

    fn raised(&self, why: String, class: &str) {
        self.hear(Err((kind_of(class), why)));
    }
}

/// How a method asks something of the run that calls it. `swe_atlas.protocols` has its faces.
#[pyclass(frozen, module = "swe_atlas._swe_atlas")]
pub(crate) struct Tools(mpsc::UnboundedSender<Wish>);

#[pymethods]
impl Tools {
    fn ask(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: &Bound<'_, PyDict>,
    ) -> PyResult<Py<PyAny>> {
        let over = || {
            let of = "the run that called this is over";
            raised(&Error::new(ErrorKind::Cancelled, format!("{name}:"), of))
        };
        let (answer, heard) = oneshot::channel();
        let arguments = from_python(arguments.as_any()).map_err(|why| invalid(name, why))?;
        let wish = Wish {
            name: name.to_owned(),
            arguments,
            answer,
        };
        self.0.send(wish).map_err(|_| over())?;
        let made = py.detach(|| heard.blocking_recv()).map_err(|_| over())?;
        made.map_err(|why| raised(&why))?(py)
    }
}

/// What a callable is called in results: its attribute `name`, or else its module and its qualified name.
pub(crate) fn callable_name(object: &Bound<'_, PyAny>) -> String {
    let text = |name: &str| -> Option<String> { object.getattr(name).ok()?.extract().ok() };
    text("name").unwrap_or_else(|| {
        let module = text("__module__").unwrap_or_default();
        let own = text("__qualname__");
        let own = own.or_else(|| Some(object.get_type().name().ok()?.to_string()));
        format!("python:{module}.{}", own.unwrap_or_default())
    })
}

/// Something that serde knows, out of what a method gave: a mapping.
pub(crate) fn from_python<T: DeserializeOwned>(value: &Bound<'_, PyAny>) -> Result<T, String> {
    let kind = || {
        let kind = value.get_type().qualname();
        kind.map_or_else(|_| "something else".to_owned(), |kind| kind.to_string())
    };
    if value.cast::<pyo3::types::PyMapping>().is_err() {
        return Err(format!("{}; a mapping is expected", kind()));
    }
    let text = dumps(value).map_err(|why| format!("it is no JSON: {why}"))?;
    serde_json::from_str(&text).map_err(|why| why.to_string())
}

/// A value of `swe_atlas.protocols`.
pub(crate) fn face<'py>(
    py: Python<'py>,
    class: &str,
    fields: Vec<(&str, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let arguments = PyDict::new(py);
    for (name, value) in fields {
        arguments.set_item(name, value)?;
    }
    let protocols = py.import("swe_atlas.protocols")?;
    protocols.getattr(class)?.call((), Some(&arguments))
}

/// Plain JSON for Python, made later.
pub(crate) fn made(value: Value) -> Made {
    Box::new(move |py| Ok(to_python(py, &value)?.unbind()))
}

/// Fulfils the wishes of a method.
#[async_trait]
pub(crate) trait Serve: Send {
    async fn serve(&mut self, wish: &Wish) -> Result<Made, Error>;
}

/// Fulfils none.
struct Nothing;

#[async_trait]
impl Serve for Nothing {
    async fn serve(&mut self, wish: &Wish) -> Result<Made, Error> {
        Err(unknown(wish))
    }
}

/// A wish that nothing serves.
pub(crate) fn unknown(wish: &Wish) -> Error {
    Error::new(ErrorKind::InvalidInput, "serve", format!("`{}`", wish.name))
}
