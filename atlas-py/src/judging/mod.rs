//! What stands behind `abstain`, `review`, `critic`, `choose`, `judge`, `judge_attempts` and `hints`.

mod ask;
mod critics;
mod rows;

pub(crate) use critics::_critic;
pub(crate) use rows::{_hints, _judge, _judge_attempts};

use crate::convert::plain;
use crate::errors::{invalid, raised};
use crate::model::{Payment, session, window};
use crate::options::Options;
use ask::{ask, limit};
use atlas_judge::abstention::{AbstentionOptions, AgentTool, FeatureOptions};
use atlas_judge::answer::{AskOptions, Labels};
use atlas_judge::validation::{PromptLimits, ReviewOptions};
use atlas_pipeline::{AbstainOptions, ChooseOptions, ReviewMode, ReviewRunOptions, choose_patches};
use pyo3::prelude::*;
use std::collections::BTreeMap;

#[pyfunction]
pub(crate) fn _abstain(given: Options<'_>) -> PyResult<Bound<'_, PyAny>> {
    let usual = AbstentionOptions::default();
    let tools = given
        .maybe::<BTreeMap<String, String>>("tools")?
        .map(|tools| {
            let tools = tools.into_iter();
            tools
                .map(|(name, purpose)| AgentTool::new(name, purpose))
                .collect()
        });
    let (yes, no): (String, String) = given.get("labels")?;
    let mut report_limit = None;
    limit(&given, &["report"], |part, tokens| {
        report_limit = Some(tokens);
        part == "report"
    })?;
    let mut options = AbstainOptions {
        policy: AbstentionOptions {
            representation: given.word("representation")?,
            tools: tools.unwrap_or(usual.tools),
            max_steps: given.get("max_steps")?,
            tau: given.get("tau")?,
            labels: Labels::new(&yes, &no).map_err(|why| invalid("labels", why))?,
            ask: ask(&given, &usual.ask)?,
            report_limit,
            features: FeatureOptions {
                roots: given.get("roots")?,
            },
        },
        ..given.fields()?
    };
    let (model, config) = (given.get("model")?, given.config()?);
    if let Some(window) = window(&model, &config)? {
        options.policy = options.policy.within(window);
    }
    let session = session(&model, Payment::of(&given)?, &config, Some(&options.out))?;
    given.report("AbstainReport", async |cx| {
        atlas_pipeline::abstain(cx, &options, &session).await
    })
}

#[pyfunction]
pub(crate) fn _review(given: Options<'_>) -> PyResult<Bound<'_, PyAny>> {
    let said: ReviewRunOptions = given.fields()?;
    if said.percentile.is_some_and(|p| !(0.0..=100.0).contains(&p)) {
        return Err(invalid("percentile", "a number from 0 to 100 expected"));
    }
    let mode = said.mode;
    // The stages without a model ask none, whether one is given or not.
    let model = given.object("model")?;
    let model = model.filter(|_| mode != ReviewMode::Deterministic);
    let (config, ask) = (given.config()?, ask(&given, &AskOptions::default())?);
    let mut limits = PromptLimits::default();
    if let Some(model) = &model
        && let Some(window) = window(model, &config)?
    {
        limits = limits.within(window, ask.max_tokens);
    }
    limit(&given, &PromptLimits::PARTS, |part, tokens| {
        limits.part_mut(part).map(|limit| *limit = tokens).is_some()
    })?;
    let options = ReviewRunOptions {
        predictions: given.predictions()?,
        review: ReviewOptions {
            ask,
            test_tools: given.get("test_tools")?,
            limits,
        },
        ..said
    };
    let payment = Payment::of(&given)?;
    let session = match model {
        Some(model) => Some(session(&model, payment, &config, Some(&options.out))?),
        None if mode == ReviewMode::Deterministic => None,
        None => return Err(invalid("model", "one is needed for a review")),
    };
    given.report("ReviewReport", async |cx| {
        atlas_pipeline::review(cx, &options, session.as_ref()).await
    })
}

#[pyfunction]
pub(crate) fn _choose<'py>(py: Python<'py>, given: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let options: ChooseOptions = given.fields()?;
    let report = py.detach(|| choose_patches(&options));
    plain(py, &report.map_err(|why| raised(&why))?)
}
