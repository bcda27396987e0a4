//! The abstention policy over a dataset.

use super::ensemble::lift_members;
use super::input::row_item;
use super::{
    JudgeItem, JudgeReport, JudgeRun, ModelSession, ResultLines, Results, in_batches,
    instance_rows, judge_items,
};
use crate::evaluate::InputFault;
use atlas_core::{
    ChatMessage, Error, Instance, InstanceId, Judge as _, Judgement, RunContext, Subject,
};
use atlas_judge::BugReport;
use atlas_judge::abstention::{
    Abstention, AbstentionOptions, FeatureAverages, ReportFeatures, abstention_prompt_version,
};
use atlas_judge::ensemble::Question;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What to ask about, and how.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct AbstainOptions {
    /// The dataset.
    pub dataset: PathBuf,
    /// Only these instances; all without any.
    #[serde(rename = "instance_ids")]
    pub instances: Vec<InstanceId>,
    /// The policy.
    #[serde(skip)]
    pub policy: AbstentionOptions,
    /// The file of results.
    pub out: PathBuf,
    /// Instances that go on at once.
    pub jobs: usize,
}

/// What the policy said.
#[derive(Debug, Serialize)]
pub struct AbstainReport {
    /// How the run went.
    #[serde(flatten)]
    pub run: JudgeReport,
    /// Instances to attempt.
    pub attempt: usize,
    /// Instances to abstain from.
    pub abstain: usize,
    /// Properties of the reports in either group, as in paper 002's Table 3; `attempt`, `abstain`.
    pub features: BTreeMap<String, FeatureAverages>,
    /// One entry for every instance that has a result: its name, the label and the probability with its
    /// source.
    pub results: Results<AbstainResult>,
    /// What is wrong with the dataset.
    pub faults: Vec<InputFault>,
    /// What the model was paid in this run: calls, tokens, money.
    pub ledger: Value,
}

/// What the policy said about one instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AbstainResult {
    /// The instance.
    pub instance_id: String,
    /// `attempt` or `abstain`.
    pub label: String,
    /// The probability of success.
    pub probability: Option<f64>,
    /// Where it comes from.
    pub source: String,
}

/// Asks about every row whether an agent should try it. Lines of the file have `instance_id`,
/// `abstention` (`probability`, `source`, `attempt`, `tau`) and `judgement`, whole.
///
/// # Errors
/// As [`instance_rows`] and [`judge_items`]; a threshold outside 0 to 1.
///
/// # Cancellation
/// As [`judge_items`].
pub async fn abstain(
    cx: &RunContext,
    options: &AbstainOptions,
    session: &ModelSession,
) -> Result<AbstainReport, Error> {
    in_batches(cx, session, &options.out, |session, out| {
        let options = AbstainOptions {
            out,
            ..options.clone()
        };
        async move { Box::pin(abstain(cx, &options, &session)).await.map(drop) }
    })
    .await?;
    let (rows, faults) = instance_rows(&options.dataset, &options.instances)?;
    let tau = options.policy.tau;
    let ensemble = session.ensemble(&Question::Abstention, tau)?;
    let mut settings = session.described(ensemble.as_ref());
    settings["policy"] = json!(options.policy);
    settings["prompt_version"] = json!(abstention_prompt_version());
    if let Some(version) = options.policy.ask.label_form.prompt_version() {
        settings["form_prompt_version"] = json!(version);
    }
    let run = JudgeRun {
        name: "abstain".to_owned(),
        out: options.out.clone(),
        settings,
        jobs: options.jobs,
    };
    let policy = session.judge(ensemble, Question::Abstention, |model| {
        Ok(Arc::new(Abstention::new(model, options.policy.clone())?))
    })?;
    let items = rows.iter().enumerate().map(|(at, row)| item(at, &row?));
    let items = items.collect::<Result<_, Error>>()?;
    let (report, lines) = judge_items(
        cx,
        &run,
        items,
        |at| rows.identity(*at),
        |at| {
            let (policy, rows) = (Arc::clone(&policy), &rows);
            async move {
                let subject = Subject {
                    instance: rows.get(at)?,
                    patch: None,
                    attachments: Map::new(),
                };
                let judgement = policy.judge(cx, &subject).await?;
                Ok(abstention_fields(judgement, tau))
            }
        },
    )
    .await?;
    summary(report, lines, faults, session.ledger())
}

