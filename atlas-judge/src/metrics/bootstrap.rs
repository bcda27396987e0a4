//! Intervals by resampling.

use super::percentile::percentile_of_sorted;
use serde::{Deserialize, Serialize};

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceInterval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// A small generator of random numbers (`SplitMix64`), the same on every machine and in every version:
/// intervals must repeat.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Starts from a seed; any is good.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, each equally likely; 0 if `bound` is 0.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the halves of a product of two 64-bit numbers"
    )]
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // Lemire's method: the high half of a product, without its few biased low halves, whose
        // bound is costly and seldom needed.
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// A number from 0 to below 1, in steps of 2^-53.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The percentile bootstrap of a mean with given resamples: for each list of places the mean of the
/// values there, and of those means the percentiles that hold `level` percent (95: 2.5 and 97.5,
/// interpolated linearly). For the difference of two systems give the paired differences as values.
///
/// Paper 001 (Table 5) prints intervals without saying how they were made; this is the usual way.
///
/// `None` without values or resamples, where a resample is empty or names a place that is not there,
/// or where `level` is not within 0 to 100.
pub fn bootstrap_mean_with(
    values: &[f64],
    resamples: &[Vec<usize>],
    level: f64,
) -> Option<ConfidenceInterval> {
    let means: Option<Vec<f64>> = resamples
        .iter()
        .map(|places| {
            let picked: Option<Vec<f64>> =
                places.iter().map(|at| values.get(*at).copied()).collect();
            mean(&picked?)
        })
        .collect();
    interval(means?, level)
}

/// As [`bootstrap_mean_with`], with `resamples` draws of as many values as there are.
///
/// The same values, seed and number give the same interval everywhere.
pub fn bootstrap_mean(
    values: &[f64],
    resamples: usize,
    seed: u64,
    level: f64,
) -> Option<ConfidenceInterval> {
    let pairs: Vec<(f64, f64)> = values.iter().map(|value| (*value, 1.0)).collect();
    bootstrap_ratio(&pairs, resamples, seed, level)
}

/// The bootstrap of a ratio of sums: items are drawn whole, so that what belongs together (all patches
/// of a bug) stays together. Draws whose lower sum is 0 have no ratio and are left out.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a place below the number of items, which is a usize"
)]
pub fn bootstrap_ratio(
    items: &[(f64, f64)],
    resamples: usize,
    seed: u64,
    level: f64,
) -> Option<ConfidenceInterval> {
    if items.is_empty() {
        return None;
    }
    let mut random = Random::new(seed);
    let mut found = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        let (mut above, mut below) = (0.0, 0.0);
        for _ in 0..items.len() {
            let (a, b) = items[random.below(items.len() as u64) as usize];
            above += a;
            below += b;
        }
        found.extend(super::quotient(above, below));
    }
    interval(found, level)
}

/// One item as two systems `a` and `b` see it, each with its part of both sums of a ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RatioPair {
    /// What `a` adds above and below.
    pub a: (f64, f64),
    /// What `b` adds above and below.
    pub b: (f64, f64),
}

/// The paired bootstrap of differences `b - a` of ratios of sums, with given resamples: in each, the same items are
/// drawn for both systems and for all `N` ratios. Draws in which a ratio of either system has 0 below are left out for it.
///
/// `None` for all without items or resamples, where a resample names a place that is not there, or where `level` is not within
/// 0 to 100; for one ratio where no draw has it.
pub fn bootstrap_ratio_differences_with<const N: usize>(
    items: &[[RatioPair; N]],
    resamples: &[Vec<usize>],
    level: f64,
) -> [Option<ConfidenceInterval>; N] {
    let mut found: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(resamples.len()));
    for places in resamples {
        let picked: Option<Vec<_>> = places.iter().map(|at| items.get(*at)).collect();
        let Some(picked) = picked else {
            return [None; N];
        };
        draw_differences(picked.into_iter(), &mut found);
    }
    found.map(|statistics| interval(statistics, level))
}

/// As [`bootstrap_ratio_differences_with`], with `resamples` draws of as many items as there are.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a place below the number of items, which is a usize"
)]
pub fn bootstrap_ratio_differences<const N: usize>(
    items: &[[RatioPair; N]],
    resamples: usize,
    seed: u64,
    level: f64,
) -> [Option<ConfidenceInterval>; N] {
    let mut random = Random::new(seed);
    let mut found: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(resamples));
    let all = items.len() as u64;
    for _ in 0..resamples {
        let places = items.iter().map(|_| random.below(all) as usize);
        draw_differences(places.map(|at| &items[at]), &mut found);
    }
    found.map(|statistics| interval(statistics, level))
}

