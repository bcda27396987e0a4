//! Asking models about every patch of a benchmark, and measuring what they say.

use super::data::{JudgeBench, JudgeBenchAbout, Unfolded, write_lines};
use super::table::{BenchRow, rows_of, text_table};
use crate::judging::{
    AbstainOptions, CriticRunOptions, EnsembleOptions, JudgeReport, ModelSession, ReviewMode,
    ReviewRunOptions, SessionModels, SessionOptions, abstain, critic, review,
};
use crate::store::{read_lines, write_atomically};
use crate::{Config, MeasureInput, PredictionSource, measure};
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_judge::abstention::{AbstentionOptions, Representation};
use atlas_judge::answer::AskOptions;
use atlas_judge::critic::{CriticLimits, CriticMode, CriticOptions};
use atlas_judge::ensemble::EnsembleRule;
use atlas_judge::metrics::analysis::{Analysis, AnalysisOptions};
use atlas_judge::validation::{PromptLimits, ReviewOptions};
use atlas_judge::variant::Variant;
use atlas_llm::Estimate;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

/// One judge of a benchmark: a policy or a critic in one of its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchJudge {
    /// The abstention policy (paper 002, section 3.1): `abstain-r1`, `abstain-r2`.
    Abstain(Representation),
    /// Patch validation (paper 002, section 3.2): `review-specification`, `review-trajectory`.
    Review(ReviewMode),
    /// A critic (paper 004): `critic-isolated` and so on, with `:default` or `:post-commit` behind it where patches are
    /// not shown with whole functions.
    Critic(CriticMode, Variant),
}

impl BenchJudge {
    /// All of them, each critic with whole functions.
    pub fn all() -> Vec<Self> {
        let mut all = vec![
            Self::Abstain(Representation::R1),
            Self::Abstain(Representation::R2),
            Self::Review(ReviewMode::Specification),
            Self::Review(ReviewMode::Trajectory),
        ];
        all.extend(CriticMode::ALL.map(|mode| Self::Critic(mode, Variant::Function)));
        all
    }

    /// Whether a benchmark has what it looks at.
    fn can_judge(self, bench: &JudgeBench) -> bool {
        let has_trajectory = |patch: &super::BenchPatch| patch.columns.contains_key("trajectory");
        self != Self::Review(ReviewMode::Trajectory) || bench.patches.iter().any(has_trajectory)
    }
}

impl fmt::Display for BenchJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Abstain(Representation::R1) => f.write_str("abstain-r1"),
            Self::Abstain(Representation::R2) => f.write_str("abstain-r2"),
            Self::Review(ReviewMode::Specification) => f.write_str("review-specification"),
            Self::Review(ReviewMode::Trajectory) => f.write_str("review-trajectory"),
            Self::Review(ReviewMode::Deterministic) => f.write_str("review-deterministic"),
            Self::Critic(mode, Variant::Function) => write!(f, "critic-{}", mode.as_str()),
            Self::Critic(mode, variant) => {
                write!(
                    f,
                    "critic-{}:{}",
                    mode.as_str(),
                    variant.as_str().replace('_', "-")
                )
            }
        }
    }
}

impl FromStr for BenchJudge {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut known = Self::all();
        known.push(Self::Review(ReviewMode::Deterministic));
        for mode in CriticMode::ALL {
            known.extend(Variant::ALL.map(|variant| Self::Critic(mode, variant)));
        }
        known
            .iter()
            .copied()
            .find(|judge| judge.to_string() == text)
            .ok_or_else(|| {
                let names: Vec<String> = Self::all().iter().map(Self::to_string).collect();
                format!(
                    "one of {} is expected; critics also with :default or :post-commit behind them",
                    names.join(", ")
                )
            })
    }
}

/// What to measure, on what.
#[derive(Clone, Debug)]
pub struct JudgeBenchOptions {
    /// The benchmark.
    pub bench: JudgeBench,
    /// The models, as [`SessionModels::models`].
    pub models: Vec<String>,
    /// The judges; without any all that the benchmark has something for.
    pub judges: Vec<BenchJudge>,
    /// The folder of results. What it holds is not asked again.
    pub out: PathBuf,
    /// Items that go on at once.
    pub jobs: usize,
    /// What each model may spend, over all its judges; of ensembles all members together.
    pub budget: Option<String>,
    /// What each model may spend over all runs into the folder, as [`SessionOptions::total_budget`].
    pub total_budget: Option<String>,
    /// Ask single models in batches, as [`SessionOptions::batch_poll`].
    pub batch_poll: Option<f64>,
    /// Ensembles of all the models, measured beside them. Their members' answers are those of the models themselves: nothing
    /// is asked twice.
    pub ensembles: Vec<EnsembleRule>,
    /// How models are asked.
    pub ask: AskOptions,
    /// Most tokens of the parts of a review's prompt.
    pub limits: PromptLimits,
    /// The context of the models in tokens, the smallest of several, where it is known: what is longer is cut.
    pub window: Option<u64>,
    /// How results are measured.
    pub analysis: AnalysisOptions,
}

