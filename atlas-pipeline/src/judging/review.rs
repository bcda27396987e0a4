//! Patch validation over predictions.

use super::abstain::Silent;
use super::ensemble::{lift_members, unasked};
use super::{
    Attached, CandidatePatch, CandidatePatches, ContentHash, JudgeReport, JudgeRun, ModelSession,
    PatchName, ResultLines, Sisters, candidate_patches, in_batches, instance_rows, judge_items,
};
use crate::clones::BaseSource;
use crate::evaluate::{InputFault, PredictionSource};
use crate::own_parser::rules_of_row;
use crate::words::{percentile, word};
use atlas_core::{ChatMessage, Error, ErrorKind, InstanceId, RunContext, Subject};
use atlas_judge::ensemble::{Ensemble, EnsembleReview, Question};
use atlas_judge::validation::{
    DecisionRule, FunnelStep, PatchRecord, PatchStage, PatchValidation, Policies, Population,
    Review, ReviewOptions, SpecificationReview, TrajectoryReview, ValidationReport,
    ValidationSubject, combine,
};
use atlas_oracle::RunReport;
use atlas_parsers::Parsers;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which review follows the stages without a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewMode {
    /// With a specification that is written first.
    #[default]
    Specification,
    /// Of the whole trajectory.
    Trajectory,
    /// None.
    Deterministic,
}

/// What to validate, and how. Most fields are options of `atlas review`.
#[derive(Clone, Debug, Default, Deserialize, Args)]
#[serde(default)]
pub struct ReviewRunOptions {
    /// The dataset.
    #[arg(skip)]
    pub dataset: PathBuf,
    /// The candidate patches: a file, gold (the rows' own patches) or null (empty ones). Several of one
    /// agent for one instance are all reviewed.
    #[arg(long, value_name = "FILE|gold|null")]
    #[serde(skip)]
    pub predictions: PredictionSource,
    /// Only these instances; all without any.
    #[arg(skip)]
    #[serde(rename = "instance_ids")]
    pub instances: Vec<InstanceId>,
    /// The review: with a specification written first, of the whole trajectory, or only the stages
    /// without a model.
    #[arg(long, value_parser = word::<ReviewMode>(), default_value = "specification")]
    pub mode: ReviewMode,
    /// How it asks.
    #[arg(skip)]
    #[serde(skip)]
    pub review: ReviewOptions,
    /// A clone, or a folder of clones named `owner__name`, `owner/name` or `name`, to read the
    /// original files from [default: the specification is written from the report alone].
    #[arg(long, value_name = "DIR")]
    pub repos: Option<PathBuf>,
    /// The agents' trajectories: JSON lines with `instance_id` and `trajectory`, or a folder of
    /// `<instance>.traj` or `.json` files. A prediction's own column `trajectory` goes before.
    #[arg(long, value_name = "FILE|DIR")]
    pub trajectories: Option<PathBuf>,
    /// Results of tests on the patches: JSON lines with `instance_id`, `agent`, `patch_id` and
    /// `test_facts`. A prediction's own column `test_facts` goes before.
    #[arg(long, value_name = "FILE")]
    pub facts: Option<PathBuf>,
    /// Results of `atlas abstain`: patches of instances that it abstains from are not reviewed.
    #[arg(long, value_name = "FILE")]
    pub abstentions: Option<PathBuf>,
    /// Review them all the same: what a percentile over all bugs needs.
    #[arg(long, requires = "abstentions")]
    pub all_bugs: bool,
    /// A run report of `atlas eval`: which patches resolve their instance, where an agent has one for
    /// it. A prediction's own column `resolved` goes before. Can be given several times.
    #[arg(long = "report", value_name = "FILE")]
    pub reports: Vec<PathBuf>,
    /// Show only patches whose score reaches this percentile of all scores.
    #[arg(long, value_name = "P", value_parser = percentile)]
    pub percentile: Option<f64>,
    /// The file of results.
    #[arg(skip)]
    pub out: PathBuf,
    /// Patches that go on at once.
    #[arg(skip)]
    pub jobs: usize,
}

/// What validation said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReviewRunReport {
    /// How the run went.
    #[serde(flatten)]
    pub run: JudgeReport,
    /// Patches that every stage lets through.
    pub accepted: usize,
    /// Patches that a stage rejects.
    pub rejected: usize,
    /// Patches of instances that the abstention policy abstains from.
    pub abstained: usize,
    /// What each step leaves of the patches that have a result; absent where it cannot be told, which a
    /// note explains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub funnel: Vec<FunnelStep>,
    /// The lowest score that a percentile lets through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<f64>,
    /// What deserves to be known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// One entry for every patch that has a result.
    pub results: Vec<ReviewResult>,
    /// What is wrong with the inputs.
    pub faults: Vec<InputFault>,
    /// What the model was paid in this run: calls, tokens, money.
    pub ledger: Value,
}

