//! How numbers are spread.

use super::percentile::percentile_of_sorted;
use serde::{Deserialize, Serialize};

/// Where numbers lie. Quartiles are linear between neighbours, as `NumPy`'s default.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The least.
    pub least: f64,
    /// A quarter lies below.
    pub lower_quartile: f64,
    /// Half lies below.
    pub median: f64,
    /// Three quarters lie below.
    pub upper_quartile: f64,
    /// The greatest.
    pub most: f64,
}

/// The spread of numbers; their order does not matter. `None` without any, or with one that is not finite.
///
/// ```
/// use atlas_judge::metrics::spread;
/// let found = spread(&[4.0, 1.0, 2.0, 3.0]).unwrap();
/// assert_eq!((found.lower_quartile, found.median, found.upper_quartile), (1.75, 2.5, 3.25));
/// ```
pub fn spread(values: &[f64]) -> Option<Spread> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(Spread {
        count: sorted.len() as u64,
        mean: super::bootstrap::mean(&sorted)?,
        least: *sorted.first()?,
        lower_quartile: percentile_of_sorted(&sorted, 25.0)?,
        median: percentile_of_sorted(&sorted, 50.0)?,
        upper_quartile: percentile_of_sorted(&sorted, 75.0)?,
        most: *sorted.last()?,
    })
}
