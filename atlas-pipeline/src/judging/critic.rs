//! Critics over predictions.

use super::abstain::Silent;
use super::ensemble::lift_members;
use super::{
    CandidatePatch, ContentHash, JudgeReport, JudgeRun, ModelSession, ResultLines, Results,
    candidate_patches, in_batches, instance_rows, judge_items,
};
use crate::clones::BaseSource;
use crate::evaluate::{InputFault, PredictionSource};
use async_trait::async_trait;
use atlas_core::{
    ChatMessage, Error, ErrorKind, Instance, InstanceId, Judge, Judgement, Patch, RunContext,
    Subject,
};
use atlas_judge::critic::{
    Critic, CriticMode, CriticOptions, Extraction, PatchCritique, TestCritique, UnseenTest,
    critic_prompts, critique_patch, extract_tests,
};
use atlas_judge::ensemble::Question;
use atlas_judge::metrics::analysis::WHOLE_PATCH;
use atlas_judge::variant::BaseFiles;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What to foretell, and how.
#[derive(Clone, Debug, Default, Deserialize, Args)]
#[serde(default)]
pub struct CriticRunOptions {
    /// The dataset.
    #[arg(skip)]
    pub dataset: PathBuf,
    /// The candidate patches: a file, gold (the rows' own patches) or null (empty ones). Several of one
    /// agent for one instance are all judged.
    #[arg(long, value_name = "FILE|gold|null")]
    #[serde(skip)]
    pub predictions: PredictionSource,
    /// Only these instances; all without any.
    #[arg(skip)]
    #[serde(rename = "instance_ids")]
    pub instances: Vec<InstanceId>,
    /// The critic.
    #[arg(skip)]
    #[serde(skip)]
    pub critic: CriticOptions,
    /// A clone, or a folder of clones named `owner__name`, `owner/name` or `name`, to read the files
    /// at the base commit from [default: patches are shown as given, and only tests in new files are found].
    #[arg(long, value_name = "DIR")]
    pub repos: Option<PathBuf>,
    /// Let a patch pass though tests of `FAIL_TO_PASS` were not found in the test patch; by default its label is
    /// `abstained`.
    #[arg(long)]
    pub ignore_unseen: bool,
    /// The file of results.
    #[arg(skip)]
    pub out: PathBuf,
    /// Questions that are asked at once, whichever patches their tests are of.
    #[arg(skip)]
    pub jobs: usize,
}

/// What a critic foretold.
#[derive(Debug, Serialize)]
pub struct CriticRunReport {
    /// How the run went.
    #[serde(flatten)]
    pub run: JudgeReport,
    /// Patches that are said to pass.
    pub passing: usize,
    /// Patches that are said to fail.
    pub failing: usize,
    /// Patches all of whose seen tests are said to pass, with tests of `FAIL_TO_PASS` that were not seen.
    pub abstained: usize,
    /// One entry for every patch that has a result.
    pub results: Results<CriticRunResult>,
    /// What is wrong with the inputs.
    pub faults: Vec<InputFault>,
    /// What the model was paid in this run: calls, tokens, money.
    pub ledger: Value,
}

/// What a critic foretold of one patch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CriticRunResult {
    /// The instance.
    pub instance_id: String,
    /// Who made the patch.
    pub agent: String,
    /// The patch.
    pub patch_id: String,
    /// `pass`, `fail` or `abstained`: the patch as a whole.
    pub label: String,
    /// The share of the seen tests, by id, that are said to pass; absent where the critic speaks of the patch alone.
    pub progress: Option<f64>,
    /// Tests of `FAIL_TO_PASS` that the critic was not shown.
    pub unseen: u64,
}

