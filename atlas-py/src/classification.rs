//! `Classification` and `classify`.

use crate::convert::{Source, patch};
use crate::errors::raised;
use crate::log::{ParsedLog, read};
use crate::notebook::view;
use crate::report::Report;
use crate::table::Table;
use atlas_oracle::ClassifyInput;
use atlas_parsers::Hints;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// What three runs of one test selection say of a pull request.
///
/// Made by `classify`. Immutable; every attribute gives fresh plain values.
#[pyclass(frozen, eq, module = "swe_atlas")]
#[derive(Debug, PartialEq)]
pub(crate) struct Classification(Report);

#[pymethods]
impl Classification {
    /// The verdict: instance, reject_no_fail_to_pass, environment_invalid, reject_after_broken
    /// or no_evidence.
    #[getter]
    fn outcome(&self) -> &str {
        self.0.text("outcome")
    }

    /// One sentence why.
    #[getter]
    fn reason(&self) -> &str {
        self.0.text("reason")
    }

    /// bug_fix or feature_request, by state; None where Base gives no ground to tell.
    #[getter]
    fn kind(&self) -> Option<&str> {
        self.0.value("kind").as_str()
    }

    /// How much of Before did not run: none, partial, full or crash.
    #[getter]
    fn before_failure_extent(&self) -> &str {
        self.0.text("before_failure_extent")
    }

    /// Tests that define the task.
    #[getter]
    fn fail_to_pass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "FAIL_TO_PASS")
    }

    /// Tests that must go on passing.
    #[getter]
    fn pass_to_pass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "PASS_TO_PASS")
    }

    /// Tests that pass before and fail after: in neither list.
    #[getter]
    fn pass_to_fail<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "PASS_TO_FAIL")
    }

    /// Ids that hold a time, an address or a counter, each with why: in neither list.
    #[getter]
    fn unstable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "unstable")
    }

    /// Tests that exist only through the gold patch, each with what shows it: in neither list.
    #[getter]
    fn gold_only<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "gold_only")
    }

    /// What the plain SWE-bench rule would have given as FAIL_TO_PASS, where it differs.
    #[getter]
    fn fail_to_pass_swebench_rule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "fail_to_pass_swebench_rule")
    }

    /// How FAIL_TO_PASS was found.
    #[getter]
    fn fail_to_pass_rule(&self) -> &str {
        self.0.text("fail_to_pass_rule")
    }

    /// Modules that did not build or load, in any state, each with its class and proof lines.
    #[getter]
    fn module_failures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "module_failures")
    }

    /// Class of transition ('F2P', 'P2P', 'N2P', …) -> number of tests.
    #[getter]
    fn transition_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "transition_counts")
    }

    /// Every test over the three states.
    #[getter]
    fn transitions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "transitions")
    }

    /// Proof lines for the verdict.
    #[getter]
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "evidence")
    }

    /// Remarks.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "warnings")
    }

    /// Everything as plain values, equal to what `atlas classify --format json` prints.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.dict(py)
    }

    /// The same as one line of JSON.
    fn to_json(&self) -> String {
        self.0.json()
    }

    /// A drawing as SVG: tests by transition. None where there is nothing to draw.
    ///
    /// It stands alone, in a file or in a page, and is legible on light and on dark.
    fn to_svg(&self) -> Option<String> {
        self.0.svg(&view::CLASSIFICATION)
    }

    /// Rows for data frames: those of `transitions`, or of another list of the report.
    ///
    /// Raises InvalidInputError for a field that is no list of rows.
    #[pyo3(signature = (field=None))]
    fn table(&self, field: Option<&str>) -> PyResult<Table> {
        self.0.table("transitions", field)
    }

    fn _repr_html_(&self) -> String {
        self.0.html(&view::CLASSIFICATION)
    }

    fn __repr__(&self) -> String {
        format!("Classification({})", self.0.summary())
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, state: &str) -> PyResult<Self> {
        Report::restore(state).map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("_restore")?, (slf.get().0.json(),)))
    }
}

/// One state's log as a caller gives it.
enum Given<'py> {
    Parsed(Bound<'py, ParsedLog>),
    Raw(Source),
}

impl<'py> Given<'py> {
    fn take(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        match value.cast::<ParsedLog>() {
            Ok(parsed) => Ok(Self::Parsed(parsed.clone())),
            Err(_) => Source::take(value, name).map(Self::Raw),
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

/// Classifies the logs of Base, Before and After; needs no engine.
///
/// Each log is a ParsedLog, the content as bytes or str, or a path object for a file; a patch is
/// the content or a path object. With 'auto' the runner is found once, in the first log that tells,
/// and read in all.
///
/// Raises InvalidInputError for an unknown parser or where no runner is recognised.
#[pyfunction]
#[pyo3(signature = (
    base, before, after, parser="auto", *,
    test_patch=None, gold_patch=None, command=None, language=None
))]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn classify<'py>(
    py: Python<'py>,
    base: &Bound<'py, PyAny>,
    before: &Bound<'py, PyAny>,
    after: &Bound<'py, PyAny>,
    parser: &str,
    test_patch: Option<&Bound<'py, PyAny>>,
    gold_patch: Option<&Bound<'py, PyAny>>,
    command: Option<&str>,
    language: Option<&str>,
) -> PyResult<Classification> {
    let hints = Hints { command, language };
    let test_patch = patch(test_patch, "test_patch")?;
    let gold_patch = patch(gold_patch, "gold_patch")?;
    let base = Given::take(base, "base")?;
    let before = Given::take(before, "before")?;
    let after = Given::take(after, "after")?;
    // As the command does: After surely runs; a Before that does not build may show no runner.
    let parser = if parser == "auto" {
        let mut found = after.parsed(py, parser, &hints);
        for log in [&base, &before] {
            found = found.or_else(|_| log.parsed(py, parser, &hints));
        }
        found?.get().log.parser.clone()
    } else {
        parser.to_owned()
    };
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
    Report::of(&found).map(Classification)
}