impl JudgeBenchOptions {
    fn judges(&self) -> Vec<BenchJudge> {
        match self.judges.as_slice() {
            [] => BenchJudge::all()
                .into_iter()
                .filter(|judge| judge.can_judge(&self.bench))
                .collect(),
            some => some.to_vec(),
        }
    }

    /// What is measured, with its name: each model, then each ensemble.
    fn sessions(&self) -> Vec<(String, SessionModels)> {
        let one = |model: &String| {
            (
                model.clone(),
                SessionModels::from(std::slice::from_ref(model)),
            )
        };
        let several = |rule: &EnsembleRule| {
            let ensemble = EnsembleOptions {
                rule: Some(rule.clone()),
                ..EnsembleOptions::default()
            };
            let models = self.models.clone();
            (format!("{rule} of all"), SessionModels { models, ensemble })
        };
        let models = self.models.iter().map(one);
        models.chain(self.ensembles.iter().map(several)).collect()
    }

    fn exchanges(&self) -> PathBuf {
        self.out.join("exchanges")
    }
}

/// What a benchmark came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeBenchReport {
    /// The benchmark.
    pub bench: JudgeBenchAbout,
    /// Tasks.
    pub instances: usize,
    /// Patches.
    pub patches: usize,
    /// Patches that resolve their task.
    pub resolved: usize,
    /// One row for each policy of each judge of each model, with what it cost.
    pub rows: Vec<BenchRow>,
    /// How each judge's run went.
    pub runs: Vec<JudgeRunSummary>,
    /// The page, complete in itself.
    pub page: PathBuf,
    /// Everything that follows from the results, as `atlas metrics --format json` prints it.
    pub analysis: Analysis,
}

impl JudgeBenchReport {
    /// Whether every item has its result.
    pub fn is_complete(&self) -> bool {
        self.runs.iter().all(|run| run.failed == 0 && run.left == 0)
    }

    /// The table of all rows, as Markdown.
    pub fn table(&self) -> String {
        text_table(&self.rows)
    }
}

/// How a judge's run went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeRunSummary {
    /// The model.
    pub model: String,
    /// The judge.
    pub judge: String,
    /// Items: tasks of an abstention policy, patches of others.
    pub items: usize,
    /// Those known from earlier runs.
    pub known: usize,
    /// Those that failed.
    pub failed: usize,
    /// What the first of them says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<String>,
    /// Those left when the run stopped.
    pub left: usize,
    /// Why it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// How long it took, in seconds; what was known cost no time.
    pub seconds: f64,
}

/// What asking one model would come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeBenchEstimate {
    /// All judges together.
    #[serde(flatten)]
    pub estimate: Estimate,
}

/// A model's part of the folder.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn of(out: &Path, model: &str) -> Self {
        let safe = |c: char| {
            if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '_'
            }
        };
        let name: String = model.chars().map(safe).collect();
        Self {
            folder: out.join(name.trim_matches('.')),
        }
    }

    fn results(&self, judge: BenchJudge) -> PathBuf {
        self.folder
            .join(format!("{}.jsonl", judge.to_string().replace(':', "-")))
    }

    fn measured(&self, judge: BenchJudge) -> PathBuf {
        self.folder.join(format!(
            "{}.measured.jsonl",
            judge.to_string().replace(':', "-")
        ))
    }
}

