//! Whether an agent should try at all (paper 002, sections 3.1 and 6.1).
//!
//! A model reads the report and says one of two words; the policy attempts the repair where the
//! probability of the first word is at least a threshold. Only the order of these probabilities
//! matters, they need not be calibrated.

mod features;

pub use features::{FeatureAverages, FeatureOptions, ReportFeatures, report_features};

use crate::Prompt;
use crate::answer::{AskOptions, LabelAnswer, Labels, ask_label};
use crate::bug_report::BugReport;
use crate::validation::{cut_middle, estimated_tokens};
use async_trait::async_trait;
use atlas_core::{
    ChatMessage, Error, ErrorKind, Evidence, Judge, Judgement, LanguageModel, RunContext, Subject,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

const PROMPT: Prompt = Prompt::new("abstention", 1, include_str!("prompts/abstention.v1.md"));

/// How a report is put before the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Representation {
    /// The agent's abilities and the report.
    R1,
    /// Also what makes a report likely to be solved: what the paper found best.
    #[default]
    R2,
}

impl Representation {
    /// `r1` or `r2`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::R1 => "r1",
            Self::R2 => "r2",
        }
    }
}

/// A tool that the agent has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentTool {
    /// Its name.
    pub name: String,
    /// What it is for, behind "to": `find code`.
    pub purpose: String,
}

impl AgentTool {
    /// A tool.
    pub fn new(name: impl Into<String>, purpose: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            purpose: purpose.into(),
        }
    }
}

/// What the policy is told and how it decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AbstentionOptions {
    /// How a report is put. Default [`Representation::R2`].
    pub representation: Representation,
    /// The agent's tools. Default: those of paper 002's setting, searching, viewing, listing, editing,
    /// running tests.
    pub tools: Vec<AgentTool>,
    /// Steps that the agent may take. Default 25.
    pub max_steps: u32,
    /// Attempt from this probability on. Default 0.5; exactly so much attempts.
    pub tau: f64,
    /// The words. Default `success` and `failure`.
    pub labels: Labels,
    /// How the model is asked. Default as elsewhere, but 16 tokens: one word is wanted.
    pub ask: AskOptions,
    /// Most tokens (of four bytes) of the report; what is longer is cut in its middle. Default: as long as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_limit: Option<usize>,
    /// What is counted in a report beside the question (paper 002, Table 3). Changes no answer.
    #[serde(skip_serializing_if = "FeatureOptions::is_default")]
    pub features: FeatureOptions,
}

impl AbstentionOptions {
    /// With the longest report that fits into a model's context of so many tokens beside the answer; a limit that is
    /// there stays.
    #[must_use]
    pub fn within(mut self, window: u64) -> Self {
        let room = crate::validation::room(window, self.ask.max_tokens);
        self.report_limit.get_or_insert(room);
        self
    }
}

impl Default for AbstentionOptions {
    fn default() -> Self {
        let tools = [
            ("search", "find code by a pattern"),
            ("view", "read a file"),
            ("list", "see what a folder holds"),
            ("edit", "change a file"),
            ("test", "run tests"),
        ];
        Self {
            representation: Representation::default(),
            tools: tools
                .into_iter()
                .map(|(name, purpose)| AgentTool::new(name, purpose))
                .collect(),
            max_steps: 25,
            tau: 0.5,
            labels: Labels::new("success", "failure").expect("two words with different letters"),
            ask: AskOptions {
                max_tokens: 16,
                ..AskOptions::default()
            },
            report_limit: None,
            features: FeatureOptions::default(),
        }
    }
}

/// The abstention policy as a judge.
///
/// Labels: `attempt`, `abstain`. The confidence is the probability that the agent succeeds, under
/// either label. Looks at the row's `problem_statement`, or at the attachments `bug_title` and
/// `bug_description`; never at a patch.
///
/// Details: `probability`, `source`, `tau`, `representation`, `prompt`, `prompt_version`, `model`,
/// `said`; `answer_form` and `form_prompt_version` where the word was asked for as JSON
/// ([`crate::answer::LabelForm::Json`]); `label_mass`, `mass_success`, `mass_failure`, `share_success` from log-probabilities;
/// `samples`; `passed_over` with the reasons; `cut` (`report`, where it was too long); `features` of the report.
#[derive(Debug)]
pub struct Abstention<M> {
    model: M,
    options: AbstentionOptions,
}

