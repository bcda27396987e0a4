//! Judges under one roof.

use super::{Combined, Ensemble, EnsembleRule, NumberOf, Opinion, Word};
use crate::metrics::{LowConfidenceRule, TestPrediction};
use async_trait::async_trait;
use atlas_core::{
    Confidence, ConfidenceSource, Error, ErrorKind, Evidence, Judge, Judgement, RunContext, Subject,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The label of a judge that has no opinion, beside its own two.
pub const ABSTAINED: &str = "abstained";

/// What an ensemble's judges are asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// Whether an agent will succeed: labels `attempt` and `abstain`, and a probability.
    Abstention,
    /// Whether a patch is right: labels `accept` and `reject`, and a score.
    Review,
    /// Whether a test or a patch passes: labels `pass` and `fail`, and a confidence in what is said.
    Critic {
        /// When a critic of single tests that says `pass` is not believed. It is applied to what the members say
        /// together, not to each of them.
        rule: Option<LowConfidenceRule>,
    },
}

impl Question {
    /// The labels of yes and no.
    pub fn labels(&self) -> (&'static str, &'static str) {
        match self {
            Self::Abstention => ("attempt", "abstain"),
            Self::Review => ("accept", "reject"),
            Self::Critic { .. } => ("pass", "fail"),
        }
    }

    /// What its numbers are called.
    pub(super) fn numbers(&self) -> &'static str {
        match self {
            Self::Abstention => "abstention probabilities",
            Self::Review => "validation scores",
            Self::Critic { .. } => "a critic's confidences",
        }
    }

    /// Details that say the same of every member.
    fn shared_details(&self) -> &'static [&'static str] {
        match self {
            Self::Abstention => &[
                "tau",
                "representation",
                "prompt_version",
                "answer_form",
                "form_prompt_version",
                "features",
            ],
            Self::Review => &[],
            Self::Critic { .. } => &[
                "mode",
                "variant",
                "variant_notes",
                "prompt_version",
                "test",
                "test_length",
            ],
        }
    }

    /// A judgement as a word.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a label that is none of the question's.
    pub fn word(&self, judgement: &Judgement) -> Result<Word, Error> {
        let (yes, no) = self.labels();
        // A critic's own rule is not what it said.
        let said = judgement.details.get("said").and_then(Value::as_str);
        let label = match self {
            Self::Critic { .. } => said.unwrap_or(&judgement.label),
            _ => &judgement.label,
        };
        let verdict = match label {
            label if label == yes => true,
            label if label == no => false,
            ABSTAINED => return Ok(Word::Abstained),
            other => {
                let what = format!("`{other}` is none of `{yes}`, `{no}`, `{ABSTAINED}`");
                let operation = "combine the judges: the label";
                return Err(Error::new(ErrorKind::InvalidInput, operation, what));
            }
        };
        let score = match self {
            // The confidence is in the answer, whatever it is; the score is about the patch.
            Self::Review => score_of(&judgement.details),
            _ => judgement.confidence.value,
        };
        Ok(Word::Said(Opinion {
            verdict,
            number: score,
            of: match self {
                Self::Critic { .. } => NumberOf::Verdict,
                _ => NumberOf::Yes,
            },
            source: judgement.confidence.source,
            reason: judgement.reasoning.clone(),
        }))
    }
}

/// The score of a review, of a stage or of a whole validation.
fn score_of(details: &Map<String, Value>) -> Option<f64> {
    let own = details.get("score");
    let within = || details.get("review").and_then(|review| review.get("score"));
    own.or_else(within).and_then(Value::as_f64)
}

/// Several judges as one, of any kind that [`Question`] knows.
///
/// Its labels are the question's, and `abstained` where every judge abstains. The confidence is the ensemble's number; for
/// a critic, the confidence in its verdict. Details: `rule`, `threshold`, `members` (all of them, as
/// [`MemberWord`](super::MemberWord)), and what the members' judgements have in common; for an abstention also
/// `probability` and `source`, for a critic `said`, `confidence_percent` and, for single tests, `rule_applied`.
#[derive(Debug)]
pub struct EnsembleJudge {
    id: String,
    ensemble: Ensemble,
    question: Question,
    judges: Vec<Arc<dyn Judge>>,
}

impl EnsembleJudge {
    /// The judges, one for each member of the ensemble, in its order.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`]: there are not as many judges as members.
    pub fn new(
        ensemble: Ensemble,
        question: Question,
        judges: Vec<Arc<dyn Judge>>,
    ) -> Result<Self, Error> {
        as_many(ensemble.members().len(), judges.len())?;
        let first = judges.first().map_or("", |judge| judge.id());
        let id = format!("{}-of-{first}", ensemble.rule());
        Ok(Self {
            id,
            ensemble,
            question,
            judges,
        })
    }
}

pub(super) fn as_many(members: usize, judges: usize) -> Result<(), Error> {
    if members == judges {
        return Ok(());
    }
    let what = format!("{judges} judges for {members} members");
    Err(Error::new(
        ErrorKind::InvalidInput,
        "set up an ensemble:",
        what,
    ))
}

