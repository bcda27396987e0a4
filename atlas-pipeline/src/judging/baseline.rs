//! Baselines of critics over predictions: a coin with weights, likeness with the gold patch.

use super::critic::CriticRunResult;
use super::verdicts::Verdicts;
use super::{
    CandidatePatch, CandidatePatches, ContentHash, JudgeReport, JudgeRun, Results,
    candidate_patches, instance_rows, judge_items,
};
use crate::Config;
use crate::evaluate::{InputFault, PredictionSource};
use crate::parts::CallersJudge;
use atlas_core::{Embedder, Error, ErrorKind, InstanceId, Judge, RunContext, Subject};
use atlas_judge::critic::{
    EmbeddingCritic, FirstCharacters, HashedNgrams, LikenessExample, WeightedRandom, fit_threshold,
    in_validation_split,
};
use atlas_judge::metrics::GridThreshold;
use atlas_judge::metrics::analysis::WHOLE_PATCH;
use atlas_llm::{Limits, Purse, open_embedder};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// An opened embedder with its budget and its ledger.
#[derive(Clone, Debug)]
pub struct EmbedderSession {
    embedder: Arc<dyn Embedder>,
    purse: Arc<Purse>,
}

impl EmbedderSession {
    /// Opens the embedder that a text names: `hashed` for [`HashedNgrams`], which needs nothing; a table
    /// `[models.NAME]` of the configuration, `openai:NAME`, the address of a server with
    /// `/v1/embeddings` as `http://HOST:PORT/v1#NAME`, or `replay:FILE`. It sees the first `characters` of
    /// a text, all of it without a number. `budget` is read by [`Limits`]; without it nothing is limited.
    ///
    /// # Errors
    /// A text that names no embedder or no limits; a file or key that is missing.
    pub fn open(
        embedder: &str,
        characters: Option<usize>,
        budget: Option<&str>,
        config: &Config,
    ) -> Result<Self, Error> {
        let limits: Limits = budget.map(str::parse).transpose()?.unwrap_or_default();
        let purse = Arc::new(Purse::new(limits));
        let mut opened: Arc<dyn Embedder> = if embedder == "hashed" {
            Arc::new(HashedNgrams::default())
        } else {
            open_embedder(&config.model(embedder)?, &purse)?
        };
        if let Some(most) = characters {
            opened = Arc::new(FirstCharacters::new(opened, most));
        }
        Ok(Self {
            embedder: opened,
            purse,
        })
    }

    fn ledger(&self) -> Value {
        super::session::ledger(&self.purse)
    }
}

/// Where the threshold of likeness comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LikenessThreshold {
    /// It is given: a cosine, -1 to 1.
    Given(f64),
    /// The one with the best F1 on a part of the instances, which are then not judged.
    Search {
        /// Their share of all instances, above 0 and below 1.
        share: f64,
        /// Which ones.
        seed: u64,
    },
}

/// A critic that asks no language model.
#[derive(Clone, Debug)]
pub enum Baseline {
    /// A coin that says `pass` of a patch with this chance.
    Random {
        /// The chance, 0 to 1.
        share: f64,
        /// The seed of the throws.
        seed: u64,
        /// Throw for each test of the row's lists instead; a patch passes if all of them do.
        by_test: bool,
    },
    /// Passes what is like the gold patch.
    Likeness {
        /// What makes vectors of patches.
        embedder: EmbedderSession,
        /// From which cosine on.
        threshold: LikenessThreshold,
    },
    /// A judge of the caller, whose labels are `pass` and `fail`.
    Judge(CallersJudge),
}

