//! How far two distributions are apart.

use super::ranking::same;

/// The Wasserstein-1 distance between two samples: the area between their empirical distribution
/// functions. Paper 002 (section 6.1) measures with it how far predicted success probabilities are
/// from observed success rates.
///
/// `None` if a sample is empty or has a value that is no finite number.
///
/// ```
/// use atlas_judge::metrics::wasserstein_1;
/// assert_eq!(wasserstein_1(&[0.0, 1.0, 3.0], &[5.0, 6.0, 8.0]), Some(5.0));
/// ```
#[expect(
    clippy::cast_precision_loss,
    reason = "sizes of samples are far below 2^53"
)]
pub fn wasserstein_1(u: &[f64], v: &[f64]) -> Option<f64> {
    if u.is_empty() || v.is_empty() || u.iter().chain(v).any(|value| !value.is_finite()) {
        return None;
    }
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        values
    };
    let (u, v) = (sorted(u), sorted(v));
    let (mut below_u, mut below_v, mut area) = (0, 0, 0.0);
    let mut at = u[0].min(v[0]);
    while let Some(next) = [u.get(below_u), v.get(below_v)]
        .into_iter()
        .flatten()
        .copied()
        .reduce(f64::min)
    {
        let gap = below_u as f64 / u.len() as f64 - below_v as f64 / v.len() as f64;
        area += gap.abs() * (next - at);
        at = next;
        while u.get(below_u).is_some_and(|value| same(*value, next)) {
            below_u += 1;
        }
        while v.get(below_v).is_some_and(|value| same(*value, next)) {
            below_v += 1;
        }
    }
    Some(area)
}