/// What validation said about one patch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReviewResult {
    /// The instance.
    pub instance_id: String,
    /// Who made the patch.
    pub agent: String,
    /// The patch.
    pub patch_id: String,
    /// `accept`, `reject` or `abstained`.
    pub label: String,
    /// The score, where a review gave one.
    pub score: Option<f64>,
    /// The stage that rejected, or the reason in the last one's words.
    pub reason: String,
    /// Whether the funnel shows it in the end.
    pub shown: Option<bool>,
}

struct Known {
    trajectories: Attached,
    facts: Attached,
    abstentions: Option<Attached>,
    resolved: Option<BTreeMap<String, BTreeSet<String>>>,
    sisters: Sisters,
    /// Instance and agent of patches that have no sister.
    single: BTreeSet<(String, String)>,
    parsers: Parsers,
}

/// Validates every candidate patch. Lines of the file have the form of a results file of the metrics:
/// `instance_id`, `agent`, `patch_id`, where known `resolved` and `abstention`, then `deterministic`,
/// `validation` (`accepted`, `score`, `source`) and all `stages`.
///
/// # Errors
/// As [`instance_rows`], [`candidate_patches`] and [`judge_items`]; a file beside them that cannot be read.
///
/// # Cancellation
/// As [`judge_items`].
pub async fn review(
    cx: &RunContext,
    options: &ReviewRunOptions,
    session: Option<&ModelSession>,
) -> Result<ReviewRunReport, Error> {
    if let Some(session) = session {
        in_batches(cx, session, &options.out, |session, out| {
            let options = ReviewRunOptions {
                out,
                ..options.clone()
            };
            async move {
                Box::pin(review(cx, &options, Some(&session)))
                    .await
                    .map(drop)
            }
        })
        .await?;
    }
    let (rows, mut faults) = instance_rows(&options.dataset, &options.instances)?;
    let (candidates, more) = candidate_patches(rows, &options.predictions)?;
    faults.extend(more);
    let known = Known::read(options, &candidates)?;
    for (name, beside) in known.beside() {
        faults.extend(beside.unclear(name, &candidates, &known.sisters)?);
    }
    let ensemble = match session.filter(|_| options.mode != ReviewMode::Deterministic) {
        Some(session) => session.ensemble(&Question::Review, 0.5)?,
        None => None,
    };
    let chain = chain(options, session, ensemble.as_ref())?;
    let run = JudgeRun {
        name: "review".to_owned(),
        out: options.out.clone(),
        settings: settings(options, session, ensemble.as_ref())?,
        jobs: options.jobs,
    };
    let items = candidates.items(content)?;
    let (report, lines) = judge_items(
        cx,
        &run,
        items,
        |at| candidates.identity(*at),
        |at| {
            let (candidate, known) = (candidates.get(at), &known);
            let chain = (&chain, ensemble.as_ref());
            async move { one(cx, options, known, chain, candidate?).await }
        },
    )
    .await?;
    let ledger = session.map_or_else(|| json!({}), ModelSession::ledger);
    summary(options, report, &lines, faults, ledger)
}

/// Everything of a candidate that its review depends on.
fn content(candidate: &CandidatePatch) -> ContentHash {
    let column = |name: &str| candidate.columns.get(name).map(Value::to_string);
    let row = |name: &str| {
        candidate
            .instance
            .text(name)
            .ok()
            .flatten()
            .unwrap_or_default()
    };
    ContentHash::of(&[
        row("problem_statement"),
        row("base_commit"),
        row("log_parser"),
        &String::from_utf8_lossy(candidate.patch.as_bytes()),
        &column("trajectory").unwrap_or_default(),
        &column("test_facts").unwrap_or_default(),
        &column("resolved").unwrap_or_default(),
        &column("kind").unwrap_or_default(),
    ])
}

