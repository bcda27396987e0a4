//! Attempts as a judge.

use super::AttemptClass;
use super::rules::{FailedAttempt, attempt_by_rule, rule_confidence};
use crate::Prompt;
use crate::alignment::{QuoteSource, Texts};
use crate::answer::{AskOptions, Schema, Shape, ask_again};
use crate::validation::{Trajectory, cut_middle};
use async_trait::async_trait;
use atlas_core::{
    ChatMessage, Confidence, ConfidenceSource, Error, Evidence, Judge, Judgement, LanguageModel,
    RunContext, Subject,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use std::sync::Arc;

const ATTEMPT: Prompt = Prompt::new("attempt", 1, include_str!("prompts/attempt.v1.md"));

/// How a model is asked about attempts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttemptOptions {
    /// How it is asked.
    pub ask: AskOptions,
    /// How often it is asked again after an answer that cannot be used; default 1.
    pub ask_again: u32,
    /// Fewest letters and digits of its quotation; default 6.
    pub least_quote: usize,
    /// Most tokens, of four bytes, of the trajectory; default 48,000. The statement, the patch and the log
    /// have a third of it each.
    pub limit: usize,
}

impl Default for AttemptOptions {
    fn default() -> Self {
        Self {
            ask: AskOptions::plain(),
            ask_again: 1,
            least_quote: 6,
            limit: 48_000,
        }
    }
}

/// The prompt, for reading.
pub fn attempt_prompt() -> Prompt {
    ATTEMPT
}

/// Says why an attempt failed: a word of [`AttemptClass`].
///
/// Reads what [`FailedAttempt::of`] does. A model is asked where no rule is sure; its quotation must
/// stand in what it was shown of the statement, the trajectory, the patch or the log. Details: `by` (`rule`,
/// `model`, `nobody`), `look_again`; with a model `prompt_version`, `model`, `faults`.
#[derive(Debug)]
pub struct AttemptJudge<M = Arc<dyn LanguageModel>> {
    model: Option<M>,
    options: AttemptOptions,
}

impl AttemptJudge {
    /// Rules only.
    pub fn rules() -> Self {
        Self {
            model: None,
            options: AttemptOptions::default(),
        }
    }
}

impl<M: LanguageModel> AttemptJudge<M> {
    /// Rules, then a model.
    pub fn new(model: M, options: AttemptOptions) -> Self {
        Self {
            model: Some(model),
            options,
        }
    }

    /// What the model is told.
    ///
    /// # Errors
    /// The prompt's.
    pub fn prompt(&self, attempt: &FailedAttempt) -> Result<Vec<ChatMessage>, Error> {
        let limit = self.options.limit;
        let trajectory = attempt.trajectory.as_ref().map(Trajectory::text);
        let log = attempt.log.as_deref().unwrap_or("Nothing is known of it.");
        ATTEMPT.render(&json!({
            "issue": cut_middle(&attempt.issue, limit / 3),
            "exit_status": attempt.exit_status.as_deref().unwrap_or_default(),
            "trajectory": cut_middle(trajectory.as_deref().unwrap_or("Nothing is known of it."), limit),
            "patch": cut_middle(&attempt.patch, limit / 3),
            "log": cut_middle(log, limit / 3),
        }))
    }
}

#[derive(Deserialize)]
struct AttemptAnswer {
    reasoning: String,
    quote: String,
    class: AttemptClass,
}

#[async_trait]
impl<M: LanguageModel> Judge for AttemptJudge<M> {
    fn id(&self) -> &'static str {
        "attempts"
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let attempt = FailedAttempt::of(subject)?;
        let mut details = Map::new();
        let judgement = |class: AttemptClass,
                         confidence,
                         reasoning: String,
                         evidence,
                         mut details: Map<_, _>,
                         by| {
            details.insert("by".to_owned(), json!(by));
            details.insert("look_again".to_owned(), json!(class.is_worth_a_look()));
            Judgement {
                label: class.as_str().to_owned(),
                confidence,
                reasoning,
                evidence,
                details,
            }
        };
        if let Some((class, proof)) = attempt_by_rule(&attempt) {
            let confidence = Confidence {
                value: rule_confidence(&attempt, class, &proof),
                source: ConfidenceSource::Rule,
            };
            let reasoning = format!("{}: {}", proof.source, proof.text);
            return Ok(judgement(
                class,
                confidence,
                reasoning,
                vec![proof],
                details,
                "rule",
            ));
        }
        let Some(model) = &self.model else {
            let confidence = Confidence {
                value: None,
                source: ConfidenceSource::Missing,
            };
            let reasoning = "no rule holds, and no model was asked".to_owned();
            let class = AttemptClass::Undecided;
            return Ok(judgement(
                class,
                confidence,
                reasoning,
                Vec::new(),
                details,
                "nobody",
            ));
        };
        let words = AttemptClass::DECIDED.map(|class| class.as_str().to_owned());
        let schema = Schema::new([
            ("reasoning", Shape::Text, "what decides"),
            ("quote", Shape::Text, "the passage that shows it, unchanged"),
            ("class", Shape::OneOf(words.to_vec()), "why it failed"),
        ]);
        let trajectory = attempt.trajectory.as_ref().map(Trajectory::text);
        let sources = [
            ("problem_statement", attempt.issue.as_str()),
            ("trajectory", trajectory.as_deref().unwrap_or_default()),
            ("log", attempt.log.as_deref().unwrap_or_default()),
            ("patch", attempt.patch.as_str()),
        ];
        let find = |quote: &str| {
            sources.iter().find_map(|(source, text)| {
                let texts = Texts::new(text, "", "", self.options.least_quote);
                let line = texts.line_of(QuoteSource::Issue, quote)?;
                Some(Evidence::at(*source, line, quote.trim()))
            })
        };
        let question = self.prompt(&attempt)?;
        let agreed = ask_again(
            cx,
            model,
            &question,
            &schema,
            "class",
            &self.options.ask,
            self.options.ask_again,
            |answer| {
                let said: AttemptAnswer = serde_json::from_value(json!(answer.fields))
                    .map_err(|why| why.to_string())?;
                match find(&said.quote) {
                    Some(proof) => Ok((said, proof)),
                    None => Err(
                        "`quote` stands, word for word, in none of the texts, or is too short to show anything".to_owned(),
                    ),
                }
            },
        )
        .await?;
        agreed.tell(ATTEMPT, &mut details);
        let (said, proof) = agreed.value;
        Ok(judgement(
            said.class,
            agreed.answer.confidence,
            said.reasoning,
            vec![proof],
            details,
            "model",
        ))
    }
}
