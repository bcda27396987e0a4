//! What stands behind `critic`, with its baselines.

use super::ask::{ask, limit};
use crate::errors::{invalid, raised};
use crate::model::{Payment, session, window};
use crate::options::Options;
use crate::traits::callers_judge;
use atlas_judge::answer::AskOptions;
use atlas_judge::critic::{CriticLimits, CriticOptions};
use atlas_judge::metrics::LowConfidenceRule;
use atlas_pipeline::{
    Baseline, BaselineRunOptions, CriticRunOptions, EmbedderSession, LikenessThreshold,
};
use pyo3::prelude::*;

#[pyfunction]
pub(crate) fn _critic(given: Options<'_>) -> PyResult<Bound<'_, PyAny>> {
    let ask = ask(&given, &AskOptions::default())?;
    match (given.object("baseline")?, given.object("model")?) {
        (None, Some(model)) => by_model(&given, &model, ask),
        (Some(baseline), None) => by_baseline(&given, &baseline, ask.seed),
        (None, None) => Err(invalid("model", "one is needed, or a baseline")),
        (Some(_), Some(_)) => Err(invalid("model", "a baseline asks none")),
    }
}

fn by_model<'py>(
    given: &Options<'py>,
    model: &Bound<'py, PyAny>,
    ask: AskOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let rule: LowConfidenceRule = given.fields()?;
    let rule = given.get::<bool>("rule")?.then_some(rule);
    let (config, mode) = (given.config()?, given.word("mode")?);
    let mut limits = CriticLimits::default();
    limit(given, &CriticLimits::PARTS, |part, tokens| {
        let limit = limits.part_mut(part);
        limit.map(|limit| *limit = Some(tokens)).is_some()
    })?;
    if let Some(window) = window(model, &config)? {
        limits = limits.within(window, ask.max_tokens, mode);
    }
    let options = CriticRunOptions {
        predictions: given.predictions()?,
        critic: CriticOptions {
            mode,
            variant: given.word("variant")?,
            rule,
            label_logprobs: given.get("label_logprobs")?,
            ask,
            limits,
        },
        ..given.fields()?
    };
    let session = session(model, Payment::of(given)?, &config, Some(&options.out))?;
    given.report("CriticReport", async |cx| {
        atlas_pipeline::critic(cx, &options, &session).await
    })
}

fn by_baseline<'py>(
    given: &Options<'py>,
    baseline: &Bound<'py, PyAny>,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let payment = Payment::of(given)?;
    if payment.is_of_models() || given.object("limits")?.is_some() {
        let why = "`total_budget`, `batch_poll`, `limits`, `ensemble` and `calibrators` are of language models";
        return Err(invalid("baseline", why));
    }
    let word = baseline.extract::<String>();
    let baseline = match word.as_deref() {
        Err(_) => Baseline::Judge(callers_judge(baseline)?),
        Ok(word @ ("random" | "random-tests")) => Baseline::Random {
            share: given.get("share")?,
            seed,
            by_test: word == "random-tests",
        },
        Ok("likeness") => Baseline::Likeness {
            embedder: EmbedderSession::open(
                &given.get::<String>("embedder")?,
                given.maybe("embedder_characters")?,
                payment.budget.as_deref(),
                &given.config()?,
            )
            .map_err(|why| raised(&why))?,
            threshold: match given.maybe("threshold")? {
                Some(threshold) => LikenessThreshold::Given(threshold),
                None => LikenessThreshold::Search {
                    share: given.get("validation_share")?,
                    seed,
                },
            },
        },
        Ok(other) => {
            let why = format!("`{other}`: random, random-tests, likeness or a judge expected");
            return Err(invalid("baseline", why));
        }
    };
    let options = BaselineRunOptions {
        dataset: given.get("dataset")?,
        predictions: given.predictions()?,
        instances: given.instance_ids()?,
        baseline,
        evaluations: given.get("evaluations")?,
        out: given.get("out")?,
        jobs: given.get("jobs")?,
    };
    given.report("CriticReport", async |cx| {
        atlas_pipeline::critic_baseline(cx, &options).await
    })
}
