//! Judges of paper 001 over the rows of a dataset: alignment, classes, hints.

use super::abstain::Silent;
use super::input::row_item;
use super::paid::of_item;
use super::{
    Attached, JudgeReport, JudgeRun, ModelSession, ResultLines, Results, in_batches, instance_rows,
    judge_items,
};
use crate::clones::clone_among;
use crate::evaluate::InputFault;
use crate::parts::CallersJudge;
use atlas_core::{
    ChatMessage, Error, ErrorKind, Instance, InstanceId, Judge, Judgement, RunContext, Subject,
};
use atlas_judge::alignment::{Alignment, AlignmentOptions, alignment_prompt};
use atlas_judge::classes::{ClassJudge, ClassOptions, ClassSubject, ClassTable, class_prompt};
use atlas_judge::hints::{HintJudge, HintOptions, HintSubject, LeakJudge, hint_prompt};
use atlas_source::GitRepo;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is asked about every row.
#[derive(Clone, Debug)]
pub enum RowQuestion {
    /// Whether its statement is clear and its tests judge what it asks for. Needs a model.
    Alignment(AlignmentOptions),
    /// What kind of change and of report it is.
    Classes(ClassOptions),
    /// Whether it needs a hint, and which.
    Hints {
        /// How hints are looked for.
        options: HintOptions,
        /// A clone, or a folder of clones, to read the files from that the patches change; without it
        /// only what the patches show is known.
        repos: Option<PathBuf>,
        /// What `atlas make` left behind: a folder with `<instance>/before.log` and
        /// `<instance>/oracle.json`, each read where it is there.
        artefacts: Option<PathBuf>,
    },
    /// Whether hints from elsewhere tell more than names.
    HintCheck {
        /// A file of JSON lines with `instance_id` and `hint`, or results of `atlas hints`.
        hints: PathBuf,
        /// As for [`Self::Hints`].
        repos: Option<PathBuf>,
        /// As for [`Self::Hints`].
        artefacts: Option<PathBuf>,
    },
    /// What a judge of the caller is asked; its answer is kept as it is.
    Judge(CallersJudge),
}

impl RowQuestion {
    fn name(&self) -> &'static str {
        match self {
            Self::Alignment(_) => "judge",
            Self::Classes(_) => "classes",
            Self::Hints { .. } => "hints",
            Self::HintCheck { .. } => "hint_check",
            Self::Judge(_) => "own_judge",
        }
    }

    /// Everything that changes an answer.
    fn settings(&self, session: Option<&ModelSession>) -> Value {
        let mut settings = self.own_settings();
        settings["model"] = json!(session.map(|session| session.model().name().to_owned()));
        settings["model_settings"] = json!(session.map(ModelSession::settings));
        settings
    }

    pub(crate) fn own_settings(&self) -> Value {
        match self {
            Self::Alignment(options) => json!({
                "policy": options, "prompt_version": alignment_prompt().version(),
            }),
            Self::Classes(options) => json!({
                "policy": options, "prompt_version": class_prompt().version(),
            }),
            Self::Hints {
                options,
                repos,
                artefacts,
            } => json!({
                "policy": options, "prompt_version": hint_prompt().version(),
                "repos": repos.is_some(), "artefacts": artefacts.is_some(),
            }),
            Self::HintCheck {
                repos, artefacts, ..
            } => json!({"repos": repos.is_some(), "artefacts": artefacts.is_some()}),
            Self::Judge(own) => own.settings(),
        }
    }

    /// The hints that are to be looked at.
    fn hints(&self) -> Result<Option<Attached>, Error> {
        match self {
            Self::HintCheck { hints, .. } => Attached::read(hints, "hint").map(Some),
            _ => Ok(None),
        }
    }

    /// What runs have left behind about an instance, and its hint from elsewhere.
    fn known(
        &self,
        hints: Option<&Attached>,
        id: &InstanceId,
    ) -> Result<Map<String, Value>, Error> {
        let mut known = match self {
            Self::Hints {
                artefacts: Some(folder),
                ..
            }
            | Self::HintCheck {
                artefacts: Some(folder),
                ..
            } => left_behind(&folder.join(id.as_str()))?,
            _ => Map::new(),
        };
        if let Some(value) = hints
            .map(|hints| hints.of_instance(id.as_str()))
            .transpose()?
            .flatten()
        {
            known.insert("hint".to_owned(), json!(hint_of(&value)));
        }
        Ok(known)
    }

    /// Where the files at the base are read.
    fn repos(&self) -> Option<&Path> {
        match self {
            Self::Hints { repos, .. } | Self::HintCheck { repos, .. } => repos.as_deref(),
            Self::Alignment(_) | Self::Classes(_) | Self::Judge(_) => None,
        }
    }

    fn judge(&self, session: Option<&ModelSession>) -> Result<Box<dyn Judge>, Error> {
        let model = session.map(ModelSession::model);
        Ok(match (self, model) {
            (Self::Alignment(options), Some(model)) => {
                Box::new(Alignment::new(model, options.clone()))
            }
            (Self::Alignment(_), None) => {
                let what = "name one with --model";
                return Err(Error::new(ErrorKind::InvalidInput, "open the model:", what));
            }
            (Self::Classes(options), Some(model)) => {
                Box::new(ClassJudge::new(model, options.clone()))
            }
            (Self::Classes(_), None) => Box::new(ClassJudge::rules()),
            (Self::Hints { options, .. }, Some(model)) => {
                Box::new(HintJudge::new(model, options.clone()))
            }
            (Self::Hints { .. }, None) => Box::new(HintJudge::rules()),
            (Self::HintCheck { .. }, _) => Box::new(LeakJudge),
            (Self::Judge(own), _) => Box::new(Arc::clone(&own.judge)),
        })
    }
}

