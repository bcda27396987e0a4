//! What stands behind `classify`.

use crate::convert::{Source, patch};
use crate::errors::raised;
use crate::log::{ParsedLog, read};
use crate::options::Options;
use crate::report::told;
use atlas_oracle::ClassifyInput;
use atlas_parsers::Hints;
use pyo3::prelude::*;

/// One state's log as a caller gives it.
enum Given<'py> {
    Parsed(Bound<'py, ParsedLog>),
    Raw(Source),
}

impl<'py> Given<'py> {
    fn take(given: &Options<'py>, name: &str) -> PyResult<Self> {
        let value: Bound<'py, PyAny> = given.get(name)?;
        match value.cast_into::<ParsedLog>() {
            Ok(parsed) => Ok(Self::Parsed(parsed)),
            Err(other) => Source::take(&other.into_inner(), name).map(Self::Raw),
        }
    }

    fn parsed(
        &self,
        py: Python<'py>,
        parser: &str,
        hints: &Hints<'_>,
    ) -> PyResult<Bound<'py, ParsedLog>> {
        match self {
            Self::Parsed(log) => Ok(log.clone()),
            Self::Raw(source) => {
                let log = read(py, source, parser, hints).map_err(|why| raised(&why))?;
                Bound::new(py, log)
            }
        }
    }
}

#[pyfunction]
pub(crate) fn _classify<'py>(py: Python<'py>, given: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (command, language): (Option<String>, Option<String>) =
        (given.maybe("command")?, given.maybe("language")?);
    let hints = Hints {
        command: command.as_deref(),
        language: language.as_deref(),
    };
    let test_patch = patch(given.object("test_patch")?.as_ref(), "test_patch")?;
    let gold_patch = patch(given.object("gold_patch")?.as_ref(), "gold_patch")?;
    let base = Given::take(&given, "base")?;
    let before = Given::take(&given, "before")?;
    let after = Given::take(&given, "after")?;
    let mut parser: String = given.get("parser")?;
    // As the command does: After surely runs; a Before that does not build may show no runner.
    if parser == "auto" {
        let mut found = after.parsed(py, &parser, &hints);
        for log in [&base, &before] {
            found = found.or_else(|_| log.parsed(py, &parser, &hints));
        }
        found?.get().log.parser.clone_into(&mut parser);
    }
    let [base, before, after] = [
        base.parsed(py, &parser, &hints)?,
        before.parsed(py, &parser, &hints)?,
        after.parsed(py, &parser, &hints)?,
    ];
    let (base, before, after) = (&base.get().log, &before.get().log, &after.get().log);
    let found = py.detach(|| {
        atlas_oracle::classify(&ClassifyInput {
            gold_patch: gold_patch.as_ref(),
            test_patch: test_patch.as_ref(),
            ..ClassifyInput::new(base, before, after)
        })
    });
    told(py, "Classification", &found)
}