/// Asks every model as every judge about every patch, measures what they say, and writes `report.html`, `report.json`
/// and `table.md` into the folder. Judges run one after another; what an earlier run left in the folder is used.
///
/// # Errors
/// A model cannot be opened, results of other settings lie in the folder, a file cannot be written. Items that fail and
/// budgets that end are no errors: they stand in [`JudgeBenchReport::runs`], and what is there is measured.
///
/// # Cancellation
/// As [`judge_items`](crate::judge_items): what was answered is kept, and the next run goes on.
pub async fn run_judge_bench(
    cx: &RunContext,
    options: &JudgeBenchOptions,
    config: &Config,
) -> Result<JudgeBenchReport, Error> {
    let unfolded = options.bench.unfold(&options.out.join("bench"))?;
    let mut runs = Vec::new();
    let mut rows = Vec::new();
    let mut judges: Vec<(String, Analysis)> = Vec::new();
    let sessions = options.sessions();
    for (model, members) in &sessions {
        let place = Place::of(&options.out, model);
        std::fs::create_dir_all(&place.folder)
            .map_err(|why| Error::io("make", &place.folder, why))?;
        let payment = SessionOptions {
            budget: options.budget.clone(),
            total_budget: options.total_budget.clone(),
            exchanges: Some(options.exchanges()),
            out: Some(place.folder.clone()),
            // An ensemble's members were asked before.
            batch_poll: options.batch_poll.filter(|_| members.models.len() == 1),
        };
        let session = ModelSession::open_all(members, config, &payment)?;
        for judge in options.judges() {
            let began = Instant::now();
            let out = place.results(judge);
            let report = ask(cx, options, &unfolded, judge, &session, &out).await?;
            runs.push(summary(model, judge, &report, began));
            let lines = read_lines(&out)?.unwrap_or_default();
            let measured = place.measured(judge);
            let said = joined(&options.bench, judge, &lines);
            if said.is_empty() {
                continue;
            }
            write_lines(&measured, &said)?;
            let input = MeasureInput {
                results: vec![unfolded.truth.clone(), measured],
                ..MeasureInput::default()
            };
            let analysis = measure(&input, &options.analysis)?;
            rows.extend(rows_of(model, judge, &analysis, &lines));
            let name = match sessions.len() {
                1 => judge.to_string(),
                _ => format!("{model} {judge}"),
            };
            judges.push((name, analysis));
        }
    }
    if judges.is_empty() {
        let first = runs.iter().find_map(|run| run.first_failure.clone());
        let why = first.map_or_else(String::new, |why| format!("; the first failure: {why}"));
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "measure judges:",
            format!("none has a result{why}"),
        ));
    }
    finish(options, judges, rows, runs)
}

fn finish(
    options: &JudgeBenchOptions,
    judges: Vec<(String, Analysis)>,
    rows: Vec<BenchRow>,
    runs: Vec<JudgeRunSummary>,
) -> Result<JudgeBenchReport, Error> {
    let analysis = Analysis::beside(judges, &options.analysis);
    let page = options.out.join("report.html");
    let title = format!(
        "Judges on {}, version {}",
        options.bench.about.name, options.bench.about.version
    );
    let html =
        atlas_judge::policies_report_with(&analysis, &title, &[super::table::page_table(&rows)]);
    write_atomically(&page, html.as_bytes())?;
    let report = JudgeBenchReport {
        bench: options.bench.about.clone(),
        instances: options.bench.rows.len(),
        patches: options.bench.patches.len(),
        resolved: options
            .bench
            .patches
            .iter()
            .filter(|patch| patch.resolved)
            .count(),
        rows,
        runs,
        page,
        analysis,
    };
    let json = serde_json::to_string_pretty(&report)
        .map_err(|why| Error::new(ErrorKind::Internal, "write", "the report").with_source(why))?;
    write_atomically(&options.out.join("report.json"), json.as_bytes())?;
    write_atomically(&options.out.join("table.md"), report.table().as_bytes())?;
    Ok(report)
}

/// What asking each model would come to; nothing is asked. What the folder holds is counted as if it were not there, but
/// for kept exchanges.
///
/// # Errors
/// As [`run_judge_bench`].
///
/// # Cancellation
/// As [`run_judge_bench`].
pub async fn estimate_judge_bench(
    cx: &RunContext,
    options: &JudgeBenchOptions,
    config: &Config,
) -> Result<Vec<JudgeBenchEstimate>, Error> {
    let folder = tempfile::tempdir()
        .map_err(|why| Error::io("make a folder in", &std::env::temp_dir(), why))?;
    let unfolded = options.bench.unfold(folder.path())?;
    let mut found = Vec::new();
    // Ensembles ask nothing that their members are not asked.
    for (at, model) in options.models.iter().enumerate() {
        let members = SessionModels::from(std::slice::from_ref(model));
        let session = ModelSession::rehearsing(&members, config, Some(&options.exchanges()))?;
        for judge in options.judges() {
            let name = format!("{at}-{}.jsonl", judge.to_string().replace(':', "-"));
            let out = folder.path().join(name);
            ask(cx, options, &unfolded, judge, &session, &out).await?;
        }
        let estimates = session.estimates().into_iter();
        found.extend(estimates.map(|estimate| JudgeBenchEstimate { estimate }));
    }
    Ok(found)
}

