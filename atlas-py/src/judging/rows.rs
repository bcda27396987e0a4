//! `judge`, `hints` and `judge_attempts`: paper 001's judges.

use super::ask::ask;
use super::reports::{AttemptReport, JudgeReport};
use crate::convert::instance_ids;
use crate::errors::invalid;
use crate::heard::Heard;
use crate::make::config;
use crate::model::session_if_given;
use crate::prediction::source;
use crate::report::Report;
use crate::run::run_heard;
use crate::traits::callers_judge;
use atlas_judge::alignment::{AlignmentOptions, QualityRule};
use atlas_judge::answer::AskOptions;
use atlas_judge::attempts::AttemptOptions;
use atlas_judge::classes::ClassOptions;
use atlas_judge::hints::HintOptions;
use atlas_pipeline::{AttemptRunOptions, ModelSession, RowJudgeOptions, RowQuestion};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// These judges take no samples unless they are asked to.
fn asked(given: Option<&Bound<'_, PyDict>>, defaults: &AskOptions) -> PyResult<AskOptions> {
    let defaults = AskOptions {
        samples: 0,
        ..defaults.clone()
    };
    ask(given, &defaults)
}

fn judged(
    py: Python<'_>,
    options: &RowJudgeOptions,
    session: Option<&ModelSession>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<JudgeReport> {
    let progress = Heard::of(progress)?;
    let report = py.detach(|| {
        run_heard(&progress, async |cx| {
            atlas_pipeline::judge_rows(cx, options, session).await
        })
    })?;
    Report::of(&report).map(JudgeReport::from)
}

/// Judges the tasks of a dataset (paper 001).
///
/// `question` is 'alignment' (is the statement clear, and do the tests judge what it asks for? section 3.4
/// and appendix C; needs a model) or 'classes' (what kind of change and of report is it? appendix E; rules,
/// then a model where one is given), or an object of the protocol `Judge` (`swe_atlas.protocols`), whose answers are kept as they are. Scores are 0, the best, to 3; one up to `high_up_to` makes a task of
/// high quality, one up to `medium_up_to` of medium. After an answer that cannot be used the model is asked
/// again `ask_again` times.
///
/// `model`, `out`, `budget`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, as are Ctrl-C and exceptions;
/// `samples` is 0 by default.
#[pyfunction]
#[pyo3(signature = (
    dataset, *, out, question=None, model=None, instance_ids=None, high_up_to=None,
    medium_up_to=None, ask_again=1, budget=None, jobs=1, config=None, progress=None, **ask
), text_signature = "(dataset, *, out, question='alignment', model=None, instance_ids=None, \
    high_up_to=None, medium_up_to=None, ask_again=1, budget=None, jobs=1, config=None, progress=None, **ask)")]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn judge(
    py: Python<'_>,
    dataset: PathBuf,
    out: PathBuf,
    question: Option<&Bound<'_, PyAny>>,
    model: Option<&Bound<'_, PyAny>>,
    instance_ids: Option<Vec<String>>,
    high_up_to: Option<u8>,
    medium_up_to: Option<u8>,
    ask_again: u32,
    budget: Option<&str>,
    jobs: usize,
    config: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    ask: Option<&Bound<'_, PyDict>>,
) -> PyResult<JudgeReport> {
    let word = match question.map(|question| (question, question.extract::<String>())) {
        None => Ok("alignment".to_owned()),
        Some((_, Ok(word))) => Ok(word),
        Some((judge, Err(_))) => Err(callers_judge(judge)?),
    };
    let question = match word.as_deref() {
        Err(judge) => RowQuestion::Judge(judge.clone()),
        Ok("alignment") => {
            let defaults = AlignmentOptions::default();
            let quality = QualityRule::default();
            RowQuestion::Alignment(AlignmentOptions {
                ask: asked(ask, &defaults.ask)?,
                ask_again,
                quality: QualityRule {
                    high_up_to: high_up_to.unwrap_or(quality.high_up_to),
                    medium_up_to: medium_up_to.unwrap_or(quality.medium_up_to),
                },
                ..defaults
            })
        }
        Ok("classes") => {
            let defaults = ClassOptions::default();
            RowQuestion::Classes(ClassOptions {
                ask: asked(ask, &defaults.ask)?,
                ask_again,
                ..defaults
            })
        }
        Ok(other) => {
            let why = format!("`{other}`: alignment, classes or a judge expected");
            return Err(invalid("question", why));
        }
    };
    let options = RowJudgeOptions {
        dataset,
        instances: self::instance_ids(instance_ids)?,
        question,
        out,
        jobs,
    };
    let session = session_if_given(model, budget, &self::config(config)?, &options.out)?;
    judged(py, &options, session.as_ref(), progress)
}

