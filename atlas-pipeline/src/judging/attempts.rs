//! Why attempts failed: the false-negative filter of paper 001 over predictions.

use super::abstain::Silent;
use super::verdicts::Verdicts;
use super::{
    Attached, CandidatePatch, CandidatePatches, ContentHash, JudgeItem, JudgeReport, JudgeRun,
    ModelSession, ResultLines, Sisters, candidate_patches, in_batches, instance_rows, judge_items,
};
use crate::evaluate::{InputFault, PredictionSource};
use crate::own_parser::rules_of_row;
use crate::reading::parse_bytes;
use atlas_core::{ChatMessage, Error, InstanceId, Judge, LogParserExt as _, RunContext, Subject};
use atlas_judge::attempts::{
    AttemptClass, AttemptFinding, AttemptJudge, AttemptOptions, AttemptSummary, FailedAttempt,
    attempt_by_rule, attempt_prompt,
};
use atlas_parsers::{Hints, message_lines};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Which attempts are looked at, and how.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct AttemptRunOptions {
    /// The dataset.
    pub dataset: PathBuf,
    /// The attempts.
    #[serde(skip)]
    pub predictions: PredictionSource,
    /// Only these instances; all without any.
    #[serde(rename = "instance_ids")]
    pub instances: Vec<InstanceId>,
    /// How the judge asks.
    #[serde(skip)]
    pub attempt: AttemptOptions,
    /// Folders of evaluations, `logs/run_evaluation/<run id>`: which attempts failed, and what the tests
    /// printed. A prediction's own columns `resolved` and `log` go before.
    pub evaluations: Vec<PathBuf>,
    /// Trajectories of the agents, for predictions that hold none in a column `trajectory`.
    pub trajectories: Option<PathBuf>,
    /// Results of the hints: names that tests need and statements do not tell.
    pub hints: Option<PathBuf>,
    /// The file of results.
    pub out: PathBuf,
    /// Attempts that go on at once.
    pub jobs: usize,
}

/// Why attempts failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttemptRunReport {
    /// How the run went.
    #[serde(flatten)]
    pub run: JudgeReport,
    /// Class -> how many.
    pub labels: BTreeMap<String, usize>,
    /// Predictions that were left out because they resolve their instance.
    pub resolved: usize,
    /// Predictions of which nobody said whether they failed; they are looked at as if they had.
    pub ungraded: usize,
    /// Instance -> what its failed attempts say about it together.
    pub tasks: BTreeMap<String, AttemptSummary>,
    /// One entry for every attempt that has a result.
    pub results: Vec<AttemptResult>,
    /// What is wrong with the inputs.
    pub faults: Vec<InputFault>,
    /// What the model was paid in this run; null without one.
    pub ledger: Value,
}

/// Why one attempt failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttemptResult {
    /// The instance.
    pub instance_id: String,
    /// Who made the attempt.
    pub agent: String,
    /// Its patch.
    pub patch_id: String,
    /// The class: `tool_crash`, `unsupported_dependency`, `infrastructure`, `underspecified`,
    /// `genuine_failure` or `undecided`.
    pub label: String,
    /// Whether its fault is not shown to be its own.
    pub look_again: bool,
    /// Who said so: `rule`, `model` or `nobody`.
    pub by: String,
    /// Why, in a sentence or the model's words.
    pub reasoning: String,
}

/// An attempt with everything that is known of it.
struct Known {
    candidate: CandidatePatch,
    attachments: Map<String, Value>,
}

struct Inputs {
    candidates: CandidatePatches,
    verdicts: Verdicts,
    trajectories: Attached,
    hints: Attached,
    sisters: Sisters,
    /// The failed attempts, by the numbers of their candidates.
    items: Vec<JudgeItem<usize>>,
    faults: Vec<InputFault>,
    resolved: usize,
    ungraded: usize,
}

