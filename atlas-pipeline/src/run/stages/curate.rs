//! What is said of a task beside its tests: classes, a judge's scores, hints.

use super::{Surroundings, bytes_below, parallel};
use crate::judging::{classes_of, files_at_base, judge_row, left_behind};
use crate::make::pull_request;
use crate::run::{RunCandidate, Stage, StepOutcome};
use crate::store::{read_json, write_json};
use crate::{ModelSession, RowQuestion, SessionOptions};
use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, Instance, Judgement, RunContext, Subject, one_line};
use atlas_judge::classes::ClassSource;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// Before the kind of error in the outcome of a step that went on without its model's answer; `--retry KIND` asks again.
pub(in crate::run) const NO_ANSWER: &str = "no_answer_";

/// Steps that wait for a model go on at once.
const ASKING: usize = 4;

/// A question about each row that passed the gates. What is said stands in `curation/<stage>.json`, and `accept` writes it
/// into the row.
///
/// A model that gives no answer loses no row: the step passes with what rules say, where they say something, and its
/// outcome tells.
#[derive(Debug)]
pub(super) struct CurationStage {
    around: Arc<Surroundings>,
    id: &'static str,
    question: RowQuestion,
    model: Option<NamedModel>,
    /// The label whose rows go no further.
    rejects: Option<&'static str>,
}

/// A model that is opened when the first step asks it.
#[derive(Debug)]
struct NamedModel {
    text: String,
    /// What of it changes answers.
    settings: serde_json::Value,
    session: OnceCell<ModelSession>,
}

/// What a stage said of a row, on the disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StageRecord {
    /// The judgement; absent where neither a model nor a rule said anything.
    pub(super) judgement: Option<Judgement>,
    /// The kind of error where a model was to be asked and gave no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) no_answer: Option<String>,
    /// More of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Whether the row goes no further.
    #[serde(default)]
    is_rejected: bool,
}

/// Why a stage of the curation took an instance out, by what stands in its folder: the stage's name and the judgement's reason.
pub(crate) fn rejected_by_curation(artefacts: &Path) -> Option<(&'static str, String)> {
    let file = CurationStage::file(artefacts, CurationStage::JUDGE);
    let said: StageRecord = read_json(&file).filter(|said: &StageRecord| said.is_rejected)?;
    Some((CurationStage::JUDGE, said.judgement?.reasoning))
}

impl CurationStage {
    /// Its names, in the order in which they run.
    pub(super) const CLASSIFY: &'static str = "classify";
    pub(super) const JUDGE: &'static str = "judge";
    pub(super) const HINTS: &'static str = "hints";

    /// The stages that a configuration asks for, in order.
    ///
    /// # Errors
    /// A model that cannot be opened.
    pub(super) fn all(around: &Arc<Surroundings>) -> Result<Vec<Self>, Error> {
        let run = &around.config.run;
        let mut stages = Vec::new();
        let mut add = |id, question, model: Option<&String>, rejects| -> Result<(), Error> {
            stages.push(Self {
                around: Arc::clone(around),
                id,
                question,
                model: model
                    .map(|text| NamedModel::check(around, text))
                    .transpose()?,
                rejects,
            });
            Ok(())
        };
        if run.classify.enabled {
            let question = RowQuestion::Classes(run.classify.options.clone());
            add(Self::CLASSIFY, question, run.classify.model.as_ref(), None)?;
        }
        if let Some(judge) = &run.judge {
            let rejects = judge.reject_low.then_some("low");
            let question = RowQuestion::Alignment(judge.options.clone());
            add(Self::JUDGE, question, Some(&judge.model), rejects)?;
        }
        if let Some(hints) = &run.hints {
            let question = RowQuestion::Hints {
                options: hints.options.clone(),
                repos: None,
                artefacts: Some(around.instances.clone()),
            };
            add(Self::HINTS, question, hints.model.as_ref(), None)?;
        }
        Ok(stages)
    }

    /// Where it writes what it says of a candidate.
    pub(super) fn file(artefacts: &Path, id: &str) -> PathBuf {
        artefacts.join("curation").join(format!("{id}.json"))
    }

    async fn session(&self) -> Result<Option<&ModelSession>, Error> {
        let Some(model) = &self.model else {
            return Ok(None);
        };
        let around = &self.around;
        let open = || async {
            let folder = &around.config.run.folder;
            let options = SessionOptions {
                // A step that is cut short after its answer came does not pay it again.
                exchanges: Some(folder.join("models.exchanges")),
                out: Some(folder.join(self.id)),
                ..SessionOptions::default()
            };
            ModelSession::open_with(&model.text, &around.config, &options)
        };
        model.session.get_or_try_init(open).await.map(Some)
    }

