//! How far annotators agree beyond chance.

#![expect(
    clippy::cast_precision_loss,
    reason = "counts of annotations are far below 2^53"
)]

use serde::{Deserialize, Serialize};

/// How far apart two answers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Answers are the same or not.
    Nominal,
    /// Answers have an order.
    Ordinal,
}

/// Cohen's kappa (1960) of two annotators: each pair is what both said of one item, as places in the list of answers. On an ordinal
/// scale weighted by the square of the distance (1968).
///
/// `None` without items, for an answer beyond `answers`, and where both say one and the same thing of all: chance alone would agree as well.
///
/// ```
/// use atlas_judge::metrics::{Scale, cohen_kappa};
/// let pairs = [(0, 0), (0, 0), (1, 1), (0, 1)];
/// assert_eq!(cohen_kappa(&pairs, 2, Scale::Nominal), Some(0.5));
/// ```
pub fn cohen_kappa(pairs: &[(usize, usize)], answers: usize, scale: Scale) -> Option<f64> {
    let mut seen = vec![vec![0.0; answers]; answers];
    for (one, other) in pairs {
        *seen.get_mut(*one)?.get_mut(*other)? += 1.0;
    }
    let ours: Vec<f64> = seen.iter().map(|row| row.iter().sum()).collect();
    let theirs: Vec<f64> = (0..answers)
        .map(|at| seen.iter().map(|row| row[at]).sum())
        .collect();
    let all: f64 = ours.iter().sum();
    let (mut observed, mut expected) = (0.0, 0.0);
    for one in 0..answers {
        for other in 0..answers {
            let apart = one.abs_diff(other) as f64;
            let weight = match scale {
                Scale::Nominal => f64::from(u8::from(one != other)),
                Scale::Ordinal => apart * apart,
            };
            observed += weight * seen[one][other];
            expected += weight * ours[one] * theirs[other];
        }
    }
    super::quotient(observed * all, expected).map(|ratio| 1.0 - ratio)
}

/// Fleiss' kappa (1971): for each item, how many annotators gave each answer. All items must have as many annotators, at least two.
///
/// `None` where they have not, without items, and where all give one and the same answer.
pub fn fleiss_kappa(counts: &[Vec<u64>]) -> Option<f64> {
    let annotators: u64 = counts.first()?.iter().sum();
    let answers = counts.first()?.len();
    let is_even = |row: &Vec<u64>| row.len() == answers && row.iter().sum::<u64>() == annotators;
    if annotators < 2 || !counts.iter().all(is_even) {
        return None;
    }
    let (items, annotators) = (counts.len() as f64, annotators as f64);
    let mut agreed = 0.0;
    let mut totals = vec![0.0; answers];
    for row in counts {
        for (count, total) in row.iter().zip(&mut totals) {
            let count = *count as f64;
            agreed += count * (count - 1.0);
            *total += count;
        }
    }
    let observed = agreed / (items * annotators * (annotators - 1.0));
    let by_chance: f64 = totals
        .iter()
        .map(|total| (total / (items * annotators)).powi(2))
        .sum();
    super::quotient(observed - by_chance, 1.0 - by_chance)
}

/// Krippendorff's alpha (2011): for each item what annotators said, as places in the list of answers; who said nothing is left out, and items of
/// which fewer than two spoke do not count.
///
/// `None` without such items, for an answer beyond `answers`, and where all give one and the same answer.
pub fn krippendorff_alpha(items: &[Vec<usize>], answers: usize, scale: Scale) -> Option<f64> {
    // How often two answers stand together in an item, each item weighing as much as it has answers.
    let mut together = vec![vec![0.0; answers]; answers];
    for item in items.iter().filter(|item| item.len() >= 2) {
        let weight = 1.0 / (item.len() - 1) as f64;
        for (at, one) in item.iter().enumerate() {
            for (beside, other) in item.iter().enumerate() {
                if at != beside {
                    *together.get_mut(*one)?.get_mut(*other)? += weight;
                }
            }
        }
    }
    let totals: Vec<f64> = together.iter().map(|row| row.iter().sum()).collect();
    let all: f64 = totals.iter().sum();
    let apart = |one: usize, other: usize| -> f64 {
        let (low, high) = (one.min(other), one.max(other));
        match scale {
            Scale::Nominal => f64::from(u8::from(one != other)),
            Scale::Ordinal => {
                let between: f64 = totals[low..=high].iter().sum();
                (between - f64::midpoint(totals[low], totals[high])).powi(2)
            }
        }
    };
    let (mut observed, mut expected) = (0.0, 0.0);
    for one in 0..answers {
        for other in 0..answers {
            observed += together[one][other] * apart(one, other);
            expected += totals[one] * totals[other] * apart(one, other);
        }
    }
    super::quotient(observed * (all - 1.0), expected).map(|ratio| 1.0 - ratio)
}
