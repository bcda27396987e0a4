//! Reviews under one roof.

use super::judge::as_many;
use super::{Ensemble, Opinion, Question, Word};
use crate::validation::{PatchStage, StageOutcome, StageReport, ValidationSubject};
use async_trait::async_trait;
use atlas_core::{Confidence, ConfidenceSource, Error, ErrorKind, RunContext};
use serde_json::{Value, json};

/// The name of the stage that an ensemble's reviews come to.
pub const REVIEW_BY_ENSEMBLE: &str = "review-by-ensemble";

/// Several reviews as one stage of patch validation, behind the stages without a model, which so are looked at once
/// and spare every member what they reject.
///
/// It passes what the ensemble accepts. Its score is the ensemble's number. Details: `is_bug_fixed`, `score`, `source`,
/// `rule`, `threshold`, `members`.
#[derive(Debug)]
pub struct EnsembleReview {
    ensemble: Ensemble,
    stages: Vec<Box<dyn PatchStage>>,
}

impl EnsembleReview {
    /// The reviews, one for each member of the ensemble, in its order.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`]: there are not as many reviews as members.
    pub fn new(ensemble: Ensemble, stages: Vec<Box<dyn PatchStage>>) -> Result<Self, Error> {
        as_many(ensemble.members().len(), stages.len())?;
        Ok(Self { ensemble, stages })
    }
}

#[async_trait]
impl PatchStage for EnsembleReview {
    fn id(&self) -> &'static str {
        REVIEW_BY_ENSEMBLE
    }

    fn is_deterministic(&self) -> bool {
        false
    }

    async fn look(
        &self,
        cx: &RunContext,
        subject: &ValidationSubject,
    ) -> Result<StageReport, Error> {
        let (mut reports, mut words) = (Vec::new(), Vec::new());
        let mut first_fault = None;
        while let Some(at) = self.ensemble.next(&subject.instance, &words)? {
            match self.stages[at].look(cx, subject).await {
                Ok(report) => {
                    words.push(review_word(&report));
                    reports.push(report);
                }
                // As the ensemble of judges does.
                Err(why) if self.ensemble.asks_all() && why.kind() == ErrorKind::Model => {
                    words.push(Word::Abstained);
                    first_fault.get_or_insert(why);
                }
                Err(why) => return Err(why),
            }
        }
        match first_fault {
            Some(why) => Err(why),
            None => self.ensemble.review(&subject.instance, &reports),
        }
    }
}

impl Ensemble {
    /// The report that those of the members' reviews come to: of the ones that were asked, in their order. Without
    /// evidence where every one of them is.
    ///
    /// # Errors
    /// As [`Ensemble::combine`].
    pub fn review(&self, instance: &str, reports: &[StageReport]) -> Result<StageReport, Error> {
        let words: Vec<Word> = reports.iter().map(review_word).collect();
        let combined = self.combine(instance, &words)?;
        let outcome = match combined.verdict {
            Some(true) => StageOutcome::Passed,
            Some(false) => StageOutcome::Rejected,
            None => StageOutcome::NoEvidence,
        };
        let reason = self.reason(&Question::Review, &combined);
        let mut report = StageReport::new(REVIEW_BY_ENSEMBLE, outcome, reason);
        report.confidence = Some(Confidence {
            value: combined.number,
            source: combined.source,
        });
        let details = &mut report.details;
        details.insert("is_bug_fixed".to_owned(), json!(combined.verdict));
        details.insert("score".to_owned(), json!(combined.number));
        details.insert("source".to_owned(), json!(combined.source));
        details.insert("rule".to_owned(), json!(self.rule()));
        details.insert("threshold".to_owned(), json!(self.threshold()));
        details.insert("members".to_owned(), json!(combined.members));
        Ok(report)
    }
}

/// A stage's report as a word: passed is yes, rejected no, and one without evidence none.
pub fn review_word(report: &StageReport) -> Word {
    let verdict = match report.outcome {
        StageOutcome::Passed => true,
        StageOutcome::Rejected => false,
        StageOutcome::NoEvidence => return Word::Abstained,
    };
    Word::Said(Opinion {
        verdict,
        number: report.details.get("score").and_then(Value::as_f64),
        of: super::NumberOf::Yes,
        source: report
            .confidence
            .map_or(ConfidenceSource::Missing, |one| one.source),
        reason: report.reason.clone(),
    })
}
