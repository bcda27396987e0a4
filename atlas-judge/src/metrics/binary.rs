//! Yes-or-no predictions against the truth, and what printed numbers imply about each other.

use serde::{Deserialize, Serialize};

/// How often a yes or no was right.
///
/// Shares are absent where their denominator is 0; papers 002 and 004 do not say what they print
/// then. Everything is a count over one list of labels, so numbers of two instances are comparable
/// only where the labels are the same (Table 2 of paper 004 mixes two lists).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    /// Said yes, is yes.
    pub tp: u64,
    /// Said yes, is no.
    pub fp: u64,
    /// Said no, is yes.
    #[serde(rename = "fn")]
    pub fn_: u64,
    /// Said no, is no.
    pub tn: u64,
}

impl Confusion {
    /// Counts pairs of (truth, prediction).
    pub fn of(pairs: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut counts = Self::default();
        for (truth, said) in pairs {
            counts.add(truth, said);
        }
        counts
    }

    /// One more.
    pub fn add(&mut self, truth: bool, said: bool) {
        *match (truth, said) {
            (true, true) => &mut self.tp,
            (false, true) => &mut self.fp,
            (true, false) => &mut self.fn_,
            (false, false) => &mut self.tn,
        } += 1;
    }

    /// All.
    pub fn total(&self) -> u64 {
        self.tp + self.fp + self.fn_ + self.tn
    }

    /// `(tp + tn) / all`.
    pub fn accuracy(&self) -> Option<f64> {
        super::share(self.tp + self.tn, self.total())
    }

    /// `tp / (tp + fp)`.
    pub fn precision(&self) -> Option<f64> {
        super::share(self.tp, self.tp + self.fp)
    }

    /// `tp / (tp + fn)`.
    pub fn recall(&self) -> Option<f64> {
        super::share(self.tp, self.tp + self.fn_)
    }

    /// `2 tp / (2 tp + fp + fn)`, the harmonic mean of precision and recall.
    pub fn f1(&self) -> Option<f64> {
        super::share(2 * self.tp, 2 * self.tp + self.fp + self.fn_)
    }

    /// `tn / (tn + fp)`.
    pub fn specificity(&self) -> Option<f64> {
        super::share(self.tn, self.tn + self.fp)
    }

    /// The false positive rate among the negatives that are counted here: `fp / (fp + tn)`.
    pub fn fpr(&self) -> Option<f64> {
        super::share(self.fp, self.fp + self.tn)
    }

    /// Precision of "no": `tn / (tn + fn)`.
    pub fn negative_precision(&self) -> Option<f64> {
        super::share(self.tn, self.tn + self.fn_)
    }

    /// The share of yes among the truths: what a policy without skill, which accepts everything,
    /// has as its precision.
    pub fn prevalence(&self) -> Option<f64> {
        super::share(self.tp + self.fn_, self.total())
    }
}

/// The false positive rate of a validation with both denominators.
///
/// Paper 002 defines it as the ratio of false positives to ground-truth negatives (section 6.2). Its
/// text (0.28 and 0.64) and its Table 4 (0.42 and 0.93) differ by one factor, as if the text also
/// counted the negatives that earlier, deterministic stages had removed. It does not say, so we give
/// both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FalsePositiveRates {
    /// Wrong patches that were accepted.
    pub false_positives: u64,
    /// All wrong patches, also those that never reached validation.
    pub negatives: u64,
    /// Wrong patches that reached validation.
    pub negatives_reached: u64,
    /// False positives among all wrong patches.
    pub of_all: Option<f64>,
    /// False positives among the wrong patches that reached validation.
    pub of_reached: Option<f64>,
}

/// One patch as [`false_positive_rates`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReachedPatch {
    /// It is right, by the ground truth.
    pub success: bool,
    /// It got as far as validation.
    pub reached: bool,
    /// Validation accepted it; counts only if it got there.
    pub accepted: bool,
}

/// Counts [`FalsePositiveRates`].
pub fn false_positive_rates(patches: impl IntoIterator<Item = ReachedPatch>) -> FalsePositiveRates {
    let mut rates = FalsePositiveRates::default();
    for patch in patches.into_iter().filter(|patch| !patch.success) {
        rates.negatives += 1;
        rates.negatives_reached += u64::from(patch.reached);
        rates.false_positives += u64::from(patch.reached && patch.accepted);
    }
    rates.of_all = super::share(rates.false_positives, rates.negatives);
    rates.of_reached = super::share(rates.false_positives, rates.negatives_reached);
    rates
}

/// F1 from a printed precision and recall, in their unit: `2 P R / (P + R)`. Finds rows of a table
/// that contradict themselves (one of 29 in paper 004: "Random" of Table 2).
pub fn f1_of(precision: f64, recall: f64) -> Option<f64> {
    super::quotient(2.0 * precision * recall, precision + recall)
}

/// The share of positives that a printed accuracy, precision and recall imply:
/// `(1 - A) / (1 - R + R/P - R)`. Rows of a table that imply different shares were not scored on the
/// same labels (paper 004, Table 2: 0.69 and 0.31).
pub fn implied_prevalence(accuracy: f64, precision: f64, recall: f64) -> Option<f64> {
    let odds = super::quotient(recall, precision)?;
    super::quotient(1.0 - accuracy, 1.0 - recall + odds - recall)
}

/// The precision that a recall and a false positive rate imply at a share of positives:
/// `p R / (p R + (1 - p) F)`. Tells which of two printed rates belongs to a table (paper 002, Table
/// 4 against the text of section 6.2).
pub fn implied_precision(prevalence: f64, recall: f64, fpr: f64) -> Option<f64> {
    let hits = prevalence * recall;
    super::quotient(hits, hits + (1.0 - prevalence) * fpr)
}
