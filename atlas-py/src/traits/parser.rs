//! `LogParser`.

use super::{Own, from_python, positional};
use crate::log::ParsedLog as Face;
use async_trait::async_trait;
use atlas_core::{
    Error, ErrorKind, LogParser, LogReader, ParsedLog, ParsedLogBuilder, RunContext, RunOutcome,
    TestStatus, Totals,
};
use atlas_oracle::RunReader;
use atlas_pipeline::CallersParser;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping, PyString};
use std::sync::{Arc, Mutex, PoisonError};

/// An object with `id` and `parse(log)`.
#[derive(Clone, Debug)]
pub(crate) struct PyParser {
    own: Own,
    version: String,
    /// What went wrong where there was no way to say so: reading a log cannot fail in Rust.
    fault: Arc<Mutex<Option<String>>>,
}

impl PyParser {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let own = Own::new("parser", object, ("id", &["parse"]))?;
        if own.name().contains(char::is_whitespace) {
            return Err(crate::errors::invalid(
                "parser",
                "its attribute `id` is one word",
            ));
        }
        Ok(Self {
            version: own.version()?,
            own,
            fault: Arc::default(),
        })
    }

    pub(crate) fn callers(&self) -> CallersParser {
        CallersParser {
            id: self.own.name().to_owned(),
            hash: self.version.clone(),
            reader: Arc::new(self.clone()),
        }
    }

    /// Reads a log in this thread.
    pub(crate) fn now(&self, py: Python<'_>, log: &[u8]) -> PyResult<ParsedLog> {
        let parse = self.own.object(py).getattr("parse")?;
        let answer = parse.call1((PyBytes::new(py, log),))?;
        parsed(&answer, self.own.name()).map_err(|why| {
            let what = format!("call `parse` of the parser `{}`:", self.own.name());
            let why = format!("its answer: {why}");
            crate::errors::raised(&Error::new(ErrorKind::ToolFailed, what, why))
        })
    }

    /// What went wrong since this was asked last.
    pub(super) fn fault(&self) -> Option<String> {
        let fault = self.fault.lock();
        fault.unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[async_trait]
impl RunReader for PyParser {
    async fn read_run(&self, cx: &RunContext, log: &[u8]) -> Result<ParsedLog, Error> {
        let arguments = Box::new(|py: Python<'_>| positional(py, [PyBytes::new(py, log)]));
        // The answer's reader knows no name, so that the name is put on afterwards.
        let read = |answer: &Bound<'_, PyAny>| parsed(answer, "");
        let mut parsed = self.own.call(cx, "parse", arguments, read).await?;
        self.own.name().clone_into(&mut parsed.parser);
        Ok(parsed)
    }
}

impl LogParser for PyParser {
    fn id(&self) -> &str {
        self.own.name()
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(Whole {
            parser: self.clone(),
            log: Vec::new(),
        })
    }
}

/// A log on its way to a parser that takes it whole.
struct Whole {
    parser: PyParser,
    log: Vec<u8>,
}

impl LogReader for Whole {
    fn feed(&mut self, bytes: &[u8]) {
        self.log.extend_from_slice(bytes);
    }

    fn finish(self: Box<Self>) -> ParsedLog {
        let read = Python::attach(|py| {
            self.parser
                .now(py, &self.log)
                .map_err(|why| why.to_string())
        });
        read.unwrap_or_else(|why| {
            let fault = self.parser.fault.lock();
            *fault.unwrap_or_else(PoisonError::into_inner) = Some(why);
            ParsedLogBuilder::new(self.parser.id()).finish(RunOutcome::NothingRan)
        })
    }
}

/// What a parser gave: a mapping of tests to statuses, `swe_atlas.protocols.Reading`, or what `parse_log` gives.
fn parsed(answer: &Bound<'_, PyAny>, id: &str) -> Result<ParsedLog, String> {
    if let Ok(face) = answer.cast::<Face>() {
        let mut log = face.get().log.clone();
        id.clone_into(&mut log.parser);
        return Ok(log);
    }
    let mut log = ParsedLogBuilder::new(id);
    let field = |name: &str| answer.getattr(name).ok().filter(|value| !value.is_none());
    if let Ok(tests) = answer.cast::<PyMapping>() {
        record(&mut log, tests)?;
        return Ok(finish(log, None));
    }
    let Some(tests) = field("tests") else {
        let kind = answer
            .get_type()
            .qualname()
            .map_err(|why| why.to_string())?;
        return Err(format!(
            "{kind}; a mapping of test ids to statuses is expected"
        ));
    };
    let tests = tests.cast::<PyMapping>();
    record(
        &mut log,
        tests.map_err(|_| "`tests` is no mapping".to_owned())?,
    )?;
    if let Some(totals) = field("totals") {
        let totals: Totals = from_python(&totals).map_err(|why| format!("`totals`: {why}"))?;
        log.add_totals(totals);
    }
    if let Some(warnings) = field("warnings") {
        let warnings: Vec<String> = warnings
            .extract()
            .map_err(|_| "`warnings`: texts are expected".to_owned())?;
        for warning in warnings {
            log.warn(None, warning);
        }
    }
    let outcome = match field("outcome") {
        Some(word) => {
            let word: String = word
                .extract()
                .map_err(|_| "`outcome`: a text is expected".to_owned())?;
            let read = serde_json::from_value(serde_json::Value::String(word));
            Some(read.map_err(|why| format!("`outcome`: {why}"))?)
        }
        None => None,
    };
    Ok(finish(log, outcome))
}

fn finish(log: ParsedLogBuilder, outcome: Option<RunOutcome>) -> ParsedLog {
    let by_tests = if log.recorded() > 0 {
        RunOutcome::Completed
    } else {
        RunOutcome::NothingRan
    };
    log.finish(outcome.unwrap_or(by_tests))
}

fn record(log: &mut ParsedLogBuilder, tests: &Bound<'_, PyMapping>) -> Result<(), String> {
    let items = tests.items().map_err(|why| why.to_string())?;
    for item in items {
        let (id, status): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            item.extract().map_err(|why: PyErr| why.to_string())?;
        let id: String = id
            .extract()
            .map_err(|_| "a test's id is no text".to_owned())?;
        if id.is_empty() {
            return Err("a test's id is empty".to_owned());
        }
        // Harnesses have an enumeration of statuses, whose values are the words.
        let word = if let Ok(word) = status.cast::<PyString>() {
            word.to_string()
        } else {
            let value = status.getattr("value").and_then(|value| value.extract());
            value.map_err(|_| format!("the status of `{id}` is no text"))?
        };
        let status: TestStatus = word
            .parse()
            .map_err(|why| format!("the status of `{id}`: {why}"))?;
        log.record("", &id, &id, status);
    }
    Ok(())
}
