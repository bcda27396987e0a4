//! `abstain`, `review`, `critic`, `choose`, `judge`, `judge_attempts` and `hints`.

mod ask;
mod choice;
mod critics;
mod reports;
mod rows;

pub(crate) use choice::choose;
pub(crate) use critics::critic;
pub(crate) use reports::{AbstainReport, AttemptReport, CriticReport, JudgeReport, ReviewReport};
pub(crate) use rows::{hints, judge, judge_attempts};

use crate::convert::instance_ids;
use crate::errors::invalid;
use crate::heard::Heard;
use crate::make::config;
use crate::model::{Payment, session, window};
use crate::prediction::source;
use crate::report::Report;
use crate::run::run_heard;
use ask::{ask, limit, word};
use atlas_judge::abstention::{AbstentionOptions, AgentTool, FeatureOptions};
use atlas_judge::answer::{AskOptions, Labels};
use atlas_judge::validation::{PromptLimits, ReviewOptions};
use atlas_pipeline::{AbstainOptions, ReviewMode, ReviewRunOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Asks a model which instances an agent should try at all (paper 002, section 3.1).
///
/// `dataset` is a file or a folder of tasks, `out` the file of results, one JSON object a line: what it
/// holds already is not asked again, by this function or by `atlas abstain` with the same options.
///
/// `model` is a text as the command takes it ('openai:NAME', 'llama:http://…', 'replay:FILE',
/// 'scripted:FILE', a table of `[models]` in `config`), or a callable
/// `model(messages, **options) -> str | dict`, called in threads of its own. `messages` are dicts with
/// `role` and `content`; `options` are `max_tokens`, `temperature`, `seed`, `top_logprobs` and
/// `json_schema`. A dict has `text` and, as far as they are known, `logprobs` (the list that OpenAI's API
/// gives for the tokens of an answer), `avg_logprob` (nats), `finish_reason` ('stop', 'length'), `usage`
/// (`prompt_tokens`, `completion_tokens`, and of these `cached_tokens` and `reasoning_tokens`) and `model`. Its attribute `name` tells it from others.
///
/// A list of texts is several models as one judge, `NAME=` before each its name: `ensemble` is 'mean', 'majority', 'weighted', or
/// 'cascade=0.3..0.7', which asks the next model only where the number of the one before lies in the band; default 'mean', of critics
/// 'majority'. `calibrators` are files of calibrations that make the models' numbers comparable, `NAME=` before one of a single model.
///
/// `budget` limits what the run may spend, as 'calls=100,tokens=2M,money=1.50,time=10m'; what is left over
/// waits for the next run. `total_budget` limits what all runs that write to `out` spend together, without time.
/// `batch_poll` asks in batches of OpenAI's or Anthropic's, mostly at half the price and within a day, and looks every so
/// many seconds whether they are answered; the same call again goes on with the same batch. `limits` are the most tokens
/// (of four bytes) of parts of the prompt, here of `report`, default what fits into the model's context where that is known.
/// Prices of one's own are `prices` in `config`. `jobs` items go on at once. `progress` is that of `evaluate`. `ask` are `max_tokens`, `samples`, `temperature`,
/// `verbalised`, `corrections`, `max_text`, `mass_floor`, `label_form` (where a label is asked for: 'word', or 'json' for
/// models that answer in sentences) and `seed`, with the command's defaults.
///
/// `representation` is 'r1', or 'r2' with guidelines. `tools` maps the agent's tools to their purposes,
/// default the paper's kind; `max_steps` is what it may take. From the probability `tau` on an instance is
/// attempted. `labels` are the two words between which the model chooses; at least `mass_floor` must be on
/// them together. `roots` are texts that stand for the repository's root, of which `features` says how many reports name one.
///
/// Runs detached from Python's lock. Ctrl-C raises KeyboardInterrupt at once; what is done is kept, and a
/// callable that is under way goes on unheard in its thread.
///
/// An item that fails is one of `failed`. Raises AtlasError for inputs that cannot be read, wrong options, a
/// file of results that was made with others.
#[pyfunction]
#[pyo3(signature = (
    dataset, *, model, out, instance_ids=None, representation="r2", tools=None, max_steps=25, tau=0.5,
    labels=("success".to_owned(), "failure".to_owned()), budget=None, jobs=1, config=None, progress=None,
    total_budget=None, batch_poll=None, limits=None, ensemble=None, calibrators=Vec::new(), roots=Vec::new(), **ask
), text_signature = "(dataset, *, model, out, instance_ids=None, representation='r2', tools=None, \
    max_steps=25, tau=0.5, labels=('success', 'failure'), budget=None, jobs=1, config=None, progress=None, \
    total_budget=None, batch_poll=None, limits=None, ensemble=None, calibrators=(), roots=(), **ask)")]
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn abstain(
    py: Python<'_>,
    dataset: PathBuf,
    model: &Bound<'_, PyAny>,
    out: PathBuf,
    instance_ids: Option<Vec<String>>,
    representation: &str,
    tools: Option<BTreeMap<String, String>>,
    max_steps: u32,
    tau: f64,
    labels: (String, String),
    budget: Option<&str>,
    jobs: usize,
    config: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    total_budget: Option<&str>,
    batch_poll: Option<f64>,
    limits: Option<BTreeMap<String, usize>>,
    ensemble: Option<&str>,
    calibrators: Vec<String>,
    roots: Vec<String>,
    ask: Option<&Bound<'_, PyDict>>,
) -> PyResult<AbstainReport> {
    let defaults = AbstentionOptions::default();
    let tools = tools.map(|tools| {
        let tools = tools.into_iter();
        tools
            .map(|(name, purpose)| AgentTool::new(name, purpose))
            .collect()
    });
    let config = self::config(config)?;
    let mut report_limit = None;
    limit(
        &mut report_limit,
        limits,
        &["report"],
        |limit, part, tokens| {
            *limit = Some(tokens);
            part == "report"
        },
    )?;
    let mut options = AbstainOptions {
        dataset,
        instances: self::instance_ids(instance_ids)?,
        policy: AbstentionOptions {
            representation: word("representation", representation)?,
            tools: tools.unwrap_or(defaults.tools),
            max_steps,
            tau,
            labels: Labels::new(&labels.0, &labels.1).map_err(|why| invalid("labels", why))?,
            ask: self::ask(ask, &defaults.ask)?,
            report_limit,
            features: FeatureOptions { roots },
        },
        out,
        jobs,
    };
    if let Some(window) = window(model, &config)? {
        options.policy = options.policy.within(window);
    }
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
            atlas_pipeline::abstain(cx, &options, &session).await
        })
    })?;
    Report::of(&report).map(AbstainReport::from)
}

