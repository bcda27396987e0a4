//! From scores to decisions.

use crate::answer::{MixedSources, one_source};
use crate::metrics::Cutoff;
use atlas_core::ConfidenceSource;
use serde::{Deserialize, Serialize};

/// How a score becomes a decision (paper 002, section 3.2.6).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionRule {
    /// Show what the review accepted.
    Binary,
    /// Show what the review accepted and whose score reaches this percentile, 0 to 100. The paper uses
    /// 75 and 90.
    Percentile(f64),
}

/// Over which patches a percentile is taken. They have all passed the stages without a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Population {
    /// Patches of every bug, abstained or not: all of them must then have been reviewed.
    AllBugs,
    /// Patches of bugs that reach validation. The paper leaves open which of both it takes; only this one
    /// is known when the policies work one after the other.
    #[default]
    ReachedValidation,
}

/// A reviewed patch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// Whether the review found the bug fixed.
    pub accepted: bool,
    /// Its score.
    pub score: Option<f64>,
    /// Where the score comes from.
    pub source: ConfidenceSource,
}

/// Why there is no decision.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecisionError {
    /// A percentile of scores that are not there.
    #[error(
        "patch {0} has no score that compares, and a percentile needs one of every patch; the binary rule does not"
    )]
    NoScore(usize),
    /// A score that is none.
    #[error("patch {0}: the score {1} is not between 0 and 1")]
    NotAScore(usize, f64),
    /// A percentile that is none.
    #[error("percentile {0} is not between 0 and 100")]
    NotAPercentile(f64),
    /// Scores that do not compare.
    #[error(transparent)]
    Mixed(#[from] MixedSources),
    /// A policy asks for something that a patch does not have.
    #[error("patch `{patch}` of `{bug}` {what}")]
    Incomplete {
        /// The bug.
        bug: String,
        /// The patch.
        patch: String,
        /// What it lacks.
        what: String,
    },
}

/// What a rule decides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decided {
    /// The lowest score that passes; absent with the binary rule and without patches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<f64>,
    /// For every patch, whether it is shown.
    pub shown: Vec<bool>,
}

/// Decides over a population: every patch that passed the stages without a model.
///
/// The cut-off is `NumPy`'s linear percentile; a score equal to it passes. Where so many scores are 0
/// that the cut-off is 0, what the review did not accept stays out: a score of 0 means that.
///
/// ```
/// use atlas_core::ConfidenceSource::TokenLogprobs;
/// use atlas_judge::validation::{DecisionRule, Scored, decide};
/// let scored = |score: f64| Scored { accepted: score > 0.0, score: Some(score), source: TokenLogprobs };
/// let patches = [0.0, 0.0, 0.0, 0.0, 0.6].map(scored);
/// let found = decide(DecisionRule::Percentile(75.0), &patches)?;
/// assert_eq!(found.cutoff, Some(0.0));
/// assert_eq!(found.shown, [false, false, false, false, true]);
/// # Ok::<(), atlas_judge::validation::DecisionError>(())
/// ```
///
/// # Errors
/// [`DecisionError`]: with a percentile, a patch without score, or scores of several sources, naming both.
pub fn decide(rule: DecisionRule, patches: &[Scored]) -> Result<Decided, DecisionError> {
    let DecisionRule::Percentile(p) = rule else {
        return Ok(Decided {
            cutoff: None,
            shown: patches.iter().map(|patch| patch.accepted).collect(),
        });
    };
    if !(0.0..=100.0).contains(&p) {
        return Err(DecisionError::NotAPercentile(p));
    }
    let mut scores = Vec::with_capacity(patches.len());
    for (at, patch) in patches.iter().enumerate() {
        let score = patch.score.filter(|_| patch.source.is_comparable());
        let score = score.ok_or(DecisionError::NoScore(at))?;
        if !(0.0..=1.0).contains(&score) {
            return Err(DecisionError::NotAScore(at, score));
        }
        scores.push(score);
    }
    one_source(patches.iter().map(|patch| patch.source))?;
    let Some(cutoff) = Cutoff::at(&scores, p) else {
        // Without patches there is nothing to cut.
        return Ok(Decided {
            cutoff: None,
            shown: Vec::new(),
        });
    };
    Ok(Decided {
        cutoff: Some(cutoff.score),
        shown: patches
            .iter()
            .zip(&scores)
            .map(|(patch, score)| patch.accepted && cutoff.accepts(*score))
            .collect(),
    })
}