async fn ask(
    cx: &RunContext,
    options: &JudgeBenchOptions,
    unfolded: &Unfolded,
    judge: BenchJudge,
    session: &ModelSession,
    out: &Path,
) -> Result<JudgeReport, Error> {
    cx.progress.phase(&judge.to_string());
    let predictions = PredictionSource::File(unfolded.predictions.clone());
    Ok(match judge {
        BenchJudge::Abstain(representation) => {
            let defaults = AbstentionOptions::default();
            let mut policy = AbstentionOptions {
                representation,
                tau: options.analysis.tau,
                ask: AskOptions {
                    max_tokens: defaults.ask.max_tokens,
                    ..options.ask.clone()
                },
                ..defaults
            };
            if let Some(window) = options.window {
                policy = policy.within(window);
            }
            let options = AbstainOptions {
                dataset: unfolded.dataset.clone(),
                instances: Vec::new(),
                policy,
                out: out.to_owned(),
                jobs: options.jobs,
            };
            abstain(cx, &options, session).await?.run
        }
        BenchJudge::Review(mode) => {
            let options = ReviewRunOptions {
                dataset: unfolded.dataset.clone(),
                predictions,
                instances: Vec::new(),
                mode,
                review: ReviewOptions {
                    ask: options.ask.clone(),
                    limits: options.limits,
                    ..ReviewOptions::default()
                },
                repos: Some(unfolded.base.clone()),
                trajectories: None,
                facts: None,
                abstentions: None,
                all_bugs: false,
                reports: Vec::new(),
                percentile: None,
                out: out.to_owned(),
                jobs: options.jobs,
            };
            review(cx, &options, Some(session)).await?.run
        }
        BenchJudge::Critic(mode, variant) => {
            let mut limits = CriticLimits::default();
            if let Some(window) = options.window {
                limits = limits.within(window, options.ask.max_tokens, mode);
            }
            let options = CriticRunOptions {
                dataset: unfolded.dataset.clone(),
                predictions,
                instances: Vec::new(),
                critic: CriticOptions {
                    mode,
                    variant,
                    ask: options.ask.clone(),
                    limits,
                    ..CriticOptions::default()
                },
                repos: Some(unfolded.base.clone()),
                ignore_unseen: false,
                out: out.to_owned(),
                jobs: options.jobs,
            };
            critic(cx, &options, session).await?.run
        }
    })
}

fn summary(
    model: &str,
    judge: BenchJudge,
    report: &JudgeReport,
    began: Instant,
) -> JudgeRunSummary {
    JudgeRunSummary {
        model: model.to_owned(),
        judge: judge.to_string(),
        items: report.items,
        known: report.known,
        failed: report.failed.len(),
        first_failure: report
            .failed
            .first()
            .map(|one| format!("{}: {}", one.key, one.message)),
        left: report.left,
        stopped: report.stopped.clone(),
        seconds: began.elapsed().as_secs_f64(),
    }
}

/// What a judge said, as lines of results about patches. A policy's word on a task is one on each of its patches. A
/// critic's verdict on a patch is that of a policy, too: it shows what it says to pass, and its score is how sure it is
/// of that on average over the tests, 0 of a patch that it says to fail.
fn joined(bench: &JudgeBench, judge: BenchJudge, lines: &[Map<String, Value>]) -> Vec<Value> {
    let said = lines.iter().filter(|line| !line.contains_key("error"));
    if let BenchJudge::Abstain(_) = judge {
        let mut found = Vec::new();
        for line in said.filter(|line| line["abstention"]["probability"].is_number()) {
            let of_task = bench
                .patches
                .iter()
                .filter(|patch| line["instance_id"] == json!(patch.instance_id));
            found.extend(of_task.map(|patch| {
                json!({
                    "instance_id": patch.instance_id,
                    "agent": patch.model_name_or_path,
                    "patch_id": patch.patch_id,
                    "abstention": {
                        "probability": line["abstention"]["probability"],
                        "source": line["abstention"]["source"],
                    },
                })
            }));
        }
        return found;
    }
    let fields = [
        "instance_id",
        "agent",
        "patch_id",
        "deterministic",
        "validation",
        "critic",
    ];
    said.map(|line| {
        let mut kept: Map<String, Value> = line
            .iter()
            .filter(|(name, _)| fields.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if let (BenchJudge::Critic(..), Some(label @ ("pass" | "fail"))) =
            (judge, line.get("label").and_then(Value::as_str))
        {
            kept.insert(
                "validation".to_owned(),
                json!({
                    "accepted": label == "pass",
                    "score": if label == "pass" { sureness(line) } else { 0.0 },
                    "source": "verbalised",
                }),
            );
        }
        Value::Object(kept)
    })
    .collect()
}

/// The mean confidence of a critic's words on tests, 0 to 1.
fn sureness(line: &Map<String, Value>) -> f64 {
    let tests = line["critic"]["tests"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let sum: f64 = tests
        .iter()
        .filter_map(|test| test["confidence"].as_f64())
        .sum();
    let count = u32::try_from(tests.len()).unwrap_or(u32::MAX);
    if count == 0 {
        0.0
    } else {
        sum / 100.0 / f64::from(count)
    }
}