fn chain(
    options: &ReviewRunOptions,
    session: Option<&ModelSession>,
    ensemble: Option<&Ensemble>,
) -> Result<PatchValidation, Error> {
    let review = options.review.clone();
    if options.mode == ReviewMode::Deterministic {
        return Ok(PatchValidation::deterministic(&review.test_tools));
    }
    let session = session.ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidInput,
            "review:",
            "a model is needed for a review",
        )
    })?;
    let stage = |model| -> Box<dyn PatchStage> {
        match options.mode {
            ReviewMode::Trajectory => Box::new(TrajectoryReview::new(model, review.clone())),
            _ => Box::new(SpecificationReview::new(model, review.clone())),
        }
    };
    let last = match ensemble {
        Some(ensemble) => {
            let stages = session.models().map(stage).collect();
            Box::new(EnsembleReview::new(ensemble.clone(), stages)?)
        }
        None => stage(session.model()),
    };
    Ok(PatchValidation::deterministic(&review.test_tools).then(last))
}

/// Everything that changes a result. Files beside the predictions count by what they hold.
fn settings(
    options: &ReviewRunOptions,
    session: Option<&ModelSession>,
    ensemble: Option<&Ensemble>,
) -> Result<Value, Error> {
    let mut settings = match session {
        Some(session) => session.described(ensemble),
        None => json!({"model": null, "model_settings": null}),
    };
    settings["mode"] = json!(options.mode);
    settings["review"] = json!(options.review);
    settings["prompt_versions"] = json!(atlas_judge::validation::review_prompt_versions());
    settings["originals"] = json!(options.repos.is_some());
    settings["trajectories"] = json!(content_hash(options.trajectories.as_deref())?);
    settings["facts"] = json!(content_hash(options.facts.as_deref())?);
    settings["abstentions"] = json!(content_hash(options.abstentions.as_deref())?);
    settings["all_bugs"] = json!(options.all_bugs);
    let reports = options
        .reports
        .iter()
        .map(|path| content_hash(Some(path)))
        .collect::<Result<Vec<_>, _>>()?;
    settings["reports"] = json!(reports);
    Ok(settings)
}

fn content_hash(path: Option<&Path>) -> Result<Option<String>, Error> {
    use sha2::{Digest, Sha256};
    use std::fmt::Write as _;
    let Some(path) = path else { return Ok(None) };
    let mut hash = Sha256::new();
    for entry in walkdir::WalkDir::new(path).sort_by_file_name() {
        let entry = entry.map_err(|why| {
            Error::new(ErrorKind::Io, "read", format!("`{}`", path.display())).with_source(why)
        })?;
        if entry.file_type().is_file() {
            let bytes =
                std::fs::read(entry.path()).map_err(|why| Error::io("read", entry.path(), why))?;
            let name = entry.path().strip_prefix(path).unwrap_or(entry.path());
            hash.update(name.to_string_lossy().as_bytes());
            hash.update(bytes.len().to_le_bytes());
            hash.update(&bytes);
        }
    }
    let text = hash
        .finalize()
        .iter()
        .take(6)
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
    Ok(Some(text))
}

impl Known {
    fn read(options: &ReviewRunOptions, candidates: &CandidatePatches) -> Result<Self, Error> {
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        for (name, _) in candidates.names() {
            *counts.entry(pair(name)).or_default() += 1;
        }
        let read = |path: &Option<PathBuf>, field: &str| match path {
            Some(path) => Attached::read(path, field).map(Some),
            None => Ok(None),
        };
        let mut resolved: Option<BTreeMap<String, BTreeSet<String>>> = None;
        for path in &options.reports {
            let (model, report): (String, RunReport) = crate::read_run_report(path)?;
            let ids = resolved.get_or_insert_default().entry(model).or_default();
            ids.extend(report.resolved_ids);
        }
        Ok(Self {
            trajectories: read(&options.trajectories, "trajectory")?.unwrap_or_default(),
            facts: read(&options.facts, "test_facts")?.unwrap_or_default(),
            abstentions: read(&options.abstentions, "abstention")?,
            resolved,
            sisters: Sisters::of(candidates),
            single: counts
                .into_iter()
                .filter_map(|(pair, count)| (count == 1).then_some(pair))
                .collect(),
            parsers: Parsers::builtin(),
        })
    }

