//! What stands behind `judge`, `hints` and `judge_attempts`: paper 001's judges.

use super::ask::ask;
use crate::errors::invalid;
use crate::model::session_if_given;
use crate::options::Options;
use crate::traits::callers_judge;
use atlas_judge::alignment::AlignmentOptions;
use atlas_judge::answer::AskOptions;
use atlas_judge::attempts::AttemptOptions;
use atlas_judge::classes::ClassOptions;
use atlas_judge::hints::HintOptions;
use atlas_pipeline::{AttemptRunOptions, RowJudgeOptions, RowQuestion};
use pyo3::prelude::*;

/// These judges take no samples unless they are asked to.
fn asked(given: &Options<'_>, defaults: &AskOptions) -> PyResult<AskOptions> {
    let defaults = AskOptions {
        samples: 0,
        ..defaults.clone()
    };
    ask(given, &defaults)
}

fn judged<'py>(given: &Options<'py>, question: RowQuestion) -> PyResult<Bound<'py, PyAny>> {
    let options = RowJudgeOptions {
        dataset: given.get("dataset")?,
        instances: given.instance_ids()?,
        question,
        out: given.get("out")?,
        jobs: given.get("jobs")?,
    };
    let session = session_if_given(given, &options.out)?;
    given.report("JudgeReport", async |cx| {
        atlas_pipeline::judge_rows(cx, &options, session.as_ref()).await
    })
}

#[pyfunction]
pub(crate) fn _judge(given: Options<'_>) -> PyResult<Bound<'_, PyAny>> {
    let ask_again = given.get("ask_again")?;
    let question: Bound<'_, PyAny> = given.get("question")?;
    let word = question.extract::<String>();
    let question = match word.as_deref() {
        Err(_) => RowQuestion::Judge(callers_judge(&question)?),
        Ok("alignment") => {
            let usual = AlignmentOptions::default();
            RowQuestion::Alignment(AlignmentOptions {
                ask: asked(&given, &usual.ask)?,
                ask_again,
                quality: given.fields()?,
                ..usual
            })
        }
        Ok("classes") => {
            let usual = ClassOptions::default();
            RowQuestion::Classes(ClassOptions {
                ask: asked(&given, &usual.ask)?,
                ask_again,
                ..usual
            })
        }
        Ok(other) => {
            let why = format!("`{other}`: alignment, classes or a judge expected");
            return Err(invalid("question", why));
        }
    };
    judged(&given, question)
}

#[pyfunction]
pub(crate) fn _hints(given: Options<'_>) -> PyResult<Bound<'_, PyAny>> {
    let usual = HintOptions::default();
    let question = RowQuestion::Hints {
        options: HintOptions {
            ask: asked(&given, &usual.ask)?,
            ask_again: given.get("ask_again")?,
            always_ask: given.get("always_ask")?,
            ..usual
        },
        repos: given.maybe("repos")?,
        artefacts: given.maybe("artefacts")?,
    };
    judged(&given, question)
}

#[pyfunction]
pub(crate) fn _judge_attempts(given: Options<'_>) -> PyResult<Bound<'_, PyAny>> {
    let usual = AttemptOptions::default();
    let options = AttemptRunOptions {
        predictions: given.predictions()?,
        attempt: AttemptOptions {
            ask: asked(&given, &usual.ask)?,
            ask_again: given.get("ask_again")?,
            ..usual
        },
        ..given.fields()?
    };
    let session = session_if_given(&given, &options.out)?;
    given.report("AttemptReport", async |cx| {
        atlas_pipeline::judge_attempts(cx, &options, session.as_ref()).await
    })
}
