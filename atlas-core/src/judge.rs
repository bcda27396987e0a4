//! Judging what cannot be run, or what running cannot decide.

use crate::{Error, Evidence, Instance, Patch, RunContext};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// What a judge looks at.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The task.
    pub instance: Instance,
    /// The candidate patch, where one is judged; absent for judgements on the task alone.
    pub patch: Option<Patch>,
    /// Anything else a particular judge documents: a trajectory, a test's source.
    pub attachments: Map<String, Value>,
}

/// Where a confidence comes from. Values from different sources are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfidenceSource {
    /// Log-probabilities of the answer's tokens.
    TokenLogprobs,
    /// Only their average was returned.
    AvgLogprobOnly,
    /// Log-probabilities of the label's alternatives.
    LabelTopLogprobs,
    /// How often repeated samples agreed.
    SampleFrequency,
    /// The model said a number.
    Verbalised,
    /// A rule without a model.
    Rule,
    /// The share of several judges that said yes.
    CommitteeMajority,
    /// The mean of several judges' numbers.
    CommitteeMean,
    /// The mean of several judges' calibrated probabilities, weighted.
    CommitteeWeighted,
    /// The calibrated probability of whichever judge of a cascade was asked last.
    Cascade,
    /// Several judges' numbers that are not calibrated and so do not compare, not even among one another: a higher one
    /// says nothing.
    Mixed,
    /// There is none.
    Missing,
}

impl ConfidenceSource {
    /// Whether numbers of this source may be ranked among each other: not where there are none, nor where they are of
    /// several scales.
    pub fn is_comparable(self) -> bool {
        !matches!(self, Self::Mixed | Self::Missing)
    }
}

/// How sure a judge is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// 0 to 1; absent with [`ConfidenceSource::Missing`].
    pub value: Option<f64>,
    /// Where it comes from.
    pub source: ConfidenceSource,
}

/// What a judge says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The answer, one word of the judge's documented set: `accept`, `abstain`, `pass`.
    pub label: String,
    /// How sure.
    pub confidence: Confidence,
    /// Why, in words.
    pub reasoning: String,
    /// Proof lines.
    pub evidence: Vec<Evidence>,
    /// Scores and factors that the judge documents.
    pub details: Map<String, Value>,
}

/// Gives an opinion on a subject: policies of paper 002, critics of paper 004, the alignment judge
/// of paper 001.
///
/// # Contract
/// - The label is one of the judge's documented set; an answer that cannot be read is an error,
///   never a default label.
/// - The confidence names its source; nothing is invented where there is none.
///
/// # Cancellation
/// As the model underneath.
#[async_trait]
pub trait Judge: fmt::Debug + Send + Sync {
    /// The stable name.
    fn id(&self) -> &str;

    /// Judges.
    ///
    /// # Errors
    /// The model's, the budget's, or an answer that cannot be read.
    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error>;
}

macro_rules! forward_judge {
    ($($ty:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl<J: Judge + ?Sized> Judge for $ty {
            fn id(&self) -> &str { (**self).id() }
            async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
                (**self).judge(cx, subject).await
            }
        }
    )+};
}
forward_judge!(&J, Box<J>, Arc<J>);