/// Which rows are judged, and how.
#[derive(Clone, Debug)]
pub struct RowJudgeOptions {
    /// The dataset.
    pub dataset: PathBuf,
    /// Only these instances; all without any.
    pub instances: Vec<InstanceId>,
    /// What is asked.
    pub question: RowQuestion,
    /// The file of results.
    pub out: PathBuf,
    /// Instances that go on at once.
    pub jobs: usize,
}

/// What was said about one row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowResult {
    /// The instance.
    pub instance_id: String,
    /// The judge's label.
    pub label: String,
    /// Why, in a sentence or the model's words.
    pub reasoning: String,
    /// The hint, where one is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What became of all rows.
#[derive(Debug, Serialize)]
pub struct RowJudgeReport {
    /// How the run went.
    #[serde(flatten)]
    pub run: JudgeReport,
    /// Label -> how many.
    pub labels: BTreeMap<String, usize>,
    /// For classes, the tables of paper 001's appendix E: `code_type`, `issue_type`; and `domain`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, ClassTable>,
    /// One entry for every instance that has a result.
    pub results: Results<RowResult>,
    /// What is wrong with the dataset.
    pub faults: Vec<InputFault>,
    /// What the model was paid in this run; null without one.
    pub ledger: Value,
    /// The rows with what is known of them, where they were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curated: Option<super::CuratedRows>,
}