impl Inputs {
    fn read(options: &AttemptRunOptions) -> Result<Self, Error> {
        let (rows, mut faults) = instance_rows(&options.dataset, &options.instances)?;
        let (candidates, more) = candidate_patches(rows, &options.predictions)?;
        faults.extend(more);
        let read = |path: &Option<PathBuf>, field: &str| match path {
            Some(path) => Attached::read(path, field),
            None => Ok(Attached::default()),
        };
        let trajectories = read(&options.trajectories, "trajectory")?;
        let sisters = Sisters::of(&candidates);
        faults.extend(trajectories.unclear("trajectory", &candidates, &sisters)?);
        let mut found = Self {
            verdicts: Verdicts::read(&options.evaluations)?,
            hints: read(&options.hints, "judgement")?,
            candidates,
            trajectories,
            sisters,
            faults,
            items: Vec::new(),
            resolved: 0,
            ungraded: 0,
        };
        for (at, candidate) in found.candidates.iter().enumerate() {
            let candidate = candidate?;
            match found.verdicts.resolved(&candidate) {
                Some(true) => {
                    found.resolved += 1;
                    continue;
                }
                Some(false) => {}
                None => found.ungraded += 1,
            }
            let known = found.known(candidate)?;
            found.items.push(JudgeItem {
                key: known.candidate.name.key().into(),
                content: known.content(),
                input: at,
            });
        }
        Ok(found)
    }

    /// A failed attempt with what is known of it.
    fn known(&self, candidate: CandidatePatch) -> Result<Known, Error> {
        let mut attachments = Map::new();
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                attachments.insert(name.to_owned(), value);
            }
        };
        let own = |name: &str| {
            let value = candidate.columns.get(name);
            value.filter(|value| !value.is_null()).cloned()
        };
        let trajectory = match own("trajectory") {
            Some(own) => Some(own),
            None => self.trajectories.of_patch(&candidate.name, &self.sisters)?,
        };
        // As SWE-agent and its kin write it.
        let status = trajectory
            .as_ref()
            .map(|value| value["info"]["exit_status"].clone());
        add("exit_status", own("exit_status").or(status));
        add("trajectory", trajectory);
        let log = match (own("log"), self.verdicts.of(&candidate)) {
            (Some(log), _) => Some(log),
            (None, Some(verdict)) => verdict.log()?.map(Value::String),
            (None, None) => None,
        };
        add(
            "messages",
            log.as_ref().and_then(|log| messages(&candidate, log)),
        );
        add("log", log);
        let hint = self.hints.of(&candidate.name)?;
        add("hints", hint.map(|hint| hint["details"]["report"].clone()));
        Ok(Known {
            candidate,
            attachments,
        })
    }
}

/// Where the parser of the row, or the one that knows the log, sees messages of the run; nothing where nobody
/// reads it.
fn messages(candidate: &CandidatePatch, log: &Value) -> Option<Value> {
    let log = log.as_str()?;
    let text = |column: &str| candidate.instance.text(column).ok().flatten();
    let named = text("log_parser").map(|name| name.trim_start_matches("parse_log_"));
    let read = |parser: &str| parse_bytes(log.as_bytes(), parser, &Hints::default()).ok();
    let parsed = match rules_of_row(candidate.instance.as_map()) {
        Some(own) => own.parse(log.as_bytes()),
        None => named.and_then(read).or_else(|| read("auto"))?.0,
    };
    Some(json!(message_lines(log, &parsed)))
}

impl Known {
    fn subject(self) -> Subject {
        Subject {
            instance: self.candidate.instance,
            patch: Some(self.candidate.patch),
            attachments: self.attachments,
        }
    }

    fn content(&self) -> ContentHash {
        let statement = self.candidate.instance.text("problem_statement");
        ContentHash::of(&[
            statement.ok().flatten().unwrap_or_default(),
            &String::from_utf8_lossy(self.candidate.patch.as_bytes()),
            &Value::Object(self.attachments.clone()).to_string(),
        ])
    }
}