    /// What the question is about.
    async fn subject(&self, cx: &RunContext, candidate: &RunCandidate) -> Result<Subject, Error> {
        let row = self.around.row(candidate)?;
        let mut attachments = Map::new();
        if matches!(self.question, RowQuestion::Hints { .. }) {
            attachments = left_behind(&candidate.artefacts)?;
            let clone = pull_request::open(cx, &candidate.request.clone).await?;
            let files = files_at_base(&clone, &row).await?;
            attachments.insert("files".to_owned(), json!(files));
        }
        Ok(Subject {
            instance: row,
            patch: None,
            attachments,
        })
    }
}

impl NamedModel {
    /// Opens it once, to see whether it can be, and leaves nothing behind.
    fn check(around: &Surroundings, text: &str) -> Result<Self, Error> {
        let session = ModelSession::open(text, None, &around.config)?;
        let settings = json!({"name": session.model().name(), "settings": session.settings()});
        Ok(Self {
            text: text.to_owned(),
            settings,
            session: OnceCell::new(),
        })
    }
}

/// Whether an error is the want of an answer, and not one of the machine or of this program.
fn is_no_answer(why: &Error) -> bool {
    matches!(
        why.kind(),
        ErrorKind::Model
            | ErrorKind::BudgetExceeded
            | ErrorKind::TimedOut
            | ErrorKind::InvalidInput
    )
}

/// Whether neither a rule nor a model told the kind of the change or of the report.
fn is_open(judgement: &Judgement) -> bool {
    classes_of(&judgement.details).map_or(true, |classes| {
        [classes.code_type.source, classes.issue_type.source].contains(&ClassSource::Nobody)
    })
}

impl Surroundings {
    /// The row of a candidate as the gates left it, or as `make` did where there are none.
    pub(super) fn row(&self, candidate: &RunCandidate) -> Result<Instance, Error> {
        let path = self.row_file(candidate);
        let text = std::fs::read_to_string(&path).map_err(|why| Error::io("read", &path, why))?;
        text.parse().map_err(|why: atlas_core::InstanceError| {
            let what = format!("`{}`", path.display());
            Error::new(ErrorKind::InvalidInput, "read row", what).with_source(why)
        })
    }
}

#[async_trait]
impl Stage for CurationStage {
    fn id(&self) -> &'static str {
        self.id
    }

    fn version(&self) -> u32 {
        1
    }

    fn settings(&self) -> serde_json::Value {
        json!({
            "question": self.question.own_settings(),
            "model": self.model.as_ref().map(|model| &model.settings),
            "rejects": self.rejects,
        })
    }

    fn parallel(&self) -> usize {
        let usual = if self.model.is_some() { ASKING } else { 1 };
        parallel(&self.around.config.run, self.id, usual)
    }

    async fn run(&self, cx: &RunContext, candidate: &RunCandidate) -> Result<StepOutcome, Error> {
        let subject = self.subject(cx, candidate).await?;
        let session = self.session().await?;
        let (said, money) = judge_row(cx, &self.question, session, &subject).await;
        let said = match said {
            Ok(judgement) => StageRecord {
                is_rejected: self.rejects.is_some_and(|label| label == judgement.label),
                judgement: Some(judgement),
                no_answer: None,
                why: None,
            },
            Err(why) if session.is_some() && is_no_answer(&why) => {
                let by_rule = match self.question {
                    RowQuestion::Alignment(_) => None,
                    _ => Some(judge_row(cx, &self.question, None, &subject).await.0?),
                };
                StageRecord {
                    judgement: by_rule,
                    no_answer: Some(why.kind().as_str().to_owned()),
                    why: Some(one_line(&why.chain(), 2_000)),
                    is_rejected: false,
                }
            }
            Err(why) => return Err(why),
        };
        write_json(&Self::file(&candidate.artefacts, self.id), &said)?;
        let label = said.judgement.as_ref().map(|judgement| &judgement.label);
        let outcome = match (&said.no_answer, &said.judgement) {
            (Some(kind), _) => format!("{NO_ANSWER}{kind}"),
            // Its labels are pairs of classes.
            (None, Some(judgement)) if self.id == Self::CLASSIFY => if is_open(judgement) {
                "open"
            } else {
                "classified"
            }
            .to_owned(),
            (None, _) => label.cloned().unwrap_or_default(),
        };
        let passed = !said.is_rejected;
        let told = said.judgement.map(|judgement| judgement.evidence);
        Ok(StepOutcome {
            outcome: if passed {
                outcome
            } else {
                format!("reject_{outcome}")
            },
            passed,
            reason: said.why.unwrap_or_default(),
            evidence: told.into_iter().flatten().take(20).collect(),
            money,
            bytes: bytes_below(&candidate.artefacts),
            environment: None,
        })
    }
}