#[async_trait]
impl Judge for EnsembleJudge {
    fn id(&self) -> &str {
        &self.id
    }

    /// # Cancellation
    /// As the judges; what they were paid is paid.
    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let instance = subject.instance.id();
        let instance = instance.map_or_else(|_| String::new(), |id| id.to_string());
        let (mut judgements, mut words) = (Vec::new(), Vec::new());
        let mut first_fault = None;
        while let Some(at) = self.ensemble.next(&instance, &words)? {
            match self.judges[at].judge(cx, subject).await {
                Ok(judgement) => {
                    words.push(self.question.word(&judgement)?);
                    judgements.push(judgement);
                }
                // The others are asked all the same where they would be anyway: then only this one is missing.
                Err(why) if self.ensemble.asks_all() && why.kind() == ErrorKind::Model => {
                    words.push(Word::Abstained);
                    first_fault.get_or_insert(why);
                }
                Err(why) => return Err(why),
            }
        }
        match first_fault {
            Some(why) => Err(why),
            None => self
                .ensemble
                .judgement(&self.question, &instance, &judgements),
        }
    }
}

impl Ensemble {
    /// The judgement that those of the members come to: of the ones that were asked, in their order. What was asked
    /// before and is stored is put together by it as what is asked now.
    ///
    /// # Errors
    /// As [`Question::word`] and [`Ensemble::combine`].
    pub fn judgement(
        &self,
        question: &Question,
        instance: &str,
        judgements: &[Judgement],
    ) -> Result<Judgement, Error> {
        let words: Result<Vec<Word>, Error> =
            judgements.iter().map(|one| question.word(one)).collect();
        let combined = self.combine(instance, &words?)?;
        let mut details = Map::new();
        if let Some(first) = judgements.first() {
            for name in question.shared_details() {
                let value = first.details.get(*name);
                let is_shared = judgements.iter().all(|one| one.details.get(*name) == value);
                if let (Some(value), true) = (value, is_shared) {
                    details.insert((*name).to_owned(), value.clone());
                }
            }
        }
        details.insert("rule".to_owned(), json!(self.rule()));
        details.insert("threshold".to_owned(), json!(self.threshold()));
        details.insert("members".to_owned(), json!(combined.members));
        let (yes, no) = question.labels();
        let word = |verdict| if verdict { yes } else { no };
        let mut label = combined.verdict.map_or(ABSTAINED, word);
        let mut value = combined.number;
        match (question, combined.verdict) {
            (Question::Critic { rule }, Some(verdict)) => {
                let percent = self.percent(&combined, verdict);
                value = percent.map(|percent| percent / 100.0);
                let percent = percent.unwrap_or_default();
                details.insert("said".to_owned(), json!(label));
                details.insert("confidence_percent".to_owned(), json!(percent));
                if let Some(length) = details.get("test_length").and_then(Value::as_u64) {
                    let prediction = TestPrediction {
                        passes: verdict,
                        confidence: percent,
                        length: Some(length),
                    };
                    let passes = rule.map_or(verdict, |rule| rule.apply(&prediction));
                    details.insert("rule_applied".to_owned(), json!(passes != verdict));
                    label = word(passes);
                }
            }
            (Question::Abstention, _) => {
                details.insert("probability".to_owned(), json!(combined.number));
                details.insert("source".to_owned(), json!(combined.source));
            }
            _ => {}
        }
        let reasoning = self.reason(question, &combined);
        Ok(Judgement {
            label: label.to_owned(),
            confidence: Confidence {
                value,
                source: match value {
                    Some(_) => combined.source,
                    None => ConfidenceSource::Missing,
                },
            },
            evidence: vec![Evidence::of("the members", reasoning.clone())],
            reasoning,
            details,
        })
    }

    /// How sure the ensemble is of its verdict, 0 to 100: on the members' own scale, where 0 is a guess, if their
    /// confidences are not calibrated; else how likely the verdict is right.
    fn percent(&self, combined: &Combined, verdict: bool) -> Option<f64> {
        let number = combined.number?;
        let of_verdict = if verdict { number } else { 1.0 - number };
        let is_likelihood = self.is_calibrated() || *self.rule() == EnsembleRule::Majority;
        let sure = if is_likelihood {
            of_verdict
        } else {
            // The mean may say something else than a threshold that is not in the middle.
            (2.0 * of_verdict - 1.0).max(0.0)
        };
        // A difference of shares has dust in its last digit.
        Some((sure * 1e14).round() / 1e12)
    }

    /// What the members said, in one sentence.
    pub(super) fn reason(&self, question: &Question, combined: &Combined) -> String {
        let (yes, no) = question.labels();
        let words: Vec<String> = combined
            .members
            .iter()
            .map(|member| {
                let word = match (member.asked, member.verdict) {
                    (false, _) => "not asked",
                    (_, None) => ABSTAINED,
                    (_, Some(true)) => yes,
                    (_, Some(false)) => no,
                };
                match member.probability {
                    Some(number) => format!("{}: {word} ({number:.3})", member.model),
                    None => format!("{}: {word}", member.model),
                }
            })
            .collect();
        format!("{}: {}", self.rule(), words.join("; "))
    }
}