/// Validates candidate patches: what tests say, then a model's review (paper 002, section 3.2).
///
/// `predictions` is what `evaluate` takes; several patches of one agent for one instance are all reviewed.
/// `mode` is 'specification' (one is written first), 'trajectory' (the whole of it is reviewed) or
/// 'deterministic' (only the stages without a model). `repos` is a clone or a folder of clones, to read
/// original files from. `trajectories` and `facts` are files beside predictions that lack such columns,
/// `abstentions` results of `abstain`, `reports` run reports of `evaluate`. Patches of instances that the
/// policy abstains from are reviewed with `all_bugs` only. `percentile`, 0 to 100, decides what is shown
/// instead of the review's yes or no. `test_tools` are tools of the agent that run tests.
///
/// `model`, `out`, `budget`, `total_budget`, `batch_poll`, `ensemble`, `calibrators`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, as are Ctrl-C and
/// exceptions; `limits` has `report`, `patch`, `files`, `tests` and `trajectory`.
#[pyfunction]
#[pyo3(signature = (
    dataset, predictions, *, out, model=None, mode="specification", instance_ids=None, repos=None,
    trajectories=None, facts=None, abstentions=None, all_bugs=false, reports=Vec::new(), percentile=None,
    test_tools=Vec::new(), budget=None, jobs=1, config=None, progress=None,
    total_budget=None, batch_poll=None, limits=None, ensemble=None, calibrators=Vec::new(), **ask
), text_signature = "(dataset, predictions, *, out, model=None, mode='specification', \
    instance_ids=None, repos=None, trajectories=None, facts=None, abstentions=None, all_bugs=False, \
    reports=(), percentile=None, test_tools=(), budget=None, jobs=1, config=None, progress=None, \
    total_budget=None, batch_poll=None, limits=None, ensemble=None, calibrators=(), **ask)")]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn review(
    py: Python<'_>,
    dataset: PathBuf,
    predictions: &Bound<'_, PyAny>,
    out: PathBuf,
    model: Option<&Bound<'_, PyAny>>,
    mode: &str,
    instance_ids: Option<Vec<String>>,
    repos: Option<PathBuf>,
    trajectories: Option<PathBuf>,
    facts: Option<PathBuf>,
    abstentions: Option<PathBuf>,
    all_bugs: bool,
    reports: Vec<PathBuf>,
    percentile: Option<f64>,
    test_tools: Vec<String>,
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
) -> PyResult<ReviewReport> {
    if percentile.is_some_and(|p| !(0.0..=100.0).contains(&p)) {
        return Err(invalid("percentile", "a number from 0 to 100 expected"));
    }
    let mode: ReviewMode = word("mode", mode)?;
    let config = self::config(config)?;
    let ask = self::ask(ask, &AskOptions::default())?;
    let mut prompt_limits = PromptLimits::default();
    if let (true, Some(model)) = (mode != ReviewMode::Deterministic, model)
        && let Some(window) = window(model, &config)?
    {
        prompt_limits = prompt_limits.within(window, ask.max_tokens);
    }
    limit(
        &mut prompt_limits,
        limits,
        &PromptLimits::PARTS,
        |limits, part, tokens| limits.part_mut(part).map(|limit| *limit = tokens).is_some(),
    )?;
    let options = ReviewRunOptions {
        dataset,
        predictions: source(predictions)?,
        instances: self::instance_ids(instance_ids)?,
        mode,
        review: ReviewOptions {
            ask,
            test_tools,
            limits: prompt_limits,
        },
        repos,
        trajectories,
        facts,
        abstentions,
        all_bugs,
        reports,
        percentile,
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
    let session = match (mode, model) {
        (ReviewMode::Deterministic, _) => None,
        (_, Some(model)) => Some(session(model, payment, &config, Some(&options.out))?),
        (_, None) => return Err(invalid("model", "one is needed for a review")),
    };
    let progress = Heard::of(progress)?;
    let report = py.detach(|| {
        run_heard(&progress, async |cx| {
            atlas_pipeline::review(cx, &options, session.as_ref()).await
        })
    })?;
    Report::of(&report).map(ReviewReport::from)
}
