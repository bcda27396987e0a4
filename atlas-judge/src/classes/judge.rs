//! Classes as a judge.

use super::domain::{Domain, domain_by_rule};
use super::rules::{ClassSubject, code_type_by_rule, issue_type_by_rule};
use super::{ClassSource, CodeType, IssueType};
use crate::Prompt;
use crate::answer::{AskOptions, Schema, Shape, ask_again};
use crate::validation::cut_middle;
use async_trait::async_trait;
use atlas_core::{
    ChatMessage, Confidence, ConfidenceSource, Error, Evidence, Judge, Judgement, LanguageModel,
    RunContext, Subject,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use std::sync::Arc;

const CLASSES: Prompt = Prompt::new("classes", 1, include_str!("prompts/classes.v1.md"));

/// How classes are asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ClassOptions {
    /// How a model is asked.
    pub ask: AskOptions,
    /// How often it is asked again after an answer of another form; default 1.
    pub ask_again: u32,
    /// Most tokens, of four bytes, of the report and of the patch; default 8,000 each.
    pub limit: usize,
}

impl Default for ClassOptions {
    fn default() -> Self {
        Self {
            ask: AskOptions::plain(),
            ask_again: 1,
            limit: 8_000,
        }
    }
}

/// The prompt, for reading.
pub fn class_prompt() -> Prompt {
    CLASSES
}

/// A class and who told it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classified<C> {
    /// The class.
    pub class: C,
    /// Who told it.
    pub source: ClassSource,
    /// The proof of a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

impl<C: Default> Classified<C> {
    fn by_rule(found: Option<(C, Evidence)>) -> Self {
        match found {
            Some((class, evidence)) => Self {
                class,
                source: ClassSource::Rule,
                evidence: Some(evidence),
            },
            None => Self {
                class: C::default(),
                source: ClassSource::Nobody,
                evidence: None,
            },
        }
    }
}

/// The classes of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classes {
    /// Of its solution.
    pub code_type: Classified<CodeType>,
    /// Of its report.
    pub issue_type: Classified<IssueType>,
    /// Of its repository; told by rules alone.
    #[serde(default = "unknown_domain")]
    pub domain: Classified<Domain>,
}

fn unknown_domain() -> Classified<Domain> {
    Classified::by_rule(None)
}

impl Classes {
    /// What the rules say.
    pub fn by_rule(subject: &ClassSubject) -> Self {
        Self {
            code_type: Classified::by_rule(code_type_by_rule(subject)),
            issue_type: Classified::by_rule(issue_type_by_rule(subject)),
            domain: Classified::by_rule(domain_by_rule(subject)),
        }
    }

    fn is_open(&self) -> bool {
        self.code_type.source == ClassSource::Nobody
            || self.issue_type.source == ClassSource::Nobody
    }
}

/// Tells the classes: the label is `CODE_TYPE/ISSUE_TYPE`, such as `bug-fix/bug-report`.
///
/// Reads what [`ClassSubject::of`] does. A model is asked only if a rule leaves something open, and
/// decides only that. Details: `classes` ([`Classes`]); with a model `prompt_version`, `model`, `faults`.
#[derive(Debug)]
pub struct ClassJudge<M = Arc<dyn LanguageModel>> {
    model: Option<M>,
    options: ClassOptions,
}

impl ClassJudge {
    /// Rules only.
    pub fn rules() -> Self {
        Self {
            model: None,
            options: ClassOptions::default(),
        }
    }
}

impl<M: LanguageModel> ClassJudge<M> {
    /// Rules, then a model.
    pub fn new(model: M, options: ClassOptions) -> Self {
        Self {
            model: Some(model),
            options,
        }
    }

    /// What the model is told.
    ///
    /// # Errors
    /// The prompt's.
    pub fn prompt(&self, subject: &ClassSubject) -> Result<Vec<ChatMessage>, Error> {
        let patch = String::from_utf8_lossy(subject.gold_patch.as_bytes()).into_owned();
        CLASSES.render(&json!({
            "issue": cut_middle(&subject.issue, self.options.limit),
            "title": subject.title.as_deref().unwrap_or_default(),
            "labels": subject.labels.join(", "),
            "patch": cut_middle(&patch, self.options.limit),
        }))
    }
}

#[derive(Deserialize)]
struct ClassAnswer {
    reasoning: String,
    code_type: CodeType,
    issue_type: IssueType,
}

#[async_trait]
impl<M: LanguageModel> Judge for ClassJudge<M> {
    fn id(&self) -> &'static str {
        "classes"
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let subject = ClassSubject::of(subject)?;
        let mut classes = Classes::by_rule(&subject);
        let mut details = Map::new();
        let mut reasoning = "by rule".to_owned();
        let mut confidence = Confidence {
            value: Some(1.0),
            source: ConfidenceSource::Rule,
        };
        if classes.is_open() {
            confidence = Confidence {
                value: None,
                source: ConfidenceSource::Missing,
            };
            "no rule holds, and no model was asked".clone_into(&mut reasoning);
        }
        if let Some(model) = self.model.as_ref().filter(|_| classes.is_open()) {
            let words = |all: &[&str]| Shape::OneOf(all.iter().map(|&w| w.to_owned()).collect());
            let schema = Schema::new([
                ("reasoning", Shape::Text, "a sentence or two"),
                (
                    "code_type",
                    words(&CodeType::ALL.map(CodeType::as_str)),
                    "the kind of change",
                ),
                (
                    "issue_type",
                    words(&IssueType::ALL.map(IssueType::as_str)),
                    "the kind of report",
                ),
            ]);
            let question = self.prompt(&subject)?;
            let agreed = ask_again(
                cx,
                model,
                &question,
                &schema,
                "code_type",
                &self.options.ask,
                self.options.ask_again,
                |answer| {
                    serde_json::from_value::<ClassAnswer>(json!(answer.fields))
                        .map_err(|why| why.to_string())
                },
            )
            .await?;
            agreed.tell(CLASSES, &mut details);
            let said = agreed.value;
            if classes.code_type.source == ClassSource::Nobody {
                classes.code_type.class = said.code_type;
                classes.code_type.source = ClassSource::Model;
            }
            if classes.issue_type.source == ClassSource::Nobody {
                classes.issue_type.class = said.issue_type;
                classes.issue_type.source = ClassSource::Model;
            }
            reasoning = said.reasoning;
            confidence = agreed.answer.confidence;
        }
        details.insert("classes".to_owned(), json!(classes));
        let evidence = [
            &classes.code_type.evidence,
            &classes.issue_type.evidence,
            &classes.domain.evidence,
        ];
        Ok(Judgement {
            label: format!(
                "{}/{}",
                classes.code_type.class.as_str(),
                classes.issue_type.class.as_str()
            ),
            confidence,
            reasoning,
            evidence: evidence.into_iter().flatten().cloned().collect(),
            details,
        })
    }
}
