//! A probability from the alternatives of an answer's first token.

use serde::{Deserialize, Serialize};

/// How much of the first token's probability belongs to two labels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelMass {
    /// Of the label that means yes.
    pub positive: f64,
    /// Of the label that means no.
    pub negative: f64,
}

impl LabelMass {
    /// Of both. Far below 1, the model was about to say something else, and the probability means
    /// little.
    pub fn total(&self) -> f64 {
        self.positive + self.negative
    }

    /// The share of yes in both: `positive / (positive + negative)`; `None` without any mass. Paper 002 ranks by
    /// `positive` itself (section 3.1.1), and so does [`crate::abstention`].
    pub fn probability(&self) -> Option<f64> {
        super::quotient(self.positive, self.total())
    }

    /// Yes with a share of at least the threshold; without any mass no.
    pub fn attempts(&self, tau: f64) -> bool {
        self.probability().is_some_and(|p| p >= tau)
    }
}

/// The mass of two labels over `(token, log-probability)` alternatives of the first token.
///
/// Paper 002 (sections 3.1 and 6.1) takes the probability of the token "success" and says that it and
/// "failure" have nearly all the mass. Where a tokenizer splits or capitalises labels that is not so:
/// here an alternative counts for a label if, without white space around it and in lower case, it is
/// a beginning of the label and not empty. One that begins both labels counts for neither, nor does a
/// token whose bytes are no text.
pub fn label_mass(alternatives: &[(&[u8], f64)], positive: &str, negative: &str) -> LabelMass {
    let (positive, negative) = (positive.to_lowercase(), negative.to_lowercase());
    let mut mass = LabelMass {
        positive: 0.0,
        negative: 0.0,
    };
    for (token, logprob) in alternatives {
        let Ok(text) = std::str::from_utf8(token) else {
            continue;
        };
        let text = text.trim().to_lowercase();
        if text.is_empty() {
            continue;
        }
        match (positive.starts_with(&text), negative.starts_with(&text)) {
            (true, false) => mass.positive += logprob.exp(),
            (false, true) => mass.negative += logprob.exp(),
            _ => {}
        }
    }
    mass
}

/// The patch correctness score: 0 if the review says that the bug is not fixed, else the exponential
/// of the mean log-probability of the response's tokens (paper 002, section 3.2.5).
///
/// The paper does not say which tokens; which ones are given is the caller's choice. `None` for a yes
/// without tokens, or with a log-probability that is no number or above 0.
pub fn patch_correctness_score(is_bug_fixed: bool, token_logprobs: &[f64]) -> Option<f64> {
    if !is_bug_fixed {
        return Some(0.0);
    }
    if token_logprobs
        .iter()
        .any(|logprob| logprob.is_nan() || *logprob > 0.0)
    {
        return None;
    }
    super::bootstrap::mean(token_logprobs).map(f64::exp)
}