/// What a line says of an abstention policy's judgement. Of an instance that every member of an ensemble abstained from
/// judging there is no `abstention`.
pub(super) fn abstention_fields(mut judgement: Judgement, tau: f64) -> Map<String, Value> {
    let mut fields = Map::new();
    if judgement.confidence.value.is_some() {
        fields.insert(
            "abstention".to_owned(),
            json!({
                "probability": judgement.confidence.value,
                "source": judgement.confidence.source,
                "attempt": judgement.label == "attempt",
                "tau": tau,
            }),
        );
    }
    lift_members(&mut judgement.details, &mut fields);
    fields.insert("judgement".to_owned(), json!(judgement));
    fields
}

fn item(at: usize, instance: &Instance) -> Result<JudgeItem<usize>, Error> {
    let statement = instance.text("problem_statement").ok().flatten();
    row_item(at, instance, &[statement.unwrap_or_default()])
}

fn summary(
    run: JudgeReport,
    lines: ResultLines,
    faults: Vec<InputFault>,
    ledger: Value,
) -> Result<AbstainReport, Error> {
    let mut groups: BTreeMap<String, Vec<ReportFeatures>> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines.iter() {
        let line = line?;
        let Some(judgement) = line.get("judgement") else {
            continue;
        };
        let label = judgement["label"].as_str().unwrap_or_default().to_owned();
        *counts.entry(label.clone()).or_default() += 1;
        let features: Result<ReportFeatures, _> =
            serde_json::from_value(judgement["details"]["features"].clone());
        groups.entry(label).or_default().extend(features);
    }
    Ok(AbstainReport {
        attempt: counts.get("attempt").copied().unwrap_or_default(),
        abstain: counts.get("abstain").copied().unwrap_or_default(),
        features: groups
            .into_iter()
            .filter_map(|(label, group)| Some((label, FeatureAverages::of(&group)?)))
            .collect(),
        run,
        results: Results::new(lines, result),
        faults,
        ledger,
    })
}

fn result(line: &Map<String, Value>) -> Option<AbstainResult> {
    let judgement = line.get("judgement")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Some(AbstainResult {
        instance_id: line.get("instance_id").map(text).unwrap_or_default(),
        label: text(&judgement["label"]),
        probability: judgement["confidence"]["value"].as_f64(),
        source: text(&judgement["confidence"]["source"]),
    })
}

/// What a model would be told about each row, without asking any.
///
/// # Errors
/// As [`instance_rows`]; a row without a problem statement.
pub fn abstain_prompts(options: &AbstainOptions) -> Result<Vec<(String, Vec<ChatMessage>)>, Error> {
    let (rows, _) = instance_rows(&options.dataset, &options.instances)?;
    let policy = Abstention::new(Silent, options.policy.clone())?;
    rows.iter()
        .map(|instance| {
            let instance = instance?;
            let id = instance.id().map(|id| id.to_string()).unwrap_or_default();
            let subject = Subject {
                instance,
                patch: None,
                attachments: Map::new(),
            };
            Ok((id, policy.prompt(&BugReport::of(&subject)?)?))
        })
        .collect()
}

/// Stands where a model is needed that is never asked.
#[derive(Debug)]
pub(crate) struct Silent;

#[async_trait::async_trait]
impl atlas_core::LanguageModel for Silent {
    fn name(&self) -> &'static str {
        "none"
    }

    async fn complete(
        &self,
        _cx: &RunContext,
        _request: &atlas_core::CompletionRequest,
    ) -> Result<atlas_core::Completion, Error> {
        Err(Error::new(
            atlas_core::ErrorKind::Internal,
            "ask a model",
            "where only its prompt is shown",
        ))
    }
}