/// Finds names that tests need and problem statements do not tell (paper 001, section 3.4).
///
/// `repos` is a clone or a folder of clones, to read the files from that the patches change; without it only
/// what the patches show is known. `artefacts` is what `make` left behind: `<instance>/before.log` and
/// `<instance>/oracle.json` are read. A model is asked where rules show nothing, and with `always_ask` also
/// where they do; without one the rules decide.
///
/// `model`, `out`, `budget`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, `ask_again` that of `judge`, as
/// are Ctrl-C and exceptions.
#[pyfunction]
#[pyo3(signature = (
    dataset, *, out, model=None, instance_ids=None, repos=None, artefacts=None, always_ask=false,
    ask_again=1, budget=None, jobs=1, config=None, progress=None, **ask
))]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn hints(
    py: Python<'_>,
    dataset: PathBuf,
    out: PathBuf,
    model: Option<&Bound<'_, PyAny>>,
    instance_ids: Option<Vec<String>>,
    repos: Option<PathBuf>,
    artefacts: Option<PathBuf>,
    always_ask: bool,
    ask_again: u32,
    budget: Option<&str>,
    jobs: usize,
    config: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    ask: Option<&Bound<'_, PyDict>>,
) -> PyResult<JudgeReport> {
    let defaults = HintOptions::default();
    let options = RowJudgeOptions {
        dataset,
        instances: self::instance_ids(instance_ids)?,
        question: RowQuestion::Hints {
            options: HintOptions {
                ask: asked(ask, &defaults.ask)?,
                ask_again,
                always_ask,
                ..defaults
            },
            repos,
            artefacts,
        },
        out,
        jobs,
    };
    let session = session_if_given(model, budget, &self::config(config)?, &options.out)?;
    judged(py, &options, session.as_ref(), progress)
}

/// Says why failed attempts failed, and which are worth another look (paper 001, section 3.4, layer 4):
/// the agent's tools crashed, the environment lacks something, the machinery failed, the task asks for what
/// it does not tell, or the attempt is wrong. No verdict is changed.
///
/// `predictions` is what `evaluate` takes; those that resolve their instance are left out. `evaluations` are
/// folders `logs/run_evaluation/<run id>`: which attempts failed, and what the tests printed. A prediction's
/// own columns `resolved`, `log`, `trajectory` and `exit_status` go before. `trajectories` is a file or
/// folder of them, `hints` results of `hints`. Rules decide where a line of a log proves it; a model, if
/// there is one, is asked about the rest and has to quote.
///
/// `model`, `out`, `budget`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, `ask_again` that of `judge`, as
/// are Ctrl-C and exceptions.
#[pyfunction]
#[pyo3(signature = (
    dataset, predictions, *, out, model=None, evaluations=Vec::new(), trajectories=None, hints=None,
    instance_ids=None, ask_again=1, budget=None, jobs=1, config=None, progress=None, **ask
), text_signature = "(dataset, predictions, *, out, model=None, evaluations=(), trajectories=None, \
    hints=None, instance_ids=None, ask_again=1, budget=None, jobs=1, config=None, progress=None, **ask)")]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn judge_attempts(
    py: Python<'_>,
    dataset: PathBuf,
    predictions: &Bound<'_, PyAny>,
    out: PathBuf,
    model: Option<&Bound<'_, PyAny>>,
    evaluations: Vec<PathBuf>,
    trajectories: Option<PathBuf>,
    hints: Option<PathBuf>,
    instance_ids: Option<Vec<String>>,
    ask_again: u32,
    budget: Option<&str>,
    jobs: usize,
    config: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    ask: Option<&Bound<'_, PyDict>>,
) -> PyResult<AttemptReport> {
    let defaults = AttemptOptions::default();
    let options = AttemptRunOptions {
        dataset,
        predictions: source(predictions)?,
        instances: self::instance_ids(instance_ids)?,
        attempt: AttemptOptions {
            ask: asked(ask, &defaults.ask)?,
            ask_again,
            ..defaults
        },
        evaluations,
        trajectories,
        hints,
        out,
        jobs,
    };
    let session = session_if_given(model, budget, &self::config(config)?, &options.out)?;
    let progress = Heard::of(progress)?;
    let report = py.detach(|| {
        run_heard(&progress, async |cx| {
            atlas_pipeline::judge_attempts(cx, &options, session.as_ref()).await
        })
    })?;
    Report::of(&report).map(AttemptReport::from)
}