/// What is foretold, and by which baseline.
#[derive(Clone, Debug)]
pub struct BaselineRunOptions {
    /// The dataset.
    pub dataset: PathBuf,
    /// The candidate patches.
    pub predictions: PredictionSource,
    /// Only these instances; all without any.
    pub instances: Vec<InstanceId>,
    /// The baseline.
    pub baseline: Baseline,
    /// Folders of evaluations, `logs/run_evaluation/<run id>`: which patches resolve their instance. A
    /// prediction's own column `resolved` goes before.
    pub evaluations: Vec<PathBuf>,
    /// The file of results.
    pub out: PathBuf,
    /// Patches that go on at once.
    pub jobs: usize,
}

/// A threshold that was searched for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedThreshold {
    /// The threshold and its F1 on the patches that it was searched on.
    #[serde(flatten)]
    pub found: GridThreshold,
    /// Those patches.
    pub patches: usize,
    /// Those of them that pass.
    pub passing: usize,
    /// Their instances; none of them is judged.
    pub instances: Vec<String>,
}

/// What a baseline foretold.
#[derive(Debug, Serialize)]
pub struct BaselineRunReport {
    /// How the run went.
    #[serde(flatten)]
    pub run: JudgeReport,
    /// What ran, by name.
    pub baseline: String,
    /// Patches that are said to pass.
    pub passing: usize,
    /// Patches that are said to fail.
    pub failing: usize,
    /// The threshold, where it was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted: Option<FittedThreshold>,
    /// One entry for every patch that has a result.
    pub results: Results<CriticRunResult>,
    /// What is wrong with the inputs.
    pub faults: Vec<InputFault>,
    /// What the embedder was paid in this run; null without one.
    pub ledger: Value,
}

fn wrong(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidInput, "set up the baseline:", what)
}

/// Puts a baseline beside the critics: lines of the file have the form of [`critic`](super::critic())'s, with
/// the baseline's name as `variant`. Likeness is no probability, so its confidence is 0; the cosine is the
/// critic's `score`.
///
/// # Errors
/// As [`instance_rows`], [`candidate_patches`] and [`judge_items`]; a number out of its range; a threshold
/// that is to be searched for where no patch of the split is known to pass.
///
/// # Cancellation
/// As [`judge_items`].
pub async fn critic_baseline(
    cx: &RunContext,
    options: &BaselineRunOptions,
) -> Result<BaselineRunReport, Error> {
    let (rows, mut faults) = instance_rows(&options.dataset, &options.instances)?;
    let (candidates, more) = candidate_patches(rows, &options.predictions)?;
    faults.extend(more);
    let verdicts = Verdicts::read(&options.evaluations)?;
    let mut fitted = None;
    let (judge, settings): (Box<dyn Judge>, Value) = match &options.baseline {
        Baseline::Random {
            share,
            seed,
            by_test,
        } => {
            let settings = json!({"share": share, "seed": seed, "by_test": by_test});
            (Box::new(WeightedRandom::new(*share, *seed)?), settings)
        }
        Baseline::Likeness {
            embedder,
            threshold,
        } => {
            let embedder = &embedder.embedder;
            let threshold = match *threshold {
                LikenessThreshold::Given(at) if (-1.0..=1.0).contains(&at) => at,
                LikenessThreshold::Given(at) => {
                    return Err(wrong(format!("threshold {at} is outside -1 to 1")));
                }
                LikenessThreshold::Search { share, seed } => {
                    let validation = validation_split(&candidates, share, seed)?;
                    let found = search(cx, embedder, &candidates, &validation, &verdicts).await?;
                    fitted.insert((found, validation)).0.found.threshold
                }
            };
            let settings = json!({
                "embedder": embedder.name(),
                "threshold": threshold,
                "instances": fitted.as_ref().map(|(fitted, _)| &fitted.instances),
            });
            let critic = EmbeddingCritic::new(Arc::clone(embedder), threshold);
            (Box::new(critic), settings)
        }
        Baseline::Judge(own) => (Box::new(Arc::clone(&own.judge)), own.settings()),
    };
    let by_test = matches!(options.baseline, Baseline::Random { by_test: true, .. });
    let name = match &options.baseline {
        Baseline::Random { share, .. } if by_test => format!("random-tests-{share}"),
        Baseline::Random { share, .. } => format!("random-{share}"),
        Baseline::Likeness { embedder, .. } => format!("likeness-{}", embedder.embedder.name()),
        Baseline::Judge(own) => own.judge.id().to_owned(),
    };
    let is_own = matches!(options.baseline, Baseline::Judge(_));
    let run = JudgeRun {
        name: "critic".to_owned(),
        out: options.out.clone(),
        settings: json!({"baseline": name, "options": settings}),
        jobs: options.jobs,
    };
    let (fitted, validation) = fitted.unzip();
    let validation = validation.unwrap_or_default();
    let mut items =
        candidates.items(|candidate| content(candidate, verdicts.resolved(candidate), is_own))?;
    items.retain(|item| !validation.contains(&item.input));
    let (report, lines) = judge_items(
        cx,
        &run,
        items,
        |at| candidates.identity(*at),
        |at| {
            let (judge, name, verdicts) = (&judge, &name, &verdicts);
            let candidate = candidates.get(at);
            async move {
                let candidate = candidate?;
                let mut fields = Map::new();
                if let Some(resolved) = verdicts.resolved(&candidate) {
                    fields.insert("resolved".to_owned(), json!(resolved));
                }
                let kind = candidate.columns.get("kind");
                if let Some(kind) = kind.filter(|kind| !kind.is_null()) {
                    fields.insert("kind".to_owned(), kind.clone());
                }
                fields.extend(candidate.size());
                let tests = if by_test {
                    tests(&candidate)?
                } else {
                    Vec::new()
                };
                fields.extend(one(cx, &**judge, name, &candidate, &tests).await?);
                Ok(fields)
            }
        },
    )
    .await?;
    let (results, counts) = super::critic::results(lines)?;
    let count = |label: &str| counts.get(label).copied().unwrap_or_default();
    Ok(BaselineRunReport {
        run: report,
        baseline: name,
        passing: count("pass"),
        failing: count("fail"),
        fitted,
        results,
        faults,
        ledger: match &options.baseline {
            Baseline::Random { .. } | Baseline::Judge(_) => Value::Null,
            Baseline::Likeness { embedder, .. } => embedder.ledger(),
        },
    })
}