/// Judges every row. Lines of the file have `instance_id` and `judgement`, whole.
///
/// # Errors
/// As [`instance_rows`] and [`judge_items`]; a question that needs a model and gets none.
///
/// # Cancellation
/// As [`judge_items`].
pub async fn judge_rows(
    cx: &RunContext,
    options: &RowJudgeOptions,
    session: Option<&ModelSession>,
) -> Result<RowJudgeReport, Error> {
    if let Some(session) = session {
        in_batches(cx, session, &options.out, |session, out| {
            let options = RowJudgeOptions {
                out,
                ..options.clone()
            };
            async move {
                Box::pin(judge_rows(cx, &options, Some(&session)))
                    .await
                    .map(drop)
            }
        })
        .await?;
    }
    let (rows, mut faults) = instance_rows(&options.dataset, &options.instances)?;
    let judge = options.question.judge(session)?;
    let hints = options.question.hints()?;
    if let (Some(hints), RowQuestion::HintCheck { hints: file, .. }) = (&hints, &options.question)
        && options.instances.is_empty()
    {
        let known: BTreeSet<&str> = (0..rows.count()).map(|at| rows.id(at).as_str()).collect();
        let strange = hints.ids().filter(|id| !known.contains(id));
        faults.extend(strange.map(|id| InputFault {
            file: file.display().to_string(),
            line: None,
            field: Some("instance_id".to_owned()),
            message: format!("the dataset has no `{id}`, so its hint is not looked at"),
        }));
    }
    let run = JudgeRun {
        name: options.question.name().to_owned(),
        out: options.out.clone(),
        settings: options.question.settings(session),
        jobs: options.jobs,
    };
    let items = rows.iter().enumerate().map(|(at, row)| {
        let (row, known) = (row?, options.question.known(hints.as_ref(), rows.id(at))?);
        let known = Value::from(known).to_string();
        row_item(at, &row, &[&row.to_string(), &known])
    });
    let items = items.collect::<Result<_, Error>>()?;
    let (report, lines) = judge_items(
        cx,
        &run,
        items,
        |at| rows.identity(*at),
        |at| {
            let (judge, rows, hints) = (&judge, &rows, hints.as_ref());
            async move {
                let known = options.question.known(hints, rows.id(at))?;
                let subject = subject(rows.get(at)?, known, &options.question).await?;
                let judgement = judge.judge(cx, &subject).await?;
                let mut fields = Map::new();
                fields.insert("judgement".to_owned(), json!(judgement));
                Ok(fields)
            }
        },
    )
    .await?;
    let ledger = session.map_or(Value::Null, ModelSession::ledger);
    summary(report, lines, faults, ledger)
}

/// Asks one question about one row, outside of a file of results: what was said, and the money that it cost, as far as
/// prices are known.
pub(crate) async fn judge_row(
    cx: &RunContext,
    question: &RowQuestion,
    session: Option<&ModelSession>,
    subject: &Subject,
) -> (Result<Judgement, Error>, f64) {
    let work = async { question.judge(session)?.judge(cx, subject).await };
    let (said, bill) = of_item(work).await;
    (said, bill.money())
}

/// What a model would be told about each row, without asking any.
///
/// # Errors
/// As [`instance_rows`]; a row that lacks what is asked about.
pub async fn row_prompts(
    options: &RowJudgeOptions,
) -> Result<Vec<(String, Vec<ChatMessage>)>, Error> {
    let (rows, _) = instance_rows(&options.dataset, &options.instances)?;
    let mut found = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let known = options.question.known(None, rows.id(at))?;
        let subject = subject(row?, known, &options.question).await?;
        let messages = match &options.question {
            RowQuestion::Alignment(options) => {
                Alignment::new(Silent, options.clone()).prompt(&subject)?
            }
            RowQuestion::Classes(options) => {
                ClassJudge::new(Silent, options.clone()).prompt(&ClassSubject::of(&subject)?)?
            }
            RowQuestion::Hints { options, .. } => {
                HintJudge::new(Silent, options.clone()).prompt(&HintSubject::of(&subject)?)?
            }
            RowQuestion::HintCheck { .. } | RowQuestion::Judge(_) => continue,
        };
        found.push((rows.id(at).to_string(), messages));
    }
    Ok(found)
}

/// The text of a hint: itself, or what a result of `atlas hints` or a row says.
fn hint_of(value: &Value) -> &str {
    let places = ["/judgement/details/hint", "/hint_value", "/hints"];
    let text = value.as_str();
    text.or_else(|| {
        places
            .iter()
            .find_map(|place| value.pointer(place)?.as_str())
    })
    .unwrap_or_default()
}

