//! `critic`, with its baselines.

use super::ask::{ask, limit, word};
use super::reports::CriticReport;
use crate::convert::instance_ids;
use crate::errors::{invalid, raised};
use crate::heard::Heard;
use crate::make::config;
use crate::model::{Payment, session, window};
use crate::prediction::source;
use crate::report::Report;
use crate::run::run_heard;
use crate::traits::callers_judge;
use atlas_judge::answer::AskOptions;
use atlas_judge::critic::{CriticLimits, CriticOptions};
use atlas_judge::metrics::LowConfidenceRule;
use atlas_pipeline::{
    Baseline, BaselineRunOptions, CriticRunOptions, EmbedderSession, LikenessThreshold,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Asks a critic whether candidate patches pass their tests, without running anything (paper 004).
///
/// `predictions` is what `evaluate` takes; several patches of one agent for one instance are all judged.
/// `mode` says what the critic sees: 'isolated' (one unseen test a call), 'holistic' (all of them),
/// 'change-aware' (the gold patch), 'problem' or 'problem-hints' (no reference). `variant` says how patches
/// are shown: 'default', 'function' (with the whole functions around every change) or 'post-commit' (as the
/// functions that they leave behind). A test that is said to pass with at most `max_confidence` (0 to 100)
/// and whose source has more than `longer_than` characters is taken to fail, unless `rule` is False. `repos`
/// is a clone or a folder of clones, to read the files at the base commit from. `label_logprobs` also keeps how
/// likely the word 'pass' was where the verdict begins, and changes no verdict. A patch whose seen tests all pass
/// while tests of FAIL_TO_PASS were not found in the test patch has the label 'abstained', unless `ignore_unseen`.
///
/// `baseline` asks no language model, which critics are compared with: 'random' says pass with the chance
/// `share`; 'random-tests' does so for each test of the row's lists, and a patch passes if all do;
/// an object of the protocol `Judge` (`swe_atlas.protocols`) says 'pass' or 'fail' of a patch;
/// 'likeness' passes what is like the gold patch, by the cosine of their vectors. `embedder` makes the vectors:
/// 'hashed' (sequences of characters, no model), the address of a server with `/v1/embeddings` as
/// 'http://HOST:PORT/v1#NAME', 'openai:NAME', a table of `[models]`, or 'replay:FILE'; it sees the first
/// `embedder_characters` of a patch, all of it by default. From the cosine `threshold` on a patch passes;
/// without it the one with the best F1 on the share `validation_share` of the instances is taken, which are
/// not judged. Which patches pass is told by the predictions' column `resolved`, else by `evaluations`,
/// folders `logs/run_evaluation/<run id>`.
///
/// `model`, `out`, `budget`, `total_budget`, `batch_poll`, `ensemble`, `calibrators`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, as are Ctrl-C and
/// exceptions; `limits` has `patch`, `gold`, `tests`, `problem` and `hints`.
#[pyfunction]
#[pyo3(signature = (
    dataset, predictions, *, out, model=None, mode="isolated", variant="function", max_confidence=65.0,
    longer_than=50, rule=true, repos=None, instance_ids=None, label_logprobs=false, ignore_unseen=false,
    baseline=None, share=0.85,
    embedder="hashed", embedder_characters=None, threshold=None, validation_share=0.3,
    evaluations=Vec::new(), budget=None, jobs=1, config=None, progress=None,
    total_budget=None, batch_poll=None, limits=None, ensemble=None, calibrators=Vec::new(), **ask
), text_signature = "(dataset, predictions, *, out, model=None, mode='isolated', variant='function', \
    max_confidence=65.0, longer_than=50, rule=True, repos=None, instance_ids=None, \
    label_logprobs=False, ignore_unseen=False, baseline=None, \
    share=0.85, embedder='hashed', embedder_characters=None, threshold=None, validation_share=0.3, \
    evaluations=(), budget=None, jobs=1, config=None, progress=None, \
    total_budget=None, batch_poll=None, limits=None, ensemble=None, calibrators=(), **ask)")]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn critic(
    py: Python<'_>,
    dataset: PathBuf,
    predictions: &Bound<'_, PyAny>,
    out: PathBuf,
    model: Option<&Bound<'_, PyAny>>,
    mode: &str,
    variant: &str,
    max_confidence: f64,
    longer_than: u64,
    rule: bool,
    repos: Option<PathBuf>,
    instance_ids: Option<Vec<String>>,
    label_logprobs: bool,
    ignore_unseen: bool,
    baseline: Option<&Bound<'_, PyAny>>,
    share: f64,
    embedder: &str,
    embedder_characters: Option<usize>,
    threshold: Option<f64>,
    validation_share: f64,
    evaluations: Vec<PathBuf>,
    budget: Option<&str>,
    jobs: usize,
    config: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    total_budget: Option<&str>,
    batch_poll: Option<f64>,
    limits: Option<BTreeMap<String, usize>>,
    ensemble: Option<&str>,
    calibrators: Vec<String>,
    ask: Option<&Bound<'_, PyDict>>,
) -> PyResult<CriticReport> {
    let config = self::config(config)?;
    let asking = self::ask(ask, &AskOptions::default())?;
    let seed = asking.seed;
    let predictions = source(predictions)?;
    let instances = self::instance_ids(instance_ids)?;
    let Some(baseline) = baseline else {
        let model = model.ok_or_else(|| invalid("model", "one is needed, or a baseline"))?;
        let rule = rule.then_some(LowConfidenceRule {
            max_confidence,
            longer_than,
        });
        let mode = word("mode", mode)?;
        let mut prompt_limits = CriticLimits::default();
        limit(
            &mut prompt_limits,
            limits,
            &CriticLimits::PARTS,
            |limits, part, tokens| {
                limits
                    .part_mut(part)
                    .map(|limit| *limit = Some(tokens))
                    .is_some()
            },
        )?;
        if let Some(window) = window(model, &config)? {
            prompt_limits = prompt_limits.within(window, asking.max_tokens, mode);
        }
        let options = CriticRunOptions {
            dataset,
            predictions,
            instances,
            critic: CriticOptions {
                mode,
                variant: word("variant", variant)?,
                rule,
                label_logprobs,
                ask: asking,
                limits: prompt_limits,
            },
            repos,
            ignore_unseen,
            out,
            jobs,
        };
        let payment = Payment {
            budget,
            total_budget,
            batch_poll,
            ensemble,
            calibrators,
            is_single: false,
        };
        let session = session(model, payment, &config, Some(&options.out))?;
        let progress = Heard::of(progress)?;
        let report = py.detach(|| {
            run_heard(&progress, async |cx| {
                atlas_pipeline::critic(cx, &options, &session).await
            })
        })?;
        return Report::of(&report).map(CriticReport::from);
    };
    if model.is_some() {
        return Err(invalid("model", "a baseline asks none"));
    }
    let is_of_models = ensemble.is_some() || !calibrators.is_empty();
    if total_budget.is_some() || batch_poll.is_some() || limits.is_some() || is_of_models {
        let why = "`total_budget`, `batch_poll`, `limits`, `ensemble` and `calibrators` are of language models";
        return Err(invalid("baseline", why));
    }
    let word = baseline.extract::<String>();
    let baseline = match word.as_deref() {
        Err(_) => Baseline::Judge(callers_judge(baseline)?),
        Ok(word @ ("random" | "random-tests")) => Baseline::Random {
            share,
            seed,
            by_test: word == "random-tests",
        },
        Ok("likeness") => Baseline::Likeness {
            embedder: EmbedderSession::open(embedder, embedder_characters, budget, &config)
                .map_err(|why| raised(&why))?,
            threshold: threshold.map_or(
                LikenessThreshold::Search {
                    share: validation_share,
                    seed,
                },
                LikenessThreshold::Given,
            ),
        },
        Ok(other) => {
            let why = format!("`{other}`: random, random-tests, likeness or a judge expected");
            return Err(invalid("baseline", why));
        }
    };
    let options = BaselineRunOptions {
        dataset,
        predictions,
        instances,
        baseline,
        evaluations,
        out,
        jobs,
    };
    let progress = Heard::of(progress)?;
    let report = py.detach(|| {
        run_heard(&progress, async |cx| {
            atlas_pipeline::critic_baseline(cx, &options).await
        })
    })?;
    Report::of(&report).map(CriticReport::from)
}