/// Everything of a candidate that changes an answer; a judge of the caller may look at the whole row.
fn content(candidate: &CandidatePatch, resolved: Option<bool>, is_own: bool) -> ContentHash {
    let row = candidate.instance.as_map();
    let mut parts = vec![
        String::from_utf8_lossy(candidate.patch.as_bytes()).into_owned(),
        json!([resolved, candidate.columns.get("kind")]).to_string(),
    ];
    for name in ["patch", "FAIL_TO_PASS", "PASS_TO_PASS"] {
        parts.push(row.get(name).map(Value::to_string).unwrap_or_default());
    }
    if is_own {
        parts.push(candidate.instance.to_string());
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    ContentHash::of(&parts)
}

/// The ids of the row's lists.
fn tests(candidate: &CandidatePatch) -> Result<Vec<String>, Error> {
    let row = &candidate.instance;
    let mut ids = Vec::new();
    for list in [row.fail_to_pass(), row.pass_to_pass()] {
        ids.extend(list.map_err(|why| wrong(why.to_string()))?.ids);
    }
    if ids.is_empty() {
        return Err(wrong(
            "FAIL_TO_PASS and PASS_TO_PASS are empty: there is no test to throw for",
        ));
    }
    Ok(ids)
}

async fn one(
    cx: &RunContext,
    judge: &dyn Judge,
    variant: &str,
    candidate: &CandidatePatch,
    tests: &[String],
) -> Result<Map<String, Value>, Error> {
    let mut subject = Subject {
        instance: candidate.instance.clone(),
        patch: Some(candidate.patch.clone()),
        attachments: Map::new(),
    };
    let percent =
        |judgement: &atlas_core::Judgement| judgement.confidence.value.unwrap_or_default() * 100.0;
    let mut fields = Map::new();
    let mut said = Vec::new();
    let mut likeness = None;
    if tests.is_empty() {
        let judgement = judge.judge(cx, &subject).await?;
        if !matches!(judgement.label.as_str(), "pass" | "fail") {
            let label = &judgement.label;
            return Err(wrong(format!(
                "`{variant}` says `{label}` of a patch; pass or fail expected"
            )));
        }
        said.push(json!({
            "id": WHOLE_PATCH,
            "predicted": judgement.label == "pass",
            "confidence": percent(&judgement),
        }));
        likeness = judgement.details.get("likeness").cloned();
        fields.insert("label".to_owned(), json!(judgement.label));
        fields.insert("judgement".to_owned(), json!(judgement));
    } else {
        let mut passing = 0_u32;
        for id in tests {
            let test = json!({"id": id});
            subject.attachments.insert("test".to_owned(), test);
            let judgement = judge.judge(cx, &subject).await?;
            let passes = judgement.label == "pass";
            passing += u32::from(passes);
            said.push(json!({"id": id, "predicted": passes, "confidence": percent(&judgement)}));
        }
        let all = u32::try_from(tests.len()).unwrap_or(u32::MAX);
        let label = if passing == all { "pass" } else { "fail" };
        fields.insert("label".to_owned(), json!(label));
        fields.insert(
            "progress".to_owned(),
            json!(f64::from(passing) / f64::from(all)),
        );
    }
    let mut critic = json!({"variant": variant, "tests": said});
    if let Some(likeness) = likeness {
        critic["score"] = likeness;
    }
    fields.insert("critic".to_owned(), critic);
    Ok(fields)
}

/// The numbers of the candidates that a threshold is searched on.
fn validation_split(
    candidates: &CandidatePatches,
    share: f64,
    seed: u64,
) -> Result<BTreeSet<usize>, Error> {
    if !(share > 0.0 && share < 1.0) {
        return Err(wrong(format!(
            "validation share {share} is not between 0 and 1"
        )));
    }
    let rows = candidates.rows();
    let names = candidates.names().enumerate();
    let found: BTreeSet<usize> = names
        .filter(|(_, (_, row))| in_validation_split(rows.id(*row), share, seed))
        .map(|(at, _)| at)
        .collect();
    let empty = match found.len() {
        0 => "no instance falls",
        all if all == candidates.names().count() => "every instance falls",
        _ => return Ok(found),
    };
    Err(wrong(format!(
        "{empty} into the split that a threshold is searched on; take another share or seed, more \
         instances, or give the threshold"
    )))
}

async fn search(
    cx: &RunContext,
    embedder: &dyn Embedder,
    candidates: &CandidatePatches,
    validation: &BTreeSet<usize>,
    verdicts: &Verdicts,
) -> Result<FittedThreshold, Error> {
    let mut examples = Vec::new();
    let mut instances = Vec::new();
    for at in validation {
        let candidate = candidates.get(*at)?;
        let gold = candidate.instance.gold_patch();
        instances.push(candidate.name.instance_id.clone());
        if let (Some(passes), Ok(gold)) = (verdicts.resolved(&candidate), gold) {
            examples.push(LikenessExample {
                candidate: candidate.patch,
                gold,
                passes,
            });
        }
    }
    instances.sort();
    instances.dedup();
    let passing = examples.iter().filter(|example| example.passes).count();
    let found = fit_threshold(cx, embedder, &examples).await?;
    let found = found.ok_or_else(|| {
        wrong(format!(
            "of {} patches that a threshold is searched on, {} are known and {passing} pass; at least one must: \
             give the column `resolved` or --evaluation, or the threshold itself",
            validation.len(),
            examples.len()
        ))
    })?;
    Ok(FittedThreshold {
        found,
        patches: examples.len(),
        passing,
        instances,
    })
}