impl<M: LanguageModel> Abstention<M> {
    /// The policy over a model.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a threshold outside 0 to 1.
    pub fn new(model: M, options: AbstentionOptions) -> Result<Self, Error> {
        if !(0.0..=1.0).contains(&options.tau) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "set up the abstention policy:",
                format!("threshold {} is outside 0 to 1", options.tau),
            ));
        }
        Ok(Self { model, options })
    }

    /// What the model is told about a report, for reading.
    ///
    /// # Errors
    /// The prompt's.
    pub fn prompt(&self, report: &BugReport) -> Result<Vec<ChatMessage>, Error> {
        let options = &self.options;
        let form = options.ask.label_form;
        form.put(&self.question(report)?, &options.labels)
    }

    fn question(&self, report: &BugReport) -> Result<Vec<ChatMessage>, Error> {
        PROMPT.render(&json!({
            "tools": self.options.tools,
            "max_steps": self.options.max_steps,
            "with_guidelines": self.options.representation == Representation::R2,
            "positive": self.options.labels.positive(),
            "negative": self.options.labels.negative(),
            "title": report.title,
            "description": match self.options.report_limit {
                Some(limit) => cut_middle(&report.description, limit),
                None => report.description.clone(),
            },
        }))
    }

    /// The probability that the agent succeeds.
    ///
    /// # Errors
    /// As [`ask_label`].
    ///
    /// # Cancellation
    /// As the model.
    pub async fn probability(
        &self,
        cx: &RunContext,
        report: &BugReport,
    ) -> Result<LabelAnswer, Error> {
        let question = self.question(report)?;
        ask_label(
            cx,
            &self.model,
            &question,
            &self.options.labels,
            &self.options.ask,
        )
        .await
    }
}

/// The prompt's version, as judgements report it.
pub fn abstention_prompt_version() -> String {
    PROMPT.version()
}

#[async_trait]
impl<M: LanguageModel> Judge for Abstention<M> {
    fn id(&self) -> &'static str {
        match self.options.representation {
            Representation::R1 => "abstention-r1",
            Representation::R2 => "abstention-r2",
        }
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let report = BugReport::of(subject)?;
        let answer = self.probability(cx, &report).await?;
        let tau = self.options.tau;
        let attempts = answer.probability >= tau;
        let mut details = Map::new();
        details.insert("probability".to_owned(), json!(answer.probability));
        details.insert("source".to_owned(), json!(answer.source));
        details.insert("tau".to_owned(), json!(tau));
        details.insert(
            "representation".to_owned(),
            json!(self.options.representation),
        );
        details.insert("prompt_version".to_owned(), json!(PROMPT.version()));
        let most = self.options.report_limit;
        if most.is_some_and(|limit| estimated_tokens(&report.description) > limit) {
            details.insert("cut".to_owned(), json!(["report"]));
        }
        details.insert("model".to_owned(), json!(answer.model));
        details.insert("said".to_owned(), json!(answer.said));
        if let Some(version) = answer.form.prompt_version() {
            details.insert("answer_form".to_owned(), json!(answer.form));
            details.insert("form_prompt_version".to_owned(), json!(version));
        }
        if let Some(mass) = answer.mass {
            details.insert("label_mass".to_owned(), json!(mass.total()));
            details.insert("mass_success".to_owned(), json!(mass.positive));
            details.insert("mass_failure".to_owned(), json!(mass.negative));
            details.insert("share_success".to_owned(), json!(mass.probability()));
        }
        if let Some(samples) = answer.samples {
            details.insert("samples".to_owned(), json!(samples));
        }
        if !answer.passed_over.is_empty() {
            details.insert("passed_over".to_owned(), json!(answer.passed_over));
        }
        details.insert(
            "features".to_owned(),
            json!(report_features(&report.text(), &self.options.features)),
        );
        let (label, relation) = if attempts {
            ("attempt", "at least")
        } else {
            ("abstain", "below")
        };
        Ok(Judgement {
            label: label.to_owned(),
            confidence: answer.confidence(),
            reasoning: format!(
                "the probability of `{}` is {:.3}, {relation} the threshold {tau}",
                self.options.labels.positive(),
                answer.probability
            ),
            evidence: vec![Evidence::of("the model's answer", answer.said)],
            details,
        })
    }
}