/// Asks a critic about every candidate patch. Lines of the file have the form of a results file of the
/// metrics: `instance_id`, `agent`, `patch_id`, where known `resolved` and `kind`, then `critic` with
/// `variant` (mode and variant) and `tests` (`id`, `predicted`, `confidence`) as the model said them, for
/// the metrics apply the low-confidence rule themselves; `label` and `progress` are after the rule. A
/// critic that speaks of the patch alone has one entry for it, `(patch)`.
///
/// # Errors
/// As [`instance_rows`], [`candidate_patches`] and [`judge_items`].
///
/// # Cancellation
/// As [`judge_items`].
pub async fn critic(
    cx: &RunContext,
    options: &CriticRunOptions,
    session: &ModelSession,
) -> Result<CriticRunReport, Error> {
    in_batches(cx, session, &options.out, |session, out| {
        let options = CriticRunOptions {
            out,
            ..options.clone()
        };
        async move { Box::pin(critic(cx, &options, &session)).await.map(drop) }
    })
    .await?;
    let (rows, mut faults) = instance_rows(&options.dataset, &options.instances)?;
    let (candidates, more) = candidate_patches(rows, &options.predictions)?;
    faults.extend(more);
    let question = Question::Critic {
        rule: options.critic.rule,
    };
    let ensemble = session.ensemble(&question, 0.5)?;
    let versions: Vec<String> = critic_prompts()
        .iter()
        .map(atlas_judge::Prompt::version)
        .collect();
    let mut settings = session.described(ensemble.as_ref());
    settings["critic"] = json!(options.critic);
    settings["prompt_versions"] = json!(versions);
    settings["base_files"] = json!(options.repos.is_some());
    settings["ignore_unseen"] = json!(options.ignore_unseen);
    let run = JudgeRun {
        name: "critic".to_owned(),
        out: options.out.clone(),
        settings,
        jobs: options.jobs,
    };
    let judge = session.judge(ensemble, question, |model| {
        Ok(Arc::new(Critic::new(model, options.critic.clone())))
    })?;
    let items = candidates.items(content)?;
    let turns = Semaphore::new(options.jobs.max(1));
    let (report, lines) = judge_items(
        cx,
        &run,
        items,
        |at| candidates.identity(*at),
        |at| {
            let candidate = candidates.get(at);
            let judge = InTurn {
                judge: &*judge,
                turns: &turns,
            };
            async move { one(cx, options, &judge, candidate?).await }
        },
    )
    .await?;
    summary(report, lines, faults, session.ledger())
}