/// What `make` left in an instance's folder that tells of names that its tests need.
pub(crate) fn left_behind(folder: &Path) -> Result<Map<String, Value>, Error> {
    let read = |name: &str| match std::fs::read(folder.join(name)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(Error::io("read", &folder.join(name), why)),
    };
    let mut known = Map::new();
    if let Some(log) = read("before.log")? {
        let text = String::from_utf8_lossy(&log).into_owned();
        known.insert("before_log".to_owned(), json!(text));
    }
    if let Some(bytes) = read("oracle.json")? {
        let place = folder.join("oracle.json");
        let report: Value = serde_json::from_slice(&bytes).map_err(|why| {
            let place = format!("`{}`", place.display());
            Error::new(ErrorKind::InvalidInput, "read the oracle's report", place).with_source(why)
        })?;
        if let Some(failures) = report.get("module_failures") {
            known.insert("module_failures".to_owned(), failures.clone());
        }
    }
    Ok(known)
}

async fn subject(
    instance: Instance,
    mut attachments: Map<String, Value>,
    question: &RowQuestion,
) -> Result<Subject, Error> {
    if let Some(repos) = question.repos() {
        let files = base_files(repos, &instance).await?;
        attachments.insert("files".to_owned(), json!(files));
    }
    Ok(Subject {
        instance,
        patch: None,
        attachments,
    })
}

/// The files that both patches change, as they are at the base commit. What is no text is left out.
async fn base_files(repos: &Path, instance: &Instance) -> Result<BTreeMap<String, String>, Error> {
    let wrong =
        |why: String| Error::new(ErrorKind::InvalidInput, "find the files at the base:", why);
    let column = |name: &str| {
        let text = instance.required(name);
        text.map_err(|why| wrong(why.to_string()))
    };
    let repo = clone_among(repos, column("repo")?).await?;
    files_at_base(&repo, instance).await
}

/// The same with the clone at hand.
pub(crate) async fn files_at_base(
    repo: &GitRepo,
    instance: &Instance,
) -> Result<BTreeMap<String, String>, Error> {
    let wrong =
        |why: String| Error::new(ErrorKind::InvalidInput, "find the files at the base:", why);
    let column = |name: &str| {
        let text = instance.required(name);
        text.map_err(|why| wrong(why.to_string()))
    };
    let base = repo.resolve(column("base_commit")?).await?;
    let mut found = BTreeMap::new();
    for patch in [instance.gold_patch(), instance.test_patch()] {
        let patch = patch.map_err(|why| wrong(why.to_string()))?;
        let files = patch.files().map_err(|why| wrong(why.to_string()))?;
        for path in files.into_iter().filter_map(|file| file.old_path) {
            if let Some(bytes) = repo.read_file(&base, &path).await?
                && let Ok(text) = String::from_utf8(bytes)
            {
                found.insert(path, text);
            }
        }
    }
    Ok(found)
}

fn summary(
    run: JudgeReport,
    lines: ResultLines,
    faults: Vec<InputFault>,
    ledger: Value,
) -> Result<RowJudgeReport, Error> {
    let mut labels: BTreeMap<String, usize> = BTreeMap::new();
    let mut classes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines.iter() {
        let line = line?;
        let Some(judgement) = line.get("judgement") else {
            continue;
        };
        let label = judgement["label"].as_str().unwrap_or_default().to_owned();
        *labels.entry(label).or_default() += 1;
        let details = &judgement["details"];
        for name in ["code_type", "issue_type", "domain"] {
            if let Some(class) = details["classes"][name]["class"].as_str() {
                classes
                    .entry(name.to_owned())
                    .or_default()
                    .push(class.to_owned());
            }
        }
    }
    Ok(RowJudgeReport {
        run,
        labels,
        tables: classes
            .into_iter()
            .map(|(name, all)| (name, ClassTable::of(all.iter().map(String::as_str))))
            .collect(),
        results: Results::new(lines, result),
        faults,
        ledger,
        curated: None,
    })
}

fn result(line: &Map<String, Value>) -> Option<RowResult> {
    let judgement = line.get("judgement")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let hint = judgement["details"]["hint"].as_str();
    Some(RowResult {
        instance_id: line.get("instance_id").map(text).unwrap_or_default(),
        label: text(&judgement["label"]),
        reasoning: text(&judgement["reasoning"]),
        hint: hint.filter(|hint| !hint.is_empty()).map(str::to_owned),
    })
}
