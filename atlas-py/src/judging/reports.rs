//! Reports of judging runs: their JSON, with an attribute for each field.

use crate::notebook::view;
use crate::report::Report;
use crate::table::Table;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::path::PathBuf;

/// A field: a value as it is, a list or a dict that is left out where it is empty, a path.
macro_rules! field {
    (value, $report:expr, $py:expr, $name:expr) => {
        $report.field($py, $name)
    };
    (list, $report:expr, $py:expr, $name:expr) => {
        $report.list($py, $name)
    };
    (dict, $report:expr, $py:expr, $name:expr) => {
        match $report.value($name) {
            serde_json::Value::Null => Ok(PyDict::new($py).into_any()),
            _ => $report.field($py, $name),
        }
    };
    (path, $report:expr, $py:expr, $name:expr) => {
        PathBuf::from($report.text($name))
            .into_pyobject($py)
            .map(Bound::into_any)
    };
}

/// The class of one command's report; the first doc comment within is that of `to_dict`.
macro_rules! report_class {
    (
        $(#[$($about:tt)*])*
        $class:ident, $view:ident {
            $(#[$($whole:tt)*])* to_dict;
            $( $(#[$($doc:tt)*])* $kind:ident $name:ident; )*
        }
    ) => {
        $(#[$($about)*])*
        #[pyclass(frozen, eq, module = "swe_atlas")]
        #[derive(Debug, PartialEq)]
        pub(crate) struct $class(Report);

        impl From<Report> for $class {
            fn from(report: Report) -> Self {
                Self(report)
            }
        }

        #[pymethods]
        impl $class {
            $(
                $(#[$($doc)*])*
                #[getter]
                fn $name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    field!($kind, self.0, py, stringify!($name))
                }
            )*

            /// Whether every item has its result.
            #[getter]
            fn complete(&self) -> bool {
                self.0.count("failed") == 0 && self.0.value("left") == 0
            }

            $(#[$($whole)*])*
            fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.0.dict(py)
            }

            /// The same as one line of JSON.
            fn to_json(&self) -> String {
                self.0.json()
            }

            /// A drawing as SVG: results by label, or what each step of a funnel leaves. None where there is nothing to draw.
            ///
            /// It stands alone, in a file or in a page, and is legible on light and on dark.
            fn to_svg(&self) -> Option<String> {
                self.0.svg(&view::$view)
            }

            /// Rows for data frames: those of `results`, or of another list of the report.
            ///
            /// Raises InvalidInputError for a field that is no list of rows.
            #[pyo3(signature = (field=None))]
            fn table(&self, field: Option<&str>) -> PyResult<Table> {
                self.0.table("results", field)
            }

            fn _repr_html_(&self) -> String {
                self.0.html(&view::$view)
            }

            fn __repr__(&self) -> String {
                format!(
                    concat!(stringify!($class), "('{}', items={}, failed={}, left={})"),
                    self.0.text("out"),
                    self.0.value("items"),
                    self.0.count("failed"),
                    self.0.value("left")
                )
            }

            #[classmethod]
            fn _restore(_class: &Bound<'_, PyType>, state: &str) -> PyResult<Self> {
                Report::restore(state).map(Self)
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
                Ok((slf.get_type().getattr("_restore")?, (slf.get().0.json(),)))
            }
        }
    };
}

report_class! {
    /// Which bugs an agent should try, by a model's word before any try (paper 002, section 3.1).
    ///
    /// Made by `abstain`. Immutable; every attribute gives fresh plain values.
    AbstainReport, ABSTENTION {
        /// Everything as plain values, equal to what `atlas abstain --format json` prints.
        to_dict;
        /// The file of results, one JSON object a line. What it holds is not asked again by the next run.
        path out;
        /// Items that were asked for.
        value items;
        /// Those that earlier runs had done.
        value known;
        /// Those that this run did.
        value done;
        /// Those that failed, each with `key`, `kind` and `message`; the next run tries them again.
        list failed;
        /// Those that were not begun, or not finished, because the run was stopped.
        value left;
        /// Why it was stopped, and how to go on; None if it was not.
        value stopped;
        /// Instances to attempt.
        value attempt;
        /// Instances to abstain from.
        value abstain;
        /// `attempt` or `abstain` -> averages of the reports' properties, as in paper 002's Table 3.
        value features;
        /// One entry for every instance that has a result: `instance_id`, `label`, `probability`, `source`.
        list results;
        /// What is wrong with the inputs.
        list faults;
        /// What was paid in this run: calls, tokens, money, model by model; None without a model.
        value ledger;
    }
}

report_class! {
    /// Which candidate patches stand: what tests say, then a model's review (paper 002, section 3.2).
    ///
    /// Made by `review`. Immutable; every attribute gives fresh plain values.
    ReviewReport, REVIEW {
        /// Everything as plain values, equal to what `atlas review --format json` prints.
        to_dict;
        /// The file of results, one JSON object a line. What it holds is not asked again by the next run.
        path out;
        /// Items that were asked for.
        value items;
        /// Those that earlier runs had done.
        value known;
        /// Those that this run did.
        value done;
        /// Those that failed, each with `key`, `kind` and `message`; the next run tries them again.
        list failed;
        /// Those that were not begun, or not finished, because the run was stopped.
        value left;
        /// Why it was stopped, and how to go on; None if it was not.
        value stopped;
        /// Patches that every stage lets through.
        value accepted;
        /// Patches that a stage rejects.
        value rejected;
        /// Patches of instances that the abstention policy abstains from.
        value abstained;
        /// What each step leaves of the patches that have a result; empty where it cannot be told, which a note
        /// explains.
        list funnel;
        /// The lowest score that a percentile lets through; None without one.
        value cutoff;
        /// What deserves to be known.
        list notes;
        /// One entry for every patch that has a result, with `label`, `score`, `reason` and `shown`.
        list results;
        /// What is wrong with the inputs.
        list faults;
        /// What was paid in this run: calls, tokens, money, model by model; None without a model.
        value ledger;
    }
}

report_class! {
    /// Whether candidate patches pass their tests, foretold without running anything (paper 004).
    ///
    /// Made by `critic`. Immutable; every attribute gives fresh plain values.
    CriticReport, CRITIC {
        /// Everything as plain values, equal to what `atlas critic --format json` prints.
        to_dict;
        /// The file of results, one JSON object a line. What it holds is not asked again by the next run.
        path out;
        /// Items that were asked for.
        value items;
        /// Those that earlier runs had done.
        value known;
        /// Those that this run did.
        value done;
        /// Those that failed, each with `key`, `kind` and `message`; the next run tries them again.
        list failed;
        /// Those that were not begun, or not finished, because the run was stopped.
        value left;
        /// Why it was stopped, and how to go on; None if it was not.
        value stopped;
        /// Patches that are said to pass.
        value passing;
        /// Patches that are said to fail.
        value failing;
        /// What ran, by name, where it was a baseline; None for a critic.
        value baseline;
        /// The threshold of likeness, where it was searched for: with its F1, and on which patches.
        value fitted;
        /// One entry for every patch that has a result, with `label` and `progress`.
        list results;
        /// What is wrong with the inputs.
        list faults;
        /// What was paid in this run: calls, tokens, money, model by model; None without a model.
        value ledger;
    }
}

report_class! {
    /// What a judge of paper 001 said of every task: alignment, classes or hints.
    ///
    /// Made by `judge` and `hints`. Immutable; every attribute gives fresh plain values.
    JudgeReport, JUDGE {
        /// Everything as plain values, equal to what `atlas judge --format json` prints.
        to_dict;
        /// The file of results, one JSON object a line. What it holds is not asked again by the next run.
        path out;
        /// Items that were asked for.
        value items;
        /// Those that earlier runs had done.
        value known;
        /// Those that this run did.
        value done;
        /// Those that failed, each with `key`, `kind` and `message`; the next run tries them again.
        list failed;
        /// Those that were not begun, or not finished, because the run was stopped.
        value left;
        /// Why it was stopped, and how to go on; None if it was not.
        value stopped;
        /// Label -> how many.
        value labels;
        /// For classes, the tables of paper 001's appendix E: `code_type`, `issue_type`; else empty.
        dict tables;
        /// One entry for every instance that has a result: `label`, `reasoning`, and for hints `hint`.
        list results;
        /// What is wrong with the inputs.
        list faults;
        /// What was paid in this run: calls, tokens, money, model by model; None without a model.
        value ledger;
    }
}

report_class! {
    /// Why attempts failed (paper 001, section 3.4, layer 4). No verdict is changed.
    ///
    /// Made by `judge_attempts`. Immutable; every attribute gives fresh plain values.
    AttemptReport, ATTEMPTS {
        /// Everything as plain values, equal to what `atlas judge --question attempts --format json` prints.
        to_dict;
        /// The file of results, one JSON object a line. What it holds is not asked again by the next run.
        path out;
        /// Items that were asked for.
        value items;
        /// Those that earlier runs had done.
        value known;
        /// Those that this run did.
        value done;
        /// Those that failed, each with `key`, `kind` and `message`; the next run tries them again.
        list failed;
        /// Those that were not begun, or not finished, because the run was stopped.
        value left;
        /// Why it was stopped, and how to go on; None if it was not.
        value stopped;
        /// Class -> how many: tool_crash, unsupported_dependency, infrastructure, underspecified,
        /// genuine_failure, undecided.
        value labels;
        /// Predictions that were left out because they resolve their instance.
        value resolved;
        /// Predictions of which nobody said whether they failed; they are looked at as if they had.
        value ungraded;
        /// Instance -> what its failed attempts say about it together.
        value tasks;
        /// One entry for every attempt that has a result, with `label`, `look_again`, `by` and `reasoning`.
        list results;
        /// What is wrong with the inputs.
        list faults;
        /// What was paid in this run: calls, tokens, money, model by model; None without a model.
        value ledger;
    }
}