/// Everything of a candidate and its row that changes an answer.
fn content(candidate: &CandidatePatch) -> ContentHash {
    let column = |name: &str| candidate.columns.get(name).map(Value::to_string);
    let row = candidate.instance.as_map();
    let mut parts = vec![
        String::from_utf8_lossy(candidate.patch.as_bytes()).into_owned(),
        column("resolved").unwrap_or_default(),
        column("kind").unwrap_or_default(),
    ];
    for name in [
        "base_commit",
        "problem_statement",
        "hints_text",
        "patch",
        "test_patch",
        "FAIL_TO_PASS",
        "PASS_TO_PASS",
    ] {
        parts.push(row.get(name).map(Value::to_string).unwrap_or_default());
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    ContentHash::of(&parts)
}

/// A candidate as a subject, with the tests that an isolated critic is asked about.
struct Prepared {
    subject: Subject,
    tests: Vec<UnseenTest>,
    found: Option<Extraction>,
}

fn needs_tests(mode: CriticMode) -> bool {
    matches!(mode, CriticMode::Isolated | CriticMode::Holistic)
}

async fn prepare(
    options: &CriticRunOptions,
    candidate: &CandidatePatch,
) -> Result<Prepared, Error> {
    let (mode, row) = (options.critic.mode, &candidate.instance);
    let files = match &options.repos {
        Some(repos) => {
            let patches = shown(mode, row, &candidate.patch)?;
            let patches: Vec<&Patch> = patches.iter().collect();
            base_files(repos, row, &patches).await?
        }
        None => BaseFiles::new(),
    };
    prepared(
        mode,
        (row, &candidate.patch),
        files,
        options.repos.is_some(),
    )
}

/// The patches that a critic is shown of a row: the candidate, the tests, the gold patch.
fn shown(mode: CriticMode, row: &Instance, patch: &Patch) -> Result<Vec<Patch>, Error> {
    let mut patches = vec![patch.clone()];
    if needs_tests(mode) {
        patches.push(row.test_patch().map_err(|why| unusable(why.to_string()))?);
    }
    if mode == CriticMode::ChangeAware {
        patches.extend(row.gold_patch().ok());
    }
    Ok(patches)
}

fn unusable(why: String) -> Error {
    Error::new(ErrorKind::InvalidInput, "ask a critic:", why)
}

/// The share of a row's unseen tests that a critic says will pass with a patch, from 0 to 1, and in words what it was
/// shown. `read` gives files of Base.
///
/// # Errors
/// A row without tests that a critic can be shown, and what the model and `read` give.
///
/// # Cancellation
/// As the model underneath.
pub(crate) async fn critic_score(
    cx: &RunContext,
    (judge, mode, abreast): (&dyn Judge, CriticMode, usize),
    (row, patch): (&Instance, &Patch),
    read: impl AsyncFnOnce(BTreeSet<String>) -> Result<BaseFiles, Error>,
) -> Result<(f64, String), Error> {
    let mut paths = BTreeSet::new();
    for patch in shown(mode, row, patch)? {
        let files = patch.files().unwrap_or_default();
        paths.extend(files.into_iter().filter_map(|file| file.old_path));
    }
    let prepared = prepared(mode, (row, patch), read(paths).await?, true)?;
    if mode == CriticMode::Isolated {
        let critique =
            critique_patch(cx, judge, &prepared.subject, &prepared.tests, abreast).await?;
        let said = critique.tests.iter().filter(|test| test.predicted).count();
        let words = format!(
            "a critic says that {said} of {} tests pass",
            critique.tests.len()
        );
        return Ok((critique.progress, words));
    }
    let judgement = judge.judge(cx, &prepared.subject).await?;
    let score = if judgement.label == "pass" { 1.0 } else { 0.0 };
    Ok((score, format!("a critic says `{}`", judgement.label)))
}

/// What a critic is asked about a patch, with the files that patches change as they are at Base.
fn prepared(
    mode: CriticMode,
    (row, patch): (&Instance, &Patch),
    files: BaseFiles,
    with_files: bool,
) -> Result<Prepared, Error> {
    let wrong = unusable;
    let test_patch = if needs_tests(mode) {
        Some(row.test_patch().map_err(|why| wrong(why.to_string()))?)
    } else {
        None
    };
    let mut found = None;
    let mut tests = Vec::new();
    if let Some(test_patch) = &test_patch {
        let ids = |list: Result<atlas_core::TestList, atlas_core::InstanceError>| {
            list.map(|list| list.ids.to_vec())
                .map_err(|why| wrong(why.to_string()))
        };
        let (fail, pass) = (ids(row.fail_to_pass())?, ids(row.pass_to_pass())?);
        let mut extraction = extract_tests(test_patch, &files, &fail, &pass)
            .map_err(|why| wrong("the row's `test_patch`".to_owned()).with_source(why))?;
        tests = std::mem::take(&mut extraction.tests);
        tests.retain(|test| !test.ids.is_empty());
        if tests.is_empty() {
            return Err(wrong(format!(
                "no function of the test patch goes by an id of FAIL_TO_PASS or PASS_TO_PASS{}",
                if with_files {
                    ""
                } else {
                    "; `--repos` gives the files that it changes"
                },
            )));
        }
        found = Some(extraction);
    }
    let contents: Map<String, Value> = files
        .into_iter()
        .filter_map(|(path, bytes)| Some((path, Value::String(String::from_utf8(bytes).ok()?))))
        .collect();
    let mut attachments = Map::new();
    attachments.insert("files".to_owned(), Value::Object(contents));
    let list: Vec<Value> = tests
        .iter()
        .map(|test| json!({"id": test.id(), "source": test.source, "path": test.path}))
        .collect();
    attachments.insert("tests".to_owned(), Value::Array(list));
    Ok(Prepared {
        subject: Subject {
            instance: row.clone(),
            patch: Some(patch.clone()),
            attachments,
        },
        tests,
        found,
    })
}

/// What stands at the base commit in the files that patches of a row change. `repos` is a clone, a folder of clones, or
/// one with a folder named for the row that holds the files as they are. A patch that cannot be read names no files: the
/// critic is told what is wrong with it where it matters.
///
/// # Errors
/// There is no clone of the row's repository, or no such commit in it.
///
/// # Cancellation
/// Dropping the future is harmless.
pub async fn base_files(
    repos: &Path,
    row: &Instance,
    patches: &[&Patch],
) -> Result<BaseFiles, Error> {
    let mut found = BaseFiles::new();
    let tree = BaseSource::of(repos, row).await?;
    for patch in patches {
        for file in patch.files().unwrap_or_default() {
            let Some(path) = file.old_path else { continue };
            if found.contains_key(&path) {
                continue;
            }
            if let Some(bytes) = tree.read(&path).await? {
                found.insert(path, bytes);
            }
        }
    }
    Ok(found)
}

async fn one(
    cx: &RunContext,
    options: &CriticRunOptions,
    judge: &dyn Judge,
    candidate: CandidatePatch,
) -> Result<Map<String, Value>, Error> {
    let mut fields = Map::new();
    for name in ["resolved", "kind"] {
        if let Some(value) = candidate.columns.get(name).filter(|value| !value.is_null()) {
            fields.insert(name.to_owned(), value.clone());
        }
    }
    fields.extend(candidate.size());
    let prepared = prepare(options, &candidate).await?;
    let abreast = options.jobs;
    if let Some(found) = &prepared.found {
        fields.insert("extraction".to_owned(), json!(found));
    }
    let unseen = prepared
        .found
        .as_ref()
        .map_or(0, |found| found.unmatched_fail_to_pass.len());
    fields.insert("unseen".to_owned(), json!(unseen));
    // What the lines say of tests that were ignored, the metrics ignore, too.
    let told = if options.ignore_unseen { 0 } else { unseen };
    let (mode, variant) = (
        options.critic.mode.as_str(),
        options.critic.variant.as_str(),
    );
    let shown = Shown {
        variant: format!("{mode}-{variant}"),
        unseen: told as u64,
    };
    fields.extend(if options.critic.mode == CriticMode::Isolated {
        let critique =
            critique_patch(cx, judge, &prepared.subject, &prepared.tests, abreast).await?;
        shown.tests(critique)
    } else {
        shown.patch(judge.judge(cx, &prepared.subject).await?)
    });
    Ok(fields)
}

/// A judge that is asked so many questions at once as there are turns, whichever items they are about.
#[derive(Debug)]
struct InTurn<'a> {
    judge: &'a dyn Judge,
    turns: &'a Semaphore,
}