    /// What is known of single patches.
    fn beside(&self) -> [(&'static str, &Attached); 2] {
        [
            ("trajectory", &self.trajectories),
            ("test_facts", &self.facts),
        ]
    }

    /// Whether the evaluator found the patch to resolve its instance: the prediction's own column, else
    /// the run reports of its agent. A run report is about one patch an instance: of several by one agent
    /// it tells nothing.
    fn resolved(&self, candidate: &CandidatePatch) -> Option<bool> {
        if let Some(Value::Bool(resolved)) = candidate.columns.get("resolved") {
            return Some(*resolved);
        }
        let ids = self.resolved.as_ref()?.get(&candidate.name.agent)?;
        let pair = pair(&candidate.name);
        self.single.contains(&pair).then(|| ids.contains(&pair.0))
    }

    async fn subject(
        &self,
        options: &ReviewRunOptions,
        candidate: &CandidatePatch,
    ) -> Result<ValidationSubject, Error> {
        let mut attachments = Map::new();
        for (name, beside) in self.beside() {
            let own = candidate.columns.get(name).filter(|value| !value.is_null());
            let value = match own {
                Some(own) => Some(own.clone()),
                None => beside.of_patch(&candidate.name, &self.sisters)?,
            };
            if let Some(value) = value {
                attachments.insert(name.to_owned(), value);
            }
        }
        let mut subject = ValidationSubject::of(&Subject {
            instance: candidate.instance.clone(),
            patch: Some(candidate.patch.clone()),
            attachments,
        })?;
        let parser = candidate.instance.text("log_parser").ok().flatten();
        subject.log_parser = match rules_of_row(candidate.instance.as_map()) {
            Some(own) => Some(Arc::new(own)),
            None => parser.and_then(|id| self.parsers.get(id).ok()),
        };
        if let Some(repos) = &options.repos
            && options.mode == ReviewMode::Specification
        {
            subject.originals = originals(repos, candidate, &subject).await?;
        }
        Ok(subject)
    }
}

fn pair(name: &PatchName) -> (String, String) {
    (name.instance_id.clone(), name.agent.clone())
}

/// The files that the patch edits, as they are at the base commit. What is no text is left out.
async fn originals(
    repos: &Path,
    candidate: &CandidatePatch,
    subject: &ValidationSubject,
) -> Result<BTreeMap<String, String>, Error> {
    let tree = BaseSource::of(repos, &candidate.instance).await?;
    let mut found = BTreeMap::new();
    for path in subject.missing_originals() {
        if let Some(bytes) = tree.read(&path).await?
            && let Ok(text) = String::from_utf8(bytes)
        {
            found.insert(path, text);
        }
    }
    Ok(found)
}

async fn one(
    cx: &RunContext,
    options: &ReviewRunOptions,
    known: &Known,
    (chain, ensemble): (&PatchValidation, Option<&Ensemble>),
    candidate: CandidatePatch,
) -> Result<Map<String, Value>, Error> {
    let mut fields = Map::new();
    if let Some(resolved) = known.resolved(&candidate) {
        fields.insert("resolved".to_owned(), json!(resolved));
    }
    if let Some(kind) = candidate.columns.get("kind") {
        fields.insert("kind".to_owned(), kind.clone());
    }
    fields.extend(candidate.size());
    let mut is_attempted = true;
    if let Some(abstentions) = &known.abstentions {
        let found = abstentions.of(&candidate.name)?.ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                "find the abstention policy's word:",
                "the file of abstentions has none for this instance; run `atlas abstain` to its end",
            )
        })?;
        is_attempted = found["attempt"].as_bool().unwrap_or_else(|| {
            // A line of another tool may have the probability alone.
            found["probability"].as_f64().unwrap_or_default()
                >= Policies::default().tau.unwrap_or_default()
        });
        fields.insert(
            "abstention".to_owned(),
            json!({
                "probability": found["probability"],
                "source": found["source"],
                "attempt": is_attempted,
            }),
        );
    }
    if !(is_attempted || options.all_bugs) {
        return Ok(fields);
    }
    let subject = known.subject(options, &candidate).await?;
    let report = chain.validate(cx, &subject).await?;
    fields.extend(validation_fields(report, ensemble)?);
    Ok(fields)
}

/// What a line says of a validation.
pub(super) fn validation_fields(
    mut report: ValidationReport,
    ensemble: Option<&Ensemble>,
) -> Result<Map<String, Value>, Error> {
    let mut fields = Map::new();
    fields.insert("accepted".to_owned(), json!(report.accepted));
    fields.insert("deterministic".to_owned(), json!(report.deterministic));
    if let Some(review) = &report.review {
        fields.insert("validation".to_owned(), json!(review));
    }
    if let Some(stage) = report.stages.last_mut() {
        lift_members(&mut stage.details, &mut fields);
        if let (Some(ensemble), None) = (ensemble, &report.review) {
            let why = format!("`{}` rejects the patch", stage.stage);
            fields.insert("members".to_owned(), unasked(ensemble, &why)?);
        }
    }
    fields.insert("stages".to_owned(), json!(report.stages));
    Ok(fields)
}