/// Says why each failed attempt failed; attempts that resolve their instance are left out. Lines of the
/// file have `instance_id`, `agent`, `patch_id` and `judgement`, whole. No verdict is changed.
///
/// # Errors
/// As [`instance_rows`], [`candidate_patches`] and [`judge_items`]; a file beside them that cannot be read.
///
/// # Cancellation
/// As [`judge_items`].
pub async fn judge_attempts(
    cx: &RunContext,
    options: &AttemptRunOptions,
    session: Option<&ModelSession>,
) -> Result<AttemptRunReport, Error> {
    if let Some(session) = session {
        in_batches(cx, session, &options.out, |session, out| {
            let options = AttemptRunOptions {
                out,
                ..options.clone()
            };
            async move {
                Box::pin(judge_attempts(cx, &options, Some(&session)))
                    .await
                    .map(drop)
            }
        })
        .await?;
    }
    let mut inputs = Inputs::read(options)?;
    let model = session.map(ModelSession::model);
    let run = JudgeRun {
        name: "attempts".to_owned(),
        out: options.out.clone(),
        settings: json!({
            "model": model.as_ref().map(|model| model.name().to_owned()),
            "model_settings": session.map(ModelSession::settings),
            "policy": options.attempt,
            "prompt_version": attempt_prompt().version(),
        }),
        jobs: options.jobs,
    };
    let judge: Box<dyn Judge> = match model {
        Some(model) => Box::new(AttemptJudge::new(model, options.attempt.clone())),
        None => Box::new(AttemptJudge::rules()),
    };
    let items = std::mem::take(&mut inputs.items);
    let (report, lines) = judge_items(
        cx,
        &run,
        items,
        |at| inputs.candidates.identity(*at),
        |at| {
            let (judge, inputs) = (&judge, &inputs);
            async move {
                let subject = inputs.known(inputs.candidates.get(at)?)?.subject();
                let judgement = judge.judge(cx, &subject).await?;
                let mut fields = Map::new();
                fields.insert("judgement".to_owned(), json!(judgement));
                Ok(fields)
            }
        },
    )
    .await?;
    let mut found = AttemptRunReport {
        run: report,
        labels: BTreeMap::new(),
        resolved: inputs.resolved,
        ungraded: inputs.ungraded,
        tasks: BTreeMap::new(),
        results: Vec::new(),
        faults: inputs.faults,
        ledger: session.map_or(Value::Null, ModelSession::ledger),
    };
    sum_up(&mut found, &lines)?;
    Ok(found)
}

fn sum_up(report: &mut AttemptRunReport, lines: &ResultLines) -> Result<(), Error> {
    let mut findings: BTreeMap<String, Vec<AttemptFinding>> = BTreeMap::new();
    for line in lines.iter() {
        let line = line?;
        let Some(judgement) = line.get("judgement") else {
            continue;
        };
        let word = |value: Option<&Value>| {
            let text = value.and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let label = word(judgement.get("label"));
        let details = &judgement["details"];
        let result = AttemptResult {
            instance_id: word(line.get("instance_id")),
            agent: word(line.get("agent")),
            patch_id: word(line.get("patch_id")),
            look_again: details["look_again"].as_bool().unwrap_or_default(),
            by: word(details.get("by")),
            reasoning: word(judgement.get("reasoning")),
            label: label.clone(),
        };
        let class: AttemptClass =
            serde_json::from_value(json!(label)).unwrap_or(AttemptClass::Undecided);
        let evidence = serde_json::from_value(judgement["evidence"].clone());
        findings
            .entry(result.instance_id.clone())
            .or_default()
            .push(AttemptFinding {
                attempt: format!("{}/{}", result.agent, result.patch_id),
                class,
                evidence: evidence.unwrap_or_default(),
            });
        *report.labels.entry(label).or_default() += 1;
        report.results.push(result);
    }
    let tasks = findings.into_iter();
    report.tasks = tasks
        .map(|(id, all)| (id, AttemptSummary::of(&all)))
        .collect();
    Ok(())
}

/// What a model would be told about each failed attempt that no rule decides, without asking any.
///
/// # Errors
/// As [`judge_attempts`]; an attempt of which nothing is known.
pub fn attempt_prompts(
    options: &AttemptRunOptions,
) -> Result<Vec<(String, Vec<ChatMessage>)>, Error> {
    let judge = AttemptJudge::new(Silent, options.attempt.clone());
    let mut prompts = Vec::new();
    let inputs = Inputs::read(options)?;
    for item in &inputs.items {
        let known = inputs.known(inputs.candidates.get(item.input)?)?;
        let attempt = FailedAttempt::of(&known.subject())?;
        if attempt_by_rule(&attempt).is_none() {
            prompts.push((item.key.to_string(), judge.prompt(&attempt)?));
        }
    }
    Ok(prompts)
}