#[async_trait]
impl Judge for InTurn<'_> {
    fn id(&self) -> &str {
        self.judge.id()
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let _turn = self.turns.acquire().await;
        self.judge.judge(cx, subject).await
    }
}

/// What a critic was shown of a patch.
#[derive(PartialEq, Eq)]
pub(super) struct Shown {
    /// The critic's mode and how the patch was shown.
    pub(super) variant: String,
    /// Tests of `FAIL_TO_PASS` that it was not shown, and that keep the patch from passing.
    pub(super) unseen: u64,
}

impl Shown {
    fn label(&self, label: &str) -> String {
        match label {
            "pass" if self.unseen > 0 => "abstained".to_owned(),
            label => label.to_owned(),
        }
    }

    /// What a line says of a critic's words on single tests.
    pub(super) fn tests(&self, mut critique: PatchCritique) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut tests = Vec::new();
        let (mut said, mut after_rule) = (0_u32, 0_u32);
        for test in &critique.tests {
            for id in &test.ids {
                said += u32::from(test.said);
                after_rule += u32::from(test.predicted);
                tests.push(json!({
                    "id": id,
                    "predicted": test.said,
                    "confidence": test.confidence.unwrap_or_default(),
                    "after_rule": test.predicted,
                    "length": test.length,
                }));
            }
        }
        let all = u32::try_from(tests.len()).unwrap_or(u32::MAX);
        let share = |part: u32| f64::from(part) / f64::from(all);
        fields.insert(
            "critic".to_owned(),
            json!({"variant": self.variant, "tests": tests, "unseen": self.unseen}),
        );
        let label = if critique.build_success {
            "pass"
        } else {
            "fail"
        };
        fields.insert("label".to_owned(), json!(self.label(label)));
        fields.insert("progress".to_owned(), json!(share(said)));
        let ruled = json!(share(after_rule));
        fields.insert("progress_after_rule".to_owned(), ruled);
        if let Some(members) = members_of_tests(&critique.tests) {
            fields.insert("members".to_owned(), members);
        }
        fields.insert(
            "tests_judged".to_owned(),
            json!(std::mem::take(&mut critique.tests)),
        );
        fields
    }

    /// What a line says of a critic's word on a patch as a whole.
    pub(super) fn patch(&self, mut judgement: Judgement) -> Map<String, Value> {
        let mut fields = Map::new();
        let test = json!({
            "id": WHOLE_PATCH,
            "predicted": judgement.label == "pass",
            "confidence": judgement.details["confidence_percent"],
        });
        fields.insert(
            "critic".to_owned(),
            json!({"variant": self.variant, "tests": [test], "unseen": self.unseen}),
        );
        fields.insert("label".to_owned(), json!(self.label(&judgement.label)));
        lift_members(&mut judgement.details, &mut fields);
        fields.insert("judgement".to_owned(), json!(judgement));
        fields
    }
}