fn summary(
    options: &ReviewRunOptions,
    run: JudgeReport,
    lines: &ResultLines,
    faults: Vec<InputFault>,
    ledger: Value,
) -> Result<ReviewRunReport, Error> {
    let text = |line: &Map<String, Value>, name: &str| {
        let value = line.get(name).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let mut records = Vec::new();
    let mut results = Vec::new();
    let mut notes = Vec::new();
    for line in lines.iter() {
        let line = &line?;
        if line.contains_key("error") {
            continue;
        }
        let review: Option<Review> = line
            .get("validation")
            .and_then(|value| serde_json::from_value(value.clone()).ok());
        let (label, reason) = match line.get("accepted").and_then(Value::as_bool) {
            None => ("abstained", String::new()),
            Some(accepted) => {
                let last = line.get("stages").and_then(Value::as_array);
                let last = last.and_then(|stages| stages.last()).cloned();
                let last = last.unwrap_or_default();
                let word = |name: &str| last[name].as_str().unwrap_or_default().to_owned();
                let label = if accepted { "accept" } else { "reject" };
                (label, format!("{}: {}", word("stage"), word("reason")))
            }
        };
        results.push(ReviewResult {
            instance_id: text(line, "instance_id"),
            agent: text(line, "agent"),
            patch_id: text(line, "patch_id"),
            label: label.to_owned(),
            score: review.as_ref().and_then(|review| review.score),
            reason,
            shown: None,
        });
        let abstention = line.get("abstention");
        // The policy's own decision stands, whatever its threshold was.
        let attempt = abstention.and_then(|value| value["attempt"].as_bool());
        records.push(PatchRecord {
            bug: text(line, "instance_id"),
            patch: text(line, "patch_id"),
            abstention: attempt.map(|attempt| f64::from(u8::from(attempt))),
            deterministic: line
                .get("deterministic")
                .and_then(|value| serde_json::from_value(value.clone()).ok()),
            review,
        });
    }
    let policies = Policies {
        tau: options.abstentions.is_some().then_some(0.5),
        deterministic: true,
        rule: match options.percentile {
            _ if options.mode == ReviewMode::Deterministic => None,
            Some(p) => Some(DecisionRule::Percentile(p)),
            None => Some(DecisionRule::Binary),
        },
        population: if options.all_bugs {
            Population::AllBugs
        } else {
            Population::ReachedValidation
        },
    };
    let (mut funnel, mut cutoff) = (Vec::new(), None);
    match combine(&records, &policies) {
        Ok(combined) => {
            for (result, shown) in results.iter_mut().zip(&combined.shown) {
                result.shown = Some(*shown);
            }
            funnel = combined.funnel;
            cutoff = combined.cutoff;
        }
        Err(why) => notes.push(format!("there is no funnel: {why}")),
    }
    if options.repos.is_none() && options.mode == ReviewMode::Specification {
        notes.push(
            "specifications were written without the original files; `--repos` gives them"
                .to_owned(),
        );
    }
    let count = |label: &str| results.iter().filter(|one| one.label == label).count();
    Ok(ReviewRunReport {
        accepted: count("accept"),
        rejected: count("reject"),
        abstained: count("abstained"),
        run,
        funnel,
        cutoff,
        notes,
        results,
        faults,
        ledger,
    })
}

/// What a model would be told about each candidate, without asking any. The review's prompt has a note in
/// the place of the specification, which only a model can write.
///
/// # Errors
/// As [`review`].
///
/// # Cancellation
/// Dropping the future is harmless.
pub async fn review_prompts(
    options: &ReviewRunOptions,
) -> Result<Vec<(String, Vec<ChatMessage>)>, Error> {
    let (rows, _) = instance_rows(&options.dataset, &options.instances)?;
    let (candidates, _) = candidate_patches(rows, &options.predictions)?;
    let known = Known::read(options, &candidates)?;
    let mut prompts = Vec::new();
    for candidate in candidates.iter() {
        let candidate = candidate?;
        let subject = known.subject(options, &candidate).await?;
        let key = candidate.name.key();
        match options.mode {
            ReviewMode::Specification => {
                let review = SpecificationReview::new(Silent, options.review.clone());
                let question = review.specification_prompt(&subject)?;
                prompts.push((format!("{key}: specification"), question));
                let note = "(here stands the answer to the question before)";
                let question = review.review_prompt(&subject, note)?;
                prompts.push((format!("{key}: review"), question));
            }
            ReviewMode::Trajectory => {
                let review = TrajectoryReview::new(Silent, options.review.clone());
                prompts.push((format!("{key}: review"), review.prompt(&subject)?));
            }
            ReviewMode::Deterministic => {}
        }
    }
    Ok(prompts)
}