/// The percentile bootstrap of any `N` numbers of a draw: `of` is given the places of the drawn items, as many as there are
/// `items`. A draw that has no such number is left out for it.
///
/// `None` for one number where no draw has it, or where `level` is not within 0 to 100.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a place below the number of items, which is a usize"
)]
pub fn bootstrap_statistics<const N: usize>(
    items: usize,
    resamples: usize,
    seed: u64,
    level: f64,
    mut of: impl FnMut(&[usize]) -> [Option<f64>; N],
) -> [Option<ConfidenceInterval>; N] {
    let mut random = Random::new(seed);
    let mut found: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(resamples));
    let mut places = vec![0; items];
    for _ in 0..resamples {
        for place in &mut places {
            *place = random.below(items as u64) as usize;
        }
        for (found, new) in found.iter_mut().zip(of(&places)) {
            found.extend(new);
        }
    }
    found.map(|statistics| interval(statistics, level))
}

/// Adds the differences of one draw.
fn draw_differences<'a, const N: usize>(
    items: impl Iterator<Item = &'a [RatioPair; N]>,
    found: &mut [Vec<f64>; N],
) {
    let mut sums = [RatioPair::default(); N];
    for item in items {
        for (sum, item) in sums.iter_mut().zip(item) {
            sum.add(item);
        }
    }
    for (sum, found) in sums.iter().zip(found) {
        found.extend(sum.difference());
    }
}

impl RatioPair {
    /// Adds another item's parts.
    pub fn add(&mut self, item: &Self) {
        self.a = (self.a.0 + item.a.0, self.a.1 + item.a.1);
        self.b = (self.b.0 + item.b.0, self.b.1 + item.b.1);
    }

    /// `b`'s ratio less `a`'s; none where either has 0 below.
    pub fn difference(&self) -> Option<f64> {
        let of = |(above, below)| super::quotient(above, below);
        Some(of(self.b)? - of(self.a)?)
    }
}

/// The differences `b - a` of paired values; `None` if their numbers differ.
pub fn paired_differences(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    (a.len() == b.len()).then(|| a.iter().zip(b).map(|(a, b)| b - a).collect())
}

fn interval(mut statistics: Vec<f64>, level: f64) -> Option<ConfidenceInterval> {
    statistics.sort_unstable_by(f64::total_cmp);
    let tail = (100.0 - level) / 2.0;
    Some(ConfidenceInterval {
        low: percentile_of_sorted(&statistics, tail)?,
        high: percentile_of_sorted(&statistics, 100.0 - tail)?,
    })
}

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    super::ratio(values.iter().sum(), values.len() as u64)
}

/// The smallest number of successes that has, in `n` trials with chance `p`, at least the chance `q`
/// not to be exceeded. `None` if `p` or `q` is out of range.
///
/// With `q` of 0.025 and 0.975, `p = d / n` it gives the paired percentile bootstrap of `d` newly
/// solved tasks where none is lost: all nine intervals of paper 001's Table 5. That they were made
/// so is our reconstruction.
///
/// ```
/// use atlas_judge::metrics::binomial_quantile;
/// let interval = |d: f64| [0.025, 0.975].map(|q| binomial_quantile(q, 300, d / 300.0));
/// assert_eq!(interval(5.0), [Some(1), Some(10)]);
/// ```
#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of trials are far below 2^53"
)]
pub fn binomial_quantile(q: f64, n: u64, p: f64) -> Option<u64> {
    if !(0.0..=1.0).contains(&q) || !(0.0..=1.0).contains(&p) {
        return None;
    }
    if p <= 0.0 || q <= 0.0 {
        return Some(0);
    }
    if p >= 1.0 {
        return Some(n);
    }
    // In logarithms, since the first term of many trials is below the smallest number.
    let odds = p.ln() - (-p).ln_1p();
    let mut term = n as f64 * (-p).ln_1p();
    let mut sum = term.exp();
    for found in 0..n {
        if sum >= q {
            return Some(found);
        }
        term += ((n - found) as f64 / (found + 1) as f64).ln() + odds;
        sum += term.exp();
    }
    Some(n)
}