/// How many of the tests each member of an ensemble was asked about; none of a single critic.
fn members_of_tests(tests: &[TestCritique]) -> Option<Value> {
    let first = tests.first().filter(|test| !test.members.is_empty())?;
    let members = first.members.iter().enumerate().map(|(at, member)| {
        let asked = tests
            .iter()
            .filter(|test| test.members.get(at).is_some_and(|one| one.asked))
            .count();
        json!({
            "model": member.model,
            "asked": asked > 0,
            "tests_asked": asked,
            "tests": tests.len(),
        })
    });
    Some(members.collect())
}

/// What lines of a critic's file come to, with how many patches have each label.
///
/// # Errors
/// The lines cannot be read.
pub(super) fn results(
    lines: ResultLines,
) -> Result<(Results<CriticRunResult>, BTreeMap<String, usize>), Error> {
    let results = Results::new(lines, result);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for result in results.iter() {
        *counts.entry(result?.label).or_default() += 1;
    }
    Ok((results, counts))
}

fn result(line: &Map<String, Value>) -> Option<CriticRunResult> {
    let text = |name: &str| {
        let value = line.get(name).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    line.contains_key("label").then(|| CriticRunResult {
        instance_id: text("instance_id"),
        agent: text("agent"),
        patch_id: text("patch_id"),
        label: text("label"),
        progress: line.get("progress").and_then(Value::as_f64),
        unseen: line.get("unseen").and_then(Value::as_u64).unwrap_or(0),
    })
}

fn summary(
    run: JudgeReport,
    lines: ResultLines,
    faults: Vec<InputFault>,
    ledger: Value,
) -> Result<CriticRunReport, Error> {
    let (results, counts) = results(lines)?;
    let count = |label: &str| counts.get(label).copied().unwrap_or_default();
    Ok(CriticRunReport {
        passing: count("pass"),
        failing: count("fail"),
        abstained: count("abstained"),
        run,
        results,
        faults,
        ledger,
    })
}

/// What a model would be told about each candidate, without asking any.
///
/// # Errors
/// As [`critic`]; a candidate whose files or tests cannot be found.
///
/// # Cancellation
/// Dropping the future is harmless.
pub async fn critic_run_prompts(
    options: &CriticRunOptions,
) -> Result<Vec<(String, Vec<ChatMessage>)>, Error> {
    let (rows, _) = instance_rows(&options.dataset, &options.instances)?;
    let (candidates, _) = candidate_patches(rows, &options.predictions)?;
    let judge = Critic::new(Silent, options.critic.clone());
    let mut prompts = Vec::new();
    let mut first_fault = None;
    for candidate in candidates.iter() {
        let candidate = candidate?;
        let key = candidate.name.key();
        let mut prepared = match prepare(options, &candidate).await {
            Ok(prepared) => prepared,
            Err(why) => {
                tracing::warn!(key, error = why.chain(), "there is nothing to ask about");
                first_fault.get_or_insert(why);
                continue;
            }
        };
        if options.critic.mode != CriticMode::Isolated {
            prompts.push((key, judge.prompt(&prepared.subject)?.0));
            continue;
        }
        for test in &prepared.tests {
            let attachment = json!({"id": test.id(), "source": test.source, "path": test.path});
            let attachments = &mut prepared.subject.attachments;
            attachments.insert("test".to_owned(), attachment);
            let prompt = judge.prompt(&prepared.subject)?.0;
            prompts.push((format!("{key}: {}", test.id()), prompt));
        }
    }
    match first_fault {
        Some(why) if prompts.is_empty() => Err(why),
        _ => Ok(prompts),
    }
}
